"""Tensors described by sizes and strides, in DirectML's words.

Sizes say how many elements a tensor has in each dimension, strides where they lie: the offset of an element is the dot
product of its index and the strides. Sizes are never reordered for a layout; strides are.

>>> from tilework import directml
>>> dhw = directml.BufferTensorDesc("UINT8 [2,2,3]")  # depth, height, width
>>> dhw.effective_strides
(6, 3, 1)
>>> dhw.offset((1, 0, 1))  # (1,0,1) . (6,3,1)
7

A description is read from a line of text, from a dict or JSON with DxDispatch's names of the fields, or made of keywords:

>>> directml.BufferTensorDesc({"DataType": "UINT8", "Sizes": [2, 3], "Strides": [1, 2]})
tilework.directml.BufferTensorDesc('UINT8 [2,3] strides [1,2]')
>>> directml.BufferTensorDesc(data_type="UINT8", sizes=(2, 3), strides=(1, 2)).layout_names()[0]
'WH'

An image of 3 x 5 pixels as NCHW and as NHWC has the same sizes and other strides:

>>> directml.order_strides((1, 1, 3, 5), "NCHW", "NCHW"), directml.order_strides((1, 1, 3, 5), "NCHW", "NHWC")
((15, 15, 5, 1), (15, 1, 5, 1))

A stride of 0 repeats: 3 elements are a tensor of 2 x 3. A stride that is larger than packed pads:

>>> directml.BufferTensorDesc("UINT8 [2,3] strides [0,1]").words()
<broadcast, overlapping: 6 elements in 3 places>
>>> padded = directml.BufferTensorDesc("UINT8 [2,3] strides [5,1]")  # ABCxxDEF
>>> padded.total_bytes, padded.layout().padding
(8, 2)

`Desc` holds a description as somebody wrote it, and `check` says everything it breaks: rule, field, value, limit and a
legal value.

>>> for found in directml.check("FLOAT16 [5,55] strides [9,3] total 123 alignment 5", feature_level="5_2"):
...     print(found.rule, found.field, found.value, found.legal)
TotalTensorSizeTooSmall TotalTensorSizeInBytes 123 400
GuaranteedBaseOffsetAlignment GuaranteedBaseOffsetAlignment 5 8

With an offset and the size of the buffer the binding is checked as well. A view may fit by itself and not where it is:

>>> image = directml.BufferTensorDesc("FLOAT32 [1,3,226,226]")
>>> inner = image.sub_view((0, 0, 1, 1), (1, 3, 224, 224))
>>> inner
<FLOAT32 [1,3,224,224] strides [153228,51076,226,1], at offset 227>
>>> [found.rule for found in directml.check(inner.desc, offset=inner.offset_bytes, buffer_bytes=image.total_bytes)]
['OffsetAlignment']
>>> print(inner.desc.size_terms(inner.offset_bytes))
last element: 0·153228 + 2·51076 + 223·226 + 223·1 = 152773
bytes: (152773 + 1) elements · 4 bytes = 611096
offset 908 + total 611096 = 612004

Permuting, slicing and broadcasting never move data. `reshape`, `fold` and `flatten` answer with the view, or with the two
dimensions that forbid it, which is False in a condition:

>>> nhwc = directml.BufferTensorDesc("FLOAT32 NHWC [1,3,8,8]")
>>> nhwc.reshape(1, 3, 64)
tilework.directml.BufferTensorDesc('FLOAT32 [1,3,64] strides [192,1,3]')
>>> nhwc.reshape(1, 192)
<copy needed: dimensions 1 and 2 cannot become one: the stride of dimension 1 is 1, and one run would need 192>

The plain names are exact. What another system answers has its name in it:

>>> directml.buffer_size_bytes("FLOAT32", (2, 2), (4294967295, 1))
17179869188
>>> directml.buffer_size_bytes_wrapping_like_directmlx("FLOAT32", (2, 2), (4294967295, 1))
4
"""

from tilework import _tilework  # noqa: F401  it brings tilework._directml
from tilework._directml import (
    DIMENSION_COUNT_MAX,
    DIMENSION_COUNT_MAX1,
    LATEST,
    MAX_ELEMENTS,
    MINIMUM_BUFFER_TENSOR_ALIGNMENT,
    PERSISTENT_BUFFER_ALIGNMENT,
    TEMPORARY_BUFFER_ALIGNMENT,
    TEXTURE_PITCH_ALIGNMENT,
    BufferTensorDesc,
    CopyNeeded,
    Desc,
    FoundDesc,
    SizeTerms,
    SubView,
    Violation,
    Words,
    align_dimensions,
    axes_for_rank,
    broadcast_order_strides,
    broadcast_strides_like_onnx_runtime,
    broadcast_strides_like_tensorflow,
    buffer_size_bytes,
    buffer_size_bytes_wrapping_like_directmlx,
    check,
    coerce_to_2d,
    collapse_pair,
    common_sizes,
    data_type_bits,
    data_type_number,
    data_types,
    feature_level_number,
    feature_level_of_type,
    feature_levels,
    force_unsigned,
    interleaved_channel_strides,
    letters_of,
    max_dimension_count,
    min_dimension_count,
    order_strides,
    pack_nibbles,
    packed_strides,
    padded_strides,
    read_json,
    required_bytes,
    simplify_transpose,
    transpose_as_output_strides,
    unpack_nibbles,
)

__all__ = [
    "DIMENSION_COUNT_MAX",
    "DIMENSION_COUNT_MAX1",
    "LATEST",
    "MAX_ELEMENTS",
    "MINIMUM_BUFFER_TENSOR_ALIGNMENT",
    "PERSISTENT_BUFFER_ALIGNMENT",
    "TEMPORARY_BUFFER_ALIGNMENT",
    "TEXTURE_PITCH_ALIGNMENT",
    "BufferTensorDesc",
    "CopyNeeded",
    "Desc",
    "FoundDesc",
    "SizeTerms",
    "SubView",
    "Violation",
    "Words",
    "align_dimensions",
    "axes_for_rank",
    "broadcast_order_strides",
    "broadcast_strides_like_onnx_runtime",
    "broadcast_strides_like_tensorflow",
    "buffer_size_bytes",
    "buffer_size_bytes_wrapping_like_directmlx",
    "check",
    "coerce_to_2d",
    "collapse_pair",
    "common_sizes",
    "data_type_bits",
    "data_type_number",
    "data_types",
    "feature_level_number",
    "feature_level_of_type",
    "feature_levels",
    "force_unsigned",
    "interleaved_channel_strides",
    "letters_of",
    "max_dimension_count",
    "min_dimension_count",
    "order_strides",
    "pack_nibbles",
    "packed_strides",
    "padded_strides",
    "read_json",
    "required_bytes",
    "simplify_transpose",
    "transpose_as_output_strides",
    "unpack_nibbles",
]
