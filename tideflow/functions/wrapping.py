"""`tf.wrap_function`: code for graphs, variables and all, as a function of eager mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto.meta_graph_pb2 import TensorInfo

from tideflow.export import export
from tideflow.functions.concrete import ConcreteFunction
from tideflow.functions.func_graph import FuncGraph
from tideflow.functions.lifting import NewVariables, copied_with_operations
from tideflow.functions.tracing import traced
from tideflow.graph import nest
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import get_default_graph
from tideflow.graph.type_spec import TensorSpec

if TYPE_CHECKING:
    from tideflow.graph.typing import Structure


class WrappedFunction(ConcreteFunction):
    """A function of code for graphs. It holds the variables that the code made."""

    def __init__(self, graph: FuncGraph, held: Sequence[Any], signature: Sequence[Any]) -> None:
        super().__init__(graph, signature)
        self._held = list(held)

    def prune(self, feeds: Structure[Tensor], fetches: Structure[Tensor], name: str | None = None) -> Any:
        """A function of other tensors of the same graph.

        Args:
          feeds: The tensors of the graph that become arguments, or their names. What the function takes from
            outside stays what it is.
          fetches: What a call returns, in a structure: tensors of the graph, or their names. An operation
            runs, and None stands for it.
          name: The name of the function.

        Returns:
          The WrappedFunction, which shares the variables of this one.

        Raises:
          ValueError: If something to feed or to fetch is not of this function's graph, or no tensor is fed.
        """
        captured = set(self.graph.internal_captures)
        given = [each for each in map(self._element, nest.flatten(feeds, True)) if each not in captured]
        if not all(isinstance(each, Tensor) for each in given):
            raise ValueError("Feeds must be tensors.")
        wanted = [self._element(each) for each in nest.flatten(fetches, True)]

        def part(*arguments: Tensor) -> Any:
            graph: Any = get_default_graph()
            tensors = [each for each in wanted if isinstance(each, Tensor)]
            operations = [each for each in wanted if isinstance(each, Operation)]
            values, graph.chosen_effects = copied_with_operations(
                tensors, operations, graph, dict(zip(given, arguments, strict=True))
            )
            found = iter(values)
            results = [next(found) if isinstance(each, Tensor) else None for each in wanted]
            return nest.pack_sequence_as(fetches, results, True)

        specs = [TensorSpec(tensor.shape, tensor.dtype) for tensor in given]
        names = [tensor.op.name for tensor in given]
        graph = FuncGraph(name or "pruned", self.graph.outer_graph)
        graph.chosen_effects = []
        traced(graph.name, part, specs, {}, names, NewVariables(), graph=graph)
        made = WrappedFunction(graph, self._held, specs)
        made._arg_keywords, made._num_positional_args = names, len(names)
        return made

    def _element(self, item: Any) -> Tensor | Operation:
        """What a program names of the graph: by a tensor, an operation, a name or a TensorInfo."""
        try:
            return self.graph.as_graph_element(item.name if isinstance(item, TensorInfo) else item)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"Can only feed and fetch tensors of the graph that this function wraps: {error}"
            ) from None


@export("wrap_function")
def wrap_function(
    fn: Callable[..., Any], signature: Structure[TensorSpec], name: str | None = None
) -> WrappedFunction:
    """Makes a function of code that was written for graphs.

    The code is called once. What it makes there, `tf.get_variable` and collections among it, belongs to the
    function.

    Args:
      fn: The function of tensors.
      signature: The specs of its arguments: a list, or one spec.
      name: The name of the function.

    Returns:
      A function of tensors with `graph`, `variables` and `prune`.

    Raises:
      TypeError: If `fn` returns something else than tensors.
    """
    specs = list(signature) if isinstance(signature, (list, tuple)) else [signature]
    made = NewVariables()
    graph = FuncGraph(name or "wrapped_function", get_default_graph())
    graph._collections = {}
    graph.chosen_effects = []
    names = [f"arg_{i}" for i in range(len(specs))]
    traced(graph.name, fn, specs, {}, names, made, graph=graph)
    return WrappedFunction(graph, made.variables, nest.flatten(specs))
