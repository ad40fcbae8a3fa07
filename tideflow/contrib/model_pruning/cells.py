"""LSTM cells whose weights are under masks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tideflow.contrib.model_pruning.masks import collect, masked
from tideflow.export import export
from tideflow.rnn.cells import BasicLSTMCell, LSTMCell
from tideflow.variables.initializers import Ones, Zeros

if TYPE_CHECKING:
    from tideflow.graph.typing import InitializerLike, ShapeLike


class _MaskedKernel:
    """A cell that computes with its kernel under a mask."""

    def build(self, inputs_shape: ShapeLike) -> None:
        super().build(inputs_shape)
        self.built = False  # it may still add weights
        kernel = self._unmasked_kernel = self._kernel  # what is no attribute is no weight of the layer
        keywords = {"trainable": False, "dtype": self.dtype}
        self._mask = self.add_weight("mask", kernel.shape, initializer=Ones(), **keywords)
        self._threshold = self.add_weight("threshold", [], initializer=Zeros(), **keywords)
        self._whole_kernel = kernel  # what is trained stays an attribute, and so a weight of the cell
        self._kernel = masked(self._mask, kernel)
        collect(self._mask, self._threshold, self._kernel, kernel)
        self.built = True


@export("contrib.model_pruning.MaskedBasicLSTMCell")
class MaskedBasicLSTMCell(_MaskedKernel, BasicLSTMCell):
    """`tf.nn.rnn_cell.BasicLSTMCell` with its weights under a mask.

    Args:
      num_units: The size of the memory.
      forget_bias: A number that is added to the forget gate, so that the cell remembers at first.
      state_is_tuple: Whether the state is an LSTMStateTuple; else one tensor of both parts.
      activation: The activation; tanh if None.
      reuse: Whether existing variables are shared, as in `tf.variable_scope`.
      name: The name of the cell.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Callable | str | None = None,
        reuse: bool | None = None,
        name: str | None = None,
    ):
        super().__init__(num_units, forget_bias, state_is_tuple, activation, reuse, name)


@export("contrib.model_pruning.MaskedLSTMCell")
class MaskedLSTMCell(_MaskedKernel, LSTMCell):
    """`tf.nn.rnn_cell.LSTMCell` with its weights under a mask; those of a projection are not.

    Args:
      num_units: The size of the memory.
      use_peepholes: Whether the gates see the memory.
      cell_clip: The largest absolute value of the memory; no limit if None.
      initializer: The initializer of the weights.
      num_proj: The size of a projection of the output; none if None.
      proj_clip: The largest absolute value of the projection; no limit if None.
      num_unit_shards: The number of parts of the weights; an older form of a partitioner.
      num_proj_shards: The number of parts of the projection's weights.
      forget_bias: A number that is added to the forget gate, so that the cell remembers at first.
      state_is_tuple: Whether the state is an LSTMStateTuple; else one tensor of both parts.
      activation: The activation; tanh if None.
      reuse: Whether existing variables are shared, as in `tf.variable_scope`.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: InitializerLike | None = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int | None = None,
        num_proj_shards: int | None = None,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Callable | str | None = None,
        reuse: bool | None = None,
    ):
        super().__init__(
            num_units,
            use_peepholes=use_peepholes,
            cell_clip=cell_clip,
            initializer=initializer,
            num_proj=num_proj,
            proj_clip=proj_clip,
            num_unit_shards=num_unit_shards,
            num_proj_shards=num_proj_shards,
            forget_bias=forget_bias,
            state_is_tuple=state_is_tuple,
            activation=activation,
            reuse=reuse,
        )
