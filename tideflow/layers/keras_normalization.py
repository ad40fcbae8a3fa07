"""Batch normalization of Keras. That of `tf.layers` stands on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow import nn
from tideflow.distribute.context import get_strategy
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import colocate_with, control_dependencies, name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.layers import keras_state
from tideflow.layers.argument_docs import described
from tideflow.layers.configured import Configured
from tideflow.layers.input_spec import InputSpec
from tideflow.ops.arrays import constants, creation, indexing, joining, shapes
from tideflow.ops.control_flow import conditionals
from tideflow.ops.math import binary, casting, reductions, unary
from tideflow.ops.nn import activations
from tideflow.ops.state import reference_variables
from tideflow.platform import logging
from tideflow.variables import initializers
from tideflow.variables.base import VariableAggregation

if TYPE_CHECKING:
    from tideflow.graph.typing import InitializerLike, RegularizerLike, ShapeLike, TensorLike


@export("keras.layers.BatchNormalization")
@described(
    "Batch normalization: subtracts the mean and divides by the standard deviation of each channel.\n\n"
    "During training the statistics are those of the batch, otherwise moving averages, which training "
    "updates.",
    axis="The axis, or axes, whose elements are normalized separately, usually the channels.",
    renorm="Whether batch renormalization is used (Ioffe, 2017).",
    renorm_clipping="The limits of its corrections: `rmax`, `rmin` and `dmax`.",
    renorm_momentum="The decay of its moving averages.",
    fused="Whether the fused operation is used; if possible if None.",
    virtual_batch_size="If given, the batch is divided into parts of this size, normalized separately.",
    adjustment="A function of the input's shape that returns a scale and an offset for training.",
)
class BatchNormalization(Configured):
    _config = (
        "axis",
        "momentum",
        "epsilon",
        "center",
        "scale",
        "beta_initializer",
        "gamma_initializer",
        "moving_mean_initializer",
        "moving_variance_initializer",
        "beta_regularizer",
        "gamma_regularizer",
        "beta_constraint",
        "gamma_constraint",
    )

    def __init__(
        self,
        axis: int | Sequence[int] = -1,
        momentum: float = 0.99,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: str | InitializerLike | None = "zeros",
        gamma_initializer: str | InitializerLike | None = "ones",
        moving_mean_initializer: str | InitializerLike | None = "zeros",
        moving_variance_initializer: str | InitializerLike | None = "ones",
        beta_regularizer: str | RegularizerLike | None = None,
        gamma_regularizer: str | RegularizerLike | None = None,
        beta_constraint: str | Callable | None = None,
        gamma_constraint: str | Callable | None = None,
        renorm: bool = False,
        renorm_clipping: dict[str, Any] | None = None,
        renorm_momentum: float = 0.99,
        fused: bool | None = None,
        trainable: bool = True,
        virtual_batch_size: int | None = None,
        adjustment: Callable | None = None,
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(trainable=trainable, name=name, **kwargs)
        self.axis: Any = list(axis) if isinstance(axis, (list, tuple)) else axis  # a list when it is built
        if not all(isinstance(each, int) for each in self._axes()):
            raise TypeError(f"axis must be int or list, type given: {type(axis)}")
        self.momentum = momentum
        self.epsilon = epsilon
        self.center = center
        self.scale = scale
        self._keep(
            beta_initializer=beta_initializer,
            gamma_initializer=gamma_initializer,
            moving_mean_initializer=moving_mean_initializer,
            moving_variance_initializer=moving_variance_initializer,
            beta_regularizer=beta_regularizer,
            gamma_regularizer=gamma_regularizer,
            beta_constraint=beta_constraint,
            gamma_constraint=gamma_constraint,
        )
        self.supports_masking = True
        self.renorm = renorm
        self.renorm_clipping = renorm_clipping or {}
        self.renorm_momentum = renorm_momentum
        self.fused = fused
        self.virtual_batch_size = virtual_batch_size
        self.adjustment = adjustment
        if unknown := set(self.renorm_clipping) - {"rmax", "rmin", "dmax"}:
            raise ValueError(
                f"renorm_clipping {renorm_clipping} contains keys not in ['rmax', 'rmin', 'dmax']: {unknown}"
            )

    def _axes(self) -> list[int]:
        return self.axis if isinstance(self.axis, list) else [self.axis]

    def build(self, input_shape: ShapeLike) -> None:
        shape = TensorShape(input_shape)
        rank = shape.ndims
        if rank is None:
            raise ValueError("Input has undefined rank:", input_shape)
        self.axis = [axis + rank if axis < 0 else axis for axis in self._axes()]
        for axis in self.axis:
            if not 0 <= axis < rank:
                raise ValueError(f"Invalid axis: {axis}, of an input of rank {rank}")
        if len(set(self.axis)) != len(self.axis):
            raise ValueError(f"Duplicate axis: {self.axis}")
        self._check_virtual_batches()
        if self.fused is None or self.fused:  # asked for, it is used where it can be
            plain = not self.renorm and self.virtual_batch_size is None and self.adjustment is None
            self.fused = plain and rank == 4 and self.axis in ([1], [3])
        sizes = {axis: shape.tuple[axis] for axis in self.axis}
        if None in sizes.values():
            raise ValueError(f"Input has undefined `axis` dimension. Input shape: {shape}")
        self.input_spec = InputSpec(ndim=rank, axes=sizes)
        if self.virtual_batch_size is not None:
            self.axis = [axis + 1 for axis in self.axis]
            sizes = {axis + 1: size for axis, size in sizes.items()}
            rank += 1
        one_axis = len(self.axis) == 1 and self.virtual_batch_size is None
        self._add_variables(list(sizes.values()) if one_axis else [sizes.get(i, 1) for i in range(rank)])
        self.built = True

    def _check_virtual_batches(self) -> None:
        if self.virtual_batch_size is None:
            return
        if self.virtual_batch_size <= 0:
            raise ValueError(
                "virtual_batch_size must be a positive integer that divides the true batch size of the input "
                f"Tensor, not {self.virtual_batch_size}"
            )
        if 0 in self.axis:
            raise ValueError(
                "When using virtual_batch_size, the batch dimension must be 0 and thus axis cannot include 0"
            )
        if self.adjustment is not None:
            raise ValueError("When using virtual_batch_size, adjustment cannot be specified")

    def _add_variables(self, shape: list[int]) -> None:
        # Statistics of half-precision inputs are kept in single precision.
        dtype = (
            dtypes.float32
            if self._dtype in ("float16", "bfloat16")
            else dtypes.as_dtype(self._dtype or "float32")
        )
        self.gamma = self.beta = self._gamma_const = self._beta_const = None
        if self.scale:
            self.gamma = self.add_weight(
                "gamma",
                shape,
                dtype,
                self.gamma_initializer,
                self.gamma_regularizer,
                True,
                self.gamma_constraint,
                experimental_autocast=False,
            )
        elif self.fused:
            self._gamma_const = constants.constant(1.0, dtype, shape)
        if self.center:
            self.beta = self.add_weight(
                "beta",
                shape,
                dtype,
                self.beta_initializer,
                self.beta_regularizer,
                True,
                self.beta_constraint,
                experimental_autocast=False,
            )
        elif self.fused:
            self._beta_const = constants.constant(0.0, dtype, shape)

        with self._whole_variables():  # statistics are small, and are assigned to as a whole
            self._add_statistics(shape, dtype)

    def _add_statistics(self, shape: list[int], dtype: dtypes.DType) -> None:
        def average(name: str, initializer: Any) -> Any:
            mean = VariableAggregation.MEAN
            return self.add_weight(
                name,
                shape,
                dtype,
                initializer,
                trainable=False,
                aggregation=mean,
                experimental_autocast=False,
            )

        self.moving_mean = average("moving_mean", self.moving_mean_initializer)
        self.moving_variance = average("moving_variance", self.moving_variance_initializer)
        if self.renorm:
            # Deviations start as the root of what the variance starts as.
            root = _rooted(self.moving_variance_initializer)
            self.moving_stddev = average("moving_stddev", root)
            self.renorm_mean = average("renorm_mean", initializers.Zeros())
            self.renorm_stddev = average("renorm_stddev", root)

    # ------------------------------------------------------------------ the computation

    def call(self, inputs: Tensor, training: TensorLike | None = None) -> Tensor:
        training = keras_state.learning_phase() if training is None else training
        training = bool(training) if isinstance(training, int) else training
        if self.virtual_batch_size is not None:
            return self._in_virtual_batches(inputs, training)
        return self._fused_call(inputs, training) if self.fused else self._plain_call(inputs, training)

    def _in_virtual_batches(self, inputs: Tensor, training: Any) -> Tensor:
        sample = inputs.shape.as_list()[1:]
        full = shapes.shape(inputs) if None in sample else [-1, *sample]
        sizes = [self.virtual_batch_size, -1]
        split_sizes = joining.concat([sizes, full[1:]], 0) if None in sample else [*sizes, *sample]
        split = shapes.reshape(inputs, split_sizes)
        split.set_shape([self.virtual_batch_size, None, *sample])
        outputs = shapes.reshape(self._plain_call(split, training), full)
        outputs.set_shape(inputs.shape)
        return outputs

    def _fused_call(self, inputs: Tensor, training: Any) -> Tensor:
        beta = self.beta if self.center else self._beta_const
        gamma = self.gamma if self.scale else self._gamma_const
        data_format = "NCHW" if self.axis == [1] else "NHWC"

        def train() -> tuple:
            return nn.fused_batch_norm(inputs, gamma, beta, epsilon=self.epsilon, data_format=data_format)

        def infer() -> tuple:
            return nn.fused_batch_norm(
                inputs,
                gamma,
                beta,
                mean=self.moving_mean,
                variance=self.moving_variance,
                epsilon=self.epsilon,
                is_training=False,
                data_format=data_format,
            )

        output, mean, variance = conditionals.smart_cond(training, train, infer)
        known = conditionals.smart_constant_value(training)
        if known is None:
            momentum = conditionals.smart_cond(training, lambda: self.momentum, lambda: 1.0)
        else:
            momentum = convert_to_tensor(self.momentum)
        if known or known is None:
            self.add_update(lambda: self._averaged(self.moving_mean, mean, momentum, inputs), inputs=True)
            self.add_update(
                lambda: self._averaged(self.moving_variance, variance, momentum, inputs), inputs=True
            )
        return output

    def _averaged(self, variable: Any, value: Tensor, momentum: Any, inputs: Tensor) -> Any:
        with name_scope("AssignMovingAvg") as scope, colocate_with(variable):
            decay = convert_to_tensor(1.0 - momentum, name="decay")
            if decay.dtype.base_dtype is not variable.dtype.base_dtype:
                decay = casting.cast(decay, variable.dtype.base_dtype)
            delta = (variable - casting.cast(value, variable.dtype.base_dtype)) * decay
            delta = _zero_without_samples(delta, inputs)
            return reference_variables.assign_sub(variable, delta, name=scope)

    def _plain_call(self, inputs: Tensor, training: Any) -> Tensor:
        rank = inputs.shape.ndims
        reduced = [i for i in range(rank) if i not in self.axis]
        if self.virtual_batch_size is not None:
            reduced.remove(1)  # every virtual batch has statistics of its own
        scale, offset = self._broadcast(self.gamma, rank), self._broadcast(self.beta, rank)
        known = conditionals.smart_constant_value(training)
        if known is False:
            mean, variance = self.moving_mean, self.moving_variance
        else:
            scale, offset = self._adjusted(inputs, scale, offset, training)
            keep_dims = self.virtual_batch_size is not None or len(self.axis) > 1
            wide = casting.cast(inputs, dtypes.float32) if inputs.dtype.size < 4 else inputs
            mean, variance = nn.moments(wide, reduced, keep_dims=keep_dims)
            mean, variance = (_zero_without_samples(moment, inputs) for moment in (mean, variance))
            mean, variance, scale, offset = self._blended(inputs, mean, variance, scale, offset, training)
        outputs = nn.batch_normalization(
            inputs,
            _like(self._broadcast(mean, rank), inputs),
            _like(self._broadcast(variance, rank), inputs),
            None if offset is None else _like(offset, inputs),
            None if scale is None else _like(scale, inputs),
            self.epsilon,
        )
        outputs.set_shape(inputs.shape)
        return outputs

    def _broadcast(self, value: Any, rank: int) -> Any:
        """Parameters of one axis, in the rank of the inputs where that axis is not the last."""
        if value is None or len(value.shape) == rank or self.axis == [rank - 1]:
            return value
        sizes = [1] * rank
        sizes[self.axis[0]] = value.shape.as_list()[0]
        return shapes.reshape(value, sizes)

    def _adjusted(self, inputs: Tensor, scale: Any, offset: Any, training: Any) -> tuple[Any, Any]:
        if self.adjustment is None:
            return scale, offset
        adjust_scale, adjust_bias = self.adjustment(shapes.shape(inputs))
        adjust_scale = conditionals.smart_cond(
            training, lambda: adjust_scale, lambda: creation.ones_like(adjust_scale)
        )
        adjust_bias = conditionals.smart_cond(
            training, lambda: adjust_bias, lambda: creation.zeros_like(adjust_bias)
        )
        return (
            adjust_scale if scale is None else adjust_scale * scale,
            adjust_bias
            if offset is None
            else adjust_bias * scale + offset
            if scale is not None
            else adjust_bias + offset,
        )

    def _blended(
        self, inputs: Tensor, mean: Tensor, variance: Tensor, scale: Any, offset: Any, training: Any
    ) -> tuple:
        """The statistics to normalize by: the batch's, or the moving ones; and the updates of the moving
        ones.
        """
        batch_mean, batch_variance = mean, variance
        mean = conditionals.smart_cond(
            training, lambda: batch_mean, lambda: convert_to_tensor(self.moving_mean)
        )
        variance = conditionals.smart_cond(
            training, lambda: batch_variance, lambda: convert_to_tensor(self.moving_variance)
        )
        new_mean, new_variance = mean, variance
        if self.virtual_batch_size is not None:
            new_mean = reductions.reduce_mean(mean, 1, keepdims=True)
            new_variance = reductions.reduce_mean(variance, 1, keepdims=True)
        if self.renorm:
            r, d, new_mean, new_variance = self._renormalized(inputs, new_mean, new_variance, training)
            scale, offset = (
                (r if scale is None else r * scale),
                (d if scale is None else d * scale) + (0.0 if offset is None else offset),
            )

        def averaged(variable: Any, value: Tensor) -> Any:
            if value.shape.ndims != variable.shape.ndims:
                value = shapes.reshape(value, variable.shape.as_list())
            return self._averaged(variable, value, self.momentum, inputs)

        def update(variable: Any, value: Tensor, assign: Callable = averaged) -> None:
            self.add_update(
                lambda: conditionals.smart_cond(
                    training, lambda: assign(variable, value), lambda: convert_to_tensor(variable)
                ),
                inputs=True,
            )

        def from_deviation(variable: Any, value: Tensor) -> Any:
            """The variance is the square of the moving deviation, which has epsilon in it as training has."""
            deviation = averaged(self.moving_stddev, unary.sqrt(value + self.epsilon))
            squared = activations.relu(deviation * deviation - self.epsilon)
            return reference_variables.assign(variable, squared, name="AssignNewValue")

        update(self.moving_mean, new_mean)
        update(self.moving_variance, new_variance, from_deviation if self.renorm else averaged)
        return mean, variance, scale, offset

    def _renormalized(self, inputs: Tensor, mean: Tensor, variance: Tensor, training: Any) -> tuple:
        """Batch renormalization: how far the batch's statistics are from the moving ones, within the
        clipping limits.
        """
        stddev = unary.sqrt(variance + self.epsilon)
        # Early in training the moving deviation may be near zero.
        reference = binary.maximum(self.renorm_stddev, unary.sqrt(self.epsilon))
        r = stddev / reference
        d = (mean - self.renorm_mean) / reference
        with control_dependencies([r, d]):  # the corrections are by what was before this batch
            mean, stddev = constants.identity(mean), constants.identity(stddev)
        rmin, rmax, dmax = (self.renorm_clipping.get(key) for key in ("rmin", "rmax", "dmax"))
        r = r if rmin is None else binary.maximum(r, rmin)
        r = r if rmax is None else binary.minimum(r, rmax)
        d = d if dmax is None else binary.minimum(binary.maximum(d, -dmax), dmax)
        r = conditionals.smart_cond(training, lambda: r, lambda: creation.ones_like(r))
        d = conditionals.smart_cond(training, lambda: d, lambda: creation.zeros_like(d))

        def averaged(variable: Any, value: Tensor) -> Tensor:
            value = constants.identity(value)
            return conditionals.smart_cond(
                training,
                lambda: self._averaged(variable, value, self.renorm_momentum, inputs),
                lambda: constants.identity(variable),
            )

        updates = [averaged(self.renorm_mean, mean), averaged(self.renorm_stddev, stddev)]
        with control_dependencies(updates):
            new_mean, new_variance = constants.identity(mean), constants.identity(variance)
        r = constants.stop_gradient(r, name="renorm_r")
        d = constants.stop_gradient(d, name="renorm_d")
        return r, d, new_mean, new_variance

    def compute_output_shape(self, input_shape: ShapeLike) -> ShapeLike:
        return input_shape

    def get_config(self) -> dict[str, Any]:
        """The arguments of the constructor, by name; those that Keras alone does not know if they are set."""
        config = super().get_config()
        if self.renorm:
            names = ("renorm", "renorm_clipping", "renorm_momentum")
            config.update({name: getattr(self, name) for name in names})
        if self.virtual_batch_size is not None:
            config["virtual_batch_size"] = self.virtual_batch_size
        if self.adjustment is not None:
            logging.warning(
                "The `adjustment` function of this `BatchNormalization` layer cannot be serialized and has "
                "been omitted from the layer config. It will not be included when re-creating the layer from "
                "the saved config."
            )
        return config


def _rooted(initializer: Any) -> Callable:
    """An initializer of the roots of another's values."""

    def initial(shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return unary.sqrt(initializer(shape, dtype=dtype, partition_info=partition_info))

    return initial


def _zero_without_samples(value: Tensor, inputs: Tensor) -> Tensor:
    """Zeros for a value of no samples: of several replicas, one may get none of a batch."""
    if get_strategy().num_replicas_in_sync == 1:
        return value
    return indexing.where(shapes.size(inputs) > 0, value, creation.zeros_like(value))


def _like(value: Any, inputs: Tensor) -> Tensor:
    return (
        casting.cast(value, inputs.dtype) if value.dtype.base_dtype is not inputs.dtype.base_dtype else value
    )
