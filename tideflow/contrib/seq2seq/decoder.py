"""Decoding as one loop of the graph: steps until every row is finished."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes, nest
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import constant_value
from tideflow.graph.shapes import TensorShape
from tideflow.layers.base import Layer
from tideflow.ops.arrays import constants, creation, indexing, shapes
from tideflow.ops.control_flow.contexts import current_context
from tideflow.ops.control_flow.tensor_array import TensorArray
from tideflow.ops.control_flow.while_loops import while_loop
from tideflow.ops.math import binary, reductions, unary
from tideflow.rnn.cells import batch_of_zeros
from tideflow.rnn.loops import transpose_batch_time
from tideflow.variables.variable_scope import VariableScope, variable_scope

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


class _Decoding:
    """What decoders of both kinds say of their rows, outputs and end."""

    @property
    def batch_size(self) -> Any:
        """The size of the batch."""
        raise NotImplementedError

    @property
    def output_size(self) -> Any:
        """The sizes of a step's outputs, without the batch."""
        raise NotImplementedError

    @property
    def output_dtype(self) -> Any:
        """The dtypes of a step's outputs."""
        raise NotImplementedError

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Tensor) -> tuple[Any, Any]:
        """Says what becomes of the outputs of all steps, and of the last state.

        Args:
          outputs: The outputs of all steps.
          final_state: The last state.
          sequence_lengths: The length of each row.

        Returns:
          The outputs and the state that decoding gives.
        """
        raise NotImplementedError

    @property
    def tracks_own_finished(self) -> bool:
        """Whether the step's `finished` is all that counts: beams change places, and may unfinish."""
        return False


@export("contrib.seq2seq.Decoder")
class Decoder(_Decoding, ABC):
    """The base of decoders: a state, and a step that makes outputs and the next inputs."""

    @abstractmethod
    def initialize(self, name: str | None = None) -> tuple[Tensor, Any, Any]:
        """Which rows are finished before the first step, its inputs and its state."""

    @abstractmethod
    def step(
        self, time: Tensor, inputs: Any, state: Any, name: str | None = None
    ) -> tuple[Any, Any, Any, Tensor]:
        """Makes one step.

        Args:
          time: The number of the step, an int32 scalar.
          inputs: The inputs of the step.
          state: The state before it.
          name: The name scope of the operations.

        Returns:
          Outputs, next state, next inputs, and which rows are finished.
        """


class BaseDecoder(_Decoding, Layer):
    """A decoder that is a layer; its arguments are those of `dynamic_decode`."""

    def __init__(
        self,
        output_time_major: bool = False,
        impute_finished: bool = False,
        maximum_iterations: Any = None,
        parallel_iterations: int = 32,
        swap_memory: bool = False,
        **kwargs: Any,
    ):
        self.output_time_major = output_time_major
        self.impute_finished = impute_finished
        self.maximum_iterations = maximum_iterations
        self.parallel_iterations = parallel_iterations
        self.swap_memory = swap_memory
        super().__init__(**kwargs)

    def call(self, inputs: Any, initial_state: Any = None, **kwargs: Any) -> tuple[Any, Any, Tensor]:
        """Decodes: the outputs, the last state, and the length of each row."""
        return dynamic_decode(
            self,
            output_time_major=self.output_time_major,
            impute_finished=self.impute_finished,
            maximum_iterations=self.maximum_iterations,
            parallel_iterations=self.parallel_iterations,
            swap_memory=self.swap_memory,
            decoder_init_input=inputs,
            decoder_init_kwargs={**kwargs, "initial_state": initial_state},
        )

    def initialize(self, inputs: Any, initial_state: Any = None, **kwargs: Any) -> tuple[Tensor, Any, Any]:
        """Which rows are finished at the start, the first inputs and the first state."""
        raise NotImplementedError

    def step(self, time: Tensor, inputs: Any, state: Any) -> tuple[Any, Any, Any, Tensor]:
        """A step: the outputs, the next state, the next inputs, and which rows are finished."""
        raise NotImplementedError


@export("contrib.seq2seq.dynamic_decode")
def dynamic_decode(
    decoder: Decoder,
    output_time_major: bool = False,
    impute_finished: bool = False,
    maximum_iterations: TensorLike | None = None,
    parallel_iterations: int = 32,
    swap_memory: bool = False,
    scope: str | VariableScope | None = None,
    **kwargs: Any,
) -> tuple[Any, Any, Tensor]:
    """Makes steps of a decoder until all rows are finished.

    Args:
      decoder: The decoder.
      output_time_major: Whether the outputs have time as the first axis and the batch as the second.
      impute_finished: Whether a finished row keeps its state and has outputs of zeros: gradients are then
        those of the row alone.
      maximum_iterations: The largest number of steps, a scalar; any if None.
      parallel_iterations: As of `tf.while_loop`.
      swap_memory: As of `tf.while_loop`.
      scope: The variable scope; `"decoder"` if None.
      kwargs: `decoder_init_input` and `decoder_init_kwargs`, with which a decoder that is a layer begins.

    Returns:
      The outputs, the last state, and the length of each row.

    Raises:
      TypeError: If `decoder` is not a Decoder.
    """
    if not isinstance(decoder, (Decoder, BaseDecoder)):
        raise TypeError(f"Expected decoder to be type Decoder, but saw: {type(decoder)}")
    with variable_scope(scope, "decoder") as opened:
        _read_variables_once(opened)
        limit = _iteration_limit(maximum_iterations)
        if isinstance(decoder, Decoder):
            begun = decoder.initialize()
        else:
            begun = decoder.initialize(
                kwargs.get("decoder_init_input"), **kwargs.get("decoder_init_kwargs", {})
            )
        loop = _DecodingLoop(decoder, begun, impute_finished, limit)
        _, arrays, state, _, _, lengths = while_loop(
            loop.goes_on,
            loop.body,
            loop.variables,
            parallel_iterations=parallel_iterations,
            maximum_iterations=limit,
            swap_memory=swap_memory,
        )
        outputs = nest.map_structure(lambda array: array.stack(), arrays)
        try:
            outputs, state = decoder.finalize(outputs, state, lengths)
        except NotImplementedError:
            pass  # a decoder need not have it
        if not output_time_major:
            outputs = nest.map_structure(transpose_batch_time, outputs)
    return outputs, state, lengths


def _read_variables_once(scope: VariableScope) -> None:
    """Variables that the loop makes are read before it; inside another loop, where they are used."""
    context = current_context()
    if scope.caching_device is None and (context is None or context.loop is None):
        scope.set_caching_device(lambda op: op.device)


def _iteration_limit(given: Any) -> Tensor | None:
    if given is None:
        return None
    limit = convert_to_tensor(given, dtype=dtypes.int32, name="maximum_iterations")
    if limit.shape.ndims != 0:
        raise ValueError("maximum_iterations must be a scalar")
    return limit


class _DecodingLoop:
    """The loop's variables before the first step, its condition and its body."""

    def __init__(self, decoder: Any, begun: tuple[Any, ...], impute_finished: bool, limit: Tensor | None):
        self.decoder = decoder
        self.impute_finished = impute_finished
        finished, inputs, state = begun
        sizes, kinds = decoder.output_size, decoder.output_dtype
        self.zero_outputs = nest.map_structure(
            lambda size, dtype: batch_of_zeros(size, decoder.batch_size, dtype), sizes, kinds
        )
        if limit is not None:
            finished = binary.logical_or(finished, limit <= 0)
        lengths = creation.zeros_like(finished, dtype=dtypes.int32)
        time = constants.constant(0, dtype=dtypes.int32)
        arrays = nest.map_structure(self._empty_array, sizes, kinds)
        self.variables = (time, arrays, state, inputs, finished, lengths)

    def _empty_array(self, size: Any, dtype: Any) -> TensorArray:
        element_shape = None
        if isinstance(size, TensorShape) and size.ndims != 0:
            batch = constant_value(convert_to_tensor(self.decoder.batch_size, name="batch_size"))
            element_shape = TensorShape([None if batch is None else int(batch)]).concatenate(size)
        return TensorArray(dtype=dtype, size=0, dynamic_size=True, element_shape=element_shape)

    @staticmethod
    def goes_on(
        time: Tensor, arrays: Any, state: Any, inputs: Any, finished: Tensor, lengths: Tensor
    ) -> Tensor:
        return unary.logical_not(reductions.reduce_all(finished))

    def body(
        self, time: Tensor, arrays: Any, state: Any, inputs: Any, finished: Tensor, lengths: Tensor
    ) -> tuple:
        outputs, next_state, next_inputs, now_finished = self.decoder.step(time, inputs, state)
        if not self.decoder.tracks_own_finished:
            now_finished = binary.logical_or(now_finished, finished)
        lengths = indexing.where(
            unary.logical_not(finished), creation.fill(shapes.shape(lengths), time + 1), lengths
        )
        nest.assert_same_structure(state, next_state)
        nest.assert_same_structure(arrays, outputs)
        nest.assert_same_structure(inputs, next_inputs)
        if self.impute_finished:
            outputs = nest.map_structure(
                lambda output, zero: indexing.where(finished, zero, output), outputs, self.zero_outputs
            )
            next_state = nest.map_structure(
                lambda new, old: _kept_where_finished(finished, new, old), next_state, state
            )
        arrays = nest.map_structure(lambda array, output: array.write(time, output), arrays, outputs)
        return time + 1, arrays, next_state, next_inputs, now_finished, lengths


def _kept_where_finished(finished: Tensor, new: Any, old: Any) -> Any:
    """The old state of finished rows; what has no rows, arrays and scalars, goes on."""
    if isinstance(old, TensorArray):
        return new
    new.set_shape(old.shape)
    return new if new.shape.ndims == 0 else indexing.where(finished, old, new)
