"""Helpers: where a decoder's inputs come from, from the answers it should learn or from what it just said."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tideflow.contrib.seq2seq.sampling import categorical_sample
from tideflow.export import export
from tideflow.graph import dtypes, nest
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape, as_shape
from tideflow.nn.embeddings import embedding_lookup
from tideflow.ops.arrays import creation, shapes, tiling
from tideflow.ops.control_flow.conditionals import cond
from tideflow.ops.control_flow.tensor_array import TensorArray
from tideflow.ops.math import binary, casting, positions, reductions
from tideflow.rnn.loops import transpose_batch_time

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, ShapeLike, TensorLike


@export("contrib.seq2seq.Helper")
class Helper(ABC):
    """The base of helpers: what BasicDecoder asks before the first step, and of each step's outputs."""

    @property
    @abstractmethod
    def batch_size(self) -> Any:
        """The size of the batch, a scalar tensor."""

    @property
    @abstractmethod
    def sample_ids_shape(self) -> TensorShape:
        """The shape of a sample, without the batch."""

    @property
    @abstractmethod
    def sample_ids_dtype(self) -> Any:
        """The dtype of samples."""

    @abstractmethod
    def initialize(self, name: str | None = None) -> tuple[Tensor, Any]:
        """Which rows are finished, and the first inputs."""

    @abstractmethod
    def sample(self, time: Tensor, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Makes sample ids of the outputs of a step.

        Args:
          time: The number of the step, an int32 scalar.
          outputs: The outputs of the step.
          state: The state after the step.
          name: The name scope of the operations.

        Returns:
          The sample ids.
        """

    @abstractmethod
    def next_inputs(
        self, time: Tensor, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> tuple[Tensor, Any, Any]:
        """Makes the inputs of the next step.

        Args:
          time: The number of the step, an int32 scalar.
          outputs: The outputs of the step.
          state: The state after the step.
          sample_ids: What `sample` made of the outputs.
          name: The name scope of the operations.

        Returns:
          Which rows are finished, the inputs of the next step, and its state.
        """


def unstacked(inputs: Tensor) -> TensorArray:
    """The rows of a time-major tensor, to be read one a step."""
    array = TensorArray(dtype=inputs.dtype, size=shapes.shape(inputs)[0], element_shape=inputs.shape[1:])
    return array.unstack(inputs)


def embedding_function(embedding: Any) -> Callable:
    """Ids to vectors: the given function, or a lookup in the given table."""
    return embedding if callable(embedding) else lambda ids: embedding_lookup(embedding, ids)


class IdsHelper(Helper):
    """A helper whose samples are one id a row."""

    @property
    def sample_ids_shape(self) -> TensorShape:
        return TensorShape([])

    @property
    def sample_ids_dtype(self) -> Any:
        return dtypes.int32


@export("contrib.seq2seq.CustomHelper")
class CustomHelper(Helper):
    """A helper made of functions.

    Args:
      initialize_fn: A function without arguments that gives which rows are finished, and the first inputs.
      sample_fn: A function of time, outputs and state that gives sample ids.
      next_inputs_fn: A function of time, outputs, state and sample ids that gives which rows are finished,
        the next inputs and the next state.
      sample_ids_shape: The shape of a row's sample ids; a scalar if None.
      sample_ids_dtype: The type of sample ids; int32 if None.
    """

    def __init__(
        self,
        initialize_fn: Callable,
        sample_fn: Callable,
        next_inputs_fn: Callable,
        sample_ids_shape: ShapeLike | None = None,
        sample_ids_dtype: DTypeLike | None = None,
    ):
        self._initialize_fn = initialize_fn
        self._sample_fn = sample_fn
        self._next_inputs_fn = next_inputs_fn
        self._batch_size = None
        self._sample_ids_shape = as_shape([] if sample_ids_shape is None else sample_ids_shape)
        self._sample_ids_dtype = dtypes.int32 if sample_ids_dtype is None else sample_ids_dtype

    @property
    def batch_size(self) -> Any:
        if self._batch_size is None:
            raise ValueError("batch_size accessed before initialize was called")
        return self._batch_size

    @property
    def sample_ids_shape(self) -> TensorShape:
        return self._sample_ids_shape

    @property
    def sample_ids_dtype(self) -> Any:
        return self._sample_ids_dtype

    def initialize(self, name: str | None = None) -> tuple[Tensor, Any]:
        with name_scope(name, f"{type(self).__name__}Initialize"):
            finished, next_inputs = self._initialize_fn()
            if self._batch_size is None:
                self._batch_size = shapes.size(finished)
        return finished, next_inputs

    def sample(self, time: Tensor, outputs: Any, state: Any, name: str | None = None) -> Any:
        with name_scope(name, f"{type(self).__name__}Sample", nest.flatten((time, outputs, state))):
            return self._sample_fn(time=time, outputs=outputs, state=state)

    def next_inputs(
        self, time: Tensor, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> tuple[Tensor, Any, Any]:
        with name_scope(name, f"{type(self).__name__}NextInputs", nest.flatten((time, outputs, state))):
            return self._next_inputs_fn(time=time, outputs=outputs, state=state, sample_ids=sample_ids)


@export("contrib.seq2seq.TrainingHelper")
class TrainingHelper(IdsHelper):
    """Feeds given inputs [batch, time, …], as many of each row as its length: for training.

    Args:
      inputs: The inputs, a tensor [batch, time, …] or a structure of them.
      sequence_length: The length of each row, an int32 vector.
      time_major: Whether time is the first axis and the batch the second.
      name: The name scope of the operations.
    """

    def __init__(
        self, inputs: Any, sequence_length: TensorLike, time_major: bool = False, name: str | None = None
    ):
        with name_scope(name, "TrainingHelper", [*nest.flatten(inputs), sequence_length]):
            inputs = nest.map_structure(lambda each: convert_to_tensor(each, name="inputs"), inputs)
            self._inputs = inputs
            if not time_major:
                inputs = nest.map_structure(transpose_batch_time, inputs)
            self._input_tas = nest.map_structure(unstacked, inputs)
            self._sequence_length = convert_to_tensor(sequence_length, name="sequence_length")
            if self._sequence_length.shape.ndims != 1:
                raise ValueError(
                    "Expected sequence_length to be a vector, but received shape: "
                    f"{self._sequence_length.shape}"
                )
            self._zero_inputs = nest.map_structure(lambda each: creation.zeros_like(each[0, :]), inputs)
            self._batch_size = shapes.size(sequence_length)

    @property
    def inputs(self) -> Any:
        return self._inputs

    @property
    def sequence_length(self) -> Tensor:
        return self._sequence_length

    @property
    def batch_size(self) -> Tensor:
        return self._batch_size

    def initialize(self, name: str | None = None) -> tuple[Tensor, Any]:
        with name_scope(name, "TrainingHelperInitialize"):
            finished = binary.equal(0, self._sequence_length)
            return finished, self._inputs_at(0, finished)

    def sample(self, time: Tensor, outputs: Any, name: str | None = None, **unused_kwargs: Any) -> Tensor:
        with name_scope(name, "TrainingHelperSample", [time, outputs]):
            return casting.cast(positions.argmax(outputs, axis=-1), dtypes.int32)

    def next_inputs(
        self, time: Tensor, outputs: Any, state: Any, name: str | None = None, **unused_kwargs: Any
    ) -> tuple[Tensor, Any, Any]:
        with name_scope(name, "TrainingHelperNextInputs", [time]):
            next_time = time + 1
            finished = next_time >= self._sequence_length
            return finished, self._inputs_at(next_time, finished), state

    def _inputs_at(self, time: Any, finished: Tensor) -> Any:
        """The inputs of a time; zeros when all is read, for there is nothing to read then."""
        return cond(
            reductions.reduce_all(finished),
            lambda: self._zero_inputs,
            lambda: nest.map_structure(lambda array: array.read(time), self._input_tas),
        )


@export("contrib.seq2seq.GreedyEmbeddingHelper")
class GreedyEmbeddingHelper(IdsHelper):
    """Feeds back the embedding of the likeliest id, until it is the end token: for answering.

    Args:
      embedding: The table of vectors, or a function from ids to vectors.
      start_tokens: The id that each row begins with, an int32 vector [batch].
      end_token: The id that ends a sequence, an int32 scalar.
    """

    def __init__(self, embedding: TensorLike | Callable, start_tokens: TensorLike, end_token: TensorLike):
        self._embedding_fn = embedding_function(embedding)
        self._start_tokens = convert_to_tensor(start_tokens, dtype=dtypes.int32, name="start_tokens")
        self._end_token = convert_to_tensor(end_token, dtype=dtypes.int32, name="end_token")
        if self._start_tokens.shape.ndims != 1:
            raise ValueError("start_tokens must be a vector")
        self._batch_size = shapes.size(start_tokens)
        if self._end_token.shape.ndims != 0:
            raise ValueError("end_token must be a scalar")
        self._start_inputs = self._embedding_fn(self._start_tokens)

    @property
    def batch_size(self) -> Tensor:
        return self._batch_size

    def initialize(self, name: str | None = None) -> tuple[Tensor, Any]:
        return tiling.tile([False], [self._batch_size]), self._start_inputs

    def sample(self, time: Tensor, outputs: Any, state: Any, name: str | None = None) -> Tensor:
        _check_single(outputs)
        return positions.argmax(outputs, axis=-1, output_type=dtypes.int32)

    def next_inputs(
        self, time: Tensor, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> tuple[Tensor, Any, Any]:
        finished = binary.equal(sample_ids, self._end_token)
        next_inputs = cond(
            reductions.reduce_all(finished),
            lambda: self._start_inputs,  # nobody reads them any more
            lambda: self._embedding_fn(sample_ids),
        )
        return finished, next_inputs, state


def _check_single(outputs: Any) -> None:
    if not isinstance(outputs, Tensor):
        raise TypeError(f"Expected outputs to be a single Tensor, got: {type(outputs)}")


@export("contrib.seq2seq.SampleEmbeddingHelper")
class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """Feeds back the embedding of an id drawn by the logits: a temperature below 1 draws likely ones more.

    Args:
      embedding: The table of vectors, or a function from ids to vectors.
      start_tokens: The id that each row begins with, an int32 vector [batch].
      end_token: The id that ends a sequence, an int32 scalar.
      softmax_temperature: What logits are divided by before an id is drawn; 1 if None.
      seed: The seed of what is drawn.
    """

    def __init__(
        self,
        embedding: TensorLike | Callable,
        start_tokens: TensorLike,
        end_token: TensorLike,
        softmax_temperature: TensorLike | None = None,
        seed: int | None = None,
    ):
        super().__init__(embedding, start_tokens, end_token)
        self._softmax_temperature = softmax_temperature
        self._seed = seed

    def sample(self, time: Tensor, outputs: Any, state: Any, name: str | None = None) -> Tensor:
        _check_single(outputs)
        logits = outputs if self._softmax_temperature is None else outputs / self._softmax_temperature
        return categorical_sample(logits=logits, seed=self._seed)


@export("contrib.seq2seq.InferenceHelper")
class InferenceHelper(Helper):
    """Feeds back what `sample_fn` makes of outputs, until `end_fn` of it says so.

    Args:
      sample_fn: A function from outputs to sample ids.
      sample_shape: The shape of a row's sample ids.
      sample_dtype: The type of sample ids.
      start_inputs: The first inputs, a tensor [batch, …].
      end_fn: A function from sample ids to which rows are finished.
      next_inputs_fn: A function from sample ids to the next inputs; the ids themselves if None.
    """

    def __init__(
        self,
        sample_fn: Callable,
        sample_shape: ShapeLike,
        sample_dtype: DTypeLike,
        start_inputs: TensorLike,
        end_fn: Callable,
        next_inputs_fn: Callable | None = None,
    ):
        self._sample_fn = sample_fn
        self._end_fn = end_fn
        self._sample_shape = as_shape(sample_shape)
        self._sample_dtype = sample_dtype
        self._next_inputs_fn = next_inputs_fn
        self._batch_size = shapes.shape(start_inputs)[0]
        self._start_inputs = convert_to_tensor(start_inputs, name="start_inputs")

    @property
    def batch_size(self) -> Tensor:
        return self._batch_size

    @property
    def sample_ids_shape(self) -> TensorShape:
        return self._sample_shape

    @property
    def sample_ids_dtype(self) -> Any:
        return self._sample_dtype

    def initialize(self, name: str | None = None) -> tuple[Tensor, Any]:
        return tiling.tile([False], [self._batch_size]), self._start_inputs

    def sample(self, time: Tensor, outputs: Any, state: Any, name: str | None = None) -> Any:
        return self._sample_fn(outputs)

    def next_inputs(
        self, time: Tensor, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> tuple[Tensor, Any, Any]:
        next_inputs = sample_ids if self._next_inputs_fn is None else self._next_inputs_fn(sample_ids)
        return self._end_fn(sample_ids), next_inputs, state
