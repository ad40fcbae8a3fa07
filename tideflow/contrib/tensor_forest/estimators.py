"""Estimators of random forests, in both kinds: those of `tf.contrib.learn` and of `tf.estimator`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tideflow as tf
from tideflow.contrib.learn import head as learn_heads
from tideflow.contrib.learn.estimator import Estimator as LearnEstimator
from tideflow.contrib.learn.model_fn import ModelFnOps
from tideflow.contrib.tensor_forest.eval_metrics import CLASSES, PROBABILITIES
from tideflow.contrib.tensor_forest.graphs import ForestHParams, RandomForestGraphs
from tideflow.contrib.tensor_forest.hooks import TensorForestLossHook, TensorForestRunOpAtEndHook
from tideflow.export import export
from tideflow.feature_column.base import Inputs
from tideflow.graph.operation import Tensor
from tideflow.ops.state.resource_variables import destroy_resource_op
from tideflow.variables.global_step import get_global_step

_TREE_PATHS, _VARIANCE, _ALL = "tree_paths", "prediction_variance", "tensorforest_all"
_LEAST_ODDS = 1e-6
_EVAL, _INFER, _TRAIN = "eval", "infer", "train"


@export("contrib.tensor_forest.random_forest.ModelBuilderOutputType")
class ModelBuilderOutputType:
    """What a forest's model function returns: `MODEL_FN_OPS` or an `ESTIMATOR_SPEC`."""

    MODEL_FN_OPS = 0
    ESTIMATOR_SPEC = 1


def _default_head(params: ForestHParams, weights_name: str | None, output_type: int, name: str | None) -> Any:
    if output_type == ModelBuilderOutputType.MODEL_FN_OPS:
        shared = {"weight_column_name": weights_name, "enable_centered_bias": False, "head_name": name}
        if params.regression:
            return learn_heads.regression_head(label_dimension=params.num_outputs, **shared)
        return learn_heads.multi_class_head(params.num_classes, **shared)
    heads, reduction = tf.contrib.estimator, tf.losses.Reduction.SUM_OVER_BATCH_SIZE
    shared = {"weight_column": weights_name, "name": name, "loss_reduction": reduction}
    if params.regression:
        return heads.regression_head(label_dimension=params.num_outputs, **shared)
    if params.num_classes == 2:
        return heads.binary_classification_head(**shared)
    return heads.multi_class_head(n_classes=params.num_classes, **shared)


def _transformed(features: dict[str, Any], columns: Sequence[Any], output_type: int) -> dict[Any, Any]:
    """Features with what columns make of them."""
    if output_type == ModelBuilderOutputType.MODEL_FN_OPS:
        return {**features, **tf.contrib.layers.transform_features(dict(features), columns)}
    inputs = Inputs(features)
    return {**features, **{column.name: inputs.get(column) for column in columns}}


@export("contrib.tensor_forest.random_forest.get_model_fn")
def get_model_fn(
    params: ForestHParams,
    graph_builder_class: type[RandomForestGraphs],
    device_assigner: Any,
    feature_columns: Sequence[Any] | None = None,
    weights_name: str | None = None,
    model_head: Any = None,
    keys_name: str | None = None,
    early_stopping_rounds: int | None = 100,
    early_stopping_loss_threshold: float = 0.001,
    num_trainers: int = 1,
    trainer_id: int = 0,
    report_feature_importances: bool = False,
    local_eval: bool = False,
    head_scope: str | None = None,
    include_all_in_serving: bool = False,
    output_type: int = ModelBuilderOutputType.MODEL_FN_OPS,
) -> Callable[..., Any]:
    """Makes the model function of a forest.

    Args:
      params: The forest's parameters, filled.
      graph_builder_class: The class of its graphs.
      device_assigner: A function that says on which devices trees are.
      feature_columns: Columns that make features of what the input function gives.
      weights_name: The feature that is the weight of an example.
      model_head: The head; by the parameters if None.
      keys_name: The feature that predictions repeat.
      early_stopping_rounds: After how many steps without progress training ends; None for never.
      early_stopping_loss_threshold: By which share the loss must fall.
      num_trainers: How many tasks share the trees.
      trainer_id: Which of them this is.
      report_feature_importances: Whether shares of splits by feature are logged at the end.
      local_eval: Whether evaluation leaves devices to the session.
      head_scope: The scope of the head's variables.
      include_all_in_serving: Whether exported models give all predictions.
      output_type: A constant of `ModelBuilderOutputType`.

    Returns:
      A function of features, labels and mode.
    """
    if model_head is None:
        model_head = _default_head(params, weights_name, output_type, None)
    is_ops = output_type == ModelBuilderOutputType.MODEL_FN_OPS

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        if isinstance(features, (Tensor, tf.SparseTensor)):
            features = {"features": features}
        features = dict(features)
        if feature_columns:
            features = _transformed(features, feature_columns, output_type)
        weights = features.pop(weights_name, None) if weights_name else None
        keys = features.pop(keys_name, None) if keys_name else None
        is_local = mode == _INFER or (local_eval and mode == _EVAL)
        forest = graph_builder_class(params, device_assigner=None if is_local else device_assigner)
        logits, paths, variance = forest.inference_graph(features)
        tf.summary.scalar("average_tree_size", forest.average_size())
        if not params.regression and params.num_classes == 2:
            logits = _log_odds(logits)
        step = None
        if labels is not None and mode == _TRAIN:
            with tf.control_dependencies([logits.op]):
                step = tf.group(
                    forest.training_graph(
                        features,
                        labels,
                        input_weights=weights,
                        num_trainers=num_trainers,
                        trainer_id=trainer_id,
                    ),
                    tf.assign_add(get_global_step(), 1),
                )
        if weights is not None:
            features[weights_name] = weights
        more = {} if keys is None else {keys_name: keys}
        if params.inference_tree_paths:
            more[_TREE_PATHS] = paths
        more[_VARIANCE] = variance
        hooks: list[Any] = [TensorForestRunOpAtEndHook(_at_end(forest, report_feature_importances))]
        given = {"features": features, "labels": labels, "mode": mode, "train_op_fn": lambda loss: step}
        if is_ops:
            made = model_head.create_model_fn_ops(logits=logits, scope=head_scope, **given)
        else:
            made = model_head.create_estimator_spec(logits=logits, **given)
        if early_stopping_rounds:
            hooks.append(
                TensorForestLossHook(early_stopping_rounds, early_stopping_loss_threshold, made.loss)
            )
        made.predictions.update(more)
        if not is_ops:
            made = made._replace(training_hooks=[*hooks, *made.training_hooks])
            if include_all_in_serving:
                outputs = {_ALL: tf.estimator.export.PredictOutput(made.predictions)}
                made = made._replace(export_outputs=outputs)
            return made
        made.training_hooks.extend(hooks)
        if include_all_in_serving:
            unspecified = tf.contrib.learn.ProblemType.UNSPECIFIED
            alternatives = {**(made.output_alternatives or {}), _ALL: (unspecified, made.predictions)}
            made = made._replace(output_alternatives=alternatives)
        return made

    return model_fn


def _log_odds(probabilities: Tensor) -> Tensor:
    """What a head of two classes takes: the logarithm of the odds of class 1."""
    of_class = tf.slice(probabilities, [0, 1], [-1, 1])
    odds = of_class / tf.maximum(1.0 - of_class, _LEAST_ODDS)
    return tf.log(tf.maximum(odds, _LEAST_ODDS))


def _at_end(forest: RandomForestGraphs, report_feature_importances: bool) -> dict[str, Any]:
    """What runs when training ends: the forest is in the checkpoint by then, and its memory is given back."""
    handles = forest.get_all_resource_handles()
    at_end: dict[str, Any] = {
        "9: clean up resources": tf.group(*[destroy_resource_op(handle) for handle in handles])
    }
    if report_feature_importances:
        at_end["1: feature_importances"] = forest.feature_importances()
    return at_end


@export("contrib.tensor_forest.random_forest.get_combined_model_fn")
def get_combined_model_fn(model_fns: Sequence[Callable[..., Any]]) -> Callable[..., ModelFnOps]:
    """Makes one model function of several, each of which has a column of the labels.

    Args:
      model_fns: The model functions.

    Returns:
      A function of features, labels and mode.
    """

    def model_fn(features: Any, labels: Any, mode: str) -> ModelFnOps:
        made = []
        for number, each in enumerate(model_fns):
            with tf.variable_scope(f"label_{number}"):
                made.append(each(features, tf.slice(labels, [0, number], [-1, 1]), mode))
        predictions, loss, train_op = {}, None, None
        if mode in (_EVAL, _INFER):
            both = [[ops.predictions[key] for ops in made] for key in (PROBABILITIES, CLASSES)]
            predictions = {PROBABILITIES: tf.concat(both[0], axis=1), CLASSES: tf.stack(both[1], axis=1)}
        if mode in (_EVAL, _TRAIN):
            loss = tf.reduce_sum(tf.stack([ops.loss for ops in made])) / len(made)
        if mode == _TRAIN:
            train_op = tf.group(*[ops.train_op for ops in made])
        hooks = [hook for ops in made for hook in ops.training_hooks]
        return ModelFnOps(
            mode=mode, predictions=predictions, loss=loss, train_op=train_op, training_hooks=hooks
        )

    return model_fn


def _trainers(num_trainers: int, config: Any) -> int:
    return max(1, config.num_worker_replicas) if num_trainers == 1 and config is not None else num_trainers


@export("contrib.tensor_forest.random_forest.TensorForestEstimator")
class TensorForestEstimator(LearnEstimator):
    """An estimator of a random forest, of the kind of `tf.contrib.learn`.

    Args:
      params: The forest's parameters.
      device_assigner: A function that says on which devices trees are.
      model_dir: The directory of the model.
      feature_columns: Columns that make features of what the input function gives.
      graph_builder_class: The class of its graphs.
      config: A `tf.contrib.learn.RunConfig`.
      weight_column: The feature that is the weight of an example.
      keys_column: The feature that predictions repeat.
      feature_engineering_fn: A function of features and labels that returns those which the forest sees.
      early_stopping_rounds: After how many steps without progress training ends; None for never.
      early_stopping_loss_threshold: By which share the loss must fall.
      num_trainers: How many tasks share the trees; all workers of `config` if 1.
      trainer_id: Which of them this is.
      report_feature_importances: Whether shares of splits by feature are logged at the end.
      local_eval: Whether evaluation leaves devices to the session.
      version: Not used.
      head: The head; by the parameters if None.
      include_all_in_serving: Whether exported models give all predictions.
    """

    def __init__(
        self,
        params: ForestHParams,
        device_assigner: Any = None,
        model_dir: str | None = None,
        feature_columns: Sequence[Any] | None = None,
        graph_builder_class: type[RandomForestGraphs] = RandomForestGraphs,
        config: Any = None,
        weight_column: str | None = None,
        keys_column: str | None = None,
        feature_engineering_fn: Callable | None = None,
        early_stopping_rounds: int | None = 100,
        early_stopping_loss_threshold: float = 0.001,
        num_trainers: int = 1,
        trainer_id: int = 0,
        report_feature_importances: bool = False,
        local_eval: bool = False,
        version: Any = None,
        head: Any = None,
        include_all_in_serving: bool = False,
    ):
        model_fn = get_model_fn(
            params.fill(),
            graph_builder_class,
            device_assigner,
            feature_columns=feature_columns,
            model_head=head,
            weights_name=weight_column,
            keys_name=keys_column,
            early_stopping_rounds=early_stopping_rounds,
            early_stopping_loss_threshold=early_stopping_loss_threshold,
            num_trainers=_trainers(num_trainers, config),
            trainer_id=trainer_id,
            report_feature_importances=report_feature_importances,
            local_eval=local_eval,
            include_all_in_serving=include_all_in_serving,
        )
        super().__init__(model_fn, model_dir, config, feature_engineering_fn=feature_engineering_fn)


@export("contrib.tensor_forest.random_forest.MultiForestMultiHeadEstimator")
class MultiForestMultiHeadEstimator(LearnEstimator):
    """An estimator of several forests, one for each column of the labels.

    Args:
      params_list: The parameters of each forest.
      device_assigner: A function that says on which devices trees are.
      model_dir: The directory of the model.
      feature_columns: Not used.
      graph_builder_class: The class of their graphs.
      config: A `tf.contrib.learn.RunConfig`.
      weight_column: The feature that is the weight of an example.
      keys_column: The feature that predictions repeat.
      feature_engineering_fn: A function of features and labels that returns those which the forests see.
      early_stopping_rounds: After how many steps without progress training ends; None for never.
      num_trainers: How many tasks share the trees; all workers of `config` if 1.
      trainer_id: Which of them this is.
      report_feature_importances: Whether shares of splits by feature are logged at the end.
      local_eval: Whether evaluation leaves devices to the session.
    """

    def __init__(
        self,
        params_list: Sequence[ForestHParams],
        device_assigner: Any = None,
        model_dir: str | None = None,
        feature_columns: Sequence[Any] | None = None,
        graph_builder_class: type[RandomForestGraphs] = RandomForestGraphs,
        config: Any = None,
        weight_column: str | None = None,
        keys_column: str | None = None,
        feature_engineering_fn: Callable | None = None,
        early_stopping_rounds: int | None = 100,
        num_trainers: int = 1,
        trainer_id: int = 0,
        report_feature_importances: bool = False,
        local_eval: bool = False,
    ):
        filled = [params.fill() for params in params_list]
        model_fns = [
            get_model_fn(
                params,
                graph_builder_class,
                device_assigner,
                model_head=_default_head(
                    params, weight_column, ModelBuilderOutputType.MODEL_FN_OPS, f"head{number}"
                ),
                weights_name=weight_column,
                keys_name=keys_column,
                early_stopping_rounds=early_stopping_rounds,
                num_trainers=_trainers(num_trainers, config),
                trainer_id=trainer_id,
                report_feature_importances=report_feature_importances,
                local_eval=local_eval,
                head_scope=f"output{number}",
            )
            for number, params in enumerate(filled)
        ]
        combined = get_combined_model_fn(model_fns)
        super().__init__(combined, model_dir, config, feature_engineering_fn=feature_engineering_fn)


@export("contrib.tensor_forest.random_forest.CoreTensorForestEstimator")
class CoreTensorForestEstimator(tf.estimator.Estimator):
    """An estimator of a random forest, of the kind of `tf.estimator`.

    Args:
      params: The forest's parameters.
      device_assigner: A function that says on which devices trees are.
      model_dir: The directory of the model.
      feature_columns: Columns that make features of what the input function gives.
      graph_builder_class: The class of its graphs.
      config: A `tf.estimator.RunConfig`.
      weight_column: The feature that is the weight of an example.
      keys_column: The feature that predictions repeat.
      feature_engineering_fn: Not used.
      early_stopping_rounds: After how many steps without progress training ends; None for never.
      early_stopping_loss_threshold: By which share the loss must fall.
      num_trainers: How many tasks share the trees; all workers of `config` if 1.
      trainer_id: Which of them this is; by `config` if 0.
      report_feature_importances: Whether shares of splits by feature are logged at the end.
      local_eval: Whether evaluation leaves devices to the session.
      version: Not used.
      head: The head; by the parameters if None.
      include_all_in_serving: Whether exported models give all predictions.
    """

    def __init__(
        self,
        params: ForestHParams,
        device_assigner: Any = None,
        model_dir: str | None = None,
        feature_columns: Sequence[Any] | None = None,
        graph_builder_class: type[RandomForestGraphs] = RandomForestGraphs,
        config: Any = None,
        weight_column: str | None = None,
        keys_column: str | None = None,
        feature_engineering_fn: Callable | None = None,
        early_stopping_rounds: int | None = 100,
        early_stopping_loss_threshold: float = 0.001,
        num_trainers: int = 1,
        trainer_id: int = 0,
        report_feature_importances: bool = False,
        local_eval: bool = False,
        version: Any = None,
        head: Any = None,
        include_all_in_serving: bool = False,
    ):
        if trainer_id == 0 and config is not None:
            trainer_id = config.global_id_in_cluster
        model_fn = get_model_fn(
            params.fill(),
            graph_builder_class,
            device_assigner,
            feature_columns=feature_columns,
            model_head=head,
            weights_name=weight_column,
            keys_name=keys_column,
            early_stopping_rounds=early_stopping_rounds,
            early_stopping_loss_threshold=early_stopping_loss_threshold,
            num_trainers=_trainers(num_trainers, config),
            trainer_id=trainer_id,
            report_feature_importances=report_feature_importances,
            local_eval=local_eval,
            include_all_in_serving=include_all_in_serving,
            output_type=ModelBuilderOutputType.ESTIMATOR_SPEC,
        )
        super().__init__(model_fn, model_dir, config)
