"""Scopes of operations that are compiled early."""

import pytest

import tideflow as tf
from tideflow.compile import hot


@pytest.mark.parametrize("asked", [True, False])
def test_a_step_with_operations_of_a_scope_is_compiled_after_a_few_runs(monkeypatch, asked):
    monkeypatch.delenv("TIDEFLOW_COMPILE", raising=False)
    submitted = []
    monkeypatch.setattr(hot._compiler, "submit", lambda job: submitted.append(job.__name__))
    monkeypatch.setattr(hot.inductor, "can_compile", lambda: True)
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [4])
        y = x
        with tf.xla.experimental.jit_scope(asked):
            for _ in range(20):
                y = tf.tanh(y) * 2.0
        for _ in range(12):
            session.run(y, {x: [1.0, 2.0, 3.0, 4.0]})
    assert ("_compile" in submitted) == asked


def test_a_scope_ends_with_an_error():
    with tf.Graph().as_default():
        with pytest.raises(KeyError), tf.xla.experimental.jit_scope():
            raise KeyError
        with tf.xla.experimental.jit_scope():
            inside = tf.constant(1.0)
        outside = tf.constant(1.0)
    assert inside.op.node_def.attr["_XlaScope"].s == b"jit_scope_1"
    assert "_XlaCompile" not in outside.op.node_def.attr
