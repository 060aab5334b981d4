"""How tensors lie in memory.

>>> import tilework as tw
>>> layout = tw.Layout("f32[3,5]{1,0:T(2,2)}")
>>> layout.size, layout.nbytes
(24, 96)
>>> layout.offset(2, 3)
17
"""

from tilework import directml, xla
from tilework._error import LayoutError
from tilework._tilework import (
    DLPack,
    Layout,
    Padding,
    Plan,
    Verdict,
    __version__,
    pack,
    relayout,
    to_dlpack,
    unpack,
)

__all__ = [
    "DLPack",
    "Layout",
    "LayoutError",
    "Padding",
    "Plan",
    "Verdict",
    "__version__",
    "directml",
    "pack",
    "relayout",
    "to_dlpack",
    "unpack",
    "xla",
]
