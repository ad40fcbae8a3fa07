"""FuncGraph: the body of a `tf.function` while it is traced, and what is known of it afterwards."""

from __future__ import annotations

from typing import Any

from tideflow.autodiff.custom import variable_of
from tideflow.graph import dtypes
from tideflow.graph.functions import FunctionBody, WaitingGraph, effects_of
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import GraphKeys
from tideflow.ops.arrays.constants import constant
from tideflow.variables.base import creators_of
from tideflow.variables.store import STORE
from tideflow.variables.variable_scope import SCOPES

# What a function does to variables and their scopes is seen outside, as in TensorFlow.
SHARED = (
    GraphKeys.GLOBAL_VARIABLES,
    GraphKeys.LOCAL_VARIABLES,
    GraphKeys.TRAINABLE_VARIABLES,
    SCOPES,
    STORE,
)


# An eager tensor that a function uses is a constant in its graph if it has no more elements than this.
MOST_ELEMENTS_OF_CONSTANTS = 128
_WITHOUT_CONSTANTS = (dtypes.resource, dtypes.variant)


class FuncGraph(WaitingGraph):
    """A traced function. It has a library of its own, which goes with it into the graphs that call it."""

    captures_through_outer = False
    functional_control_flow = True

    def __init__(self, name: str, outer: Graph) -> None:
        super().__init__(outer)
        self.name = name
        self._functions, self._function_bodies, self._function_gradients = {}, {}, {}
        self.seed = outer.seed
        self.outputs: list[Tensor] = []
        self.structured_input_signature: Any = None
        self.structured_outputs: Any = None
        self.declared_outputs: Any = None  # a loaded function's outputs, as the SavedModel describes them
        self.control_outputs: list[Operation] = []
        # Code for graphs says itself what waits for what: then calls run these operations, and what results
        # need. None: calls run all operations with effects, in order.
        self.chosen_effects: list[Operation] | None = None
        self.held_variables: list[Any] = []  # variables that a loaded function keeps alive
        self.take_collections(shared=SHARED)
        creators = creators_of(self)
        creators[:] = [c for c in creators if not getattr(c, "of_a_function", False)]

    @property
    def outer_graph(self) -> Graph:
        """The graph in which the function was traced."""
        return self.outer

    @property
    def control_captures(self) -> set[Operation]:
        """The operations outside that the function's body asked to wait for."""
        return set(self.outside_controls)

    @property
    def captures(self) -> list[tuple[Tensor, Tensor]]:
        """What the function takes from outside, each with the input that stands for it."""
        return list(self.captured.items())

    @property
    def external_captures(self) -> list[Tensor]:
        """What the function takes from outside, in the order of the inputs that stand for it."""
        return list(self.captured)

    @property
    def internal_captures(self) -> list[Tensor]:
        """The inputs that stand for what the function takes from outside."""
        return list(self.captured.values())

    @property
    def variables(self) -> list[Any]:
        """The variables that the function uses, as far as they are alive."""
        found = [variable_of(tensor) for tensor in self.captured]
        known = {id(tensor): variable for tensor, variable in self._variables_of_graph()}
        found += [known.get(id(tensor)) for tensor in self.captured]
        return [variable for variable in found if variable is not None]

    def _variables_of_graph(self) -> list[tuple[Tensor, Any]]:
        if self.outer.is_eager:
            return []
        variables = self.outer.get_collection(GraphKeys.GLOBAL_VARIABLES)
        return [(v.handle, v) for v in variables if hasattr(v, "handle")]

    @property
    def trainable_variables(self) -> list[Any]:
        """Those of the variables that are trainable."""
        return [variable for variable in self.variables if variable.trainable]

    def _input_for(self, tensor: Any, name: str) -> Any:
        """A new input that stands for a tensor from outside: the value itself, where it is small."""
        if not tensor.is_eager or tensor.dtype in _WITHOUT_CONSTANTS:
            return super()._input_for(tensor, name)
        if tensor.shape.num_elements() > MOST_ELEMENTS_OF_CONSTANTS:
            return super()._input_for(tensor, name)
        with self.as_default(), self.control_dependencies(None):
            self.inputs.append(constant(tensor.numpy(), tensor.dtype, tensor.shape, name))
        return self.inputs[-1]

    def body(self) -> FunctionBody:
        """The function as it is called."""
        effects = effects_of(self) if self.chosen_effects is None else self.chosen_effects
        return FunctionBody(self, self.inputs, self.outputs, effects)

    def __repr__(self) -> str:
        return f"FuncGraph(name={self.name}, id={id(self)})"

    __str__ = __repr__
