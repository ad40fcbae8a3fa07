"""Activations that are layers, noise, embeddings, attention and layer normalization."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import tideflow as tf
from tideflow.export import export
from tideflow.keras.backend import arrays
from tideflow.layers import activations, keras_state
from tideflow.layers.argument_docs import described
from tideflow.layers.configured import Configured
from tideflow.layers.input_spec import InputSpec

if TYPE_CHECKING:
    from tideflow.graph.operation import Tensor
    from tideflow.graph.typing import InitializerLike, RegularizerLike, ShapeLike


class _SameShape(Configured):
    """A layer whose output has the shape of its input."""

    def __init__(self, **kwargs: Any):
        super().__init__(**kwargs)
        self.supports_masking = True

    def compute_output_shape(self, input_shape: ShapeLike) -> ShapeLike:
        return input_shape


@export("keras.layers.LeakyReLU")
@described("`x` where it is positive, `alpha * x` elsewhere.")
class LeakyReLU(_SameShape):
    _config = ("alpha",)

    def __init__(self, alpha: float = 0.3, **kwargs: Any):
        super().__init__(**kwargs)
        self.alpha = float(np.asarray(alpha, keras_state.floatx()))

    def call(self, inputs: Tensor) -> Tensor:
        return activations.relu(inputs, alpha=self.alpha)

    def get_config(self) -> dict[str, Any]:
        """The arguments of the constructor, by name."""
        return {**super().get_config(), "alpha": float(self.alpha)}


@export("keras.layers.PReLU")
@described("`x` where it is positive, `x` times a learned slope elsewhere.")
class PReLU(_SameShape):
    _config = ("alpha_initializer", "alpha_regularizer", "alpha_constraint", "shared_axes")

    def __init__(
        self,
        alpha_initializer: str | InitializerLike | None = "zeros",
        alpha_regularizer: str | RegularizerLike | None = None,
        alpha_constraint: str | Callable | None = None,
        shared_axes: int | Sequence[int] | None = None,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self._keep(
            alpha_initializer=alpha_initializer,
            alpha_regularizer=alpha_regularizer,
            alpha_constraint=alpha_constraint,
        )
        self.shared_axes = (
            [shared_axes] if isinstance(shared_axes, int) else shared_axes and list(shared_axes)
        )

    def build(self, input_shape: ShapeLike) -> None:
        sizes = tf.TensorShape(input_shape).as_list()[1:]
        for axis in self.shared_axes or ():
            sizes[axis - 1] = 1
        self.alpha = self.add_weight(
            "alpha",
            sizes,
            initializer=self.alpha_initializer,
            regularizer=self.alpha_regularizer,
            constraint=self.alpha_constraint,
        )
        rank = len(sizes) + 1
        axes = {axis: size for axis, size in enumerate(tf.TensorShape(input_shape).as_list()) if axis}
        for axis in self.shared_axes or ():
            axes.pop(axis, None)
        self.input_spec = InputSpec(ndim=rank, axes=axes)
        self.built = True

    def call(self, inputs: Tensor) -> Tensor:
        return activations.relu(inputs) + -self.alpha * activations.relu(-inputs)


@export("keras.layers.ELU")
@described("`x` where it is positive, `alpha * (exp(x) - 1)` elsewhere.")
class ELU(_SameShape):
    _config = ("alpha",)

    def __init__(self, alpha: float = 1.0, **kwargs: Any):
        super().__init__(**kwargs)
        self.alpha = float(alpha)

    def call(self, inputs: Tensor) -> Tensor:
        return activations.elu(inputs, self.alpha)

    def get_config(self) -> dict[str, Any]:
        """The arguments of the constructor, by name."""
        return {**super().get_config(), "alpha": float(self.alpha)}


@export("keras.layers.ThresholdedReLU")
@described("`x` where it is above a value, 0 elsewhere.")
class ThresholdedReLU(_SameShape):
    _config = ("theta",)

    def __init__(self, theta: float = 1.0, **kwargs: Any):
        super().__init__(**kwargs)
        self.theta = float(theta)

    def call(self, inputs: Tensor) -> Tensor:
        return inputs * tf.cast(tf.greater(inputs, self.theta), inputs.dtype)


@export("keras.layers.Softmax")
@described("The softmax along an axis.")
class Softmax(_SameShape):
    _config = ("axis",)

    def __init__(self, axis: int = -1, **kwargs: Any):
        super().__init__(**kwargs)
        self.axis = axis

    def call(self, inputs: Tensor) -> Tensor:
        return activations.softmax(inputs, axis=self.axis)


@export("keras.layers.ReLU")
@described("The rectified linear unit.")
class ReLU(_SameShape):
    _config = ("max_value", "negative_slope", "threshold")

    def __init__(
        self, max_value: float | None = None, negative_slope: float = 0, threshold: float = 0, **kwargs: Any
    ):
        super().__init__(**kwargs)
        if max_value is not None and max_value < 0.0:
            raise ValueError("max_value of Relu layer cannot be negative value: " + str(max_value))
        if negative_slope < 0.0:
            raise ValueError("negative_slope of Relu layer cannot be negative value: " + str(negative_slope))
        floats = keras_state.floatx()
        self.max_value = None if max_value is None else np.asarray(max_value, floats)
        self.negative_slope = np.asarray(negative_slope, floats)
        self.threshold = np.asarray(threshold, floats)

    def call(self, inputs: Tensor) -> Tensor:
        return activations.relu(inputs, self.negative_slope, self.max_value, self.threshold)


@export("keras.layers.GaussianNoise")
@described("Adds normally distributed noise during training.")
class GaussianNoise(_SameShape):
    _config = ("stddev",)

    def __init__(self, stddev: float, **kwargs: Any):
        super().__init__(**kwargs)
        self.stddev = stddev

    def call(self, inputs: Tensor, training: Any = None) -> Tensor:
        def noisy() -> Tensor:
            return inputs + arrays.random_normal(tf.shape(inputs), 0.0, self.stddev, inputs.dtype)

        return arrays.in_train_phase(noisy, inputs, training)


@export("keras.layers.GaussianDropout")
@described("Multiplies by normally distributed noise around one during training.")
class GaussianDropout(_SameShape):
    _config = ("rate",)

    def __init__(self, rate: float, **kwargs: Any):
        super().__init__(**kwargs)
        self.rate = rate

    def call(self, inputs: Tensor, training: Any = None) -> Tensor:
        if not 0 < self.rate < 1:
            return inputs
        stddev = (self.rate / (1.0 - self.rate)) ** 0.5

        def noisy() -> Tensor:
            return inputs * arrays.random_normal(tf.shape(inputs), 1.0, stddev, inputs.dtype)

        return arrays.in_train_phase(noisy, inputs, training)


@export("keras.layers.AlphaDropout")
@described("Dropout that keeps mean and variance, for networks of `selu`.")
class AlphaDropout(_SameShape):
    _config = ("rate",)

    def __init__(self, rate: float, noise_shape: Any = None, seed: int | None = None, **kwargs: Any):
        super().__init__(**kwargs)
        self.rate = rate
        self.noise_shape = noise_shape
        self.seed = seed

    def call(self, inputs: Tensor, training: Any = None) -> Tensor:
        if not 0.0 < self.rate < 1.0:
            return inputs
        shape = tf.shape(inputs) if self.noise_shape is None else self.noise_shape
        low = -1.6732632423543772848170429916717 * 1.0507009873554804934193349852946
        a = ((1 - self.rate) * (1 + self.rate * low**2)) ** -0.5
        b = -a * low * self.rate

        def noisy() -> Tensor:
            kept = tf.greater_equal(arrays.random_uniform(shape, seed=self.seed), self.rate)
            kept = tf.cast(kept, inputs.dtype)
            return a * (inputs * kept + low * (1 - kept)) + b

        return arrays.in_train_phase(noisy, inputs, training)


@export("keras.layers.Embedding")
@described("Vectors of indices.")
class Embedding(Configured):
    _config = (
        "input_dim",
        "output_dim",
        "embeddings_initializer",
        "embeddings_regularizer",
        "activity_regularizer",
        "embeddings_constraint",
        "mask_zero",
        "input_length",
    )

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        embeddings_initializer: str | InitializerLike | None = "uniform",
        embeddings_regularizer: str | RegularizerLike | None = None,
        activity_regularizer: str | RegularizerLike | None = None,
        embeddings_constraint: str | Callable | None = None,
        mask_zero: bool = False,
        input_length: int | Sequence[int] | None = None,
        **kwargs: Any,
    ):
        if "input_shape" not in kwargs and "batch_input_shape" not in kwargs:
            kwargs["input_shape"] = (input_length,) if input_length else (None,)
        dtype = kwargs.pop("dtype", keras_state.floatx())
        super().__init__(dtype=dtype, **kwargs)
        self._keep(
            input_dim=input_dim,
            output_dim=output_dim,
            embeddings_initializer=embeddings_initializer,
            embeddings_regularizer=embeddings_regularizer,
            activity_regularizer=activity_regularizer,
            embeddings_constraint=embeddings_constraint,
            mask_zero=mask_zero,
            input_length=input_length,
        )
        self.supports_masking = mask_zero

    def build(self, input_shape: ShapeLike) -> None:
        self.embeddings = self.add_weight(
            "embeddings",
            (self.input_dim, self.output_dim),
            initializer=self.embeddings_initializer,
            regularizer=self.embeddings_regularizer,
            constraint=self.embeddings_constraint,
        )
        self.built = True

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        return tf.not_equal(inputs, 0) if self.mask_zero else None

    def call(self, inputs: Tensor) -> Tensor:
        if inputs.dtype not in (tf.int32, tf.int64):
            inputs = tf.cast(inputs, "int32")
        return tf.nn.embedding_lookup(self.embeddings, inputs)

    def compute_output_shape(self, input_shape: ShapeLike) -> Any:
        sizes = tf.TensorShape(input_shape).as_list()
        return tf.TensorShape([*sizes, self.output_dim])


@export("keras.layers.LayerNormalization")
@described(
    "Subtracts the mean and divides by the standard deviation of each sample.",
    axis="The axis, or axes, that are normalized.",
)
class LayerNormalization(_SameShape):
    _config = (
        "axis",
        "epsilon",
        "center",
        "scale",
        "beta_initializer",
        "gamma_initializer",
        "beta_regularizer",
        "gamma_regularizer",
        "beta_constraint",
        "gamma_constraint",
    )

    def __init__(
        self,
        axis: int | Sequence[int] = -1,
        epsilon: float = 0.001,
        center: bool = True,
        scale: bool = True,
        beta_initializer: str | InitializerLike | None = "zeros",
        gamma_initializer: str | InitializerLike | None = "ones",
        beta_regularizer: str | RegularizerLike | None = None,
        gamma_regularizer: str | RegularizerLike | None = None,
        beta_constraint: str | Callable | None = None,
        gamma_constraint: str | Callable | None = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(name=name, trainable=trainable, **kwargs)
        if not isinstance(axis, (int, list, tuple)):
            raise ValueError(
                "Expected an int or a list/tuple of ints for the argument 'axis', but received instead: "
                f"{axis}"
            )
        self._keep(
            axis=list(axis) if isinstance(axis, (list, tuple)) else axis,
            epsilon=epsilon,
            center=center,
            scale=scale,
            beta_initializer=beta_initializer,
            gamma_initializer=gamma_initializer,
            beta_regularizer=beta_regularizer,
            gamma_regularizer=gamma_regularizer,
            beta_constraint=beta_constraint,
            gamma_constraint=gamma_constraint,
        )

    def build(self, input_shape: ShapeLike) -> None:
        shape = tf.TensorShape(input_shape)
        given = [self.axis] if isinstance(self.axis, int) else self.axis
        for axis in given:
            if not -shape.ndims <= axis < shape.ndims:
                raise ValueError(f"Invalid axis: {axis}")
        self.axis = [axis % shape.ndims for axis in given]
        if len(self.axis) != len(set(self.axis)):
            raise ValueError(f"Duplicate axis: {tuple(self.axis)}")
        sizes = [shape.as_list()[axis] for axis in self.axis]
        self.gamma = self.beta = None
        for wanted, name in ((self.scale, "gamma"), (self.center, "beta")):
            if wanted:
                weight = self.add_weight(
                    name,
                    sizes,
                    initializer=getattr(self, f"{name}_initializer"),
                    regularizer=getattr(self, f"{name}_regularizer"),
                    constraint=getattr(self, f"{name}_constraint"),
                )
                setattr(self, name, weight)
        self.built = True

    def call(self, inputs: Tensor) -> Tensor:
        rank = inputs.shape.ndims
        mean, variance = tf.nn.moments(inputs, self.axis, keep_dims=True)
        sizes = [inputs.shape.as_list()[axis] if axis in self.axis else 1 for axis in range(rank)]

        def wide(value: Any) -> Any:
            return value if value is None or self.axis == [rank - 1] else tf.reshape(value, sizes)

        outputs = tf.nn.batch_normalization(
            inputs, mean, variance, wide(self.beta), wide(self.gamma), self.epsilon
        )
        outputs.set_shape(inputs.shape)
        return outputs


class _Attention(Configured):
    """What kinds of attention share: scores, masks, and the weighted sum of values."""

    _config = ("causal",)

    def __init__(self, causal: bool = False, **kwargs: Any):
        super().__init__(**kwargs)
        self.causal = causal
        self.supports_masking = True

    def _scores(self, query: Tensor, key: Tensor) -> Tensor:
        raise NotImplementedError

    def call(self, inputs: Any, mask: Any = None) -> Tensor:
        if not isinstance(inputs, list) or len(inputs) not in (2, 3):
            raise ValueError(
                f"{type(self).__name__} layer must be called on a list of inputs, namely [query, value] "
                "or [query, value, key]."
            )
        query, value = inputs[0], inputs[1]
        key = inputs[2] if len(inputs) > 2 else value
        query_mask, value_mask = (mask[0], mask[1]) if mask else (None, None)
        scores = self._scores(query, key)
        allowed = None if value_mask is None else tf.expand_dims(value_mask, axis=-2)
        if self.causal:
            shape = tf.concat([tf.ones_like(tf.shape(scores)[:-2]), tf.shape(scores)[-2:]], axis=0)
            before = tf.matrix_band_part(tf.ones(shape), -1, 0) > 0
            allowed = before if allowed is None else tf.logical_and(allowed, before)
        if allowed is not None:
            scores -= 1.0e9 * tf.cast(tf.logical_not(allowed), dtype=keras_state.floatx())
        result = tf.matmul(tf.nn.softmax(scores), value)
        if query_mask is not None:
            result *= tf.cast(tf.expand_dims(query_mask, axis=-1), dtype=keras_state.floatx())
        return result

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        return None if not mask or mask[0] is None else tf.convert_to_tensor(mask[0])


@export("keras.layers.Attention")
@described("Attention by products of queries and keys (Luong et al., 2015).")
class Attention(_Attention):
    _config = ("causal", "use_scale")

    def __init__(self, use_scale: bool = False, **kwargs: Any):
        super().__init__(**kwargs)
        self.use_scale = use_scale

    def build(self, input_shape: Any) -> None:
        self.scale = self.add_weight("scale", (), initializer="ones") if self.use_scale else None
        self.built = True

    def _scores(self, query: Tensor, key: Tensor) -> Tensor:
        scores = tf.matmul(query, key, transpose_b=True)
        return scores if self.scale is None else scores * self.scale


@export("keras.layers.AdditiveAttention")
@described("Attention by sums of queries and keys (Bahdanau et al., 2015).")
class AdditiveAttention(_Attention):
    _config = ("causal", "use_scale")

    def __init__(self, use_scale: bool = True, **kwargs: Any):
        super().__init__(**kwargs)
        self.use_scale = use_scale

    def build(self, input_shape: Any) -> None:
        size = tf.TensorShape(input_shape[1]).as_list()[-1]
        self.scale = self.add_weight("scale", [size], initializer="glorot_uniform") if self.use_scale else 1.0
        self.built = True

    def _scores(self, query: Tensor, key: Tensor) -> Tensor:
        both = tf.tanh(tf.expand_dims(query, axis=-2) + tf.expand_dims(key, axis=-3))
        return tf.reduce_sum(self.scale * both, axis=-1)
