"""How tensors lie in memory.

>>> import tilework as tw
>>> layout = tw.Layout("f32[3,5]{1,0:T(2,2)}")
>>> layout.size, layout.allocated, layout.nbytes
(15, 24, 96)
>>> layout.offset(2, 3)
17
"""

from tilework import directml, xla
from tilework._error import LayoutError
from tilework._files import Difference, FileArray, convert, diff, ls
from tilework._jobs import Task, TaskPlan, plan_tasks, rechunk, reshard
from tilework._sightings import Sightings
from tilework._tilework import (
    Audit,
    AuditChange,
    Blocks,
    Comparison,
    DLPack,
    Layout,
    Padding,
    Plan,
    Sighting,
    Suggestions,
    Verdict,
    __version__,
    astype,
    audit,
    block,
    channels_first,
    channels_last,
    contiguous,
    copyto,
    find,
    pack,
    relayout,
    suggest,
    to_dlpack,
    translate,
    transpose,
    unpack,
)
from tilework._translations import Translations

__all__ = [
    "Audit",
    "AuditChange",
    "Blocks",
    "Comparison",
    "DLPack",
    "Difference",
    "FileArray",
    "Layout",
    "LayoutError",
    "Padding",
    "Plan",
    "Sighting",
    "Sightings",
    "Suggestions",
    "Task",
    "TaskPlan",
    "Translations",
    "Verdict",
    "__version__",
    "astype",
    "audit",
    "block",
    "channels_first",
    "channels_last",
    "contiguous",
    "convert",
    "copyto",
    "diff",
    "directml",
    "find",
    "ls",
    "pack",
    "plan_tasks",
    "rechunk",
    "relayout",
    "reshard",
    "suggest",
    "to_dlpack",
    "translate",
    "transpose",
    "unpack",
    "xla",
]
