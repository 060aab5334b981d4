"""GGUF: not compared yet. What its Python package says of a tensor is sizes and type, and no place of an element."""

from __future__ import annotations

from common import Check, Skipped

CHECKS: list[Check] = []


def version() -> str:
    raise Skipped("its package says sizes and types, and no places of elements")
