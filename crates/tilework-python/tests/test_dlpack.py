"""DLPack, in and out: torch, JAX and NumPy, and capsules by hand."""

from __future__ import annotations

import ctypes
import gc
import warnings
import weakref
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tilework as tw

TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64", "complex64", "complex128"]
OTHERS = ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"]

python = ctypes.pythonapi
python.PyCapsule_GetPointer.restype = ctypes.c_void_p
python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
python.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
python.PyCapsule_IsValid.argtypes = [ctypes.py_object, ctypes.c_char_p]
python.PyCapsule_New.restype = ctypes.py_object
python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", DELETER)]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", DELETER),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]


def dtype(name: str) -> np.dtype[Any]:
    return np.dtype(getattr(ml_dtypes, name) if name in OTHERS else name)


def sample(name: str) -> np.ndarray[Any, Any]:
    """Four rows of three elements of which every second row is shown."""
    return np.arange(12).astype(dtype(name)).reshape(4, 3)[::2].T


class Producer:
    """An object that hands out a tensor made by hand, and counts how often it is deleted."""

    def __init__(self, form: type[Managed | Versioned], **changes: Any) -> None:
        self.form, self.deleted = form, 0
        self.memory = (ctypes.c_float * 6)(*range(6))
        self.shape, self.strides = (ctypes.c_int64 * 2)(2, 3), (ctypes.c_int64 * 2)(1, 2)
        tensor = Tensor(ctypes.addressof(self.memory), 1, 0, 2, 2, 32, 1, self.shape, self.strides, 0)
        for name in [name for name in changes if name in dict(Tensor._fields_)]:
            setattr(tensor, name, changes.pop(name))
        self.managed = form(tensor=tensor, deleter=DELETER(self.delete))
        if form is Versioned:
            self.managed.major = 1
        for name, value in changes.items():
            setattr(self.managed, name, value)

    def delete(self, _managed: int) -> None:
        self.deleted += 1

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.managed.tensor.device_type, 0

    def __dlpack__(self, **options: Any) -> Any:
        if self.form is Managed and options:
            raise TypeError("unexpected keyword argument 'max_version'")
        self.capsule = python.PyCapsule_New(ctypes.addressof(self.managed), NAMES[self.form], None)
        return self.capsule


NAMES = {Managed: b"dltensor", Versioned: b"dltensor_versioned"}


@pytest.mark.parametrize("name", TYPES + FLOATS + OTHERS)
def test_torch_takes_every_type_without_a_copy(name: str) -> None:
    torch = pytest.importorskip("torch")
    array = sample(name)
    tensor = torch.from_dlpack(tw.to_dlpack(array))
    assert str(tensor.dtype) == f"torch.{name}"
    assert tensor.data_ptr() == array.ctypes.data
    assert (tuple(tensor.shape), tensor.stride()) == ((3, 2), (1, 6))
    # And back, where torch has the strides.
    packed = tw.pack(tensor, "{1,0}")
    assert packed.dtype == array.dtype
    assert packed.tobytes() == array.tobytes()


@pytest.mark.parametrize("name", [*TYPES, *FLOATS, "bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_jax_takes_every_type(name: str) -> None:
    jax = pytest.importorskip("jax")
    array = np.ascontiguousarray(sample(name))
    with jax.enable_x64(True):
        taken = jax.dlpack.from_dlpack(tw.to_dlpack(array))
        assert taken.dtype == array.dtype
        assert np.asarray(taken).tobytes() == array.tobytes()
        assert tw.pack(taken, "{1,0}").tobytes() == array.tobytes()


@pytest.mark.parametrize("name", TYPES + FLOATS)
def test_numpy_takes_its_own_types(name: str) -> None:
    array = sample(name)
    taken = np.from_dlpack(tw.to_dlpack(array))
    assert np.shares_memory(taken, array)
    assert taken.dtype == array.dtype
    assert taken.tolist() == array.tolist()


def test_a_torch_tensor_can_be_written_to() -> None:
    torch = pytest.importorskip("torch")
    out = torch.zeros(2, 3, dtype=torch.bfloat16)
    assert tw.unpack(np.arange(6).astype(ml_dtypes.bfloat16), "bf16[2,3]{0,1}", out=out) is out
    assert out.tolist() == [[0, 2, 4], [1, 3, 5]]
    assert tw.pack(out.T, "{1,0}", out=torch.zeros(6, dtype=torch.bfloat16)).tolist() == [0, 1, 2, 3, 4, 5]


def test_the_memory_lives_as_long_as_somebody_shows_it() -> None:
    torch = pytest.importorskip("torch")
    array = np.full(1000, 7.0)
    gone = weakref.ref(array)
    shared = tw.to_dlpack(array)
    tensor = torch.from_dlpack(shared)
    del array, shared
    gc.collect()
    assert gone() is not None
    assert tensor.sum().item() == 7000
    del tensor
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("version", [None, (1, 0), (1, 3)])
def test_a_capsule_that_nobody_takes_lets_go_of_the_array(version: tuple[int, int] | None) -> None:
    array = np.zeros(3)
    gone = weakref.ref(array)
    capsule = tw.to_dlpack(array).__dlpack__(max_version=version)
    del array
    assert gone() is not None
    del capsule
    assert gone() is None


@pytest.mark.parametrize(
    ("version", "form"), [(None, Managed), ((0, 8), Managed), ((1, 0), Versioned), ((2, 0), Versioned)]
)
def test_the_deleter_of_a_taken_tensor_lets_go_of_the_array(version: Any, form: Any) -> None:
    array = np.arange(6.0).reshape(2, 3).T
    gone = weakref.ref(array)
    address = array.ctypes.data
    capsule = tw.to_dlpack(array).__dlpack__(max_version=version)
    managed = form.from_address(python.PyCapsule_GetPointer(capsule, NAMES[form]))
    assert managed.tensor.data == address
    assert (managed.tensor.shape[:2], managed.tensor.strides[:2]) == ([3, 2], [1, 3])
    assert (managed.tensor.code, managed.tensor.bits, managed.tensor.lanes) == (2, 64, 1)
    name = b"used_" + NAMES[form]
    python.PyCapsule_SetName(capsule, name)
    del array, capsule
    assert gone() is not None
    managed.deleter(ctypes.addressof(managed))
    assert gone() is None


def test_what_is_read_only_stays_so() -> None:
    array = np.arange(3.0)
    array.flags.writeable = False
    shared = tw.to_dlpack(array)
    assert not np.from_dlpack(shared).flags.writeable
    with pytest.raises(BufferError, match="read-only"):
        shared.__dlpack__()
    copied = shared.__dlpack__(max_version=(1, 0), copy=True)
    managed = Versioned.from_address(python.PyCapsule_GetPointer(copied, NAMES[Versioned]))
    assert managed.flags == 2  # a copy, which may be written
    assert managed.tensor.data != array.ctypes.data


def test_the_protocol_is_for_the_memory_of_the_host() -> None:
    shared = tw.to_dlpack(np.zeros(3))
    assert shared.__dlpack_device__() == (1, 0)
    assert shared.__dlpack__(dl_device=(1, 0), copy=False) is not None
    with pytest.raises(BufferError, match="host"):
        shared.__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError, match="stream"):
        shared.__dlpack__(stream=1)


@pytest.mark.parametrize("form", [Managed, Versioned])
def test_a_tensor_of_another_library_is_taken_once_and_deleted_once(form: Any) -> None:
    producer = Producer(form)
    packed = tw.pack(producer, "{0,1}", copy=None)  # a view, which keeps the tensor
    assert packed.tolist() == [0, 1, 2, 3, 4, 5]
    assert python.PyCapsule_IsValid(producer.capsule, b"used_" + NAMES[form])
    assert producer.deleted == 0
    assert packed.flags.writeable == (form is Versioned)
    del packed
    assert producer.deleted == 1
    assert tw.pack(producer, "{1,0}").tolist() == [0, 2, 4, 1, 3, 5]
    assert producer.deleted == 2


def test_strides_and_offset_of_a_tensor_may_be_left_out_or_not() -> None:
    in_order = ctypes.POINTER(ctypes.c_int64)()
    assert tw.pack(Producer(Versioned, strides=in_order), "{1,0}").tolist() == [0, 1, 2, 3, 4, 5]
    shape = (ctypes.c_int64 * 1)(5)
    shifted = Producer(Versioned, strides=in_order, shape=shape, rank=1, byte_offset=4)
    assert tw.pack(shifted, "{0}").tolist() == [1, 2, 3, 4, 5]
    assert tw.pack(Producer(Versioned, rank=0, data=shifted.managed.tensor.data), "f32[]").tolist() == [0]


LARGEST = 2**63 - 1


def numbers(*values: int) -> Any:
    return (ctypes.c_int64 * len(values))(*values)


NONE = ctypes.POINTER(ctypes.c_int64)()

UNFIT: dict[str, tuple[dict[str, Any], str]] = {
    "bits that no type has": ({"code": 2, "bits": 33}, "code 2, 33 bits"),
    "no bits": ({"bits": 0}, "0 bits"),
    "an unknown code": ({"code": 200}, "code 200"),
    "less than a byte": ({"code": 17, "bits": 4}, "code 17"),
    "two lanes": ({"lanes": 2}, "2 lanes"),
    "no lanes": ({"lanes": 0}, "0 lanes"),
    "a GPU": ({"device_type": 2}, "type 2"),
    "version 2": ({"major": 2}, r"DLPack 2\.0"),
    "version 0": ({"major": 0}, r"DLPack 0\.0"),
    "a negative rank": ({"rank": -1}, "a tensor of -1 dimensions"),
    "the least rank": ({"rank": -(2**31)}, "dimensions"),
    "more dimensions than NumPy has": ({"rank": 65, "shape": numbers(*[1] * 65), "strides": NONE}, "65 dimensions"),
    "a rank that no memory has": ({"rank": 2**31 - 1}, "dimensions"),
    "no sizes": ({"shape": NONE}, "2 dimensions without sizes"),
    "a negative size": ({"shape": numbers(-1, 3)}, "sizes"),
    "no memory": ({"data": None}, "without memory"),
    "no memory for a scalar": ({"data": None, "rank": 0}, "without memory"),
    "an offset beyond all addresses": ({"byte_offset": 2**64 - 8}, "addressed"),
    "an offset that no object has": ({"byte_offset": 2**63}, "addressed"),
    "a stride beyond all addresses": ({"strides": numbers(LARGEST, 1)}, "addressed"),
    "a stride before all addresses": ({"strides": numbers(-(2**61), 1)}, "addressed"),
    "the least stride": ({"strides": numbers(-LARGEST - 1, 1)}, "addressed"),
    "sizes whose product is too large": ({"shape": numbers(2**40, 2**40)}, "addressed"),
    "sizes in order whose product is too large": ({"shape": numbers(2**62, 2**62), "strides": NONE}, "addressed"),
    "sizes whose product is beyond all numbers": (
        {"rank": 8, "shape": numbers(*[LARGEST] * 8), "strides": numbers(*[LARGEST // 4] * 8)},
        "addressed",
    ),
    "more bytes than an object has": ({"shape": numbers(2**61, 1), "strides": NONE}, "addressed"),
}


@pytest.mark.parametrize("form", [Managed, Versioned])
@pytest.mark.parametrize("name", UNFIT)
def test_a_tensor_that_cannot_be_shown_is_not_taken(name: str, form: Any) -> None:
    changes, said = UNFIT[name]
    if form is Managed and "major" in changes:
        pytest.skip("this form has no version")
    producer = Producer(form, **changes)
    with pytest.raises(tw.LayoutError, match=said):
        tw.pack(producer, "f32[2,3]")
    assert producer.deleted == 0
    if hasattr(producer, "capsule"):
        assert python.PyCapsule_IsValid(producer.capsule, NAMES[form])


@pytest.mark.parametrize("form", [Managed, Versioned])
def test_the_device_is_also_that_of_the_tensor_itself(form: Any) -> None:
    producer = Producer(form, device_type=2)
    producer.__class__ = type("Liar", (Producer,), {"__dlpack_device__": lambda _self: (1, 0)})
    with pytest.raises(tw.LayoutError, match="type 2"):
        tw.pack(producer, "f32[2,3]")
    assert producer.deleted == 0


@pytest.mark.parametrize("form", [Managed, Versioned])
def test_tensors_without_elements_need_no_memory(form: Any) -> None:
    empty = Producer(form, data=None, shape=numbers(0, 3), strides=numbers(LARGEST, -LARGEST), byte_offset=2**63)
    assert tw.pack(empty, "f32[0,3]").shape == (0,)
    assert empty.deleted == 1


def test_a_dimension_of_one_element_may_have_any_stride() -> None:
    assert tw.pack(Producer(Versioned, shape=numbers(1, 3), strides=numbers(LARGEST, 2)), "{1,0}").tolist() == [0, 2, 4]


def test_a_tensor_may_run_backwards_from_its_first_element() -> None:
    backwards = Producer(Versioned, rank=1, shape=numbers(6), strides=numbers(-1), byte_offset=20)
    assert tw.pack(backwards, "{0}").tolist() == [5, 4, 3, 2, 1, 0]


@pytest.mark.parametrize("form", [Managed, Versioned])
def test_a_tensor_without_a_deleter_is_only_shown(form: Any) -> None:
    producer = Producer(form, deleter=DELETER())
    assert tw.pack(producer, "{0,1}").tolist() == [0, 1, 2, 3, 4, 5]
    assert producer.deleted == 0


@pytest.mark.parametrize("name", [b"used_dltensor", b"used_dltensor_versioned", b"other"])
def test_a_capsule_that_was_taken_before_is_refused(name: bytes) -> None:
    producer = Producer(Managed)
    capsule = python.PyCapsule_New(ctypes.addressof(producer.managed), name, None)

    class Again:
        def __dlpack_device__(self) -> tuple[int, int]:
            return 1, 0

        def __dlpack__(self, **_options: Any) -> Any:
            return capsule

    with pytest.raises(TypeError, match="nobody took before"):
        tw.pack(Again(), "f32[2,3]")
    assert producer.deleted == 0


def test_what_is_no_capsule_is_refused() -> None:
    class Wrong:
        def __dlpack_device__(self) -> tuple[int, int]:
            return 1, 0

        def __dlpack__(self, **_options: Any) -> Any:
            return None

    with pytest.raises(TypeError, match="no capsule"):
        tw.pack(Wrong(), "f32[2,3]")


def test_an_array_is_handed_out_as_it_is_by_then() -> None:
    array = np.arange(6.0)
    shared = tw.to_dlpack(array)
    array.shape = (2, 3)
    assert np.from_dlpack(shared).shape == (2, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        array.dtype = np.dtype("i2")  # type: ignore[misc]
    taken = np.from_dlpack(shared)
    assert (taken.dtype, taken.shape, taken.tolist()) == (array.dtype, (2, 12), array.tolist())


def test_a_subclass_does_not_choose_what_a_copy_is() -> None:
    class Sly(np.ndarray[Any, Any]):
        def copy(self, order: Any = None) -> Any:
            return np.zeros(1, np.int8)

    array = np.arange(1000.0).view(Sly)
    capsule = tw.to_dlpack(array).__dlpack__(max_version=(1, 0), copy=True)
    tensor = Versioned.from_address(python.PyCapsule_GetPointer(capsule, NAMES[Versioned])).tensor
    assert (tensor.bits, tensor.shape[0]) == (64, 1000)
    assert (ctypes.c_double * 1000).from_address(tensor.data)[999] == 999


def test_what_dlpack_has_no_type_for_is_refused() -> None:
    with pytest.raises(tw.LayoutError, match="fewer than 8 bits side by side"):
        tw.to_dlpack(np.zeros(3, ml_dtypes.int4))
    for array in [np.zeros(3, ml_dtypes.int4), np.zeros(3, object), np.zeros(3, ">f4"), np.zeros(3, "S5")]:
        with pytest.raises(tw.LayoutError, match="dtype"):
            tw.to_dlpack(array)
    with pytest.raises(tw.LayoutError, match="strides"):
        tw.to_dlpack(np.zeros(3, [("a", "u1"), ("b", "f4")])["b"])
    with pytest.raises(TypeError):
        tw.to_dlpack(None)


def test_a_layout_is_refused_with_the_rule_of_dlpack() -> None:
    for layout, rule in [
        ("f32[3,5]{1,0:T(2,2)}", "one stride for each dimension"),
        ("s4[3,5]{1,0:E(4)}", "fewer than 8 bits"),
        ("f32[3,5]{strides(-5,1),base(10)}", "negative strides"),
        ("f32[3,5]", "a layout has none"),
    ]:
        with pytest.raises(tw.LayoutError, match=rule):
            tw.to_dlpack(tw.Layout(layout))


def test_negative_strides_are_said_as_they_are() -> None:
    array = np.arange(6.0).reshape(2, 3)[:, ::-1]
    taken = np.from_dlpack(tw.to_dlpack(array))
    assert taken.strides == array.strides
    assert taken.tolist() == array.tolist()
