"""Layers that keep no activations: their inputs are computed again, or from their outputs, for gradients.

What is computed again takes inputs that depend on the gradients, by adding a zero made of them: so it runs
when they are there, and nothing merges it with the first computation.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.autodiff.custom import custom_gradient, variables_read
from tideflow.autodiff.gradients import gradients
from tideflow.contrib.framework.argument_scopes import arg_scope, current_arg_scope
from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import control_dependencies, get_default_graph
from tideflow.layers.scoped import Layer
from tideflow.ops.arrays import constants, shapes
from tideflow.ops.control_flow import grouping
from tideflow.ops.math import adding, reductions
from tideflow.variables.base import Variable
from tideflow.variables.variable_scope import get_variable_scope, variable_scope

if TYPE_CHECKING:
    from tideflow.graph.typing import ShapeLike, TensorLike


def _after(first: Sequence[Tensor | None], tensors: Sequence[Tensor]) -> list[Tensor]:
    """The tensors, such that they are not known before the first ones."""
    known = [tensor for tensor in first if tensor is not None and tensor.dtype.is_floating]
    if not known:
        return list(tensors)
    total = adding.add_n([reductions.reduce_sum(shapes.reshape(tensor, [-1])[:1]) for tensor in known])
    zero = constants.stop_gradient(total * np.finfo(total.dtype.as_numpy_dtype).tiny)
    return [
        tensor + zero if tensor.dtype == total.dtype else constants.identity(tensor) for tensor in tensors
    ]


def _sums(*lists: Sequence[Any]) -> list[Any]:
    """The gradients of several lists added up, place by place; None where there are none."""
    found = []
    for grads in zip(*lists):
        there = [grad for grad in grads if grad is not None]
        found.append(adding.add_n(there) if there else None)
    return found


def _called(function: Callable, x: Tensor, side_input: list[Tensor]) -> Tensor:
    return function(x, side_input) if side_input else function(x)


def _in_scope(function: Callable, scope: str) -> Callable:
    def scoped(*args: Any) -> Any:
        with variable_scope(scope, use_resource=True):
            return function(*args)

    return scoped


@export("contrib.layers.RevBlock", "contrib.slim.RevBlock")
class RevBlock(Layer):
    """A block of reversible residual layers (Gomez and others, 2017).

    A layer computes `y1 = x1 + f(x2)` and `y2 = x2 + g(y1)`. Gradients compute its inputs from its outputs:
    a training step keeps the activations of one layer at a time, however many there are.

    Args:
      f: A function of a tensor that returns one of the same shape, or a list of one for each layer. Its
        variables are resource variables in the scope `revlayer_0/f` and so on.
      g: A function, or a list, like `f`.
      num_layers: The number of layers.
      f_side_input: More tensors that every `f` gets, as a list, in its second argument.
      g_side_input: The same for every `g`.
      use_efficient_backprop: Whether gradients compute inputs from outputs; if not, the layers keep their
        activations.
      name: The name of the layer.
      **kwargs: Arguments of `tf.layers.Layer`.
    """

    def __init__(
        self,
        f: Callable | list[Callable],
        g: Callable | list[Callable],
        num_layers: int = 1,
        f_side_input: list[TensorLike] | None = None,
        g_side_input: list[TensorLike] | None = None,
        use_efficient_backprop: bool = True,
        name: str = "revblock",
        **kwargs: Any,
    ):
        super().__init__(name=name, **kwargs)
        functions = {}
        for key, given in (("f", f), ("g", g)):
            listed = given if isinstance(given, list) else [given] * num_layers
            if len(listed) != num_layers:
                raise AssertionError(f"{key} has {len(listed)} functions for {num_layers} layers")
            functions[key] = [_in_scope(one, f"revlayer_{i}/{key}") for i, one in enumerate(listed)]
        self.f, self.g = functions["f"], functions["g"]
        self.num_layers = num_layers
        self.f_side_input = list(f_side_input or [])
        self.g_side_input = list(g_side_input or [])
        self._use_efficient_backprop = use_efficient_backprop

    def build(self, input_shape: ShapeLike) -> None:
        """Makes nothing: the functions make their variables when they are first called.

        Args:
          input_shape: The shapes of the inputs.
        """
        self.built = True

    def call(self, inputs: Sequence[Tensor], forward: bool = True) -> tuple[Tensor, Tensor]:
        """Computes the block, or its inputs from its outputs.

        Args:
          inputs: Two tensors.
          forward: Whether to compute outputs from inputs.

        Returns:
          Two tensors.
        """
        scope = get_variable_scope()
        before = len(scope.global_variables())
        result = self._forward(*inputs) if forward else self._backward(*inputs)
        trained = scope.trainable_variables()
        for variable in scope.global_variables()[before:]:
            is_trained = any(variable is other for other in trained)
            (self._trainable_weights if is_trained else self._non_trainable_weights).append(variable)
        return result

    def forward(self, x1: TensorLike, x2: TensorLike) -> tuple[Tensor, Tensor]:
        """Computes the outputs.

        Args:
          x1: The first input.
          x2: The second input, of the same shape.

        Returns:
          Two tensors of that shape.
        """
        return self.apply([x1, x2])

    def backward(self, y1: TensorLike, y2: TensorLike) -> tuple[Tensor, Tensor]:
        """Computes the inputs from the outputs.

        Args:
          y1: The first output.
          y2: The second output.

        Returns:
          The two inputs.
        """
        return self.apply([y1, y2], forward=False)

    def _forward(self, x1: Tensor, x2: Tensor) -> tuple[Tensor, Tensor]:
        count = len(self.f_side_input)

        def plain(x1: Tensor, x2: Tensor, *sides: Tensor) -> tuple[Tensor, Tensor]:
            for f, g in zip(self.f, self.g):
                x1 = x1 + _called(f, x2, list(sides[:count]))
                x2 = x2 + _called(g, x1, list(sides[count:]))
                if self._use_efficient_backprop:
                    x1, x2 = grouping.tuple([x1, x2])
            return x1, x2

        @custom_gradient
        def efficient(x1: Tensor, x2: Tensor, *sides: Tensor) -> Any:
            results = plain(x1, x2, *sides)

            def gradient(*grads: Tensor, variables: Sequence[Any] = ()) -> Any:
                return self._gradients(results, grads, sides, variables)

            return results, gradient

        function = efficient if self._use_efficient_backprop else plain
        return function(x1, x2, *self.f_side_input, *self.g_side_input)

    def _backward(self, y1: Tensor, y2: Tensor) -> tuple[Tensor, Tensor]:
        for f, g in zip(self.f[::-1], self.g[::-1]):
            y2 = y2 - _called(g, y1, self.g_side_input)
            y1 = y1 - _called(f, y2, self.f_side_input)
        return y1, y2

    def _gradients(self, ys: Any, grads: Any, sides: Sequence[Tensor], variables: Sequence[Any]) -> Any:
        """The gradients by both inputs and all side inputs, and those by the variables."""
        count, by_sides, by_variables = (
            len(self.f_side_input),
            [[None] * len(sides)],
            [[None] * len(variables)],
        )
        (y1, y2), (grad1, grad2) = ys, grads
        with variable_scope(self.scope_name, reuse=True):
            for f, g in zip(self.f[::-1], self.g[::-1]):
                y1, y2, *others = _after([grad1, grad2], [y1, y2, *sides])
                y1, *others = [constants.stop_gradient(tensor) for tensor in (y1, *others)]
                of_y1 = _called(g, y1, others[count:])
                x2 = constants.stop_gradient(y2 - of_y1)
                of_x2 = _called(f, x2, others[:count])
                by_y1, *rest = gradients(of_y1, [y1, *others, *variables], grad2)
                grad1 = grad1 + by_y1
                by_x2, *more = gradients(of_x2, [x2, *others, *variables], grad1)
                grad2 = grad2 + by_x2
                y1, y2, grad1, grad2 = grouping.tuple([y1 - of_x2, x2, grad1, grad2])
                by_sides += [rest[: len(sides)], more[: len(sides)]]
                by_variables += [rest[len(sides) :], more[len(sides) :]]
        by_inputs = [grad1, grad2, *_sums(*by_sides)]
        return (by_inputs, _sums(*by_variables)) if variables else by_inputs


@export("contrib.layers.rev_block", "contrib.slim.rev_block")
def rev_block(
    x1: TensorLike,
    x2: TensorLike,
    f: Callable | list[Callable],
    g: Callable | list[Callable],
    num_layers: int = 1,
    f_side_input: list[TensorLike] | None = None,
    g_side_input: list[TensorLike] | None = None,
    is_training: bool = True,
) -> tuple[Tensor, Tensor]:
    """Computes a block of reversible residual layers: see `tf.contrib.layers.RevBlock`.

    Args:
      x1: The first input.
      x2: The second input, of the same shape.
      f: A function of a tensor that returns one of the same shape, or a list of one for each layer.
      g: A function, or a list, like `f`.
      num_layers: The number of layers.
      f_side_input: More tensors that every `f` gets, as a list, in its second argument.
      g_side_input: The same for every `g`.
      is_training: Whether gradients compute inputs from outputs.

    Returns:
      Two tensors of the inputs' shape.
    """
    block = RevBlock(
        f,
        g,
        num_layers,
        f_side_input,
        g_side_input,
        use_efficient_backprop=is_training,
        _reuse=get_variable_scope().reuse,
    )
    return block.forward(x1, x2)


@export("contrib.layers.recompute_grad", "contrib.slim.recompute_grad")
def recompute_grad(
    fn: Callable | None = None, use_data_dep: bool = True, tupleize_grads: bool = False
) -> Callable:
    """Decorator that lets gradients compute a function again, instead of keeping its activations.

    Use it as `@recompute_grad` or as `@recompute_grad(tupleize_grads=True)`. The function must take what it
    uses of the graph as arguments, make its variables as resource variables, and find the same ones when it
    is called again: call it in a variable scope of its own.

    Args:
      fn: The function; None to get a decorator.
      use_data_dep: Whether the second computation waits for the gradients by adding a zero made of them. If
        not, it waits by control dependencies alone, and a session may merge it with the first one.
      tupleize_grads: Whether the gradients are used only once all are known.

    Returns:
      A function of tensors; or a decorator.

    Raises:
      ValueError: If the function closes over tensors or variables; when it is called, if an argument is not a
        `tf.Tensor`; when gradients are made, if the second call uses other variables.
    """
    if fn is None:
        return lambda function: _recomputing(function, use_data_dep, tupleize_grads)
    return _recomputing(fn, use_data_dep, tupleize_grads)


_OTHER_VARIABLES = (
    "The variables used on recompute were different than the variables originally used. The function "
    "wrapped with @recompute_grad likely creates its own variable scope with a default name and has been "
    "called twice in the same enclosing scope. To fix, ensure each call to the function happens in its own "
    "unique variable scope."
)


def _recomputing(fn: Callable, use_data_dep: bool, tupleize_grads: bool) -> Callable:
    cells = zip(fn.__code__.co_freevars, fn.__closure__ or ()) if hasattr(fn, "__code__") else ()
    for name, cell in cells:
        if isinstance(cell.cell_contents, (Tensor, Variable)):
            raise ValueError(
                f"fn decorated with @recompute_grad closes over Tensor {cell.cell_contents.name} (local "
                f"variable name: {name}). The decorated fn must not close over Tensors or Variables because "
                "gradients will NOT be computed for them through fn. To ensure correct gradients, make the "
                "Tensor an input to fn."
            )
    says_again = "is_recomputing" in inspect.signature(fn).parameters

    def called(tensors: Sequence[Tensor], again: bool) -> tuple[Any, list[Any]]:
        """What the function returns, and the variables that it used."""
        graph = get_default_graph()
        first = len(graph._ops)
        result = fn(*tensors, **({"is_recomputing": again} if says_again else {}))
        return result, variables_read(graph, first)

    @custom_gradient
    def computed(*tensors: Tensor) -> Any:
        scope, arguments = get_variable_scope(), current_arg_scope()
        result, used = called(tensors, again=False)

        def gradient(*grads: Tensor, variables: Sequence[Any] = ()) -> Any:
            there = [grad for grad in grads if grad is not None]
            with control_dependencies(there):
                inputs = [constants.identity(tensor) for tensor in tensors]
                inputs = _after(grads, inputs) if use_data_dep else inputs
                with arg_scope(arguments), variable_scope(scope, reuse=True):
                    outputs, used_again = called(inputs, again=True)
            if {id(variable) for variable in used} != {id(variable) for variable in used_again}:
                raise ValueError(_OTHER_VARIABLES)
            listed = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
            slopes = gradients(listed, [*inputs, *variables], list(grads))
            if tupleize_grads:
                slopes = grouping.tuple(slopes)
            by_inputs, by_variables = slopes[: len(inputs)], slopes[len(inputs) :]
            return (by_inputs, by_variables) if variables else by_inputs

        return result, gradient

    @functools.wraps(fn)
    def wrapped(*args: Tensor) -> Any:
        if not all(isinstance(arg, Tensor) for arg in args):
            raise ValueError("All inputs to function must be Tensors")
        return computed(*args)

    return wrapped
