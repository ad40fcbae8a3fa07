"""Recorded steps: what is recorded, and that a replayed step is the same step."""

from __future__ import annotations

import threading
import zlib

import numpy as np
import pytest
import torch

import tideflow as tf
from tests.compile.steps import program
from tideflow.compile import captured
from tideflow.compile.emit import emit
from tideflow.compile.group import group_updates
from tideflow.compile.kernels import KernelArguments
from tideflow.compile.place import place
from tideflow.compile.rewrite import optimize
from tideflow.runtime.devices import ONE_CPU, Placement, local_devices

gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="records on a GPU")


def network(x: tf.Tensor, rate: float = 0.0) -> tf.Tensor:
    for size in (16, 16, 16, 4):
        x = tf.layers.dense(x, size, tf.tanh)
        x = tf.nn.dropout(x, rate=rate) if rate else x
    return tf.reduce_mean(tf.square(x))


OPTIMIZERS = {
    "gradient descent": lambda: tf.train.GradientDescentOptimizer(0.1),
    "momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
    "Adam": lambda: tf.train.AdamOptimizer(0.01),
    "decay": lambda: tf.train.GradientDescentOptimizer(
        tf.train.exponential_decay(0.1, tf.train.get_or_create_global_step(), 2, 0.5)
    ),
}


def losses(optimizer: str, steps: int, *, compiled: bool, use_resource: bool, rate: float = 0.0) -> list:
    """The losses of a few steps, and the rewrites of the last plan."""
    config = tf.ConfigProto()
    level = tf.OptimizerOptions.DEFAULT if compiled else tf.OptimizerOptions.OFF
    config.graph_options.optimizer_options.global_jit_level = level
    with tf.Graph().as_default(), tf.variable_scope("", use_resource=use_resource):
        tf.set_random_seed(3)
        x = tf.placeholder(tf.float32, [8, 16])
        loss = network(x, rate)
        step = tf.train.get_or_create_global_step()
        train = OPTIMIZERS[optimizer]().minimize(loss, global_step=step)
        chance = np.random.RandomState(5)
        with tf.Session(config=config) as session:
            session.run(tf.global_variables_initializer())
            found = [session.run([loss, train], {x: chance.rand(8, 16)})[0] for _ in range(steps)]
            assert session.run(step) == steps
            (kept,) = [s for s in session._steps.steps.values() if loss in s._fetches.tensors]
            (plan,) = kept.plans.values()
            return [found, "cuda_graph" in plan.applied]


@gpu
@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_replayed_step_trains_like_its_kernels(optimizer: str, use_resource: bool) -> None:
    expected, _ = losses(optimizer, 12, compiled=False, use_resource=use_resource)
    found, is_recorded = losses(optimizer, 12, compiled=True, use_resource=use_resource)
    assert is_recorded
    np.testing.assert_allclose(found, expected, rtol=1e-4)


@gpu
def test_random_numbers_go_on() -> None:
    expected, _ = losses("gradient descent", 12, compiled=False, use_resource=True, rate=0.5)
    found, is_recorded = losses("gradient descent", 12, compiled=True, use_resource=True, rate=0.5)
    assert is_recorded
    np.testing.assert_allclose(found, expected, rtol=1e-4)


@gpu
def test_a_recurrent_network_is_recorded_with_its_loops() -> None:
    found = []
    for level in (tf.OptimizerOptions.OFF, tf.OptimizerOptions.DEFAULT):
        config = tf.ConfigProto()
        config.graph_options.optimizer_options.global_jit_level = level
        with tf.Graph().as_default(), tf.Session(config=config) as session:
            tf.set_random_seed(3)
            x = tf.constant(np.random.RandomState(5).rand(4, 6, 8), tf.float32)
            outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(8), x, dtype=tf.float32)
            loss = tf.reduce_mean(tf.square(outputs))
            train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
            session.run(tf.global_variables_initializer())
            found.append([session.run([loss, train])[0] for _ in range(8)])
            (kept,) = [s for s in session._steps.steps.values() if loss in s._fetches.tensors]
            (plan,) = kept.plans.values()
    assert "unrolled" in plan.applied and "cuda_graph" in plan.applied
    np.testing.assert_allclose(*found, rtol=1e-4)


@gpu
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_scaled_loss_is_recorded_with_its_updates(optimizer: str) -> None:
    """Steps whose gradients are not finite update nothing but the scale."""
    found = []
    for level in (tf.OptimizerOptions.OFF, tf.OptimizerOptions.DEFAULT):
        config = tf.ConfigProto()
        config.graph_options.optimizer_options.global_jit_level = level
        with tf.Graph().as_default():
            tf.set_random_seed(3)
            x = tf.placeholder(tf.float32, [8, 16])
            loss = network(x)
            scale = tf.train.experimental.DynamicLossScale(64.0, increment_period=2)
            scaled = tf.train.experimental.MixedPrecisionLossScaleOptimizer(OPTIMIZERS[optimizer](), scale)
            train = scaled.minimize(loss)
            chance = np.random.RandomState(5)
            with tf.Session(config=config) as session:
                session.run(tf.global_variables_initializer())
                for i in range(14):
                    fed = np.full([8, 16], np.inf) if i in (2, 7, 8, 12) else chance.rand(8, 16)
                    session.run([loss, train], {x: fed})
                found.append([session.run(scale()), *session.run(tf.global_variables())])
    assert np.isfinite(found[0][1]).all()
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


@gpu
def test_a_variable_that_another_step_assigns() -> None:
    x = tf.placeholder(tf.float32, [8, 16])
    with tf.variable_scope("", use_resource=True):
        y = network(x)
    kernel = tf.trainable_variables()[0]
    halve, double = kernel.assign(kernel * 0.5), kernel.assign(kernel * 2.0)
    fed = {x: np.random.rand(8, 16)}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        first = [session.run(y, fed) for _ in range(6)]
        session.run(halve)
        other = [session.run(y, fed) for _ in range(6)]
        session.run(double)
        again = [session.run(y, fed) for _ in range(6)]
    assert len(set(first)) == len(set(other)) == len(set(again)) == 1
    assert first[0] == again[0] != other[0]


@gpu
def test_threads_share_a_recorded_step() -> None:
    x = tf.placeholder(tf.float32, [8, 16])
    y = network(x)
    fed = [np.random.RandomState(i).rand(8, 16) for i in range(4)]
    found: dict[int, list] = {}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        expected = [session.run(y, {x: each}) for each in fed]

        def run(i: int) -> None:
            found[i] = [session.run(y, {x: fed[i]}) for _ in range(50)]

        threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for i in range(4):
        np.testing.assert_allclose(found[i], expected[i], rtol=1e-5)


# ------------------------------------------------------------------------------------------- on any machine


class Direct(captured.Recording):
    """Calls its function instead of recording it."""

    def __call__(self, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return self._plan.step(*inputs)


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("recordable", ["all", "some", "pure"])
def test_a_program_in_three_phases_is_the_same_program(
    optimizer: str, use_resource: bool, recordable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever can be recorded: the phases keep the order of what depends on each other."""
    monkeypatch.setattr(captured, "Recording", Direct)
    choices = {
        "all": lambda node: True,
        "some": lambda node: zlib.crc32(node.name.encode()) % 3 > 0,
        "pure": lambda node: not node.effects,
    }
    with tf.Graph().as_default(), tf.device("/cpu:0"), tf.variable_scope("", use_resource=use_resource):
        tf.set_random_seed(3)
        x = tf.placeholder(tf.float32, [8, 16])
        loss = network(x)
        train = OPTIMIZERS[optimizer]().minimize(loss, global_step=tf.train.get_or_create_global_step())
        values = np.random.RandomState(5).rand(8, 16).astype(np.float32)
        results = []
        for split in (False, True):
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                session.run([loss, train], {x: values})
                (step,) = [s for s in session._steps.steps.values() if loss in s._fetches.tensors]
                (plan,) = step.plans.values()
                function = plan.function
                if split:
                    program = captured._with_handles(plan.program)
                    phases = captured.phases_of(program, choices[recordable])
                    resources = session._executor._resources
                    arguments = KernelArguments(resources, None)
                    device = torch.device("cpu")
                    made = captured.recorded_program(program, phases, device, arguments, lambda op: None)
                    made.check()
                    function = emit(made, arguments).function
                found = [function(torch.from_numpy(values))[0].item() for _ in range(4)]
                results.append([*found, *session.run(tf.global_variables())])
    for left, right in zip(*results, strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("others", [2, 0])
def test_updates_under_a_condition_are_for_recordings_too(others: int, use_resource: bool) -> None:
    """As in a recording, on a CPU: updates, those of rows too, read on the device whether they are due."""
    with tf.Graph().as_default(), tf.device("/cpu:0"), tf.variable_scope("", use_resource=use_resource):
        table = tf.get_variable("table", [4, 3], initializer=tf.ones_initializer())
        variables = [table]
        loss = tf.reduce_sum(tf.square(tf.gather(table, [2, 0])))
        for i in range(1 + others):
            variables.append(tf.get_variable(f"v{i}", [3], initializer=tf.ones_initializer()))
            loss += tf.reduce_sum(tf.square(variables[-1]))
        is_due = tf.placeholder(tf.bool, [])
        optimizer = tf.train.AdamOptimizer(0.1)
        gradients = optimizer.compute_gradients(loss)
        optimizer._create_slots(variables)
        optimizer._prepare()
        step = tf.cond(is_due, lambda: optimizer.apply_gradients(gradients), tf.no_op)
        made = program(step, {is_due: True})
        optimize(made, check=True)
        group_updates(made)
        place(made, Placement(local_devices(ONE_CPU)))
        changed = captured.with_updates_on_device(
            captured._with_handles(made), torch.device("cpu"), lambda node: True
        )
        changed.check()
        assert not any(node.effects and node.guards for node in changed.nodes)
        found = []
        for each in (made, changed):
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                run = emit(each, KernelArguments(session._executor._resources, None)).function
                for value in (True, False, True):
                    run(torch.tensor(value))
                    found.append(session.run(tf.global_variables()))
        for before, after in zip(found[:3], found[3:], strict=True):
            for wanted, value in zip(before, after, strict=True):
                np.testing.assert_allclose(value, wanted, rtol=1e-6)


def test_an_op_that_fails_while_it_is_recorded_is_left_out() -> None:
    """A recording that broke off says so when it ends, after what a kernel has raised."""
    with tf.Graph().as_default(), tf.device("/cpu:0"):
        x, rows = tf.placeholder(tf.float32, [3]), tf.placeholder(tf.int32, [2])
        with tf.Session() as session:
            y = tf.gather(x * 2.0, rows)
            session.run(y, {x: [1, 2, 3], rows: [0, 1]})
            (step,) = session._steps.steps.values()
            (plan,) = step.plans.values()
    left_out: list = []
    recording = captured.Recording(plan, [], [], left_out.append)
    try:
        try:
            plan.step(torch.ones(3), torch.tensor([5, 0], dtype=torch.int32))
        finally:
            raise RuntimeError("operation failed due to a previous error during capture")
    except RuntimeError as error:
        recording._without_what_raised(error)
    assert [op.name for op in left_out] == ["GatherV2"]
