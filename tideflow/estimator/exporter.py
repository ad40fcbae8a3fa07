"""Exporters: which of a training's checkpoints become SavedModels."""

from __future__ import annotations

import abc
import os
from collections.abc import Callable, Mapping
from typing import Any

import tideflow as tf
from tideflow.estimator.early_stopping import simple_values
from tideflow.estimator.estimator import Estimator
from tideflow.export import export
from tideflow.graph.errors import NotFoundError
from tideflow.platform import gfile, logging
from tideflow.platform.function_arguments import fn_args


@export("estimator.Exporter")
class Exporter(abc.ABC):
    """The base of objects that `tf.estimator.train_and_evaluate` calls after each evaluation."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The name, which is that of the directory below `export`."""

    @abc.abstractmethod
    def export(
        self,
        estimator: Estimator,
        export_path: str,
        checkpoint_path: str,
        eval_result: Mapping[str, Any],
        is_the_final_export: bool,
    ) -> Any:
        """Exports a checkpoint, or decides not to.

        Args:
          estimator: The estimator.
          export_path: The directory of this exporter.
          checkpoint_path: The checkpoint.
          eval_result: The metrics of the checkpoint.
          is_the_final_export: Whether the training is over.

        Returns:
          The path of the SavedModel, or None.
        """


class _SavedModelExporter(Exporter):
    """What all exporters share: how they write a SavedModel, and delete the oldest of too many."""

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable | None,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = None,
    ):
        if exports_to_keep is not None and exports_to_keep <= 0:
            raise ValueError(
                f"`exports_to_keep`, if provided, must be a positive number. Got {exports_to_keep}"
            )
        self._name, self._serving_input_receiver_fn = name, serving_input_receiver_fn
        self._assets_extra, self._as_text = assets_extra, as_text
        self._exports_to_keep = exports_to_keep

    @property
    def name(self) -> str:
        """The name of the exporter."""
        return self._name

    def export(
        self,
        estimator: Estimator,
        export_path: str,
        checkpoint_path: str,
        eval_result: Mapping[str, Any],
        is_the_final_export: bool,
    ) -> Any:
        """Exports the checkpoint, unless this exporter leaves it out, and deletes the oldest exports.

        Args:
          estimator: The estimator.
          export_path: The directory of this exporter.
          checkpoint_path: The checkpoint.
          eval_result: The metrics of the checkpoint.
          is_the_final_export: Whether the training is over.

        Returns:
          The path of the SavedModel, or None.
        """
        if not self._is_wanted(estimator, eval_result, is_the_final_export):
            return None
        exported = estimator.export_saved_model(
            export_path,
            self._serving_input_receiver_fn,
            assets_extra=self._assets_extra,
            as_text=self._as_text,
            checkpoint_path=checkpoint_path,
        )
        if self._exports_to_keep is not None:
            _delete_oldest(export_path, self._exports_to_keep)
        return exported

    def _is_wanted(self, estimator: Estimator, eval_result: Mapping[str, Any], is_final: bool) -> bool:
        """Whether a checkpoint is exported. It is asked once for each."""
        return True


def _delete_oldest(export_path: str, exports_to_keep: int) -> None:
    names = (name.rstrip("/") for name in gfile.listdir(export_path))
    exports = sorted(name for name in names if len(name) == 10 and name.isdigit())
    for name in exports[:-exports_to_keep]:
        path = os.path.join(export_path, name)
        try:
            gfile.rmtree(path)
        except NotFoundError as error:
            logging.warn("Can not delete %s recursively: %s", path, error)


@export("estimator.FinalExporter")
class FinalExporter(_SavedModelExporter):
    """Exports the model at the end of the training.

    Args:
      name: The name, which is that of the directory below `export`.
      serving_input_receiver_fn: A function that returns a ServingInputReceiver.
      assets_extra: Files to copy into the SavedModel, by their names there.
      as_text: Whether the file has the text form of the message.
    """

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
    ):
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)

    def _is_wanted(self, estimator: Estimator, eval_result: Mapping[str, Any], is_final: bool) -> bool:
        if is_final:
            logging.info("Performing the final export in the end of training.")
        return is_final


@export("estimator.LatestExporter")
class LatestExporter(_SavedModelExporter):
    """Exports the model after each evaluation, and keeps the newest exports.

    Args:
      name: The name, which is that of the directory below `export`.
      serving_input_receiver_fn: A function that returns a ServingInputReceiver.
      assets_extra: Files to copy into the SavedModel, by their names there.
      as_text: Whether the file has the text form of the message.
      exports_to_keep: How many exports are kept; all if None.

    Raises:
      ValueError: If `exports_to_keep` is not positive.
    """

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ):
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text, exports_to_keep)


def _loss_smaller(best_eval_result: Mapping[str, Any], current_eval_result: Mapping[str, Any]) -> bool:
    for label, result in (
        ("best_eval_result", best_eval_result),
        ("current_eval_result", current_eval_result),
    ):
        if not result or "loss" not in result:
            raise ValueError(f"{label} cannot be empty or no loss is found in it.")
    return bool(best_eval_result["loss"] > current_eval_result["loss"])


@export("estimator.BestExporter")
class BestExporter(_SavedModelExporter):
    """Exports the model after an evaluation that was better than all before, and keeps the newest exports.

    Args:
      name: The name, which is that of the directory below `export`.
      serving_input_receiver_fn: A function that returns a ServingInputReceiver.
      event_file_pattern: The files of earlier evaluations, below the model's directory; they count too.
      compare_fn: A function of `best_eval_result` and `current_eval_result` that says whether the second is
        better; by default, whether its loss is smaller.
      assets_extra: Files to copy into the SavedModel, by their names there.
      as_text: Whether the file has the text form of the message.
      exports_to_keep: How many exports are kept; all if None.

    Raises:
      ValueError: If `compare_fn` takes other arguments, or `exports_to_keep` is not positive.
    """

    def __init__(
        self,
        name: str = "best_exporter",
        serving_input_receiver_fn: Callable | None = None,
        event_file_pattern: str | None = "eval/*.tfevents.*",
        compare_fn: Callable[..., bool] = _loss_smaller,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ):
        if compare_fn is None:
            raise ValueError("`compare_fn` must not be None.")
        names = set(fn_args(compare_fn))
        for name_of_result in ("best_eval_result", "current_eval_result"):
            if name_of_result not in names:
                raise ValueError(f"compare_fn ({compare_fn}) must include {name_of_result} argument.")
        unknown = sorted(names - {"best_eval_result", "current_eval_result"})
        if unknown:
            raise ValueError(f"compare_fn ({compare_fn}) has following not expected args: {unknown}")
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text, exports_to_keep)
        self._compare_fn, self._event_file_pattern = compare_fn, event_file_pattern
        self._model_dir: str | None = None
        self._best: Mapping[str, Any] | None = None

    def _is_wanted(self, estimator: Estimator, eval_result: Mapping[str, Any], is_final: bool) -> bool:
        if self._model_dir != estimator.model_dir and self._event_file_pattern:
            logging.info("Loading best metric from event files.")
            self._model_dir = estimator.model_dir
            self._best = self._best_in_files(os.path.join(self._model_dir, self._event_file_pattern))
        if self._best is not None and not self._is_better(eval_result):
            return False
        logging.info("Performing best model export.")
        self._best = eval_result
        return True

    def _is_better(self, result: Mapping[str, Any]) -> bool:
        return self._compare_fn(best_eval_result=self._best, current_eval_result=result)

    def _best_in_files(self, pattern: str) -> Mapping[str, Any] | None:
        self._best = None
        for path in gfile.glob(pattern):
            for event in tf.train.summary_iterator(path):
                metrics = simple_values(event)
                if metrics and (self._best is None or self._is_better(metrics)):
                    self._best = metrics
        return self._best
