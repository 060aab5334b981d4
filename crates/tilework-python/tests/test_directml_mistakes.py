"""What people can get wrong with `tilework.directml`."""

from __future__ import annotations

from typing import Any

import pytest

import tilework as tw
from tilework import LayoutError, directml
from tilework.directml import BufferTensorDesc, Desc


@pytest.mark.parametrize(
    "mistake",
    [
        lambda: BufferTensorDesc(""),
        lambda: BufferTensorDesc("{}"),
        lambda: BufferTensorDesc("{"),
        lambda: BufferTensorDesc("FLOAT32 [0]"),
        lambda: BufferTensorDesc("FLOAT32 [1,1,1,1,1,1,1,1,1]"),
        lambda: BufferTensorDesc("FLOAT32 [4294967295,4294967295,4294967295]"),
        lambda: BufferTensorDesc(data_type="FLOAT32", sizes=(10**30,)),
        lambda: BufferTensorDesc("FLOAT32 [2]", flags="MINE"),
        lambda: BufferTensorDesc("FLOAT32 [2]").with_flags(8),
        lambda: BufferTensorDesc("FLOAT32 [2]").with_strides((-1,)),
        lambda: BufferTensorDesc("FLOAT32 [2]").with_strides((1, 1)),
        lambda: BufferTensorDesc("FLOAT32 [2]").with_declared_total(4),
        lambda: BufferTensorDesc("FLOAT32 [2]").with_alignment(3),
        lambda: BufferTensorDesc("FLOAT32 [2]").offset((2,)),
        lambda: BufferTensorDesc("FLOAT32 [2,3]").permute(0, 0),
        lambda: BufferTensorDesc("FLOAT32 [2,3]").reshape(5),
        lambda: BufferTensorDesc("FLOAT32 [2,3]").reshape(-1, -1),
        lambda: BufferTensorDesc("FLOAT32 [2,3]").reshape(2**40),
        lambda: BufferTensorDesc("FLOAT32 [2,3]").fold(0, "leading"),
        lambda: BufferTensorDesc("FLOAT32 [2,3]").fold(1, "middle"),  # type: ignore[arg-type]
        lambda: BufferTensorDesc("FLOAT32 [2,3]").flatten(3),
        lambda: BufferTensorDesc("FLOAT32 [2,3]").squeeze(0),
        lambda: BufferTensorDesc("FLOAT32 [2,3]").unsqueeze(3),
        lambda: BufferTensorDesc("FLOAT32 [2,3]").slice(2, 0, 1),
        lambda: BufferTensorDesc("FLOAT32 [2,3]").slice(0, 1, 1),
        lambda: BufferTensorDesc("FLOAT32 [2,3]").slice(0, 0, 2, 0),
        lambda: BufferTensorDesc("FLOAT32 [2,3]").sub_view((1, 1), (2, 2)),
        lambda: BufferTensorDesc("FLOAT32 [2,3]").reinterpret((7,)),
        lambda: BufferTensorDesc("FLOAT32 [2,3]").broadcast_to((3, 3)),
        lambda: BufferTensorDesc("FLOAT32 [2,3]").with_min_rank(9),
        lambda: BufferTensorDesc("FLOAT32 [2,3]").truncate(1),
        lambda: BufferTensorDesc("FLOAT32 [2,3]").place_at_axes(3, (0, 0)),
        lambda: BufferTensorDesc("FLOAT32 [2,3]").scatter("XY"),
        lambda: BufferTensorDesc("FLOAT32 [2,3]").low_parts("FLOAT64"),
        lambda: BufferTensorDesc("FLOAT32 [2,3]").force_unsigned(),
        lambda: BufferTensorDesc("FLOAT32 [2,3]").emulate_64_bit_like_onnx_runtime(),
        lambda: BufferTensorDesc.in_order("FLOAT32", (2, 3), "NC", "NCH"),
        lambda: BufferTensorDesc.padded("FLOAT32", (2, 3), 2, 256),
        lambda: BufferTensorDesc.padded("FLOAT32", (2, 3), 0, 0),
        lambda: BufferTensorDesc.diagonal("FLOAT32", 2**32),
        lambda: BufferTensorDesc.along_axis("FLOAT32", (2, 3), 5),
        lambda: BufferTensorDesc.by_policy("odd", "FLOAT32", (2, 3)),  # type: ignore[arg-type]
        lambda: BufferTensorDesc.of_layout(tw.Layout("bf16[2,3]")),
        lambda: BufferTensorDesc.of_layout(tw.Layout("f32[16,256]{1,0:T(8,128)}")),
        lambda: directml.check("FLOAT32 [2]", "7_0"),
        lambda: directml.check("FLOAT32 [2]", 1),
        lambda: directml.check("FLOAT32 [2]", offset=-1),
        lambda: directml.read_json("[1, 2"),
        lambda: directml.packed_strides((2**32 - 1,) * 3),
        lambda: directml.order_strides((1, 2), "NC", "NN"),
        lambda: directml.pack_nibbles("UINT4", [16]),
        lambda: directml.pack_nibbles("UINT4", [1000]),
        lambda: directml.pack_nibbles("UINT8", [1]),
        lambda: directml.unpack_nibbles("INT4", b"", 2**60),
        lambda: directml.common_sizes((2,), (3,)),
        lambda: directml.axes_for_rank("NHWC", 7),
        lambda: directml.align_dimensions((1, 2), 9, 0, 0),
        lambda: directml.align_dimensions((1, 2), 4, -(2**63), 2**63 - 1),
        lambda: directml.coerce_to_2d((1, 2), -5),
    ],
)
def test_mistakes_are_refused_with_a_sentence(mistake: Any) -> None:
    with pytest.raises(LayoutError) as caught:
        mistake()
    assert len(str(caught.value)) > 10


@pytest.mark.parametrize(
    "mistake",
    [
        lambda: Desc(),
        lambda: Desc(7),  # type: ignore[arg-type]
        lambda: Desc(sizes=(2, 3)),
        lambda: Desc(data_type="FLOAT32", sizes="23"),  # type: ignore[arg-type]
        lambda: Desc(data_type="FLOAT32", sizes=(2.5,)),  # type: ignore[arg-type]
        lambda: directml.check(None),  # type: ignore[arg-type]
    ],
)
def test_arguments_of_other_types_are_refused_by_python(mistake: Any) -> None:
    with pytest.raises(TypeError):
        mistake()
