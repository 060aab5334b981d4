"""Affine maps, evaluated by MLIR's own simplification over constants. Two libraries bring MLIR: each has its own `ir`."""

from __future__ import annotations

from typing import Any

import numpy as np

from common import Integers


def evaluated(ir: Any, map_: Any, dims: tuple[int, ...]) -> list[Integers]:
    """Each result of a map, for every index."""
    results = [np.empty(dims, np.int64) for _ in map_.results]
    for index in np.ndindex(*dims):
        point = ir.AffineMap.get(0, 0, [ir.AffineExpr.get_constant(i) for i in index])
        for result, expression in zip(results, map_.results, strict=True):
            result[index] = int(str(expression.compose(point)).removeprefix("AffineExpr(").rstrip(")"))
    return results
