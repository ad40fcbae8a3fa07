"""Python functions of elements, traced once into functions of the graph's library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorboard.compat.proto.attr_value_pb2 import NameAttrList

from tideflow.data import structure
from tideflow.graph import dtypes, functions
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.functions import FunctionBody, FunctionGraph, copy_by_value, outermost
from tideflow.graph.graph import Graph
from tideflow.graph.op import ShapeError
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import GraphKeys, get_default_graph
from tideflow.graph.type_spec import TensorSpec
from tideflow.graph.user_functions import converted
from tideflow.ops.control_flow.debugging import assert_op
from tideflow.ops.control_flow.python_functions import py_func_op
from tideflow.variables.variable_scope import SCOPES

# What a function does to variables and their scopes is seen outside, as in TensorFlow.
_SHARED = (
    GraphKeys.GLOBAL_VARIABLES,
    GraphKeys.LOCAL_VARIABLES,
    GraphKeys.TRAINABLE_VARIABLES,
    SCOPES,
)
_BY_VALUE = (assert_op, py_func_op)  # effects that a one-shot iterator's function may have


class Traced:
    """A function in the library: its name, what it captures, and the structure of what it returns."""

    def __init__(self, name: str, captured: list[Tensor], returned: Any):
        self.attr = NameAttrList(name=name)
        self.captured = captured
        self.returned = returned


def traced(function: Callable, what: str, *arguments: Any) -> Traced:
    """Calls the function on symbols for arguments of these specs. A single argument that is a tuple is
    unpacked.
    """
    if not callable(function):
        raise ValueError(f"Argument must be callable: {what} was given {function!r}.")
    spec = arguments[0] if len(arguments) == 1 else tuple(arguments)
    outer = get_default_graph()
    body = FunctionGraph(outer)
    body.seed = outer.seed
    body.take_collections(shared=_SHARED)
    with body.as_default():
        flat = structure.flat_specs(spec)
        inputs = [body.add_input(s.dtype, s.shape, f"args_{i}") for i, s in enumerate(flat)]
        given = structure.from_tensors(spec, inputs)
        called = converted(function)
        result = called(*given) if isinstance(given, tuple) else called(given)
        if isinstance(result, list):
            result = tuple(result)
        try:
            result = structure.composed(result)
            returned = structure.spec_of(result)
            tensors = structure.to_tensors(returned, result)
        except ShapeError:
            raise
        except (TypeError, ValueError):
            raise TypeError(f"Unsupported return value from function passed to {what}: {result}.") from None
        outputs = [body.capture(convert_to_tensor(tensor)) for tensor in tensors]
    root = outermost(outer)
    name = _free_name(root, what, function)
    functions.add_function(
        root, name, FunctionBody(body, list(body.inputs), outputs, functions.effects_of(body))
    )
    return Traced(name, list(body.captured), returned)


def _free_name(graph: Graph, what: str, function: Callable) -> str:
    called = getattr(function, "__name__", type(function).__name__)
    base = f"__inference_{what.removesuffix('()').replace('.', '_')}_{called}"
    number = len(graph._functions)
    while f"{base}_{number}" in graph._functions:
        number += 1
    return f"{base}_{number}"


def factory(make: Callable[[Callable[[Tensor], Tensor]], Tensor]) -> NameAttrList:
    """A function without arguments that makes a dataset: `make` gets a function that copies tensors of the
    graph, and all they are made of, into it.
    """
    outer = get_default_graph()
    body = FunctionGraph(outer)
    copies: dict[Operation, Operation] = {}
    with body.as_default():
        output = make(lambda tensor: copy_by_value(tensor, body, copies, _may_be_copied))
    targets = [op for op in body.get_operations() if op.definition.stateful]
    root = outermost(outer)
    number = sum(name.startswith("_make_dataset_") for name in root._functions)
    name = f"_make_dataset_{number}"
    functions.add_function(root, name, FunctionBody(body, [], [output], targets))
    return NameAttrList(name=name)


def _may_be_copied(op: Operation) -> bool:
    """Whether a one-shot iterator's function may have a stateful operation of its own."""
    makes_dataset = op.outputs and op.outputs[0].dtype.name == "variant"
    return makes_dataset or op.definition in _BY_VALUE


def stateful(function: Callable, what: str, state: Any, element: Any, whole: bool) -> tuple[Traced, Any]:
    """A traced function of a state and an element, and the spec of the state, whose shapes no call changes.

    The function returns the next state or, if not `whole`, a pair of that and something else.
    """
    while True:
        made = traced(function, what, state, element)
        found = made.returned if whole else _first_of_two(made.returned)
        _check_state(state, found, what)
        wider = structure.map_structure(lambda a, b: a.most_specific_compatible_type(b), state, found)
        if structure.flatten(wider) == structure.flatten(state):
            return made, state
        state = wider


def _first_of_two(returned: Any) -> Any:
    if not isinstance(returned, tuple) or len(returned) != 2:
        raise TypeError("The scan function must return a pair comprising the new state and the output value.")
    return returned[0]


def _check_state(state: Any, found: Any, what: str) -> None:
    name = "reduce" if what.startswith("reduce") else "scan"
    for text, legacy in (
        ("classes", structure.legacy_classes),
        ("types", structure.legacy_types),
    ):
        before, after = legacy(state), legacy(found)
        if before != after:
            raise TypeError(
                f"The element {text} for the new state must match the initial state. Expected {before}; got "
                f"{after} from the {name} function."
            )


def is_predicate(spec: Any) -> bool:
    """Whether a spec is that of a scalar bool."""
    return isinstance(spec, TensorSpec) and spec.is_compatible_with(TensorSpec([], dtypes.bool))
