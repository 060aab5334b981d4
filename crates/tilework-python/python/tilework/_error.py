"""The one error of the package."""

from __future__ import annotations

import errno
import os
from typing import Any

__all__ = ["LayoutError", "is_address", "readable"]


def is_address(path: Any) -> bool:
    """Whether a path is an address, such as `s3://bucket/a.zarr`."""
    return "://" in os.fsdecode(path)


def readable(path: Any) -> None:
    """Raises what `open` raises for a file or a folder that is missing or that nobody may read; it opens nothing.

    Whether an address is right is asked where it is read.
    """
    if is_address(path):
        return
    os.stat(path)
    if not os.access(path, os.R_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fspath(path))


class LayoutError(ValueError):
    """A layout, an array or a buffer that cannot be what it is asked to be.

    The message says where, what was found, which rule that breaks and what would be accepted. The parts of it are
    attributes, for programs.

    >>> import tilework as tw
    >>> try:
    ...     tw.Layout("f32[3,5]{1,1}")
    ... except tw.LayoutError as error:
    ...     print(error)
    dimension 1 stands twice in minor_to_major
        f32[3,5]{1,1}
                   ^
      rule: minor_to_major names every dimension exactly once
      accepted: 0 to 1
    >>> try:
    ...     tw.Layout("f32[3,5]{1,1}")
    ... except ValueError as error:
    ...     problem = error
    >>> problem.span, problem.accepted
    ((11, 12), '0 to 1')
    """

    __module__ = "tilework"

    found: str
    """What was found."""
    field: str | None
    """The field that it is about, if there is one."""
    rule: str | None
    """The rule that is broken."""
    accepted: str | None
    """What would be accepted instead."""
    span: tuple[int, int] | None
    """Where in `text`, in bytes of UTF-8."""
    text: str | None
    """The text that was read."""

    def __init__(
        self,
        message: str,
        found: str | None = None,
        field: str | None = None,
        rule: str | None = None,
        accepted: str | None = None,
        span: tuple[int, int] | None = None,
        text: str | None = None,
    ) -> None:
        super().__init__(message)
        self.found = message if found is None else found
        self.field = field
        self.rule = rule
        self.accepted = accepted
        self.span = span
        self.text = text

    def __reduce__(self) -> tuple[type[LayoutError], tuple[object, ...]]:
        parts = (self.found, self.field, self.rule, self.accepted, self.span, self.text)
        return type(self), (self.args[0], *parts)
