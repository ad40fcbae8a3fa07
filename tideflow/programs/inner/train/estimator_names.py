"""What tests and libraries take from the modules of `tensorflow_estimator`: heads, model functions, small
helpers.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import Any

import tideflow as tf
from tideflow.estimator import (
    early_stopping,
    exporter,
    hooks,
    input_results,
    preparation,
    run_config,
    spec,
)
from tideflow.estimator.canned import dnn, keras_parts, linear, optimizers, sdca
from tideflow.estimator.canned.heads import LossSpec as _LossSpec
from tideflow.estimator.canned.heads import class_head
from tideflow.estimator.export import receivers, signatures
from tideflow.estimator.heads import checks, keys
from tideflow.losses.reduction import Reduction

LossSpec = _LossSpec
LOSS_METRIC_KEY = keys.MetricKeys.LOSS
AVERAGE_LOSS_METRIC_KEY = keys.MetricKeys.LOSS_MEAN
DEFAULT_SERVING_KEY = _DEFAULT_SERVING_KEY = tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY
CLASSIFY_SERVING_KEY = _CLASSIFY_SERVING_KEY = "classification"
REGRESS_SERVING_KEY = _REGRESS_SERVING_KEY = "regression"
PREDICT_SERVING_KEY = _PREDICT_SERVING_KEY = "predict"

# ---------------------------------------------------------------------------------------------------- heads


class _Head(abc.ABC):
    """The interface of the heads of `tf.contrib.estimator`, for tests that make one of their own."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """Its name."""

    @property
    @abc.abstractmethod
    def logits_dimension(self) -> int:
        """The size of the logits' last axis."""

    @abc.abstractmethod
    def create_loss(self, features: Any, mode: str, logits: Any, labels: Any) -> LossSpec:
        """The loss of a batch, and what it is made of."""

    @abc.abstractmethod
    def create_estimator_spec(
        self,
        features: Any,
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        train_op_fn: Callable | None = None,
        regularization_losses: Any = None,
    ) -> Any:
        """What an estimator runs."""


def _multi_class_head_with_softmax_cross_entropy_loss(
    n_classes: int,
    weight_column: Any = None,
    label_vocabulary: Any = None,
    loss_reduction: str = Reduction.SUM,
    loss_fn: Callable | None = None,
    name: str | None = None,
) -> Any:
    """The head of more than two classes."""
    made = tf.contrib.estimator.multi_class_head
    return made(n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn, name)


def _binary_logistic_head_with_sigmoid_cross_entropy_loss(
    weight_column: Any = None,
    thresholds: Any = None,
    label_vocabulary: Any = None,
    loss_reduction: str = Reduction.SUM,
    loss_fn: Callable | None = None,
    name: str | None = None,
) -> Any:
    """The head of two classes."""
    made = tf.contrib.estimator.binary_classification_head
    return made(weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn, name)


def _regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = Reduction.SUM,
    loss_fn: Callable | None = None,
    inverse_link_fn: Callable | None = None,
    name: str | None = None,
) -> Any:
    """The head of real numbers."""
    made = tf.contrib.estimator.regression_head
    return made(weight_column, label_dimension, loss_reduction, loss_fn, inverse_link_fn, name)


_binary_logistic_or_multi_class_head = class_head
check_dense_labels_match_logits_and_reshape = checks.checked_labels
check_logits_final_dim = checks.checked_logits
validate_loss_fn_args = checks.check_loss_fn

# ---------------------------------------------------------------------------------------------- canned models

_LEARNING_RATE = 0.05


def _dnn_model_fn(*args: Any, use_tpu: bool = False, **kwargs: Any) -> Any:
    """The model function of deep models."""
    return dnn.dnn_model_fn(*args, **kwargs)


def _linear_model_fn(
    features: Any,
    labels: Any,
    mode: str,
    head: Any,
    feature_columns: Sequence[Any],
    optimizer: Any,
    partitioner: Any,
    config: Any,
    use_tpu: bool = False,
    sparse_combiner: str = "sum",
) -> Any:
    """The model function of linear models."""
    return linear.linear_model_fn(
        features, labels, mode, head, tuple(feature_columns), optimizer, partitioner, config, sparse_combiner
    )


dnn_logit_fn_builder = dnn.dnn_logit_fn_builder
dnn_model_fn_v2 = keras_parts.dnn_model_fn
_DNNModelV2 = keras_parts.DeepModel


def dnn_logit_fn_builder_v2(
    units: int,
    hidden_units: Sequence[int],
    feature_columns: Sequence[Any],
    activation_fn: Callable | None,
    dropout: float | None,
    batch_norm: bool,
) -> Callable[..., Any]:
    """A function from features and a mode to the logits of a deep model, as a Keras model has them."""
    if not isinstance(units, int):
        raise ValueError(f"units must be an int.  Given type: {type(units)}")

    def dnn_logit_fn(features: Any, mode: str) -> Any:
        model = keras_parts.DeepModel(
            units, hidden_units, feature_columns, activation_fn, dropout, batch_norm, name="dnn"
        )
        return model(features, mode)

    return dnn_logit_fn


linear_logit_fn_builder = linear.linear_logit_fn_builder
_compute_fraction_of_zero = linear.fraction_of_zeros
LinearSDCA = sdca.LinearSDCA
_SDCAModel, _SparseFeatureColumn = sdca.SdcaModel, sdca.SparseFeatureColumn


get_optimizer_instance_v2 = optimizers.keras_optimizer_of


def get_optimizer_instance(opt: Any, learning_rate: float | None = None) -> Any:
    """The optimizer that a name, an object or a function stands for.

    Args:
      opt: Which.
      learning_rate: Its learning rate, where it is only named.

    Returns:
      The optimizer.

    Raises:
      ValueError: If it is none, or a name without a learning rate.
    """
    if isinstance(opt, str) and opt in optimizers._BY_NAME and not learning_rate:
        raise ValueError("learning_rate must be specified when opt is string.")
    return optimizers.optimizer_of(opt, learning_rate or _LEARNING_RATE)


# ----------------------------------------------------------------------------------------------- estimators

_TPUEstimatorSpec = tf.estimator.tpu.TPUEstimatorSpec
_get_replica_device_setter = preparation.device_setter_of
_load_global_step_from_checkpoint_dir = preparation.global_step_of_checkpoint
_VALID_MODEL_FN_ARGS = frozenset(spec._MODEL_FN_ARGUMENTS)
_TF_CONFIG_ENV = "TF_CONFIG"
_DEFAULT_REPLACEABLE_LIST = run_config._REPLACEABLE
get_default_session_config = run_config.default_session_config
_DatasetInitializerHook = input_results.IteratorInitializerHook
parse_input_fn_result = input_results.features_and_labels
read_eval_metrics = early_stopping.read_eval_metrics
_StopOnPredicateHook = early_stopping._StopOnPredicateHook
_CheckForStoppingHook = early_stopping._CheckForStoppingHook
_SavedModelExporter, _loss_smaller = exporter._SavedModelExporter, exporter._loss_smaller
_StopAtCheckpointStepHook = hooks._StopAtCheckpointStepHook

SupervisedInputReceiver = receivers.SupervisedInputReceiver
_check_tensor = receivers._check_tensor
build_all_signature_defs = signatures.signatures_of
get_timestamped_export_dir = signatures.timestamped_directory
get_temp_export_dir = signatures.temporary_directory
MAX_DIRECTORY_CREATION_ATTEMPTS = signatures._MOST_ATTEMPTS


def verify_model_fn_args(model_fn: Callable, params: Any) -> None:
    """Refuses a model function that takes other arguments than estimators give.

    Args:
      model_fn: The function.
      params: The parameters.

    Raises:
      ValueError: If it takes others, or lacks some.
    """
    spec.check_model_fn_arguments(model_fn, params)


_verify_model_fn_args = verify_model_fn_args
