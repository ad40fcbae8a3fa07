"""`tf.wrap_function`: code for graphs, variables and all, as a function of eager mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.functions.concrete import ConcreteFunction
from tideflow.functions.func_graph import FuncGraph
from tideflow.functions.lifting import NewVariables, copied
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
          feeds: The tensors of the graph that become arguments.
          fetches: The tensors of the graph that a call returns, in a structure.
          name: The name of the function.

        Returns:
          The WrappedFunction, which shares the variables of this one.

        Raises:
          ValueError: If something to feed or to fetch is not of this function's graph.
        """
        given, wanted = nest.flatten(feeds), nest.flatten(fetches)
        for item in (*given, *wanted):
            if not isinstance(item, (Tensor, Operation)) or item.graph is not self.graph:
                raise ValueError("Can only feed and fetch tensors of the graph that this function wraps.")

        def part(*arguments: Tensor) -> Any:
            tensors = [x for x in wanted if isinstance(x, Tensor)]
            found = iter(copied(tensors, get_default_graph(), dict(zip(given, arguments, strict=True))))
            results = [next(found) if isinstance(x, Tensor) else None for x in wanted]
            return nest.pack_sequence_as(fetches, results) if nest.is_nested(fetches) else results[0]

        specs = [TensorSpec(tensor.shape, tensor.dtype) for tensor in given]
        names = [f"arg_{i}" for i in range(len(specs))]
        graph = traced(name or "pruned", part, specs, {}, names, NewVariables())
        return WrappedFunction(graph, self._held, specs)


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
    names = [f"arg_{i}" for i in range(len(specs))]
    traced(graph.name, fn, specs, {}, names, made, graph=graph)
    return WrappedFunction(graph, made.variables, nest.flatten(specs))
