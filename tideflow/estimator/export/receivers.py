"""Receivers: what a SavedModel takes, and the features that the model gets from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import tideflow as tf
from tideflow.export import export
from tideflow.graph.composite import SparseTensor
from tideflow.graph.operation import Tensor
from tideflow.graph.shapes import TensorShape

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

SINGLE_RECEIVER_NAME = "input"
_SINGLE_NAMES = {
    "feature": "feature",
    "label": "label",
    "receiver_tensor": SINGLE_RECEIVER_NAME,
    "receiver_tensors_alternative": SINGLE_RECEIVER_NAME,
}


def _checked(tensors: Any, field: str, allow_int_keys: bool = False) -> dict:
    """Tensors by name; one alone has a default name."""
    if tensors is None:
        raise ValueError(f"{field}s must be defined.")
    if not isinstance(tensors, dict):
        tensors = {_SINGLE_NAMES[field]: tensors}
    for name, tensor in tensors.items():
        if not isinstance(name, str):
            if not allow_int_keys:
                raise ValueError(f"{field} keys must be strings: {name}.")
            if not isinstance(name, int):
                raise ValueError(f"{field} keys must be strings or ints: {name}.")
        _check_tensor(tensor, f"{field} {name}")
    return tensors


def _check_tensor(tensor: Any, label: str) -> None:
    if not isinstance(tensor, (Tensor, SparseTensor)):
        raise ValueError(f"{label} must be a Tensor or SparseTensor.")


class _ReceiverFields(NamedTuple):
    features: Any
    receiver_tensors: dict[str, Any]
    receiver_tensors_alternatives: dict[str, dict[str, Any]] | None = None


@export("estimator.export.ServingInputReceiver")
class ServingInputReceiver(_ReceiverFields):
    """What a served model takes, and the features that are made of it.

    Args:
      features: A tensor, or tensors by name: the features that the model function gets.
      receiver_tensors: A tensor, or tensors by name, that are fed: serialized Example messages, say.
      receiver_tensors_alternatives: Other such tensors that can be fed instead, by the names of the
        alternatives.

    Raises:
      ValueError: If something is missing or not a tensor.
    """

    def __new__(
        cls,
        features: TensorLike | Mapping[Any, TensorLike],
        receiver_tensors: TensorLike | Mapping[str, TensorLike],
        receiver_tensors_alternatives: dict[str, Any] | None = None,
    ):
        features = _checked(features, "feature", allow_int_keys=True)
        receiver_tensors = _checked(receiver_tensors, "receiver_tensor")
        if receiver_tensors_alternatives is not None:
            if not isinstance(receiver_tensors_alternatives, dict):
                raise ValueError(
                    f"receiver_tensors_alternatives must be a dict: {receiver_tensors_alternatives}."
                )
            for name, tensors in receiver_tensors_alternatives.items():
                receiver_tensors_alternatives[name] = _checked(tensors, "receiver_tensors_alternative")
        return super().__new__(cls, features, receiver_tensors, receiver_tensors_alternatives)


@export("estimator.export.TensorServingInputReceiver")
class TensorServingInputReceiver(_ReceiverFields):
    """As ServingInputReceiver, for a model function whose features are one tensor.

    Args:
      features: The tensor that the model function gets.
      receiver_tensors: A tensor, or tensors by name, that are fed.
      receiver_tensors_alternatives: Other such tensors, by the names of the alternatives.

    Raises:
      ValueError: If something is missing or not a tensor.
    """

    def __new__(
        cls,
        features: TensorLike | Mapping[Any, TensorLike],
        receiver_tensors: TensorLike | Mapping[str, TensorLike],
        receiver_tensors_alternatives: dict[str, Any] | None = None,
    ):
        if features is None:
            raise ValueError("features must be defined.")
        _check_tensor(features, "feature")
        receiver = ServingInputReceiver(features, receiver_tensors, receiver_tensors_alternatives)
        return super().__new__(cls, features, *receiver[1:])


class _SupervisedFields(NamedTuple):
    features: Any
    labels: Any
    receiver_tensors: dict[str, Any]


class SupervisedInputReceiver(_SupervisedFields):
    """What a model takes that is trained or evaluated from its SavedModel: features and labels."""

    def __new__(cls, features: Any, labels: Any, receiver_tensors: Any):
        _checked(features, "feature", allow_int_keys=True)
        _checked(labels, "label", allow_int_keys=True)
        return super().__new__(cls, features, labels, _checked(receiver_tensors, "receiver_tensor"))


@export("estimator.export.build_parsing_serving_input_receiver_fn")
def build_parsing_serving_input_receiver_fn(
    feature_spec: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """Makes a receiver function for serialized Example messages.

    Args:
      feature_spec: How to parse them, as `tf.io.parse_example` takes it.
      default_batch_size: The number of messages in a batch; any if None.

    Returns:
      The function.
    """

    def serving_input_receiver_fn() -> ServingInputReceiver:
        examples = tf.placeholder(tf.string, [default_batch_size], name="input_example_tensor")
        features = tf.io.parse_example(examples, feature_spec)
        return ServingInputReceiver(features, {"examples": examples})

    return serving_input_receiver_fn


@export("estimator.export.build_raw_serving_input_receiver_fn")
def build_raw_serving_input_receiver_fn(
    features: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """Makes a receiver function for features as they are.

    Args:
      features: Tensors like the features, by name: their types and shapes are used.
      default_batch_size: The size of a batch; any if None.

    Returns:
      The function.
    """

    def serving_input_receiver_fn() -> ServingInputReceiver:
        received = _placeholders(features, default_batch_size)
        return ServingInputReceiver(received, received)

    return serving_input_receiver_fn


@export("estimator.experimental.build_raw_supervised_input_receiver_fn")
def build_raw_supervised_input_receiver_fn(
    features: TensorLike | Mapping[str, TensorLike],
    labels: TensorLike | Mapping[str, TensorLike],
    default_batch_size: int | None = None,
) -> Callable[[], SupervisedInputReceiver]:
    """Makes a receiver function for features and labels as they are.

    Args:
      features: A tensor like the features, or such tensors by name.
      labels: A tensor like the labels, or such tensors by name.
      default_batch_size: The size of a batch; any if None.

    Returns:
      The function.

    Raises:
      ValueError: If features and labels share a name.
    """
    both = _named(features, SINGLE_RECEIVER_NAME).keys() & _named(labels, "label").keys()
    if both:
        raise ValueError(f"Features and labels must have distinct keys. Found overlapping keys: {both}")

    def supervised_input_receiver_fn() -> SupervisedInputReceiver:
        given = {}
        received = {}
        for tensors, name in ((features, SINGLE_RECEIVER_NAME), (labels, "label")):
            made = _placeholders(_named(tensors, name), default_batch_size)
            received.update(made)
            given[name] = made if isinstance(tensors, dict) else made[name]
        return SupervisedInputReceiver(given[SINGLE_RECEIVER_NAME], given["label"], received)

    return supervised_input_receiver_fn


def _named(tensors: Any, name: str) -> dict[str, Any]:
    return tensors if isinstance(tensors, dict) else {name: tensors}


def _placeholders(like: Mapping[str, Any], batch_size: int | None) -> dict[str, Tensor]:
    return {name: _placeholder(tensor, batch_size) for name, tensor in like.items()}


def _placeholder(like: Any, batch_size: int | None) -> Tensor:
    shape = TensorShape([batch_size]).concatenate(like.get_shape()[1:])
    operation = getattr(like, "op", None)
    return tf.placeholder(like.dtype, shape, name=operation and operation.name)
