"""What somebody tries in the first hour."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import tilework as tw


def test_files_that_are_not_there_raise_what_open_raises(tmp_path: Path) -> None:
    missing = tmp_path / "no-such-file"
    calls = (
        lambda: tw.ls(missing),
        lambda: tw.convert(missing, tmp_path / "out.npy"),
        lambda: tw.diff(missing, missing),
        lambda: tw.audit(missing),
    )
    for call in calls:
        with pytest.raises(FileNotFoundError, match="no-such-file") as caught:
            call()
        assert Path(caught.value.filename) == missing


def test_arrays_of_xarray_keep_their_names() -> None:
    xarray = pytest.importorskip("xarray")
    data = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
    array = xarray.DataArray(data, dims=("a", "b", "c"), coords={"a": [10, 20]}, name="x")
    for axes in (None, (2, 1, 0), ("c", "b", "a")):
        made = tw.transpose(array, axes)
        assert isinstance(made, xarray.DataArray)
        assert (made.dims, made.name, list(made.a)) == (("c", "b", "a"), "x", [10, 20])
        assert made.data.flags.c_contiguous and np.array_equal(made.data, data.T)
        assert not np.shares_memory(made.data, data)
    made = tw.contiguous(array.transpose("c", "a", "b"))
    assert made.dims == ("c", "a", "b") and made.data.flags.c_contiguous
    assert np.array_equal(made.data, data.transpose(2, 0, 1))


def test_arrays_of_jax_stay_arrays_of_jax() -> None:
    jax = pytest.importorskip("jax")
    array = jax.numpy.zeros((2, 3))
    assert tw.contiguous(array) is array
    assert isinstance(tw.transpose(array), jax.Array)


def test_types_of_pytorch_are_known_by_name() -> None:
    torch = pytest.importorskip("torch")
    tensor = torch.arange(6.0).reshape(2, 3)
    for name in ("bfloat16", torch.bfloat16):
        assert tw.astype(tensor, name).dtype is torch.bfloat16
    with pytest.raises(TypeError, match=r"torch\.from_numpy"):
        tw.contiguous(tensor.T, out=np.zeros((3, 2), np.float32))


def test_layouts_of_cute_are_compared_by_their_own_sizes() -> None:
    rows = tw.Layout("f16 (8,8):(1,8)")
    assert not rows.same("f16 (4,16):(1,4)")
    assert "flat index" in rows.compare("f16 64:1").report()
    assert repr(tw.Layout("f32[3,5]{0,1}").bitcast("f32[15]")) == "<yes: as a transpose>"


def test_one_number_is_one_number() -> None:
    with pytest.raises(tw.LayoutError, match="an index of 1 number;"):
        tw.Layout("f32[3,5]").offset(1)


def test_a_layout_without_a_type_asks_for_one() -> None:
    with pytest.raises(tw.LayoutError, match="dtype='float32'"):
        tw.Layout("(8,8):(1,8)")
    assert tw.Layout("(8,8):(1,8)", dtype="float32").nbytes == 256


@pytest.mark.parametrize("dtype", ["float32", np.float32, np.dtype("float32")])
def test_a_type_where_sizes_are_wanted_is_named(dtype: object) -> None:
    with pytest.raises(TypeError, match=r"is a type, and dims are sizes such as \(3, 5\); accepted: dtype="):
        tw.Layout((3, 5), dtype)  # type: ignore[arg-type]


def test_a_layout_says_itself_in_other_notations() -> None:
    layout = tw.Layout("f32[4,8]{1,0:T(2,4)}")
    assert layout.translate("cute") == tw.translate(layout, "cute") == "f32 ((2,2),(4,2)):((4,16),(1,8))"
    assert layout.translate() == tw.translate(layout)


def test_without_jax_its_layout_is_a_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jax.experimental.layout", None)
    layout = tw.Layout("f32[3,5]{0,1}")
    with pytest.raises(ImportError, match=r"layout\.translate\('jax'\)"):
        layout.to_jax()
    assert layout.translate("jax") == "f32[3,5] Layout(major_to_minor=(1, 0))"
