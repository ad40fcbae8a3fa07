"""What the ready-made estimators of tf.contrib.learn have in common: how they are asked and exported."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tideflow as tf
from tideflow.contrib.layers.columns.base import OldColumn
from tideflow.contrib.learn.estimator import AS_ITERABLE, Estimator
from tideflow.contrib.learn.exports import classification_signature_fn_with_prob, regression_signature_fn
from tideflow.contrib.learn.metric_spec import MetricSpec
from tideflow.contrib.learn.modes import PredictionKey
from tideflow.platform.deprecation import deprecated, deprecated_arg_values
from tideflow.train.optimizer import Optimizer

EXPORT = ("2017-03-25", "Please use Estimator.export_savedmodel() instead.")


class CannedEstimator(Estimator):
    """An estimator on feature columns."""

    _feature_columns: Sequence[Any]

    def _predict_one(
        self, key: str, x: Any, input_fn: Callable | None, batch_size: int | None, as_iterable: bool
    ) -> Any:
        found = Estimator.predict(self, x, input_fn, batch_size, outputs=[key], as_iterable=as_iterable)
        return (one[key] for one in found) if as_iterable else found[key]

    def _export(self, export_dir: str, input_fn: Callable | None, **arguments: Any) -> Any:
        def parse(estimator: Any, examples: Any) -> Any:
            return tf.contrib.layers.parse_feature_columns_from_examples(examples, self._feature_columns)

        return Estimator.export(self, export_dir, input_fn or parse, **arguments)


class Classifier(CannedEstimator):
    """An estimator that predicts classes."""

    @deprecated_arg_values(*AS_ITERABLE, as_iterable=False)
    @deprecated_arg_values(
        "2017-03-01", "Please switch to predict_classes, or set `outputs` argument.", outputs=None
    )
    def predict(
        self,
        x: Any = None,
        input_fn: Callable | None = None,
        batch_size: int | None = None,
        outputs: Sequence[str] | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """Predicts classes, or what is asked for by name.

        Args:
          x: The features, as an array or an iterator; instead of `input_fn`.
          input_fn: A function that returns the tensors of features.
          batch_size: The number of examples in a step; with `x` only, and then all if None.
          outputs: The names of the predictions; the classes alone if None.
          as_iterable: Whether an iterator is returned.

        Returns:
          The classes, or dictionaries of predictions: an iterator over them, or all together.
        """
        if not outputs:
            return self.predict_classes(x, input_fn, batch_size, as_iterable)
        return Estimator.predict(self, x, input_fn, batch_size, outputs, as_iterable)

    @deprecated_arg_values(*AS_ITERABLE, as_iterable=False)
    def predict_classes(
        self,
        x: Any = None,
        input_fn: Callable | None = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """Predicts classes.

        Args:
          x: The features, as an array or an iterator; instead of `input_fn`.
          input_fn: A function that returns the tensors of features.
          batch_size: The number of examples in a step; with `x` only, and then all if None.
          as_iterable: Whether an iterator is returned.

        Returns:
          The classes: an iterator over them, or all together.
        """
        return self._predict_one(PredictionKey.CLASSES, x, input_fn, batch_size, as_iterable)

    @deprecated_arg_values(*AS_ITERABLE, as_iterable=False)
    def predict_proba(
        self,
        x: Any = None,
        input_fn: Callable | None = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """Predicts the probabilities of the classes.

        Args:
          x: The features, as an array or an iterator; instead of `input_fn`.
          input_fn: A function that returns the tensors of features.
          batch_size: The number of examples in a step; with `x` only, and then all if None.
          as_iterable: Whether an iterator is returned.

        Returns:
          The probabilities: an iterator over those of each example, or all together.
        """
        return self._predict_one(PredictionKey.PROBABILITIES, x, input_fn, batch_size, as_iterable)

    @deprecated(*EXPORT)
    def export(
        self,
        export_dir: str,
        input_fn: Callable | None = None,
        input_feature_key: str | None = None,
        use_deprecated_input_fn: bool = True,
        signature_fn: Callable | None = None,
        default_batch_size: int | None = 1,
        exports_to_keep: int | None = None,
    ) -> Any:
        """Writes the model in the older format of `tf.contrib.session_bundle`.

        Args:
          export_dir: Where to make the directory.
          input_fn: A function that returns features and labels; by default Examples are parsed for the
            feature columns.
          input_feature_key: The key of the serialized Examples among the features.
          use_deprecated_input_fn: Whether `input_fn` takes the estimator and the serialized Examples.
          signature_fn: A function of Examples, features and predictions that returns the default signature
            and those by name.
          default_batch_size: The number of Examples in a batch; any if None.
          exports_to_keep: How many of the newest exports are kept; all if None.

        Returns:
          The path of the directory.
        """
        return self._export(
            export_dir,
            input_fn,
            input_feature_key=input_feature_key,
            use_deprecated_input_fn=use_deprecated_input_fn,
            signature_fn=signature_fn or classification_signature_fn_with_prob,
            prediction_key=PredictionKey.PROBABILITIES,
            default_batch_size=default_batch_size,
            exports_to_keep=exports_to_keep,
        )


class Regressor(CannedEstimator):
    """An estimator that predicts numbers."""

    @deprecated_arg_values(*AS_ITERABLE, as_iterable=False)
    @deprecated_arg_values(
        "2017-03-01", "Please switch to predict_scores, or set `outputs` argument.", outputs=None
    )
    def predict(
        self,
        x: Any = None,
        input_fn: Callable | None = None,
        batch_size: int | None = None,
        outputs: Sequence[str] | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """Predicts numbers, or what is asked for by name.

        Args:
          x: The features, as an array or an iterator; instead of `input_fn`.
          input_fn: A function that returns the tensors of features.
          batch_size: The number of examples in a step; with `x` only, and then all if None.
          outputs: The names of the predictions; the numbers alone if None.
          as_iterable: Whether an iterator is returned.

        Returns:
          The numbers, or dictionaries of predictions: an iterator over them, or all together.
        """
        if not outputs:
            return self.predict_scores(x, input_fn, batch_size, as_iterable)
        return Estimator.predict(self, x, input_fn, batch_size, outputs, as_iterable)

    @deprecated_arg_values(*AS_ITERABLE, as_iterable=False)
    def predict_scores(
        self,
        x: Any = None,
        input_fn: Callable | None = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """Predicts numbers.

        Args:
          x: The features, as an array or an iterator; instead of `input_fn`.
          input_fn: A function that returns the tensors of features.
          batch_size: The number of examples in a step; with `x` only, and then all if None.
          as_iterable: Whether an iterator is returned.

        Returns:
          The numbers: an iterator over them, or all together.
        """
        return self._predict_one(PredictionKey.SCORES, x, input_fn, batch_size, as_iterable)

    @deprecated(*EXPORT)
    def export(
        self,
        export_dir: str,
        input_fn: Callable | None = None,
        input_feature_key: str | None = None,
        use_deprecated_input_fn: bool = True,
        signature_fn: Callable | None = None,
        default_batch_size: int | None = 1,
        exports_to_keep: int | None = None,
    ) -> Any:
        """Writes the model in the older format of `tf.contrib.session_bundle`.

        Args:
          export_dir: Where to make the directory.
          input_fn: A function that returns features and labels; by default Examples are parsed for the
            feature columns.
          input_feature_key: The key of the serialized Examples among the features.
          use_deprecated_input_fn: Whether `input_fn` takes the estimator and the serialized Examples.
          signature_fn: A function of Examples, features and predictions that returns the default signature
            and those by name.
          default_batch_size: The number of Examples in a batch; any if None.
          exports_to_keep: How many of the newest exports are kept; all if None.

        Returns:
          The path of the directory.
        """
        return self._export(
            export_dir,
            input_fn,
            input_feature_key=input_feature_key,
            use_deprecated_input_fn=use_deprecated_input_fn,
            signature_fn=signature_fn or regression_signature_fn,
            prediction_key=PredictionKey.SCORES,
            default_batch_size=default_batch_size,
            exports_to_keep=exports_to_keep,
        )


class MeasuringRegressor(Regressor):
    """A regressor that takes metrics as bare functions of its predictions and the labels too."""

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Callable | None = None,
        feed_fn: Callable | None = None,
        batch_size: int | None = None,
        steps: int | None = None,
        metrics: Mapping[Any, Any] | None = None,
        name: str | None = None,
        checkpoint_path: str | None = None,
        hooks: Sequence[Any] | None = None,
    ) -> dict[str, Any]:
        """Evaluates the model.

        Args:
          x: The features, as an array or an iterator; instead of `input_fn`.
          y: The labels, likewise.
          input_fn: A function that returns the tensors of features and labels.
          feed_fn: A function that returns what is fed in a step; with `input_fn` only.
          batch_size: The number of examples in a step; with `x` only, and then all if None.
          steps: The number of steps; until the data end if None.
          metrics: What is measured besides, by name: MetricSpecs, or functions of predictions and labels.
          name: The name of the evaluation, if there are several.
          checkpoint_path: The checkpoint to evaluate; the newest one if None.
          hooks: Hooks of the session.

        Returns:
          The results by name, `global_step` among them.
        """
        named = {
            key
            if isinstance(metric, MetricSpec) or isinstance(key, tuple)
            else (key, PredictionKey.SCORES): metric
            for key, metric in (metrics or {}).items()
        }
        return super().evaluate(
            x, y, input_fn, feed_fn, batch_size, steps, named, name, checkpoint_path, hooks
        )


def optimizer_of(given: Any) -> Optimizer | Any:
    """An optimizer, the one that a function returns, or its name."""
    return given() if callable(given) else given


def are_of_contrib(columns: Sequence[Any]) -> bool:
    """Whether feature columns are those of `tf.contrib.layers`, and not of `tf.feature_column`."""
    return all(isinstance(column, OldColumn) for column in columns)


def by_name(features: Any) -> Mapping[str, Any]:
    return features if isinstance(features, dict) else {"": features}
