"""BasicDecoderV2: the decoder with a cell and a sampler that is a layer."""

from __future__ import annotations

from typing import Any

from tideflow.contrib.seq2seq.basic_decoder import BasicDecoderOutput, output_size_of
from tideflow.contrib.seq2seq.decoder import BaseDecoder
from tideflow.contrib.seq2seq.samplers import Sampler
from tideflow.graph import nest
from tideflow.graph.operation import Tensor
from tideflow.graph.shapes import as_shape
from tideflow.layers.base import Layer
from tideflow.rnn.cells import assert_like_rnncell


class BasicDecoderV2(BaseDecoder):
    """A decoder whose next inputs come from a sampler.

    Args:
      cell: The recurrent cell.
      sampler: The sampler.
      output_layer: A layer that is applied to the cell's outputs; None for none.
      kwargs: Arguments of the layer.
    """

    def __init__(self, cell: Any, sampler: Sampler, output_layer: Layer | None = None, **kwargs: Any):
        assert_like_rnncell("cell", cell)
        if not isinstance(sampler, Sampler):
            raise TypeError(f"sampler must be a Sampler, received: {sampler}")
        if output_layer is not None and not isinstance(output_layer, Layer):
            raise TypeError(f"output_layer must be a Layer, received: {output_layer}")
        super().__init__(**kwargs)
        self.cell = cell
        self.sampler = sampler
        self.output_layer = output_layer

    def initialize(self, inputs: Any, initial_state: Any = None, **kwargs: Any) -> tuple[Tensor, Any, Any]:
        self._cell_dtype = nest.flatten(initial_state)[0].dtype
        return (*self.sampler.initialize(inputs, **kwargs), initial_state)

    @property
    def batch_size(self) -> Any:
        return self.sampler.batch_size

    @property
    def output_size(self) -> BasicDecoderOutput:
        return BasicDecoderOutput(self._output_shapes(), self.sampler.sample_ids_shape)

    @property
    def output_dtype(self) -> BasicDecoderOutput:
        kinds = nest.map_structure(lambda _: self._cell_dtype, self._output_shapes())
        return BasicDecoderOutput(kinds, self.sampler.sample_ids_dtype)

    def _output_shapes(self) -> Any:
        return nest.map_structure(as_shape, output_size_of(self.cell, self.output_layer))

    def step(self, time: Tensor, inputs: Any, state: Any) -> tuple[Any, Any, Any, Tensor]:
        outputs, next_state = self.cell(inputs, state)
        if self.output_layer is not None:
            outputs = self.output_layer(outputs)
        ids = self.sampler.sample(time=time, outputs=outputs, state=next_state)
        finished, next_inputs, next_state = self.sampler.next_inputs(
            time=time, outputs=outputs, state=next_state, sample_ids=ids
        )
        return BasicDecoderOutput(outputs, ids), next_state, next_inputs, finished
