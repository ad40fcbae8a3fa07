"""Optimizers and estimators made from others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tideflow as tf
from tideflow.contrib.opt.wrappers import Around
from tideflow.estimator.early_stopping import read_eval_metrics as read_metrics
from tideflow.estimator.estimator import Estimator
from tideflow.estimator.export.outputs import PredictOutput
from tideflow.estimator.export.receivers import build_raw_supervised_input_receiver_fn
from tideflow.estimator.input_results import features_and_labels
from tideflow.estimator.run_config import RunConfig
from tideflow.estimator.spec import EstimatorSpec, ModeKeys
from tideflow.export import export
from tideflow.graph.composite import SparseTensor
from tideflow.graph.graph import Graph
from tideflow.train.optimizer import Optimizer


class _Clipping(Around):
    """An optimizer whose gradients are clipped together."""

    def __init__(self, optimizer: Optimizer, clip_norm: float):
        super().__init__(optimizer, False, f"ClipByNorm{optimizer.get_name()}")
        self._clip_norm = clip_norm

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        gradients, variables = zip(*grads_and_vars, strict=True)
        clipped, _ = tf.clip_by_global_norm(gradients, self._clip_norm)
        return self._opt.apply_gradients(list(zip(clipped, variables, strict=True)), global_step, name)


@export("contrib.estimator.clip_gradients_by_norm")
def clip_gradients_by_norm(optimizer: Optimizer, clip_norm: float) -> Optimizer:
    """Makes an optimizer that clips gradients by their global norm.

    Args:
      optimizer: The optimizer that applies the clipped gradients.
      clip_norm: The largest norm.

    Returns:
      The new optimizer.
    """
    return _Clipping(optimizer, clip_norm)


@export("contrib.estimator.forward_features")
def forward_features(
    estimator: Estimator,
    keys: str | Sequence[str] | None = None,
    sparse_default_values: Mapping[str, Any] | None = None,
) -> Estimator:
    """Makes an estimator whose predictions include features, to tell which example one is of.

    Args:
      estimator: The estimator.
      keys: The names of the features; all if None.
      sparse_default_values: For features that are sparse, the values of what is missing.

    Returns:
      The new estimator, with the same model and directory.

    Raises:
      TypeError: If the names are not strings.
    """
    names = [keys] if isinstance(keys, str) else keys
    if names is not None and not isinstance(names, (list, tuple)):
        raise TypeError(f"keys should be either a string or a list of strings. Given: {type(names)}")
    for name in names or ():
        if not isinstance(name, str):
            raise TypeError(
                "All items in the given keys list should be a string. There exist an item with type: "
                f"{type(name)}"
            )

    def model_fn(features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
        spec = estimator.model_fn(features, labels, mode, config)
        if not isinstance(spec.predictions, dict):
            raise ValueError(
                "Predictions should be a dict to be able to forward features. Given: "
                f"{type(spec.predictions)}"
            )
        forwarded = {
            name: _forwarded(name, features, spec.predictions, sparse_default_values or {})
            for name in (features if names is None else names)
        }
        for key in ("predict", "serving_default"):
            output = (spec.export_outputs or {}).get(key)
            if isinstance(output, PredictOutput):
                output.outputs.update(forwarded)
        return spec._replace(predictions={**spec.predictions, **forwarded})

    return Estimator(model_fn, estimator.model_dir, estimator.config)


def _forwarded(name: str, features: Any, predictions: dict, defaults: Mapping[str, Any]) -> Any:
    if name not in features:
        raise ValueError(
            f'keys should be exist in features. Key "{name}" is not in features dict. features dict has '
            f"following keys: {features.keys()}. Please check arguments of forward_features."
        )
    if name in predictions:
        raise ValueError(
            f"Cannot forward feature key ({name}). Since it does exist in predictions. Existing prediction "
            f"keys: {predictions.keys()}. Please check arguments of forward_features."
        )
    feature = features[name]
    if name in defaults:
        if not isinstance(feature, SparseTensor):
            raise ValueError(f"Feature ({name}) is expected to be a `SparseTensor`.")
        return tf.sparse.to_dense(feature, default_value=defaults[name])
    if isinstance(feature, SparseTensor):
        raise ValueError(
            f"Feature ({name}) should be a Tensor. Please use `keys` argument of forward_features to filter "
            "unwanted features, or add key to argument `sparse_default_values`. Type of "
            f"features[{name}] is {type(feature)}."
        )
    return tf.convert_to_tensor(feature)


@export("contrib.estimator.read_eval_metrics")
def read_eval_metrics(eval_dir: str) -> dict[int, dict[str, float]]:
    """Reads the metrics of all evaluations whose summaries are in a directory.

    Args:
      eval_dir: The directory.

    Returns:
      The metrics by name, by their steps.
    """
    return read_metrics(eval_dir)


@export("contrib.estimator.build_supervised_input_receiver_fn_from_input_fn")
def build_supervised_input_receiver_fn_from_input_fn(input_fn: Callable, **input_fn_args: Any) -> Callable:
    """Makes a receiver function for features and labels as an input function gives them.

    Args:
      input_fn: The input function.
      **input_fn_args: Its arguments.

    Returns:
      The receiver function.
    """
    with Graph().as_default():
        features, labels, _ = features_and_labels(input_fn(**input_fn_args))
    return build_raw_supervised_input_receiver_fn(features, labels)


@export("contrib.estimator.export_saved_model_for_mode")
def export_saved_model_for_mode(
    estimator: Estimator,
    export_dir_base: str,
    input_receiver_fn: Callable,
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    checkpoint_path: str | None = None,
    mode: str = ModeKeys.PREDICT,
) -> bytes:
    """Writes a model as a SavedModel, by `Estimator.export_saved_model`.

    Args:
      estimator: The estimator.
      export_dir_base: Where to make the directory.
      input_receiver_fn: A function that returns a receiver.
      assets_extra: Files to copy into the SavedModel, by their names there.
      as_text: Whether the file has the text form of the message.
      checkpoint_path: The checkpoint to export; the newest one if None.
      mode: The mode in which the model function is called.

    Returns:
      The path of the directory, as bytes.
    """
    return estimator.export_saved_model(
        export_dir_base, input_receiver_fn, assets_extra, as_text, checkpoint_path, mode
    )


@export("contrib.estimator.export_all_saved_models")
def export_all_saved_models(
    estimator: Estimator,
    export_dir_base: str,
    input_receiver_fn_map: Mapping[str, Callable],
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    checkpoint_path: str | None = None,
) -> bytes:
    """Writes a model for several modes, by `Estimator.experimental_export_all_saved_models`.

    Args:
      estimator: The estimator.
      export_dir_base: Where to make the directory.
      input_receiver_fn_map: A function that returns a receiver, by the modes.
      assets_extra: Files to copy into the SavedModel, by their names there.
      as_text: Whether the file has the text form of the message.
      checkpoint_path: The checkpoint to export; the newest one if None.

    Returns:
      The path of the directory, as bytes.
    """
    return estimator.experimental_export_all_saved_models(
        export_dir_base, input_receiver_fn_map, assets_extra, as_text, checkpoint_path
    )
