"""What pickles are made of again."""

from __future__ import annotations

from collections.abc import Iterable

from tilework._tilework import Layout, Plan


def layout(text: str, views: Iterable[tuple[str, list[int]]], names: str | None = None) -> Layout:
    """A layout from its text, the views taken since, and the names of its dimensions."""
    made = Layout(text)
    for name, arguments in views:
        made = getattr(made, name)(*arguments)
    return made if names is None else made.with_names(names)


def plan(from_: Layout, to: Layout, fill: str | None, convert: bool) -> Plan:
    """A plan from its arguments."""
    return Plan(from_, to, fill=fill, convert=convert)
