"""The monitors of tf.contrib.learn that write and keep: summaries, checkpoints, exports, values."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from tensorboard.compat.proto.event_pb2 import SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary

from tideflow.contrib.learn.monitors import BaseMonitor, EveryN, fetched
from tideflow.estimator.estimator import Estimator as CoreEstimator
from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import get_default_graph
from tideflow.io.checkpoint_state import latest_checkpoint
from tideflow.platform import logging
from tideflow.platform.deprecation import deprecated
from tideflow.summary.writer import FileWriter, FileWriterCache
from tideflow.train.saver import Saver
from tideflow.train.scaffold import Scaffold


@export("contrib.learn.monitors.SummarySaver")
class SummarySaver(EveryN):
    """Writes summaries.

    Args:
      summary_op: The tensor of the serialized summaries; that of `scaffold` if None.
      save_steps: The number of steps from one time to the next.
      output_dir: The directory of the events; that of the estimator if None.
      summary_writer: The writer, instead of a directory.
      scaffold: A `tf.train.Scaffold`.
    """

    def __init__(
        self,
        summary_op: Tensor | None,
        save_steps: int = 100,
        output_dir: str | None = None,
        summary_writer: FileWriter | None = None,
        scaffold: Scaffold | None = None,
    ):
        super().__init__(every_n_steps=save_steps)
        self._summary_op = summary_op
        self._summary_writer = summary_writer
        if summary_writer is None and output_dir:
            self._summary_writer = FileWriter(output_dir)
        self._scaffold = scaffold

    def set_estimator(self, estimator: Any) -> None:
        """Is told what is trained.

        Args:
          estimator: The estimator.
        """
        super().set_estimator(estimator)
        if self._summary_writer is None:
            self._summary_writer = FileWriter(estimator.model_dir)

    def every_n_step_begin(self, step: int) -> list[Any]:
        """Is told that such a step begins.

        Args:
          step: The global step.

        Returns:
          The tensor of the summaries.
        """
        if self._summary_op is None and self._scaffold is not None:
            self._summary_op = self._scaffold.summary_op
        return [] if self._summary_op is None else [self._summary_op]

    def every_n_step_end(self, step: int, outputs: dict[Any, Any]) -> bool:
        """Is told that such a step ended.

        Args:
          step: The global step.
          outputs: The values of what was fetched.

        Returns:
          False.
        """
        if self._summary_op is not None and self._summary_writer:
            self._summary_writer.add_summary(fetched(outputs, self._summary_op), step)
        return False

    def end(self, session: Any = None) -> None:
        """Is told that the training ends.

        Args:
          session: The session of the training.
        """
        super().end(session=session)
        if self._summary_writer:
            self._summary_writer.flush()


@export("contrib.learn.monitors.CheckpointSaver")
class CheckpointSaver(BaseMonitor):
    """Writes checkpoints, the first one after the first step.

    Args:
      checkpoint_dir: The directory of the checkpoints.
      save_secs: The interval in seconds.
      save_steps: The interval in steps.
      saver: The saver; that of `scaffold` if None.
      checkpoint_basename: The name of the checkpoints without the step.
      scaffold: A `tf.train.Scaffold`.

    Raises:
      ValueError: If none or both of the intervals are given.
    """

    def __init__(
        self,
        checkpoint_dir: str,
        save_secs: float | None = None,
        save_steps: int | None = None,
        saver: Saver | None = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: Scaffold | None = None,
    ):
        logging.info("Create CheckpointSaver.")
        super().__init__()
        if save_steps is None and save_secs is None:
            raise ValueError("Either save_steps or save_secs should be provided")
        if save_steps is not None and save_secs is not None:
            raise ValueError("Can not provide both save_steps and save_secs.")
        self._saver, self._scaffold = saver, scaffold
        self._summary_writer = FileWriterCache.get(checkpoint_dir)
        self._save_path = os.path.join(checkpoint_dir, checkpoint_basename)
        self._save_secs, self._save_steps = save_secs, save_steps

    def begin(self, max_steps: int | None = None) -> None:
        """Is told that the training begins.

        Args:
          max_steps: The global step to stop at.
        """
        super().begin(max_steps)
        self._saved_at: float | None = None
        self._begun_step = self._saved_step = None

    def step_begin(self, step: int) -> list[Any]:
        """Is told that a step begins.

        Args:
          step: The global step.

        Returns:
          An empty list.
        """
        self._begun_step = step
        return super().step_begin(step)

    def post_step(self, step: int, session: Any) -> None:
        """Is called after a step, when all monitors have been told of its end.

        Args:
          step: The global step.
          session: The session of the training.
        """
        super().post_step(step, session)
        if (
            self._saved_at is None
            or (self._save_steps is not None and step >= self._saved_step + self._save_steps)
            or (self._save_secs is not None and time.time() >= self._saved_at + self._save_secs)
        ):
            self._save(step, session)

    def end(self, session: Any = None) -> None:
        """Is told that the training ends.

        Args:
          session: The session of the training.
        """
        super().end(session)
        self._save(self._begun_step, session)

    def _save(self, step: int | None, session: Any) -> None:
        if step == self._saved_step:
            return
        logging.info("Saving checkpoints for %d into %s.", step, self._save_path)
        self._saved_at, self._saved_step = time.time(), step
        (self._saver or self._scaffold.saver).save(session, self._save_path, global_step=step)
        log = SessionLog(status=SessionLog.CHECKPOINT, checkpoint_path=self._save_path)
        self._summary_writer.add_session_log(log, step)


@export("contrib.learn.monitors.StepCounter")
class StepCounter(EveryN):
    """Writes summaries of how many steps a second are made.

    Args:
      every_n_steps: The number of steps from one time to the next.
      output_dir: The directory of the events; that of the estimator if None.
      summary_writer: The writer, instead of a directory.
    """

    def __init__(
        self,
        every_n_steps: int = 100,
        output_dir: str | None = None,
        summary_writer: FileWriter | None = None,
    ):
        super().__init__(every_n_steps=every_n_steps)
        self._last: tuple[int, float] | None = None
        self._summary_writer = summary_writer
        if summary_writer is None and output_dir:
            self._summary_writer = FileWriterCache.get(output_dir)

    def set_estimator(self, estimator: Any) -> None:
        """Is told what is trained.

        Args:
          estimator: The estimator.
        """
        super().set_estimator(estimator)
        if self._summary_writer is None:
            self._summary_writer = FileWriterCache.get(estimator.model_dir)

    def every_n_step_end(self, current_step: int, outputs: dict[Any, Any]) -> None:
        """Is told that such a step ended.

        Args:
          current_step: The global step.
          outputs: The values of what was fetched.
        """
        now = time.time()
        if self._last is not None and self._summary_writer:
            step, moment = self._last
            speed = (current_step - step) / (now - moment)
            summary = Summary(value=[Summary.Value(tag="global_step/sec", simple_value=speed)])
            self._summary_writer.add_summary(summary, current_step)
        self._last = (current_step, now)


@export("contrib.learn.monitors.ExportMonitor")
class ExportMonitor(EveryN):
    """Exports a model while it is trained, in the format of `tf.contrib.session_bundle`.

    Args:
      every_n_steps: The number of steps from one export to the next.
      export_dir: Where to make the directories.
      input_fn: A function that returns features and labels; by default Examples are parsed.
      input_feature_key: The key of the serialized Examples among the features.
      exports_to_keep: How many of the newest exports are kept; all if None.
      signature_fn: A function of Examples, features and predictions that returns the default signature and
        those by name.
      default_batch_size: The number of Examples in a batch; any if None.
    """

    @deprecated(
        "2017-03-25",
        "ExportMonitor is deprecated. Please pass an ExportStrategy to Experiment instead.",
    )
    def __init__(
        self,
        every_n_steps: int,
        export_dir: str,
        input_fn: Callable | None = None,
        input_feature_key: str | None = None,
        exports_to_keep: int | None = 5,
        signature_fn: Callable | None = None,
        default_batch_size: int | None = 1,
    ):
        super().__init__(every_n_steps=every_n_steps)
        self._export_dir = export_dir
        self._input_fn = input_fn
        self._input_feature_key = input_feature_key
        self._exports_to_keep = exports_to_keep
        self._signature_fn = signature_fn
        self._default_batch_size = default_batch_size
        self._last_export_dir: Any = None

    @property
    def export_dir(self) -> str:
        """Where the directories are made."""
        return self._export_dir

    @property
    def exports_to_keep(self) -> int | None:
        """How many of the newest exports are kept."""
        return self._exports_to_keep

    @property
    def signature_fn(self) -> Callable | None:
        """The function that makes signatures."""
        return self._signature_fn

    @property
    def last_export_dir(self) -> Any:
        """The directory of the newest export."""
        return self._last_export_dir

    def _export(self) -> None:
        if isinstance(self._estimator, CoreEstimator):
            raise ValueError(
                "ExportMonitor does not support `tf.estimator.Estimator. `. Please pass an ExportStrategy to "
                "Experiment instead."
            )
        try:
            self._last_export_dir = self._estimator.export(
                self.export_dir,
                exports_to_keep=self.exports_to_keep,
                signature_fn=self.signature_fn,
                input_fn=self._input_fn,
                default_batch_size=self._default_batch_size,
                input_feature_key=self._input_feature_key,
                use_deprecated_input_fn=self._input_fn is None,
            )
        except RuntimeError:
            logging.info(
                "Skipping exporting because the existing checkpoint has already been exported. Consider "
                "exporting less frequently."
            )

    def every_n_step_end(self, step: int, outputs: dict[Any, Any]) -> None:
        """Is told that such a step ended.

        Args:
          step: The global step.
          outputs: The values of what was fetched.
        """
        if latest_checkpoint(self._estimator.model_dir) is None:
            logging.info("Skipping export since model has not been saved yet.")
        else:
            self._export()

    def end(self, session: Any = None) -> None:
        """Is told that the training ends.

        Args:
          session: The session of the training.
        """
        super().end(session=session)
        if latest_checkpoint(self._estimator.model_dir) is None:
            logging.info("Skipping export at the end since model has not been saved yet.")
        else:
            self._export()


@export("contrib.learn.monitors.GraphDump")
class GraphDump(BaseMonitor):
    """Keeps the values of almost all tensors, so that two trainings can be compared.

    Args:
      ignore_ops: The op types whose outputs are left out.
    """

    IGNORE_OPS = ("Const Assign Identity Placeholder RandomUniform Cast RestoreSlice").split()

    def __init__(self, ignore_ops: Sequence[str] | None = None):
        super().__init__()
        self._ignore_ops = ignore_ops or GraphDump.IGNORE_OPS
        self._data: dict[int, dict[Any, Any]] = {}

    def begin(self, max_steps: int | None = None) -> None:
        """Is told that the training begins.

        Args:
          max_steps: The global step to stop at.
        """
        super().begin(max_steps=max_steps)
        self._tensors = []
        for op in get_default_graph().get_operations():
            if op.type not in self._ignore_ops:
                logging.info("op=%s name=%s.", op.type, op.name)
                self._tensors.extend(op.outputs[:1])

    def step_begin(self, step: int) -> list[Any]:
        """Is told that a step begins.

        Args:
          step: The global step.

        Returns:
          The tensors.
        """
        super().step_begin(step)
        return self._tensors

    def step_end(self, step: int, output: dict[Any, Any]) -> bool:
        """Is told that a step ended.

        Args:
          step: The global step.
          output: The values of what was fetched.

        Returns:
          False.
        """
        super().step_end(step, output)
        self._data[step] = output
        return False

    @property
    def data(self) -> dict[int, dict[Any, Any]]:
        """The values by step and tensor."""
        return self._data

    def compare(
        self, other_dump: GraphDump, step: int, atol: float = 1e-06
    ) -> tuple[list[str], dict[str, Any]]:
        """Compares the values of a step with those of another training.

        Args:
          other_dump: The monitor of the other training.
          step: The global step.
          atol: The greatest difference of values that count as equal.

        Returns:
          The names of the tensors that are equal, and what the others differ by.

        Raises:
          ValueError: If the other training has no such tensor.
        """
        matched, differing = [], {}
        others = other_dump.data.get(step, {})
        for key, value in self.data.get(step, {}).items():
            if not isinstance(key, str):
                continue
            if key not in others:
                raise ValueError(f"{key} missing at step {step}.")
            other = others[key]
            if isinstance(value, np.ndarray):
                if np.allclose(value, other, atol=atol):
                    matched.append(key)
                else:
                    differing[key] = value - other
            elif not isinstance(value, str):
                if value == other:
                    matched.append(key)
                else:
                    differing[key] = (value, other)
        return matched, differing
