"""AttentionWrapper: a recurrent cell that, each step, looks at a memory for what it needs."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.contrib.seq2seq.mechanisms import AttentionMechanism
from tideflow.contrib.seq2seq.sizes import size_of
from tideflow.export import export
from tideflow.graph import dtypes, nest
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.layers.base import Layer as KerasLayer
from tideflow.layers.core import Dense
from tideflow.ops.arrays import constants, creation, joining, shapes
from tideflow.ops.control_flow.tensor_array import TensorArray
from tideflow.ops.linalg import matmul
from tideflow.ops.math import checks
from tideflow.rnn.cells import RNNCell, assert_like_rnncell, batch_of_zeros

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike

_TILE = "tf.contrib.seq2seq.tile_batch"


@export("contrib.seq2seq.AttentionWrapperState")
class AttentionWrapperState(
    collections.namedtuple(
        "AttentionWrapperState",
        ("cell_state", "attention", "time", "alignments", "alignment_history", "attention_state"),
    )
):
    """The state of an AttentionWrapper. With several mechanisms the last three are tuples.

    Args:
      cell_state: The state of the cell.
      attention: The attention of the last step.
      time: The number of steps so far, an int32 scalar.
      alignments: The alignments of the last step.
      alignment_history: The alignments of all steps, a TensorArray; `()` where they are not kept.
      attention_state: The state of the mechanism.
    """

    __slots__ = ()

    def clone(self, **kwargs: Any) -> AttentionWrapperState:
        """The state with some parts replaced by others of the same shape.

        Args:
          kwargs: The new parts by name.

        Returns:
          The new state.
        """
        return nest.map_structure(_shaped_alike, self, self._replace(**kwargs))


def _shaped_alike(old: Any, new: Any) -> Any:
    if not (isinstance(old, Tensor) and isinstance(new, Tensor)):
        return new
    if not new.shape.is_fully_defined():
        return shapes.ensure_shape(new, old.shape)
    if not new.shape.is_compatible_with(old.shape):
        raise ValueError(f"Invalid shape for tensor {new.name}, expected {old.shape}, got {new.shape}.")
    return new


def _compute_attention(
    attention_mechanism: Any, cell_output: Tensor, attention_state: Any, attention_layer: Any
) -> tuple[Tensor, Tensor, Any]:
    """The attention, the alignments it is summed by, and the mechanism's next state."""
    if isinstance(attention_mechanism, KerasLayer):
        alignments, next_state = attention_mechanism([cell_output, attention_state])
    else:
        alignments, next_state = attention_mechanism(cell_output, state=attention_state)
    context = matmul.matmul(shapes.expand_dims(alignments, 1), attention_mechanism.values)
    context = shapes.squeeze(context, [1])
    if attention_layer is None:
        return context, alignments, next_state
    return attention_layer(joining.concat([cell_output, context], 1)), alignments, next_state


@export("contrib.seq2seq.AttentionWrapper")
class AttentionWrapper(RNNCell):
    """A cell that reads, beside its input, what it attended to last, and whose output is its attention.

    `attention_layer_size` makes the attention a layer of the cell's output and the context; without, the
    context is the attention. Several mechanisms have a size each; their attentions are put side by side.

    Args:
      cell: The recurrent cell.
      attention_mechanism: The mechanism, or a list of them.
      attention_layer_size: The size of the attention's layer, for each mechanism; None for no layer.
      alignment_history: Whether the state keeps the alignments of all steps.
      cell_input_fn: A function from the inputs and the attention to the cell's input; it concatenates them if
        None.
      output_attention: Whether the output is the attention; if not, that of the cell.
      initial_cell_state: The state of the cell at the start; zeros if None.
      name: The name of the layer.
      attention_layer: The layer of the attention itself, instead of its size, for each mechanism.
      attention_fn: A function that computes attention, alignments and the mechanism's next state; the usual
        one if None.
      dtype: The type of the variables; that of the first input if None.

    Raises:
      TypeError: If a mechanism is not an AttentionMechanism.
      ValueError: If there are not as many sizes or layers as mechanisms.
    """

    def __init__(
        self,
        cell: RNNCell,
        attention_mechanism: AttentionMechanism | Sequence[AttentionMechanism],
        attention_layer_size: int | Sequence[int] | None = None,
        alignment_history: bool = False,
        cell_input_fn: Callable | None = None,
        output_attention: bool = True,
        initial_cell_state: Any = None,
        name: str | None = None,
        attention_layer: Callable | Sequence[Callable] | None = None,
        attention_fn: Callable | None = None,
        dtype: DTypeLike | None = None,
    ):
        super().__init__(name=name, dtype=dtype)
        assert_like_rnncell("cell", cell)
        self._is_multi = isinstance(attention_mechanism, (list, tuple))
        self._attention_mechanisms = _checked_mechanisms(attention_mechanism, self._is_multi)
        if cell_input_fn is None:
            cell_input_fn = lambda inputs, attention: joining.concat([inputs, attention], -1)
        elif not callable(cell_input_fn):
            raise TypeError(f"cell_input_fn must be callable, saw type: {type(cell_input_fn).__name__}")
        self._cell = cell
        self._cell_input_fn = cell_input_fn
        self._set_attention_layers(attention_layer_size, attention_layer)
        self._attention_fn = _compute_attention if attention_fn is None else attention_fn
        self._output_attention = output_attention
        self._alignment_history = alignment_history
        with name_scope(name, "AttentionWrapperInit"):
            self._initial_cell_state = self._checked_initial(initial_cell_state)

    def _set_attention_layers(self, size: Any, layer: Any) -> None:
        if size is not None and layer is not None:
            raise ValueError("Only one of attention_layer_size and attention_layer should be set")
        mechanisms = self._attention_mechanisms
        if size is not None:
            sizes = self._one_each("attention_layer_size must contain exactly one integer", size)
            self._attention_layers = tuple(
                Dense(width, name="attention_layer", use_bias=False, dtype=mechanism.dtype)
                for width, mechanism in zip(sizes, mechanisms)
            )
            self._attention_layer_size = sum(sizes)
        elif layer is not None:
            self._attention_layers = self._one_each("attention_layer must contain exactly one layer", layer)
            self._attention_layer_size = sum(
                one.compute_output_shape(
                    [None, self._cell.output_size + mechanism.values.shape.tuple[-1]]
                ).as_list()[-1]
                for one, mechanism in zip(self._attention_layers, mechanisms)
            )
        else:
            self._attention_layers = None
            self._attention_layer_size = sum(mechanism.values.shape.as_list()[-1] for mechanism in mechanisms)

    def _one_each(self, rule: str, given: Any) -> tuple:
        given = tuple(given if isinstance(given, (list, tuple)) else (given,))
        count = len(self._attention_mechanisms)
        if len(given) != count:
            raise ValueError(f"If provided, {rule} per attention_mechanism, saw: {len(given)} vs {count}")
        return given

    def _checked_initial(self, state: Any) -> Any:
        if state is None:
            return None
        batch_size = size_of(nest.flatten(state)[-1], 0)
        message = (
            f"When constructing AttentionWrapper {self._base_name}: Non-matching batch sizes between the "
            "memory (encoder output) and initial_cell_state.  Are you using the BeamSearchDecoder?  You may "
            f"need to tile the initial state via the {_TILE} function with argument multiple=beam_width."
        )
        return self._after_batch_checks(batch_size, message, state, "check_initial_cell_state")

    def _after_batch_checks(self, batch_size: Any, message: str, values: Any, name: str) -> Any:
        """The values, once every memory is known to have as many rows as the batch."""
        with control_dependencies(self._batch_size_checks(batch_size, message)):
            return nest.map_structure(lambda value: constants.identity(value, name=name), values)

    def _batch_size_checks(self, batch_size: Any, error_message: str) -> list[Operation]:
        return [
            checks.assert_equal(batch_size, mechanism.batch_size, message=error_message)
            for mechanism in self._attention_mechanisms
        ]

    def _item_or_tuple(self, items: Iterable[Any]) -> Any:
        """What belongs to the mechanism, or a tuple of what belongs to each."""
        items = tuple(items)
        return items if self._is_multi else items[0]

    @property
    def output_size(self) -> Any:
        return self._attention_layer_size if self._output_attention else self._cell.output_size

    @property
    def state_size(self) -> AttentionWrapperState:
        mechanisms = self._attention_mechanisms
        return AttentionWrapperState(
            cell_state=self._cell.state_size,
            time=TensorShape([]),
            attention=self._attention_layer_size,
            alignments=self._item_or_tuple(each.alignments_size for each in mechanisms),
            attention_state=self._item_or_tuple(each.state_size for each in mechanisms),
            alignment_history=self._item_or_tuple(
                each.alignments_size if self._alignment_history else () for each in mechanisms
            ),
        )

    def zero_state(self, batch_size: TensorLike, dtype: DTypeLike) -> AttentionWrapperState:
        """The state to begin with: zeros, or what `initial_cell_state` said.

        Args:
          batch_size: The batch size.
          dtype: The type of the elements.

        Returns:
          An AttentionWrapperState.
        """
        with name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            if self._initial_cell_state is not None:
                cell_state = self._initial_cell_state
            else:
                cell_state = self._cell.get_initial_state(batch_size=batch_size, dtype=dtype)
            message = (
                f"When calling zero_state of AttentionWrapper {self._base_name}: Non-matching batch sizes "
                "between the memory (encoder output) and the requested batch size.  Are you using the "
                "BeamSearchDecoder?  If so, make sure your encoder output has been tiled to beam_width via "
                f"{_TILE}, and the batch_size= argument passed to zero_state is batch_size * beam_width."
            )
            cell_state = self._after_batch_checks(batch_size, message, cell_state, "checked_cell_state")
            mechanisms = self._attention_mechanisms
            alignments = [each.initial_alignments(batch_size, dtype) for each in mechanisms]
            return AttentionWrapperState(
                cell_state=cell_state,
                time=creation.zeros([], dtype=dtypes.int32),
                attention=batch_of_zeros(self._attention_layer_size, batch_size, dtype),
                alignments=self._item_or_tuple(alignments),
                attention_state=self._item_or_tuple(
                    each.initial_state(batch_size, dtype) for each in mechanisms
                ),
                alignment_history=self._item_or_tuple(
                    TensorArray(dtype, size=0, dynamic_size=True, element_shape=each.shape)
                    if self._alignment_history
                    else ()
                    for each in alignments
                ),
            )

    def call(self, inputs: Any, state: AttentionWrapperState) -> tuple[Any, AttentionWrapperState]:
        """A step: the cell on the input and the last attention, then attention by the cell's output.

        Args:
          inputs: The input of the step.
          state: The AttentionWrapperState.

        Returns:
          The output and the next state.
        """
        if not isinstance(state, AttentionWrapperState):
            raise TypeError(
                "Expected state to be instance of AttentionWrapperState. "
                f"Received type {type(state)} instead."
            )
        cell_inputs = self._cell_input_fn(inputs, state.attention)
        cell_output, cell_state = self._cell(cell_inputs, state.cell_state)
        message = (
            f"When applying AttentionWrapper {self.name}: Non-matching batch sizes between the memory "
            "(encoder output) and the query (decoder output).  Are you using the BeamSearchDecoder?  You may "
            f"need to tile your memory input via the {_TILE} function with argument multiple=beam_width."
        )
        batch_size = size_of(cell_output, 0)
        cell_output = self._after_batch_checks(batch_size, message, cell_output, "checked_cell_output")
        attentions, alignments, attention_states, histories = zip(*self._attend(cell_output, state))
        attention = joining.concat(attentions, 1)
        next_state = AttentionWrapperState(
            time=state.time + 1,
            cell_state=cell_state,
            attention=attention,
            attention_state=self._item_or_tuple(attention_states),
            alignments=self._item_or_tuple(alignments),
            alignment_history=self._item_or_tuple(histories),
        )
        return attention if self._output_attention else cell_output, next_state

    def _attend(self, cell_output: Tensor, state: AttentionWrapperState) -> Iterable[tuple]:
        """Attention, alignments, next state and history of each mechanism."""
        states = state.attention_state if self._is_multi else [state.attention_state]
        histories = state.alignment_history if self._is_multi else [state.alignment_history]
        layers = self._attention_layers or [None] * len(states)
        for mechanism, own, history, layer in zip(self._attention_mechanisms, states, histories, layers):
            attention, alignments, following = self._attention_fn(mechanism, cell_output, own, layer)
            yield (
                attention,
                alignments,
                following,
                history.write(state.time, alignments) if self._alignment_history else (),
            )


def _checked_mechanisms(given: Any, is_multi: bool) -> tuple:
    mechanisms = tuple(given) if is_multi else (given,)
    for mechanism in mechanisms:
        if not isinstance(mechanism, AttentionMechanism):
            rule = (
                "contain only instances of AttentionMechanism"
                if is_multi
                else "be an AttentionMechanism or list of multiple AttentionMechanism instances"
            )
            raise TypeError(f"attention_mechanism must {rule}, saw type: {type(mechanism).__name__}")
    return mechanisms
