"""`tensorflow.python.saved_model.model_utils`: what a model gives in each mode, as outputs and signatures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

from tideflow.estimator.export import outputs
from tideflow.estimator.export.outputs import (  # noqa: F401 - looked up by programs
    ClassificationOutput,
    EvalOutput,
    ExportOutput,
    PredictOutput,
    RegressionOutput,
    TrainOutput,
    _SupervisedOutput,
)
from tideflow.estimator.export.receivers import SINGLE_RECEIVER_NAME
from tideflow.estimator.export.signatures import signatures_of, temporary_directory, timestamped_directory
from tideflow.programs.inner.train.signature_names import (
    DEFAULT_EVAL_SIGNATURE_DEF_KEY,
    DEFAULT_TRAIN_SIGNATURE_DEF_KEY,
)
from tideflow.saved_model import constants

SINGLE_FEATURE_DEFAULT_NAME = "feature"
SINGLE_RECEIVER_DEFAULT_NAME = SINGLE_RECEIVER_NAME
SINGLE_LABEL_DEFAULT_NAME = "label"
MAX_DIRECTORY_CREATION_ATTEMPTS = 10
get_timestamped_export_dir = timestamped_directory
get_temp_export_dir = temporary_directory
get_export_outputs = outputs.serving_outputs


class KerasModeKeys:
    """What Keras calls the modes."""

    TRAIN, TEST, PREDICT = "train", "test", "predict"


class EstimatorModeKeys:
    """What estimators call the modes."""

    TRAIN, EVAL, PREDICT = "train", "eval", "infer"


def is_predict(mode: str) -> bool:
    """Whether a mode predicts, by either name."""
    return mode in (KerasModeKeys.PREDICT, EstimatorModeKeys.PREDICT)


def is_eval(mode: str) -> bool:
    """Whether a mode evaluates, by either name."""
    return mode in (KerasModeKeys.TEST, EstimatorModeKeys.EVAL)


def is_train(mode: str) -> bool:
    """Whether a mode trains."""
    return mode == KerasModeKeys.TRAIN


class ModeKeyMap(Mapping):
    """A dictionary by modes, which are found by either of their names."""

    def __init__(self, **kwargs: Any):
        self._given = list(kwargs)
        self._values: dict[str, Any] = {}
        for key, value in kwargs.items():
            mode = _keras_name(key)
            if mode in self._values:
                raise ValueError(f"Error creating ModeKeyMap. Multiple keys/values found for {mode} mode.")
            self._values[mode] = value

    def __getitem__(self, key: str) -> Any:
        return self._values[_keras_name(key)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._given)

    def __len__(self) -> int:
        return len(self._given)


def _keras_name(key: str) -> str:
    if is_train(key):
        return KerasModeKeys.TRAIN
    if is_eval(key):
        return KerasModeKeys.TEST
    if is_predict(key):
        return KerasModeKeys.PREDICT
    raise ValueError(f"Invalid mode key: {key}.")


EXPORT_TAG_MAP = ModeKeyMap(predict=[constants.SERVING], train=[constants.TRAINING], test=[constants.EVAL])
SIGNATURE_KEY_MAP = ModeKeyMap(
    predict=constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY,
    train=DEFAULT_TRAIN_SIGNATURE_DEF_KEY,
    test=DEFAULT_EVAL_SIGNATURE_DEF_KEY,
)


def build_all_signature_defs(
    receiver_tensors: Any,
    export_outputs: Any,
    receiver_tensors_alternatives: Mapping[str, Any] | None = None,
    serving_only: bool = True,
) -> dict[str, Any]:
    """The signatures from each way to feed a model to each of its outputs, those that there can be."""
    if not isinstance(export_outputs, dict):
        raise ValueError(f"export_outputs must be a dict and not{type(export_outputs)}")
    receiver = SimpleNamespace(
        receiver_tensors=receiver_tensors, receiver_tensors_alternatives=receiver_tensors_alternatives
    )
    return signatures_of(receiver, export_outputs, serving_only)


def export_outputs_for_mode(
    mode: str,
    serving_export_outputs: Any = None,
    predictions: Any = None,
    loss: Any = None,
    metrics: Any = None,
) -> dict[str, ExportOutput]:
    """What a model gives in a mode.

    Args:
      mode: The mode, by Keras' name or estimators'.
      serving_export_outputs: The outputs to serve; the predictions if None.
      predictions: The predictions.
      loss: The loss.
      metrics: The metrics, each as its value and its update.

    Returns:
      The outputs by the names of their signatures.

    Raises:
      ValueError: If there is no such mode.
    """
    key = SIGNATURE_KEY_MAP[mode]
    if is_predict(mode):
        return get_export_outputs(serving_export_outputs, predictions)
    kind = TrainOutput if is_train(mode) else EvalOutput
    return {key: kind(loss=loss, predictions=predictions, metrics=metrics)}
