"""Arrays whose memory moves, or tries to, while a call reads its arguments or moves the data."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilework as tw

ROWS, COLUMNS = 300, 500
LAYOUT = f"f32[{ROWS},{COLUMNS}]{{0,1}}"


class Meanwhile:
    """A number that does something when it is read."""

    def __init__(self, number: int, act: Callable[[], Any]) -> None:
        self.number, self.act = number, act

    def __index__(self) -> int:
        self.act()
        return self.number


def elements() -> np.ndarray[Any, Any]:
    return np.arange(ROWS * COLUMNS, dtype=np.float32).reshape(ROWS, COLUMNS).copy()


def moved(array: np.ndarray[Any, Any]) -> Callable[[], None]:
    """Gives the array other memory, of another size, and overwrites the memory that it had."""

    def act() -> None:
        array.resize(8, refcheck=False)
        np.full(ROWS * COLUMNS, -1, np.float32)

    return act


CALLS: dict[str, Callable[[np.ndarray[Any, Any], Any, Any], Any]] = {
    "pack, threads": lambda a, n, _: tw.pack(a, LAYOUT, threads=n),
    "pack, fill": lambda a, n, _: tw.pack(a, LAYOUT, fill=n),
    "pack, braces and fill": lambda a, n, _: tw.pack(a, "{0,1}", fill=n),
    "pack, braces and threads": lambda a, n, _: tw.pack(a, "{0,1:T(512)}", threads=n),
    "unpack, threads": lambda a, n, _: tw.unpack(a, LAYOUT, threads=n),
    "unpack, a view": lambda a, n, _: tw.unpack(a, LAYOUT, threads=n, copy=None),
    "relayout, threads": lambda a, n, _: tw.relayout(a, LAYOUT, "{1,0}", threads=n),
    "relayout, fill": lambda a, n, _: tw.relayout(a, LAYOUT, "{1,0}", fill=n),
    "plan": lambda a, n, _: tw.Plan(LAYOUT, "{1,0}").run(a, None, n),
    "pack, out": lambda a, n, other: tw.pack(other.reshape(ROWS, COLUMNS), LAYOUT, out=a, threads=n),
    "unpack, out": lambda a, n, other: tw.unpack(other, LAYOUT, out=a, threads=n),
    "relayout, out": lambda a, n, other: tw.relayout(other, LAYOUT, "{1,0}", out=a, threads=n),
    "plan, out": lambda a, n, other: tw.Plan(LAYOUT, "{1,0}").run(other, a, n),
}


@pytest.mark.parametrize("name", CALLS)
def test_an_argument_that_resizes_an_array_is_read_before_the_array_is(name: str) -> None:
    array, other = elements(), elements().ravel()
    if name.startswith(("relayout", "plan", "unpack")) or name == "pack, out":
        array = array.ravel().copy()
    if name == "unpack, out":
        array = array.reshape(ROWS, COLUMNS).copy()
    call = CALLS[name]
    with pytest.raises(tw.LayoutError):  # of eight elements, which the array has by then
        call(array, Meanwhile(1, moved(array)), other)
    assert array.shape == (8,)
    assert (array >= 0).all()


def test_what_an_argument_writes_into_the_array_is_moved() -> None:
    array = elements()

    def act() -> None:
        array[0, 0] = 77

    assert tw.pack(array, LAYOUT, threads=Meanwhile(1, act))[0] == 77


def test_an_output_that_resizes_the_input_is_read_before_the_input_is() -> None:
    array = elements()

    class Out:
        """An output that is asked for its memory, and moves that of the input."""

        def __init__(self) -> None:
            self.room = np.zeros(ROWS * COLUMNS, np.float32)

        @property
        def __array_interface__(self) -> Any:
            if array.size > 8:
                moved(array)()
            return self.room.__array_interface__

    with pytest.raises(tw.LayoutError):
        tw.pack(array, LAYOUT, out=Out())


def test_an_array_whose_data_is_being_moved_cannot_be_resized() -> None:
    """Another thread asks for other memory as soon as the call lets it run: which is while the data is moved."""
    side = 1 << 11
    array = np.arange(side * side, dtype=np.float32).reshape(side, side).copy()
    expected = array.T.ravel().copy()
    begun = threading.Event()

    def act() -> None:
        begun.wait()
        while array.size > 8:
            try:
                array.resize(8, refcheck=False)
            except ValueError:
                continue

    thread = threading.Thread(target=act)
    thread.start()
    try:
        packed = tw.pack(array, f"f32[{side},{side}]{{0,1}}", threads=Meanwhile(1, begun.set))
        assert (packed == expected).all()
    except tw.LayoutError:
        assert array.size == 8  # the other thread was quicker
    finally:
        begun.set()
        thread.join()
