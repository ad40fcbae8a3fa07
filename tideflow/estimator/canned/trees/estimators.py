"""The estimators of boosted trees."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

import tideflow as tf
from tideflow.estimator.canned.heads import CannedRegressionHead, class_head
from tideflow.estimator.canned.trees.features import by_name, feature_names
from tideflow.estimator.canned.trees.growing import TreeSettings
from tideflow.estimator.canned.trees.model import (
    DEBUG_OUTPUTS,
    ENSEMBLE,
    boosted_trees_model_fn,
    explanations_model_fn,
)
from tideflow.estimator.estimator import Estimator
from tideflow.estimator.heads.base import Head
from tideflow.estimator.heads.checks import checked_labels
from tideflow.estimator.heads.classes import BinaryClassHead, MultiClassHead
from tideflow.estimator.run_config import RunConfig
from tideflow.estimator.spec import EstimatorSpec
from tideflow.export import export
from tideflow.graph.boosted_trees_proto import DebugOutput, TreeEnsemble
from tideflow.graph.operation import Tensor
from tideflow.losses.reduction import Reduction
from tideflow.train import checkpoint_utils
from tideflow.train.session_run_hook import SessionRunHook

UNSET = object()  # of arguments that allow one value only, for now


def _by_column(names: Sequence[str], values: Iterable[float]) -> OrderedDict[str, float]:
    """The sums of the values of each column's features, the largest first."""
    sums: dict[str, float] = {}
    for name, value in zip(names, values, strict=False):
        sums[name] = sums.get(name, 0) + value
    return OrderedDict(sorted(sums.items(), key=lambda item: abs(item[1]), reverse=True))


def _importances(ensemble: Any, count: int, normalize: bool) -> np.ndarray:
    """What each feature gained, in all trees."""
    gains = np.zeros(count)
    for tree, weight in zip(ensemble.trees, ensemble.tree_weights, strict=True):
        of_tree = np.zeros(count)
        for node in tree.nodes:
            kind = node.WhichOneof("node")
            if kind == "bucketized_split":
                of_tree[node.bucketized_split.feature_id] += node.metadata.gain
            elif kind != "leaf":
                raise ValueError(f"Unexpected split type {kind}")
        gains += of_tree * weight
    if normalize:
        if not np.all(gains >= 0):
            raise AssertionError("feature_importances must be non-negative.")
        if not gains.sum() > 0:
            raise AssertionError("Trees are all empty or contain only a root node.")
        gains /= gains.sum()
    return gains


def _explained(serialized: bytes, names: Sequence[str], is_classification: bool) -> tuple[float, OrderedDict]:
    """The prediction without any split, and by how much the splits of each column changed it."""
    output = DebugOutput.FromString(serialized)
    path = np.array(output.logits_path)
    predictions = 1 / (1 + np.exp(-path)) if is_classification else path
    changes = np.bincount(output.feature_ids, weights=np.diff(predictions), minlength=len(names))
    return predictions[0], _by_column(names, changes)


class _BoostedTrees(Estimator):
    """What the estimators of boosted trees share."""

    def __init__(
        self,
        model_fn: Callable[..., EstimatorSpec],
        model_dir: str | None,
        config: RunConfig | None,
        feature_columns: Iterable[Any],
        head: Head,
        settings: TreeSettings,
        is_classification: bool,
    ):
        super().__init__(model_fn, model_dir, config)
        self._sorted_columns = by_name(feature_columns)
        self._feature_names = feature_names(self._sorted_columns)
        self._head, self._settings, self._is_classification = head, settings, is_classification

    def experimental_feature_importances(self, normalize: bool = False) -> OrderedDict[str, float]:
        """Says how important each feature column is: what the splits by it have gained.

        Args:
          normalize: Whether the importances are fractions of their sum.

        Returns:
          The importances by column, the largest first.

        Raises:
          ValueError: If the model is not trained.
        """
        reader = checkpoint_utils.load_checkpoint(self._model_dir)
        serialized = reader.get_tensor(f"{ENSEMBLE}:0_serialized")
        if not serialized:
            raise ValueError(
                "Found empty serialized string for TreeEnsemble.You should only call this method after "
                "training."
            )
        ensemble = TreeEnsemble.FromString(bytes(serialized))
        return _by_column(self._feature_names, _importances(ensemble, len(self._feature_names), normalize))

    def experimental_predict_with_explanations(
        self,
        input_fn: Callable,
        predict_keys: Sequence[str] | None = None,
        hooks: Sequence[SessionRunHook] | None = None,
        checkpoint_path: str | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Predicts, and says how much each feature column contributed.

        Args:
          input_fn: A function that returns a `tf.data.Dataset` of features, or features by name.
          predict_keys: The names of the predictions; all if None.
          hooks: Hooks of the session.
          checkpoint_path: The checkpoint; the newest one if None.

        Yields:
          For each example its predictions. `"bias"` is the prediction without features, `"dfc"` has by how
          much each column changed it, the largest change first.

        Raises:
          ValueError: If the bias was not centered.
        """
        if not self._settings.center_bias:
            raise ValueError(
                "center_bias must be enabled during estimator instantiation when using "
                "experimental_predict_with_explanations."
            )
        link = getattr(self._head, "_inverse_link_fn", None)
        if not self._is_classification and link not in (None, tf.identity):
            raise ValueError(
                "For now only identity inverse_link_fn in regression_head is supported for "
                "experimental_predict_with_explanations."
            )

        def model_fn(features: Any, mode: str) -> EstimatorSpec:
            epsilon = self._settings.quantile_sketch_epsilon
            return explanations_model_fn(features, self._head, self._sorted_columns, epsilon)

        keys = None if predict_keys is None else {*predict_keys, DEBUG_OUTPUTS}
        explaining = Estimator(
            model_fn, self.model_dir, self.config, warm_start_from=self._warm_start_settings
        )
        for prediction in explaining.predict(input_fn, keys, hooks, checkpoint_path):
            serialized = prediction.pop(DEBUG_OUTPUTS)
            bias, contributions = _explained(serialized, self._feature_names, self._is_classification)
            prediction["bias"], prediction["dfc"] = bias, contributions
            yield prediction


def _binary_gradients(head: Head) -> Callable[[Tensor, Any], tuple[Tensor, Tensor]]:
    """The gradients and hessians of the mean logistic loss."""

    def gradients_and_hessians(logits: Tensor, labels: Any) -> tuple[Tensor, Tensor]:
        predictions = tf.reciprocal(tf.exp(-logits) + 1.0)
        normalizer = tf.reciprocal(tf.cast(tf.size(predictions), tf.float32))
        labels = tf.cast(labels, tf.float32)
        labels = checked_labels(labels, logits, head.logits_dimension)
        return (predictions - labels) * normalizer, predictions * (1.0 - predictions) * normalizer

    return gradients_and_hessians


def _model_fn(
    head: Head,
    feature_columns: Iterable[Any],
    settings: TreeSettings,
    n_batches_per_layer: Any,
    weight_column: Any = None,
    train_in_memory: bool = False,
    gradients_fn: Any = None,
) -> Callable[..., EstimatorSpec]:
    columns = list(feature_columns)

    def model_fn(features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
        return boosted_trees_model_fn(
            features,
            labels,
            mode,
            head,
            columns,
            settings,
            n_batches_per_layer,
            config,
            gradients_fn,
            weight_column,
            train_in_memory,
        )

    return model_fn


@export("estimator.BoostedTreesClassifier")
class BoostedTreesClassifier(_BoostedTrees):
    """Boosted trees that tell two classes apart.

    Args:
      feature_columns: The feature columns: bucketized, indicator and numeric ones.
      n_batches_per_layer: How many batches are collected for a layer of a tree.
      model_dir: The directory of the model.
      n_classes: The number of classes, which is 2.
      weight_column: The feature with the weights of the examples: its name, or a numeric column.
      label_vocabulary: The labels, if they are strings.
      n_trees: The number of trees.
      max_depth: The number of layers of a tree.
      learning_rate: By how much the logits of new leaves are multiplied.
      l1_regularization: How much the absolute value of a leaf's logits costs.
      l2_regularization: How much the square of a leaf's logits costs.
      tree_complexity: What a split must gain, where trees are pruned.
      min_node_weight: The sum of hessians that a node must have to be split.
      config: A RunConfig.
      center_bias: Whether the root of the first tree predicts the mean of the labels.
      pruning_mode: `"none"`; `"pre"`: splits that gain too little are not made; `"post"`: they are undone
        when the tree is finished.
      quantile_sketch_epsilon: By which fraction a quantile of a numeric feature may be off; there are as many
        buckets as it fits into 1.
      train_in_memory: Whether the input function gives all data in one batch, which makes training faster.

    Raises:
      ValueError: If there are more classes, or pruning and tree complexity do not go together.
    """

    def __init__(
        self,
        feature_columns: Iterable[Any],
        n_batches_per_layer: int,
        model_dir: str | None = None,
        n_classes: Any = UNSET,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        n_trees: int = 100,
        max_depth: int = 6,
        learning_rate: float = 0.1,
        l1_regularization: float = 0.0,
        l2_regularization: float = 0.0,
        tree_complexity: float = 0.0,
        min_node_weight: float = 0.0,
        config: RunConfig | None = None,
        center_bias: bool = False,
        pruning_mode: str = "none",
        quantile_sketch_epsilon: float = 0.01,
        train_in_memory: bool = False,
    ):
        n_classes = 2 if n_classes is UNSET else n_classes
        if n_classes != 2:
            raise ValueError(
                f"For now only binary classification is supported.n_classes given as {n_classes}"
            )
        head = class_head(2, weight_column, label_vocabulary, Reduction.SUM_OVER_BATCH_SIZE)
        gradients_fn = _binary_gradients(head) if weight_column is None and label_vocabulary is None else None
        settings = TreeSettings(
            n_trees,
            max_depth,
            learning_rate,
            l1_regularization,
            l2_regularization,
            tree_complexity,
            min_node_weight,
            center_bias,
            pruning_mode,
            quantile_sketch_epsilon,
        )
        columns = list(feature_columns)
        model_fn = _model_fn(
            head, columns, settings, n_batches_per_layer, weight_column, train_in_memory, gradients_fn
        )
        super().__init__(model_fn, model_dir, config, columns, head, settings, is_classification=True)


@export("estimator.BoostedTreesRegressor")
class BoostedTreesRegressor(_BoostedTrees):
    """Boosted trees that predict a number.

    Args:
      feature_columns: The feature columns: bucketized, indicator and numeric ones.
      n_batches_per_layer: How many batches are collected for a layer of a tree.
      model_dir: The directory of the model.
      label_dimension: The number of values for each example, which is 1.
      weight_column: The feature with the weights of the examples: its name, or a numeric column.
      n_trees: The number of trees.
      max_depth: The number of layers of a tree.
      learning_rate: By how much the logits of new leaves are multiplied.
      l1_regularization: How much the absolute value of a leaf's logits costs.
      l2_regularization: How much the square of a leaf's logits costs.
      tree_complexity: What a split must gain, where trees are pruned.
      min_node_weight: The sum of hessians that a node must have to be split.
      config: A RunConfig.
      center_bias: Whether the root of the first tree predicts the mean of the labels.
      pruning_mode: `"none"`; `"pre"`: splits that gain too little are not made; `"post"`: they are undone
        when the tree is finished.
      quantile_sketch_epsilon: By which fraction a quantile of a numeric feature may be off; there are as many
        buckets as it fits into 1.
      train_in_memory: Whether the input function gives all data in one batch, which makes training faster.

    Raises:
      ValueError: If there are more values, or pruning and tree complexity do not go together.
    """

    def __init__(
        self,
        feature_columns: Iterable[Any],
        n_batches_per_layer: int,
        model_dir: str | None = None,
        label_dimension: Any = UNSET,
        weight_column: Any = None,
        n_trees: int = 100,
        max_depth: int = 6,
        learning_rate: float = 0.1,
        l1_regularization: float = 0.0,
        l2_regularization: float = 0.0,
        tree_complexity: float = 0.0,
        min_node_weight: float = 0.0,
        config: RunConfig | None = None,
        center_bias: bool = False,
        pruning_mode: str = "none",
        quantile_sketch_epsilon: float = 0.01,
        train_in_memory: bool = False,
    ):
        label_dimension = 1 if label_dimension is UNSET else label_dimension
        if label_dimension > 1 and pruning_mode is not None:
            raise ValueError("For now pruning is not supported with multi-dimensionregression.")
        if label_dimension != 1:
            raise ValueError(
                f"For now only 1 dimension regression is supported.label_dimension given as {label_dimension}"
            )
        head = CannedRegressionHead(1, weight_column, Reduction.SUM_OVER_BATCH_SIZE)
        settings = TreeSettings(
            n_trees,
            max_depth,
            learning_rate,
            l1_regularization,
            l2_regularization,
            tree_complexity,
            min_node_weight,
            center_bias,
            pruning_mode,
            quantile_sketch_epsilon,
        )
        columns = list(feature_columns)
        model_fn = _model_fn(head, columns, settings, n_batches_per_layer, weight_column, train_in_memory)
        super().__init__(model_fn, model_dir, config, columns, head, settings, is_classification=False)


@export("estimator.BoostedTreesEstimator")
class BoostedTreesEstimator(_BoostedTrees):
    """Boosted trees with any head of one logit.

    Args:
      feature_columns: The feature columns: bucketized, indicator and numeric ones.
      n_batches_per_layer: How many batches are collected for a layer of a tree.
      head: The head.
      model_dir: The directory of the model.
      weight_column: The feature with the weights of the examples; the head uses it.
      n_trees: The number of trees.
      max_depth: The number of layers of a tree.
      learning_rate: By how much the logits of new leaves are multiplied.
      l1_regularization: How much the absolute value of a leaf's logits costs.
      l2_regularization: How much the square of a leaf's logits costs.
      tree_complexity: What a split must gain, where trees are pruned.
      min_node_weight: The sum of hessians that a node must have to be split.
      config: A RunConfig.
      center_bias: Whether the root of the first tree predicts the mean of the labels.
      pruning_mode: `"none"`; `"pre"`: splits that gain too little are not made; `"post"`: they are undone
        when the tree is finished.
      quantile_sketch_epsilon: By which fraction a quantile of a numeric feature may be off; there are as many
        buckets as it fits into 1.
    """

    def __init__(
        self,
        feature_columns: Iterable[Any],
        n_batches_per_layer: int,
        head: Head,
        model_dir: str | None = None,
        weight_column: Any = None,
        n_trees: int = 100,
        max_depth: int = 6,
        learning_rate: float = 0.1,
        l1_regularization: float = 0.0,
        l2_regularization: float = 0.0,
        tree_complexity: float = 0.0,
        min_node_weight: float = 0.0,
        config: RunConfig | None = None,
        center_bias: bool = False,
        pruning_mode: str = "none",
        quantile_sketch_epsilon: float = 0.01,
    ):
        settings = TreeSettings(
            n_trees,
            max_depth,
            learning_rate,
            l1_regularization,
            l2_regularization,
            tree_complexity,
            min_node_weight,
            center_bias,
            pruning_mode,
            quantile_sketch_epsilon,
        )
        columns = list(feature_columns)
        model_fn = _model_fn(head, columns, settings, n_batches_per_layer)
        is_classification = isinstance(head, (BinaryClassHead, MultiClassHead))
        super().__init__(model_fn, model_dir, config, columns, head, settings, is_classification)
