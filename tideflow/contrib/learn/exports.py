"""Exports of estimators in the format of tf.contrib.session_bundle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tideflow as tf
from tideflow.contrib.session_bundle import exporter, gc
from tideflow.export import export
from tideflow.graph.graph import Graph
from tideflow.graph.scopes import GraphKeys, get_collection
from tideflow.platform import logging
from tideflow.platform.deprecation import deprecated
from tideflow.session.session import Session
from tideflow.train.saver import Saver
from tideflow.variables.global_step import create_global_step


def _default_input_fn(estimator: Any, examples: Any) -> Any:
    """Parses Examples for the features of the last training."""
    return estimator._get_feature_ops_from_example(examples)


def _check_examples(examples: Any) -> None:
    if examples is None:
        raise ValueError("examples cannot be None when using this signature fn.")


def generic_signature_fn(examples: Any, features: Any, predictions: Any) -> tuple[Any, dict]:
    """A signature of the Examples, and of all predictions by name."""
    _check_examples(examples)
    named = predictions if isinstance(predictions, dict) else {"outputs": predictions}
    return exporter.generic_signature({"inputs": examples, **named}), {}


def classification_signature_fn(examples: Any, features: Any, predictions: Any) -> tuple[Any, dict]:
    """A signature of the predicted classes."""
    _check_examples(examples)
    classes = predictions["classes"] if isinstance(predictions, dict) else predictions
    return exporter.classification_signature(examples, classes_tensor=classes), {}


def classification_signature_fn_with_prob(examples: Any, features: Any, predictions: Any) -> tuple[Any, dict]:
    """A signature of the probabilities of the classes."""
    _check_examples(examples)
    scores = predictions["probabilities"] if isinstance(predictions, dict) else predictions
    return exporter.classification_signature(examples, scores_tensor=scores), {}


def regression_signature_fn(examples: Any, features: Any, predictions: Any) -> tuple[Any, dict]:
    """A signature of the predicted values."""
    _check_examples(examples)
    return exporter.regression_signature(examples, predictions), {}


def logistic_regression_signature_fn(examples: Any, features: Any, predictions: Any) -> tuple[Any, dict]:
    """A signature of the probability of the second of two classes."""
    _check_examples(examples)
    probabilities = predictions["probabilities"] if isinstance(predictions, dict) else predictions
    return exporter.regression_signature(examples, probabilities[:, 1]), {}


def write_export(
    estimator: Any,
    export_dir: str,
    checkpoint_path: str,
    input_fn: Callable | None = None,
    input_feature_key: str | None = None,
    use_deprecated_input_fn: bool = True,
    signature_fn: Callable | None = None,
    prediction_key: str | None = None,
    default_batch_size: int | None = 1,
    exports_to_keep: int | None = None,
) -> bytes:
    """Writes a checkpoint with the graph that predicts."""
    if input_fn is None and not use_deprecated_input_fn:
        raise ValueError("input_fn must be defined.")
    with Graph().as_default() as graph:
        step = create_global_step(graph)
        if use_deprecated_input_fn:
            examples = tf.placeholder(tf.string, [default_batch_size], name="input_example_tensor")
            features = (input_fn or _default_input_fn)(estimator, examples)
        else:
            features, _ = input_fn()
            examples = None if input_feature_key is None else features.pop(input_feature_key)
        if not features and examples is None:
            raise ValueError("Either features or examples must be defined.")
        predictions = estimator._get_predict_ops(features).predictions
        if prediction_key is not None:
            predictions = predictions[prediction_key]
        if signature_fn is None:
            logging.warn("There is no signature_fn: the export gets a signature of all predictions.")
            signature_fn = generic_signature_fn
        default_signature, named_signatures = signature_fn(examples, features, predictions)
        keep = None if exports_to_keep is None else gc.largest_export_versions(exports_to_keep)
        saver = Saver()
        init_op = tf.group(tf.local_variables_initializer(), tf.tables_initializer())
        with Session("") as session:
            saver.restore(session, checkpoint_path)
            writer = exporter.Exporter(saver)
            writer.init(
                init_op=init_op,
                default_graph_signature=default_signature,
                named_graph_signatures=named_signatures,
                assets_collection=get_collection(GraphKeys.ASSET_FILEPATHS),
            )
            return writer.export(export_dir, step, session, exports_to_keep=keep)


@export("contrib.learn.utils.export_estimator")
@deprecated("2016-09-23", "Please use Estimator.export_savedmodel() instead.")
def export_estimator(
    estimator: Any,
    export_dir: str,
    signature_fn: Callable | None = None,
    input_fn: Callable = _default_input_fn,
    default_batch_size: int | None = 1,
    exports_to_keep: int | None = None,
) -> None:
    """Writes the model of an estimator in the format of `tf.contrib.session_bundle`.

    Args:
      estimator: The estimator.
      export_dir: Where to make the directory.
      signature_fn: A function of Examples, features and predictions that returns the default signature and
        those by name; one of all predictions by default.
      input_fn: A function of the estimator and of serialized Examples that returns features; by default the
        Examples are parsed for the features of the last training.
      default_batch_size: The number of Examples in a batch; any if None.
      exports_to_keep: How many of the newest exports are kept; all if None.
    """
    write_export(
        estimator,
        export_dir,
        estimator._trained_checkpoint(),
        input_fn=input_fn,
        signature_fn=signature_fn,
        default_batch_size=default_batch_size,
        exports_to_keep=exports_to_keep,
    )
