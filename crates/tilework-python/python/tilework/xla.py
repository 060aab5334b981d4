"""Shapes and layouts in XLA's words.

A shape is read from the text that XLA prints, and printed exactly as XLA prints it. Whatever the text leaves out has
XLA's default: dimensions are row-major.

>>> from tilework import xla
>>> shape = xla.Shape("f32[3,5]")
>>> print(shape)
f32[3,5]{1,0}
>>> shape.element_type, shape.dims, shape.rank, shape.minor_to_major
('f32', (3, 5), 2, (1, 0))

Dimensions are numbered from 0, or from -1 down; in XLA's documents those of 2, 3 and 4 dimensions have letters.

>>> shape.dimension(-1), shape.dimension_letter(0), shape.dimension_letter(-1)
(5, 'y', 'x')
>>> xla.Shape("f32[2,1,1]").true_rank  # dimensions larger than 1
1

In memory the first number of the layout is the most minor dimension. Here are a 2 x 3 array of letters in row-major and
in column-major order, and the latter padded to 3 x 5:

>>> "".join(xla.Shape("s8[2,3]{1,0}").image("abcdef", "0"))
'abcdef'
>>> "".join(xla.Shape("s8[2,3]{0,1}").image("abcdef", "0"))
'adbecf'
>>> "".join(xla.Shape("s8[2,3]{0,1:pad(3,5)}").image("abcdef", "0"))
'ad0be0cf0000000'

A tile cuts the array into pieces that lie one after another. Element (2, 3) of 3 x 5 elements is at place 13, and with
tiles of 2 x 2, which need 4 x 6 places, at place 17:

>>> xla.linear_index((2, 3), (3, 5)), xla.tiled_index((2, 3), (3, 5), (2, 2))
(13, 17)
>>> tiled = shape.with_layout("{1,0:T(2,2)}")
>>> tiled.offset((2, 3)), tiled.array_size()
(17, 96)

`Shape.layout` gives the function from an index to an offset, a `tilework.Layout`, which can tell more and move data:

>>> tiled.layout().padding
9

Shapes are made from parts as well, and tuples from shapes:

>>> argument = xla.make_shape("bf16", (64, 300), xla.Layout((1, 0), tiles=[(8, 128), (2, 1)]))
>>> both = xla.make_tuple(argument, "token[]")
>>> print(both)
(bf16[64,300]{1,0:T(8,128)(2,1)}, token[])
>>> both.subshape((0,)).tiles
((8, 128), (2, 1))

XLA's own utilities have their names of the C++ library. Where one knows less than the layouts it is asked about, its
name says so: `..._untiled` ignores tiles, `..._by_first_tile` looks at the first alone.

>>> xla.Shape("f32[3,4]").reshape_is_bitcast_untiled("f32[12]")
True
>>> xla.Shape("f32[3,8,5,7,11]{3,2,1,0,4}").align_layouts("f32[4,3,2,7,5,11]")
tilework.xla.Shape('f32[4,3,2,7,5,11]{4,3,2,1,0,5}')
>>> xla.Shape("f32[2,3]").equal("bf16[2,3]{0,1}", ignore=["layout", "fp_precision"])
True

A text that is no shape is refused with the place and the rule:

>>> import tilework
>>> try:
...     xla.Shape("f32[3,5]{1,1}")
... except tilework.LayoutError as error:
...     print(error)
dimension 1 stands twice in minor_to_major
    f32[3,5]{1,1}
               ^
  rule: minor_to_major names every dimension exactly once
  accepted: 0 to 1
"""

from tilework import _tilework  # noqa: F401  it brings tilework._xla
from tilework._xla import (
    Bitcast,
    Layout,
    PrimitiveType,
    ProgramShape,
    Shape,
    byte_strides_is_major_to_minor,
    common_factors,
    compare_indices,
    dimension_letters,
    linear_index,
    make_shape,
    make_tuple,
    tiled_index,
)

__all__ = [
    "Bitcast",
    "Layout",
    "PrimitiveType",
    "ProgramShape",
    "Shape",
    "byte_strides_is_major_to_minor",
    "common_factors",
    "compare_indices",
    "dimension_letters",
    "linear_index",
    "make_shape",
    "make_tuple",
    "tiled_index",
]
