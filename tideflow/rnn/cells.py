"""`tf.nn.rnn_cell`: one step of a recurrent network, with variables of its own.

A cell makes `(output, new state)` of an input and a state. States may be nested; their sizes, without the
batch, are `state_size`.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes, nest
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import constant_value
from tideflow.graph.scopes import GraphKeys, get_default_graph, name_scope
from tideflow.graph.shapes import TensorShape, as_shape
from tideflow.layers import activations as keras_activations
from tideflow.layers.input_spec import InputSpec
from tideflow.layers.scoped import Layer
from tideflow.ops.arrays import constants, creation, joining, shapes, slicing
from tideflow.ops.linalg import matmul
from tideflow.ops.math import binary, clipping, unary
from tideflow.ops.nn import activations
from tideflow.platform import logging
from tideflow.variables import initializers, keras_initializers
from tideflow.variables import variable_scope as scopes
from tideflow.variables.partitioners import fixed_size_partitioner

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, InitializerLike, ShapeLike, TensorLike

# -------------------------------------------------------------------------------------------------- sizes


def _as_vector(size: Any, role: str) -> tuple[Tensor | None, Any]:
    """A size as a vector, None where it is not wholly known, and what is known of it before the step."""
    if isinstance(size, Tensor):
        known = constant_value(size)
        if size.shape.ndims == 0:
            return shapes.expand_dims(size, 0), known
        if size.shape.ndims != 1:
            raise ValueError(f"{role} tensor must be either a scalar or vector, but saw tensor: {size}")
        return size, known
    shape = as_shape(size)
    if not shape.is_fully_defined():
        return None, None if shape.ndims is None else shape.as_list()
    return constants.constant(shape.as_list(), dtype=dtypes.int32), shape.as_list()


def joined_sizes(prefix: Any, suffix: Any) -> Tensor:
    """The shape of `prefix` (a batch, mostly) before `suffix`, as a tensor."""
    first, _ = _as_vector(prefix, "prefix")
    second, _ = _as_vector(suffix, "suffix")
    if first is None or second is None:
        raise ValueError(f"Provided a prefix or suffix of None: {prefix} and {suffix}")
    return joining.concat((first, second), 0)


def known_sizes(prefix: Any, suffix: Any) -> TensorShape:
    """What is known of `joined_sizes` before the step. The constants are made all the same: the names of
    whatever is made after this, random seeds too, count on them.
    """
    (_, first), (_, second) = _as_vector(prefix, "prefix"), _as_vector(suffix, "suffix")
    return as_shape(first).concatenate(as_shape(second))


def batch_of_zeros(sizes: Any, batch_size: Any, dtype: Any) -> Any:
    """Zeros for a batch of each of the sizes, in their structure."""

    def zeros(size: Any) -> Tensor:
        result = creation.zeros(joined_sizes(batch_size, size), dtype=dtype)
        result.set_shape(known_sizes(batch_size, size))
        return result

    return nest.map_structure(zeros, sizes)


# -------------------------------------------------------------------------------------------------- checks


def assert_like_rnncell(cell_name: str, cell: Any) -> None:
    """TypeError unless the argument called `cell_name` can be used as a cell."""
    missing = [
        f"'{name}' property is missing" for name in ("output_size", "state_size") if not hasattr(cell, name)
    ]
    if not hasattr(cell, "get_initial_state") and not hasattr(cell, "zero_state"):
        missing.append("either 'zero_state' or 'get_initial_state' method is required")
    if not callable(cell):
        missing.append("is not callable")
    if missing:
        raise TypeError(f"The argument {cell_name!r} ({cell}) is not an RNNCell: {', '.join(missing)}.")


def _check_dtypes(*tensors: Any) -> None:
    for tensor in nest.flatten(tensors):
        _check_dtype(tensor.dtype)


def _check_dtype(dtype: Any) -> None:
    if dtype is None:
        return
    dtype = dtypes.as_dtype(dtype)
    if not (dtype.is_floating or dtype.is_complex):
        raise ValueError(f"RNN cell only supports floating point inputs, but saw dtype: {dtype}")


def input_depth(shape: Any) -> int:
    depth = TensorShape(shape).as_list()[-1]
    if depth is None:
        raise ValueError(f"Expected inputs.shape[-1] to be known, saw shape: {shape}")
    return depth


def warn_of_joined_state(cell: Any, state_is_tuple: bool) -> None:
    """A word to whoever asks for a state in one tensor."""
    if not state_is_tuple:
        logging.warn(
            "%s: Using a concatenated state is slower and will soon be deprecated.  Use state_is_tuple=True.",
            cell,
        )


# -------------------------------------------------------------------------------------------------- the base


@export("nn.rnn_cell.RNNCell", "contrib.rnn.RNNCell")
class RNNCell(Layer):
    """The base of recurrent cells: functions from an input and a state to an output and the next state.

    A subclass has `state_size`, `output_size` and `call(inputs, state)`. The variables that `call` makes with
    `tf.get_variable` belong to the cell.

    Args:
      trainable: Whether the cell's variables are trained.
      name: The name of the layer.
      dtype: The type of the variables; that of the first input if None.
      kwargs: Arguments of `tf.layers.Layer`.
    """

    def __call__(self, inputs: TensorLike, state: Any, scope: Any = None) -> tuple[Any, Any]:
        """Computes one time step.

        Args:
          inputs: The input, of shape [batch, size].
          state: The state: a tensor, or a structure of tensors.
          scope: The variable scope of the cell's variables; named after the class if None.

        Returns:
          The output and the next state.
        """
        if scope is not None:
            with scopes.variable_scope(scope, custom_getter=self._get_variable) as scope:
                return super().__call__(inputs, state, scope=scope)
        if not hasattr(self, "_outer_scope"):
            outer = scopes.get_variable_scope()
            self._outer_scope = scopes.variable_scope(outer, custom_getter=self._get_variable)
        with self._outer_scope:
            return super().__call__(inputs, state)

    def _get_variable(self, getter: Callable, *args: Any, **kwargs: Any) -> Any:
        """Notes the variables that `call` asks for as this cell's."""
        variable = getter(*args, **kwargs)
        parts = list(variable) if type(variable).__name__ == "PartitionedVariable" else [variable]
        trainable = parts[0] in get_default_graph().get_collection(GraphKeys.TRAINABLE_VARIABLES)
        weights = self._trainable_weights if trainable else self._non_trainable_weights
        if all(variable is not known for known in weights):
            weights.append(variable)
        return variable

    @property
    def state_size(self) -> Any:
        """The size of the state without the batch: an int, a TensorShape, or a structure of them."""
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self) -> Any:
        """The size of the output without the batch: an int, a TensorShape, or a structure of them."""
        raise NotImplementedError("Abstract method")

    def get_initial_state(
        self,
        inputs: TensorLike | None = None,
        batch_size: TensorLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> Any:
        """Makes a state of zeros.

        Args:
          inputs: An input, whose batch size and type are used.
          batch_size: The batch size, if there is no input.
          dtype: The type, if there is no input.

        Returns:
          The state.

        Raises:
          ValueError: If the batch size or the type is missing.
        """
        if inputs is not None:
            inputs = convert_to_tensor(inputs, name="inputs")
            batch = inputs.shape.as_list()[0]
            _check_batch(batch, batch_size)
            if dtype is not None and inputs.dtype != dtype:
                raise ValueError(
                    "dtype from input tensor is different from the input param. Input tensor dtype: "
                    f"{inputs.dtype}, dtype: {dtype}"
                )
            batch_size = batch or shapes.shape(inputs)[0]
            dtype = inputs.dtype
        if batch_size is None or dtype is None:
            raise ValueError(
                "batch_size and dtype cannot be None while constructing initial state: "
                f"batch_size={batch_size}, dtype={dtype}"
            )
        return self.zero_state(batch_size, dtype)

    def zero_state(self, batch_size: TensorLike, dtype: DTypeLike) -> Any:
        """Makes a state of zeros.

        Args:
          batch_size: The batch size.
          dtype: The type of the elements.

        Returns:
          The state.
        """
        with name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            return batch_of_zeros(self.state_size, batch_size, dtype)

    def _configured(self, **config: Any) -> dict[str, Any]:
        """The config of a cell that keeps its arguments to itself."""
        base = {"name": self._name, "trainable": self.trainable, "dtype": self._dtype}
        return {**base, **config}


def _check_batch(found: int | None, given: Any) -> None:
    if given is None:
        return
    known = constant_value(given) if isinstance(given, Tensor) else given
    if found != known:
        raise ValueError(
            "batch size from input tensor is different from the input param. Input tensor batch: "
            f"{found}, batch_size: {given}"
        )


@export("contrib.rnn.LayerRNNCell")
class LayerRNNCell(RNNCell):
    """A cell that makes its variables in `build`, as layers do.

    Args:
      trainable: Whether the cell's variables are trained.
      name: The name of the layer.
      dtype: The type of the variables; that of the first input if None.
      kwargs: Arguments of `tf.layers.Layer`.
    """

    def __call__(
        self, inputs: TensorLike, state: Any, scope: Any = None, *args: Any, **kwargs: Any
    ) -> tuple[Any, Any]:
        return Layer.__call__(self, inputs, state, *args, scope=scope, **kwargs)


class UnitsCell(LayerRNNCell):
    """A cell of `num_units` units with a two-dimensional input and an activation."""

    def __init__(
        self, num_units: int, activation: Any, reuse: bool | None, name: Any, dtype: Any, **kwargs: Any
    ):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        _check_dtype(self._dtype)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._activation = keras_activations.get(activation) if activation else unary.tanh

    @property
    def state_size(self) -> Any:
        return self._num_units

    @property
    def output_size(self) -> Any:
        return self._num_units

    def _zeros_initializer(self) -> Any:
        return initializers.Zeros(dtype=self._dtype)

    def get_config(self) -> dict[str, Any]:
        return self._configured(
            num_units=self._num_units,
            activation=keras_activations.serialize(self._activation),
            reuse=self._reuse,
        )


# -------------------------------------------------------------------------------------------------- cells


@export("nn.rnn_cell.BasicRNNCell", "contrib.rnn.BasicRNNCell")
class BasicRNNCell(UnitsCell):
    """The simplest recurrent cell.

    The output and the next state are `activation([inputs, state] @ kernel + bias)`.

    Args:
      num_units: The size of the state.
      activation: The activation; tanh if None.
      reuse: Whether existing variables are shared, as in `tf.variable_scope`.
      name: The name of the cell.
      dtype: The type of the variables; that of the input if None.
      **kwargs: Arguments of `tf.layers.Layer`.
    """

    def __init__(
        self,
        num_units: int,
        activation: Callable | str | None = None,
        reuse: bool | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: Any,
    ):
        super().__init__(num_units, activation, reuse, name, dtype, **kwargs)

    def build(self, inputs_shape: ShapeLike) -> None:
        rows = input_depth(inputs_shape) + self._num_units
        _check_dtype(self._dtype)
        self._kernel = self.add_weight("kernel", [rows, self._num_units])
        self._bias = self.add_weight("bias", [self._num_units], initializer=self._zeros_initializer())
        self.built = True

    def call(self, inputs: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        _check_dtypes(inputs, state)
        sums = matmul.matmul(joining.concat([inputs, state], 1), self._kernel)
        output = self._activation(activations.bias_add(sums, self._bias))
        return output, output


@export("nn.rnn_cell.GRUCell", "contrib.rnn.GRUCell")
class GRUCell(UnitsCell):
    """A gated recurrent unit, with a reset gate and an update gate (Cho and others, 2014).

    Args:
      num_units: The size of the state.
      activation: The activation; tanh if None.
      reuse: Whether existing variables are shared, as in `tf.variable_scope`.
      kernel_initializer: The initializer of the weights.
      bias_initializer: The initializer of the biases; ones for the gates and zeros elsewhere if None.
      name: The name of the cell.
      dtype: The type of the variables; that of the input if None.
      **kwargs: Arguments of `tf.layers.Layer`.
    """

    def __init__(
        self,
        num_units: int,
        activation: Callable | str | None = None,
        reuse: bool | None = None,
        kernel_initializer: InitializerLike | None = None,
        bias_initializer: InitializerLike | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: Any,
    ):
        super().__init__(num_units, activation, reuse, name, dtype, **kwargs)
        self._kernel_initializer = keras_initializers.get(kernel_initializer)
        self._bias_initializer = keras_initializers.get(bias_initializer)

    def build(self, inputs_shape: ShapeLike) -> None:
        rows, units = input_depth(inputs_shape) + self._num_units, self._num_units
        _check_dtype(self._dtype)
        given = self._bias_initializer
        self._gate_kernel = self.add_weight(
            "gates/kernel", [rows, 2 * units], initializer=self._kernel_initializer
        )
        open_gates = initializers.Constant(1.0, dtype=self._dtype) if given is None else given
        self._gate_bias = self.add_weight("gates/bias", [2 * units], initializer=open_gates)
        self._candidate_kernel = self.add_weight(
            "candidate/kernel", [rows, units], initializer=self._kernel_initializer
        )
        self._candidate_bias = self.add_weight(
            "candidate/bias", [units], initializer=self._zeros_initializer() if given is None else given
        )
        self.built = True

    def call(self, inputs: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        _check_dtypes(inputs, state)
        sums = matmul.matmul(joining.concat([inputs, state], 1), self._gate_kernel)
        gates = unary.sigmoid(activations.bias_add(sums, self._gate_bias))
        reset, update = joining.split(gates, 2, axis=1)
        kept = reset * state
        sums = matmul.matmul(joining.concat([inputs, kept], 1), self._candidate_kernel)
        candidate = self._activation(activations.bias_add(sums, self._candidate_bias))
        output = update * state + (1 - update) * candidate
        return output, output

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "kernel_initializer": keras_initializers.serialize(self._kernel_initializer),
            "bias_initializer": keras_initializers.serialize(self._bias_initializer),
        }


@export("nn.rnn_cell.LSTMStateTuple", "contrib.rnn.LSTMStateTuple")
class LSTMStateTuple(collections.namedtuple("LSTMStateTuple", ("c", "h"))):
    """The state of an LSTM cell.

    Args:
      c: The memory.
      h: The output.
    """

    __slots__ = ()

    @property
    def dtype(self) -> Any:
        """The type of the elements, which both tensors must have."""
        c, h = self
        if c.dtype != h.dtype:
            raise TypeError(f"Inconsistent internal state: {c.dtype} vs {h.dtype}")
        return c.dtype


@export("nn.rnn_cell.BasicLSTMCell", "contrib.rnn.BasicLSTMCell")
class BasicLSTMCell(UnitsCell):
    """A long short-term memory cell without peepholes, clipping and projection (Zaremba and others, 2014).

    Args:
      num_units: The size of the memory.
      forget_bias: A number that is added to the forget gate, so that the cell remembers at first.
      state_is_tuple: Whether the state is an LSTMStateTuple; else one tensor of both parts.
      activation: The activation; tanh if None.
      reuse: Whether existing variables are shared, as in `tf.variable_scope`.
      name: The name of the cell.
      dtype: The type of the variables; that of the input if None.
      **kwargs: Arguments of `tf.layers.Layer`.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Callable | str | None = None,
        reuse: bool | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: Any,
    ):
        super().__init__(num_units, activation, reuse, name, dtype, **kwargs)
        warn_of_joined_state(self, state_is_tuple)
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple

    @property
    def state_size(self) -> Any:
        units = self._num_units
        return LSTMStateTuple(units, units) if self._state_is_tuple else 2 * units

    def build(self, inputs_shape: ShapeLike) -> None:
        units = self._num_units
        rows = input_depth(inputs_shape) + units
        _check_dtype(self._dtype)
        self._kernel = self.add_weight("kernel", [rows, 4 * units])
        self._bias = self.add_weight("bias", [4 * units], initializer=self._zeros_initializer())
        self.built = True

    def call(self, inputs: Tensor, state: Any) -> tuple[Tensor, Any]:
        _check_dtypes(inputs, state)
        one = constants.constant(1, dtype=dtypes.int32)
        c, h = state if self._state_is_tuple else joining.split(state, 2, axis=one)
        sums = matmul.matmul(joining.concat([inputs, h], 1), self._kernel)
        sums = activations.bias_add(sums, self._bias)
        c, h = basic_lstm_step(joining.split(sums, 4, axis=one), c, self._forget_bias, self._activation)
        return h, LSTMStateTuple(c, h) if self._state_is_tuple else joining.concat([c, h], 1)

    def get_config(self) -> dict[str, Any]:
        own = {"forget_bias": self._forget_bias, "state_is_tuple": self._state_is_tuple}
        return {**super().get_config(), **own}


def basic_lstm_step(
    gates: Sequence[Tensor], c: Tensor, forget_bias: float, activation: Callable
) -> tuple[Tensor, Tensor]:
    """The next memory and output of an LSTM, from the sums at its four gates."""
    i, j, f, o = gates
    open_forget = binary.add(f, constants.constant(forget_bias, dtype=f.dtype))
    kept = binary.multiply(c, unary.sigmoid(open_forget))
    c = binary.add(kept, binary.multiply(unary.sigmoid(i), activation(j)))
    return c, binary.multiply(activation(c), unary.sigmoid(o))


@export("nn.rnn_cell.LSTMCell", "contrib.rnn.LSTMCell")
class LSTMCell(UnitsCell):
    """A long short-term memory cell with optional peepholes, clipping and projection (Sak and others, 2014).

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
      name: The name of the cell.
      dtype: The type of the variables; that of the input if None.
      **kwargs: Arguments of `tf.layers.Layer`.
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
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: Any,
    ):
        super().__init__(num_units, activation, reuse, name, dtype, **kwargs)
        warn_of_joined_state(self, state_is_tuple)
        if num_unit_shards is not None or num_proj_shards is not None:
            logging.warn(
                "%s: The num_unit_shards and proj_unit_shards parameters are deprecated. Use a variable "
                "scope with a partitioner instead.",
                self,
            )
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._initializer = keras_initializers.get(initializer)
        self._num_proj = num_proj
        self._proj_clip = proj_clip
        self._num_unit_shards = num_unit_shards
        self._num_proj_shards = num_proj_shards
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple

    @property
    def output_size(self) -> Any:
        return self._num_proj or self._num_units

    @property
    def state_size(self) -> Any:
        c, h = self._num_units, self.output_size
        return LSTMStateTuple(c, h) if self._state_is_tuple else c + h

    def build(self, inputs_shape: ShapeLike) -> None:
        units = self._num_units
        outputs = units if self._num_proj is None else self._num_proj
        rows = input_depth(inputs_shape) + outputs
        _check_dtype(self._dtype)
        self._kernel = self.add_weight(
            "kernel",
            [rows, 4 * units],
            initializer=self._initializer,
            partitioner=_partitioner(self._num_unit_shards),
        )
        self._bias = self.add_weight("bias", [4 * units], initializer=self._zeros_initializer())
        if self._use_peepholes:
            self._w_f_diag, self._w_i_diag, self._w_o_diag = (
                self.add_weight(f"w_{gate}_diag", [units], initializer=self._initializer) for gate in "fio"
            )
        if self._num_proj is not None:
            self._proj_kernel = self.add_weight(
                "projection/kernel",
                [units, outputs],
                initializer=self._initializer,
                partitioner=_partitioner(self._num_proj_shards),
            )
        self.built = True

    def call(self, inputs: Tensor, state: Any) -> tuple[Tensor, Any]:
        _check_dtypes(inputs, state)
        c, h = self._parts(state)
        if inputs.shape.with_rank(2).as_list()[1] is None:
            raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
        sums = matmul.matmul(joining.concat([inputs, h], 1), self._kernel)
        i, j, f, o = joining.split(activations.bias_add(sums, self._bias), 4, axis=1)
        c = self._new_memory(i, j, f, c)
        h = unary.sigmoid(o + self._w_o_diag * c if self._use_peepholes else o) * self._activation(c)
        if self._num_proj is not None:
            h = _clipped(matmul.matmul(h, self._proj_kernel), self._proj_clip)
        return h, LSTMStateTuple(c, h) if self._state_is_tuple else joining.concat([c, h], 1)

    def _parts(self, state: Any) -> tuple[Tensor, Tensor]:
        if self._state_is_tuple:
            c, h = state
            return c, h
        units = self._num_units
        outputs = units if self._num_proj is None else self._num_proj
        c = slicing.slice(state, [0, 0], [-1, units])
        return c, slicing.slice(state, [0, units], [-1, outputs])

    def _new_memory(self, i: Tensor, j: Tensor, f: Tensor, c: Tensor) -> Tensor:
        f = f + self._forget_bias
        if self._use_peepholes:
            kept = unary.sigmoid(f + self._w_f_diag * c) * c
            i = i + self._w_i_diag * c
        else:
            kept = unary.sigmoid(f) * c
        return _clipped(kept + unary.sigmoid(i) * self._activation(j), self._cell_clip)

    def get_config(self) -> dict[str, Any]:
        kept = "use_peepholes cell_clip num_proj proj_clip num_unit_shards num_proj_shards".split()
        own = {name: getattr(self, f"_{name}") for name in (*kept, "forget_bias", "state_is_tuple")}
        return {**super().get_config(), **own, "initializer": keras_initializers.serialize(self._initializer)}


def _partitioner(shards: int | None) -> Callable | None:
    return None if shards is None else fixed_size_partitioner(shards)


def _clipped(x: Tensor, limit: float | None) -> Tensor:
    return x if limit is None else clipping.clip_by_value(x, -limit, limit)


@export("nn.rnn_cell.MultiRNNCell", "contrib.rnn.MultiRNNCell")
class MultiRNNCell(RNNCell):
    """Several cells on top of each other: each takes the output of the one below and has a state of its own.

    Args:
      cells: The cells, the lowest first.
      state_is_tuple: Whether the state is a tuple of the cells' states; else one tensor.

    Raises:
      ValueError: If there are no cells, or a state is a structure and `state_is_tuple` is not set.
    """

    def __init__(self, cells: Sequence[Any], state_is_tuple: bool = True):
        super().__init__()
        if not cells:
            raise ValueError("Must specify at least one cell for MultiRNNCell.")
        if not nest.is_nested(cells):
            raise TypeError(f"cells must be a list or tuple, but saw: {cells}.")
        if len({id(cell) for cell in cells}) < len(cells):
            logging.log_first_n(
                logging.WARN,
                "At least two cells provided to MultiRNNCell are the same object and will share weights.",
                1,
            )
        self._cells = cells
        self._state_is_tuple = state_is_tuple
        if not state_is_tuple and any(nest.is_nested(cell.state_size) for cell in cells):
            raise ValueError(
                "Some cells return tuples of states, but the flag state_is_tuple is not set.  State sizes "
                f"are: {[cell.state_size for cell in cells]}"
            )

    @property
    def _checkpoint_dependencies(self) -> list[tuple[str, Any]]:
        cells = [(f"cell-{i}", cell) for i, cell in enumerate(self._cells)]
        return super()._checkpoint_dependencies + cells

    @property
    def state_size(self) -> Any:
        sizes = tuple(cell.state_size for cell in self._cells)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> Any:
        return self._cells[-1].output_size

    def zero_state(self, batch_size: TensorLike, dtype: DTypeLike) -> Any:
        with name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            if self._state_is_tuple:
                return tuple(cell.zero_state(batch_size, dtype) for cell in self._cells)
            return super().zero_state(batch_size, dtype)

    def _weights_of_cells(self, kind: str) -> list[Any]:
        return [weight for cell in self._cells if isinstance(cell, Layer) for weight in getattr(cell, kind)]

    @property
    def trainable_weights(self) -> list[Any]:
        return self._weights_of_cells("trainable_weights") if self.trainable else []

    @property
    def non_trainable_weights(self) -> list[Any]:
        frozen = [] if self.trainable else self._weights_of_cells("trainable_weights")
        return frozen + self._weights_of_cells("non_trainable_weights")

    def call(self, inputs: TensorLike, state: Any) -> tuple[Any, Any]:
        if self._state_is_tuple and not nest.is_nested(state):
            raise ValueError(
                f"Expected state to be a tuple of length {len(self.state_size)}, but received: {state}"
            )
        states, start = [], 0
        for number, cell in enumerate(self._cells):
            with scopes.variable_scope(f"cell_{number}"):
                if self._state_is_tuple:
                    own = state[number]
                else:
                    own = slicing.slice(state, [0, start], [-1, cell.state_size])
                    start += cell.state_size
                inputs, new = cell(inputs, own)
                states.append(new)
        return inputs, tuple(states) if self._state_is_tuple else joining.concat(states, 1)
