"""BasicDecoder: a cell, a helper that chooses its inputs, and a layer on its outputs."""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING, Any

from tideflow.contrib.seq2seq.decoder import Decoder
from tideflow.contrib.seq2seq.helpers import Helper
from tideflow.export import export
from tideflow.graph import nest
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape, as_shape
from tideflow.layers.scoped import Layer
from tideflow.rnn.cells import assert_like_rnncell

if TYPE_CHECKING:
    from tideflow.rnn.cells import RNNCell


@export("contrib.seq2seq.BasicDecoderOutput")
class BasicDecoderOutput(collections.namedtuple("BasicDecoderOutput", ("rnn_output", "sample_id"))):
    """What a step of a BasicDecoder makes.

    Args:
      rnn_output: The cell's outputs, through the layer.
      sample_id: The ids that the helper made of them.
    """

    __slots__ = ()


def check_layer(output_layer: Any) -> None:
    """TypeError unless a decoder can use it on its cell's outputs."""
    if output_layer is not None and not isinstance(output_layer, Layer):
        raise TypeError(f"output_layer must be a Layer, received: {type(output_layer)}")


def output_size_of(cell: Any, output_layer: Layer | None) -> Any:
    """The size of the cell's outputs through the layer, without the batch."""
    if output_layer is None:
        return cell.output_size
    # Layers want to know the batch's axis; it is only there for them.
    batch = TensorShape([None])
    batches = nest.map_structure(lambda size: batch.concatenate(as_shape(size)), cell.output_size)
    return nest.map_structure(lambda shape: shape[1:], output_layer.compute_output_shape(batches))


@export("contrib.seq2seq.BasicDecoder")
class BasicDecoder(Decoder):
    """A decoder whose next inputs come from a helper.

    Args:
      cell: The recurrent cell.
      helper: The helper.
      initial_state: The state of the cell at the start.
      output_layer: A layer that is applied to the cell's outputs; None for none.
    """

    def __init__(self, cell: RNNCell, helper: Helper, initial_state: Any, output_layer: Layer | None = None):
        assert_like_rnncell("cell", cell)
        if not isinstance(helper, Helper):
            raise TypeError(f"helper must be a Helper, received: {type(helper)}")
        check_layer(output_layer)
        self._cell = cell
        self._helper = helper
        self._initial_state = initial_state
        self._output_layer = output_layer

    @property
    def batch_size(self) -> Any:
        return self._helper.batch_size

    @property
    def output_size(self) -> BasicDecoderOutput:
        outputs = output_size_of(self._cell, self._output_layer)
        return BasicDecoderOutput(outputs, self._helper.sample_ids_shape)

    @property
    def output_dtype(self) -> BasicDecoderOutput:
        # The cell's outputs are taken to be of its state's type.
        dtype = nest.flatten(self._initial_state)[0].dtype
        outputs = nest.map_structure(lambda _: dtype, output_size_of(self._cell, self._output_layer))
        return BasicDecoderOutput(outputs, self._helper.sample_ids_dtype)

    def initialize(self, name: str | None = None) -> tuple[Tensor, Any, Any]:
        return (*self._helper.initialize(), self._initial_state)

    def step(
        self, time: Tensor, inputs: Any, state: Any, name: str | None = None
    ) -> tuple[BasicDecoderOutput, Any, Any, Tensor]:
        with name_scope(name, "BasicDecoderStep", [time]):
            outputs, cell_state = self._cell(inputs, state)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            sample_ids = self._helper.sample(time=time, outputs=outputs, state=cell_state)
            finished, next_inputs, next_state = self._helper.next_inputs(
                time=time, outputs=outputs, state=cell_state, sample_ids=sample_ids
            )
        return BasicDecoderOutput(outputs, sample_ids), next_state, next_inputs, finished
