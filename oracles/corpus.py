"""Cases for `corpus/`: a few of each check, with the offsets that the real system gave for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

MOST = 12
"""Cases of each check."""

LICENSES = {
    "numpy": "BSD-3-Clause",
    "einops": "MIT",
    "jax": "Apache-2.0",
    "mosaic": "Apache-2.0",
    "onednn": "Apache-2.0",
    "triton": "MIT",
    "mlir": "Apache-2.0 WITH LLVM-exception",
    "cute": "BSD-3-Clause",
    "tensor_layouts": "MIT",
    "zarr": "MIT",
    "gguf": "MIT",
    "tvm": "Apache-2.0",
    "torch": "BSD-3-Clause",
}
"""The licenses of the systems."""

LEFT_OUT = {
    "tiles: against the text that JAX hands XLA": "JAX gives the text, and Tilework the offsets",
}
"""Checks that give the corpus no cases, and why."""


def chosen(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Some of the cases, evenly spread over all."""
    count = min(len(cases), MOST)
    return [cases[number * len(cases) // count] for number in range(count)]


def write(folder: Path, name: str, title: str, cases: list[dict[str, Any]]) -> None:
    """Writes what a system gave; `corpus/` is made of these files by a test of the library."""
    project, _, version = title.rpartition(" ")
    source = {"project": project, "version": version, "license": LICENSES[name], "kind": "run"}
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"name": name, "source": source, "cases": cases}, ensure_ascii=False)
    (folder / f"{name}.json").write_text(text, encoding="utf-8")
