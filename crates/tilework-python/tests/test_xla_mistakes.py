"""What people can get wrong with `tilework.xla`."""

from __future__ import annotations

from typing import Any

import pytest

from tilework import LayoutError, xla


@pytest.mark.parametrize(
    "mistake",
    [
        lambda: xla.Shape(""),
        lambda: xla.Shape("(" * 1000),
        lambda: xla.Shape("f32[8]{0:SC(0:20)}"),
        lambda: xla.Shape("f32[8]{0:SC(0:5,3)}"),
        lambda: xla.Layout((0,), split_configs=[(0, (0,))]),
        lambda: xla.Layout((0,), split_configs=[(0, (3,)), (0, (5,))]),
        lambda: xla.Shape("f32[8]").with_layout(xla.Layout((0,), split_configs=[(0, (8,))])),
        lambda: xla.make_shape("f32", (None,), dynamic_dimensions=(False,)),
        lambda: xla.Shape("f32[9223372036854775807,9223372036854775807]"),
        lambda: xla.Shape("token[]").rank,
        lambda: xla.Shape("(f32[2])").layout(),
        lambda: xla.Shape("f32[2]").subshape((0,)),
        lambda: xla.Shape("()").subshape((-1,)),
        lambda: xla.Shape("f32[2]").slice_tuple(0, 1),
        lambda: xla.Shape("(f32[2])").slice_tuple(1, 0),
        lambda: xla.Shape("f32[2,3]").permute_dimensions((0, 0)),
        lambda: xla.Shape("f32[2,3]").permute_dimensions((0,)),
        lambda: xla.Shape("f32[2,3]").delete_dimensions((0, -2)),
        lambda: xla.Shape("f32[2,3]").insert_dimensions_at_index(3, (1,)),
        lambda: xla.Shape("f32[2,3]").append_major_dimension(2**62),
        lambda: xla.Shape("f32[2,3]").append_major_dimension(-1),
        lambda: xla.Shape("f32[2,3]").with_layout("{0}"),
        lambda: xla.Shape("f32[2,3]").with_layout((0, 2)),
        lambda: xla.Shape("f32[2,3]").offset((2, 0)),
        lambda: xla.Shape("f32[2,3]").offset((0, -1)),
        lambda: xla.Shape("f32[2,3]").offset((0, 10**40)),
        lambda: xla.Shape("f32[2,3]").offset((0, 10**5000)),
        lambda: xla.Shape("f32[2,3]").bump_indices((0,)),
        lambda: xla.Shape("f32[2,3]").multidimensional_index_untiled(6),
        lambda: xla.Shape("f32[2,3]").without_layout().linear_index_untiled((0, 0)),
        lambda: xla.Shape("f32[2,3]").without_layout((0,)),
        lambda: xla.Shape("f32[2,3]").image("abc", "."),
        lambda: xla.Shape("f32[2,3]{0,1:T(1000000000,1000000000)}").image("abcdef", "."),
        lambda: xla.Shape("f32[2,3]").to_old_proto(2019),
        lambda: xla.Shape("f32[2,3]").move_dim_to_major(2),
        lambda: xla.Shape("f32[?]").elements_in(),
        lambda: xla.Shape("f32[2,3]{1,0}").max_split_size(2),
        lambda: xla.Shape("f32[4611686018427387904,2,0]").validate_sizes_as_xla(),
        lambda: xla.Shape.from_proto(b"\xff\xff"),
        lambda: xla.Shape.from_old_proto(b"\x32\x02\x00\x00"),
        lambda: xla.Layout("{1,1}"),
        lambda: xla.Layout((1, 0), memory_space=300),
        lambda: xla.Layout((1, 0), tiles=[()]),
        lambda: xla.Layout((1, 0), tiles=[(None,)]),
        lambda: xla.Layout((1, 0), padding_value="zero"),
        lambda: xla.Layout((1, 0), padded_dimensions=(3,)),
        lambda: xla.Layout((1, 0), padded_dimensions=(3, 5), padding_value="red"),  # type: ignore[arg-type]
        lambda: xla.Layout((1, 0), split_configs=[(0,)]),  # type: ignore[list-item]
        lambda: xla.Layout((1, 0), split_configs=[(2, (1,))]),
        lambda: xla.Layout((1, 0)).minor(2),
        lambda: xla.Layout((1, 0)).delete_dimension(2),
        lambda: xla.Layout.descending(2**40),
        lambda: xla.make_shape("tuple", ()),
        lambda: xla.make_shape("f32", (2, -3)),
        lambda: xla.make_shape("f32", (2, 3), dynamic_dimensions=(True,)),
        lambda: xla.make_shape("f32", (2, 3), "{0}"),
        lambda: xla.linear_index((2,), (2,)),
        lambda: xla.tiled_index((1,), (2,), (0,)),
        lambda: xla.common_factors((2,), (3,)),
        lambda: xla.compare_indices((2,), (3, 4)),
        lambda: xla.ProgramShape("(a: f32[2]) ->"),
    ],
)
def test_mistakes_are_refused_with_a_sentence(mistake: Any) -> None:
    with pytest.raises(LayoutError) as caught:
        mistake()
    assert len(str(caught.value)) > 10


@pytest.mark.parametrize(
    "mistake",
    [
        lambda: xla.Shape(3),  # type: ignore[arg-type]
        lambda: xla.Shape("f32[2,3]").offset("ab"),  # type: ignore[arg-type]
        lambda: xla.Shape("f32[2,3]").offset((0.5, 1)),  # type: ignore[arg-type]
        lambda: xla.Shape("f32[2,3]").offset(iter((0, 1))),  # type: ignore[arg-type]
        lambda: xla.Shape("f32[2,3]").equal(None),  # type: ignore[arg-type]
        lambda: xla.make_tuple(1),  # type: ignore[arg-type]
        lambda: xla.Shape("f32[2,3]") < xla.Shape("f32[2,3]"),  # type: ignore[operator]
    ],
)
def test_arguments_of_other_types_are_refused_by_python(mistake: Any) -> None:
    with pytest.raises(TypeError):
        mistake()
