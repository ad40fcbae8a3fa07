"""The cells of recurrent layers, and the layers that are made of one kind of cell."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.export import export
from tideflow.keras.layers.recurrent import RNN, initial_state
from tideflow.layers import keras_state
from tideflow.layers.argument_docs import described
from tideflow.layers.configured import Configured
from tideflow.layers.input_spec import InputSpec
from tideflow.ops.control_flow.conditionals import smart_cond

if TYPE_CHECKING:
    from tideflow.graph.typing import InitializerLike, RegularizerLike, ShapeLike

_WEIGHTS = (
    "kernel_initializer",
    "recurrent_initializer",
    "bias_initializer",
)
_BOUNDS = (
    "kernel_regularizer",
    "recurrent_regularizer",
    "bias_regularizer",
    "kernel_constraint",
    "recurrent_constraint",
    "bias_constraint",
)


class _Cell(Configured):
    """What cells share: weights for input and state, and dropout that is the same in all time steps."""

    _gates = 1

    def _take(self, given: dict[str, Any]) -> None:
        self._keep(**{name: given[name] for name in self._config})
        self.dropout = min(1.0, max(0.0, self.dropout))
        self.recurrent_dropout = min(1.0, max(0.0, self.recurrent_dropout))
        self._reset_dropout()

    def _reset_dropout(self) -> None:
        self.__dict__["_kept_masks"] = None

    def _mask(self, x: Any, rate: float, training: Any, number: int) -> list[Any]:
        training = keras_state.learning_phase() if training is None else training
        ones = tf.ones_like(x)
        return [
            smart_cond(training, lambda: tf.nn.dropout(ones, rate=rate), lambda: ones) for _ in range(number)
        ]

    def _masks(self, inputs: Any, state: Any, training: Any) -> tuple[Any, Any]:
        if self.__dict__["_kept_masks"] is None:
            rates = (inputs, self.dropout), (state, self.recurrent_dropout)
            self.__dict__["_kept_masks"] = tuple(
                self._mask(x, rate, training, self._gates) if 0 < rate < 1 else None for x, rate in rates
            )
        return self.__dict__["_kept_masks"]

    def _add_weights(self, input_shape: Any, bias_shape: Any = None) -> None:
        width = tf.TensorShape(input_shape).as_list()[-1]
        size = self.units * self._gates
        self.kernel = self.add_weight(
            "kernel",
            (width, size),
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )
        self.recurrent_kernel = self.add_weight(
            "recurrent_kernel",
            (self.units, size),
            initializer=self.recurrent_initializer,
            regularizer=self.recurrent_regularizer,
            constraint=self.recurrent_constraint,
        )
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                "bias",
                bias_shape or (size,),
                initializer=self._bias_initializer(),
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )

    def _bias_initializer(self) -> Any:
        return self.bias_initializer

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> Any:
        """Makes states of zeros.

        Args:
          inputs: An input, whose batch size and type are used.
          batch_size: The batch size, if there is no input.
          dtype: The type, if there is no input.

        Returns:
          The states.
        """
        return initial_state(self, inputs, batch_size, dtype)


@export("keras.layers.SimpleRNNCell")
@described("The cell of `SimpleRNN`: `activation(inputs @ kernel + state @ recurrent_kernel + bias)`.")
class SimpleRNNCell(_Cell):
    _config = (
        "units",
        "activation",
        "use_bias",
        *_WEIGHTS,
        *_BOUNDS,
        "dropout",
        "recurrent_dropout",
    )

    def __init__(
        self,
        units: int,
        activation: str | Callable | None = "tanh",
        use_bias: bool = True,
        kernel_initializer: str | InitializerLike | None = "glorot_uniform",
        recurrent_initializer: str | InitializerLike | None = "orthogonal",
        bias_initializer: str | InitializerLike | None = "zeros",
        kernel_regularizer: str | RegularizerLike | None = None,
        recurrent_regularizer: str | RegularizerLike | None = None,
        bias_regularizer: str | RegularizerLike | None = None,
        kernel_constraint: str | Callable | None = None,
        recurrent_constraint: str | Callable | None = None,
        bias_constraint: str | Callable | None = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self._take(locals())
        self.state_size = self.output_size = self.units

    def build(self, input_shape: ShapeLike) -> None:
        self._add_weights(input_shape)
        self.built = True

    def call(self, inputs: Any, states: Any, training: Any = None) -> Any:
        previous = states[0]
        masks, recurrent_masks = self._masks(inputs, previous, training)
        h = tf.matmul(inputs * masks[0] if masks else inputs, self.kernel)
        if self.bias is not None:
            h = tf.nn.bias_add(h, self.bias)
        previous = previous * recurrent_masks[0] if recurrent_masks else previous
        output = h + tf.matmul(previous, self.recurrent_kernel)
        output = output if self.activation is None else self.activation(output)
        return output, [output]


@export("keras.layers.LSTMCell")
@described("The cell of `LSTM`.")
class LSTMCell(_Cell):
    _gates = 4
    _config = (
        "units",
        "activation",
        "recurrent_activation",
        "use_bias",
        *_WEIGHTS,
        "unit_forget_bias",
        *_BOUNDS,
        "dropout",
        "recurrent_dropout",
        "implementation",
    )

    def __init__(
        self,
        units: int,
        activation: str | Callable | None = "tanh",
        recurrent_activation: str | Callable | None = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: str | InitializerLike | None = "glorot_uniform",
        recurrent_initializer: str | InitializerLike | None = "orthogonal",
        bias_initializer: str | InitializerLike | None = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: str | RegularizerLike | None = None,
        recurrent_regularizer: str | RegularizerLike | None = None,
        bias_regularizer: str | RegularizerLike | None = None,
        kernel_constraint: str | Callable | None = None,
        recurrent_constraint: str | Callable | None = None,
        bias_constraint: str | Callable | None = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        implementation: int = 1,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self._take(locals())
        self.state_size = [self.units, self.units]
        self.output_size = self.units

    def _bias_initializer(self) -> Any:
        if not self.unit_forget_bias:
            return self.bias_initializer

        def forgetful(_: Any, *args: Any, **kwargs: Any) -> Any:
            parts = [
                self.bias_initializer((self.units,), *args, **kwargs),
                tf.ones_initializer()((self.units,), *args, **kwargs),
                self.bias_initializer((self.units * 2,), *args, **kwargs),
            ]
            return tf.concat(parts, axis=-1)

        return forgetful

    def build(self, input_shape: ShapeLike) -> None:
        self._add_weights(input_shape)
        self.built = True

    def _gates_of(self, inputs: Any, h: Any, training: Any) -> list[Any]:
        masks, recurrent_masks = self._masks(inputs, h, training)
        if self.implementation == 2:
            z = tf.matmul(inputs * masks[0] if masks else inputs, self.kernel)
            z += tf.matmul(h * recurrent_masks[0] if recurrent_masks else h, self.recurrent_kernel)
            z = tf.nn.bias_add(z, self.bias) if self.use_bias else z
            return tf.split(z, num_or_size_splits=4, axis=1)
        kernels = tf.split(self.kernel, num_or_size_splits=4, axis=1)
        parts = [
            tf.matmul(inputs * masks[i] if masks else inputs, kernel) for i, kernel in enumerate(kernels)
        ]
        if self.use_bias:
            biases = tf.split(self.bias, num_or_size_splits=4, axis=0)
            parts = [tf.nn.bias_add(x, bias) for x, bias in zip(parts, biases, strict=True)]
        n = self.units
        return [
            x
            + tf.matmul(
                h * recurrent_masks[i] if recurrent_masks else h,
                self.recurrent_kernel[:, n * i : n * (i + 1)],
            )
            for i, x in enumerate(parts)
        ]

    def call(self, inputs: Any, states: Any, training: Any = None) -> Any:
        h, carry = states
        i, f, c, o = self._gates_of(inputs, h, training)
        i, f = self.recurrent_activation(i), self.recurrent_activation(f)
        carry = f * carry + i * self.activation(c)
        o = self.recurrent_activation(o)
        h = o * self.activation(carry)
        return h, [h, carry]


@export("keras.experimental.PeepholeLSTMCell")
@described("An LSTM cell whose gates see the carried state (Gers and Schmidhuber, 2000).")
class PeepholeLSTMCell(LSTMCell):
    def build(self, input_shape: ShapeLike) -> None:
        super().build(input_shape)
        for gate in ("input", "forget", "output"):
            weight = self.add_weight(
                f"{gate}_gate_peephole_weights", (self.units,), initializer=self.kernel_initializer
            )
            setattr(self, f"{gate}_gate_peephole_weights", weight)

    def call(self, inputs: Any, states: Any, training: Any = None) -> Any:
        h, carry = states
        i, f, c, o = self._gates_of(inputs, h, training)
        i = self.recurrent_activation(i + self.input_gate_peephole_weights * carry)
        f = self.recurrent_activation(f + self.forget_gate_peephole_weights * carry)
        carry = f * carry + i * self.activation(c)
        o = self.recurrent_activation(o + self.output_gate_peephole_weights * carry)
        h = o * self.activation(carry)
        return h, [h, carry]


@export("keras.layers.GRUCell")
@described("The cell of `GRU`.")
class GRUCell(_Cell):
    _gates = 3
    _config = (
        "units",
        "activation",
        "recurrent_activation",
        "use_bias",
        *_WEIGHTS,
        *_BOUNDS,
        "dropout",
        "recurrent_dropout",
        "implementation",
        "reset_after",
    )

    def __init__(
        self,
        units: int,
        activation: str | Callable | None = "tanh",
        recurrent_activation: str | Callable | None = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: str | InitializerLike | None = "glorot_uniform",
        recurrent_initializer: str | InitializerLike | None = "orthogonal",
        bias_initializer: str | InitializerLike | None = "zeros",
        kernel_regularizer: str | RegularizerLike | None = None,
        recurrent_regularizer: str | RegularizerLike | None = None,
        bias_regularizer: str | RegularizerLike | None = None,
        kernel_constraint: str | Callable | None = None,
        recurrent_constraint: str | Callable | None = None,
        bias_constraint: str | Callable | None = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        implementation: int = 1,
        reset_after: bool = False,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self._take(locals())
        self.state_size = self.output_size = self.units

    def build(self, input_shape: ShapeLike) -> None:
        self._add_weights(input_shape, (2, 3 * self.units) if self.reset_after else None)
        self.built = True

    def call(self, inputs: Any, states: Any, training: Any = None) -> Any:
        h = states[0]
        n = self.units
        masks, recurrent_masks = self._masks(inputs, h, training)
        bias = recurrent_bias = None
        if self.use_bias:
            bias, recurrent_bias = tf.unstack(self.bias) if self.reset_after else (self.bias, None)
        one_product = self.implementation == 2

        def given(number: int) -> Any:
            return inputs * masks[0 if one_product else number] if masks else inputs

        def kept(number: int) -> Any:
            return h * recurrent_masks[0 if one_product else number] if recurrent_masks else h

        if one_product:
            x = tf.matmul(given(0), self.kernel)
            x = x if bias is None else tf.nn.bias_add(x, bias)
            xs = tf.split(x, 3, axis=-1)
        else:
            xs = [tf.matmul(given(k), self.kernel[:, n * k : n * (k + 1)]) for k in range(3)]
            if bias is not None:
                xs = [tf.nn.bias_add(x, bias[n * k : n * (k + 1)]) for k, x in enumerate(xs)]

        def of_state(k: int, value: Any) -> Any:
            product = tf.matmul(value, self.recurrent_kernel[:, n * k : n * (k + 1)])
            if self.reset_after and recurrent_bias is not None:
                product = tf.nn.bias_add(product, recurrent_bias[n * k : n * (k + 1)])
            return product

        z = self.recurrent_activation(xs[0] + of_state(0, kept(0)))
        r = self.recurrent_activation(xs[1] + of_state(1, kept(1)))
        inner = r * of_state(2, kept(2)) if self.reset_after else of_state(2, r * kept(2))
        hh = self.activation(xs[2] + inner)
        h = z * h + (1 - z) * hh
        return h, [h]


_LAYER_OPTIONS = ("return_sequences", "return_state", "go_backwards", "stateful", "unroll", "time_major")


class _OfCell(RNN):
    """A recurrent layer of one kind of cell, whose arguments it has."""

    _cell: type[_Cell]

    def _init(self, given: dict[str, Any], kwargs: dict[str, Any]) -> None:
        own = {name: given[name] for name in self._cell._config if name in given}
        options = {name: given[name] for name in _LAYER_OPTIONS if name in given}
        dtype = {"dtype": kwargs["dtype"]} if "dtype" in kwargs else {}
        trainable = {"trainable": kwargs["trainable"]} if "trainable" in kwargs else {}
        super().__init__(self._cell(**own, **dtype, **trainable), **options, **kwargs)
        self._keep(activity_regularizer=given["activity_regularizer"])
        self.input_spec = [InputSpec(ndim=3)]

    def call(self, inputs: Any, mask: Any = None, training: Any = None, initial_state: Any = None) -> Any:
        return super().call(inputs, mask=mask, training=training, initial_state=initial_state)

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        number = len(inputs) if isinstance(inputs, (list, tuple)) else 1
        states = kwargs.get("initial_state", args[0] if args else None)
        extra = len(states) if isinstance(states, (list, tuple)) else int(states is not None)
        self.input_spec = (
            [InputSpec(ndim=3), *[None] * (number - 1 + extra)] if number + extra > 1 else [InputSpec(ndim=3)]
        )
        if extra and number == 1 and not hasattr(nested_first(states), "_keras_history"):
            self.input_spec = [InputSpec(ndim=3)]
        return super().__call__(inputs, *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        cell = self.__dict__.get("cell")
        if cell is not None and (name in self._cell._config or name in ("units",)):
            return getattr(cell, name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def get_config(self) -> dict[str, Any]:
        """The arguments of the constructor, by name."""
        config = super().get_config()
        cell = config.pop("cell")["config"]
        own = {name: cell[name] for name in self._cell._config}
        place = list(own).index("kernel_constraint")
        items = list(own.items())
        from_layer = [("activity_regularizer", _serialized(self.activity_regularizer))]
        return {**config, **dict(items[:place] + from_layer + items[place:])}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Any:
        config = dict(config)
        if config.get("implementation") == 0:
            config["implementation"] = 1
        return cls(**config)


def nested_first(value: Any) -> Any:
    """The first of a list, or the value itself."""
    return value[0] if isinstance(value, (list, tuple)) and value else value


def _serialized(regularizer: Any) -> Any:
    return (
        None
        if regularizer is None
        else {"class_name": type(regularizer).__name__, "config": regularizer.get_config()}
    )


@export("keras.layers.SimpleRNN")
@described("A recurrent layer whose output is its state.")
class SimpleRNN(_OfCell):
    _cell = SimpleRNNCell

    def __init__(
        self,
        units: int,
        activation: str | Callable | None = "tanh",
        use_bias: bool = True,
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
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        **kwargs: Any,
    ):
        kwargs.pop("implementation", None)
        self._init(locals(), kwargs)


@export("keras.layers.LSTM")
@described("Long short-term memory (Hochreiter and Schmidhuber, 1997).")
class LSTM(_OfCell):
    _cell = LSTMCell

    def __init__(
        self,
        units: int,
        activation: str | Callable | None = "tanh",
        recurrent_activation: str | Callable | None = "hard_sigmoid",
        use_bias: bool = True,
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
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        implementation: int = 1,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        **kwargs: Any,
    ):
        self._init(locals(), kwargs)


@export("keras.layers.GRU")
@described("Gated recurrent units (Cho et al., 2014).")
class GRU(_OfCell):
    _cell = GRUCell

    def __init__(
        self,
        units: int,
        activation: str | Callable | None = "tanh",
        recurrent_activation: str | Callable | None = "hard_sigmoid",
        use_bias: bool = True,
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
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        implementation: int = 1,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        reset_after: bool = False,
        **kwargs: Any,
    ):
        self._init(locals(), kwargs)
