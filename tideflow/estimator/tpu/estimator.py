"""TPUEstimator, on CPUs and GPUs: `params` have the batch size, specs may be those of TPUs."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import tideflow as tf
from tideflow.estimator.estimator import Estimator
from tideflow.estimator.spec import EstimatorSpec, ModeKeys, check_model_fn_arguments
from tideflow.estimator.tpu.config import RunConfig, check_positive_integer
from tideflow.estimator.tpu.spec import TPUEstimatorSpec
from tideflow.export import export
from tideflow.platform import logging
from tideflow.platform.function_arguments import fn_args, those_taken
from tideflow.train.step_hooks import StepCounterHook

_RESERVED = ["batch_size", "context"]


class ExportSavedModelApiVersion(enum.Enum):
    """How a TPUEstimator exports for TPUs."""

    V1 = 1
    V2 = 2


@export("estimator.tpu.TPUEstimator", "contrib.tpu.TPUEstimator")
class TPUEstimator(Estimator):
    """An Estimator for programs that also run on TPUs. Here it runs on CPUs and GPUs, with `use_tpu=False`.

    Args:
      model_fn: A function as that of `tf.estimator.Estimator`, with `params`, that returns a
        TPUEstimatorSpec or an EstimatorSpec.
      model_dir: The directory of the model.
      config: A `tf.estimator.tpu.RunConfig`.
      params: Hyperparameters by name; `batch_size` is added.
      use_tpu: Whether to run on TPUs: then training, evaluation and prediction raise an error.
      train_batch_size: The batch size of training.
      eval_batch_size: The batch size of evaluation.
      predict_batch_size: The batch size of prediction.
      batch_axis: How batches are split over cores; not used.
      eval_on_tpu: Whether evaluation and prediction run on TPUs too, if training does.
      export_to_tpu: Whether exports have a graph for TPUs; there is none here.
      export_to_cpu: Whether exports have a graph for CPUs.
      warm_start_from: A checkpoint or SavedModel to begin with, or WarmStartSettings.
      embedding_config_spec: Embedding tables on TPUs, which must be None.
      export_saved_model_api_version: How to export for TPUs; not used.

    Raises:
      ValueError: If an argument is out of its range.
    """

    def __init__(
        self,
        model_fn: Callable | None = None,
        model_dir: str | None = None,
        config: RunConfig | None = None,
        params: Any = None,
        use_tpu: bool = True,
        train_batch_size: int | None = None,
        eval_batch_size: int | None = None,
        predict_batch_size: int | None = None,
        batch_axis: Any = None,
        eval_on_tpu: bool = True,
        export_to_tpu: bool = True,
        export_to_cpu: bool = True,
        warm_start_from: Any = None,
        embedding_config_spec: Any = None,
        export_saved_model_api_version: ExportSavedModelApiVersion = ExportSavedModelApiVersion.V1,
    ):
        if not isinstance(config, RunConfig):
            raise ValueError("`config` must be provided with type `tpu_config.RunConfig`")
        if params is not None and any(key in params for key in _RESERVED):
            raise ValueError(f"{_RESERVED} are reserved keys but existed in params {params}.")
        if use_tpu and train_batch_size is None:
            raise ValueError("`train_batch_size` cannot be `None`")
        if embedding_config_spec is not None:
            raise ValueError("embedding_config_spec is for TPUs: use tf.feature_column.embedding_column.")
        if not export_to_cpu:
            raise ValueError("export_to_cpu must be True: there is no TPU to export to.")
        sizes = {
            ModeKeys.TRAIN: train_batch_size,
            ModeKeys.EVAL: eval_batch_size,
            ModeKeys.PREDICT: predict_batch_size,
        }
        names = ("train_batch_size", "eval_batch_size", "predict_batch_size")
        for name, size in zip(names, sizes.values(), strict=True):
            if size is not None:
                check_positive_integer(size, name)
        check_model_fn_arguments(model_fn, params)
        self._batch_sizes, self._user_model_fn, self._has_input = sizes, model_fn, False
        self._on_tpu = {mode: use_tpu and (eval_on_tpu or mode == ModeKeys.TRAIN) for mode in sizes}
        self._log_every_n_steps = config.log_step_count_steps
        super().__init__(
            self._tpu_model_fn,
            model_dir,
            config.replace(log_step_count_steps=None),
            params or {},
            warm_start_from,
        )

    def _call_input_fn(self, input_fn: Callable, mode: str) -> Any:
        if self._on_tpu[mode]:
            raise RuntimeError(
                "Cannot find any TPU cores in the system. Tideflow runs on CPUs and GPUs: pass use_tpu=False."
            )
        if "params" not in fn_args(input_fn):
            raise ValueError(
                f"input_fn ({input_fn}) does not include params argument, required by TPUEstimator to pass "
                'batch size as params["batch_size"]'
            )
        self._has_input = True
        params = self._with_batch_size(self.params, mode)
        with tf.device("/device:CPU:0"):
            return input_fn(**those_taken(input_fn, params=params, config=self.config, mode=mode))

    def _with_batch_size(self, params: Any, mode: str) -> Any:
        if self._batch_sizes[mode] is not None:
            _set(params, "batch_size", self._batch_sizes[mode])
        return params

    def _tpu_model_fn(self, features: Any, labels: Any, mode: str, config: Any, params: Any) -> EstimatorSpec:
        model_fn: Any = self._user_model_fn
        if "params" not in fn_args(model_fn):
            raise ValueError(
                f"model_fn ({model_fn}) does not include params argument, required by TPUEstimator to pass "
                "batch size as params['batch_size']"
            )
        if labels is not None and "labels" not in fn_args(model_fn):
            raise ValueError("model_fn does not take labels, but input_fn returns labels.")
        logging.info("Running %s on CPU", mode)
        if self._has_input:  # an export has no batches
            self._with_batch_size(params, mode)
        _set(params, "use_tpu", False)
        self._has_input = False
        taken = those_taken(model_fn, labels=labels, mode=mode, config=config, params=params)
        spec = model_fn(features=features, **taken)
        spec = spec.as_estimator_spec() if isinstance(spec, TPUEstimatorSpec) else spec
        size = self._batch_sizes[ModeKeys.TRAIN]
        if mode != ModeKeys.TRAIN or size is None or self._log_every_n_steps is None:
            return spec
        hook = _ExamplesPerSecondHook(size, self._log_every_n_steps, self.model_dir)
        return spec._replace(training_hooks=(*spec.training_hooks, hook))


def _set(params: Any, key: str, value: Any) -> None:
    """Sets a hyperparameter, of a dictionary or of HParams."""
    if not hasattr(params, "set_hparam"):
        params[key] = value
    elif hasattr(params, key):
        params.set_hparam(key, value)
    else:
        params.add_hparam(key, value)


class _ExamplesPerSecondHook(StepCounterHook):
    """Counts examples besides steps."""

    def __init__(self, batch_size: int, every_n_steps: int, output_dir: str):
        super().__init__(every_n_steps=every_n_steps, output_dir=output_dir)
        self._batch_size = batch_size

    def _log_and_record(self, elapsed_steps: int, elapsed_time: float, global_step: int) -> None:
        super()._log_and_record(elapsed_steps, elapsed_time, global_step)
        logging.info("examples/sec: %g", self._batch_size * elapsed_steps / elapsed_time)
