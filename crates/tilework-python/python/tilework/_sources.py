"""Arrays of xarray, Dask and zarr-python as the stores that they are read from.

Tasks read stores themselves, so an array is taken for its store where it is all of it, unchanged. What was computed has no store.
"""

from __future__ import annotations

import os
from typing import Any

__all__ = ["path_of"]

# Wrappers of xarray that change no value. One that decodes values is none of them.
_PLAIN = {
    "CopyOnWriteArray",
    "ImplicitToExplicitIndexingAdapter",
    "LazilyIndexedArray",
    "MemoryCachedArray",
    "ZarrArrayWrapper",
}


def path_of(src: Any) -> str:
    """The path of what is read.

    Raises TypeError for an array that is not the whole of a Zarr array in a folder.
    """
    if isinstance(src, str | os.PathLike):
        return os.fspath(src)
    if type(src).__name__ == "Dataset" and hasattr(src, "data_vars"):
        first = next(iter(src.data_vars), "name")
        raise TypeError(
            f"a Dataset, and one array is cut at a time: ds[{first!r}], or the path of the store with only={first!r}; all arrays: "
            "tw.convert(path, target, to='chunks (…)')"
        )
    found = _zarr_array(src)
    if found is None or tuple(found.shape) != tuple(getattr(src, "shape", ())):
        raise TypeError(
            f"an array of type {type(src).__module__}.{type(src).__qualname__} that is not all of a Zarr array as it is stored; "
            "write it with to_zarr(path) first and give the path (values that xarray decodes: open_zarr(path, "
            "mask_and_scale=False), or the path)"
        )
    root = _folder(found.store)
    if root is None:
        raise TypeError(f"a Zarr array in a {type(found.store).__name__}; give the path or the address of the store")
    return os.path.join(root, found.path)


def _folder(store: Any) -> str | None:
    """The folder of a store of zarr-python, if it is one: as Python opens it, or as fsspec does."""
    files = getattr(store, "fs", None)
    if files is None:
        root = getattr(store, "root", None)
        return None if root is None else os.fspath(root)
    names = getattr(getattr(files, "sync_fs", files), "protocol", ())
    return os.fspath(store.path) if "file" in ((names,) if isinstance(names, str) else names) else None


def _zarr_array(src: Any) -> Any:
    """The array of zarr-python that this one is, if it is one."""
    # A DataArray has a variable, and that has what it was made of. Asking for `data` would read all of it.
    src = getattr(getattr(src, "variable", src), "_data", src)
    if hasattr(src, "dask") and hasattr(src, "name"):
        src = _origin(src)
    while src is not None and type(src).__name__ in _PLAIN:
        key = getattr(src, "key", None)
        if key is not None and any(part != slice(None) for part in key.tuple):
            return None
        src = getattr(src, "array", None) if hasattr(src, "array") else getattr(src, "_array", None)
    return src if hasattr(src, "store") and hasattr(src, "path") and hasattr(src, "shape") else None


def _origin(src: Any) -> Any:
    """What a Dask array reads, if it does nothing else than cut it into chunks."""
    layers = {name: layer for name, layer in src.dask.layers.items() if not name.startswith("rechunk-")}
    names = [name for name in layers if not name.startswith("original-")]
    if len(names) != 1 or set(layers) != {names[0], f"original-{names[0]}"}:
        return None
    (value,) = dict(layers[f"original-{names[0]}"]).values()
    return getattr(value, "value", value)
