"""DType and as_dtype. Expected values are TensorFlow 1.15's."""

import copy
import pickle

import ml_dtypes
import numpy as np
import pytest
import torch

from tideflow.graph import dtypes
from tideflow.graph.dtypes import DType, as_dtype

# number, name, bytes, flags that are true
FACTS = [
    (1, "float32", 4, "floating"),
    (2, "float64", 8, "floating"),
    (3, "int32", 4, "integer"),
    (4, "uint8", 1, "integer unsigned"),
    (5, "int16", 2, "integer"),
    (6, "int8", 1, "integer"),
    (7, "string", 8, ""),
    (8, "complex64", 8, "complex"),
    (9, "int64", 8, "integer"),
    (10, "bool", 1, "bool"),
    (11, "qint8", 1, "quantized"),
    (12, "quint8", 1, "quantized"),
    (13, "qint32", 4, "quantized"),
    (14, "bfloat16", 2, "floating"),
    (15, "qint16", 2, "quantized"),
    (16, "quint16", 2, "quantized"),
    (17, "uint16", 2, "integer unsigned"),
    (18, "complex128", 16, "complex"),
    (19, "float16", 2, "floating"),
    (20, "resource", 1, ""),
    (21, "variant", 1, ""),
    (22, "uint32", 4, "integer unsigned"),
    (23, "uint64", 8, "integer unsigned"),
]
FLAGS = ("bool", "complex", "floating", "integer", "quantized", "unsigned")
ALL = [DType(enum + offset) for enum, *_ in FACTS for offset in (0, 100)]


@pytest.mark.parametrize(("enum", "name", "size", "flags"), FACTS)
def test_facts_of_each_type_and_its_reference(enum, name, size, flags):
    base, ref = DType(enum), DType(enum + 100)
    assert getattr(dtypes, name) is base
    assert getattr(dtypes, name + "_ref") is ref
    for dtype, full_name in ((base, name), (ref, name + "_ref")):
        assert dtype.name == full_name
        assert repr(dtype) == "tf." + full_name
        assert str(dtype) == f"<dtype: '{full_name}'>"
        assert dtype.size == size
        assert {flag for flag in FLAGS if getattr(dtype, "is_" + flag)} == set(flags.split())
        assert dtype.base_dtype is base
        assert dtype._as_ref is ref
        assert dtype.is_numpy_compatible == (name not in ("resource", "variant"))
    assert (base.as_datatype_enum, ref.as_datatype_enum) == (enum, enum + 100)
    assert (base._is_ref_dtype, ref._is_ref_dtype) == (False, True)


def test_one_object_per_number():
    assert len({id(dtype) for dtype in ALL}) == len(set(ALL)) == 46
    assert DType(1) is dtypes.float32
    with pytest.raises(TypeError, match=r"type_enum is not a valid .* 999"):
        DType(999)
    with pytest.raises(TypeError):
        DType(dtypes.DT_INVALID)


@pytest.mark.parametrize("dtype", ALL, ids=repr)
def test_copies_are_the_same_object(dtype):
    assert pickle.loads(pickle.dumps(dtype)) is dtype
    assert copy.deepcopy(dtype) is dtype
    assert as_dtype(dtype) is dtype
    assert as_dtype(dtype.name) is dtype
    assert as_dtype(dtype.as_datatype_enum) is dtype
    assert hash(dtype) == dtype.as_datatype_enum


def test_numbers_are_those_of_types_proto():
    from tensorboard.compat.proto import types_pb2

    ours = {name: value for name, value in vars(dtypes).items() if name.startswith("DT_")}
    assert ours == {name: types_pb2.DataType.Value(name) for name in ours}
    assert len(ours) == 24


def test_real_dtype():
    assert dtypes.complex64.real_dtype is dtypes.complex64_ref.real_dtype is dtypes.float32
    assert dtypes.complex128.real_dtype is dtypes.complex128_ref.real_dtype is dtypes.float64
    assert dtypes.int32.real_dtype is dtypes.int32
    assert dtypes.float32_ref.real_dtype is dtypes.float32_ref


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (float, "float32"),
        (bool, "bool"),
        (object, "string"),
        ("float", "float32"),
        ("double", "float64"),
        ("half", "float16"),
        ("half_ref", "float16_ref"),
        ("float_ref", "float32_ref"),
        (np.float32, "float32"),
        (np.longlong, "int64"),
        (np.bool_, "bool"),
        (np.object_, "string"),
        (np.str_, "string"),
        (np.bytes_, "string"),
        (np.dtype("S3"), "string"),
        (np.dtype("U3"), "string"),
        (np.dtype("O"), "string"),
        (np.dtype(">f4"), "float32"),
        (np.dtype(ml_dtypes.bfloat16), "bfloat16"),
        (ml_dtypes.bfloat16, "bfloat16"),
        (np.int32(3), "int32"),
        (torch.float32, "float32"),
        (torch.bfloat16, "bfloat16"),
        (torch.uint16, "uint16"),
        (torch.bool, "bool"),
    ],
    ids=repr,
)
def test_what_as_dtype_accepts(value, expected):
    assert as_dtype(value) is getattr(dtypes, expected)
    assert getattr(dtypes, expected) == value


@pytest.mark.parametrize(
    "value",
    [int, str, bytes, complex, "int", "object", "<f4", "f4", "str", "nonsense", b"float32", 0, 999, None]
    + [np.datetime64, np.floating, np.generic, np.number, np.dtype("V4"), np.dtype([("a", "i1")])]
    + [[1], {}, np.array(1), torch.quint8],
    ids=repr,
)
def test_what_as_dtype_refuses(value):
    with pytest.raises(TypeError, match="to a TensorFlow DType"):
        as_dtype(value)
    assert dtypes.float32 != value


def test_the_refusal_shows_the_value():
    with pytest.raises(TypeError) as error:
        as_dtype("nonsense")
    assert str(error.value) == "Cannot convert value 'nonsense' to a TensorFlow DType."


def test_equality():
    f = dtypes.float32
    for same in (np.float32, "float32", "float", 1, float, np.dtype("f4"), torch.float32):
        assert f == same
        assert (f != same) is False
    for other in ("double", 101, None, f._as_ref, 3, object(), np.float64, torch.float64, dtypes.int32):
        assert f != other
        assert (f == other) is False


def test_a_reference_may_be_used_as_its_value_but_not_the_other_way():
    f, ref = dtypes.float32, dtypes.float32_ref
    assert f.is_compatible_with(ref)
    assert f.is_compatible_with("float32")
    assert not ref.is_compatible_with(f)
    assert not f.is_compatible_with(dtypes.float64)
    with pytest.raises(TypeError):
        f.is_compatible_with("junk")


@pytest.mark.parametrize("dtype", [d for d in ALL if d.is_integer], ids=repr)
def test_integer_bounds(dtype):
    info = np.iinfo(dtype.as_numpy_dtype)
    assert (dtype.min, dtype.max) == (info.min, info.max)
    assert type(dtype.min) is int
    assert dtype.limits == (0, info.max)


@pytest.mark.parametrize(
    ("dtype", "largest"),
    [
        (dtypes.float16, 65504.0),
        (dtypes.float32, np.finfo(np.float32).max),
        (dtypes.float64_ref, np.finfo(np.float64).max),
        (dtypes.bfloat16, float.fromhex("0x1.FEp127")),
    ],
)
def test_float_bounds(dtype, largest):
    assert dtype.max == largest == -dtype.min
    assert type(dtype.max) is dtype.as_numpy_dtype
    assert dtype.limits == (0, 1)


@pytest.mark.parametrize("name", ["string", "bool", "complex64", "qint8", "resource", "variant"])
def test_types_without_bounds(name):
    dtype = getattr(dtypes, name)
    with pytest.raises(TypeError, match=f"Cannot find minimum value of <dtype: '{name}'>."):
        _ = dtype.min
    with pytest.raises(TypeError, match=f"Cannot find maximum value of <dtype: '{name}'>."):
        _ = dtype.max


@pytest.mark.parametrize("dtype", ALL, ids=repr)
def test_numpy_and_torch_agree(dtype):
    if dtype.torch is None:
        assert dtype.base_dtype in (dtypes.string, dtypes.resource, dtypes.variant)
        return
    array = np.zeros(1, dtype.as_numpy_dtype)
    stored = torch.zeros(1, dtype=dtype.torch)
    assert array.itemsize == stored.element_size() == dtype.size
    if not dtype.is_quantized:
        assert dtypes.from_numpy[array.dtype] is dtypes.from_torch[stored.dtype] is dtype.base_dtype


def test_strings_and_handles():
    assert dtypes.string.as_numpy_dtype is object
    with pytest.raises(TypeError, match="<dtype: 'resource'> has no NumPy type"):
        _ = dtypes.resource.as_numpy_dtype


def test_quantized_types_are_stored_as_plain_integers():
    assert {d.name for d in dtypes.QUANTIZED_DTYPES if not d._is_ref_dtype} == {
        "qint8",
        "quint8",
        "qint16",
        "quint16",
        "qint32",
    }
    assert len(dtypes.QUANTIZED_DTYPES) == 10
    assert dtypes.qint8.numpy is np.int8
    assert dtypes.qint8.as_numpy_dtype == np.dtype([("qint8", np.int8)])
    assert as_dtype(dtypes.quint16.as_numpy_dtype) is dtypes.quint16
    assert dtypes.quint16.torch is torch.uint16
    assert as_dtype(np.int8) is dtypes.int8
