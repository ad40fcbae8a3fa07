"""What follows from the samples beside every op: values, shapes, rewrites, gradients, GraphDefs, refusals."""

from __future__ import annotations

import os
import re
from collections.abc import Callable

import numpy as np
import pytest

import tideflow as tf
from tests.ops import cases as sampled
from tests.ops.cases import Built, Case, arrays, assert_same, assert_same_outputs, build, result
from tideflow.graph.op import Op
from tideflow.ops.helpers.samples import SampleArray

CASES = sampled.cases()
REFUSALS = {
    f"{op.name}-refusal-{number}": (op, *refusal)
    for op in sampled.vocabulary().values()
    for number, refusal in enumerate(op.refusals, 1)
}


# What kernels raise of inputs that do not fit: as TensorFlow's do.
IN_A_STEP = (
    tf.errors.InvalidArgumentError,
    tf.errors.FailedPreconditionError,
    tf.errors.OutOfRangeError,
    tf.errors.UnimplementedError,
    tf.errors.InternalError,
)

PROPERTIES: list[tuple[Callable[[Case], None], Callable[[Case], bool]]] = []


def holds(applies: Callable[[Case], bool] = lambda case: True) -> Callable:
    """Decorator: the function checks a property of every sample to which it applies."""

    def register(check: Callable[[Case], None]) -> Callable[[Case], None]:
        PROPERTIES.append((check, applies))
        return check

    return register


# A sample is one test, since pytest's own part of a test takes longer than most properties do. Every property
# that fails is reported by its name.
@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_sample(case, subtests):
    for check, applies in PROPERTIES:
        if not applies(case):
            continue
        try:
            check(case)
        except Exception:
            with subtests.test(check.__name__):
                raise


@pytest.mark.parametrize("case", sampled.private_cases(), ids=lambda case: case.id)
def test_sample_of_an_internal_op(case):
    """Graphs from outside may not name it, so what follows from graphs does not apply."""
    for check in (kernel_agrees_with_its_reference, kernel_keeps_its_law):
        part = case.op.reference if check is kernel_agrees_with_its_reference else case.op.law
        if part is not None:
            check(case)


# ---------------------------------------------------------------------------------- values and shapes


@holds(lambda case: case.op.reference is not None)
def kernel_agrees_with_its_reference(case):
    expected, found = sampled.expected(case), sampled.observed(case)
    assert len(expected) >= len(result(case)[0].fetches)
    for (name, dtype, value), wanted in zip(found, expected):
        if wanted is not None:
            assert_same(value, wanted, dtype, name)


@holds(lambda case: case.op.law is not None)
def kernel_keeps_its_law(case):
    for claim in sampled.claims(case):
        if isinstance(claim, tuple):
            left, right = claim
            assert_same(left, right, tf.as_dtype(np.asarray(left).dtype), case.id)
        else:
            assert np.all(claim), f"the law of {case.op.name} does not hold for {case.id}"


@holds()
def inferred_types_and_shapes_are_the_computed_ones(case):
    built, found = result(case)
    for tensor, value in zip(built.fetches, found, strict=True):
        computed = (
            "string" if np.asarray(value).dtype == object else tf.as_dtype(np.asarray(value).dtype).name
        )
        stored = tf.as_dtype(tensor.dtype.base_dtype.numpy).name  # quantized types are stored as integers
        assert computed == stored
        assert tensor.shape.is_compatible_with(np.shape(value)), f"{tensor} has shape {np.shape(value)}"


@holds(lambda case: bool(case.inputs))
def nothing_known_before_the_step(case):
    built, found = sampled.run(case, "unknown")
    for tensor, value in zip(built.fetches, found, strict=True):
        assert tensor.shape.is_compatible_with(np.shape(value)), f"{tensor} has shape {np.shape(value)}"
    if case.repeatable:
        assert_same_outputs(built, found, result(case)[1])


@holds(lambda case: bool(case.inputs) and case.repeatable)
def constants_fold_to_the_same(case):
    assert_same_outputs(*sampled.run(case, "constant"), result(case)[1])


@holds(lambda case: case.repeatable)
def rewrites_change_nothing(case):
    assert_same_outputs(*sampled.run(case, config=sampled.PLAIN), result(case)[1])


def emptied(case: Case) -> tuple | None:
    """The sample with the first size of its first array, and whatever equals it in front, made 0."""
    sizes = [value.shape[0] for value in case.inputs if isinstance(value, SampleArray) and value.shape]
    if not sizes or not sizes[0] or case.has_variables:
        return None

    def without_rows(value):
        if isinstance(value, list):
            return [without_rows(item) for item in value]
        if not isinstance(value, SampleArray | np.ndarray) or value.shape[:1] != (sizes[0],):
            return value
        if isinstance(value, np.ndarray):
            return value[:0]
        return SampleArray(value.dtype, (0, *value.shape[1:]), value.low, value.high)

    return tuple(
        value if arg.name in case.op.host else without_rows(value)
        for arg, value in zip(case.op.inputs, case.inputs, strict=True)
    )


@holds(lambda case: emptied(case) is not None)
def empty_inputs_are_computed_or_refused(case):
    """A sample with no rows is computed to the inferred shape, or refused in our words: never torch's."""
    inputs = emptied(case)
    with tf.Graph().as_default() as graph:
        try:
            built = build(case.op, inputs, arrays(inputs), case.attrs)
        except ValueError:
            return
    with tf.Session(graph=graph) as session:
        try:
            found = built.run(session)
        except IN_A_STEP as error:
            if isinstance(error.__cause__ or error, tf.errors.OpError | ValueError):
                return
            raise
    for tensor, value in zip(built.fetches, found, strict=True):
        assert tensor.shape.is_compatible_with(np.shape(value)), f"{tensor} has shape {np.shape(value)}"


# ---------------------------------------------------------------------------------- GraphDef


@holds(lambda case: case.repeatable)
def graph_def_out_and_in(case):
    built, wanted = result(case)
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(built.node.graph.as_graph_def(), name="")
    node = graph.get_operation_by_name(built.node.name)
    assert [(t.dtype, t.shape.as_list() if t.shape.ndims is not None else None) for t in node.outputs] == [
        (t.dtype, t.shape.as_list() if t.shape.ndims is not None else None) for t in built.node.outputs
    ]
    with tf.Session(graph=graph) as session:
        session.run([variable.initializer.name for variable in built.variables])
        feeds = {tensor.name: value for tensor, value in built.feeds.items()}
        found = session.run([[tensor.name for tensor in built.fetches], node], feeds)[0]
    assert_same_outputs(built, found, wanted)


# ---------------------------------------------------------------------------------- gradients


def in_double(case: Case) -> tuple[tuple, dict]:
    """The sample in float64 wherever the op allows it, for numeric differentiation."""
    op = case.op

    def allows(key: str | None) -> bool:
        return key is not None and (op.attrs[key].allowed is None or tf.float64 in op.attrs[key].allowed)

    def widened(value):
        if isinstance(value, list):
            return [widened(item) for item in value]
        if isinstance(value, SampleArray) and value.dtype is tf.float32:
            return SampleArray(tf.float64, value.shape, value.low, value.high)
        return (
            value.astype(np.float64) if isinstance(value, np.ndarray) and value.dtype == np.float32 else value
        )

    inputs = tuple(
        widened(value) if allows(arg.type_attr or arg.type_list_attr) else value
        for arg, value in zip(op.inputs, case.inputs, strict=True)
    )
    attrs = {
        key: tf.float64 if value is tf.float32 and op.attrs[key].kind == "type" and allows(key) else value
        for key, value in case.attrs.items()
    }
    return inputs, attrs


def has_slope(case: Case) -> bool:
    """Whether differences of the outputs tell the gradient."""
    if not case.differentiable or case.op.stateful or case.has_variables or not case.op.has_numeric_gradient:
        return False
    flat = [item for value in case.inputs for item in (value if isinstance(value, list) else [value])]
    return any(
        value.dtype.is_floating if isinstance(value, SampleArray) else value.dtype.kind == "f"
        for value in flat
        if isinstance(value, SampleArray | np.ndarray)
    )


@holds(has_slope)
def gradient_is_the_numeric_one(case):
    """Along a random direction of each input, for a random weighing of the outputs."""
    rng = np.random.default_rng(0)
    inputs, attrs = in_double(case)
    with tf.Graph().as_default() as graph:
        built = build(case.op, inputs, arrays(inputs), attrs)
        with tf.Session(graph=graph) as session:
            outputs = [t for t in followed(case.op, built) if t.dtype.is_floating]
            weights = [
                np.asarray(rng.standard_normal(np.shape(value)), value.dtype)
                for value in session.run(outputs, built.feeds)
            ]
            sources = [tensor for tensor in built.feeds if tensor.dtype.is_floating]
            try:
                grads = tf.gradients(outputs, sources, grad_ys=weights)
            except LookupError:  # an op whose gradient TensorFlow does not define
                return
            for source, grad in zip(sources, grads, strict=True):
                found = (
                    np.zeros(built.feeds[source].shape) if grad is None else session.run(grad, built.feeds)
                )
                found = dense(found, source, built)
                assert np.shape(found) == built.feeds[source].shape
                if not found.size:
                    continue
                direction = rng.standard_normal(found.shape)
                slope, error = numeric_slope(session, built, outputs, weights, source, direction)
                along = np.sum(found * direction)
                assert abs(along - slope) <= error * (1 + abs(slope)), (
                    f"along a random direction of {source}: gradient {along}, numeric {slope}"
                    + (" (the gradient is None)" if grad is None else "")
                )


def followed(op: Op, built: Built) -> list:
    """The outputs that the op's gradient looks at."""
    if not op.gradient_follows:
        return built.fetches
    pairs = zip(op.outputs, built.fetches, strict=True)
    return [tensor for arg, tensor in pairs if arg.name in op.gradient_follows]


def numeric_slope(session, built, outputs, weights, source, direction):
    """The central difference of the weighted outputs, and how exact it is."""
    exact = source.dtype is tf.float64 and all(tensor.dtype is tf.float64 for tensor in outputs)
    step = 1e-6 if exact else 1e-2

    def at(offset):
        moved = (built.feeds[source] + offset * direction).astype(built.feeds[source].dtype)
        return session.run(outputs, {**built.feeds, source: moved})

    slope = 0.0
    for weight, above, below in zip(weights, at(step), at(-step), strict=True):
        rise = np.where(
            above == below, 0.0, np.float64(above) - np.float64(below)
        )  # infinities may stay as they are
        slope += np.sum(np.float64(weight) * rise)
    return slope / (2 * step), 1e-6 if exact else 3e-2


def dense(grad, source, built):
    """A gradient as an array; sparse rows are added up."""
    if not hasattr(grad, "indices"):
        return grad
    full = np.zeros(built.feeds[source].shape)
    np.add.at(full, grad.indices, grad.values)
    return full


# ---------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(("op", "sample", "message", "error"), REFUSALS.values(), ids=REFUSALS)
class TestRefusals:
    def test_said_when_it_is_known(self, op, sample, message, error):
        with pytest.raises(error, match=re.escape(message)) as caught:
            self.attempt(op, sample, "known")
        text = str(caught.value)
        if "with input shapes" in text:
            assert os.path.basename(sampled.__file__) in text, f"the user's line is not in: {text}"

    def test_said_when_the_step_tells(self, op, sample, message, error):
        with pytest.raises((error, *IN_A_STEP)):
            self.attempt(op, sample, "unknown")

    @staticmethod
    def attempt(op: Op, sample: tuple, how: str) -> None:
        inputs, attrs = sampled.split_attrs(sample)
        # A GPU would have to be waited for, so that some kernels there refuse nothing.
        with tf.Graph().as_default() as graph, tf.device("/cpu:0"):
            built = build(op, inputs, arrays(inputs), attrs, how)
        with tf.Session(graph=graph) as session:
            built.run(session)
