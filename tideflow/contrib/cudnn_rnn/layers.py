"""The layers: a stack of recurrent layers, with all weights in one variable."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, ClassVar

from tideflow.contrib.cudnn_rnn import saveables
from tideflow.contrib.cudnn_rnn.converters import BIDIRECTIONAL, UNIDIRECTIONAL
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import GraphKeys, add_to_collection
from tideflow.graph.shapes import TensorShape
from tideflow.layers.input_spec import InputSpec
from tideflow.layers.scoped import Layer
from tideflow.ops.arrays import constants, creation, shapes
from tideflow.ops.helpers.recurrent_layouts import GATES, Layout
from tideflow.ops.nn import cudnn_params, cudnn_rnn
from tideflow.ops.random.sources import seed_attrs
from tideflow.variables.initializers import Constant, GlorotUniform
from tideflow.variables.variable_scope import get_variable_scope

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, InitializerLike, ShapeLike, TensorLike

_INPUT_MODES = ("linear_input", "skip_input", "auto_select")


class _CudnnRNN(Layer):
    """What the layers of all kinds of cells share."""

    _rnn_mode: ClassVar[str]
    _saveable_class: ClassVar[type]

    def __init__(
        self,
        num_layers: int,
        num_units: int,
        input_mode: str = "linear_input",
        direction: str = UNIDIRECTIONAL,
        dropout: float = 0.0,
        seed: int | None = None,
        dtype: DTypeLike = dtypes.float32,
        kernel_initializer: InitializerLike | None = None,
        bias_initializer: InitializerLike | None = None,
        name: str | None = None,
    ):
        super().__init__(dtype=dtype, name=name)
        if direction not in (UNIDIRECTIONAL, BIDIRECTIONAL):
            raise ValueError(f"Invalid direction: {direction}, expecting {UNIDIRECTIONAL} or {BIDIRECTIONAL}")
        if input_mode not in _INPUT_MODES:
            raise ValueError(f"Invalid input_mode: {input_mode}, expect one of ({', '.join(_INPUT_MODES)})")
        self._plain_dtype = dtypes.as_dtype(dtype)
        if self._plain_dtype not in (dtypes.float16, dtypes.float32, dtypes.float64):
            raise ValueError(f"Only support float16, float32, float64, provided {dtype}")
        self._num_layers = num_layers
        self._num_units = num_units
        self._input_mode = input_mode
        self._direction = direction
        self._dropout = dropout
        self._seed = seed
        self._kernel_initializer = kernel_initializer or GlorotUniform(seed=seed, dtype=self._plain_dtype)
        self._bias_initializer = bias_initializer or Constant(0.0, dtype=self._plain_dtype)
        self._modes = {"rnn_mode": self._rnn_mode, "input_mode": input_mode, "direction": direction}
        self._input_size: int | None = None
        self._saveable: Any = None

    @property
    def num_layers(self) -> int:
        """The number of layers."""
        return self._num_layers

    @property
    def num_units(self) -> int:
        """The number of units of a layer."""
        return self._num_units

    @property
    def input_mode(self) -> str:
        """How the first layer takes its inputs."""
        return self._input_mode

    @property
    def input_size(self) -> int:
        """The size of the inputs, once the layer has been applied."""
        if not self._input_size:
            raise ValueError("'input_size' is unknown since layer has not been built.")
        return self._input_size

    @property
    def rnn_mode(self) -> str:
        """The kind of cells."""
        return self._rnn_mode

    @property
    def direction(self) -> str:
        """`"unidirectional"` or `"bidirectional"`."""
        return self._direction

    @property
    def num_dirs(self) -> int:
        """The number of directions."""
        return 2 if self._direction == BIDIRECTIONAL else 1

    @property
    def saveable(self) -> Any:
        """How checkpoints keep the weights."""
        return self._saveable

    @property
    def canonical_weight_shapes(self) -> list[tuple[int, int]]:
        """The shapes of the weights by gate, layer after layer."""
        if not self._input_size:
            raise RuntimeError(
                f"{type(self).__name__}.canonical_weight_shapes invoked before input shape is known"
            )
        return self._layout.weights

    @property
    def canonical_bias_shapes(self) -> list[list[int]]:
        """The shapes of the biases by gate, layer after layer."""
        return [[self._num_units]] * (2 * GATES[self._rnn_mode] * self.num_dirs * self._num_layers)

    def build(self, input_shape: ShapeLike) -> None:
        """Makes the variable that holds all weights.

        Args:
          input_shape: The shape of the inputs, of which the last size must be known.

        Raises:
          ValueError: If it is not, or there are not three axes.
        """
        shape = TensorShape(input_shape)
        if shape.ndims != 3:
            raise ValueError(f"Expecting input_shape with 3 dims, got {shape.ndims}")
        self._input_size = shape.as_list()[-1]
        if self._input_size is None:
            raise ValueError(
                "The last dimension of the inputs to `CudnnRNN` should be defined. Found `None`."
            )
        self.input_spec = InputSpec(ndim=3, axes={-1: self._input_size})
        self._layout = Layout.of(self._num_layers, self._num_units, self._input_size, **self._modes)
        self.kernel = self.add_weight(
            "opaque_kernel", [self._layout.size], self._plain_dtype, initializer=self._first_params
        )
        if get_variable_scope().reuse is not True:
            self._saveable = self._saveable_class(
                self.kernel,
                self._num_layers,
                self._num_units,
                self._input_size,
                self._input_mode,
                self._direction,
                scope=get_variable_scope(),
                name=f"{self.kernel.op.name}_saveable",
            )
            add_to_collection(GraphKeys.SAVEABLE_OBJECTS, self._saveable)
        self.built = True

    def _first_params(self, *_: Any, **__: Any) -> Tensor:
        """What the variable begins with: each weight by the initializer, as if it were alone."""
        dtype = self._plain_dtype
        weights = [self._kernel_initializer(shape, dtype=dtype) for shape in self.canonical_weight_shapes]
        biases = [self._bias_initializer(shape, dtype=dtype) for shape in self.canonical_bias_shapes]
        sizes = self._num_layers, self._num_units, self._input_size
        return cudnn_params.canonical_to_params_op(*sizes, weights, biases, **self._modes)

    def state_shape(self, batch_size: int | Tensor) -> tuple[list[Any], ...]:
        """The shapes of the states.

        Args:
          batch_size: The number of sequences.

        Returns:
          The shape of each state.
        """
        return ([self._num_layers * self.num_dirs, batch_size, self._num_units],) * self._states

    @property
    def _states(self) -> int:
        return 2 if self._rnn_mode == "lstm" else 1

    def call(
        self,
        inputs: TensorLike,
        initial_state: tuple[TensorLike, ...] | None = None,
        sequence_lengths: TensorLike | None = None,
        time_major: bool = True,
        training: bool = True,
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Computes the layers over whole sequences.

        Args:
          inputs: The inputs, a tensor [steps, batch, input_size].
          initial_state: The states to begin with, h or (h, c), each [layers * directions, batch, units];
            zeros if None.
          sequence_lengths: The number of steps of each sequence, a vector; None if all are as long.
          time_major: Whether steps come before the batch in inputs and outputs. If not, the batch comes first
            in all tensors, states included.
          training: Whether dropout is applied between the layers.

        Returns:
          The outputs, [steps, batch, directions * units], and the last states.

        Raises:
          TypeError: If `initial_state` is not a tuple.
        """
        if initial_state is not None and not isinstance(initial_state, tuple):
            raise TypeError(f"Invalid initial_state type: {initial_state}, expecting tuple.")
        given = convert_to_tensor(inputs, dtype=self._plain_dtype)
        if initial_state is None:
            initial_state = self._zero_state(given, time_major)
        states = [convert_to_tensor(state, dtype=self._plain_dtype) for state in initial_state]
        if len(states) < 2:
            states.append(constants.constant([], dtype=self._plain_dtype))
        attrs = {**self._modes, "dropout": self._dropout, **seed_attrs(self._seed), "is_training": training}
        tensors = given, *states, self.kernel
        if sequence_lengths is not None or not time_major:
            steps, batch = (0, 1) if time_major else (1, 0)
            if sequence_lengths is None:
                sizes = shapes.shape(given)
                sequence_lengths = creation.fill([sizes[batch]], sizes[steps])
            results = cudnn_rnn.cudnn_rnn_v3_op(*tensors, sequence_lengths, time_major=time_major, **attrs)
        elif os.environ.get("TF_CUDNN_RNN_USE_V2", "0") == "1":
            results = cudnn_rnn.cudnn_rnn_v2_op(*tensors, **attrs)
        else:
            results = cudnn_rnn.cudnn_rnn_op(*tensors, **attrs)
        return results[0], tuple(results[1 : 1 + self._states])

    def _zero_state(self, inputs: Tensor, time_major: bool) -> tuple[Tensor, ...]:
        batch_size = shapes.shape(inputs)[1 if time_major else 0]
        found = []
        for layers, batch, units in self.state_shape(batch_size):
            shape = [layers, batch, units] if time_major else [batch, layers, units]
            found.append(creation.zeros(shape, dtype=self._plain_dtype))
        return tuple(found)


_ARGUMENTS = """

    Args:
      num_layers: The number of layers.
      num_units: The number of units of a layer.
      input_mode: How the first layer takes its inputs: by weights (`"linear_input"`), as they are
        (`"skip_input"`), or as they are if their size is `num_units` (`"auto_select"`).
      direction: `"unidirectional"` or `"bidirectional"`.
      dropout: The share of values that training drops between the layers.
      seed: The seed of dropout and of the initializer.
      dtype: float16, float32 or float64.
      kernel_initializer: The initializer of each weight; that of Glorot, uniform, if None.
      bias_initializer: The initializer of each bias; zeros if None.
      name: The name of the layer.

    Raises:
      ValueError: If `input_mode`, `direction` or `dtype` is another.
    """


@export("contrib.cudnn_rnn.CudnnLSTM")
class CudnnLSTM(_CudnnRNN):
    __doc__ = f"Layers of long short-term memory, over whole sequences.{_ARGUMENTS}"
    _rnn_mode = "lstm"
    _saveable_class = saveables.CudnnLSTMSaveable


@export("contrib.cudnn_rnn.CudnnGRU")
class CudnnGRU(_CudnnRNN):
    __doc__ = f"Layers of gated recurrent units, over whole sequences.{_ARGUMENTS}"
    _rnn_mode = "gru"
    _saveable_class = saveables.CudnnGRUSaveable


@export("contrib.cudnn_rnn.CudnnRNNTanh")
class CudnnRNNTanh(_CudnnRNN):
    __doc__ = f"Recurrent layers `tanh(w x + r h + b)`, over whole sequences.{_ARGUMENTS}"
    _rnn_mode = "rnn_tanh"
    _saveable_class = saveables.CudnnRNNTanhSaveable


@export("contrib.cudnn_rnn.CudnnRNNRelu")
class CudnnRNNRelu(_CudnnRNN):
    __doc__ = f"Recurrent layers `relu(w x + r h + b)`, over whole sequences.{_ARGUMENTS}"
    _rnn_mode = "rnn_relu"
    _saveable_class = saveables.CudnnRNNReluSaveable
