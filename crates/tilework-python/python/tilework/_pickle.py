"""What pickles are made of again."""

from __future__ import annotations

from collections.abc import Iterable

from tilework._tilework import Layout, Plan


def layout(text: str, views: Iterable[tuple[str, list[int]]]) -> Layout:
    """A layout from its text and the views taken since."""
    made = Layout(text)
    for name, arguments in views:
        made = getattr(made, name)(*arguments)
    return made


def plan(from_: Layout, to: Layout, fill: str | None, convert: bool) -> Plan:
    """A plan from its arguments."""
    return Plan(from_, to, fill=fill, convert=convert)
