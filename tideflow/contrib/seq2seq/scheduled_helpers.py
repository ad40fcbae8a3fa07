"""Scheduled sampling (Bengio et al., 2015): now and then a decoder in training reads its own answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tideflow.contrib.seq2seq.helpers import TrainingHelper, embedding_function, unstacked
from tideflow.contrib.seq2seq.sampling import bernoulli_sample, categorical_sample
from tideflow.export import export
from tideflow.graph import dtypes, nest
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.ops.arrays import creation, indexing, joining, scatter, shapes
from tideflow.ops.control_flow.conditionals import cond
from tideflow.ops.math import binary, casting, reductions, unary
from tideflow.rnn.loops import transpose_batch_time

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


def probability(given: Any) -> Tensor:
    probability = convert_to_tensor(given, name="sampling_probability")
    if probability.shape.ndims not in (0, 1):
        raise ValueError(
            f"sampling_probability must be either a scalar or a vector. saw shape: {probability.shape}"
        )
    return probability


def _places(chosen: Tensor) -> Tensor:
    return casting.cast(indexing.where(chosen), dtypes.int32)


def _put_together(like: Tensor, *parts: tuple[Tensor, Tensor]) -> Tensor:
    """A tensor of the shape of `like`, of rows at places."""
    sizes = shapes.shape(like)
    first, second = (scatter.scatter_nd(places, rows, sizes) for places, rows in parts)
    return first + second


@export("contrib.seq2seq.ScheduledEmbeddingTrainingHelper")
class ScheduledEmbeddingTrainingHelper(TrainingHelper):
    """Feeds a row, with a probability, the embedding of an id drawn from its last output.

    Args:
      inputs: The inputs, a tensor [batch, time, …] or a structure of them.
      sequence_length: The length of each row, an int32 vector.
      embedding: The table of vectors, or a function from ids to vectors.
      sampling_probability: The probability that a row is fed what it has put out, a scalar or a vector
        [batch].
      time_major: Whether time is the first axis and the batch the second.
      seed: The seed of what is drawn.
      scheduling_seed: The seed of the choice of rows.
      name: The name scope of the operations.
    """

    def __init__(
        self,
        inputs: TensorLike,
        sequence_length: TensorLike,
        embedding: TensorLike | Callable,
        sampling_probability: TensorLike,
        time_major: bool = False,
        seed: int | None = None,
        scheduling_seed: int | None = None,
        name: str | None = None,
    ):
        with name_scope(name, "ScheduledEmbeddingSamplingWrapper", [sampling_probability]):
            self._embedding_fn = embedding_function(embedding)
            self._sampling_probability = probability(sampling_probability)
            self._seed = seed
            self._scheduling_seed = scheduling_seed
            super().__init__(inputs, sequence_length, time_major=time_major, name=name)

    def sample(self, time: Tensor, outputs: Any, state: Any, name: str | None = None) -> Tensor:
        """Draws which rows are fed what they have put out.

        Args:
          time: The number of the step, an int32 scalar.
          outputs: The outputs of the step.
          state: The state after the step.
          name: The name scope of the operations.

        Returns:
          The sample ids: a drawn id where a row is to be fed its own, -1 elsewhere.
        """
        with name_scope(name, "ScheduledEmbeddingTrainingHelperSample", [time, outputs]):
            chosen = bernoulli_sample(
                self._sampling_probability,
                dtype=dtypes.bool,
                sample_shape=self._batch_size,
                seed=self._scheduling_seed,
            )
            sample_ids = categorical_sample(outputs, seed=self._seed)
            return indexing.where(chosen, sample_ids, creation.fill([self._batch_size], -1))

    def next_inputs(
        self, time: Tensor, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> tuple[Tensor, Any, Any]:
        with name_scope(name, "ScheduledEmbeddingTrainingHelperNextInputs", [time, outputs]):
            finished, base, state = super().next_inputs(time, outputs, state, name=name)

            def mixed() -> Tensor:
                own, given = _places(sample_ids > -1), _places(sample_ids <= -1)
                ids = indexing.gather_nd(sample_ids, own)
                kept = indexing.gather_nd(base, given)
                return _put_together(base, (own, self._embedding_fn(ids)), (given, kept))

            return finished, cond(reductions.reduce_all(finished), lambda: base, mixed), state


@export("contrib.seq2seq.ScheduledOutputTrainingHelper")
class ScheduledOutputTrainingHelper(TrainingHelper):
    """Feeds a row, with a probability, its last output, or what `next_inputs_fn` makes of it.

    `auxiliary_inputs` [batch, time, …] stand beside the inputs, whatever those are.

    Args:
      inputs: The inputs, a tensor [batch, time, …] or a structure of them.
      sequence_length: The length of each row, an int32 vector.
      sampling_probability: The probability that a row is fed what it has put out, a scalar or a vector
        [batch].
      time_major: Whether time is the first axis and the batch the second.
      seed: The seed of what is drawn.
      next_inputs_fn: A function from outputs to the next inputs; the outputs themselves if None.
      auxiliary_inputs: Inputs [batch, time, …] that stand beside the others, whatever those are.
      name: The name scope of the operations.
    """

    def __init__(
        self,
        inputs: Any,
        sequence_length: TensorLike,
        sampling_probability: TensorLike,
        time_major: bool = False,
        seed: int | None = None,
        next_inputs_fn: Callable | None = None,
        auxiliary_inputs: Any = None,
        name: str | None = None,
    ):
        with name_scope(name, "ScheduledOutputTrainingHelper", [sampling_probability]):
            self._sampling_probability = probability(sampling_probability)
            self._auxiliary_input_tas = None
            if auxiliary_inputs is not None:
                inputs = convert_to_tensor(inputs, name="inputs")
                auxiliary = convert_to_tensor(auxiliary_inputs, name="auxiliary_inputs")
                inputs = joining.concat((inputs, auxiliary), -1)
                if not time_major:
                    auxiliary = nest.map_structure(transpose_batch_time, auxiliary)
                self._auxiliary_input_tas = nest.map_structure(unstacked, auxiliary)
            self._seed = seed
            self._next_inputs_fn = next_inputs_fn
            super().__init__(inputs, sequence_length, time_major=time_major, name=name)

    def sample(self, time: Tensor, outputs: Any, state: Any, name: str | None = None) -> Tensor:
        """Draws which rows are fed what they have put out.

        Args:
          time: The number of the step, an int32 scalar.
          outputs: The outputs of the step.
          state: The state after the step.
          name: The name scope of the operations.

        Returns:
          A tensor with 1 where a row is to be fed its own output.
        """
        with name_scope(name, "ScheduledOutputTrainingHelperSample", [time, outputs]):
            return bernoulli_sample(
                self._sampling_probability, sample_shape=self._batch_size, seed=self._seed
            )

    def next_inputs(
        self, time: Tensor, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> tuple[Tensor, Any, Any]:
        with name_scope(name, "ScheduledOutputTrainingHelperNextInputs", [time, outputs]):
            finished, base, state = super().next_inputs(time, outputs, state, name=name)
            chosen = casting.cast(sample_ids, dtypes.bool)

            def mixed() -> Tensor:
                if self._next_inputs_fn is None:
                    return indexing.where(chosen, self._beside_auxiliary(time, outputs), base)
                own, given = _places(chosen), _places(unary.logical_not(chosen))
                said = indexing.gather_nd(outputs, own)
                kept = indexing.gather_nd(base, given)
                fed = self._beside_auxiliary(time, self._next_inputs_fn(said), own)
                return _put_together(base, (own, fed), (given, kept))

            all_finished = reductions.reduce_all(finished)
            none_chosen = unary.logical_not(reductions.reduce_any(chosen))
            next_inputs = cond(binary.logical_or(all_finished, none_chosen), lambda: base, mixed)
            return finished, next_inputs, state

    def _beside_auxiliary(self, time: Any, fed: Tensor, places: Tensor | None = None) -> Tensor:
        """Inputs of chosen rows with the auxiliary inputs of the next time beside them."""
        if self._auxiliary_input_tas is None:
            return fed
        next_time = time + 1
        auxiliary = self._auxiliary_input_tas.read(next_time)
        if places is not None:
            auxiliary = indexing.gather_nd(auxiliary, places)
        return joining.concat((fed, auxiliary), -1)
