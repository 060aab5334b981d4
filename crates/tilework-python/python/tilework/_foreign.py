"""Layouts of arrays that are not NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np

from tilework._tilework import Layout


def layout(array: Any) -> Layout:
    """The layout of an array of another library."""
    return Layout(np.asarray(array))
