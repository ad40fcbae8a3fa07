"""tf.contrib.kernel_methods: linear models on random features that stand for a kernel."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import tideflow as tf
from tideflow.contrib.layers.columns.numbers import RealValuedColumn
from tideflow.contrib.learn import head as heads
from tideflow.contrib.learn.estimator import Estimator
from tideflow.contrib.learn.linear import linear_model_fn
from tideflow.contrib.learn.model_fn import ModelFnOps
from tideflow.contrib.learn.modes import PredictionKey
from tideflow.contrib.learn.run_config import RunConfig
from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import GraphKeys
from tideflow.platform import logging

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


class InvalidShapeError(Exception):
    """The input of a mapper has another shape."""


class DenseKernelMapper(abc.ABC):
    """Maps vectors to others whose inner products are near to a kernel."""

    @abc.abstractmethod
    def map(self, input_tensor: Tensor) -> Tensor:
        """Maps the rows of a matrix."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The name of the mapper."""

    @property
    @abc.abstractmethod
    def output_dim(self) -> int:
        """The size of a mapped vector."""


@export("contrib.kernel_methods.RandomFourierFeatureMapper")
class RandomFourierFeatureMapper(DenseKernelMapper):
    """Maps vectors to cosines whose inner products are near to a Gaussian kernel.

    Args:
      input_dim: The size of a vector.
      output_dim: The number of cosines.
      stddev: The width of the kernel.
      seed: The seed of the random frequencies.
      name: The name of the mapper.
    """

    def __init__(
        self, input_dim: int, output_dim: int, stddev: float = 1.0, seed: int = 1, name: str | None = None
    ):
        self._input_dim, self._output_dim = input_dim, output_dim
        self._stddev, self._seed, self._name = stddev, seed, name

    @property
    def name(self) -> str:
        """The name of the mapper."""
        return self._name or str(id(self))

    @property
    def input_dim(self) -> int:
        """The size of a vector."""
        return self._input_dim

    @property
    def output_dim(self) -> int:
        """The number of cosines."""
        return self._output_dim

    def map(self, input_tensor: Tensor) -> Tensor:
        """Maps the rows of a matrix.

        Args:
          input_tensor: The matrix, [batch, input_dim].

        Returns:
          The cosines, [batch, output_dim].

        Raises:
          InvalidShapeError: If the matrix has another shape.
        """
        shape = input_tensor.get_shape().as_list()
        if len(shape) != 2:
            raise InvalidShapeError(f"The shape of the tensor should be 2. Got {len(shape)} instead.")
        if shape[1] != self._input_dim:
            raise InvalidShapeError(
                f"Invalid dimension: expected {self._input_dim} input features, got {shape[1]} instead."
            )
        np.random.seed(self._seed)
        sizes = [self._input_dim, self._output_dim]
        frequencies = tf.constant(np.random.normal(scale=1.0 / self._stddev, size=sizes), tf.float32)
        phases = tf.constant(np.random.uniform(0.0, 2 * np.pi, size=sizes[1:]), tf.float32)
        return np.sqrt(2.0 / self._output_dim) * tf.cos(tf.matmul(input_tensor, frequencies) + phases)


def _mapped(
    features: Mapping[str, Any], columns: Sequence[Any], mappers: Mapping[Any, Sequence[DenseKernelMapper]]
) -> tuple[dict[str, Any], set[Any]]:
    """Features and columns, and beside them those that mappers make."""
    features, columns = dict(features), set(columns)
    for column, chosen in mappers.items():
        if not isinstance(column, RealValuedColumn):
            logging.warning(
                "Updates are currently supported on RealValuedColumns only. Metadata for FeatureColumn %s "
                "will not be updated.",
                column.name,
            )
            continue
        name = f"{column.name}_MAPPED"
        size = sum(mapper.output_dim for mapper in chosen)
        columns.add(tf.contrib.layers.real_valued_column(name, size))
        features[name] = tf.concat([mapper.map(features[column.name]) for mapper in chosen], 1)
    return features, columns


def _model_fn(features: Any, labels: Any, mode: str, params: dict, config: Any = None) -> ModelFnOps:
    features, columns = _mapped(features, params["feature_columns"], params["kernel_mappers"] or {})
    return linear_model_fn(features, labels, mode, {**params, "feature_columns": columns}, config)


@export("contrib.kernel_methods.KernelLinearClassifier")
class KernelLinearClassifier(Estimator):
    """A linear model of features that are mapped first, which predicts classes.

    Args:
      feature_columns: The feature columns that are taken as they are.
      model_dir: The directory of the model.
      n_classes: The number of classes.
      weight_column_name: The key of the weights among the features.
      optimizer: The optimizer, its name, or a function that returns one; Ftrl if None.
      kernel_mappers: Lists of mappers by the feature columns that they map.
      config: A RunConfig.

    Raises:
      ValueError: If there are neither columns nor mappers, or a mapper is none.
    """

    def __init__(
        self,
        feature_columns: Sequence[Any] | None = None,
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        kernel_mappers: Mapping[Any, Sequence[DenseKernelMapper]] | None = None,
        config: RunConfig | None = None,
    ):
        if not feature_columns and not kernel_mappers:
            raise ValueError("You should set at least one of feature_columns, kernel_mappers.")
        for chosen in (kernel_mappers or {}).values():
            if not all(isinstance(mapper, DenseKernelMapper) for mapper in chosen):
                raise ValueError("Invalid kernel mappers.")
        params = {
            "head": heads.multi_class_head(n_classes=n_classes, weight_column_name=weight_column_name),
            "feature_columns": feature_columns or [],
            "optimizer": optimizer,
            "kernel_mappers": kernel_mappers,
            "gradient_clip_norm": None,
            "joint_weights": False,
        }
        super().__init__(_model_fn, model_dir, config, params)

    def predict_classes(self, input_fn: Callable | None = None) -> Iterator[Any]:
        """Predicts classes.

        Args:
          input_fn: A function that returns the tensors of features.

        Returns:
          An iterator over the classes.
        """
        key = PredictionKey.CLASSES
        return (found[key] for found in self.predict(input_fn=input_fn, outputs=[key]))

    def predict_proba(self, input_fn: Callable | None = None) -> Iterator[Any]:
        """Predicts the probabilities of the classes.

        Args:
          input_fn: A function that returns the tensors of features.

        Returns:
          An iterator over the probabilities of each example.
        """
        key = PredictionKey.PROBABILITIES
        return (found[key] for found in self.predict(input_fn=input_fn, outputs=[key]))


@export("contrib.kernel_methods.sparse_multiclass_hinge_loss")
def sparse_multiclass_hinge_loss(
    labels: Tensor,
    logits: Tensor,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = tf.losses.Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Computes the hinge loss of several classes: by how much the worst other class comes too near.

    Args:
      labels: The numbers of the classes, [batch] or [batch, 1].
      logits: The logits, [batch, classes].
      weights: The weight of all losses or of each.
      scope: The name scope.
      loss_collection: The collection to add the loss to.
      reduction: How the losses become one.

    Returns:
      The loss.

    Raises:
      ValueError: If a tensor has another rank or type.
    """
    with tf.name_scope(scope, "sparse_multiclass_hinge_loss", (logits, labels)) as scope:
        rank = logits.get_shape().ndims
        if rank != 2:
            raise ValueError(f"logits should have rank 2 ([batch_size, num_classes]). Given rank is {rank}")
        if labels.dtype not in (tf.int32, tf.int64):
            raise ValueError(f"Invalid dtype for labels: {labels.dtype}. Acceptable dtypes: int32 and int64")
        rank = labels.get_shape().ndims
        if rank not in (1, 2):
            raise ValueError(
                f"labels should have rank 1 ([batch_size]) or 2 ([batch_size, 1]). Given rank is {rank}"
            )
        logits = tf.cast(logits, tf.float32)
        classes = tf.shape(logits)[1]
        with tf.control_dependencies([tf.assert_less(labels, tf.cast(classes, labels.dtype))]):
            labels = tf.reshape(labels, [-1])
        weights = tf.convert_to_tensor(weights)
        rank = weights.get_shape().ndims
        if rank not in (0, 1, 2):
            raise ValueError(
                "non-scalar weights should have rank 1 ([batch_size]) or 2 ([batch_size, 1]). Given rank is "
                f"{rank}"
            )
        if rank > 0:
            weights = tf.reshape(weights, [-1])
            weights.get_shape().assert_is_compatible_with(labels.get_shape())
        others = tf.one_hot(labels, classes, on_value=0.0, off_value=1.0)
        own = tf.reduce_sum(logits * (1.0 - others), axis=1, keepdims=True)
        losses = tf.reduce_max(tf.nn.relu(logits - own + others), axis=1)
        return tf.losses.compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)
