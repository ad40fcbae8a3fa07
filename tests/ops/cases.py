"""Sample inputs as graphs: what the generated tests of the ops are made of."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tensorboard.compat.proto.config_pb2 import ConfigProto

import tideflow as tf
from tideflow.graph import dtypes
from tideflow.graph.arrays import as_array
from tideflow.graph.op import Op, definitions, not_differentiable, undefined_gradient
from tideflow.graph.schema import Arg
from tideflow.ops.helpers.samples import SampleArray, SampleRef

UNFETCHABLE = (dtypes.resource, dtypes.variant)
PLAIN = ConfigProto()
PLAIN.graph_options.optimizer_options.opt_level = -1  # L0: no rewrite


@dataclass(frozen=True, eq=False)
class Case:
    """One sample of an op."""

    op: Op
    number: int
    inputs: tuple = field(repr=False)
    attrs: dict = field(repr=False)

    @property
    def id(self) -> str:
        return f"{self.op.name}-{self.number}"

    @property
    def differentiable(self) -> bool:
        return self.op.gradient_function not in (not_differentiable, undefined_gradient)

    @property
    def has_variables(self) -> bool:
        flat = [item for value in self.inputs for item in (value if isinstance(value, list) else [value])]
        return any(isinstance(item, SampleRef) for item in flat)

    @property
    def repeatable(self) -> bool:
        """Whether another session gives the same: no random number is drawn without a seed."""
        return "seed" not in self.op.attrs or any(self.attrs.get(key) for key in ("seed", "seed2"))


def vocabulary() -> dict[str, Op]:
    """Every op type of the public vocabulary."""
    return {name: op for name, op in sorted(definitions().items()) if not name.startswith("_")}


def cases() -> list[Case]:
    """Every sample of every op of the public vocabulary."""
    return _cases_of(vocabulary().values())


def private_cases() -> list[Case]:
    """Every sample of the ops that only rewrites make."""
    return _cases_of(op for name, op in sorted(definitions().items()) if name.startswith("_"))


def _cases_of(ops: Iterable[Op]) -> list[Case]:
    return [
        Case(op, number, *split_attrs(sample))
        for op in ops
        for number, sample in enumerate(op.sample_cases, 1)
    ]


def split_attrs(sample: tuple) -> tuple[tuple, dict]:
    """A sample as its inputs and the attributes in its final dict."""
    return (sample[:-1], sample[-1]) if sample and isinstance(sample[-1], dict) else (sample, {})


def arrays(inputs: tuple) -> list[Any]:
    """The sample's values: arrays for specifications, Python values as they stand, lists of both."""
    return [_value(given, salt) for salt, given in enumerate(inputs)]


def _value(given: Any, salt: int) -> Any:
    if isinstance(given, SampleArray):
        return given.array(salt)
    if isinstance(given, SampleRef):
        return np.asarray(_value(given.value, salt))
    if isinstance(given, list) and any(
        isinstance(item, (SampleArray, SampleRef, np.ndarray)) for item in given
    ):
        return [_value(item, salt + 100 * i) for i, item in enumerate(given)]
    return given


# ---------------------------------------------------------------------------------- graphs


@dataclass
class Built:
    """A sample in a graph: its node, the feeds it runs with and the variables it touches."""

    node: tf.Operation
    feeds: dict
    variables: list

    @property
    def fetches(self) -> list:
        return [tensor for tensor in self.node.outputs if tensor.dtype.base_dtype not in UNFETCHABLE]

    def run(self, session: tf.Session) -> list[np.ndarray]:
        """The outputs' values; variables start from their samples."""
        for variable in self.variables:
            session.run(variable.initializer)
        return session.run([self.fetches, self.node], self.feeds)[0]


def build(op: Op, inputs: tuple, values: list[Any], attrs: dict, how: str = "known") -> Built:
    """Adds the op on these values to the graph: as constants, fed with their shape "known" or "unknown", or
    "computed" in the step from what is fed, so that no shape is known even where the step is compiled.

    What the op takes as sizes and axes is constant, unless nothing is to be known before the step.
    """
    feeds: dict = {}
    variables: list = []

    def source(arg: Arg, given: Any, value: Any) -> Any:
        if isinstance(given, SampleRef):
            variable = tf.Variable(value, use_resource=given.kind == "resource", trainable=False)
            variables.append(variable)
            return variable.handle if given.kind == "resource" else variable._ref()
        is_size = arg.name in op.host
        if how == "constant" or is_size and how == "known":
            return value
        if is_size and not isinstance(value, np.ndarray):
            value = as_array(value, arg.dtype or attrs.get(arg.type_attr))
        if not isinstance(value, np.ndarray):
            return value
        tensor = tf.placeholder(tf.as_dtype(value.dtype), value.shape if how == "known" else None)
        feeds[tensor] = value
        if how == "computed":
            return tf.py_func(lambda array: array, [tensor], tensor.dtype, stateful=False)
        return tensor

    sources = []
    for arg, given, value in zip(op.inputs, inputs, values, strict=True):
        if arg.is_list:
            sources.append([source(arg, g, v) for g, v in zip(given, value, strict=True)])
        else:
            sources.append(source(arg, given, value))
    name = op.name.lstrip("_")  # no node may be named as private ops are
    return Built(op.node(*sources, name=name, **attrs), feeds, variables)


def run(case: Case, how: str = "known", config: ConfigProto | None = None) -> tuple[Built, list[np.ndarray]]:
    """The sample in a graph and a session of its own."""
    with tf.Graph().as_default() as graph:
        built = build(case.op, case.inputs, arrays(case.inputs), case.attrs, how)
    with tf.Session(graph=graph, config=config) as session:
        return built, built.run(session)


@functools.lru_cache(maxsize=1)  # the properties of a sample are checked one after another
def result(case: Case) -> tuple[Built, list[np.ndarray]]:
    """The sample run as a program would: fed, with rewrites."""
    return run(case)


def observed(case: Case) -> list[tuple[str, dtypes.DType, Any]]:
    """Name, type and value of each output, then of each variable of the sample, after the op has run once."""
    if not case.has_variables:
        built, found = result(case)
        return [(str(t), t.dtype.base_dtype, value) for t, value in zip(built.fetches, found, strict=True)]
    with tf.Graph().as_default() as graph:
        built = build(case.op, case.inputs, arrays(case.inputs), case.attrs)
    with tf.Session(graph=graph) as session:
        found = [*built.run(session), *(_value_now(variable, session) for variable in built.variables)]
    tensors = [*built.fetches, *built.variables]
    return [(str(t), t.dtype.base_dtype, value) for t, value in zip(tensors, found, strict=True)]


def _value_now(variable: Any, session: tf.Session) -> Any:
    """The variable's value, None where the op has destroyed it."""
    with contextlib.suppress(tf.errors.FailedPreconditionError):
        return session.run(variable)


# ---------------------------------------------------------------------------------- expectations


def expected(case: Case) -> list[Any]:
    """What the reference computes: the outputs and, where it gives more, the variables afterwards."""
    answer = _called(case, case.op.reference, arrays(case.inputs))
    return list(answer) if isinstance(answer, (tuple, list)) else [answer]


def claims(case: Case) -> list[Any]:
    """What the op's law says of the sample: booleans and pairs of equal values."""
    values = [*arrays(case.inputs), *(value for _, _, value in observed(case))]
    answer = _called(case, case.op.law, values)
    return answer if isinstance(answer, list) else [answer]


def _called(case: Case, function: Any, values: list[Any]) -> Any:
    """A reference or a law of these values, with the attributes that it names."""
    known = {**case.op._defaults, **case.attrs}
    named = {key: known[key] for key in _keywords(function, len(values)) if key in known}
    with np.errstate(all="ignore"):
        return function(*values, **named)


def _keywords(function: Any, taken: int) -> Iterator[str]:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # a NumPy function without a signature takes arrays only
        return
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY or parameter in positional[taken:]:
            yield parameter.name


TOLERANCES = {"float16": 2e-2, "bfloat16": 5e-2, "float64": 1e-9, "complex128": 1e-9}


def assert_same(found: Any, wanted: Any, dtype: dtypes.DType, what: str) -> None:
    """Equal, or as near as the type's precision allows."""
    assert np.shape(found) == np.shape(wanted), (
        f"{what}: shape {np.shape(found)}, expected {np.shape(wanted)}"
    )
    if dtype.is_floating or dtype.is_complex:
        tolerance = TOLERANCES.get(dtype.name, 1e-5)
        wide = np.complex128 if dtype.is_complex else np.float64
        found, wanted = np.asarray(found).astype(wide), np.asarray(wanted).astype(wide)
        np.testing.assert_allclose(found, wanted, tolerance, tolerance, err_msg=what)
    else:
        np.testing.assert_array_equal(found, wanted, err_msg=what)


def assert_same_outputs(built: Built, found: list, wanted: list) -> None:
    for tensor, a, b in zip(built.fetches, found, wanted, strict=True):
        assert_same(a, b, tensor.dtype.base_dtype, str(tensor))
