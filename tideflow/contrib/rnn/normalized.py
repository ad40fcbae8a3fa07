"""Long short-term memory with peepholes and a projection, whose layers or weights are normalized.

They are not in contrib's public namespace: programs take them from `contrib.rnn.python.ops.rnn_cell`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.contrib.rnn.cells import known_width, normalized
from tideflow.graph.operation import Tensor
from tideflow.rnn.cells import LSTMStateTuple, RNNCell

if TYPE_CHECKING:
    from tideflow.graph.typing import InitializerLike


class _ProjectedLSTM(RNNCell):
    """The parts that both cells have: peepholes, clipping, a projection of the output."""

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool,
        cell_clip: float | None,
        initializer: InitializerLike | None,
        num_proj: int | None,
        proj_clip: float | None,
        forget_bias: float,
        activation: Callable | None,
        reuse: bool | None,
    ):
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._initializer = initializer
        self._num_proj = num_proj
        self._proj_clip = proj_clip
        self._forget_bias = forget_bias
        self._activation = activation or tf.tanh

    @property
    def state_size(self) -> LSTMStateTuple:
        return LSTMStateTuple(self._num_units, self.output_size)

    @property
    def output_size(self) -> int:
        return self._num_proj or self._num_units

    def _linear(self, args: Sequence[Tensor], size: int, bias: bool) -> Tensor:
        """The product of arguments, side by side, with a kernel, and a bias."""
        raise NotImplementedError

    def _norm(self, x: Tensor, name: str) -> Tensor:
        """A gate, or the state, as it is used."""
        return x

    def _step(self, inputs: Tensor, state: Any) -> tuple[Tensor, LSTMStateTuple]:
        c, h = state
        known_width(inputs)
        gates = tf.split(self._linear([inputs, h], 4 * self._num_units, bias=True), 4, axis=1)
        names = ("input", "transform", "forget", "output")
        i, j, f, o = (self._norm(gate, name) for gate, name in zip(gates, names))
        peeps = self._peepholes(inputs.dtype)
        c = tf.sigmoid(self._peep(f + self._forget_bias, peeps, "f", c)) * c + tf.sigmoid(
            self._peep(i, peeps, "i", c)
        ) * self._activation(j)
        c = self._norm(c, "state")
        if self._cell_clip is not None:
            c = tf.clip_by_value(c, -self._cell_clip, self._cell_clip)
        h = tf.sigmoid(self._peep(o, peeps, "o", c)) * self._activation(c)
        if self._num_proj is not None:
            with tf.variable_scope("projection") as scope, tf.variable_scope(scope):
                h = self._linear([h], self._num_proj, bias=False)
            if self._proj_clip is not None:
                h = tf.clip_by_value(h, -self._proj_clip, self._proj_clip)
        return h, LSTMStateTuple(c, h)

    def _peepholes(self, dtype: Any) -> dict[str, Any]:
        if not self._use_peepholes:
            return {}
        return {gate: tf.get_variable(f"w_{gate}_diag", [self._num_units], dtype=dtype) for gate in "fio"}

    def _peep(self, gate: Tensor, peeps: dict[str, Any], name: str, c: Tensor) -> Tensor:
        return gate + peeps[name] * c if peeps else gate


def _bias(size: int, dtype: Any) -> Any:
    """A bias that begins with zeros and is never partitioned."""
    with tf.variable_scope(tf.get_variable_scope()) as scope:
        scope.set_partitioner(None)
        return tf.get_variable("bias", [size], dtype=dtype, initializer=tf.constant_initializer(0.0, dtype))


def _widths(args: Sequence[Tensor]) -> list[int]:
    widths = []
    for arg in args:
        if arg.shape.ndims != 2:
            raise ValueError(f"linear is expecting 2D arguments: {[a.shape for a in args]}")
        width = arg.shape.as_list()[1]
        if width is None:
            raise ValueError(f"linear expects shape[1] to be provided for shape {arg.shape}, but saw ?")
        widths.append(width)
    return widths


def _joined(args: Sequence[Tensor]) -> Tensor:
    return args[0] if len(args) == 1 else tf.concat(args, 1)


class LayerNormLSTMCell(_ProjectedLSTM):
    """Long short-term memory with peepholes and a projection, whose gates and state are normalized.

    Args:
      num_units: The number of units.
      use_peepholes: Whether the gates see the state.
      cell_clip: The largest size of the state's elements; any if None.
      initializer: The initializer of the weights.
      num_proj: The size of the output; `num_units` if None.
      proj_clip: The largest size of the output's elements; any if None.
      forget_bias: What is added to the forget gate.
      activation: The activation; tanh if None.
      layer_norm: Whether gates and state are normalized (Ba et al., 2016).
      norm_gain: The initial factor of the normalization.
      norm_shift: The initial offset of the normalization.
      reuse: Whether the variables of an earlier cell of the same scope are shared.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: InitializerLike | None = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        forget_bias: float = 1.0,
        activation: Callable | None = None,
        layer_norm: bool = False,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
        reuse: bool | None = None,
    ):
        super().__init__(
            num_units,
            use_peepholes,
            cell_clip,
            initializer,
            num_proj,
            proj_clip,
            forget_bias,
            activation,
            reuse,
        )
        self._layer_norm = layer_norm
        self._norm_gain = norm_gain
        self._norm_shift = norm_shift

    def _norm(self, x: Tensor, name: str) -> Tensor:
        return normalized(x, name, self._norm_gain, self._norm_shift) if self._layer_norm else x

    def _linear(self, args: Sequence[Tensor], size: int, bias: bool) -> Tensor:
        dtype = args[0].dtype
        sums = tf.matmul(_joined(args), tf.get_variable("kernel", [sum(_widths(args)), size], dtype=dtype))
        if not bias:
            return sums
        offset = _bias(size, dtype)  # made in any case, and added where no normalization shifts
        return sums if self._layer_norm else tf.nn.bias_add(sums, offset)

    def call(self, inputs: Tensor, state: Any) -> tuple[Tensor, LSTMStateTuple]:
        with tf.variable_scope(tf.get_variable_scope(), initializer=self._initializer):
            return self._step(inputs, state)


class WeightNormLSTMCell(_ProjectedLSTM):
    """Long short-term memory with peepholes and a projection, whose weights have a learned length.

    Each column of a kernel is its direction times a variable (Salimans and Kingma, 2016).

    Args:
      num_units: The number of units.
      norm: Whether weights are normalized.
      use_peepholes: Whether the gates see the state.
      cell_clip: The largest size of the state's elements; any if None.
      initializer: The initializer of the weights.
      num_proj: The size of the output; `num_units` if None.
      proj_clip: The largest size of the output's elements; any if None.
      forget_bias: What is added to the forget gate.
      activation: The activation; tanh if None.
      reuse: Whether the variables of an earlier cell of the same scope are shared.
    """

    def __init__(
        self,
        num_units: int,
        norm: bool = True,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: InitializerLike | None = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        forget_bias: float = 1,
        activation: Callable | None = None,
        reuse: bool | None = None,
    ):
        super().__init__(
            num_units,
            use_peepholes,
            cell_clip,
            initializer,
            num_proj,
            proj_clip,
            forget_bias,
            activation,
            reuse,
        )
        self._scope = "wn_lstm_cell"  # in the place of the class's own name, and once more below it
        self._normalizes = norm

    def _linear(self, args: Sequence[Tensor], size: int, bias: bool) -> Tensor:
        dtype, widths = args[0].dtype, _widths(args)
        kernel = tf.get_variable("kernel", [sum(widths), size], dtype=dtype)
        if self._normalizes:
            with tf.control_dependencies(None):
                parts = [self._unit_length(kernel, widths, place) for place in range(len(widths))]
                kernel = tf.concat(parts, axis=0)
        sums = tf.matmul(_joined(args), kernel)
        return tf.nn.bias_add(sums, _bias(size, dtype)) if bias else sums

    def _unit_length(self, kernel: Any, widths: list[int], place: int) -> Tensor:
        """The rows of one argument, of length one in each column, times a variable."""
        first = sum(widths[:place])
        rows = kernel[first : first + widths[place], :]
        length = tf.get_variable(f"norm_{place}", [rows.shape.as_list()[1]], dtype=rows.dtype)
        return tf.nn.l2_normalize(rows, axis=0) * length

    def call(self, inputs: Tensor, state: Any) -> tuple[Tensor, LSTMStateTuple]:
        with tf.variable_scope(self._scope, initializer=self._initializer):
            return self._step(inputs, state)
