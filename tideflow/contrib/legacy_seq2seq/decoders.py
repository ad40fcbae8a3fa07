"""Decoders: a cell along a list of inputs, or along its own outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tideflow.export import export
from tideflow.graph import nest
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.nn import embeddings, functions
from tideflow.ops.arrays import constants
from tideflow.ops.control_flow import conditionals
from tideflow.ops.math import positions
from tideflow.variables import variable_scope as scopes


@export("contrib.legacy_seq2seq.rnn_decoder")
def rnn_decoder(
    decoder_inputs: Iterable[Tensor],
    initial_state: Any,
    cell: Any,
    loop_function: Callable | None = None,
    scope: Any = None,
) -> tuple[list[Tensor], Any]:
    """Runs a cell along a list of inputs.

    Args:
      decoder_inputs: The input of each step, [batch, size].
      initial_state: The state before the first step.
      cell: The cell.
      loop_function: Makes the input of a step from the output before and the number of the step. Only the
        first input is used then.
      scope: The variable scope; `rnn_decoder` if None.

    Returns:
      The list of outputs, and the last state.
    """
    with scopes.variable_scope(scope or "rnn_decoder"):
        state, outputs = initial_state, []
        for step, given in enumerate(decoder_inputs):
            if loop_function is not None and outputs:
                given = fed_back(loop_function, outputs[-1], step)
            if step > 0:
                scopes.get_variable_scope().reuse_variables()
            output, state = cell(given, state)
            outputs.append(output)
    return outputs, state


def fed_back(loop_function: Callable, output: Tensor, step: int) -> Tensor:
    """The input of a step, made from the output of the step before."""
    with scopes.variable_scope("loop_function", reuse=True):
        return loop_function(output, step)


@export("contrib.legacy_seq2seq.embedding_rnn_decoder")
def embedding_rnn_decoder(
    decoder_inputs: list[Any],
    initial_state: Any,
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    output_projection: tuple[Any, Any] | None = None,
    feed_previous: bool = False,
    update_embedding_for_previous: bool = True,
    scope: Any = None,
) -> tuple[list[Tensor], Any]:
    """Runs a cell along a list of symbols, each of which has a vector that is learned.

    Args:
      decoder_inputs: The symbols of each step, int32, [batch].
      initial_state: The state before the first step.
      cell: The cell.
      num_symbols: How many symbols there are.
      embedding_size: The length of their vectors.
      output_projection: Weights and biases that make scores of symbols from outputs, if outputs are not that.
      feed_previous: Whether a step is given the best symbol of the step before, instead of its input.
      update_embedding_for_previous: Whether the vectors of fed-back symbols learn.
      scope: The variable scope; `embedding_rnn_decoder` if None.

    Returns:
      The list of outputs, and the last state.
    """
    with scopes.variable_scope(scope or "embedding_rnn_decoder") as scope:
        if output_projection is not None:
            check_projection(output_projection, num_symbols, scope.dtype)
        embedding = scopes.get_variable("embedding", [num_symbols, embedding_size])
        loop_function = None
        if feed_previous:
            loop_function = best_symbol_again(embedding, output_projection, update_embedding_for_previous)
        # Looked up step by step: what stands in the graph is in the order of the steps.
        inputs = (embeddings.embedding_lookup(embedding, each) for each in decoder_inputs)
        return rnn_decoder(inputs, initial_state, cell, loop_function=loop_function)


def check_projection(output_projection: tuple[Any, Any], num_symbols: int, dtype: Any) -> None:
    """Raises ValueError unless an output projection makes a score for each symbol."""
    weights = convert_to_tensor(output_projection[0], dtype=dtype)
    weights.get_shape().assert_is_compatible_with([None, num_symbols])
    biases = convert_to_tensor(output_projection[1], dtype=dtype)
    biases.get_shape().assert_is_compatible_with([num_symbols])


def best_symbol_again(
    embedding: Any, output_projection: tuple[Any, Any] | None, update_embedding: bool
) -> Callable:
    """A loop function: the vector of the symbol that the output before gives the highest score."""

    def loop_function(output: Tensor, _: int) -> Tensor:
        if output_projection is not None:
            output = functions.xw_plus_b(output, *output_projection)
        vector = embeddings.embedding_lookup(embedding, positions.argmax(output, 1))
        return vector if update_embedding else constants.stop_gradient(vector)

    return loop_function


def fed_back_or_not(
    feed_previous: Any, decode: Callable[[bool], tuple[list[Tensor], Any]], steps: int, state_like: Any
) -> tuple[list[Tensor], Any]:
    """What `decode` makes, given a tensor that says in each step of training whether outputs are fed back.

    Both decoders stand in the graph, with the same variables.
    """

    def flat(back: bool) -> list[Tensor]:
        reuse = None if back else True
        with scopes.variable_scope(scopes.get_variable_scope(), reuse=reuse):
            outputs, state = decode(back)
        return outputs + nest.flatten(state)

    results = conditionals.cond(feed_previous, lambda: flat(True), lambda: flat(False))
    outputs, state = results[:steps], results[steps:]
    return outputs, nest.pack_sequence_as(state_like, state) if nest.is_nested(state_like) else state[0]
