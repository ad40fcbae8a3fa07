"""`tensorflow.contrib.learn.python.learn.utils.saved_model_export_utils`: exports, and the best of them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import Any

import tideflow as tf
from tideflow.contrib.learn import saved_models
from tideflow.contrib.learn.export_strategy import ExportStrategy
from tideflow.contrib.learn.modes import MetricKey
from tideflow.contrib.session_bundle import gc
from tideflow.estimator.export.signatures import temporary_directory, timestamped_directory
from tideflow.platform import gfile

DEFAULT_INPUT_ALTERNATIVE_KEY = saved_models.DEFAULT_INPUT
build_standardized_signature_def = saved_models.build_standardized_signature_def
garbage_collect_exports = saved_models.garbage_collect_exports
get_output_alternatives = saved_models.get_output_alternatives
get_timestamped_export_dir = timestamped_directory
get_temp_export_dir = temporary_directory


def get_input_alternatives(input_ops: Any) -> tuple[dict[str, Any], Any]:
    """The inputs that a server may feed, by name, and the features."""
    return saved_models.inputs_of(input_ops), input_ops[0]


def build_all_signature_defs(
    input_alternatives: Mapping[str, Any],
    output_alternatives: Mapping[str | None, Any],
    actual_default_output_alternative_key: str | None,
) -> dict[str, Any]:
    """The signatures of all pairs of inputs and outputs, and the default one."""
    default = input_alternatives.get(DEFAULT_INPUT_ALTERNATIVE_KEY)
    if not default:
        raise ValueError("A default input_alternative must be provided.")
    found: dict[str, Any] = {}
    for name, inputs in input_alternatives.items():
        of_inputs = saved_models.signatures_of(
            inputs, output_alternatives, actual_default_output_alternative_key, name
        )
        found.update(of_inputs if inputs is default else {k: s for k, s in of_inputs.items() if ":" in k})
    return found


def get_most_recent_export(export_dir_base: str) -> gc.Path | None:
    """The newest export in a directory; None where there is none."""
    newest = gc.largest_export_versions(1)(gc.get_paths(os.fsdecode(export_dir_base), saved_models.timed))
    return next(iter(newest), None)


def make_parsing_export_strategy(
    feature_columns: Any,
    default_output_alternative_key: str | None = None,
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    exports_to_keep: int | None = 5,
    target_core: bool = False,
    strip_default_attrs: bool | None = None,
) -> ExportStrategy:
    """The strategy that writes SavedModels which parse serialized examples by feature columns."""
    spec = tf.contrib.layers.create_feature_spec_for_parsing(feature_columns)
    if target_core:
        serving_input_fn = tf.estimator.export.build_parsing_serving_input_receiver_fn(spec)
    else:
        serving_input_fn = saved_models.build_parsing_serving_input_fn(spec)
    return saved_models.make_export_strategy(
        serving_input_fn,
        default_output_alternative_key,
        assets_extra,
        as_text,
        exports_to_keep,
        strip_default_attrs,
    )


def _is_better(best: Mapping[str, Any] | None, candidate: Mapping[str, Any] | None) -> bool:
    for result, name in ((best, "curr_best_eval_result"), (candidate, "cand_eval_result")):
        if not result or MetricKey.LOSS not in result:
            raise ValueError(f"{name} cannot be empty or no loss is found in it.")
    assert best is not None and candidate is not None
    return best[MetricKey.LOSS] > candidate[MetricKey.LOSS]


class BestModelSelector:
    """Remembers the best result of evaluations: that with the least loss, or that `compare_fn` likes best."""

    def __init__(self, event_file_pattern: str | None = None, compare_fn: Callable | None = None):
        self._is_better = compare_fn or _is_better
        self._best: Mapping[str, Any] | None = None
        for path in sorted(gfile.glob(event_file_pattern)) if event_file_pattern else ():
            for event in tf.train.summary_iterator(path):
                if event.HasField("summary"):
                    values = event.summary.value
                    self._take({v.tag: v.simple_value for v in values if v.HasField("simple_value")})

    def _take(self, result: Mapping[str, Any]) -> bool:
        """Keeps a result if it is the best yet."""
        is_best = self._best is None or self._is_better(self._best, result)
        self._best = result if is_best else self._best
        return is_best

    def update(self, checkpoint_path: str, eval_result: Mapping[str, Any]) -> tuple[str, Any]:
        """The checkpoint and its result if it is the best yet, else an empty string and None."""
        if not checkpoint_path:
            raise ValueError("Checkpoint path is empty.")
        if eval_result is None:
            raise ValueError(f"{checkpoint_path} has empty evaluation results.")
        return (checkpoint_path, eval_result) if self._take(eval_result) else ("", None)


def make_best_model_export_strategy(
    serving_input_fn: Callable,
    exports_to_keep: int | None = 1,
    model_dir: str | None = None,
    event_file_pattern: str | None = None,
    compare_fn: Callable | None = None,
    default_output_alternative_key: str | None = None,
    strip_default_attrs: bool | None = None,
) -> ExportStrategy:
    """The strategy that exports a checkpoint only if its evaluation is the best yet."""
    exports = saved_models.make_export_strategy(
        serving_input_fn,
        default_output_alternative_key=default_output_alternative_key,
        exports_to_keep=exports_to_keep,
        strip_default_attrs=strip_default_attrs,
    )
    pattern = os.path.join(model_dir, event_file_pattern) if model_dir and event_file_pattern else None
    selector = BestModelSelector(pattern, compare_fn)

    def export_fn(
        estimator: Any, export_dir_base: str, checkpoint_path: str | None, eval_result: Any = None
    ) -> Any:
        path, result = selector.update(
            checkpoint_path or tf.train.latest_checkpoint(estimator.model_dir), eval_result
        )
        if not path or result is None:
            return ""
        directory = os.path.join(export_dir_base, os.path.basename(path))
        return exports.export(estimator, directory, path, result)

    return ExportStrategy("best_model", export_fn)


def extend_export_strategy(
    base_export_strategy: ExportStrategy, post_export_fn: Callable, post_export_name: str | None = None
) -> ExportStrategy:
    """A strategy that has a function make something of what another one exported."""

    def export_fn(estimator: Any, export_dir_base: str, checkpoint_path: str | None = None) -> str:
        now = int(time.time())
        first, second = (
            os.path.join(export_dir_base, f"temp-{kind}-export-{now}") for kind in ("base", "post")
        )
        _make_new(first, "Failed to obtain base export directory")
        exported = base_export_strategy.export(estimator, first, checkpoint_path)
        _make_new(second, "Failed to obtain temp export directory")
        made = os.fsdecode(post_export_fn(exported, second))
        if not made.startswith(second):
            raise ValueError(f"post_export_fn must return a sub-directory of {second}")
        final = os.path.join(export_dir_base, os.path.relpath(made, second))
        if gfile.exists(final):
            raise RuntimeError("Failed to obtain final export directory")
        gfile.rename(made, final)
        gfile.rmtree(first)
        gfile.rmtree(second)
        return final

    return ExportStrategy(post_export_name or base_export_strategy.name, export_fn)


def _make_new(directory: str, otherwise: str) -> None:
    if gfile.exists(directory):
        raise RuntimeError(otherwise)
    gfile.makedirs(directory)
