"""Arrays and buffers that are not NumPy's, as arrays of NumPy that show the same memory."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilework import _tilework
from tilework._error import LayoutError


def array(value: Any) -> NDArray[Any]:
    """The elements of a value, which are copied only where its library hands out nothing else."""
    shown = _shown(value)
    if shown is None and (hasattr(value, "__array__") or isinstance(value, (list, tuple))):
        shown = np.asarray(value)
    if shown is None:
        raise TypeError(f"an array or a buffer is expected, not {type(value).__name__}")
    return shown


def writable(value: Any) -> NDArray[Any]:
    """The memory of a value that is written to."""
    shown = _shown(value)
    if shown is None:
        raise TypeError(f"out is an array or a buffer that can be written, not {type(value).__name__}")
    return shown


def is_traced(value: Any) -> bool:
    """Whether JAX is compiling and this stands for an array that will be there."""
    return any(cls.__name__ == "Tracer" for cls in type(value).__mro__)


def _is_traced_by_torch(value: Any) -> bool:
    """Whether PyTorch is compiling, exporting or batching, and this stands for tensors that will be there."""
    if any(cls.__name__ in ("FakeTensor", "FunctionalTensor") for cls in type(value).__mro__):
        return True
    torch = sys.modules.get("torch")
    functorch = getattr(getattr(torch, "_C", None), "_functorch", None)
    is_wrapped = getattr(functorch, "is_functorch_wrapped_tensor", None)
    return is_wrapped is not None and bool(is_wrapped(value))


_TRACED_BY_TORCH = (
    "this tensor is being traced: it has no data before the function that is compiled, exported or mapped runs; accepted: a "
    "tensor outside of it; within torch.compile, a function with @torch.compiler.disable"
)


def _shown(value: Any) -> NDArray[Any] | None:
    """An array of the memory of a value; None if it does not say where that is."""
    if is_traced(value):
        raise TypeError(
            "this array is being traced: it has no data before the function that is compiled runs; accepted: an array "
            "outside jax.jit, or jax.pure_callback within it"
        )
    if str(type(value).__module__).partition(".")[0] in ("jax", "jaxlib") and hasattr(value, "is_deleted"):
        return _of_jax(value)
    if hasattr(value, "__array_interface__"):
        return np.asarray(value)
    if hasattr(value, "__dlpack__"):
        return _of_dlpack(value)
    try:
        view = memoryview(value)
    except TypeError:
        return None
    except (ValueError, BufferError) as error:  # a mapped file that is closed
        raise _refused(str(error), "the memory is still there", "a buffer that is open") from error
    return np.asarray(view.cast("B") if view.format == "c" and view.c_contiguous else view)


def _of_dlpack(value: Any) -> NDArray[Any]:
    """An array that its library hands out; PyTorch hands out tensors without data, too, or says in its own words why not."""
    is_torch = type(value).__module__.partition(".")[0] == "torch"
    if is_torch and type(value).__name__ != "Tensor" and _is_traced_by_torch(value):
        raise TypeError(_TRACED_BY_TORCH)
    try:
        return _tilework.from_dlpack(value)
    except LayoutError:
        if is_torch and _is_traced_by_torch(value):
            raise TypeError(_TRACED_BY_TORCH) from None
        if is_torch and value.device.type == "meta":
            raise _refused(
                "a tensor on the device meta", "it has a shape, and no data", "a tensor with data, or tilework.Layout of this one"
            ) from None
        raise


def _of_jax(value: Any) -> NDArray[Any]:
    """An array of JAX, which says itself where it is and whether it still is."""
    if value.is_deleted():
        raise _refused("an array that was deleted or donated", "the memory is still there", "an array that is alive")
    platforms = {device.platform for device in value.devices()}
    if platforms != {"cpu"}:
        raise _refused(
            f"an array on {', '.join(sorted(platforms))}",
            "data is moved in the memory of the host",
            "numpy.asarray(array), which copies it there",
        )
    return np.asarray(value)


def _refused(found: str, rule: str, accepted: str) -> LayoutError:
    return LayoutError(f"array: {found}; {rule}; accepted: {accepted}", found, "array", rule, accepted)
