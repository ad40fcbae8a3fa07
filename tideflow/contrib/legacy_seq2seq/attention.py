"""Decoders that look at all steps of the encoder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tideflow.contrib.legacy_seq2seq import decoders
from tideflow.contrib.rnn.wrappers import Linear
from tideflow.export import export
from tideflow.graph import dtypes, nest
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.shapes import dimension_value
from tideflow.nn import embeddings
from tideflow.ops.arrays import creation, joining, shapes
from tideflow.ops.math import casting, reductions, unary
from tideflow.ops.nn import convolution, softmax
from tideflow.variables import variable_scope as scopes


class _Attention:
    """Attention to a sequence of states, [batch, length, size], by some heads (Bahdanau et al., 2014)."""

    def __init__(self, states: Tensor, num_heads: int, dtype: Any):
        length, self.size = states.shape.as_list()[1:]
        self.length = shapes.shape(states)[1] if length is None else length
        self.dtype = dtype
        self.hidden = shapes.reshape(states, [-1, self.length, 1, self.size])
        self.features: list[Tensor] = []
        self.weights: list[Any] = []
        for head in range(num_heads):
            kernel = scopes.get_variable(f"AttnW_{head}", [1, 1, self.size, self.size], dtype=dtype)
            self.features.append(convolution.conv2d(self.hidden, kernel, [1, 1, 1, 1], "SAME"))
            self.weights.append(scopes.get_variable(f"AttnV_{head}", [self.size], dtype=dtype))

    def __call__(self, state: Any) -> list[Tensor]:
        """What each head reads, for a state of the decoder."""
        if nest.is_nested(state):
            state = joining.concat(nest.flatten(state), 1)
        return [self._read(head, state) for head in range(len(self.weights))]

    def _read(self, head: int, state: Tensor) -> Tensor:
        with scopes.variable_scope(f"Attention_{head}"):
            query = Linear(state, self.size, True)(state)
            query = shapes.reshape(query, [-1, 1, 1, self.size])
            query = casting.cast(query, self.dtype)
            energies = self.weights[head] * unary.tanh(self.features[head] + query)
            scores = reductions.reduce_sum(energies, [2, 3])
            shares = softmax.softmax(casting.cast(scores, dtype=dtypes.float32))
            shares = shapes.reshape(casting.cast(shares, self.dtype), [-1, self.length, 1, 1])
            read = reductions.reduce_sum(shares * self.hidden, [1, 2])
            return shapes.reshape(read, [-1, self.size])


@export("contrib.legacy_seq2seq.attention_decoder")
def attention_decoder(
    decoder_inputs: list[Tensor],
    initial_state: Any,
    attention_states: Tensor,
    cell: Any,
    output_size: int | None = None,
    num_heads: int = 1,
    loop_function: Callable | None = None,
    dtype: Any = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> tuple[list[Tensor], Any]:
    """Runs a cell along a list of inputs; each step also sees what it attends to.

    Args:
      decoder_inputs: The input of each step, [batch, size].
      initial_state: The state before the first step.
      attention_states: What can be attended to, [batch, length, size].
      cell: The cell.
      output_size: The length of outputs; that of the cell's if None.
      num_heads: How many heads read the attention states.
      loop_function: Makes the input of a step from the output before and the number of the step.
      dtype: The type of the variables; that of the scope if None.
      scope: The variable scope; `attention_decoder` if None.
      initial_state_attention: Whether the first step attends by the initial state; it sees zeros otherwise.

    Returns:
      The list of outputs, and the last state.

    Raises:
      ValueError: If there are no inputs or heads, or sizes are unknown that must be known.
    """
    if not decoder_inputs:
        raise ValueError("Must provide at least 1 input to attention decoder.")
    if num_heads < 1:
        raise ValueError("With less than 1 heads, use a non-attention decoder.")
    if dimension_value(attention_states.shape[2]) is None:
        raise ValueError(f"Shape[2] of attention_states must be known: {attention_states.shape}")
    if output_size is None:
        output_size = cell.output_size
    with scopes.variable_scope(scope or "attention_decoder", dtype=dtype) as scope:
        dtype = scope.dtype
        batch_size = shapes.shape(decoder_inputs[0])[0]
        attention = _Attention(attention_states, num_heads, dtype)
        read = _read_nothing(batch_size, attention.size, num_heads, dtype)
        if initial_state_attention:
            read = attention(initial_state)
        state, outputs = initial_state, []
        for step, given in enumerate(decoder_inputs):
            if step > 0:
                scopes.get_variable_scope().reuse_variables()
            if loop_function is not None and outputs:
                given = decoders.fed_back(loop_function, outputs[-1], step)
            width = given.shape.with_rank(2)[1]
            if width.value is None:
                raise ValueError(f"Could not infer input size from input: {given.name}")
            mixed = [casting.cast(each, dtype) for each in [given, *read]]
            cell_output, state = cell(Linear(mixed, width, True)(mixed), state)
            if step == 0 and initial_state_attention:
                with scopes.variable_scope(scopes.get_variable_scope(), reuse=True):
                    read = attention(state)
            else:
                read = attention(state)
            with scopes.variable_scope("AttnOutputProjection"):
                mixed = [casting.cast(cell_output, dtype), *read]
                outputs.append(Linear(mixed, output_size, True)(mixed))
    return outputs, state


def _read_nothing(batch_size: Tensor, size: int, num_heads: int, dtype: Any) -> list[Tensor]:
    sizes = joining.stack([batch_size, size])
    nothing = [creation.zeros(sizes, dtype=dtype) for _ in range(num_heads)]
    for each in nothing:
        each.set_shape([None, size])
    return nothing


@export("contrib.legacy_seq2seq.embedding_attention_decoder")
def embedding_attention_decoder(
    decoder_inputs: list[Any],
    initial_state: Any,
    attention_states: Tensor,
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    num_heads: int = 1,
    output_size: int | None = None,
    output_projection: tuple[Any, Any] | None = None,
    feed_previous: bool = False,
    update_embedding_for_previous: bool = True,
    dtype: Any = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> tuple[list[Tensor], Any]:
    """`attention_decoder` along a list of symbols, each of which has a vector that is learned.

    Args:
      decoder_inputs: The symbols of each step, int32, [batch].
      initial_state: The state before the first step.
      attention_states: What can be attended to, [batch, length, size].
      cell: The cell.
      num_symbols: How many symbols there are.
      embedding_size: The length of their vectors.
      num_heads: How many heads read the attention states.
      output_size: The length of outputs; that of the cell's if None.
      output_projection: Weights and biases that make scores of symbols from outputs, if outputs are not that.
      feed_previous: Whether a step is given the best symbol of the step before, instead of its input.
      update_embedding_for_previous: Whether the vectors of fed-back symbols learn.
      dtype: The type of the variables; that of the scope if None.
      scope: The variable scope; `embedding_attention_decoder` if None.
      initial_state_attention: Whether the first step attends by the initial state.

    Returns:
      The list of outputs, and the last state.

    Raises:
      ValueError: If the output projection does not fit.
    """
    if output_size is None:
        output_size = cell.output_size
    if output_projection is not None:
        biases = convert_to_tensor(output_projection[1], dtype=dtype)
        biases.get_shape().assert_is_compatible_with([num_symbols])
    with scopes.variable_scope(scope or "embedding_attention_decoder", dtype=dtype):
        embedding = scopes.get_variable("embedding", [num_symbols, embedding_size])
        loop_function = None
        if feed_previous:
            loop_function = decoders.best_symbol_again(
                embedding, output_projection, update_embedding_for_previous
            )
        return attention_decoder(
            [embeddings.embedding_lookup(embedding, each) for each in decoder_inputs],
            initial_state,
            attention_states,
            cell,
            output_size=output_size,
            num_heads=num_heads,
            loop_function=loop_function,
            initial_state_attention=initial_state_attention,
        )
