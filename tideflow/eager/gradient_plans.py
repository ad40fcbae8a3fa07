"""Plans of backward passes: where a tape has recorded what an earlier one did, the gradients are one plan.

What was recorded is described by the kernels that ran and by which of their inputs came from where. When the
same description comes again, the recorded operations are made once more as nodes of a graph, `tf.gradients`
differentiates that graph, and the result is compiled as a step whose feeds are the values that the tape has
kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tideflow.autodiff.functions import components, from_components
from tideflow.autodiff.gradients import gradients
from tideflow.autodiff.registry import has_own_gradient
from tideflow.eager.compiled_body import CompiledBody
from tideflow.eager.recording import Entry
from tideflow.eager.tensor import EagerTensor
from tideflow.graph import dtypes
from tideflow.graph.functions import FunctionBody
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Tensor
from tideflow.ops.arrays import constants, creation
from tideflow.ops.helpers.variables import HandleShape

if TYPE_CHECKING:
    from tideflow.eager.context import EagerGraph

_COMPILED_AT = 5  # occurrences of a description; compiling takes as long as some hundred backward passes
_MOST_PLANS = 200  # then all are dropped: the tapes of the program differ every time
_MOST_OPERATIONS = 2_000  # of a tape: compiling more takes too long


class _GradientPlan(NamedTuple):
    """A compiled backward pass: the places of the values that it takes, and how gradients are made of it."""

    body: CompiledBody
    feeds: list[int]
    seeds: list[int]
    packed: Callable[[list[EagerTensor]], list[Any]]

    def __call__(self, values: Sequence[EagerTensor], seeds: Sequence[Any]) -> list[Any]:
        fed = [values[i]._value for i in self.feeds]
        fed += [seeds[i]._value for i in self.seeds]
        return self.packed(self.body.run(fed))


class GradientPlans:
    """The plans of eager mode, by what tapes recorded."""

    def __init__(self, graph: EagerGraph) -> None:
        self._graph = graph
        self._seen: dict[Any, int | _GradientPlan | None] = {}  # None: it cannot be compiled

    def computed(
        self, entries: Sequence[Entry], targets: list[Any], sources: list[Any], seeds: Sequence[Any]
    ) -> list[Any] | None:
        """The gradients of the sources; None where there is no plan for what was recorded."""
        if len(entries) > _MOST_OPERATIONS or self._graph._thread_scopes.now.devices:
            return None
        places: dict[int, int] = {}
        values: list[EagerTensor] = []
        program: list[Any] = []
        for entry in entries:
            if type(entry) is not tuple:
                return None  # a gradient function that belongs to this call alone
            bound, inputs, outputs = entry
            program.append(bound)
            for tensor in inputs:
                place = places.get(id(tensor))
                if place is None:
                    place = places[id(tensor)] = len(values)
                    values.append(tensor)
                program.append(place)
            for tensor in outputs:
                places[id(tensor)] = len(values)
                values.append(tensor)
        ends = tuple([places.get(id(tensor)) for tensor in targets])
        begins = tuple([None if tensor is None else places.get(id(tensor), -1) for tensor in sources])
        weights = tuple([None if seed is None else seed._key for seed in seeds])
        if None in ends:
            return None  # a target that was not recorded, or of several parts
        key = (*program, ends, begins, weights)
        found = self._seen.get(key, 0)
        if isinstance(found, int):
            found = self._counted(key, found + 1, entries, places)
        return None if found is None else found(values, seeds)

    def _counted(
        self, key: Any, count: int, entries: Sequence[Any], places: dict[int, int]
    ) -> _GradientPlan | None:
        """Notes that this was recorded `count` times; compiles its backward pass when that is worth it."""
        if count < _COMPILED_AT:
            if len(self._seen) > _MOST_PLANS:
                self._seen.clear()
            self._seen[key] = count
            return None
        found = self._seen[key] = self._compiled(entries, places, *key[-3:])
        return found

    def _compiled(
        self, entries: Sequence[Any], places: dict[int, int], ends: Any, begins: Any, weights: Any
    ) -> _GradientPlan | None:
        if not all(_can_be_planned(entry) for entry in entries):
            return None
        with Graph().as_default() as graph:
            made, feedable = _recorded_nodes(entries, places)
            ys = [made[end] for end in ends]
            given = [
                creation.ones_like(y) if weight is None else constants.placeholder(weight[0], weight[1])
                for y, weight in zip(ys, weights, strict=True)
            ]
            xs = [made[begin] for begin in begins if begin in made]
            try:
                grads = dict(zip(xs, gradients(ys, xs, given), strict=True))
            except (TypeError, ValueError):  # a gradient function looks at values: it needs eager tensors
                return None
            found = [grads.get(made.get(begin)) for begin in begins]
        outputs, forms = [], []
        for grad in found:
            parts = [] if grad is None else components(grad)
            forms.append((grad, len(outputs), len(outputs) + len(parts)))
            outputs += parts
        weighted = {i: given[i] for i, weight in enumerate(weights) if weight is not None}
        needed = _inputs_of(outputs, {*feedable.values(), *weighted.values()})
        feeds = [place for place, tensor in feedable.items() if tensor in needed]
        seeds = [i for i, tensor in weighted.items() if tensor in needed]
        inputs = [made[place] for place in feeds] + [given[i] for i in seeds]
        body = FunctionBody(graph, inputs, outputs, [])
        return _GradientPlan(
            CompiledBody("gradient", body, lambda: self._graph),
            feeds,
            seeds,
            lambda results: [
                None if grad is None else from_components(grad, results[first:last])
                for grad, first, last in forms
            ],
        )


def _can_be_planned(entry: Any) -> bool:
    """Whether what an operation was is all said by its op type, its attributes, and its inputs' values."""
    bound, inputs, outputs = entry
    op = bound.node.definition
    is_known = not op.stateful or isinstance(inputs[0].shape, HandleShape)
    return (
        is_known
        and not op.calls_functions
        and has_own_gradient(op)
        and all(tensor.dtype is not dtypes.variant for tensor in (*inputs, *outputs))
    )


def _recorded_nodes(
    entries: Sequence[Any], places: dict[int, int]
) -> tuple[dict[int, Tensor], dict[int, Tensor]]:
    """The recorded operations as nodes of the default graph: their tensors by place, all and those of which
    the tape has the values of each time.
    """
    made: dict[int, Tensor] = {}
    feedable: dict[int, Tensor] = {}
    for bound, inputs, outputs in entries:
        for value, tensor in zip(bound.node.inputs, inputs, strict=True):
            place = places[id(tensor)]
            if place in made:
                continue
            if value.constant is not None:
                made[place] = constants.constant(value.constant, tensor.dtype)
            else:
                made[place] = feedable[place] = constants.placeholder(tensor.dtype)
                made[place]._shape = tensor.shape  # a handle's shape says what it is a handle of
        op = bound.node.definition
        node = op.node_from_flat([made[places[id(x)]] for x in inputs], bound.attrs, op.name)
        for symbolic, tensor in zip(node.outputs, outputs, strict=True):
            place = places[id(tensor)]
            symbolic._shape = tensor.shape
            made[place] = feedable[place] = symbolic
    return made, feedable


def _inputs_of(outputs: Sequence[Tensor], known: set[Tensor]) -> set[Tensor]:
    """Those of the `known` tensors that the outputs are computed from."""
    found: set[Tensor] = set()
    seen: set[Operation] = set()
    rest = list(outputs)
    while rest:
        tensor = rest.pop()
        if tensor in known:
            found.add(tensor)
        elif tensor.op not in seen:
            seen.add(tensor.op)
            rest += tensor.op.inputs
    return found
