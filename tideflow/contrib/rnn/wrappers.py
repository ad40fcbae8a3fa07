"""Cells around cells: embeddings, projections, highways, attention over the last outputs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes, nest
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import device, name_scope
from tideflow.nn import embeddings, functions
from tideflow.ops.arrays import constants, joining, shapes, slicing
from tideflow.ops.linalg import matmul
from tideflow.ops.math import reductions, unary
from tideflow.ops.nn import activations, convolution, softmax
from tideflow.platform import logging
from tideflow.rnn.cells import RNNCell, assert_like_rnncell, warn_of_joined_state
from tideflow.rnn.wrappers import assert_alike
from tideflow.variables import initializers
from tideflow.variables import variable_scope as scopes

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, InitializerLike, TensorLike


class Linear:
    """The inputs, side by side, times a `kernel` and plus a `bias`, variables of the scope it is made in."""

    def __init__(
        self,
        args: Any,
        output_size: int,
        build_bias: bool,
        bias_initializer: Any = None,
        kernel_initializer: Any = None,
    ):
        if args is None or (nest.is_nested(args) and not args):
            raise ValueError("`args` must be specified")
        self._is_list = nest.is_nested(args)
        args = args if self._is_list else [args]
        rows = sum(_width(arg, [each.shape for each in args]) for arg in args)
        self._build_bias = build_bias
        dtype = args[0].dtype
        with scopes.variable_scope(scopes.get_variable_scope()) as outer:
            self._weights = scopes.get_variable(
                "kernel", [rows, output_size], dtype=dtype, initializer=kernel_initializer
            )
            if build_bias:
                with scopes.variable_scope(outer) as inner:
                    inner.set_partitioner(None)
                    bias_initializer = bias_initializer or initializers.Constant(0.0, dtype=dtype)
                    self._biases = scopes.get_variable(
                        "bias", [output_size], dtype=dtype, initializer=bias_initializer
                    )

    def __call__(self, args: Any) -> Tensor:
        args = args if self._is_list else [args]
        if len(args) == 1:
            result = matmul.matmul(args[0], self._weights)
        else:
            one = constants.constant(1, dtype=dtypes.int32)
            result = matmul.matmul(joining.concat(args, one), self._weights)
        return activations.bias_add(result, self._biases) if self._build_bias else result


def _width(arg: Tensor, all_shapes: list[Any]) -> int:
    if arg.shape.ndims != 2:
        raise ValueError(f"linear is expecting 2D arguments: {all_shapes}")
    width = arg.shape.as_list()[1]
    if width is None:
        raise ValueError(f"linear expects shape[1] to be provided for shape {arg.shape}, but saw {width}")
    return width


class _Around(RNNCell):
    """A cell with the state and the output of another, `self._cell`."""

    def __init__(self, cell: Any, reuse: bool | None = None):
        super().__init__(_reuse=reuse)
        assert_like_rnncell("cell", cell)
        self._cell = cell

    @property
    def state_size(self) -> Any:
        return self._cell.state_size

    @property
    def output_size(self) -> Any:
        return self._cell.output_size

    def zero_state(self, batch_size: TensorLike, dtype: DTypeLike) -> Any:
        with name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)


@export("contrib.rnn.EmbeddingWrapper")
class EmbeddingWrapper(_Around):
    """A cell whose inputs are numbers of classes, each of which has a vector that is learned.

    Args:
      cell: The cell.
      embedding_classes: The number of classes.
      embedding_size: The length of a vector.
      initializer: The initializer of the weights; that of the variable scope if None.
      reuse: Whether the variables of an earlier cell of the same scope are shared.

    Raises:
      ValueError: If a size is not positive.
    """

    def __init__(
        self,
        cell: RNNCell,
        embedding_classes: int,
        embedding_size: int,
        initializer: InitializerLike | None = None,
        reuse: bool | None = None,
    ):
        super().__init__(cell, reuse)
        if embedding_classes <= 0 or embedding_size <= 0:
            raise ValueError(
                "Both embedding_classes and embedding_size must be > 0: "
                f"{embedding_classes}, {embedding_size}."
            )
        self._embedding_classes = embedding_classes
        self._embedding_size = embedding_size
        self._initializer = initializer

    def call(self, inputs: Tensor, state: Any) -> tuple[Any, Any]:
        bound = math.sqrt(3)  # a variance of 1
        with device("/cpu:0"):
            initializer = self._initializer or scopes.get_variable_scope().initializer
            embedding = scopes.get_variable(
                "embedding",
                [self._embedding_classes, self._embedding_size],
                initializer=initializer or initializers.RandomUniform(-bound, bound),
                dtype=(state[0] if isinstance(state, tuple) else state).dtype,
            )
            embedded = embeddings.embedding_lookup(embedding, shapes.reshape(inputs, [-1]))
            return self._cell(embedded, state)


@export("contrib.rnn.InputProjectionWrapper")
class InputProjectionWrapper(_Around):
    """A linear layer before a cell.

    Args:
      cell: The cell.
      num_proj: The size that inputs are projected to.
      activation: The activation of the layer; None for none.
      input_size: Ignored: the size of the input is found from the first one.
      reuse: Whether the variables of an earlier cell of the same scope are shared.
    """

    def __init__(
        self,
        cell: RNNCell,
        num_proj: int,
        activation: Callable | None = None,
        input_size: int | None = None,
        reuse: bool | None = None,
    ):
        super().__init__(cell, reuse)
        if input_size is not None:
            logging.warn("%s: The input_size parameter is deprecated.", self)
        self._num_proj = num_proj
        self._activation = activation
        self._linear: Linear | None = None

    def call(self, inputs: Tensor, state: Any) -> tuple[Any, Any]:
        self._linear = self._linear or Linear(inputs, self._num_proj, True)
        projected = self._linear(inputs)
        return self._cell(self._activation(projected) if self._activation else projected, state)


@export("contrib.rnn.OutputProjectionWrapper")
class OutputProjectionWrapper(_Around):
    """A linear layer after a cell.

    Args:
      cell: The cell.
      output_size: The size that outputs are projected to.
      activation: The activation of the layer; None for none.
      reuse: Whether the variables of an earlier cell of the same scope are shared.
    """

    def __init__(
        self, cell: RNNCell, output_size: int, activation: Callable | None = None, reuse: bool | None = None
    ):
        super().__init__(cell, reuse)
        if output_size < 1:
            raise ValueError(f"Parameter output_size must be > 0: {output_size}.")
        self._output_size = output_size
        self._activation = activation
        self._linear: Linear | None = None

    @property
    def output_size(self) -> int:
        return self._output_size

    def call(self, inputs: Tensor, state: Any) -> tuple[Any, Any]:
        output, new_state = self._cell(inputs, state)
        self._linear = self._linear or Linear(output, self._output_size, True)
        projected = self._linear(output)
        return self._activation(projected) if self._activation else projected, new_state


@export("contrib.rnn.HighwayWrapper")
class HighwayWrapper(_Around):
    """A learned mixture of a cell's inputs and its outputs (Srivastava et al., 2015).

    Args:
      cell: The cell.
      couple_carry_transform_gates: Whether the share of outputs is one less that of inputs; if not, it has a
        gate of its own.
      carry_bias_init: The initial bias of the gate of the inputs.
    """

    def __init__(
        self, cell: RNNCell, couple_carry_transform_gates: bool = True, carry_bias_init: float = 1.0
    ):
        super().__init__(cell)
        self._couple_carry_transform_gates = couple_carry_transform_gates
        self._carry_bias_init = carry_bias_init

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        outputs, new_state = self._cell(inputs, state, scope=scope)
        assert_alike(inputs, outputs)
        return nest.map_structure(self._highway, inputs, outputs), new_state

    def _highway(self, inputs: Tensor, outputs: Tensor) -> Tensor:
        carry = _gate(inputs, "carry", self._carry_bias_init)
        if self._couple_carry_transform_gates:
            transform = 1 - carry
        else:
            transform = _gate(inputs, "transform", -self._carry_bias_init)
        return inputs * carry + outputs * transform


def _gate(inputs: Tensor, name: str, bias: float) -> Tensor:
    width = inputs.shape.with_rank(2).as_list()[1]
    weights = scopes.get_variable(f"{name}_w", [width, width])
    biases = scopes.get_variable(f"{name}_b", [width], initializer=initializers.Constant(bias))
    return unary.sigmoid(functions.xw_plus_b(inputs, weights, biases))


@export("contrib.rnn.AttentionCellWrapper")
class AttentionCellWrapper(RNNCell):
    """Attention over the last `attn_length` outputs of a cell (Bahdanau et al., 2014).

    Args:
      cell: The cell.
      attn_length: The number of outputs that are attended to.
      attn_size: The size of an attention; the cell's output size if None.
      attn_vec_size: The number of attention's features; `attn_size` if None.
      input_size: The size of what the cell is given; that of the input if None.
      state_is_tuple: Whether the state is a tuple of the cell's state, attentions and attended outputs; if
        not, one tensor.
      reuse: Whether the variables of an earlier cell of the same scope are shared.
    """

    def __init__(
        self,
        cell: RNNCell,
        attn_length: int,
        attn_size: int | None = None,
        attn_vec_size: int | None = None,
        input_size: int | None = None,
        state_is_tuple: bool = True,
        reuse: bool | None = None,
    ):
        super().__init__(_reuse=reuse)
        assert_like_rnncell("cell", cell)
        if nest.is_nested(cell.state_size) and not state_is_tuple:
            raise ValueError(
                "Cell returns tuple of states, but the flag state_is_tuple is not set. State size is: "
                f"{cell.state_size}"
            )
        if attn_length <= 0:
            raise ValueError(f"attn_length should be greater than zero, got {attn_length}")
        warn_of_joined_state(self, state_is_tuple)
        self._cell = cell
        self._state_is_tuple = state_is_tuple
        self._attn_size = cell.output_size if attn_size is None else attn_size
        self._attn_vec_size = self._attn_size if attn_vec_size is None else attn_vec_size
        self._attn_length = attn_length
        self._input_size = input_size
        self._linear: dict[str, Linear] = {}

    @property
    def state_size(self) -> Any:
        size = (self._cell.state_size, self._attn_size, self._attn_size * self._attn_length)
        return size if self._state_is_tuple else sum(size)

    @property
    def output_size(self) -> int:
        return self._attn_size

    def _apply(self, name: str, args: Any, size: int) -> Tensor:
        """A linear layer, made on its first use."""
        if name not in self._linear:
            self._linear[name] = Linear(args, size, True)
        return self._linear[name](args)

    def call(self, inputs: Tensor, state: Any) -> tuple[Tensor, Any]:
        state, attended, outputs = state if self._state_is_tuple else self._parts(state)
        outputs = shapes.reshape(outputs, [-1, self._attn_length, self._attn_size])
        input_size = inputs.shape.as_list()[1] if self._input_size is None else self._input_size
        inputs = self._apply("input", [inputs, attended], input_size)
        output, new_state = self._cell(inputs, state)
        query = joining.concat(nest.flatten(new_state), 1) if self._state_is_tuple else new_state
        attended, later = self._attention(query, outputs)
        with scopes.variable_scope("attn_output_projection"):
            output = self._apply("output", [output, attended], self._attn_size)
        outputs = joining.concat([later, shapes.expand_dims(output, 1)], 1)
        outputs = shapes.reshape(outputs, [-1, self._attn_length * self._attn_size])
        new_state = (new_state, attended, outputs)
        return output, new_state if self._state_is_tuple else joining.concat(list(new_state), 1)

    def _parts(self, state: Tensor) -> list[Tensor]:
        sizes = [self._cell.state_size, self._attn_size, self._attn_size * self._attn_length]
        starts = [0, sizes[0], sizes[0] + sizes[1]]
        return [slicing.slice(state, [0, start], [-1, size]) for start, size in zip(starts, sizes)]

    def _attention(self, query: Tensor, outputs: Tensor) -> tuple[Tensor, Tensor]:
        """What of the last outputs the query asks for, and those outputs but the oldest."""
        length, size, vec_size = self._attn_length, self._attn_size, self._attn_vec_size
        with scopes.variable_scope("attention"):
            k = scopes.get_variable("attn_w", [1, 1, size, vec_size])
            v = scopes.get_variable("attn_v", [vec_size])
            hidden = shapes.reshape(outputs, [-1, length, 1, size])
            features = convolution.conv2d(hidden, k, [1, 1, 1, 1], "SAME")
            y = shapes.reshape(self._apply("query", query, vec_size), [-1, 1, 1, vec_size])
            weights = softmax.softmax(reductions.reduce_sum(v * unary.tanh(features + y), [2, 3]))
            weighted = shapes.reshape(weights, [-1, length, 1, 1]) * hidden
            attended = shapes.reshape(reductions.reduce_sum(weighted, [1, 2]), [-1, size])
            return attended, slicing.slice(outputs, [0, 1, 0], [-1, -1, -1])
