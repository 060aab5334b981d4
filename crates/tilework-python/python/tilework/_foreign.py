"""Layouts of arrays that are not NumPy's, and layouts of JAX.

No library is imported for it: an object is asked only when it comes from the library. The data of an array is never
looked at.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tilework._buffers import is_traced
from tilework._error import LayoutError
from tilework._tilework import Layout, from_dlpack, transpose
from tilework._tilework import contiguous as tw_contiguous

ACCEPTED = (
    "a text such as 'f32[3,5]{1,0:T(2,2)}', a DirectML descriptor as a dict, a tilework.Layout, or an array of NumPy, "
    "PyTorch, JAX, xarray, Dask or another library with the buffer protocol, __array_interface__ or __dlpack__"
)

COMBINED = -(2**63)
"""What stands in a tile of JAX for XLA's `*`: this dimension is combined with the next."""


def layout(spec: Any, dims: Sequence[int] | None = None, dtype: npt.DTypeLike | None = None) -> Layout:
    """The layout of an array of another library, or the one that a layout of JAX says of `dims` and `dtype`."""
    if isinstance(spec, (list, tuple)) and dtype is not None and dims is None:
        return _row_major(tuple(spec), dtype)
    comes_from = _libraries(spec)
    if "jax" in comes_from or "jaxlib" in comes_from:
        written = getattr(spec, "layout", None) if _is_named(spec, "Format") else spec
        if hasattr(written, "major_to_minor"):
            return _of_jax_layout(written, dims, dtype)
    if dims is not None or dtype is not None:
        raise TypeError(
            "dims and dtype go with what says neither: the braces of a layout as text, such as '{1,0:T(8,128)}', or a "
            f"Layout or Format of JAX that says an order, but this is {_named(spec)}"
        )
    if "jax" in comes_from or "jaxlib" in comes_from:
        return _of_jax_array(spec)
    if "torch" in comes_from and hasattr(spec, "stride"):
        return _of_tensor(spec)
    if "xarray" in comes_from and hasattr(spec, "dims") and hasattr(spec, "data"):
        return _of_labelled(spec)
    if "dask" in comes_from and hasattr(spec, "chunks"):
        return _of_chunked(spec)
    if isinstance(spec, np.generic):
        return Layout(np.asarray(spec))
    for interface in ("__array_interface__", "__cuda_array_interface__"):
        described = getattr(spec, interface, None)
        if isinstance(described, dict):
            return _of_interface(described)
    try:
        view = memoryview(spec)
    except TypeError:
        pass
    else:
        return Layout(np.asarray(view))
    if hasattr(spec, "__dlpack__"):
        return Layout(from_dlpack(spec))
    if hasattr(spec, "__array__"):
        return Layout(np.asarray(spec))
    hint = (
        "; a shape goes with a dtype, and numpy.asarray makes an array of a list"
        if isinstance(spec, (list, tuple))
        else ""
    )
    raise TypeError(f"a layout is made from {ACCEPTED}, and this is {_named(spec)}{hint}")


def descriptor(fields: dict[str, Any]) -> str:
    """A DirectML descriptor as JSON: numbers and arrays of NumPy are written as Python's."""

    def plain(value: Any) -> Any:
        if isinstance(value, (np.generic, np.ndarray)):
            return value.tolist()
        raise TypeError(f"a DirectML descriptor holds names, numbers and lists of numbers, not {_named(value)}")

    try:
        return json.dumps(fields, default=plain)
    except RecursionError:
        found = "a descriptor of very many lists within each other"
        raise LayoutError(f"spec: {found}", found=found, field="spec") from None


def to_jax(major_to_minor: tuple[int, ...], tiles: list[list[int | None]], bits: int) -> Any:
    """The `jax.experimental.layout.Layout` of an order and tiles, in which `None` combines."""
    try:
        from jax.experimental.layout import Layout as JaxLayout
    except ImportError as error:
        message = "to_jax() makes an object of JAX, which is not installed; layout.translate('jax') says it as text"
        raise ImportError(message) from error

    tiling = tuple(tuple(COMBINED if size is None else size for size in tile) for tile in tiles)
    return JaxLayout(major_to_minor, tiling, bits)


def _of_jax_layout(written: Any, dims: Sequence[int] | None, dtype: npt.DTypeLike | None) -> Layout:
    """JAX's `Layout`, which has no dimensions and no dtype of its own."""
    if dims is None or dtype is None:
        raise TypeError(
            "a layout of JAX knows neither dimensions nor dtype: tilework.Layout(layout, dims=(64, 300), "
            "dtype='bfloat16'), or tilework.Layout(array) for an array of JAX"
        )
    if not written.major_to_minor and not written.tiling:
        return Layout.strided((), (), dtype)
    order = ",".join(str(dim) for dim in reversed(written.major_to_minor))
    qualifiers = "".join(f"({','.join(map(_tile_size, tile))})" for tile in written.tiling or ())
    if qualifiers:
        qualifiers = "T" + qualifiers
    if bits := getattr(written, "sub_byte_element_size_in_bits", 0):
        qualifiers += f"E({bits})"
    return Layout(f"{{{order}{':' if qualifiers else ''}{qualifiers}}}", dims=tuple(dims), dtype=dtype)


def _tile_size(size: int) -> str:
    return "*" if size == COMBINED else str(size)


def _of_jax_array(array: Any) -> Layout:
    """An array of JAX, or a `ShapeDtypeStruct`: where it is sharded, the layout of one shard."""
    if not hasattr(array, "shape") or not hasattr(array, "dtype"):
        raise TypeError(f"a layout is made from {ACCEPTED}, and this is {_named(array)}")
    if is_traced(array):
        raise TypeError(
            "this array is being traced: it has no layout before it is compiled; accepted: an array outside jax.jit, "
            "or compiled.input_formats and compiled.output_formats"
        )
    if getattr(array, "is_deleted", bool)():
        raise LayoutError("this array of JAX is deleted, so it lies nowhere")
    try:
        dtype = np.dtype(array.dtype)
    except TypeError:
        raise LayoutError(
            f"dtype: elements of dtype {array.dtype}; elements are numbers of a type that XLA has",
            found=f"elements of dtype {array.dtype}",
            field="dtype",
        ) from None
    dims = tuple(array.shape)
    if (sharding := getattr(array, "sharding", None)) is not None:
        dims = tuple(sharding.shard_shape(dims))
    written = getattr(getattr(array, "format", None), "layout", None)
    if written is None or not hasattr(written, "major_to_minor"):
        return _row_major(dims, dtype)
    return _of_jax_layout(written, dims, dtype)


def _of_tensor(tensor: Any) -> Layout:
    """A tensor of PyTorch on any device: where it is a `DTensor`, the layout of the local part."""
    if hasattr(tensor, "to_local"):
        tensor = tensor.to_local()
    if str(tensor.layout) != "torch.strided":
        found = f"a tensor of layout {tensor.layout}"
        raise LayoutError(
            f"layout: {found}; elements have offsets by strides; accepted: tensor.to_dense()",
            found=found,
            field="layout",
            rule="elements have offsets by strides",
            accepted="tensor.to_dense()",
        )
    name = str(tensor.dtype).removeprefix("torch.")
    try:
        made = Layout.strided(tuple(tensor.shape), _strides(tensor.shape, tensor.stride()), name)
    except TypeError:
        made = None
    if made is None or made.bits != 8 * tensor.element_size():
        found = f"elements of dtype {tensor.dtype}"
        accepted = "tensor.view(torch.uint8)"
        raise LayoutError(
            f"dtype: {found}; elements are numbers of a type that XLA has; accepted: {accepted}",
            found=found,
            field="dtype",
            rule="elements are numbers of a type that XLA has",
            accepted=accepted,
        )
    return made


def _of_labelled(array: Any) -> Layout:
    """An array of xarray: the layout of what it holds, with its names."""
    made = Layout(array.data)
    try:
        return made.with_names([str(name) for name in array.dims])
    except LayoutError:  # names that no text of ours could say
        return made


def contiguous(array: Any, axes: Any, is_transposed: bool) -> Any:
    """An array of xarray or JAX as the same kind, in row-major order, with its axes in another order if that is asked.

    None of an array of anything else, and of one that holds no array of NumPy.
    """
    libraries = _libraries(array)
    order: list[Any]
    if "xarray" in libraries and _is_named(array, "DataArray"):
        if type(array.data) is not np.ndarray:
            return None
        if not is_transposed:
            return array.copy(data=tw_contiguous(array.data))
        order = list(reversed(range(array.ndim)) if axes is None else axes)
        names = [axis if axis in array.dims else array.dims[axis] for axis in order]
        view = array.transpose(*names)
        return view.copy(data=transpose(array.data, [array.dims.index(name) for name in names]))
    # Arrays of JAX do not change, and say nothing of their memory.
    is_jax = _is_named(array, "ArrayImpl") and not is_transposed
    return array if is_jax and libraries & {"jax", "jaxlib"} else None


def _of_chunked(array: Any) -> Layout:
    """An array of Dask: the layout of what computing it gives, which is not done for it."""
    if any(size != size for size in array.shape):
        found = "an array of Dask whose sizes are known when it is computed"
        accepted = "array.compute_chunk_sizes()"
        raise LayoutError(f"array: {found}; accepted: {accepted}", found=found, field="array", accepted=accepted)
    return _row_major(tuple(array.shape), array.dtype)


def _strides(dims: Sequence[int], strides: Sequence[int]) -> list[int]:
    """The strides, with 0 for dimensions of one element: no other index is ever asked for."""
    return [stride if size > 1 else 0 for size, stride in zip(dims, strides, strict=True)]


def _of_interface(described: dict[str, Any]) -> Layout:
    """What `__array_interface__` says, or the same of an array on a GPU."""
    try:
        dims, dtype = tuple(described["shape"]), np.dtype(described["typestr"])
    except (KeyError, TypeError, ValueError, SyntaxError) as error:
        found = f"an array interface that NumPy cannot read: {error}"
        accepted = "an object with the fields shape and typestr"
        raise LayoutError(
            f"array: {found}; accepted: {accepted}", found=found, field="array", accepted=accepted
        ) from error
    if (strides := described.get("strides")) is None:
        return _row_major(dims, dtype)
    # An array of this shape and these strides over nothing, whose elements are never looked at.
    return Layout(np.lib.stride_tricks.as_strided(np.empty(0, dtype), dims, tuple(strides)))


def _row_major(dims: Sequence[int], dtype: npt.DTypeLike) -> Layout:
    if not dims:
        return Layout.strided((), (), dtype)
    order = ",".join(str(dim) for dim in reversed(range(len(dims))))
    return Layout(f"{{{order}}}", dims=tuple(dims), dtype=dtype)


def _libraries(spec: Any) -> set[str]:
    """The libraries whose classes an object has, by the first part of the names of their modules."""
    return {str(cls.__module__).partition(".")[0] for cls in type(spec).__mro__}


def _is_named(spec: Any, name: str) -> bool:
    return any(cls.__name__ == name for cls in type(spec).__mro__)


def _named(spec: Any) -> str:
    """A value as a sentence says it: with its type."""
    text = repr(spec)
    kind = type(spec)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    return f"{text} ({name})" if len(text) <= 40 and "\n" not in text else f"of type {name}"
