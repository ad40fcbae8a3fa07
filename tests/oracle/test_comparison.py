"""The comparison itself: what it must see, and what it must let pass."""

import numpy as np
import pytest
from comparison import differences
from engine import encode_array


def _array(values, dtype):
    return encode_array(np, np.array(values, dtype))


def _raised(*types):
    return {"kind": "raised", "types": list(types), "message": "said"}


def _graph(**nodes):
    plain = {"op": "NoOp", "inputs": [], "control": [], "device": "", "attrs": {}}
    return {"kind": "graph", "nodes": {name: {**plain, **node} for name, node in nodes.items()}}


SAME = {
    "rounding": (_array([1.0, 2.0], "float32"), _array([1.0, 2.00001], "float32")),
    "nan": (_array([np.nan, np.inf], "float64"), _array([np.nan, np.inf], "float64")),
    "strings": (_array([b"a"], object), _array([b"a"], object)),
    "subclass of an error": (_raised("ValueError"), _raised("ShapeError", "ValueError", "Exception")),
    "hidden error": (_raised("OperatorNotAllowedInGraphError", "TypeError"), _raised("TypeError")),
    "its own tolerance": (
        {"kind": "close", "rtol": 0.1, "atol": 0.0, "value": _array([1.0], "float32")},
        {"kind": "close", "rtol": 0.1, "atol": 0.0, "value": _array([1.05], "float32")},
    ),
    "graph": (_graph(a={}), _graph(a={})),
}
DIFFERENT = {
    "value": (_array([1.0, 2.0], "float32"), _array([1.0, 2.001], "float32")),
    "double precision": (_array([1.0], "float64"), _array([1.0 + 1e-7], "float64")),
    "dtype": (_array([1.0], "float32"), _array([1.0], "float64")),
    "shape": (_array([1.0], "float32"), _array([[1.0]], "float32")),
    "integer": (_array([10**9], "int64"), _array([10**9 + 1], "int64")),
    "nan for a number": (_array([1.0], "float32"), _array([np.nan], "float32")),
    "infinities": (_array([np.inf], "float32"), _array([-np.inf], "float32")),
    "string": (_array([b"a"], object), _array([b"b"], object)),
    "error": (_raised("ValueError", "Exception"), _raised("TypeError", "Exception")),
    "no error": (_raised("ValueError"), "no error"),
    "bool for a number": (1, True),
    "text": ("a", "b"),
    "none": (None, 0),
    "length": ([1, 2], [1]),
    "tuple for a list": ([1], (1,)),
    "missing key": ({"kind": "dict", "items": {"a": 1}}, {"kind": "dict", "items": {}}),
    "more keys": ({"kind": "dict", "items": {}}, {"kind": "dict", "items": {"a": 1}}),
    "node name": (_graph(a={}), _graph(b={})),
    "op": (_graph(a={"op": "Add"}), _graph(a={"op": "AddV2"})),
    "input": (_graph(a={"inputs": ["x"]}), _graph(a={"inputs": ["x:1"]})),
    "control input": (_graph(a={"control": ["^x"]}), _graph(a={})),
    "device": (_graph(a={}), _graph(a={"device": "/device:CPU:0"})),
    "attribute": (_graph(a={"attrs": {"T": "dtype float32"}}), _graph(a={"attrs": {"T": "dtype float64"}})),
    "missing attribute": (_graph(a={"attrs": {"T": "dtype float32"}}), _graph(a={})),
}


@pytest.mark.parametrize("key", SAME)
def test_same(key):
    assert differences(*SAME[key]) == []


@pytest.mark.parametrize("key", DIFFERENT)
def test_different(key):
    assert differences(*DIFFERENT[key])
