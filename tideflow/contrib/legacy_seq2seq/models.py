"""Encoders and decoders together."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tideflow.contrib.legacy_seq2seq import attention, decoders
from tideflow.contrib.rnn.wrappers import EmbeddingWrapper, OutputProjectionWrapper
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.operation import Tensor
from tideflow.nn import embeddings
from tideflow.ops.arrays import joining, shapes
from tideflow.rnn import loops
from tideflow.rnn.cells import RNNCell
from tideflow.variables import variable_scope as scopes

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("contrib.legacy_seq2seq.basic_rnn_seq2seq")
def basic_rnn_seq2seq(
    encoder_inputs: list[Tensor],
    decoder_inputs: list[Tensor],
    cell: Any,
    dtype: Any = dtypes.float32,
    scope: Any = None,
) -> tuple[list[Tensor], Any]:
    """A cell reads the encoder's inputs; another like it begins with its last state.

    Args:
      encoder_inputs: The input of each step of the encoder, [batch, size].
      decoder_inputs: The input of each step of the decoder, [batch, size].
      cell: The decoder's cell; the encoder has a copy.
      dtype: The type of the encoder's initial state.
      scope: The variable scope; `basic_rnn_seq2seq` if None.

    Returns:
      The list of the decoder's outputs, and its last state.
    """
    with scopes.variable_scope(scope or "basic_rnn_seq2seq"):
        _, state = loops.static_rnn(copy.deepcopy(cell), encoder_inputs, dtype=dtype)
        return decoders.rnn_decoder(decoder_inputs, state, cell)


@export("contrib.legacy_seq2seq.tied_rnn_seq2seq")
def tied_rnn_seq2seq(
    encoder_inputs: list[Tensor],
    decoder_inputs: list[Tensor],
    cell: Any,
    loop_function: Callable | None = None,
    dtype: Any = dtypes.float32,
    scope: Any = None,
) -> tuple[list[Tensor], Any]:
    """One cell, with one set of variables, is encoder and decoder.

    Args:
      encoder_inputs: The input of each step of the encoder, [batch, size].
      decoder_inputs: The input of each step of the decoder, [batch, size].
      cell: The cell.
      loop_function: Makes the input of a step from the output before and the number of the step.
      dtype: The type of the initial state.
      scope: The variable scope; `tied_rnn_seq2seq` if None.

    Returns:
      The list of the decoder's outputs, and its last state.
    """
    with scopes.variable_scope("combined_tied_rnn_seq2seq"):
        scope = scope or "tied_rnn_seq2seq"
        _, state = loops.static_rnn(cell, encoder_inputs, dtype=dtype, scope=scope)
        scopes.get_variable_scope().reuse_variables()
        return decoders.rnn_decoder(decoder_inputs, state, cell, loop_function=loop_function, scope=scope)


@export("contrib.legacy_seq2seq.embedding_rnn_seq2seq")
def embedding_rnn_seq2seq(
    encoder_inputs: list[Tensor],
    decoder_inputs: list[Tensor],
    cell: Any,
    num_encoder_symbols: int,
    num_decoder_symbols: int,
    embedding_size: int,
    output_projection: tuple[Any, Any] | None = None,
    feed_previous: TensorLike = False,
    dtype: Any = None,
    scope: Any = None,
) -> tuple[list[Tensor], Any]:
    """From symbols to symbols; encoder and decoder have vectors of their own for them.

    Args:
      encoder_inputs: The symbols of each step of the encoder, int32, [batch].
      decoder_inputs: The symbols of each step of the decoder, int32, [batch].
      cell: The decoder's cell; the encoder has a copy.
      num_encoder_symbols: How many symbols the encoder knows.
      num_decoder_symbols: How many symbols the decoder knows.
      embedding_size: The length of their vectors.
      output_projection: Weights and biases that make scores of symbols from outputs; without them, a layer is
        added that makes outputs the scores.
      feed_previous: Whether a step of the decoder is given the best symbol of the step before, instead of its
        input; a bool, or a scalar bool tensor.
      dtype: The type of the encoder's initial state; that of the scope if None.
      scope: The variable scope; `embedding_rnn_seq2seq` if None.

    Returns:
      The list of the decoder's outputs, and its last state.
    """
    with scopes.variable_scope(scope or "embedding_rnn_seq2seq") as scope:
        if dtype is not None:
            scope.set_dtype(dtype)
        encoder = EmbeddingWrapper(copy.deepcopy(cell), num_encoder_symbols, embedding_size)
        _, encoded = loops.static_rnn(encoder, encoder_inputs, dtype=dtype or scope.dtype)
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)
        return _embedding_decoder(
            decoder_inputs,
            encoded,
            cell,
            num_decoder_symbols,
            embedding_size,
            output_projection,
            feed_previous,
            update_if_chosen=False,
        )


def _embedding_decoder(
    decoder_inputs: list[Tensor],
    encoded: Any,
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    output_projection: tuple[Any, Any] | None,
    feed_previous: Any,
    update_if_chosen: bool,
) -> tuple[list[Tensor], Any]:
    """`embedding_rnn_decoder`; `feed_previous` may be a tensor, and then `update_if_chosen` says whether
    the vectors of fed-back symbols learn."""

    def decode(back: bool, update: bool) -> tuple[list[Tensor], Any]:
        return decoders.embedding_rnn_decoder(
            decoder_inputs,
            encoded,
            cell,
            num_symbols,
            embedding_size,
            output_projection=output_projection,
            feed_previous=back,
            update_embedding_for_previous=update,
        )

    if isinstance(feed_previous, bool):
        return decode(feed_previous, True)
    return decoders.fed_back_or_not(
        feed_previous, lambda back: decode(back, update_if_chosen), len(decoder_inputs), encoded
    )


@export("contrib.legacy_seq2seq.embedding_tied_rnn_seq2seq")
def embedding_tied_rnn_seq2seq(
    encoder_inputs: list[Tensor],
    decoder_inputs: list[Tensor],
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    num_decoder_symbols: int | None = None,
    output_projection: tuple[Any, Any] | None = None,
    feed_previous: TensorLike = False,
    dtype: Any = None,
    scope: Any = None,
) -> tuple[list[Tensor], Any]:
    """From symbols to symbols; encoder and decoder share the cell and the symbols' vectors.

    Args:
      encoder_inputs: The symbols of each step of the encoder, int32, [batch].
      decoder_inputs: The symbols of each step of the decoder, int32, [batch].
      cell: The cell.
      num_symbols: How many symbols there are.
      embedding_size: The length of their vectors.
      num_decoder_symbols: How many of them the decoder may make; all if None.
      output_projection: Weights and biases that make scores of symbols from outputs; without them, a layer is
        added that makes outputs the scores.
      feed_previous: Whether a step of the decoder is given the best symbol of the step before, instead of its
        input; a bool, or a scalar bool tensor.
      dtype: The type of the variables and of the initial state; that of the scope if None.
      scope: The variable scope; `embedding_tied_rnn_seq2seq` if None.

    Returns:
      The list of the decoder's outputs, and its last state.

    Raises:
      ValueError: If the output projection does not fit.
    """
    with scopes.variable_scope(scope or "embedding_tied_rnn_seq2seq", dtype=dtype) as scope:
        dtype = scope.dtype
        if output_projection is not None:
            decoders.check_projection(output_projection, num_symbols, dtype)
        embedding = scopes.get_variable("embedding", [num_symbols, embedding_size], dtype=dtype)
        sources = [embeddings.embedding_lookup(embedding, each) for each in encoder_inputs]
        inputs = [embeddings.embedding_lookup(embedding, each) for each in decoder_inputs]
        if output_projection is None:
            made = num_symbols if num_decoder_symbols is None else num_decoder_symbols
            cell = OutputProjectionWrapper(cell, made)

        def decode(back: bool, update: bool) -> tuple[list[Tensor], Any]:
            loop = decoders.best_symbol_again(embedding, output_projection, update) if back else None
            return tied_rnn_seq2seq(sources, inputs, cell, loop_function=loop, dtype=dtype)

        if isinstance(feed_previous, bool):
            return decode(feed_previous, True)
        return decoders.fed_back_or_not(
            feed_previous, lambda back: decode(back, False), len(decoder_inputs), cell.state_size
        )


@export("contrib.legacy_seq2seq.embedding_attention_seq2seq")
def embedding_attention_seq2seq(
    encoder_inputs: list[Tensor],
    decoder_inputs: list[Tensor],
    cell: Any,
    num_encoder_symbols: int,
    num_decoder_symbols: int,
    embedding_size: int,
    num_heads: int = 1,
    output_projection: tuple[Any, Any] | None = None,
    feed_previous: TensorLike = False,
    dtype: Any = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> tuple[list[Tensor], Any]:
    """From symbols to symbols; each step of the decoder attends to the encoder's outputs.

    Args:
      encoder_inputs: The symbols of each step of the encoder, int32, [batch].
      decoder_inputs: The symbols of each step of the decoder, int32, [batch].
      cell: The decoder's cell; the encoder has a copy.
      num_encoder_symbols: How many symbols the encoder knows.
      num_decoder_symbols: How many symbols the decoder knows.
      embedding_size: The length of their vectors.
      num_heads: How many heads read the encoder's outputs.
      output_projection: Weights and biases that make scores of symbols from outputs; without them, a layer is
        added that makes outputs the scores.
      feed_previous: Whether a step of the decoder is given the best symbol of the step before, instead of its
        input; a bool, or a scalar bool tensor.
      dtype: The type of the variables and of the initial state; that of the scope if None.
      scope: The variable scope; `embedding_attention_seq2seq` if None.
      initial_state_attention: Whether the first step attends by the encoder's state.

    Returns:
      The list of the decoder's outputs, and its last state.
    """
    with scopes.variable_scope(scope or "embedding_attention_seq2seq", dtype=dtype) as scope:
        encoder = EmbeddingWrapper(copy.deepcopy(cell), num_encoder_symbols, embedding_size)
        outputs, encoded = loops.static_rnn(encoder, encoder_inputs, dtype=scope.dtype)
        tops = [shapes.reshape(each, [-1, 1, cell.output_size]) for each in outputs]
        states = joining.concat(tops, 1)
        output_size = None
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)
            output_size = num_decoder_symbols

        def decode(back: bool, update: bool) -> tuple[list[Tensor], Any]:
            return attention.embedding_attention_decoder(
                decoder_inputs,
                encoded,
                states,
                cell,
                num_decoder_symbols,
                embedding_size,
                num_heads=num_heads,
                output_size=output_size,
                output_projection=output_projection,
                feed_previous=back,
                update_embedding_for_previous=update,
                initial_state_attention=initial_state_attention,
            )

        if isinstance(feed_previous, bool):
            return decode(feed_previous, True)
        return decoders.fed_back_or_not(
            feed_previous, lambda back: decode(back, False), len(decoder_inputs), encoded
        )


@export("contrib.legacy_seq2seq.one2many_rnn_seq2seq")
def one2many_rnn_seq2seq(
    encoder_inputs: list[Tensor],
    decoder_inputs_dict: dict[Any, list[Tensor]],
    enc_cell: Any,
    dec_cells_dict: dict[Any, Any],
    num_encoder_symbols: int,
    num_decoder_symbols_dict: dict[Any, int],
    embedding_size: int,
    feed_previous: TensorLike = False,
    dtype: Any = None,
    scope: Any = None,
) -> tuple[dict[Any, list[Tensor]], dict[Any, Any]]:
    """From symbols to symbols: one encoder, and a decoder for each of several tasks.

    Args:
      encoder_inputs: The symbols of each step of the encoder, int32, [batch].
      decoder_inputs_dict: For each task the symbols of each step of its decoder.
      enc_cell: The encoder's cell.
      dec_cells_dict: The cell of each task's decoder.
      num_encoder_symbols: How many symbols the encoder knows.
      num_decoder_symbols_dict: How many symbols each task's decoder knows.
      embedding_size: The length of the symbols' vectors.
      feed_previous: Whether a step of a decoder is given the best symbol of the step before, instead of its
        input; a bool, or a scalar bool tensor.
      dtype: The type of the initial state; that of the scope if None.
      scope: The variable scope; `one2many_rnn_seq2seq` if None.

    Returns:
      For each task the list of outputs, and for each task the last state.

    Raises:
      TypeError: If a cell is not a cell.
      ValueError: If the tasks of cells and of inputs are not the same.
    """
    if not isinstance(enc_cell, RNNCell):
        raise TypeError(f"enc_cell is not an RNNCell: {type(enc_cell)}")
    if set(dec_cells_dict) != set(decoder_inputs_dict):
        raise ValueError(
            "keys of dec_cells_dict != keys of decodre_inputs_dict: "
            f"{sorted(map(str, dec_cells_dict))} and {sorted(map(str, decoder_inputs_dict))}"
        )
    for cell in dec_cells_dict.values():
        if not isinstance(cell, RNNCell):
            raise TypeError(f"dec_cell is not an RNNCell: {type(cell)}")
    outputs, states = {}, {}
    with scopes.variable_scope(scope or "one2many_rnn_seq2seq", dtype=dtype) as scope:
        encoder = EmbeddingWrapper(enc_cell, num_encoder_symbols, embedding_size)
        _, encoded = loops.static_rnn(encoder, encoder_inputs, dtype=scope.dtype)
        for task, decoder_inputs in decoder_inputs_dict.items():
            symbols = num_decoder_symbols_dict[task]
            with scopes.variable_scope(f"one2many_decoder_{task}"):
                outputs[task], states[task] = _embedding_decoder(
                    decoder_inputs,
                    encoded,
                    OutputProjectionWrapper(dec_cells_dict[task], symbols),
                    symbols,
                    embedding_size,
                    None,
                    feed_previous,
                    update_if_chosen=True,
                )
    return outputs, states
