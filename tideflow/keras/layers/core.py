"""Layers that rearrange, mask or transform their input."""

from __future__ import annotations

import codecs
import inspect
import marshal
import types
from collections.abc import Callable, Collection, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np

import tideflow as tf
from tideflow.export import export
from tideflow.graph import nest
from tideflow.layers.argument_docs import described
from tideflow.layers.base import as_shapes
from tideflow.layers.configured import Configured
from tideflow.layers.input_spec import InputSpec
from tideflow.layers.keras_core import Dropout
from tideflow.layers.keras_session import track_variable
from tideflow.layers.shapes import check_data_format
from tideflow.variables import regularizers
from tideflow.variables.custom_objects import get_custom_objects

if TYPE_CHECKING:
    from tideflow.graph.operation import Tensor
    from tideflow.graph.typing import ShapeLike


@export("keras.layers.Masking")
@described("Masks the time steps whose elements all have one value.")
class Masking(Configured):
    _config = ("mask_value",)

    def __init__(self, mask_value: float = 0.0, **kwargs: Any):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.mask_value = mask_value
        self._compute_output_and_mask_jointly = True

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        return tf.reduce_any(tf.not_equal(inputs, self.mask_value), axis=-1)

    def call(self, inputs: Tensor) -> Tensor:
        there = tf.reduce_any(tf.not_equal(inputs, self.mask_value), axis=-1, keepdims=True)
        outputs = inputs * tf.cast(there, inputs.dtype)
        outputs._keras_mask = tf.squeeze(there, axis=-1)
        return outputs

    def compute_output_shape(self, input_shape: ShapeLike) -> ShapeLike:
        return input_shape


class _SpatialDropout(Dropout):
    """Drops whole channels."""

    def __init__(self, rate: float, **kwargs: Any):
        super().__init__(rate, **kwargs)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def _noise_shape(self, inputs: Tensor) -> Any:
        full = tf.shape(inputs)
        ones = (1,) * self.rank
        first = getattr(self, "data_format", "channels_last") == "channels_first"
        return (full[0], full[1], *ones) if first else (full[0], *ones, full[self.rank + 1])


@export("keras.layers.SpatialDropout1D")
@described("Drops whole channels of sequences during training.")
class SpatialDropout1D(_SpatialDropout):
    rank = 1


def _of_images(data_format: str | None) -> str:
    if data_format not in (None, "channels_last", "channels_first"):
        raise ValueError('data_format must be in {"channels_last", "channels_first"}')
    return check_data_format(data_format)


@export("keras.layers.SpatialDropout2D")
@described("Drops whole channels of images during training.")
class SpatialDropout2D(_SpatialDropout):
    rank = 2

    def __init__(self, rate: float, data_format: str | None = None, **kwargs: Any):
        super().__init__(rate, **kwargs)
        self.data_format = _of_images(data_format)


@export("keras.layers.SpatialDropout3D")
@described("Drops whole channels of volumes during training.")
class SpatialDropout3D(_SpatialDropout):
    rank = 3

    def __init__(self, rate: float, data_format: str | None = None, **kwargs: Any):
        super().__init__(rate, **kwargs)
        self.data_format = _of_images(data_format)


@export("keras.layers.Activation")
@described("Applies an activation.")
class Activation(Configured):
    _config = ("activation",)

    def __init__(self, activation: str | Callable, **kwargs: Any):
        super().__init__(**kwargs)
        self.supports_masking = True
        self._keep(activation=activation)

    def call(self, inputs: Tensor) -> Tensor:
        return self.activation(inputs)

    def compute_output_shape(self, input_shape: ShapeLike) -> ShapeLike:
        return input_shape


@export("keras.layers.Reshape")
@described("Gives samples another shape.")
class Reshape(Configured):
    _config = ("target_shape",)

    def __init__(self, target_shape: Sequence[int], **kwargs: Any):
        super().__init__(**kwargs)
        self.target_shape = tuple(target_shape)

    def compute_output_shape(self, input_shape: ShapeLike) -> Any:
        first, *rest = tf.TensorShape(input_shape).as_list()
        if None in rest:
            return tf.TensorShape([first, *(size if size != -1 else None for size in self.target_shape)])
        total = int(np.prod(rest, dtype=int))
        known = int(np.prod([size for size in self.target_shape if size != -1], dtype=int))
        if total % max(known, 1) or (-1 not in self.target_shape and known != total):
            raise ValueError("total size of new array must be unchanged")
        return tf.TensorShape(
            [first, *(total // known if size == -1 else size for size in self.target_shape)]
        )

    def call(self, inputs: Tensor) -> Tensor:
        return tf.reshape(inputs, (tf.shape(inputs)[0], *self.target_shape))


@export("keras.layers.Permute")
@described("Changes the order of the axes of samples.")
class Permute(Configured):
    _config = ("dims",)

    def __init__(self, dims: Sequence[int], **kwargs: Any):
        super().__init__(**kwargs)
        self.dims = tuple(dims)
        if sorted(dims) != list(range(1, len(dims) + 1)):
            raise ValueError(
                "Invalid permutation `dims` for Permute Layer: "
                f"{tuple(dims)}. The set of indices in `dims` must be consecutive and start from 1."
            )
        self.input_spec = InputSpec(ndim=len(self.dims) + 1)

    def compute_output_shape(self, input_shape: ShapeLike) -> Any:
        sizes = tf.TensorShape(input_shape).as_list()
        return tf.TensorShape([sizes[0], *(sizes[axis] for axis in self.dims)])

    def call(self, inputs: Tensor) -> Tensor:
        return tf.transpose(inputs, (0, *self.dims))


@export("keras.layers.RepeatVector")
@described("Makes sequences of repeated vectors.")
class RepeatVector(Configured):
    _config = ("n",)

    def __init__(self, n: int, **kwargs: Any):
        super().__init__(**kwargs)
        self.n = n
        self.input_spec = InputSpec(ndim=2)

    def compute_output_shape(self, input_shape: ShapeLike) -> Any:
        first, last = tf.TensorShape(input_shape).as_list()
        return tf.TensorShape([first, self.n, last])

    def call(self, inputs: Tensor) -> Tensor:
        return tf.tile(tf.expand_dims(inputs, 1), tf.stack([1, self.n, 1]))


@export("keras.layers.ActivityRegularization")
@described("Adds a penalty for its input to the loss, which it returns unchanged.")
class ActivityRegularization(Configured):
    _config = ("l1", "l2")

    def __init__(self, l1: float = 0.0, l2: float = 0.0, **kwargs: Any):
        super().__init__(activity_regularizer=regularizers.L1L2(l1=l1, l2=l2), **kwargs)
        self.supports_masking = True
        self.l1 = l1
        self.l2 = l2

    def compute_output_shape(self, input_shape: ShapeLike) -> ShapeLike:
        return input_shape


@export("keras.layers.Lambda")
@described("Applies a function.")
class Lambda(Configured):
    def __init__(
        self,
        function: Callable,
        output_shape: Any = None,
        mask: Any = None,
        arguments: dict[str, Any] | None = None,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        if not callable(function):
            raise TypeError(f"unsupported callable: {function!r} is not a function")
        self.function = function
        self.arguments = arguments or {}
        if mask is not None:
            self.supports_masking = True
        self.mask = mask
        self._output_shape = output_shape
        self.__dict__["_made_variables"] = {}  # by name: each is made by the first call

    def call(self, inputs: Any, mask: Any = None, training: Any = None) -> Any:
        taken = _parameters(self.function)
        more = {"mask": mask, "training": training}
        given = {**self.arguments, **{name: value for name, value in more.items() if name in taken}}
        with tf.variable_creator_scope(self._variable):
            return self.function(inputs, **given)

    def _variable(self, next_creator: Callable, **arguments: Any) -> Any:
        """The variable of this name that an earlier call has made, or a new one, which is the layer's."""
        name, known = arguments.get("name"), self.__dict__["_made_variables"]
        if name not in known:
            known[name] = variable = next_creator(**arguments)
            kept = "_trainable_weights" if variable.trainable else "_non_trainable_weights"
            self.__dict__[kept].append(variable)
            track_variable(variable)
        return known[name]

    def compute_output_shape(self, input_shape: ShapeLike) -> Any:
        if self._output_shape is None:
            return super().compute_output_shape(input_shape)
        if callable(self._output_shape):
            return as_shapes(self._output_shape(input_shape))
        first = nest.flatten(as_shapes(input_shape))[0].as_list()[0]
        return nest.map_structure(
            lambda shape: tf.TensorShape([first, *shape.as_list()]), as_shapes(self._output_shape)
        )

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        return self.mask(inputs, mask) if callable(self.mask) else self.mask

    def get_config(self) -> dict[str, Any]:
        """The arguments of the constructor, by name; a lambda as its code."""
        function, kind, module = _serialized(self.function)
        output_shape, shape_kind, shape_module = _serialized(self._output_shape)
        return {
            **super().get_config(),
            "function": function,
            "function_type": kind,
            "module": module,
            "output_shape": output_shape,
            "output_shape_type": shape_kind,
            "output_shape_module": shape_module,
            "arguments": self.arguments,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Lambda:
        config = dict(config)
        known = {**get_custom_objects(), **(custom_objects or {})}
        config.pop("module", None)
        config.pop("output_shape_module", None)
        config["function"] = _deserialized(config["function"], config.pop("function_type"), known)
        config["output_shape"] = _deserialized(config["output_shape"], config.pop("output_shape_type"), known)
        return cls(**config)


def _parameters(function: Callable) -> Collection[str]:
    """The names of a function's arguments; none of a function of C that does not tell them."""
    try:
        return inspect.signature(function).parameters
    except ValueError:
        return ()


runs_stored_code: ContextVar[bool] = ContextVar("runs_stored_code", default=True)


def dumped(function: Any) -> tuple[str, Any, Any]:
    """A function as its code, its defaults and what it closes over."""
    code = codecs.encode(marshal.dumps(function.__code__), "base64").decode("ascii")
    cells = function.__closure__
    return code, function.__defaults__, tuple(cell.cell_contents for cell in cells) if cells else None


def loaded(code: str, defaults: Any, closure: Any, seen: dict[str, Any]) -> Callable:
    """The function of what `dumped` gave, which sees these names."""
    made = marshal.loads(codecs.decode(code.encode("ascii"), "base64"))
    cells = None if closure is None else tuple(types.CellType(value) for value in closure)
    return types.FunctionType(made, seen, argdefs=_as_tuple(defaults), closure=cells)


def _serialized(function: Any) -> tuple[Any, str, Any]:
    if isinstance(function, types.LambdaType) and function.__name__ == "<lambda>":
        return dumped(function), "lambda", function.__module__
    if callable(function):
        return function.__name__, "function", function.__module__
    return function, "raw", None


def _deserialized(stored: Any, kind: str, known: dict[str, Any]) -> Any:
    if kind == "lambda":
        if not runs_stored_code.get():
            raise ValueError(
                "A `Lambda` layer of the model is stored as Python bytecode, which is not run for a model "
                "that is not trusted: see docs/security.md."
            )
        try:
            return loaded(*stored, {**globals(), **known})
        except (EOFError, TypeError, ValueError) as error:
            raise ValueError(
                "A `Lambda` layer of the model is stored as bytecode of another version of Python, which "
                "this one cannot read. Make the model by the program that made it, and read the file by "
                "`load_weights`."
            ) from error
    if kind == "function":
        if stored not in known:
            raise ValueError(f"Unknown function in `Lambda` layer: {stored}")
        return known[stored]
    return stored


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
