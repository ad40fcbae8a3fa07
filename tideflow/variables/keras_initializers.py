"""Initializers under Keras's names: smaller defaults, and names and configurations instead of objects."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.variables import initializers, second_initializers
from tideflow.variables.behavior import v2_behavior_enabled
from tideflow.variables.custom_objects import deserialize_keras_object, serialize_keras_object
from tideflow.variables.initializers import Initializer

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, InitializerLike, TensorLike


@export("keras.initializers.RandomNormal", "keras.initializers.random_normal", "keras.initializers.normal")
class RandomNormal(initializers.RandomNormal):
    """Initializes a variable with normally distributed numbers.

    Args:
      mean: The mean.
      stddev: The standard deviation.
      seed: The seed of the random numbers; see `tf.set_random_seed`.
      dtype: The default type of the elements.
    """

    def __init__(
        self,
        mean: TensorLike = 0.0,
        stddev: TensorLike = 0.05,
        seed: int | None = None,
        dtype: DTypeLike = dtypes.float32,
    ):
        super().__init__(mean, stddev, seed, dtype)


@export("keras.initializers.RandomUniform", "keras.initializers.random_uniform", "keras.initializers.uniform")
class RandomUniform(initializers.RandomUniform):
    """Initializes a variable with uniformly distributed numbers.

    Args:
      minval: The least number.
      maxval: The upper bound, which is not included.
      seed: The seed of the random numbers; see `tf.set_random_seed`.
      dtype: The default type of the elements.
    """

    def __init__(
        self,
        minval: TensorLike = -0.05,
        maxval: TensorLike = 0.05,
        seed: int | None = None,
        dtype: DTypeLike = dtypes.float32,
    ):
        super().__init__(minval, maxval, seed, dtype)


@export("keras.initializers.TruncatedNormal", "keras.initializers.truncated_normal")
class TruncatedNormal(initializers.TruncatedNormal):
    """Initializes a variable with normally distributed numbers within two standard deviations of the mean.

    Args:
      mean: The mean.
      stddev: The standard deviation.
      seed: The seed of the random numbers; see `tf.set_random_seed`.
      dtype: The default type of the elements.
    """

    def __init__(
        self,
        mean: TensorLike = 0.0,
        stddev: TensorLike = 0.05,
        seed: int | None = None,
        dtype: DTypeLike = dtypes.float32,
    ):
        super().__init__(mean, stddev, seed, dtype)


_CLASSES = (
    initializers.Zeros,
    initializers.Ones,
    initializers.Constant,
    initializers.Identity,
    initializers.Orthogonal,
    initializers.VarianceScaling,
    initializers.GlorotUniform,
    initializers.GlorotNormal,
    RandomNormal,
    RandomUniform,
    TruncatedNormal,
)
_BY_NAME = {
    **{cls.__name__: cls for cls in _CLASSES},
    "zero": initializers.Zeros,
    "zeros": initializers.Zeros,
    "one": initializers.Ones,
    "ones": initializers.Ones,
    "constant": initializers.Constant,
    "identity": initializers.Identity,
    "orthogonal": initializers.Orthogonal,
    "glorot_uniform": initializers.GlorotUniform,
    "glorot_normal": initializers.GlorotNormal,
    "he_normal": initializers.he_normal,
    "he_uniform": initializers.he_uniform,
    "lecun_normal": initializers.lecun_normal,
    "lecun_uniform": initializers.lecun_uniform,
    "normal": RandomNormal,
    "random_normal": RandomNormal,
    "uniform": RandomUniform,
    "random_uniform": RandomUniform,
    "truncated_normal": TruncatedNormal,
}


_FUNCTIONS = ("he_normal", "he_uniform", "lecun_normal", "lecun_uniform")


@export("keras.initializers.serialize")
def serialize(initializer: Initializer) -> dict[str, Any]:
    """Converts an initializer to a dictionary.

    Args:
      initializer: The initializer.

    Returns:
      A dictionary of the class name and the configuration.
    """
    return serialize_keras_object(initializer)


@export("keras.initializers.deserialize")
def deserialize(config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Any:
    """Makes an initializer from a dictionary that `serialize` has returned.

    Args:
      config: The dictionary.
      custom_objects: The program's own initializers, by class name.

    Returns:
      The initializer; after `tf.enable_v2_behavior`, in TensorFlow 2's form.
    """
    return deserialize_keras_object(config, _known(), custom_objects, "initializer")


def _known() -> dict[str, Any]:
    """The initializers by name."""
    if not v2_behavior_enabled():
        return _BY_NAME
    own = {made.__name__: made for made in second_initializers.NAMES.values()}
    return {name: own.get(made.__name__, made) for name, made in _BY_NAME.items()}


@export("keras.initializers.get")
def get(identifier: str | dict | InitializerLike | None) -> Any:
    """Gets an initializer.

    Args:
      identifier: A name, a dictionary that `serialize` has returned, an initializer or its class, or None.

    Returns:
      The initializer, or None for None.

    Raises:
      ValueError: If the argument stands for no initializer.
    """
    if identifier is None:
        return None
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if isinstance(identifier, str):
        if identifier in _FUNCTIONS:
            return deserialize({"class_name": identifier, "config": {}})
        return deserialize(identifier)  # type: ignore[arg-type]
    if callable(identifier):
        return identifier() if inspect.isclass(identifier) else identifier
    raise ValueError(f"Could not interpret initializer identifier: {identifier}")
