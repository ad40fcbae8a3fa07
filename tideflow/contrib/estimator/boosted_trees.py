"""Boosted trees that are trained at once, on data that are one batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import tideflow as tf
from tideflow.estimator.canned.trees.estimators import (
    UNSET,
    BoostedTreesClassifier,
    BoostedTreesRegressor,
)
from tideflow.estimator.run_config import RunConfig
from tideflow.export import export
from tideflow.train.session_run_hook import SessionRunHook


def _repeated(input_fn: Callable[[], Any]) -> Callable[[], Any]:
    """The batch of all data, as often as it is needed."""

    def repeating_input_fn() -> Any:
        result = input_fn()
        return result.repeat() if isinstance(result, tf.data.Dataset) else result

    return repeating_input_fn


@export("contrib.estimator.boosted_trees_classifier_train_in_memory")
def boosted_trees_classifier_train_in_memory(
    train_input_fn: Callable[[], Any],
    feature_columns: Iterable[Any],
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
    train_hooks: Sequence[SessionRunHook] | None = None,
    center_bias: bool = False,
    pruning_mode: str = "none",
    quantile_sketch_epsilon: float = 0.01,
) -> BoostedTreesClassifier:
    """Makes a classifier of boosted trees and trains it on data that are one batch.

    Args:
      train_input_fn: A function that returns a dataset of one batch with all data, or features and labels.
      feature_columns: The feature columns: bucketized, indicator and numeric ones.
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
      train_hooks: Hooks of the session.
      center_bias: Whether the root of the first tree predicts the mean of the labels.
      pruning_mode: `"none"`, `"pre"` or `"post"`.
      quantile_sketch_epsilon: By which fraction a quantile of a numeric feature may be off.

    Returns:
      The trained estimator.
    """
    estimator = BoostedTreesClassifier(
        feature_columns,
        1,
        model_dir,
        n_classes,
        weight_column,
        label_vocabulary,
        n_trees,
        max_depth,
        learning_rate,
        l1_regularization,
        l2_regularization,
        tree_complexity,
        min_node_weight,
        config,
        center_bias,
        pruning_mode,
        quantile_sketch_epsilon,
        train_in_memory=True,
    )
    return estimator.train(_repeated(train_input_fn), hooks=train_hooks)


@export("contrib.estimator.boosted_trees_regressor_train_in_memory")
def boosted_trees_regressor_train_in_memory(
    train_input_fn: Callable[[], Any],
    feature_columns: Iterable[Any],
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
    train_hooks: Sequence[SessionRunHook] | None = None,
    center_bias: bool = False,
    pruning_mode: str = "none",
    quantile_sketch_epsilon: float = 0.01,
) -> BoostedTreesRegressor:
    """Makes a regressor of boosted trees and trains it on data that are one batch.

    Args:
      train_input_fn: A function that returns a dataset of one batch with all data, or features and labels.
      feature_columns: The feature columns: bucketized, indicator and numeric ones.
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
      train_hooks: Hooks of the session.
      center_bias: Whether the root of the first tree predicts the mean of the labels.
      pruning_mode: `"none"`, `"pre"` or `"post"`.
      quantile_sketch_epsilon: By which fraction a quantile of a numeric feature may be off.

    Returns:
      The trained estimator.
    """
    estimator = BoostedTreesRegressor(
        feature_columns,
        1,
        model_dir,
        label_dimension,
        weight_column,
        n_trees,
        max_depth,
        learning_rate,
        l1_regularization,
        l2_regularization,
        tree_complexity,
        min_node_weight,
        config,
        center_bias,
        pruning_mode,
        quantile_sketch_epsilon,
        train_in_memory=True,
    )
    return estimator.train(_repeated(train_input_fn), hooks=train_hooks)
