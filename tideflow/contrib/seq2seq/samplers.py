"""Samplers: helpers that get their inputs when decoding begins, for decoders that are layers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from tideflow.contrib.seq2seq import helpers, scheduled_helpers
from tideflow.graph import dtypes, nest
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.shapes import TensorShape, as_shape
from tideflow.rnn.loops import transpose_batch_time


class Sampler(ABC):
    """Chooses what a decoder's cell gets next. A subclass makes the helper that does it in `initialize`."""

    _helper: helpers.Helper | None = None

    @abstractmethod
    def initialize(self, inputs: Any, **kwargs: Any) -> tuple[Tensor, Any]:
        """Which rows are finished at the start, and the first inputs."""

    @property
    def batch_size(self) -> Any:
        """The number of rows, which is known after `initialize`."""
        if self._helper is None:
            raise ValueError("batch_size accessed before initialize was called")
        return self._helper.batch_size

    @property
    def sample_ids_shape(self) -> TensorShape:
        """The shape of a row's ids."""
        return TensorShape([])

    @property
    def sample_ids_dtype(self) -> Any:
        """The type of the ids."""
        return dtypes.int32

    def sample(self, time: Tensor, outputs: Any, state: Any) -> Any:
        """The ids of a step's outputs."""
        return self._helper.sample(time=time, outputs=outputs, state=state)  # type: ignore[union-attr]

    def next_inputs(self, time: Tensor, outputs: Any, state: Any, sample_ids: Any) -> tuple[Tensor, Any, Any]:
        """Which rows are finished, the next inputs and the next state."""
        return self._helper.next_inputs(time=time, outputs=outputs, state=state, sample_ids=sample_ids)  # type: ignore[union-attr]

    def _begin(self, helper: helpers.Helper) -> tuple[Tensor, Any]:
        self._helper = helper
        return helper.initialize()


class CustomSampler(Sampler):
    """Does what functions do; those of `CustomHelper`, of which the first one gets the inputs."""

    def __init__(
        self,
        initialize_fn: Callable,
        sample_fn: Callable,
        next_inputs_fn: Callable,
        sample_ids_shape: Any = None,
        sample_ids_dtype: Any = None,
    ):
        self._initialize_fn = initialize_fn
        self._functions = sample_fn, next_inputs_fn
        self._sample_ids_shape = as_shape(sample_ids_shape or [])
        self._sample_ids_dtype = sample_ids_dtype or dtypes.int32

    @property
    def sample_ids_shape(self) -> TensorShape:
        return self._sample_ids_shape

    @property
    def sample_ids_dtype(self) -> Any:
        return self._sample_ids_dtype

    def initialize(self, inputs: Any, **kwargs: Any) -> tuple[Tensor, Any]:
        return self._begin(
            helpers.CustomHelper(
                lambda: self._initialize_fn(inputs, **kwargs),
                *self._functions,
                self._sample_ids_shape,
                self._sample_ids_dtype,
            )
        )


class TrainingSampler(Sampler):
    """Reads the inputs; the ids are those of the largest outputs."""

    def __init__(self, time_major: bool = False):
        self.time_major = time_major

    def _by_time(self, inputs: Any, sequence_length: Any) -> Any:
        """The inputs with time as the first axis."""
        if sequence_length is None:
            raise ValueError("sequence_length is required for TrainingSampler")
        inputs = nest.map_structure(convert_to_tensor, inputs)
        return inputs if self.time_major else nest.map_structure(transpose_batch_time, inputs)

    def initialize(self, inputs: Any, sequence_length: Any = None) -> tuple[Tensor, Any]:  # type: ignore[override]
        inputs = self._by_time(inputs, sequence_length)
        return self._begin(helpers.TrainingHelper(inputs, sequence_length, time_major=True))


class ScheduledEmbeddingTrainingSampler(TrainingSampler):
    """Reads the inputs, or embeds a drawn id in place of one, with a probability."""

    def __init__(
        self,
        sampling_probability: Any,
        embedding_fn: Callable | None = None,
        time_major: bool = False,
        seed: int | None = None,
        scheduling_seed: int | None = None,
    ):
        super().__init__(time_major)
        if embedding_fn is not None and not callable(embedding_fn):
            raise ValueError(f"embedding_fn is expected to be callable, got {type(embedding_fn)}")
        self.embedding_fn = embedding_fn
        self._probability = scheduled_helpers.probability(sampling_probability)
        self._seeds = seed, scheduling_seed

    def initialize(  # type: ignore[override]
        self, inputs: Any, sequence_length: Any = None, embedding: Any = None
    ) -> tuple[Tensor, Any]:
        if self.embedding_fn is None and embedding is None:
            raise ValueError(
                "embedding is required as a keyword argument for ScheduledEmbeddingTrainingSampler"
            )
        inputs = self._by_time(inputs, sequence_length)
        return self._begin(
            scheduled_helpers.ScheduledEmbeddingTrainingHelper(
                inputs,
                sequence_length,
                self.embedding_fn or embedding,
                self._probability,
                True,
                *self._seeds,
            )
        )


class ScheduledOutputTrainingSampler(TrainingSampler):
    """Reads the inputs, or takes the last outputs in place of them, with a probability."""

    def __init__(
        self,
        sampling_probability: Any,
        time_major: bool = False,
        seed: int | None = None,
        next_inputs_fn: Callable | None = None,
    ):
        super().__init__(time_major)
        self._probability = scheduled_helpers.probability(sampling_probability)
        self._seed = seed
        self._next_inputs_fn = next_inputs_fn

    @property
    def sample_ids_dtype(self) -> Any:
        return dtypes.bool if self._helper is None else self._helper.sample_ids_dtype

    def initialize(  # type: ignore[override]
        self, inputs: Any, sequence_length: Any = None, auxiliary_inputs: Any = None
    ) -> tuple[Tensor, Any]:
        inputs = self._by_time(inputs, sequence_length)
        return self._begin(
            scheduled_helpers.ScheduledOutputTrainingHelper(
                inputs,
                sequence_length,
                self._probability,
                True,
                self._seed,
                self._next_inputs_fn,
                auxiliary_inputs,
            )
        )


class GreedyEmbeddingSampler(Sampler):
    """Embeds the id of the largest output."""

    def __init__(self, embedding_fn: Callable | None = None):
        if embedding_fn is not None and not callable(embedding_fn):
            raise ValueError(f"embedding_fn is expected to be a callable, got {type(embedding_fn)}")
        self.embedding_fn = embedding_fn

    def initialize(  # type: ignore[override]
        self, embedding: Any, start_tokens: Any = None, end_token: Any = None
    ) -> tuple[Tensor, Any]:
        return self._begin(self._made(self.embedding_fn or embedding, start_tokens, end_token))

    def _made(self, embedding: Any, start_tokens: Any, end_token: Any) -> helpers.Helper:
        return helpers.GreedyEmbeddingHelper(embedding, start_tokens, end_token)


class SampleEmbeddingSampler(GreedyEmbeddingSampler):
    """Embeds an id drawn by the outputs."""

    def __init__(
        self,
        embedding_fn: Callable | None = None,
        softmax_temperature: Any = None,
        seed: int | None = None,
    ):
        super().__init__(embedding_fn)
        self.softmax_temperature = softmax_temperature
        self.seed = seed

    def _made(self, embedding: Any, start_tokens: Any, end_token: Any) -> helpers.Helper:
        return helpers.SampleEmbeddingHelper(
            embedding, start_tokens, end_token, self.softmax_temperature, self.seed
        )


class InferenceSampler(Sampler):
    """Makes the next inputs of samples by functions, as `InferenceHelper` does."""

    def __init__(
        self,
        sample_fn: Callable,
        sample_shape: Any,
        sample_dtype: Any,
        end_fn: Callable,
        next_inputs_fn: Callable | None = None,
    ):
        self._sample_fn, self._end_fn, self._next_inputs_fn = sample_fn, end_fn, next_inputs_fn
        self._sample_shape, self._sample_dtype = as_shape(sample_shape), sample_dtype

    @property
    def sample_ids_shape(self) -> TensorShape:
        return self._sample_shape

    @property
    def sample_ids_dtype(self) -> Any:
        return self._sample_dtype

    def initialize(self, start_inputs: Any) -> tuple[Tensor, Any]:  # type: ignore[override]
        return self._begin(
            helpers.InferenceHelper(
                self._sample_fn,
                self._sample_shape,
                self._sample_dtype,
                start_inputs,
                self._end_fn,
                self._next_inputs_fn,
            )
        )
