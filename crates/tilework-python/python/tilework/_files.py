"""Files of named arrays: what `tilework ls`, `convert` and `diff` do, for programs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tilework._error import LayoutError, readable
from tilework._tilework import Layout, ask

__all__ = ["Difference", "FileArray", "convert", "diff", "ls"]

_Path = str | os.PathLike[str]


@dataclass(frozen=True)
class FileArray:
    """An array in a file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/model.npz", w=np.zeros((3, 5), np.float32))
    ...     array = tw.ls(f"{folder}/model.npz")[0]
    >>> array.name, array.type, array.shape, array.layout
    ('w', 'f32', (3, 5), tilework.Layout('f32[3,5]{1,0}'))
    """

    name: str
    """What the file calls it."""
    type: str
    """The type of its elements, or of its blocks, such as `q4_0`."""
    shape: tuple[int, ...] | None
    """Its sizes, if it has some."""
    layout: Layout | None
    """How it lies; none for blocks of quantised numbers, and for what is not read."""
    nbytes: int
    """The bytes that it takes."""
    padding: int
    """The bytes of padding among them."""
    unread: str | None
    """Why it is not read, such as pickled objects, if it is not."""
    sharding: str | None = None
    """How devices held it when it was saved, as JAX prints it and `tw.reshard` reads it, where a checkpoint says so."""


@dataclass(frozen=True)
class Difference:
    """What differs in two files.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/a.npz", w=np.zeros(3), x=np.zeros(3))
    ...     np.savez(f"{folder}/b.npz", w=np.ones(3), x=np.zeros(3, np.float32))
    ...     difference = tw.diff(f"{folder}/a.npz", f"{folder}/b.npz")
    >>> difference.equal, difference.different[0]["name"], difference.different[0]["most"]
    (1, 'w', 1.0)
    """

    same: bool
    """Whether both have the same arrays with the same elements."""
    equal: int
    """How many arrays are equal."""
    different: tuple[dict[str, Any], ...]
    """Those that differ, as `tilework diff --json` has them."""
    only_in_a: tuple[str, ...]
    """Names that the second file does not have."""
    only_in_b: tuple[str, ...]
    """Names that the first file does not have."""

    def __bool__(self) -> bool:
        """Whether something differs."""
        return not self.same


def ls(path: _Path, *, only: str | Iterable[str] = ()) -> list[FileArray]:
    """The arrays in a file: safetensors, an index of shards, GGUF, npz, npy, a Zarr store, a checkpoint of JAX, or a folder.

    Each may be in a bucket, `s3://bucket/model.safetensors`, or on a web server, `https://host/a.zarr`: its headers are
    fetched.

    Only headers are read, and pickles are never loaded. `only` are patterns of names, such as `layers.*.weight`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/model.npz", **{"a.weight": np.zeros(3), "a.bias": np.zeros(3)})
    ...     [array.name for array in tw.ls(f"{folder}/model.npz", only="*.weight")]
    ['a.weight']
    """
    readable(path)
    found = _answer(["ls", *_each("--only", only), "--", os.fspath(path)])

    def array(tensor: dict[str, Any]) -> FileArray:
        sizes, layout = tensor["sizes"], tensor["layout"]
        is_blocks = layout is None or not layout.startswith(f"{tensor['type']}[")
        return FileArray(
            name=tensor["name"],
            type=tensor["type"],
            shape=None if sizes is None else tuple(sizes),
            layout=None if is_blocks else Layout(layout),
            nbytes=tensor["bytes"],
            padding=tensor["padding_bytes"],
            unread=tensor["unread"],
            sharding=_sharding(tensor.get("saved_as")),
        )

    return [array(tensor) for tensor in found["tensors"]]


def convert(
    source: _Path,
    target: _Path,
    *,
    only: str | Iterable[str] = (),
    to: str | None = None,
    dtype: str | None = None,
    convert: str | None = None,
    rename: str | Iterable[str] = (),
    pad: str | Iterable[str] = (),
    fill: str | None = None,
    transposed: bool = False,
    format: str | None = None,
    shard_size: str | int | None = None,
    compress: str | None = None,
    memory: str | int | None = None,
    threads: int | None = None,
    check: bool = False,
) -> dict[str, Any]:
    """Moves arrays of a file into other layouts, types, names and formats, into another file or folder.

    The arguments are the options of `tilework convert`, and the answer is that of `--json`. The new file is complete or absent.
    Both may be in a bucket: `s3://bucket/model.npz`, or `s3://bucket/model/` for shards with an index.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     source, target = f"{folder}/model.npz", f"{folder}/tiled.safetensors"
    ...     np.savez(source, w=np.zeros((16, 200), np.float32), bias=np.zeros(200))
    ...     answer = tw.convert(source, target, to="T(8,128)", convert="bf16", check=True)
    ...     [str(array.layout) for array in tw.ls(target)]
    ['bf16[16,200]{1,0:T(8,128)}', 'bf16[200]{0}']
    >>> answer["moved"], answer["kept"][0]["why"]
    (2, 'the tile T(8,128) has 2 dimensions, the array 1')
    """
    readable(source)
    words = ["convert", *_each("--only", only), *_each("--rename", rename), *_each("--pad", pad)]
    options = {
        "to": to,
        "dtype": dtype,
        "convert": convert,
        "fill": fill,
        "format": format,
        "shard-size": shard_size,
        "compress": compress,
        "memory": memory,
        "threads": threads,
    }
    words += [f"--{name}={value}" for name, value in options.items() if value is not None]
    words += [f"--{name}" for name, is_set in {"transposed": transposed, "check": check}.items() if is_set]
    return _answer([*words, "--", os.fspath(source), os.fspath(target)])


def diff(
    a: _Path,
    b: _Path,
    *,
    only: str | Iterable[str] = (),
    rename: str | Iterable[str] = (),
    tolerance: float = 0.0,
    relative: float = 0.0,
) -> Difference:
    """What differs in the arrays of two files, by name and element by element, whatever their formats, layouts and types.

    Numbers are the same that differ by no more than `tolerance`, or than this part of the larger: `relative=0.004` for what was
    rounded to bf16.
    """
    readable(a)
    readable(b)
    words = ["diff", *_each("--only", only), *_each("--rename", rename), f"--tolerance={tolerance}", f"--relative={relative}"]
    found = _answer([*words, "--", os.fspath(a), os.fspath(b)])
    return Difference(
        same=found["same"],
        equal=found["equal"],
        different=tuple(found["different"]),
        only_in_a=tuple(found["only_in_a"]),
        only_in_b=tuple(found["only_in_b"]),
    )


def _sharding(saved: dict[str, Any] | None) -> str | None:
    if saved is None:
        return None
    axes = (axis.rsplit("=", 1) for axis in saved["mesh"].split(","))
    mesh = ", ".join(f"'{name}': {size}" for name, size in axes)
    return f"NamedSharding(mesh=Mesh({mesh}), spec={saved['spec']})"


def _each(option: str, values: str | Iterable[str]) -> list[str]:
    return [f"{option}={value}" for value in ([values] if isinstance(values, str) else values)]


def _answer(words: list[str]) -> dict[str, Any]:
    """The answer of the command.

    Raises LayoutError for what it refuses.
    """
    code, text, errors = ask(["tilework", *words])
    found: dict[str, Any] = json.loads(text.splitlines()[0]) if text else {}
    problem = found.get("error")
    if problem is not None:
        parts = {name: problem.get(name) for name in ("found", "field", "rule", "accepted", "text")}
        raise LayoutError(errors.strip().removeprefix("error: "), **parts)
    if not found:
        raise LayoutError(errors.strip() or f"exit code {code}")
    return found
