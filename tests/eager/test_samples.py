"""Every op's samples, run at once: the values and the gradients of graph mode, by the same definition."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

import tideflow as tf
from tests.eager.plans import planned_at_once
from tests.ops import cases as sampled
from tests.ops.cases import Case, arrays, assert_same
from tideflow.eager.context import eager_graph, eager_mode
from tideflow.ops.helpers.samples import SampleRef


def _by_module() -> dict[str, list[Case]]:
    found = defaultdict(list)
    for case in sampled.cases():
        takes_references = any(arg.is_ref for arg in (*case.op.inputs, *case.op.outputs))
        if case.repeatable and not takes_references and not case.op.blocking:
            module = case.op.place[0].rpartition("tideflow/ops/")[2].removesuffix(".py")
            found[module].append(case)
    return found


MODULES = _by_module()


@pytest.mark.parametrize("module", MODULES)
def test_samples_give_the_same_at_once(module, subtests):
    for case in MODULES[module]:
        try:
            check(case)
        except Exception:
            with subtests.test(case.id):
                raise


def check(case: Case) -> None:
    built, expected = sampled.run(case)
    slopes = graph_slopes(case)
    with eager_mode():
        eager_graph().seed = None  # forgets the streams of other samples with the same seeds
        eager_graph().resources.clear()
        inputs, variables = as_inputs(case)
        watched = (
            [x for x in flat(inputs) if isinstance(x, tf.Tensor) and is_smooth(x)]
            if slopes is not None
            else []
        )
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(watched)
            outputs = flat([case.op(*inputs, **case.attrs)])
        found = [x for x in outputs if x is not None and x.dtype.base_dtype not in sampled.UNFETCHABLE]
        for tensor, wanted, value in zip(built.fetches, expected, found, strict=True):
            assert value.dtype is tensor.dtype.base_dtype
            assert tuple(value.shape.as_list()) == np.shape(wanted)
            assert_same(
                value.numpy() if not value.dtype.is_quantized else value._value.cpu().numpy(),
                wanted,
                value.dtype,
                case.id,
            )
        if slopes is not None:
            ys = [y for y in found if is_smooth(y)]
            one_by_one = [tape.gradient(ys, x) for x in watched]
            with planned_at_once():
                by_plan = tape.gradient(ys, watched)
            for x, wanted, *values in zip(watched, slopes, one_by_one, by_plan, strict=True):
                for value in values:
                    assert (value is None) == (wanted is None), (
                        f"the gradient of {case.id} is {value}, not {wanted}"
                    )
                    if value is not None:
                        assert_same(tf.convert_to_tensor(value).numpy(), wanted, x.dtype, case.id)
    del variables


def graph_slopes(case: Case) -> list | None:
    """The gradients of an op's first samples in graph mode; None of others, and where the op has none."""
    if not case.differentiable or case.has_variables or not case.inputs or case.number > 2:
        return None
    with tf.Graph().as_default() as graph:
        values, _ = as_inputs(case)
        outputs = flat([case.op(*values, **case.attrs)])
        xs = [x for x in flat(values) if isinstance(x, tf.Tensor) and is_smooth(x)]
        ys = [y for y in outputs if is_smooth(y)]
        if not xs or not ys or any(y.dtype.is_complex for y in ys):
            return None
        try:
            slopes = tf.gradients(ys, xs)
        except LookupError:
            return None
        slopes = [None if s is None else tf.convert_to_tensor(s) for s in slopes]
    with tf.Session(graph=graph) as session:
        found = iter(session.run([s for s in slopes if s is not None]))
    return [None if s is None else next(found) for s in slopes]


def as_inputs(case: Case) -> tuple[list, list]:
    inputs, variables = [], []

    def source(given, value):
        if isinstance(given, SampleRef):
            variables.append(tf.Variable(value, trainable=False))
            return variables[-1].handle
        return tf.convert_to_tensor(value)

    for arg, given, value in zip(case.op.inputs, case.inputs, arrays(case.inputs), strict=True):
        if arg.is_list:
            inputs.append([source(g, v) for g, v in zip(given, value, strict=True)])
        else:
            is_array = (
                isinstance(given, SampleRef) or arg.name not in case.op.host and isinstance(value, np.ndarray)
            )
            inputs.append(source(given, value) if is_array else value)
    return inputs, variables


def is_smooth(x) -> bool:
    return x.dtype.base_dtype.is_floating or x.dtype.base_dtype.is_complex


def flat(values) -> list:
    return [
        x
        for value in values
        for x in (flat(value) if isinstance(value, (list, tuple)) else [value])
        if x is not None and not isinstance(x, tf.Operation)
    ]
