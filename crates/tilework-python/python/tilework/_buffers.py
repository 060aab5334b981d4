"""Arrays and buffers that are not NumPy's, as arrays of NumPy that show the same memory."""

from __future__ import annotations

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
        return _tilework.from_dlpack(value)
    try:
        view = memoryview(value)
    except TypeError:
        return None
    except (ValueError, BufferError) as error:  # a mapped file that is closed
        raise _refused(str(error), "the memory is still there", "a buffer that is open") from error
    return np.asarray(view.cast("B") if view.format == "c" and view.c_contiguous else view)


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
