"""Every mistake is answered with a sentence, and nothing is written."""

from __future__ import annotations

import mmap
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tilework as tw

TILES = "f32[3,5]{1,0:T(2,2)}"  # 24 places, 96 bytes


def floats() -> np.ndarray[Any, Any]:
    return np.arange(15, dtype=np.float32).reshape(3, 5)


def read_only() -> np.ndarray[Any, Any]:
    array = np.zeros(24, np.float32)
    array.flags.writeable = False
    return array


ROOM = np.zeros(64, np.float32)

MISTAKES: dict[str, tuple[Callable[[], Any], str]] = {
    "pack: another dtype": (lambda: tw.pack(floats().astype("f8"), TILES), "f64 in the source, f32"),
    "pack: raw bytes are no array of floats": (lambda: tw.pack(np.zeros((3, 5), "u1"), TILES), "u8 in the source"),
    "pack: other dimensions": (lambda: tw.pack(floats().T, TILES), "dimension 0 is 5"),
    "pack: another rank": (lambda: tw.pack(floats()[0], TILES), "1 dimension"),
    "pack: objects": (lambda: tw.pack(floats().astype(object), TILES), "object"),
    "pack: byte-swapped without a copy": (lambda: tw.pack(floats().astype(">f4"), TILES, copy=False), "byte order"),
    "pack: dates": (lambda: tw.pack(np.zeros((3, 5), "M8[s]"), TILES), "datetime64"),
    "pack: strings": (lambda: tw.pack(np.zeros((3, 5), "U3"), TILES), "U3"),
    "pack: records": (lambda: tw.pack(np.zeros((3, 5), "f4,f4"), TILES), "dtype"),
    "pack: a destination of broadcasts": (
        lambda: tw.pack(floats(), "f32[3,5]{strides(0,1)}"),
        "a place for every element",
    ),
    "pack: wider places": (lambda: tw.pack(np.zeros(3, "u1"), "u8[3]{0:E(16)}"), "bits"),
    "pack: no layout": (lambda: tw.pack(floats(), "f32[3,5]{1,1}"), "1"),
    "pack: braces of another rank": (lambda: tw.pack(floats(), "{0}"), "dimension"),
    "unpack: braces alone": (lambda: tw.unpack(np.zeros(24), "{1,0}"), "braces"),
    "unpack: another dtype": (lambda: tw.unpack(np.zeros(24), TILES), "float64.*float32"),
    "unpack: objects": (lambda: tw.unpack(np.zeros(24, object), TILES), "object"),
    "unpack: byte-swapped": (lambda: tw.unpack(np.zeros(24, ">f4"), TILES), "byte order"),
    "unpack: too short": (lambda: tw.unpack(np.zeros(23, "f4"), TILES), "24 elements"),
    "unpack: too long": (lambda: tw.unpack(np.zeros(25, "f4"), TILES), "24 elements"),
    "unpack: too few bytes": (lambda: tw.unpack(bytes(95), TILES), "96 bytes"),
    "unpack: narrow elements one in a byte": (
        lambda: tw.unpack(np.zeros(8, ml_dtypes.int4), "s4[16]{0:E(4)}"),
        "bytes as uint8",
    ),
    "relayout: other dimensions": (lambda: tw.relayout(bytes(96), TILES, "f32[5,3]"), "dimension 0"),
    "relayout: another type": (lambda: tw.relayout(bytes(96), TILES, "s32[3,5]"), "convert=True"),
    "relayout: no such conversion": (lambda: tw.relayout(bytes(96), TILES, "c64[3,5]", convert=True), "no conversion"),
    "fill: no value": (lambda: tw.pack(floats(), TILES, fill="two"), "fill"),
    "fill: too large": (lambda: tw.pack(np.zeros(3, "u1"), "{0:T(4)}", fill=256), "fill"),
    "fill: a fraction of a whole number": (lambda: tw.pack(np.zeros(3, "u1"), "{0:T(4)}", fill=0.5), "fill"),
    "fill: complex for real": (lambda: tw.pack(floats(), TILES, fill=1j), "fill"),
    "threads: none": (lambda: tw.pack(floats(), TILES, threads=0), "threads"),
    "threads: fewer": (lambda: tw.pack(floats(), TILES, threads=-1), "threads"),
    "out: another dtype": (lambda: tw.pack(floats(), TILES, out=np.zeros(24)), "float64"),
    "out: too short": (lambda: tw.pack(floats(), TILES, out=np.zeros(23, "f4")), "24 elements"),
    "out: too long": (lambda: tw.pack(floats(), TILES, out=bytearray(97)), "96 bytes"),
    "out: read-only": (lambda: tw.pack(floats(), TILES, out=read_only()), "read-only"),
    "out: bytes": (lambda: tw.pack(floats(), TILES, out=bytes(96)), "read-only"),
    "out: not contiguous": (lambda: tw.pack(floats(), TILES, out=np.zeros(48, "f4")[::2]), "one after the other"),
    "out: objects": (lambda: tw.pack(floats(), TILES, out=np.zeros(24, object)), "object"),
    "out: byte-swapped": (lambda: tw.pack(floats(), TILES, out=np.zeros(24, ">f4")), "byte order"),
    "out: overlaps": (lambda: tw.pack(ROOM[:15].reshape(3, 5), TILES, out=ROOM[10:34]), "overlaps"),
    "out: overlaps the end": (lambda: tw.pack(ROOM[23:38].reshape(3, 5), TILES, out=ROOM[:24]), "overlaps"),
    "out: overlaps backwards": (lambda: tw.pack(ROOM[14::-1].reshape(3, 5), TILES, out=ROOM[8:32]), "overlaps"),
    "out: the input itself": (lambda: tw.relayout(ROOM[:24], TILES, TILES, out=ROOM[:24]), "overlaps"),
    "out of unpack: other dimensions": (lambda: tw.unpack(bytes(96), TILES, out=np.zeros((5, 3), "f4")), r"\[3, 5\]"),
    "out of unpack: another dtype": (lambda: tw.unpack(bytes(96), TILES, out=np.zeros((3, 5))), "float64"),
    "out of unpack: read-only": (
        lambda: tw.unpack(bytes(96), TILES, out=np.broadcast_to(np.float32(0), (3, 5))),
        "read-only",
    ),
    "out of unpack: elements that share a place": (
        lambda: tw.unpack(bytes(96), TILES, out=np.lib.stride_tricks.as_strided(ROOM, (3, 5), (4, 4))),
        "place",
    ),
    "out of unpack: overlaps": (lambda: tw.unpack(ROOM[:24], TILES, out=ROOM[20:35].reshape(3, 5)), "overlaps"),
    "out and copy=False": (lambda: tw.pack(floats(), TILES, out=np.zeros(24, "f4"), copy=False), "copy"),
    "plan: too short": (lambda: tw.Plan(TILES, "{1,0}").run(bytes(95)), "96 bytes"),
    "plan: out too short": (lambda: tw.Plan(TILES, "{1,0}").run(bytes(96), bytearray(59)), "60 bytes"),
    "plan: other dimensions": (lambda: tw.Plan(TILES, "f32[3,6]"), "dimension 1"),
    "plan: a broadcast destination": (lambda: tw.Plan(TILES, "f32[3,5]{strides(1,1)}"), "place"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_a_layout_error_that_says_so(name: str) -> None:
    mistake, said = MISTAKES[name]
    with pytest.raises(tw.LayoutError, match=said):
        mistake()
    assert not ROOM.any()
    mistaken = pytest.raises(ValueError, mistake)  # LayoutError is one
    assert mistaken.value.found


@pytest.mark.parametrize(
    "confusion",
    [
        lambda: tw.pack({1, 2}, "s64[2]"),
        lambda: tw.pack(None, TILES),
        lambda: tw.pack("text", TILES),
        lambda: tw.pack(floats(), 5),
        lambda: tw.pack(floats(), TILES, fill=[1]),
        lambda: tw.pack(floats(), TILES, threads="two"),
        lambda: tw.pack(floats(), TILES, threads=1.5),
        lambda: tw.pack(floats(), TILES, out=[0.0] * 24),
        lambda: tw.pack(floats(), TILES, copy="no"),
        lambda: tw.pack(floats(), TILES, 0),
        lambda: tw.unpack(5, TILES),
        lambda: tw.unpack(bytes(96)),
        lambda: tw.Plan(TILES),
    ],
)
def test_what_is_no_array_at_all_is_a_type_error(confusion: Callable[[], Any]) -> None:
    with pytest.raises(TypeError):
        confusion()


def test_memory_that_is_gone_is_refused(tmp_path: Any) -> None:
    path = tmp_path / "data"
    path.write_bytes(bytes(96))
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    with pytest.raises(tw.LayoutError, match="read-only"):
        tw.pack(floats(), TILES, out=mapped)
    view = tw.unpack(mapped, "f32[24]", copy=None)
    with pytest.raises(BufferError):
        mapped.close()  # the view still shows it
    del view
    mapped.close()
    with pytest.raises(tw.LayoutError, match="closed"):
        tw.unpack(mapped, TILES)
    released = memoryview(bytearray(96))
    released.release()
    with pytest.raises(tw.LayoutError, match="released"):
        tw.unpack(released, TILES)


def test_a_bytearray_cannot_shrink_under_a_view() -> None:
    buffer = bytearray(96)
    view = tw.unpack(buffer, "f32[24]", copy=None)
    with pytest.raises(BufferError):
        buffer.clear()
    del view
    buffer.clear()


def test_deleted_arrays_of_jax_are_refused() -> None:
    jax = pytest.importorskip("jax")
    array = jax.numpy.zeros((3, 5), "float32")
    with pytest.raises(tw.LayoutError, match="read-only"):
        tw.unpack(bytes(96), TILES, out=array)
    array.delete()
    with pytest.raises(tw.LayoutError, match="deleted"):
        tw.pack(array, TILES)


def test_tensors_elsewhere_and_those_with_gradients_are_refused() -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises(tw.LayoutError, match="gradient"):
        tw.pack(torch.zeros(3, 5, requires_grad=True), TILES)
    for mistake in [
        lambda: tw.pack(torch.zeros(3, 5, device="meta"), TILES),
        lambda: tw.pack(torch.zeros(3, 5).to_sparse(), TILES),
    ]:
        with pytest.raises((tw.LayoutError, TypeError, BufferError)):
            mistake()

    class Elsewhere:
        def __dlpack_device__(self) -> tuple[int, int]:
            return 2, 0

        def __dlpack__(self, **_options: Any) -> Any:
            raise AssertionError("nobody asks")

    with pytest.raises(tw.LayoutError, match="host"):
        tw.pack(Elsewhere(), TILES)


def test_a_negative_view_of_torch_is_not_moved_without_its_sign() -> None:
    torch = pytest.importorskip("torch")
    conjugate = torch.tensor([1 + 2j, 3 - 4j]).conj()
    try:
        packed = tw.pack(conjugate, "c64[2]")
    except (tw.LayoutError, BufferError):
        return
    assert packed.tolist() == conjugate.resolve_conj().tolist()


def test_nothing_is_written_after_an_error() -> None:
    out = np.full(24, 7, np.float32)
    for layout, array in [("f32[3,6]{1,0:T(3,8)}", floats()), ("f64[3,4]", np.zeros((3, 4)))]:
        with pytest.raises(tw.LayoutError):
            tw.pack(array, layout, out=out)
    assert (out == 7).all()


def test_a_layout_that_no_memory_holds_is_an_error_and_not_the_end() -> None:
    huge = "f32[4000000,4000000]{1,0:T(8,128)}"
    with pytest.raises((MemoryError, ValueError)):
        tw.pack(np.broadcast_to(np.float32(1), (4_000_000, 4_000_000)), huge)
    with pytest.raises((MemoryError, ValueError)):
        tw.unpack(np.broadcast_to(np.float32(1), (1,)), "f32[4000000000,4000000]{strides(0,0)}", copy=True)
