"""Every operator of ONNX against the cases that ONNX itself has for it, in graphs of one node."""

import warnings
from collections import defaultdict

import numpy as np
import pytest

import tideflow as tf

onnx = pytest.importorskip("onnx")
from onnx import numpy_helper  # noqa: E402

from tideflow.exchange.onnx_import import import_onnx  # noqa: E402
from tideflow.exchange.onnx_operators.registry import OPERATORS  # noqa: E402

MOST, MOST_OF_MANY = 2, 12  # cases of an operator
MANY = ("ConvTranspose", "GRU", "GridSample", "If", "LSTM", "Loop", "RNN", "Resize", "RoiAlign", "Scan")

# What is not done here, by operator; the others are all known.
UNKNOWN = {
    "ImageDecoder": "bytes in a tensor of numbers are no file here",
}
# Cases that are not as ONNX says, with the reason.
OTHERWISE = {
    "align_corners": "a length that is no whole number is rounded down, as onnxruntime does",
    "bernoulli": "chance",
    "training_dropout": "chance",
    "bf16": "sums are rounded in another order",
    "if_opt": "an optional value cannot leave a condition",
    "loop13_seq": "a loop that carries a sequence must run a known number of times",
    "loop16_seq_none": "a loop that carries a sequence must run a known number of times",
    "optional_": "an optional value is none of a session's feeds",
    "scan_sum": "Scan of version 8, with batches",
    "split_to_sequence_": "the sizes must be known",
    "tree_ensemble": "TreeEnsemble of version 5",
}
# Types of elements that graphs do not have.
TYPES = ("float8", "float4", "int4", "int2", "e8m0", "e4m3", "e5m2")


@pytest.fixture(scope="module")
def cases():
    """ONNX's cases, by operator."""
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        every = collect_testcases(None)
    found = defaultdict(list)
    for case in every:
        name = case.name.lower()
        left_out = "_expanded" in name or any(word in name for word in (*OTHERWISE, *TYPES))
        if not left_out and len(case.model.graph.node) == 1:
            found[case.model.graph.node[0].op_type].append(case)
    return found


def operators():
    return sorted({schema.name for schema in onnx.defs.get_all_schemas() if schema.domain == ""})


@pytest.mark.parametrize("name", [name for name in operators() if name not in UNKNOWN])
def test_an_operator(cases, tmp_path, name):
    most = MOST_OF_MANY if name in MANY else MOST
    step = max(1, len(cases[name]) // most)
    for case in cases[name][::step]:
        for inputs, outputs in case.data_sets:
            found = computed(case.model, [array_of(each) for each in inputs], tmp_path / "model.onnx")
            for value, wanted in zip(found, outputs, strict=True):
                assert_same(case.name, value, wanted)


def test_what_is_unknown():
    known = {name for _, name in OPERATORS}
    assert not known & set(UNKNOWN)


def array_of(value):
    if isinstance(value, list):
        return [array_of(each) for each in value]
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else np.asarray(value)


def computed(model, inputs, path):
    """The outputs. What must be a constant is one, in a second attempt."""
    onnx.save(model, path)
    names = [each.name for each in model.graph.input]
    given = dict(zip(names, inputs))
    lists = {name: value for name, value in given.items() if isinstance(value, list)}
    try:
        return run(path, given, lists)
    except ValueError as error:
        if "constant" not in str(error):
            raise
        small = {name: value for name, value in given.items() if name not in lists and value.ndim < 2}
        return run(path, given, {**lists, **small})


def run(path, given, fixed):
    with tf.Graph().as_default(), tf.Session() as session:
        constants = {
            name: [tf.constant(each) for each in value] if isinstance(value, list) else tf.constant(value)
            for name, value in fixed.items()
        }
        made = import_onnx(path, constants)
        feeds = {made.inputs[name]: value for name, value in given.items() if name not in fixed}
        return session.run(list(made.outputs.values()), feeds)


def assert_same(name, found, wanted):
    if isinstance(wanted, list):
        assert len(found) == len(wanted), name
        for a, b in zip(found, wanted):
            assert_same(name, a, b)
        return
    found, wanted = np.asarray(found), array_of(wanted)
    assert found.shape == wanted.shape, name
    if wanted.dtype.kind in "OUS":
        texts = [text.decode() if isinstance(text, bytes) else text for text in wanted.ravel()]
        assert [text.decode() for text in found.ravel()] == texts, name
        return
    assert found.dtype == wanted.dtype, name
    np.testing.assert_allclose(
        found.astype(np.float64), wanted.astype(np.float64), rtol=2e-3, atol=1e-5, err_msg=name
    )
