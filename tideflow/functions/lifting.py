"""Variables that a function makes: their initial values are traced in it, and computed outside of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tideflow.compile.prune import behind
from tideflow.functions.execution import Executable
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.functions import FunctionBody, FunctionGraph, is_input, new_input
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import get_default_graph, init_scope, name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import constants, creation
from tideflow.ops.control_flow.conditionals import cond
from tideflow.ops.control_flow.grouping import group
from tideflow.ops.state import resource_variables
from tideflow.variables.resource import uncollected

_IGNORED = ("validate_shape", "expected_shape", "use_resource", "variable_def", "import_scope")


class UnliftableError(Exception):
    """A value depends on the arguments of the function that computes it."""


class NewVariables:
    """Makes the variables that a function makes when it is first traced, and knows them."""

    of_a_function = True

    def __init__(self) -> None:
        self.variables: list[Any] = []
        self.depend_on_arguments = False
        self._initial: list[Any] = []  # the value of each, a tensor of the function or of eager mode

    def __call__(self, next_creator: Callable[..., Any], **arguments: Any) -> Any:
        for word in _IGNORED:
            arguments.pop(word, None)
        initial, name = arguments.pop("initial_value"), arguments.get("name")
        if initial is None:
            raise ValueError("initial_value must be specified.")
        with name_scope(name, "Variable"), name_scope("Initializer"):
            value = convert_to_tensor(initial() if callable(initial) else initial, arguments.get("dtype"))
        try:
            with init_scope():
                variable = uncollected(lifted(value), **arguments)
        except UnliftableError:
            if not _outside_is_eager():
                raise
            variable = self._made_later(value, arguments)
        self.variables.append(variable)
        self._initial.append(value)
        return variable

    def _made_later(self, value: Tensor, arguments: dict[str, Any]) -> Any:
        """A variable that each call initializes, if it is not yet: its value depends on the arguments."""
        self.depend_on_arguments = True
        with init_scope():
            sizes = [size or 0 for size in value.shape.as_list()]
            arguments["shape"] = value.shape
            variable = uncollected(creation.zeros(sizes, value.dtype), **arguments)
            if get_default_graph().is_eager:
                resource_variables.destroy_resource_op(variable.handle)

        def assigned() -> Any:
            return group(resource_variables.assign_variable_op(variable.handle, value))

        cond(resource_variables.var_is_initialized_op(variable.handle), constants.no_operation, assigned)
        return variable

    def forget(self) -> None:
        """Keeps the variables no longer: they live as long as the program that made them wants."""
        self.variables, self._initial = [], []

    def initialize(self) -> None:
        """Gives the variables their initial values, in the default graph."""
        for variable, value in zip(self.variables, self._initial, strict=True):
            variable.assign(value if value.is_eager else copied([value], get_default_graph())[0])


def lifted(value: Tensor) -> Tensor:
    """A value that a function computes, computed outside of all functions."""
    if value.is_eager or not isinstance(value.graph, FunctionGraph):
        return value
    outside = get_default_graph()
    if not outside.is_eager:
        return copied([value], outside)[0]
    graph = value.graph
    given = {inner: lifted(outer) for inner, outer in _captured([value], {}).items()}
    body = FunctionBody(graph, list(given), [value], [])
    (computed,) = Executable(f"initial value in {graph}", body).values(list(given.values()))
    return computed


def _captured(
    values: Sequence[Tensor], given: Mapping[Tensor, Tensor], targets: Sequence[Operation] = ()
) -> dict[Tensor, Tensor]:
    """What values and operations of a function depend on outside of it, by the inputs that stand for it;
    those that are given, and what only they need, do not count.
    """
    graph: FunctionGraph = (*values, *targets)[0].graph
    outer = {inner: outer for outer, inner in graph.captured.items()}
    found = {}
    for op in behind(values, targets, set(given), frozenset()):
        if is_input(op):
            if op.outputs[0] not in outer:
                asked = [*values, *(tensor for target in targets for tensor in target.inputs)]
                raise UnliftableError(_why_not_lifted(asked[0], op))
            found[op.outputs[0]] = outer[op.outputs[0]]
    return found


def _outside_is_eager() -> bool:
    with init_scope():
        return get_default_graph().is_eager


def _why_not_lifted(value: Tensor, argument: Operation) -> str:
    """The words about a value, with the operations that lead from it to an argument of the function."""
    paths = [[value.op]]
    seen = {value.op}
    for path in paths:  # grows while it is gone through, so the shortest path is found first
        if path[-1] is argument:
            break
        further = [tensor.op for tensor in path[-1].inputs if tensor.op not in seen]
        seen.update(further)
        paths += [[*path, op] for op in further]
    names = " <- ".join(f"{op.name} ({op.type})" for op in path)
    return (
        f"Unable to lift tensor {value!r} because it depends transitively on placeholder {argument!r} via at "
        f"least one path, e.g.: {names}"
    )


def copied(
    values: Sequence[Tensor], into: Graph, given: Mapping[Tensor, Tensor] | None = None
) -> list[Tensor]:
    """Copies of values of a function, and of all they are made of, in another graph. The tensors that are
    given stand for others.
    """
    return copied_with_operations(values, (), into, given)[0]


def inferred_shapes(values: Sequence[Tensor], inputs: Mapping[Tensor, Tensor]) -> list[TensorShape]:
    """The static shapes of values of a function in a call with inputs of these static shapes and values."""
    trial = FunctionGraph(get_default_graph())
    given = {}
    for inner, outer in inputs.items():
        known = inner.shape if inner.dtype is dtypes.resource else inner.shape.merge_with(outer.shape)
        given[inner] = trial.captured[outer] = new_input(trial, inner.dtype, known, "input")
    with trial.as_default():
        return [value.shape for value in copied(values, trial, given)]


def copied_with_operations(
    values: Sequence[Tensor],
    targets: Sequence[Operation],
    into: Graph,
    given: Mapping[Tensor, Tensor] | None = None,
) -> tuple[list[Tensor], list[Operation]]:
    """Copies of values and of operations of a function, and of all they need, in another graph."""
    if not values and not targets:
        return [], []
    given = given or {}
    graph: FunctionGraph = (*values, *targets)[0].graph
    outside = _captured(values, given, targets)
    copies: dict[Tensor, Any] = {x: lifted(outer) for x, outer in outside.items()} | dict(given)
    done: dict[Operation, Operation] = {}
    needed = behind(values, targets, set(given), frozenset())
    for name, message in graph._functions.items():
        into._functions.setdefault(name, message)
    for key, body in graph._function_bodies.items():
        into._function_bodies.setdefault(key, body)
    for op in graph.get_operations():
        if op not in needed or is_input(op):
            continue
        inputs = [copies[tensor] for tensor in op.inputs]
        with into.control_dependencies([done[control] for control in op.control_inputs if control in done]):
            done[op] = op.definition.node_from_flat(inputs, dict(op.attrs), op.name.rpartition("/")[2])
        for made, known in zip(done[op].outputs, op.outputs, strict=True):
            made.set_shape(known.shape)
            copies.setdefault(known, made)
    return [copies[value] for value in values], [done[target] for target in targets]
