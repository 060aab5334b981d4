"""What `tilework.find` answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tilework._tilework import Sighting

__all__ = ["Sightings"]


class Sightings(list["Sighting"]):
    """The layouts that stand in a text: a list, which `print` shows as `tilework find` does.

    >>> import tilework as tw
    >>> [one.text for one in tw.find("from f32[3,5]{1,0} to f32[3,5]{0,1}")]
    ['f32[3,5]{1,0}', 'f32[3,5]{0,1}']
    """

    __module__ = "tilework"

    is_complete: bool
    """Whether all of the text was looked at. Looking ends after some thousands of layouts."""

    def __init__(self, each: list[Sighting], text: str, html: str, is_complete: bool) -> None:
        super().__init__(each)
        self.is_complete = is_complete
        self._text = text
        self._html = html

    def __str__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        return self._html
