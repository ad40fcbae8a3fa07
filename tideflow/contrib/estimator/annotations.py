"""Deep models that note in collections which tensors features and columns are, to attribute predictions."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from google.protobuf.any_pb2 import Any as AnyMessage

import tideflow as tf
from tideflow.estimator.canned.dnn import dnn_model_fn
from tideflow.estimator.canned.heads import CannedRegressionHead, class_head
from tideflow.estimator.estimator import Estimator
from tideflow.estimator.heads.base import Head
from tideflow.estimator.run_config import RunConfig
from tideflow.export import export
from tideflow.feature_column.layers import dense_features
from tideflow.graph.operation import Tensor
from tideflow.losses.reduction import Reduction
from tideflow.ops.nn.activations import relu
from tideflow.saved_model.tensor_info import build_tensor_info

_TENSOR_INFO = "type.googleapis.com/tensorflow.TensorInfo"


class LayerAnnotationsCollectionNames:
    """The names of the collections."""

    UNPROCESSED_FEATURES = "layer_annotations/unprocessed_features"
    PROCESSED_FEATURES = "layer_annotatons/processed_features"  # spelled as in TensorFlow
    FEATURE_COLUMNS = "layer_annotations/feature_columns"

    @classmethod
    def keys(cls, collection_name: str) -> str:
        """The name of the collection with the names of tensors."""
        return f"{collection_name}/keys"

    @classmethod
    def values(cls, collection_name: str) -> str:
        """The name of the collection with what is told of the tensors, in the order of their names."""
        return f"{collection_name}/values"


def serialize_feature_column(feature_column: Any) -> bytes:
    """A feature column as bytes that `pickle` reads."""
    return pickle.dumps(feature_column)


def _annotate(collection: str, name: str, tensor: Any) -> None:
    info = AnyMessage(type_url=_TENSOR_INFO, value=build_tensor_info(tensor).SerializeToString())
    tf.add_to_collection(LayerAnnotationsCollectionNames.keys(collection), name)
    tf.add_to_collection(LayerAnnotationsCollectionNames.values(collection), info)


def make_input_layer_with_layer_annotations(original_input_layer: Callable[..., Tensor]) -> Callable:
    """An input layer that adds to the collections what it takes and makes.

    Args:
      original_input_layer: A function of `features`, `feature_columns` and `cols_to_output_tensors`.

    Returns:
      A function with the same arguments.
    """

    @functools.wraps(original_input_layer)
    def input_layer(
        features: Mapping[str, Any],
        feature_columns: Iterable[Any],
        *args: Any,
        cols_to_output_tensors: dict | None = None,
        **kwargs: Any,
    ) -> Tensor:
        made: dict[Any, Tensor] = {}
        columns = list(feature_columns)
        joined = original_input_layer(features, columns, *args, cols_to_output_tensors=made, **kwargs)
        if cols_to_output_tensors is not None:
            cols_to_output_tensors.update(made)
        names = LayerAnnotationsCollectionNames
        for key in tf.feature_column.make_parse_example_spec(columns):
            tensor = tf.convert_to_tensor_or_indexed_slices(features[key])
            _annotate(names.UNPROCESSED_FEATURES, key, tensor)
        for column in columns:
            tf.add_to_collection(names.FEATURE_COLUMNS, serialize_feature_column(column))
        for column, tensor in made.items():
            _annotate(names.PROCESSED_FEATURES, column.name, tensor)
        return joined

    return input_layer


def _annotated(
    head: Head,
    hidden_units: Sequence[int],
    feature_columns: Iterable[Any],
    optimizer: Any,
    activation_fn: Callable | None,
    dropout: float | None,
    partitioner: Any,
    **of_estimator: Any,
) -> Estimator:
    columns = tuple(feature_columns or ())
    input_layer = make_input_layer_with_layer_annotations(dense_features)

    def model_fn(features: Any, labels: Any, mode: str, config: RunConfig) -> Any:
        return dnn_model_fn(
            features,
            labels,
            mode,
            head,
            hidden_units,
            columns,
            optimizer,
            activation_fn,
            dropout,
            partitioner,
            config,
            input_layer=input_layer,
        )

    return Estimator(model_fn, **of_estimator)


@export("contrib.estimator.DNNClassifierWithLayerAnnotations")
def DNNClassifierWithLayerAnnotations(
    hidden_units: Sequence[int],
    feature_columns: Iterable[Any],
    model_dir: str | None = None,
    n_classes: int = 2,
    weight_column: Any = None,
    label_vocabulary: Any = None,
    optimizer: Any = "Adagrad",
    activation_fn: Callable | None = relu,
    dropout: float | None = None,
    input_layer_partitioner: Any = None,
    config: RunConfig | None = None,
    warm_start_from: Any = None,
    loss_reduction: str = Reduction.SUM,
) -> Estimator:
    """Makes a `tf.estimator.DNNClassifier` whose graph tells which tensors its features and columns are.

    The collections are for Integrated Gradients (Sundararajan et al., 2017), which attribute a prediction to
    features. Checkpoints are those of the plain model.

    Args:
      hidden_units: The sizes of the hidden layers.
      feature_columns: The feature columns, which must be dense.
      model_dir: The directory of the model.
      n_classes: The number of classes.
      weight_column: The feature with the weights of the examples: its name, or a numeric column.
      label_vocabulary: The labels, if they are strings.
      optimizer: An optimizer, its name, or a function that makes it.
      activation_fn: The activation of the hidden layers.
      dropout: The probability that a value is dropped in training; none is if None.
      input_layer_partitioner: A partitioner of the variables of the feature columns.
      config: A RunConfig.
      warm_start_from: A checkpoint or SavedModel to begin with, or WarmStartSettings.
      loss_reduction: How the losses of a batch become one, of `tf.losses.Reduction`.

    Returns:
      The estimator.
    """
    return _annotated(
        class_head(n_classes, weight_column, label_vocabulary, loss_reduction),
        hidden_units,
        feature_columns,
        optimizer,
        activation_fn,
        dropout,
        input_layer_partitioner,
        model_dir=model_dir,
        config=config,
        warm_start_from=warm_start_from,
    )


@export("contrib.estimator.DNNRegressorWithLayerAnnotations")
def DNNRegressorWithLayerAnnotations(
    hidden_units: Sequence[int],
    feature_columns: Iterable[Any],
    model_dir: str | None = None,
    label_dimension: int = 1,
    weight_column: Any = None,
    optimizer: Any = "Adagrad",
    activation_fn: Callable | None = relu,
    dropout: float | None = None,
    input_layer_partitioner: Any = None,
    config: RunConfig | None = None,
    warm_start_from: Any = None,
    loss_reduction: str = Reduction.SUM,
) -> Estimator:
    """Makes a `tf.estimator.DNNRegressor` whose graph tells which tensors its features and columns are.

    The collections are for Integrated Gradients (Sundararajan et al., 2017), which attribute a prediction to
    features. Checkpoints are those of the plain model.

    Args:
      hidden_units: The sizes of the hidden layers.
      feature_columns: The feature columns, which must be dense.
      model_dir: The directory of the model.
      label_dimension: The number of values for each example.
      weight_column: The feature with the weights of the examples: its name, or a numeric column.
      optimizer: An optimizer, its name, or a function that makes it.
      activation_fn: The activation of the hidden layers.
      dropout: The probability that a value is dropped in training; none is if None.
      input_layer_partitioner: A partitioner of the variables of the feature columns.
      config: A RunConfig.
      warm_start_from: A checkpoint or SavedModel to begin with, or WarmStartSettings.
      loss_reduction: How the losses of a batch become one, of `tf.losses.Reduction`.

    Returns:
      The estimator.
    """
    return _annotated(
        CannedRegressionHead(label_dimension, weight_column, loss_reduction),
        hidden_units,
        feature_columns,
        optimizer,
        activation_fn,
        dropout,
        input_layer_partitioner,
        model_dir=model_dir,
        config=config,
        warm_start_from=warm_start_from,
    )
