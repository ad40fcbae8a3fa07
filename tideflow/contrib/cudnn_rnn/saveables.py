"""How checkpoints keep the buffer of a stack: by the weights of its cells, which other graphs can read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from tideflow.contrib.cudnn_rnn import converters
from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.lookup.mutable import SaveSpec
from tideflow.ops.arrays.constants import identity
from tideflow.ops.state.reference_variables import assign
from tideflow.train.saveables import SaveableObject

if TYPE_CHECKING:
    from tideflow.graph.typing import VariableLike
    from tideflow.variables.variable_scope import VariableScope

_KERNEL_AND_BIAS = (("kernel",), ("bias",))


class _ParamsSaveable(SaveableObject):
    """What the saveables of all kinds of cells share."""

    _converter: ClassVar[type]
    _cell: ClassVar[str]  # the name of the cell
    _names: ClassVar[tuple[tuple[str, ...], tuple[str, ...]]] = _KERNEL_AND_BIAS  # of its weights and biases

    def __init__(
        self,
        opaque_params: VariableLike,
        num_layers: int,
        num_units: int,
        input_size: int,
        input_mode: str = "linear_input",
        direction: str = converters.UNIDIRECTIONAL,
        scope: VariableScope | str | None = None,
        name: str = "cudnn_rnn_saveable",
    ):
        self._params = opaque_params
        self.format_converter = self._converter(
            num_layers, num_units, input_size, input_mode=input_mode, direction=direction
        )
        weights, biases = self.format_converter.opaque_to_tf_canonical(opaque_params)
        of_weights, of_biases = self._names
        cells = list(_cell_scopes(num_layers, direction, self._cell))
        names = [f"{cell}/{own}" for cell in cells for own in of_weights]
        names += [f"{cell}/{own}" for cell in cells for own in of_biases]
        outer = getattr(scope, "name", scope)
        if outer:
            names = [f"{outer}/{own}" for own in names]
        specs = [SaveSpec(part, "", own) for part, own in zip([*weights, *biases], names)]
        super().__init__(identity(opaque_params), specs, name)

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Any) -> Any:
        """Fills the buffer from the weights of the cells.

        Args:
          restored_tensors: The weights, then the biases, a list of tensors.
          restored_shapes: Ignored: the shapes follow from the layers.

        Returns:
          The operation.
        """
        params = self.format_converter.tf_canonical_to_opaque(restored_tensors)
        return assign(self._params, params, validate_shape=False)


def _cell_scopes(layers: int, direction: str, cell: str):
    """The scopes in which `tf.nn.dynamic_rnn` and its kin make the cells, layer after layer."""
    for layer in range(layers):
        if direction == converters.UNIDIRECTIONAL:
            yield f"rnn/multi_rnn_cell/cell_{layer}/{cell}"
        else:
            yield f"stack_bidirectional_rnn/cell_{layer}/bidirectional_rnn/fw/{cell}"
            yield f"stack_bidirectional_rnn/cell_{layer}/bidirectional_rnn/bw/{cell}"


_ARGUMENTS = """

    Args:
      opaque_params: The variable with the buffer.
      num_layers: The number of layers.
      num_units: The number of units of a layer.
      input_size: The size of the inputs of the first layer.
      input_mode: How the first layer takes its inputs.
      direction: `"unidirectional"` or `"bidirectional"`.
      scope: The variable scope in which the weights are saved.
      name: The name of the saveable.
    """


@export("contrib.cudnn_rnn.CudnnLSTMSaveable")
class CudnnLSTMSaveable(_ParamsSaveable):
    __doc__ = f"Saves the weights of a stack of LSTMs as those of `CudnnCompatibleLSTMCell`.{_ARGUMENTS}"
    _converter = converters.CudnnParamsFormatConverterLSTM
    _cell = "cudnn_compatible_lstm_cell"


@export("contrib.cudnn_rnn.CudnnGRUSaveable")
class CudnnGRUSaveable(_ParamsSaveable):
    __doc__ = f"Saves the weights of a stack of GRUs as those of `CudnnCompatibleGRUCell`.{_ARGUMENTS}"
    _converter = converters.CudnnParamsFormatConverterGRU
    _cell = "cudnn_compatible_gru_cell"
    _names = tuple(
        (f"gates/{own}", f"candidate/input_projection/{own}", f"candidate/hidden_projection/{own}")
        for own in ("kernel", "bias")
    )


@export("contrib.cudnn_rnn.CudnnRNNTanhSaveable")
class CudnnRNNTanhSaveable(_ParamsSaveable):
    __doc__ = f"Saves the weights of a stack of tanh layers as those of `BasicRNNCell`.{_ARGUMENTS}"
    _converter = converters.CudnnParamsFormatConverterTanh
    _cell = "basic_rnn_cell"


@export("contrib.cudnn_rnn.CudnnRNNReluSaveable")
class CudnnRNNReluSaveable(_ParamsSaveable):
    __doc__ = f"Saves the weights of a stack of ReLU layers as those of `BasicRNNCell`.{_ARGUMENTS}"
    _converter = converters.CudnnParamsFormatConverterRelu
    _cell = "basic_rnn_cell"
