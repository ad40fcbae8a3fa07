"""Recurrent layers in one op, which a GPU computes by cuDNN.

The memory of a gate's kernel is that of cuDNN's matrix, which has the other shape: `saving/cudnn_weights.py`
converts the weights of other layers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import tideflow as tf
from tideflow.export import export
from tideflow.keras.layers.cells import BOUNDS, WEIGHTS, add_weights, forgetful
from tideflow.keras.layers.recurrent import RNN
from tideflow.layers.argument_docs import described
from tideflow.layers.configured import Configured
from tideflow.layers.input_spec import InputSpec
from tideflow.ops.nn.cudnn_rnn import cudnn_rnn_v2_op

if TYPE_CHECKING:
    from tideflow.graph.typing import InitializerLike, RegularizerLike

_OPTIONS = ("return_sequences", "return_state", "go_backwards", "stateful")


class _Cell(NamedTuple):
    """What the base asks of a cell: there is none, the op is the whole layer."""

    state_size: Any


class _CuDNN(RNN):
    _mode: str
    _gates: int
    _order: tuple[int, ...]  # the gates in the op's order
    _config = (*_OPTIONS, "time_major", "units", *WEIGHTS, *BOUNDS, "activity_regularizer")

    def _init(self, given: dict[str, Any], kwargs: dict[str, Any], state_size: Any) -> None:
        time_major = kwargs.pop("time_major", False)
        Configured.__init__(self, **kwargs)
        own = {name: given[name] for name in self._config if name not in ("time_major", *_OPTIONS)}
        self._keep(time_major=time_major, **own)
        for name in _OPTIONS:
            setattr(self, name, given[name])
        self.cell = _Cell(state_size)
        self.input_spec = [InputSpec(ndim=3)]
        self.state_spec = self.states_value = self.constants_spec = self._num_constants = None

    def build(self, input_shape: Any) -> None:
        super().build(input_shape)
        width = tf.TensorShape(input_shape[0] if isinstance(input_shape, list) else input_shape).as_list()[-1]
        n, size = self.units, self.units * self._gates
        add_weights(self, (width, size), (n, size), (2 * size,), self._bias_initializer())
        self.built = True

    def _bias_initializer(self) -> Any:
        return self.bias_initializer

    def call(self, inputs: Any, mask: Any = None, training: Any = None, initial_state: Any = None) -> Any:
        if isinstance(mask, list):
            mask = mask[0]
        if mask is not None:
            raise ValueError("Masking is not supported for CuDNN RNNs.")
        if isinstance(inputs, list):
            inputs, *initial_state = inputs
        if initial_state is None:
            initial_state = self.states_value if self.stateful else self.get_initial_state(inputs)
        if len(initial_state) != len(self.states):
            raise ValueError(
                f"Layer has {len(self.states)} states but was passed {len(initial_state)} initial states."
            )
        if self.go_backwards:
            inputs = tf.reverse(inputs, [1])
        output, states = self._computed(inputs, initial_state)
        if self.stateful:
            for kept, state in zip(self.states_value, states, strict=True):
                self.add_update(tf.assign(kept, state))
        return [output, *states] if self.return_state else output

    def _computed(self, inputs: Any, states: Any) -> tuple[Any, list[Any]]:
        if not self.time_major:
            inputs = tf.transpose(inputs, [1, 0, 2])
        firsts = [tf.expand_dims(state, 0) for state in states]
        none = tf.zeros([], inputs.dtype)
        outputs, *lasts = cudnn_rnn_v2_op(
            inputs,
            firsts[0],
            firsts[1] if len(firsts) > 1 else none,
            self._parameters(),
            rnn_mode=self._mode,
            is_training=True,
        )[:3]
        lasts = [last[0] for last in lasts[: len(firsts)]]
        if not self.return_sequences:
            return outputs[-1], lasts
        return outputs if self.time_major else tf.transpose(outputs, [1, 0, 2]), lasts

    def _parameters(self) -> Any:
        """The weights as one vector, in the order of the op."""
        kernels = [tf.split(kernel, self._gates, axis=1) for kernel in (self.kernel, self.recurrent_kernel)]
        biases = tf.split(self.bias, 2 * self._gates)
        halves = [biases[: self._gates], biases[self._gates :]]
        parts = [half[gate] for half in kernels for gate in self._order]
        parts += [half[gate] for half in halves for gate in self._order]
        return tf.concat([tf.reshape(part, [-1]) for part in parts], axis=0)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        return None

    def get_config(self) -> dict[str, Any]:
        """The arguments of the constructor, by name."""
        return Configured.get_config(self)

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Any:
        return cls(**config)


@export("keras.layers.CuDNNGRU")
@described("Gated recurrent units as cuDNN has them: a `GRU` with `reset_after`, in one op.")
class CuDNNGRU(_CuDNN):
    _mode = "gru"
    _gates = 3
    _order = (1, 0, 2)

    def __init__(
        self,
        units: int,
        kernel_initializer: str | InitializerLike | None = "glorot_uniform",
        recurrent_initializer: str | InitializerLike | None = "orthogonal",
        bias_initializer: str | InitializerLike | None = "zeros",
        kernel_regularizer: str | RegularizerLike | None = None,
        recurrent_regularizer: str | RegularizerLike | None = None,
        bias_regularizer: str | RegularizerLike | None = None,
        activity_regularizer: str | RegularizerLike | None = None,
        kernel_constraint: str | Callable | None = None,
        recurrent_constraint: str | Callable | None = None,
        bias_constraint: str | Callable | None = None,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        **kwargs: Any,
    ):
        self._init(locals(), kwargs, units)


@export("keras.layers.CuDNNLSTM")
@described("Long short-term memory as cuDNN has it, in one op.")
class CuDNNLSTM(_CuDNN):
    _mode = "lstm"
    _gates = 4
    _order = (0, 1, 2, 3)
    _config = (*_CuDNN._config, "unit_forget_bias")

    def __init__(
        self,
        units: int,
        kernel_initializer: str | InitializerLike | None = "glorot_uniform",
        recurrent_initializer: str | InitializerLike | None = "orthogonal",
        bias_initializer: str | InitializerLike | None = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: str | RegularizerLike | None = None,
        recurrent_regularizer: str | RegularizerLike | None = None,
        bias_regularizer: str | RegularizerLike | None = None,
        activity_regularizer: str | RegularizerLike | None = None,
        kernel_constraint: str | Callable | None = None,
        recurrent_constraint: str | Callable | None = None,
        bias_constraint: str | Callable | None = None,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        **kwargs: Any,
    ):
        self._init(locals(), kwargs, (units, units))

    def _bias_initializer(self) -> Any:
        return (
            forgetful(self.bias_initializer, self.units, 5)
            if self.unit_forget_bias
            else self.bias_initializer
        )
