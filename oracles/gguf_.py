"""GGUF: not compared, because Tilework does not read ggml's tensors yet."""

from __future__ import annotations

from common import Check, Skipped

CHECKS: list[Check] = []


def version() -> str:
    raise Skipped("Tilework does not read ggml's tensors yet")
