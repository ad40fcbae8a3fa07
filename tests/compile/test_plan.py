"""Plans: immutable, with a context only where a kernel or a hook asks for one, and replaced whole."""

import dataclasses

import numpy as np
import pytest
import torch

import tideflow as tf
from tests.compile.steps import Compiled, request_of
from tideflow.compile import hot, inductor
from tideflow.compile.compiler import compile_step
from tideflow.compile.request import Hook
from tideflow.compile.variants import Variants
from tideflow.runtime.devices import ONE_CPU, Placement, local_devices
from tideflow.runtime.resources import ResourceManager
from tideflow.runtime.waiting import PendingValue, StepContext


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def plan_of(fetch, **changes):
    request = dataclasses.replace(request_of(fetch), **changes)
    return compile_step(request, ResourceManager(), Placement(local_devices(ONE_CPU)))


def test_a_plan_does_not_change():
    plan = Compiled(tf.constant(1.0) + 1.0).plan
    with pytest.raises(dataclasses.FrozenInstanceError):
        plan.function = print


def test_an_ordinary_plan_takes_no_context():
    x = tf.placeholder(tf.float32, [2])
    plan = Compiled(x + 1.0, {x: np.ones(2, np.float32)}).plan
    assert not plan.takes_context and plan.source.startswith("def step(feed0):")


def test_a_plan_that_may_wait_takes_the_context():
    plan = plan_of(tf.FIFOQueue(1, [tf.int32], [[]]).dequeue())
    assert plan.takes_context and not plan.suspendable
    assert plan.source.startswith("def step(context):") and "context.resolve(" in plan.source
    with pytest.raises(tf.errors.DeadlineExceededError, match="dequeue"):
        plan.run(StepContext(0.01), [])


def test_a_suspendable_plan_yields_what_it_waits_for():
    queue = tf.FIFOQueue(1, [tf.int32], [[]])
    plan = plan_of(queue.dequeue() + 1, suspendable=True)
    assert plan.suspendable
    steps = plan.run(StepContext(), [])
    pending = next(steps)
    assert isinstance(pending, PendingValue)
    with pytest.raises(StopIteration) as end:
        steps.send([torch.tensor(4, dtype=torch.int32)])
    assert [int(value) for value in end.value.value] == [5]


def test_a_hook_gets_the_context_of_the_step():
    seen, context = [], StepContext()
    plan = plan_of(
        tf.exp(tf.random_uniform([])),
        hook=Hook(lambda given, node, outputs, inputs: seen.append(given)),
    )
    assert plan.takes_context
    plan.run(context, [])
    assert seen and all(given is context for given in seen)


def test_steps_on_tokens_take_the_context():
    assert plan_of(tf.constant(1.0), disabled_rules=frozenset({"structure"})).takes_context


def test_the_hot_tier_replaces_the_plan_where_it_is_kept(monkeypatch):
    monkeypatch.setattr(hot, "_HOT_STEPS", 2)
    monkeypatch.setattr(hot, "_HOT_SECONDS", 0.0)
    monkeypatch.setattr(inductor, "can_compile", lambda: True)
    monkeypatch.setattr(inductor, "can_load", lambda: False)
    monkeypatch.setattr(inductor, "prepare", lambda stretches, arguments: None)
    monkeypatch.setattr(
        hot, "compiled_plan", lambda plan, *_: dataclasses.replace(plan, applied=("compiled",))
    )
    submitted = []
    monkeypatch.setattr(hot._compiler, "submit", submitted.append)
    x = tf.placeholder(tf.float32, [4])
    body = lambda i, h: (i + 1, tf.tanh(tf.exp(-h) * 0.5 + h) * 0.9 + tf.sigmoid(h))
    _, loop = tf.while_loop(lambda i, h: i < 3, body, [0, x])
    resources, placement = ResourceManager(), Placement(local_devices(ONE_CPU))
    value = Compiled(loop, {x: np.zeros(4, np.float32)})._values

    def compile_for(shapes, context, replace):
        request = request_of(loop, (x,), shapes)
        return compile_step(request, resources, placement, replace)

    variants = Variants(compile_for)
    context = StepContext()
    first = variants.plan_for(value, context)
    for _ in range(3):
        results = first.run(context, value)
    (work,) = submitted  # once, however often the first plan is called
    plan = variants.plan_for(value, context)
    assert plan is not first and "compiled" not in plan.applied
    assert plan.run(context, value)[0].tolist() == results[0].tolist()
    work()
    assert "compiled" in variants.plan_for(value, context).applied
    for _ in range(2 * hot._TRIED_STEPS):  # on kernels and compiled in turn
        assert variants.plan_for(value, context).run(context, value)[0].tolist() == results[0].tolist()
    kept = variants.plan_for(value, context)
    assert kept.function is plan.function  # of the quicker one, no longer of the two in turn


def test_requests_are_equal_when_they_ask_for_the_same():
    y = tf.constant(1.0) + 1.0
    assert request_of(y) == request_of(y) and hash(request_of(y)) == hash(request_of(y))
    assert request_of(y) != request_of(y, disabled=["fold"])
