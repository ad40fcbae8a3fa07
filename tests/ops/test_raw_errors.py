"""Refusals are in our words, wherever an op meets what it refuses: in the graph, the feeds or the step."""

from __future__ import annotations

import numpy as np
import pytest

import tideflow as tf
from tests.ops.cases import Built, arrays, build, cases
from tests.ops.hostile_inputs import emptied
from tests.ops.raw_errors import is_raw, raw_refusals, told


def test_every_refusal_is_in_our_words():
    assert list(raw_refusals()) == []


EMPTIED = (
    "CTCBeamSearchDecoder CTCLoss CropAndResizeGradBoxes CropAndResizeGradImage DynamicPartition "
    "DynamicStitch ImageProjectiveTransform QuantizeAndDequantizeV2 Resampler ResamplerGrad Roll SparseCross"
).split()


@pytest.mark.parametrize("name", EMPTIED)
def test_inputs_without_elements_are_computed_or_refused_in_our_words(name):
    for case in cases():
        if case.op.name == name:
            with tf.Graph().as_default() as graph:
                built = build(case.op, case.inputs, arrays(case.inputs), case.attrs, "unknown")
            with tf.Session(graph=graph) as session:
                for what, feeds in emptied({t: np.asarray(value) for t, value in built.feeds.items()}):
                    try:
                        Built(built.node, feeds, built.variables).run(session)
                    except Exception as error:
                        assert not is_raw(error), f"{case.id}, {what}: {told(error)}"


@pytest.mark.parametrize("action", [lambda: [][1], lambda: None + 1, lambda: int("x"), lambda: {}["key"]])
def test_errors_of_python_are_raw(action):
    with pytest.raises(Exception) as caught:
        action()
    assert is_raw(caught.value)


def test_an_error_that_the_package_raises_is_not():
    with pytest.raises(ValueError) as caught:
        tf.zeros([2]) + tf.zeros([3])
    assert not is_raw(caught.value)
