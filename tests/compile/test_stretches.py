"""Stretches that only compute: what is in them, and that a step does the same with them."""

from __future__ import annotations

import dataclasses
from functools import partial

import numpy as np
import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx._graph_pickler import GraphPickler

import tideflow as tf
from tests.compile.steps import Compiled, as_kernels, normal
from tideflow.compile import hot, inductor, stretches
from tideflow.compile.compiler import compile_step
from tideflow.compile.function_plans import planned
from tideflow.compile.ir import walk
from tideflow.compile.kernels import KernelArguments
from tideflow.compile.stretches import Stretch
from tideflow.runtime import kernel_threads
from tideflow.runtime.kernel_threads import OneThread, ThreadChoice
from tideflow.runtime.resources import ResourceManager


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def scheduled(fetches, feeds=None) -> list:
    """The step's nodes, a list of op types for each stretch; without constants and variables."""
    parts = stretches._scheduled(Compiled(fetches, feeds).plan.program)
    texts = [[n.type for n in part.nodes] if isinstance(part, Stretch) else part.type for part in parts]
    return [text for text in texts if text not in ("Const", "VariableV2", "VarHandleOp")]


def chain(x, count=6):
    for _ in range(count):
        x = tf.tanh(x) + tf.exp(x)
    return x


def test_a_step_that_only_computes_is_one_stretch():
    x = tf.placeholder(tf.float32, [3, 4])
    (only,) = scheduled(chain(x), {x: np.ones([3, 4])})
    assert len(only) == 18 and set(only) == {"Tanh", "Exp", "AddV2"} | set(only)


def test_a_read_overtakes_updates_of_other_variables():
    a, b, c = (tf.Variable(np.ones(4, np.float32), name=name) for name in "abc")
    with tf.control_dependencies([tf.assign_sub(a, chain(b.read_value()))]):
        result = chain(c.read_value())
    parts = scheduled(result)
    assert parts.index("AssignSub") == len(parts) - 1
    assert len([part for part in parts if isinstance(part, list)]) == 1


def test_a_read_does_not_overtake_an_update_of_its_variable():
    a, b = (tf.Variable(np.ones(4, np.float32), name=name) for name in "ab")
    with tf.control_dependencies([tf.assign(a, chain(b.read_value()))]):
        result = chain(a.read_value())
    parts = scheduled(result)
    assert len([part for part in parts if isinstance(part, list)]) == 2
    assert parts.index("Assign") < len(parts) - 1


def test_nothing_overtakes_what_may_wait():
    queue = tf.FIFOQueue(1, [tf.float32], [[4]])
    a, b = (tf.Variable(np.ones(4, np.float32), name=name) for name in "ab")
    with tf.control_dependencies([queue.enqueue(chain(b.read_value()))]):
        result = chain(a.read_value())
    parts = scheduled(result)
    waits = next(i for i, part in enumerate(parts) if "Enqueue" in part)
    assert any("Read" in part for part in parts[waits:])


def training_step(use_resource: bool):
    """Layers, batch normalization, dropout, a loop, a conditional, Adam."""
    x = tf.placeholder(tf.float32, [8, 6], "x")
    with tf.variable_scope("", use_resource=use_resource):
        h = tf.layers.dense(x, 5, tf.nn.relu, kernel_initializer=tf.glorot_uniform_initializer(seed=1))
        h = tf.layers.batch_normalization(h, training=True)
        h = tf.nn.dropout(h, rate=0.3, seed=2)
        _, h = tf.while_loop(
            lambda i, _: i < 3, lambda i, h: (i + 1, tf.tanh(h) * 0.9 + tf.sigmoid(h) * 0.1), [0, h]
        )
        h = tf.cond(tf.reduce_sum(h) > 0, lambda: chain(h * 0.1, 2), lambda: chain(h * 0.2, 2))
        loss = tf.reduce_mean(tf.square(tf.layers.dense(h, 1, kernel_initializer=tf.ones_initializer()) - 1))
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            train = tf.train.AdamOptimizer(0.01).minimize(loss)
    return x, loss, train


def in_stretches_of_kernels(plan, arguments, prepare=None):
    """The plan as it is when compiled, but for the functions of its stretches, which call kernels."""
    return hot.compiled_plan(plan, arguments, prepare, partial(as_kernels, arguments=arguments))


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_step_in_stretches_is_the_same_step(use_resource):
    tf.set_random_seed(5)
    x, loss, train = training_step(use_resource)
    feeds = {x: normal(8, 6)}
    losses = []
    for in_stretches in (False, True):
        state = ResourceManager()
        Compiled(tf.global_variables_initializer(), state=state).run()
        step = Compiled([loss, train], feeds, state=state)
        if in_stretches:
            arguments = KernelArguments(state, partial(planned, compile_step))
            step.plan = in_stretches_of_kernels(step.plan, arguments)
            made = [node.type for node in walk(step.plan.program)].count("_Compiled")
            assert made >= 4  # around the loop, in it, in the branches, and the gradients
        losses.append([step.run()[0] for _ in range(5)])
    np.testing.assert_array_equal(*losses)


def test_an_op_that_looks_at_values_stays_on_its_kernel():
    x = tf.placeholder(tf.float32, [6], "x")
    fetch = chain(tf.math.unsorted_segment_sum(chain(x), [0, 1, 0, 1, 2, 2], 3))
    step = Compiled(fetch, {x: normal(6)})
    arguments = KernelArguments(step.state, partial(planned, compile_step))
    traced = []

    def prepare(stretches):
        traced[:] = [inductor.traced(stretch, arguments) for stretch in stretches]

    compiled = in_stretches_of_kernels(step.plan, arguments, prepare)
    assert [node.type for node in compiled.program.nodes].count("UnsortedSegmentSum") == 1
    assert len(traced) == 2


def test_convolutions_of_onednn_reach_the_process_that_compiles():
    x = tf.placeholder(tf.float32, [2, 8, 8, 3], "x")
    h = x
    for _ in range(2):
        filters = tf.constant(normal(3, 3, 3, 3))
        h = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(h, filters, [1, 1, 1, 1], "SAME"), [0.1, 0.2, 0.3]))
    feeds = {x: normal(2, 8, 8, 3)}
    step = Compiled(chain(h), feeds)
    arguments = KernelArguments(step.state, partial(planned, compile_step))
    (stretch,) = stretches.stretches_of(step.plan.program, set())
    pickled = inductor._pickled(inductor.traced(stretch, arguments))
    assert b"mkldnn" in pickled
    graph = GraphPickler.loads(pickled, FakeTensorMode())
    graph.recompile()
    taken = [
        torch.from_numpy(feeds[x] if value.constant is None else value.constant) for value in stretch.taken
    ]
    np.testing.assert_array_equal(graph(*taken)[0].numpy(), step.run()[0])


@pytest.mark.parametrize("size, kind", [(16, OneThread), (4000, ThreadChoice)])
def test_small_compiled_plans_use_one_thread(size, kind, monkeypatch):
    monkeypatch.setattr(kernel_threads, "_most", 2)
    x = tf.placeholder(tf.int32, [size], "x")
    fetch = x
    for _ in range(6):
        fetch = fetch * 3 + x
    step = Compiled(fetch, {x: np.ones(size, np.int32)})
    assert step.plan.threads is None  # its kernels decide for themselves
    compiled = in_stretches_of_kernels(step.plan, KernelArguments(step.state, partial(planned, compile_step)))
    assert type(compiled.threads) is kind
    for now in range(1000):
        compiled.threads.note(0.01, now)
    assert compiled.threads.count == 1 and compiled.threads.most == 2
    learned = ThreadChoice(2)
    trial = hot._better(dataclasses.replace(step.plan, threads=learned), compiled, lambda plan: None)
    assert trial.threads is learned
    assert hot._better(step.plan, compiled, lambda plan: None).threads is compiled.threads


def test_the_name_of_compiled_code_says_what_it_depends_on():
    def digest(size=4, factor=2.0, axis=0):
        with tf.Graph().as_default():
            x = tf.placeholder(tf.float32, [size, size], "x")
            fetch = tf.reduce_sum(chain(x * factor), axis)
            (part,) = [
                part
                for part in stretches._scheduled(Compiled(fetch, {x: np.ones([size, size])}).plan.program)
                if isinstance(part, Stretch)
            ]
            return inductor.digest(part)

    assert digest() == digest()
    assert len({digest(), digest(size=5), digest(factor=3.0), digest(axis=1)}) == 4


def test_the_oldest_compiled_code_makes_room(tmp_path, monkeypatch):
    monkeypatch.setattr(inductor, "_MOST_BYTES", 10)
    for age, name in enumerate("abc"):
        (tmp_path / name).write_bytes(b"12345")
        inductor.os.utime(tmp_path / name, (age, age))
    inductor._remove_oldest(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b", "c"]
