"""Mixed precision: which nodes compute in 16 bits, what they compute, and where casts stand."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Any

import numpy as np
import pytest

import tideflow as tf
from tests.compile.steps import normal, request_of
from tideflow.compile.build import build_program
from tideflow.compile.ir import Loop, Program, walk
from tideflow.compile.mixed_precision import use_half
from tideflow.compile.place import place
from tideflow.runtime.devices import ONE_CPU, Placement, local_devices
from tideflow.session.config import half_by_device

HALF = (("cpu", "bfloat16"),)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def rewritten(fetches: Any, feeds: tuple = ()) -> Program:
    program = build_program(request_of(fetches, feeds, tuple(tuple(t.shape.as_list()) for t in feeds)))
    place(program, Placement(local_devices(ONE_CPU)))
    use_half(program, HALF)
    program.check()
    return program


def in_half(program: Program) -> set[str]:
    """The names of nodes that make 16-bit numbers, without casts and reads."""
    return {
        node.name
        for node in walk(program)
        if node.type not in ("Cast", "Identity") and any(value.dtype is tf.bfloat16 for value in node.outputs)
    }


def config(**options: int) -> tf.ConfigProto:
    result = tf.ConfigProto(device_count={"GPU": 0})
    for name, toggle in options.items():
        setattr(result.graph_options.rewrite_options, name, toggle)
    return result


def matrix(name: str, *shape: int) -> tf.Variable:
    return tf.get_variable(name, initializer=normal(*shape))


def test_what_lies_between_products_changes_and_what_is_fetched_stays() -> None:
    x = tf.placeholder(tf.float32, [4, 8], name="x")
    a = tf.nn.relu(tf.matmul(x, matrix("v", 8, 8), name="a") + 1.0, name="relu")
    b = tf.matmul(a, matrix("w", 8, 8), name="b")
    result = tf.tanh(b, name="tanh")
    program = rewritten([result], (x,))
    assert in_half(program) == {"a", "add", "relu", "b"}
    assert program.fetches[0].dtype is tf.float32
    assert in_half(rewritten([tf.matmul(x, x, transpose_b=True)], (x,))) == set()  # fetched itself


def test_what_comes_after_a_denied_op_stays_and_clear_ops_beside_allowed_ones_change() -> None:
    x = tf.placeholder(tf.float32, [4, 4], name="x")
    large = tf.exp(tf.matmul(x, x, name="a"), name="exp")
    scaled = tf.multiply(tf.negative(large, name="minus"), 2.0, name="times")
    b = tf.matmul(scaled, x, name="b")
    turned = tf.transpose(b, name="turned")
    assert in_half(rewritten([tf.reduce_sum(turned)], (x,))) == {"a", "b", "turned"}


def test_a_value_is_cast_once_and_outside_of_loops() -> None:
    w = matrix("w", 4, 4)
    read = tf.identity(w, name="read")

    def body(i: tf.Tensor, x: tf.Tensor) -> tuple:
        return i + 1, tf.tanh(tf.matmul(tf.matmul(x, read), read))

    _, last = tf.while_loop(lambda i, x: i < 3, body, [0, tf.ones([4, 4])])
    program = rewritten([last + tf.exp(tf.matmul(read, read))])
    (loop,) = (node for node in program.nodes if isinstance(node, Loop))
    casts = [node for node in walk(program) if node.type == "Cast"]
    assert not any(cast.inputs[0].op.type == "_Read" for cast in casts if cast in loop.body.nodes)
    assert Counter(cast.inputs[0] for cast in casts).most_common(1)[0][1] == 1
    with tf.Session(config=config(auto_mixed_precision_cpu=1)) as half, tf.Session() as plain:
        w.load(normal(4, 4) / 4, half)
        w.load(normal(4, 4) / 4, plain)
        np.testing.assert_allclose(half.run(last), plain.run(last), atol=5e-3)


@pytest.mark.parametrize("option", ["auto_mixed_precision_cpu", "auto_mixed_precision_onednn_bfloat16"])
def test_a_network_trains_as_in_32_bits(option: str) -> None:
    """Convolution, batch normalization of both kinds, pooling, a branch, dense layers; gradients by Adam."""
    tf.set_random_seed(0)
    x = tf.constant(normal(4, 8, 8, 3))
    h = tf.layers.conv2d(x, 4, 3, padding="same", use_bias=False)
    h = tf.nn.relu(tf.layers.batch_normalization(h, training=True, fused=True))
    h = tf.layers.max_pooling2d(tf.layers.conv2d(h, 4, 3, activation=tf.nn.elu), 2, 2)
    h, mean, _ = tf.nn.fused_batch_norm(h, tf.ones([4]), tf.zeros([4]))
    h = tf.layers.dense(tf.layers.flatten(h), 16, activation=tf.tanh)
    h = tf.cond(tf.reduce_sum(mean) < 100.0, lambda: tf.matmul(h, tf.eye(16)), lambda: h * 0)
    logits = tf.layers.dense(h, 5, name="logits")
    loss = tf.losses.sparse_softmax_cross_entropy([0, 1, 2, 3], logits)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        update = tf.train.AdamOptimizer(0.01).minimize(loss)
    losses = []
    for options in ({}, {option: 1}):
        with tf.Session(config=config(**options)) as session:
            session.run(tf.global_variables_initializer())
            losses.append([session.run([loss, update])[0] for _ in range(12)])
            assert ("use_half" in session.explain(update)) == bool(options)
            assert all(v.dtype == np.float32 for v in session.run(tf.trainable_variables()))
    assert losses[0][-1] < losses[0][0] / 5
    assert losses[0] != losses[1]
    np.testing.assert_allclose(losses[1], losses[0], rtol=0.1, atol=0.02)


def test_variables_of_the_environment_change_the_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    x = tf.placeholder(tf.float32, [4, 4], name="x")
    result = tf.reduce_sum(tf.nn.relu(tf.matmul(x, x, name="a"), name="relu"))
    prefix = "TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE"
    assert in_half(rewritten([result], (x,))) == {"a", "relu"}
    monkeypatch.setenv(f"{prefix}_CLEARLIST_REMOVE", "Relu")
    assert in_half(rewritten([result], (x,))) == {"a"}
    monkeypatch.setenv(f"{prefix}_WHITELIST_REMOVE", "MatMul")
    assert in_half(rewritten([result], (x,))) == set()


def test_who_asks_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from tideflow.runtime import settings as module
    from tideflow.session import config as sessions

    monkeypatch.setattr(sessions, "settings", dataclasses.replace(module.settings, optimizer_options={}))
    options = sessions.settings.optimizer_options
    assert half_by_device(None) == ()
    assert half_by_device(config(auto_mixed_precision=1)) == (("cuda", "float16"),)
    assert half_by_device(config(auto_mixed_precision=1, auto_mixed_precision_onednn_bfloat16=1)) == (
        ("cpu", "bfloat16"),
        ("cuda", "bfloat16"),
    )
    options["auto_mixed_precision"] = True
    assert half_by_device(None) == half_by_device(tf.ConfigProto()) == (("cuda", "float16"),)
    assert half_by_device(config(auto_mixed_precision=2)) == ()  # OFF
