"""Cells that stayed in contrib."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.contrib.layers import normalizers
from tideflow.contrib.rnn.wrappers import Linear
from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import GraphKeys, get_default_graph
from tideflow.graph.shapes import TensorShape
from tideflow.nn import convolutions, dropouts
from tideflow.ops.arrays import joining, slicing
from tideflow.ops.linalg import matmul
from tideflow.ops.math import clipping, unary
from tideflow.ops.nn import activations, convolution, volume_convolution
from tideflow.platform import logging
from tideflow.rnn.cells import LayerRNNCell, LSTMStateTuple, RNNCell, warn_of_joined_state
from tideflow.variables import initializers
from tideflow.variables import variable_scope as scopes

if TYPE_CHECKING:
    from tideflow.graph.typing import InitializerLike, TensorLike


def normalized(x: Tensor, scope: str, gain: float, shift: float, dtype: Any = None) -> Tensor:
    """`x` with each row normalized, then scaled and shifted by variables that begin as told."""
    width = x.shape[-1:]
    with scopes.variable_scope(scope):
        for name, start in (("gamma", gain), ("beta", shift)):
            initializer = initializers.Constant(start)
            scopes.get_variable(name, shape=width, initializer=initializer, dtype=dtype)
    return normalizers.layer_norm(x, reuse=True, scope=scope)


def known_width(inputs: Tensor) -> int:
    width = inputs.shape.with_rank(2).as_list()[1]
    if width is None:
        raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
    return width


class _Sized(RNNCell):
    """A cell of `num_units` units, all of them its state and its output."""

    def __init__(self, num_units: int, reuse: bool | None):
        super().__init__(_reuse=reuse)
        self._num_units = num_units

    @property
    def state_size(self) -> Any:
        return self._num_units

    @property
    def output_size(self) -> Any:
        return self._num_units


@export("contrib.rnn.LayerNormBasicLSTMCell")
class LayerNormBasicLSTMCell(_Sized):
    """Long short-term memory with normalized gates (Ba et al., 2016) and dropout of what is newly
    remembered (Semeniuta et al., 2016).

    Args:
      num_units: The number of units.
      forget_bias: What is added to the forget gate, so that little is forgotten at first.
      input_size: Ignored: the size of the input is found from the first one.
      activation: The activation.
      layer_norm: Whether the gates are normalized.
      norm_gain: The initial factor of the normalization.
      norm_shift: The initial offset of the normalization.
      dropout_keep_prob: The probability that an element is kept, a number or a scalar.
      dropout_prob_seed: The seed of dropout.
      reuse: Whether the variables of an earlier cell of the same scope are shared.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        input_size: int | None = None,
        activation: Callable = unary.tanh,
        layer_norm: bool = True,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
        dropout_keep_prob: TensorLike = 1.0,
        dropout_prob_seed: int | None = None,
        reuse: bool | None = None,
    ):
        super().__init__(num_units, reuse)
        if input_size is not None:
            logging.warn("%s: The input_size parameter is deprecated.", self)
        self._activation = activation
        self._forget_bias = forget_bias
        self._keep_prob = dropout_keep_prob
        self._seed = dropout_prob_seed
        self._layer_norm = layer_norm
        self._norm_gain = norm_gain
        self._norm_shift = norm_shift

    @property
    def state_size(self) -> LSTMStateTuple:
        return LSTMStateTuple(self._num_units, self._num_units)

    def _norm(self, x: Tensor, scope: str) -> Tensor:
        if not self._layer_norm:
            return x
        return normalized(x, scope, self._norm_gain, self._norm_shift, x.dtype)

    def _gates(self, args: Tensor) -> list[Tensor]:
        size = 4 * self._num_units
        weights = scopes.get_variable("kernel", [args.shape.as_list()[-1], size], dtype=args.dtype)
        sums = matmul.matmul(args, weights)
        if not self._layer_norm:
            sums = activations.bias_add(sums, scopes.get_variable("bias", [size], dtype=args.dtype))
        names = ("input", "transform", "forget", "output")
        return [self._norm(part, name) for part, name in zip(joining.split(sums, 4, axis=1), names)]

    def call(self, inputs: Tensor, state: Any) -> tuple[Tensor, LSTMStateTuple]:
        c, h = state
        i, j, f, o = self._gates(joining.concat([inputs, h], 1))
        new = self._activation(j)
        if not isinstance(self._keep_prob, float) or self._keep_prob < 1:
            new = dropouts.dropout(new, self._keep_prob, seed=self._seed)
        c = c * unary.sigmoid(f + self._forget_bias) + unary.sigmoid(i) * new
        c = self._norm(c, "state")
        h = self._activation(c) * unary.sigmoid(o)
        return h, LSTMStateTuple(c, h)


@export("contrib.rnn.CoupledInputForgetGateLSTMCell")
class CoupledInputForgetGateLSTMCell(_Sized):
    """Long short-term memory that takes in as much as it forgets (Greff et al., 2015).

    Args:
      num_units: The number of units.
      use_peepholes: Whether the gates see the cell's state.
      initializer: The initializer of the weights; that of the variable scope if None.
      num_proj: The size that outputs are projected to; no projection if None.
      proj_clip: The largest absolute value of projected outputs; any if None.
      num_unit_shards: The number of parts of the weights.
      num_proj_shards: The number of parts of the projection's weights.
      forget_bias: What is added to the forget gate, so that little is forgotten at first.
      state_is_tuple: Whether the state is an LSTMStateTuple; if not, one tensor.
      activation: The activation.
      reuse: Whether the variables of an earlier cell of the same scope are shared.
      layer_norm: Whether the gates are normalized.
      norm_gain: The initial factor of the normalization.
      norm_shift: The initial offset of the normalization.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        initializer: InitializerLike | None = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int = 1,
        num_proj_shards: int = 1,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Callable = unary.tanh,
        reuse: bool | None = None,
        layer_norm: bool = False,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
    ):
        super().__init__(num_units, reuse)
        warn_of_joined_state(self, state_is_tuple)
        self._use_peepholes = use_peepholes
        self._initializer = initializer
        self._num_proj = num_proj
        self._proj_clip = proj_clip
        self._num_unit_shards = num_unit_shards
        self._num_proj_shards = num_proj_shards
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = activation
        self._layer_norm = layer_norm
        self._norm_gain = norm_gain
        self._norm_shift = norm_shift

    @property
    def output_size(self) -> int:
        return self._num_proj or self._num_units

    @property
    def state_size(self) -> Any:
        c, h = self._num_units, self.output_size
        return LSTMStateTuple(c, h) if self._state_is_tuple else c + h

    def _norm(self, x: Tensor, scope: str) -> Tensor:
        return normalized(x, scope, self._norm_gain, self._norm_shift) if self._layer_norm else x

    def call(self, inputs: Tensor, state: Any) -> tuple[Tensor, Any]:
        c, h = self._parts(state)
        units, dtype = self._num_units, inputs.dtype
        rows = known_width(inputs) + (units if self._num_proj is None else self._num_proj)
        weights = sharded("W", [rows, 3 * units], dtype, self._num_unit_shards)
        bias = scopes.get_variable("B", shape=[3 * units], initializer=initializers.Zeros(), dtype=dtype)
        sums = matmul.matmul(joining.concat([inputs, h], 1), weights)
        if not self._layer_norm:
            sums = activations.bias_add(sums, bias)
        parts = joining.split(sums, 3, axis=1)
        j, f, o = (self._norm(part, name) for part, name in zip(parts, ("transform", "forget", "output")))
        if self._use_peepholes:
            w_f, w_o = (scopes.get_variable(f"W_{gate}_diag", shape=[units], dtype=dtype) for gate in "FO")
        f = f + self._forget_bias
        keep = unary.sigmoid(f + w_f * c if self._use_peepholes else f)
        c = self._norm(keep * c + (1 - keep) * self._activation(j), "state")
        h = unary.sigmoid(o + w_o * c if self._use_peepholes else o) * self._activation(c)
        if self._num_proj is not None:
            projection = sharded("W_P", [units, self._num_proj], dtype, self._num_proj_shards)
            h = matmul.matmul(h, projection)
            if self._proj_clip is not None:
                h = clipping.clip_by_value(h, -self._proj_clip, self._proj_clip)
        return h, LSTMStateTuple(c, h) if self._state_is_tuple else joining.concat([c, h], 1)

    def _parts(self, state: Any) -> tuple[Tensor, Tensor]:
        if self._state_is_tuple:
            c, h = state
            return c, h
        units, outputs = self._num_units, self.output_size
        c = slicing.slice(state, [0, 0], [-1, units])
        return c, slicing.slice(state, [0, units], [-1, outputs])


def sharded(name: str, shape: list[int], dtype: Any, shards: int) -> Any:
    """A variable in parts `name_0`, `name_1` …, joined once in a scope."""
    if shards > shape[0]:
        raise ValueError(f"Too many shards: shape={shape}, num_shards={shards}")
    least, more = divmod(shape[0], shards)
    parts = [
        scopes.get_variable(f"{name}_{i}", [least + (i < more), *shape[1:]], dtype=dtype)
        for i in range(shards)
    ]
    if len(parts) == 1:
        return parts[0]
    full_name = f"{scopes.get_variable_scope().name}/{name}/concat:0"
    joined_before = get_default_graph().get_collection_ref(GraphKeys.CONCATENATED_VARIABLES)
    known = next((value for value in joined_before if value.name == full_name), None)
    if known is not None:
        return known
    joined = joining.concat(parts, 0, name=f"{name}/concat")
    joined_before.append(joined)
    return joined


@export("contrib.rnn.NASCell")
class NASCell(LayerRNNCell):
    """The cell that architecture search found (Zoph and Le, 2016).

    Args:
      num_units: The number of units.
      num_proj: The size that outputs are projected to; no projection if None.
      use_bias: Whether biases are added.
      reuse: Whether the variables of an earlier cell of the same scope are shared.
      kwargs: Arguments of `tf.layers.Layer`.
    """

    _GATES = 8

    def __init__(
        self,
        num_units: int,
        num_proj: int | None = None,
        use_bias: bool = False,
        reuse: bool | None = None,
        **kwargs: Any,
    ):
        super().__init__(_reuse=reuse, **kwargs)
        self._num_units = num_units
        self._num_proj = num_proj
        self._use_bias = use_bias

    @property
    def output_size(self) -> int:
        return self._num_units if self._num_proj is None else self._num_proj

    @property
    def state_size(self) -> LSTMStateTuple:
        return LSTMStateTuple(self._num_units, self.output_size)

    def build(self, inputs_shape: TensorShape) -> None:
        rows = TensorShape(inputs_shape).with_rank(2).as_list()[1]
        if rows is None:
            raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
        columns = self._GATES * self._num_units
        self.recurrent_kernel = self.add_weight("recurrent_kernel", [self.output_size, columns])
        self.kernel = self.add_weight("kernel", [rows, columns])
        if self._use_bias:
            self.bias = self.add_weight("bias", [columns], initializer=initializers.Zeros())
        if self._num_proj is not None:
            shape = [self._num_units, self._num_proj]
            self.projection_weights = self.add_weight("projection_weights", shape)
        self.built = True

    def call(self, inputs: Tensor, state: Any) -> tuple[Tensor, LSTMStateTuple]:
        sigmoid, tanh, relu = unary.sigmoid, unary.tanh, activations.relu
        c, h = state
        by_state = matmul.matmul(h, self.recurrent_kernel)
        by_inputs = matmul.matmul(inputs, self.kernel)
        if self._use_bias:
            by_state = activations.bias_add(by_state, self.bias)
        s = joining.split(by_state, self._GATES, axis=1)
        x = joining.split(by_inputs, self._GATES, axis=1)
        first = [
            sigmoid(x[0] + s[0]),
            relu(x[1] + s[1]),
            sigmoid(x[2] + s[2]),
            relu(x[3] * s[3]),
            tanh(x[4] + s[4]),
            sigmoid(x[5] + s[5]),
            tanh(x[6] + s[6]),
            sigmoid(x[7] + s[7]),
        ]
        second = [
            tanh(first[0] * first[1]),
            tanh(first[2] + first[3]),
            tanh(first[4] * first[5]),
            sigmoid(first[6] + first[7]),
        ]
        c = tanh(second[0] + c) * second[1]
        h = tanh(c * tanh(second[2] + second[3]))
        if self._num_proj is not None:
            h = matmul.matmul(h, self.projection_weights)
        return h, LSTMStateTuple(c, h)


@export("contrib.rnn.UGRNNCell")
class UGRNNCell(_Sized):
    """Update gate recurrent network (Collins et al., 2016).

    Args:
      num_units: The number of units.
      initializer: The initializer of the weights; that of the variable scope if None.
      forget_bias: What is added to the forget gate, so that little is forgotten at first.
      activation: The activation.
      reuse: Whether the variables of an earlier cell of the same scope are shared.
    """

    def __init__(
        self,
        num_units: int,
        initializer: InitializerLike | None = None,
        forget_bias: float = 1.0,
        activation: Callable = unary.tanh,
        reuse: bool | None = None,
    ):
        super().__init__(num_units, reuse)
        self._initializer = initializer
        self._forget_bias = forget_bias
        self._activation = activation
        self._linear: Linear | None = None

    def call(self, inputs: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        known_width(inputs)
        with scopes.variable_scope(scopes.get_variable_scope(), initializer=self._initializer):
            both = joining.concat([inputs, state], 1)
            self._linear = self._linear or Linear(both, 2 * self._num_units, True)
            gate, candidate = joining.split(self._linear(both), 2, axis=1)
            candidate = self._activation(candidate)
            gate = unary.sigmoid(gate + self._forget_bias)
            new_state = gate * state + (1.0 - gate) * candidate
        return new_state, new_state


@export("contrib.rnn.IntersectionRNNCell")
class IntersectionRNNCell(_Sized):
    """Intersection recurrent network, with gates along time and along depth (Collins et al., 2016).

    Args:
      num_units: The number of units.
      num_in_proj: The size that inputs are projected to, which is that of the units; no projection if None.
      initializer: The initializer of the weights; that of the variable scope if None.
      forget_bias: What is added to the forget gate, so that little is forgotten at first.
      y_activation: The activation along depth.
      reuse: Whether the variables of an earlier cell of the same scope are shared.
    """

    def __init__(
        self,
        num_units: int,
        num_in_proj: int | None = None,
        initializer: InitializerLike | None = None,
        forget_bias: float = 1.0,
        y_activation: Callable = activations.relu,
        reuse: bool | None = None,
    ):
        super().__init__(num_units, reuse)
        self._initializer = initializer
        self._forget_bias = forget_bias
        self._num_input_proj = num_in_proj
        self._y_activation = y_activation
        self._projection: Linear | None = None
        self._linear: Linear | None = None

    def call(self, inputs: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        width, n = known_width(inputs), self._num_units
        with scopes.variable_scope(scopes.get_variable_scope(), initializer=self._initializer):
            if width != n:
                inputs = self._projected(inputs)
            both = joining.concat([inputs, state], 1)
            self._linear = self._linear or Linear(both, 4 * n, True)
            sums = self._linear(both)
            starts = (None, n, 2 * n, 3 * n)
            gate_h, h, gate_y, y = (sums[:, start : (start or 0) + n] for start in starts)
            h, y = unary.tanh(h), self._y_activation(y)
            gate_h = unary.sigmoid(gate_h + self._forget_bias)
            gate_y = unary.sigmoid(gate_y + self._forget_bias)
            new_state = gate_h * state + (1.0 - gate_h) * h
            output = gate_y * inputs + (1.0 - gate_y) * y
        return output, new_state

    def _projected(self, inputs: Tensor) -> Tensor:
        if not self._num_input_proj:
            raise ValueError(
                "Must have input size == output size for Intersection RNN. To fix, num_in_proj should be set "
                "to num_units at cell init."
            )
        with scopes.variable_scope("in_projection"):
            self._projection = self._projection or Linear(inputs, self._num_units, True)
            return self._projection(inputs)


@export("contrib.rnn.ConvLSTMCell")
class ConvLSTMCell(RNNCell):
    """Long short-term memory of images: convolutions in place of products (Shi et al., 2015).

    Args:
      conv_ndims: The number of axes of an image: 1, 2 or 3.
      input_shape: The shape of an input without the batch.
      output_channels: The number of channels of the output.
      kernel_shape: The size of the filter along each axis.
      use_bias: Whether biases are added.
      skip_connection: Whether the input is put beside the output.
      forget_bias: What is added to the forget gate, so that little is forgotten at first.
      initializers: Not used.
      name: The name of the layer.

    Raises:
      ValueError: If `conv_ndims` does not fit the shape of the input.
    """

    def __init__(
        self,
        conv_ndims: int,
        input_shape: Sequence[int],
        output_channels: int,
        kernel_shape: Sequence[int],
        use_bias: bool = True,
        skip_connection: bool = False,
        forget_bias: float = 1.0,
        initializers: Any = None,
        name: str = "conv_lstm_cell",
    ):
        super().__init__(name=name)
        if conv_ndims != len(input_shape) - 1:
            raise ValueError(f"Invalid input_shape {input_shape} for conv_ndims={conv_ndims}.")
        self._conv_ndims = conv_ndims
        self._sizes = list(input_shape)
        self._output_channels = output_channels
        self._kernel_shape = list(kernel_shape)
        self._use_bias = use_bias
        self._forget_bias = forget_bias
        self._skip_connection = skip_connection

    @property
    def output_size(self) -> TensorShape:
        skipped = self._sizes[-1] if self._skip_connection else 0
        return TensorShape([*self._sizes[:-1], self._output_channels + skipped])

    @property
    def state_size(self) -> LSTMStateTuple:
        size = TensorShape([*self._sizes[:-1], self._output_channels])
        return LSTMStateTuple(size, size)

    def call(self, inputs: Tensor, state: Any) -> tuple[Tensor, LSTMStateTuple]:
        cell, hidden = state
        sums = self._convolved([inputs, hidden])
        i, j, f, o = joining.split(sums, 4, axis=self._conv_ndims + 1)
        kept = unary.sigmoid(f + self._forget_bias) * cell
        cell = kept + unary.sigmoid(i) * unary.tanh(j)
        output = unary.tanh(cell) * unary.sigmoid(o)
        if self._skip_connection:
            output = joining.concat([output, inputs], axis=-1)
        return output, LSTMStateTuple(cell, output)

    def _convolved(self, args: list[Tensor]) -> Tensor:
        sizes = [arg.shape.as_list() for arg in args]
        if any(len(each) != self._conv_ndims + 2 for each in sizes):
            raise ValueError(f"Conv Linear expects all args to be of same Dimension: {sizes}")
        rank, dtype = self._conv_ndims + 2, args[0].dtype
        features = 4 * self._output_channels
        depth = sum(each[-1] for each in sizes)
        kernel = scopes.get_variable("kernel", [*self._kernel_shape, depth, features], dtype=dtype)
        convolve = {3: convolutions.conv1d, 4: convolution.conv2d, 5: volume_convolution.conv3d}[rank]
        joined = joining.concat(args, axis=rank - 1)
        sums = convolve(joined, kernel, 1 if rank == 3 else [1] * rank, padding="SAME")
        if not self._use_bias:
            return sums
        zeros = initializers.Constant(0.0, dtype=dtype)
        return sums + scopes.get_variable("biases", [features], dtype=dtype, initializer=zeros)


@export("contrib.rnn.Conv1DLSTMCell")
class Conv1DLSTMCell(ConvLSTMCell):
    """Long short-term memory of rows.

    Args:
      name: The name of the layer.
      kwargs: Arguments of `ConvLSTMCell`: `input_shape`, `output_channels`, `kernel_shape` and so on.
    """

    def __init__(self, name: str = "conv_1d_lstm_cell", **kwargs: Any):
        super().__init__(conv_ndims=1, name=name, **kwargs)


@export("contrib.rnn.Conv2DLSTMCell")
class Conv2DLSTMCell(ConvLSTMCell):
    """Long short-term memory of images.

    Args:
      name: The name of the layer.
      kwargs: Arguments of `ConvLSTMCell`: `input_shape`, `output_channels`, `kernel_shape` and so on.
    """

    def __init__(self, name: str = "conv_2d_lstm_cell", **kwargs: Any):
        super().__init__(conv_ndims=2, name=name, **kwargs)


@export("contrib.rnn.Conv3DLSTMCell")
class Conv3DLSTMCell(ConvLSTMCell):
    """Long short-term memory of volumes.

    Args:
      name: The name of the layer.
      kwargs: Arguments of `ConvLSTMCell`: `input_shape`, `output_channels`, `kernel_shape` and so on.
    """

    def __init__(self, name: str = "conv_3d_lstm_cell", **kwargs: Any):
        super().__init__(conv_ndims=3, name=name, **kwargs)
