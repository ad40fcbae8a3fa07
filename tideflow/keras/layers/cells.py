"""The cells of recurrent layers, and the layers that are made of one kind of cell."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.export import export
from tideflow.keras.backend import arrays, neural
from tideflow.keras.layers.recurrent import RNN, initial_state
from tideflow.layers.argument_docs import described
from tideflow.layers.configured import Configured
from tideflow.layers.input_spec import InputSpec

if TYPE_CHECKING:
    from tideflow.graph.typing import InitializerLike, RegularizerLike, ShapeLike

WEIGHTS = (
    "kernel_initializer",
    "recurrent_initializer",
    "bias_initializer",
)
BOUNDS = (
    "kernel_regularizer",
    "recurrent_regularizer",
    "bias_regularizer",
    "kernel_constraint",
    "recurrent_constraint",
    "bias_constraint",
)


def add_weights(layer: Any, kernel: Any, recurrent: Any, bias: Any, bias_initializer: Any) -> None:
    """Makes the weights of a cell, of these shapes, by the layer's initializers and so on."""
    layer.kernel = layer.add_weight(
        "kernel",
        kernel,
        initializer=layer.kernel_initializer,
        regularizer=layer.kernel_regularizer,
        constraint=layer.kernel_constraint,
    )
    layer.recurrent_kernel = layer.add_weight(
        "recurrent_kernel",
        recurrent,
        initializer=layer.recurrent_initializer,
        regularizer=layer.recurrent_regularizer,
        constraint=layer.recurrent_constraint,
    )
    layer.bias = None
    if bias is not None:
        layer.bias = layer.add_weight(
            "bias",
            bias,
            initializer=bias_initializer,
            regularizer=layer.bias_regularizer,
            constraint=layer.bias_constraint,
        )


def forgetful(initializer: Callable, units: int, before: int = 1) -> Callable:
    """An initializer of biases that are one for the forget gate, which comes after `before` other gates."""

    def initialize(_: Any, *args: Any, **kwargs: Any) -> Any:
        parts = [
            initializer((units * before,), *args, **kwargs),
            tf.ones_initializer()((units,), *args, **kwargs),
            initializer((units * 2,), *args, **kwargs),
        ]
        return tf.concat(parts, axis=-1)

    return initialize


class Cell(Configured):
    """What cells share: weights for input and state, and dropout that is the same in all time steps."""

    _gates = 1

    def _take(self, given: dict[str, Any]) -> None:
        self._keep(**{name: given[name] for name in self._config})
        self.dropout = min(1.0, max(0.0, self.dropout))
        self.recurrent_dropout = min(1.0, max(0.0, self.recurrent_dropout))
        self.reset_dropout_mask()
        self.reset_recurrent_dropout_mask()

    def reset_dropout_mask(self) -> None:
        """Forgets which inputs are dropped: a new sequence begins."""
        self.__dict__["_input_masks"] = None

    def reset_recurrent_dropout_mask(self) -> None:
        """Forgets which parts of the state are dropped: a new sequence begins."""
        self.__dict__["_state_masks"] = None

    def get_dropout_mask_for_cell(self, inputs: Any, training: Any, count: int = 1) -> list[Any] | None:
        """The factors of the inputs, the same in all time steps of a sequence.

        Args:
          inputs: The inputs of a time step.
          training: Whether inputs are dropped at all.
          count: The number of masks.

        Returns:
          The masks, or None if nothing is dropped.
        """
        return self._masks_in("_input_masks", inputs, self.dropout, training, count)

    def get_recurrent_dropout_mask_for_cell(
        self, inputs: Any, training: Any, count: int = 1
    ) -> list[Any] | None:
        """The factors of the state, the same in all time steps of a sequence.

        Args:
          inputs: The state.
          training: Whether anything is dropped.
          count: The number of masks.

        Returns:
          The masks, or None if nothing is dropped.
        """
        return self._masks_in("_state_masks", inputs, self.recurrent_dropout, training, count)

    def _masks_in(self, place: str, x: Any, rate: float, training: Any, count: int) -> list[Any] | None:
        if not 0 < rate < 1:
            return None
        if self.__dict__[place] is None:
            ones = tf.ones_like(x)
            self.__dict__[place] = [
                arrays.in_train_phase(lambda: neural.dropout(ones, rate), ones, training)
                for _ in range(count)
            ]
        return self.__dict__[place]

    def _masks(self, inputs: Any, state: Any, training: Any) -> tuple[Any, Any]:
        return (
            self.get_dropout_mask_for_cell(inputs, training, self._gates),
            self.get_recurrent_dropout_mask_for_cell(state, training, self._gates),
        )

    def _add_weights(self, input_shape: Any, bias_shape: Any = None) -> None:
        width = tf.TensorShape(input_shape).as_list()[-1]
        size = self.units * self._gates
        bias = (bias_shape or (size,)) if self.use_bias else None
        add_weights(self, (width, size), (self.units, size), bias, self._bias_initializer())

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
class SimpleRNNCell(Cell):
    _config = (
        "units",
        "activation",
        "use_bias",
        *WEIGHTS,
        *BOUNDS,
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
class LSTMCell(Cell):
    _gates = 4
    _config = (
        "units",
        "activation",
        "recurrent_activation",
        "use_bias",
        *WEIGHTS,
        "unit_forget_bias",
        *BOUNDS,
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
        return (
            forgetful(self.bias_initializer, self.units) if self.unit_forget_bias else self.bias_initializer
        )

    def build(self, input_shape: ShapeLike) -> None:
        self._add_weights(input_shape)
        self.built = True

    def _gates_of(self, inputs: Any, h: Any, training: Any) -> list[Callable[[], Any]]:
        """What makes each of the gates' inputs: the order of the nodes is TensorFlow's, and so are seeds."""
        masks, recurrent_masks = self._masks(inputs, h, training)
        if self.implementation == 2:
            z = tf.matmul(inputs * masks[0] if masks else inputs, self.kernel)
            z += tf.matmul(h * recurrent_masks[0] if recurrent_masks else h, self.recurrent_kernel)
            z = tf.nn.bias_add(z, self.bias) if self.use_bias else z
            return [lambda part=part: part for part in tf.split(z, num_or_size_splits=4, axis=1)]
        given = [inputs * mask for mask in masks] if masks else [inputs] * 4
        kernels = tf.split(self.kernel, num_or_size_splits=4, axis=1)
        parts = [tf.matmul(x, kernel) for x, kernel in zip(given, kernels, strict=True)]
        if self.use_bias:
            biases = tf.split(self.bias, num_or_size_splits=4, axis=0)
            parts = [tf.nn.bias_add(x, bias) for x, bias in zip(parts, biases, strict=True)]
        n = self.units

        def gate(i: int) -> Any:
            state = h * recurrent_masks[i] if recurrent_masks else h
            return parts[i] + tf.matmul(state, self.recurrent_kernel[:, n * i : n * (i + 1)])

        return [functools.partial(gate, i) for i in range(4)]

    def call(self, inputs: Any, states: Any, training: Any = None) -> Any:
        h, carry = states
        input_gate, forget_gate, candidate, output_gate = self._gates_of(inputs, h, training)
        i = self.recurrent_activation(input_gate())
        f = self.recurrent_activation(forget_gate())
        carry = f * carry + i * self.activation(candidate())
        o = self.recurrent_activation(output_gate())
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
        input_gate, forget_gate, candidate, output_gate = self._gates_of(inputs, h, training)
        i = self.recurrent_activation(input_gate() + self.input_gate_peephole_weights * carry)
        f = self.recurrent_activation(forget_gate() + self.forget_gate_peephole_weights * carry)
        carry = f * carry + i * self.activation(candidate())
        o = self.recurrent_activation(output_gate() + self.output_gate_peephole_weights * carry)
        h = o * self.activation(carry)
        return h, [h, carry]


@export("keras.layers.GRUCell")
@described("The cell of `GRU`.")
class GRUCell(Cell):
    _gates = 3
    _config = (
        "units",
        "activation",
        "recurrent_activation",
        "use_bias",
        *WEIGHTS,
        *BOUNDS,
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
        masks, recurrent_masks = self._masks(inputs, h, training)
        bias = recurrent_bias = None
        if self.use_bias:
            bias, recurrent_bias = tf.unstack(self.bias) if self.reset_after else (self.bias, None)
        if self.implementation == 2:
            h = h * recurrent_masks[0] if recurrent_masks else h
            inputs = inputs * masks[0] if masks else inputs
            z, hh = self._of_whole_products(inputs, h, bias, recurrent_bias)
        else:
            given = [inputs * mask for mask in masks] if masks else [inputs] * 3
            z, hh = self._of_each_product(given, h, recurrent_masks, bias, recurrent_bias)
        h = z * h + (1 - z) * hh
        return h, [h]

    # The order of the nodes of both is TensorFlow's: seeds and names depend on it.

    def _of_each_product(
        self, given: list[Any], h: Any, recurrent_masks: Any, bias: Any, recurrent_bias: Any
    ) -> tuple[Any, Any]:
        """The update gate and the candidate, by one product for each gate."""
        parts = [slice(self.units), slice(self.units, self.units * 2), slice(self.units * 2, None)]
        xs = [tf.matmul(x, self.kernel[:, part]) for x, part in zip(given, parts, strict=True)]
        if bias is not None:
            xs = [tf.nn.bias_add(x, bias[part]) for x, part in zip(xs, parts, strict=True)]
        hs = [h * mask for mask in recurrent_masks] if recurrent_masks else [h] * 3
        gates = [tf.matmul(hs[k], self.recurrent_kernel[:, parts[k]]) for k in range(2)]
        if recurrent_bias is not None:
            gates = [tf.nn.bias_add(gates[k], recurrent_bias[parts[k]]) for k in range(2)]
        z = self.recurrent_activation(xs[0] + gates[0])
        r = self.recurrent_activation(xs[1] + gates[1])
        if not self.reset_after:
            inner = tf.matmul(r * hs[2], self.recurrent_kernel[:, parts[2]])
        else:
            inner = tf.matmul(hs[2], self.recurrent_kernel[:, parts[2]])
            inner = inner if recurrent_bias is None else tf.nn.bias_add(inner, recurrent_bias[parts[2]])
            inner = r * inner
        return z, self.activation(xs[2] + inner)

    def _of_whole_products(self, inputs: Any, h: Any, bias: Any, recurrent_bias: Any) -> tuple[Any, Any]:
        """The update gate and the candidate, by one product for all gates as far as that is possible."""
        n = self.units
        x = tf.matmul(inputs, self.kernel)
        x = x if bias is None else tf.nn.bias_add(x, bias)
        xs = [x[:, :n], x[:, n : 2 * n], x[:, 2 * n :]]
        if self.reset_after:
            inner = tf.matmul(h, self.recurrent_kernel)
            inner = inner if recurrent_bias is None else tf.nn.bias_add(inner, recurrent_bias)
        else:
            inner = tf.matmul(h, self.recurrent_kernel[:, : 2 * n])
        update, reset = inner[:, :n], inner[:, n : 2 * n]
        z = self.recurrent_activation(xs[0] + update)
        r = self.recurrent_activation(xs[1] + reset)
        if self.reset_after:
            inner = r * inner[:, 2 * n :]
        else:
            inner = tf.matmul(r * h, self.recurrent_kernel[:, 2 * n :])
        return z, self.activation(xs[2] + inner)


_LAYER_OPTIONS = ("return_sequences", "return_state", "go_backwards", "stateful", "unroll", "time_major")


def _of_cell(name: str) -> property:
    return property(lambda layer: getattr(layer.cell, name), doc=f"The cell's `{name}`.")


class OfCell(RNN):
    """A recurrent layer of one kind of cell, whose arguments it has."""

    _cell: type[Cell]
    _input_rank = 3

    def __init_subclass__(cls) -> None:
        for name in cls._cell._config:
            setattr(cls, name, _of_cell(name))

    def _init(self, given: dict[str, Any], kwargs: dict[str, Any]) -> None:
        own = {name: given[name] for name in self._cell._config if name in given}
        options = {name: given[name] for name in _LAYER_OPTIONS if name in given}
        dtype = {"dtype": kwargs["dtype"]} if "dtype" in kwargs else {}
        trainable = {"trainable": kwargs["trainable"]} if "trainable" in kwargs else {}
        super().__init__(self._cell(**own, **dtype, **trainable), **options, **kwargs)
        self._keep(activity_regularizer=given["activity_regularizer"])
        self.input_spec = [InputSpec(ndim=self._input_rank)]

    def call(self, inputs: Any, mask: Any = None, training: Any = None, initial_state: Any = None) -> Any:
        return super().call(inputs, mask=mask, training=training, initial_state=initial_state)

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


def _serialized(regularizer: Any) -> Any:
    return (
        None
        if regularizer is None
        else {"class_name": type(regularizer).__name__, "config": regularizer.get_config()}
    )


@export("keras.layers.SimpleRNN")
@described("A recurrent layer whose output is its state.")
class SimpleRNN(OfCell):
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
class LSTM(OfCell):
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
class GRU(OfCell):
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
