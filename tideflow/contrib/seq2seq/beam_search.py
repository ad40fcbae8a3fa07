"""BeamSearchDecoder: of each row the most likely sequences, several at a time."""

from __future__ import annotations

import collections
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.contrib.seq2seq.attention_wrapper import AttentionWrapperState
from tideflow.contrib.seq2seq.basic_decoder import check_layer
from tideflow.contrib.seq2seq.beams import (
    gather_beams,
    has_rows,
    known,
    merge_batch_beams,
    sorted_array,
    split_batch_beams,
)
from tideflow.contrib.seq2seq.decoder import BaseDecoder, Decoder
from tideflow.contrib.seq2seq.helpers import embedding_function
from tideflow.export import export
from tideflow.graph import dtypes, nest
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import constant_value
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.layers.scoped import Layer
from tideflow.ops.arrays import creation, indexing, joining, ranking, shapes, tiling
from tideflow.ops.control_flow.conditionals import cond
from tideflow.ops.math import binary, casting, reductions, unary
from tideflow.ops.nn import softmax
from tideflow.ops.nn.gather_tree import gather_tree
from tideflow.rnn.cells import assert_like_rnncell

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike
    from tideflow.rnn.cells import RNNCell


@export("contrib.seq2seq.BeamSearchDecoderState")
class BeamSearchDecoderState(
    collections.namedtuple(
        "BeamSearchDecoderState",
        ("cell_state", "log_probs", "finished", "lengths", "accumulated_attention_probs"),
    )
):
    """What is known of each beam between steps.

    Args:
      cell_state: The state of the cell.
      log_probs: The logarithm of each beam's probability, a tensor [batch, beams].
      finished: Which beams are finished.
      lengths: The length of each beam.
      accumulated_attention_probs: The sum of attentions so far, for the coverage penalty.
    """

    __slots__ = ()


@export("contrib.seq2seq.BeamSearchDecoderOutput")
class BeamSearchDecoderOutput(
    collections.namedtuple("BeamSearchDecoderOutput", ("scores", "predicted_ids", "parent_ids"))
):
    """What a step chose, all of shape [batch, beams].

    Args:
      scores: The scores of the beams.
      predicted_ids: The words.
      parent_ids: The beams that they continue.
    """

    __slots__ = ()


@export("contrib.seq2seq.FinalBeamSearchDecoderOutput")
class FinalBeamSearchDecoderOutput(
    collections.namedtuple("FinalBeamDecoderOutput", ("predicted_ids", "beam_search_decoder_output"))
):
    """What a beam search found.

    Args:
      predicted_ids: The sequences of each row, best first.
      beam_search_decoder_output: What the steps chose.
    """

    __slots__ = ()


class _BeamSearch:
    """What decoders of both kinds do: they keep the `beam_width` best beginnings of each row."""

    def _take_options(
        self,
        cell: Any,
        beam_width: int,
        output_layer: Layer | None,
        length_penalty_weight: TensorLike,
        coverage_penalty_weight: TensorLike,
        reorder_tensor_arrays: bool,
    ) -> None:
        assert_like_rnncell("cell", cell)
        check_layer(output_layer)
        self._cell = cell
        self._output_layer = output_layer
        self._reorder_tensor_arrays = reorder_tensor_arrays
        self._beam_width = beam_width
        self._length_penalty_weight = length_penalty_weight
        self._coverage_penalty_weight = coverage_penalty_weight

    def _take_start(self, start_tokens: TensorLike, end_token: TensorLike, initial_state: Any) -> None:
        """Keeps the beams before the first step, whose vectors are those of `_embedding_fn`."""
        self._start_tokens = convert_to_tensor(start_tokens, dtype=dtypes.int32, name="start_tokens")
        if self._start_tokens.shape.ndims != 1:
            raise ValueError("start_tokens must be a vector")
        self._end_token = convert_to_tensor(end_token, dtype=dtypes.int32, name="end_token")
        if self._end_token.shape.ndims != 0:
            raise ValueError("end_token must be a scalar")
        self._batch_size = shapes.size(start_tokens)
        self._initial_cell_state = nest.map_structure(self._split, initial_state, self._cell.state_size)
        self._start_tokens = tiling.tile(shapes.expand_dims(self._start_tokens, 1), [1, self._beam_width])
        self._start_inputs = self._embedding_fn(self._start_tokens)
        # All beams begin alike: only the first counts, lest all say the same.
        self._finished = creation.one_hot(
            creation.zeros([self._batch_size], dtype=dtypes.int32),
            depth=self._beam_width,
            on_value=False,
            off_value=True,
            dtype=dtypes.bool,
        )

    def _start(self) -> tuple[Tensor, Any, BeamSearchDecoderState]:
        """Which beams are finished, the first inputs and the first state."""
        dtype = self._score_dtype
        log_probs = creation.one_hot(
            creation.zeros([self._batch_size], dtype=dtypes.int32),
            depth=self._beam_width,
            on_value=convert_to_tensor(0.0, dtype=dtype),
            off_value=convert_to_tensor(-np.inf, dtype=dtype),
            dtype=dtype,
        )
        attention = attention_probs(self._initial_cell_state, self._coverage_penalty_weight)
        state = BeamSearchDecoderState(
            cell_state=self._initial_cell_state,
            log_probs=log_probs,
            finished=self._finished,
            lengths=creation.zeros([self._batch_size, self._beam_width], dtype=dtypes.int64),
            accumulated_attention_probs=() if attention is None else attention,
        )
        return self._finished, self._start_inputs, state

    @property
    def batch_size(self) -> Any:
        return self._batch_size

    @property
    def tracks_own_finished(self) -> bool:
        """Beams change places, and with them whether they are finished."""
        return True

    @property
    def output_size(self) -> BeamSearchDecoderOutput:
        return BeamSearchDecoderOutput(*(TensorShape([self._beam_width]) for _ in range(3)))

    @property
    def output_dtype(self) -> BeamSearchDecoderOutput:
        return BeamSearchDecoderOutput(self._score_dtype, dtypes.int32, dtypes.int32)

    @property
    def _score_dtype(self) -> dtypes.DType:
        """Of scores: the cell's outputs are taken to be of its state's type."""
        return nest.flatten(self._initial_cell_state)[0].dtype

    def _split(self, t: Any, size: Any) -> Any:
        return split_batch_beams(t, size, self._batch_size, self._beam_width) if has_rows(t) else t

    def _merge(self, t: Any, size: Any) -> Any:
        return merge_batch_beams(t, size, self._batch_size, self._beam_width) if has_rows(t) else t

    def step(
        self, time: Tensor, inputs: Any, state: BeamSearchDecoderState, name: str | None = None
    ) -> tuple[BeamSearchDecoderOutput, BeamSearchDecoderState, Any, Tensor]:
        with name_scope(name, "BeamSearchDecoderStep", [time]):
            sizes = self._cell.state_size
            inputs = nest.map_structure(lambda each: self._merge(each, each.shape[2:]), inputs)
            cell_state = nest.map_structure(self._merge, state.cell_state, sizes)
            outputs, cell_state = self._cell(inputs, cell_state)
            outputs = nest.map_structure(lambda each: self._split(each, each.shape[1:]), outputs)
            cell_state = nest.map_structure(self._split, cell_state, sizes)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            penalties = Penalties(self._length_penalty_weight, self._coverage_penalty_weight)
            search = Search(state, outputs, cell_state, self._batch_size, self._beam_width, self._end_token)
            chosen, next_state = search.step(penalties)
            next_inputs = cond(
                reductions.reduce_all(next_state.finished),
                lambda: self._start_inputs,  # nobody reads them any more
                lambda: self._embedding_fn(chosen.predicted_ids),
            )
        return chosen, next_state, next_inputs, next_state.finished

    def finalize(
        self, outputs: BeamSearchDecoderOutput, final_state: BeamSearchDecoderState, sequence_lengths: Tensor
    ) -> tuple[FinalBeamSearchDecoderOutput, BeamSearchDecoderState]:
        """Reads the sequences back from the last step; arrays of the cell's state get their order.

        Args:
          outputs: The outputs of all steps.
          final_state: The last state.
          sequence_lengths: The length of each row.

        Returns:
          A FinalBeamSearchDecoderOutput and the last state.
        """
        lengths = final_state.lengths
        longest = casting.cast(reductions.reduce_max(lengths, axis=1), dtypes.int32)
        predicted = gather_tree(outputs.predicted_ids, outputs.parent_ids, longest, end_token=self._end_token)
        if self._reorder_tensor_arrays:
            cell_state = nest.map_structure(
                lambda t: sorted_array(t, outputs.parent_ids, lengths, self._batch_size, self._beam_width),
                final_state.cell_state,
            )
            final_state = final_state._replace(cell_state=cell_state)
        return FinalBeamSearchDecoderOutput(predicted, outputs), final_state


@export("contrib.seq2seq.BeamSearchDecoder")
class BeamSearchDecoder(_BeamSearch, Decoder):
    """Keeps the `beam_width` best beginnings of each row; a beam that says `end_token` is finished.

    `initial_state` has `beam_width` rows for each row of the batch (see `tile_batch`). The length penalty
    (Wu et al., 2016) makes long sequences better, the coverage penalty those whose attention saw everything.

    Args:
      cell: The recurrent cell.
      embedding: The table of vectors, or a function from ids to vectors.
      start_tokens: The id that each row begins with, an int32 vector [batch].
      end_token: The id that ends a sequence, an int32 scalar.
      initial_state: The state of the cell at the start, with `beam_width` rows for each row of the batch
        (`tile_batch`).
      beam_width: The number of beams.
      output_layer: A layer that is applied to the cell's outputs; None for none.
      length_penalty_weight: How much longer sequences gain (Wu et al., 2016); 0 for nothing.
      coverage_penalty_weight: How much sequences lose whose attention left something out; 0 for nothing.
      reorder_tensor_arrays: Whether TensorArrays in the cell's state follow the beams at the end.
    """

    def __init__(
        self,
        cell: RNNCell,
        embedding: TensorLike | Callable,
        start_tokens: TensorLike,
        end_token: TensorLike,
        initial_state: Any,
        beam_width: int,
        output_layer: Layer | None = None,
        length_penalty_weight: TensorLike = 0.0,
        coverage_penalty_weight: TensorLike = 0.0,
        reorder_tensor_arrays: bool = True,
    ):
        penalties = (length_penalty_weight, coverage_penalty_weight)
        self._take_options(cell, beam_width, output_layer, *penalties, reorder_tensor_arrays)
        self._embedding_fn = embedding_function(embedding)
        self._take_start(start_tokens, end_token, initial_state)

    def initialize(self, name: str | None = None) -> tuple[Tensor, Any, BeamSearchDecoderState]:
        return self._start()


class BeamSearchDecoderV2(_BeamSearch, BaseDecoder):
    """The decoder as a layer: a call gives the table of vectors, the tokens and the first state.

    Args:
      cell: The recurrent cell.
      beam_width: The number of beams.
      embedding_fn: A function from ids to vectors, if calls give no table.
      output_layer: A layer that is applied to the cell's outputs; None for none.
      length_penalty_weight: How much longer sequences gain.
      coverage_penalty_weight: How much sequences lose whose attention left something out.
      reorder_tensor_arrays: Whether TensorArrays in the cell's state follow the beams at the end.
      kwargs: Arguments of the layer.
    """

    def __init__(
        self,
        cell: RNNCell,
        beam_width: int,
        embedding_fn: Callable | None = None,
        output_layer: Layer | None = None,
        length_penalty_weight: TensorLike = 0.0,
        coverage_penalty_weight: TensorLike = 0.0,
        reorder_tensor_arrays: bool = True,
        **kwargs: Any,
    ):
        if embedding_fn is not None and not callable(embedding_fn):
            raise ValueError(f"embedding_fn is expected to be a callable, got {type(embedding_fn)}")
        super().__init__(**kwargs)
        penalties = (length_penalty_weight, coverage_penalty_weight)
        self._take_options(cell, beam_width, output_layer, *penalties, reorder_tensor_arrays)
        self._embedding_fn = embedding_fn

    def initialize(
        self, embedding: Any, start_tokens: Any = None, end_token: Any = None, initial_state: Any = None
    ) -> tuple[Tensor, Any, BeamSearchDecoderState]:
        """Which beams are finished at the start, the first inputs and the first state.

        Args:
          embedding: The table of vectors; None where the decoder has a function.
          start_tokens: The id that each row begins with.
          end_token: The id that ends a sequence.
          initial_state: The state of the cell at the start.

        Returns:
          All three.

        Raises:
          ValueError: If there are both a table and a function.
        """
        if embedding is not None and self._embedding_fn is not None:
            raise ValueError("embedding and embedding_fn cannot be provided at same time")
        if embedding is not None:
            self._embedding_fn = embedding_function(embedding)
        self._take_start(start_tokens, end_token, initial_state)
        return self._start()

    def call(
        self, embedding: Any, start_tokens: Any, end_token: Any, initial_state: Any, **kwargs: Any
    ) -> tuple[Any, Any, Tensor]:
        """Decodes: the outputs, the last state, and the length of each row."""
        given = {"start_tokens": start_tokens, "end_token": end_token}
        return super().call(embedding, initial_state, **given, **kwargs)


# -------------------------------------------------------------------------------------------------- a step


class Search:
    """One step: from every beam and word that may follow it, the best `beam_width`."""

    def __init__(
        self,
        state: BeamSearchDecoderState,
        logits: Tensor,
        cell_state: Any,
        batch_size: Any,
        beam_width: int,
        end_token: Tensor,
    ):
        self.state, self.logits, self.cell_state = state, logits, cell_state
        self.batch_size, self.beam_width, self.end_token = batch_size, beam_width, end_token

    def step(self, penalties: Penalties) -> tuple[BeamSearchDecoderOutput, BeamSearchDecoderState]:
        state = self.state
        unfinished = unary.logical_not(state.finished)
        step_log_probs = softmax.log_softmax(self.logits)
        step_log_probs = only_end_where_finished(step_log_probs, self.end_token, state.finished)
        log_probs = shapes.expand_dims(state.log_probs, 2) + step_log_probs
        words = self.logits.shape.tuple[-1] or shapes.shape(self.logits)[-1]
        lengths = self._lengths_with(words, unfinished)
        seen = self._attention_so_far(penalties.coverage_weight, unfinished)
        scores = penalties.scores(log_probs, lengths, state.finished, seen)
        best_scores, places = self._best(scores)

        next_log_probs = self._of_places(places, log_probs, words)
        raw_ids = binary.mod(places, words, name="next_beam_word_ids")
        word_ids = casting.cast(raw_ids, dtypes.int32)
        parents = casting.cast(places / words, dtypes.int32, name="next_beam_parent_ids")
        was_finished = self._of_beams(parents, state.finished)
        finished = binary.logical_or(
            was_finished, binary.equal(word_ids, self.end_token), name="next_beam_finished"
        )
        longer = casting.cast(unary.logical_not(was_finished), dtypes.int64)
        next_state = BeamSearchDecoderState(
            lengths=self._of_beams(parents, state.lengths) + longer,
            accumulated_attention_probs=()
            if seen is None
            else self._rows_of_beams(parents, seen, name="next_accumulated_attention_probs"),
            cell_state=nest.map_structure(lambda part: self._rows_of_beams(parents, part), self.cell_state),
            log_probs=next_log_probs,
            finished=finished,
        )
        return BeamSearchDecoderOutput(best_scores, word_ids, parents), next_state

    def _lengths_with(self, words: Any, unfinished: Tensor) -> Tensor:
        """The length of each beam with each word. The end is not counted, nor what comes after it."""
        added = creation.one_hot(
            creation.fill([self.batch_size, self.beam_width], self.end_token),
            depth=words,
            on_value=casting.to_int64(0),
            off_value=casting.to_int64(1),
            dtype=dtypes.int64,
        )
        added *= shapes.expand_dims(casting.cast(unfinished, dtypes.int64), 2)
        return added + shapes.expand_dims(self.state.lengths, 2)

    def _attention_so_far(self, coverage_weight: Any, unfinished: Tensor) -> Tensor | None:
        attention = attention_probs(self.cell_state, coverage_weight)
        if attention is None:
            return None
        attention *= shapes.expand_dims(casting.cast(unfinished, dtypes.float32), 2)
        return self.state.accumulated_attention_probs + attention

    def _best(self, scores: Tensor) -> tuple[Tensor, Tensor]:
        """The best scores of each row, and where among beams and words they stand."""
        flat = shapes.reshape(scores, [self.batch_size, -1])
        count = convert_to_tensor(self.beam_width, dtype=dtypes.int32, name="beam_width")
        best, places = ranking.top_k(flat, k=count)
        for each in (best, places):
            each.set_shape([known(self.batch_size), self.beam_width])
        return best, places

    def _of_places(self, places: Tensor, values: Tensor, words: Any) -> Tensor:
        range_size = self.beam_width * words
        return gather_beams(places, values, self.batch_size, range_size, [-1], name="next_beam_probs")

    def _of_beams(self, beams: Tensor, values: Tensor) -> Tensor:
        return gather_beams(beams, values, self.batch_size, self.beam_width, [-1])

    def _rows_of_beams(self, beams: Tensor, part: Any, name: str | None = None) -> Any:
        """A part of the state by beams; what has no row a beam is the same for all."""
        all_beams = [self.batch_size * self.beam_width, -1]
        if not has_rows(part) or part.shape.ndims < len(all_beams):
            return part
        return gather_beams(beams, part, self.batch_size, self.beam_width, all_beams, name=name)


def only_end_where_finished(log_probs: Tensor, end_token: Tensor, finished: Tensor) -> Tensor:
    """Of a finished beam the end is certain, and no other word can be."""
    words = shapes.shape(log_probs)[2]
    dtype = log_probs.dtype
    only_end = creation.one_hot(
        end_token,
        words,
        dtype=dtype,
        on_value=convert_to_tensor(0.0, dtype=dtype),
        off_value=dtype.min,
    )
    everywhere = joining.concat([shapes.shape(finished), [1]], 0)
    only_end = tiling.tile(shapes.reshape(only_end, [1, 1, -1]), everywhere)
    mask = tiling.tile(shapes.expand_dims(finished, 2), [1, 1, words])
    return indexing.where(mask, only_end, log_probs)


@dataclass
class Penalties:
    """Scores from probabilities (Wu et al., 2016): by length, and by what attention saw."""

    length_weight: Any
    coverage_weight: Any

    def scores(self, log_probs: Tensor, lengths: Tensor, finished: Tensor, seen: Tensor | None) -> Tensor:
        scores = log_probs / casting.cast(self.of_lengths(lengths), log_probs.dtype)
        weight = convert_to_tensor(self.coverage_weight, name="coverage_penalty_weight")
        if weight.shape.ndims != 0:
            raise ValueError(f"coverage_penalty_weight should be a scalar, but saw shape: {weight.shape}")
        if seen is None:
            return scores
        # What no attention ever saw is padding.
        seen = indexing.where(binary.equal(seen, 0.0), creation.ones_like(seen), seen)
        penalty = reductions.reduce_sum(unary.log(binary.minimum(seen, 1.0)), 2)
        penalty *= casting.cast(finished, dtypes.float32)
        return scores + shapes.expand_dims(penalty * weight, 2)

    def of_lengths(self, lengths: Tensor) -> Any:
        factor = convert_to_tensor(self.length_weight, name="penalty_factor")
        factor.set_shape(())
        value = constant_value(factor)
        if value is not None and value == 0:
            return 1.0
        return binary.div((5.0 + casting.cast(lengths, dtypes.float32)) ** factor, (5.0 + 1.0) ** factor)


# -------------------------------------------------------------------------------------------------- attention


def attention_probs(cell_state: Any, coverage_penalty_weight: Any) -> Tensor | None:
    """Where the cells look, the mean of those that do; None where no penalty asks."""
    if not isinstance(coverage_penalty_weight, Tensor) and coverage_penalty_weight == 0.0:
        return None
    several = isinstance(cell_state, tuple) and not isinstance(cell_state, AttentionWrapperState)
    cells = cell_state if several else [cell_state]
    looking = [state for state in cells if isinstance(state, AttentionWrapperState)]
    if not looking:
        raise ValueError("coverage_penalty_weight must be 0.0 if no cell is attentional.")
    return _mean([_alignments(state) for state in looking])


def _alignments(state: AttentionWrapperState) -> Tensor:
    several = isinstance(state.alignments, (list, tuple))
    return _mean(list(state.alignments)) if several else state.alignments


def _mean(alignments: list[Tensor]) -> Tensor:
    if len(alignments) == 1:
        return alignments[0]
    side_by_side = joining.concat([shapes.expand_dims(each, -1) for each in alignments], -1)
    return reductions.reduce_mean(side_by_side, -1)
