"""Hooks that write files while training goes on: checkpoints, summaries, timelines."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto.config_pb2 import RunOptions
from tensorboard.compat.proto.event_pb2 import SessionLog

from tideflow.export import export
from tideflow.graph.scopes import GraphKeys, get_default_graph
from tideflow.io.local_files import replace_bytes
from tideflow.platform import logging
from tideflow.session.timeline import Timeline
from tideflow.summary import writer
from tideflow.train.hook_timers import SecondOrStepTimer
from tideflow.train.scaffold import Scaffold, only_saver
from tideflow.train.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from tideflow.train.step_hooks import global_step_read
from tideflow.variables.meta_graph import export_meta_graph, write_graph

if TYPE_CHECKING:
    from tideflow.graph.operation import Tensor
    from tideflow.graph.typing import SessionLike
    from tideflow.summary.writer import FileWriter
    from tideflow.train.coordinator import Coordinator
    from tideflow.train.saver import Saver


@export("train.CheckpointSaverListener")
class CheckpointSaverListener:
    """The base of objects that a CheckpointSaverHook calls before and after it saves."""

    def begin(self) -> None:
        """Called once, before the session is created."""

    def before_save(self, session: SessionLike, global_step_value: int) -> None:
        """Called before each checkpoint.

        Args:
          session: The session.
          global_step_value: The current step.
        """

    def after_save(self, session: SessionLike, global_step_value: int) -> bool | None:
        """Called after each checkpoint.

        Args:
          session: The session.
          global_step_value: The current step.

        Returns:
          True to stop the training.
        """

    def end(self, session: SessionLike, global_step_value: int) -> None:
        """Called once, after the last checkpoint.

        Args:
          session: The session.
          global_step_value: The current step.
        """


@export("train.CheckpointSaverHook")
class CheckpointSaverHook(SessionRunHook):
    """A hook that saves checkpoints: at the start, at an interval, and at the end.

    Args:
      checkpoint_dir: The directory.
      save_secs: The interval in seconds.
      save_steps: The interval in steps. Exactly one of the two must be given.
      saver: The Saver; that of `scaffold`, or of the graph's collection, if None.
      checkpoint_basename: The name of the checkpoints' files.
      scaffold: A Scaffold with a saver.
      listeners: Objects to call before and after each checkpoint.

    Raises:
      ValueError: If both or none of the intervals, or both a saver and a scaffold are given.
    """

    def __init__(
        self,
        checkpoint_dir: str,
        save_secs: float | None = None,
        save_steps: int | None = None,
        saver: Saver | None = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: Scaffold | None = None,
        listeners: Sequence[CheckpointSaverListener] | None = None,
    ):
        logging.info("Create CheckpointSaverHook.")
        if saver is not None and scaffold is not None:
            raise ValueError("You cannot provide both saver and scaffold.")
        self._saver = saver
        self._checkpoint_dir = checkpoint_dir
        self._save_path = os.path.join(checkpoint_dir, checkpoint_basename)
        self._scaffold = scaffold
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)
        self._listeners = listeners or []
        self._steps_per_run = 1

    def _set_steps_per_run(self, steps_per_run: int) -> None:
        self._steps_per_run = steps_per_run

    def begin(self) -> None:
        self._summary_writer = writer.FileWriterCache.get(self._checkpoint_dir)
        self._global_step_tensor = global_step_read("CheckpointSaverHook")
        for listener in self._listeners:
            listener.begin()

    def after_create_session(self, session: SessionLike, coord: Coordinator) -> None:
        step = session.run(self._global_step_tensor)
        graph = get_default_graph()
        # Not before: hooks may add to the graph in `begin`.
        write_graph(graph.as_graph_def(add_shapes=True), self._checkpoint_dir, "graph.pbtxt")
        self._summary_writer.add_graph(graph)
        saver_def = getattr(self._get_saver(), "saver_def", None)
        self._summary_writer.add_meta_graph(export_meta_graph(graph=graph, saver_def=saver_def))
        self._save(session, step)
        self._timer.update_last_triggered_step(step)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if not self._timer.should_trigger_for_step(run_values.results + self._steps_per_run):
            return
        step = run_context.session.run(self._global_step_tensor)
        if self._timer.should_trigger_for_step(step):
            self._timer.update_last_triggered_step(step)
            if self._save(run_context.session, step):
                run_context.request_stop()

    def end(self, session: SessionLike) -> None:
        step = session.run(self._global_step_tensor)
        if step != self._timer.last_triggered_step():
            self._save(session, step)
        for listener in self._listeners:
            listener.end(session, step)

    def _save(self, session: Any, step: int) -> bool:
        """Saves a checkpoint; whether a listener wants the training to end."""
        logging.info("Saving checkpoints for %d into %s.", step, self._save_path)
        for listener in self._listeners:
            listener.before_save(session, step)
        self._get_saver().save(session, self._save_path, global_step=step)
        saved = SessionLog(status=SessionLog.CHECKPOINT, checkpoint_path=self._save_path)
        self._summary_writer.add_session_log(saved, step)
        stops = [listener for listener in self._listeners if listener.after_save(session, step)]
        for listener in stops:
            logging.info(
                "A CheckpointSaverListener requested that training be stopped. listener: %s", listener
            )
        return bool(stops)

    def _get_saver(self) -> Any:
        if self._saver is None and self._scaffold is not None:
            return self._scaffold.saver
        if self._saver is None:
            self._saver = only_saver()
        if self._saver is None:
            raise RuntimeError(
                f"No items in collection {GraphKeys.SAVERS}. Please add a saver to the collection or provide "
                "a saver or scaffold."
            )
        return self._saver


def _step_after_run(hook: Any, run_context: SessionRunContext, run_values: SessionRunValues) -> int:
    """The global step after a run: one more than the run has read. If the hook acts on it, it is read anew:
    the run may not have counted.
    """
    step: int = run_values.results["global_step"] + 1
    if hook._request_summary or hook._timer.should_trigger_for_step(step + 1):
        step = run_context.session.run(hook._global_step_tensor)
    return step


@export("train.SummarySaverHook")
class SummarySaverHook(SessionRunHook):
    """A hook that writes summaries at an interval.

    Args:
      save_steps: The interval in steps.
      save_secs: The interval in seconds. Exactly one of the two must be given.
      output_dir: The directory of the event file.
      summary_writer: The writer; one for `output_dir` if None.
      scaffold: A Scaffold with a summary operation.
      summary_op: The summary, or a list of them, as string tensors.

    Raises:
      ValueError: If both or none of `scaffold` and `summary_op` are given.
    """

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir: str | None = None,
        summary_writer: FileWriter | None = None,
        scaffold: Scaffold | None = None,
        summary_op: Tensor | Sequence[Tensor] | None = None,
    ):
        if (scaffold is None) == (summary_op is None):
            raise ValueError("Exactly one of scaffold or summary_op must be provided.")
        self._summary_op = summary_op
        self._summary_writer = summary_writer
        self._output_dir = output_dir
        self._scaffold = scaffold
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)

    def begin(self) -> None:
        if self._summary_writer is None and self._output_dir:
            self._summary_writer = writer.FileWriterCache.get(self._output_dir)
        self._next_step: int | None = None
        self._global_step_tensor = global_step_read("SummarySaverHook")

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        self._request_summary = self._next_step is None or self._timer.should_trigger_for_step(
            self._next_step
        )
        requests = {"global_step": self._global_step_tensor}
        summaries = self._summaries()
        if self._request_summary and summaries is not None:
            requests["summary"] = summaries
        return SessionRunArgs(requests)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if not self._summary_writer:
            return
        step = _step_after_run(self, run_context, run_values)
        if self._next_step is None:
            self._summary_writer.add_session_log(SessionLog(status=SessionLog.START), step)
        if self._request_summary:
            self._timer.update_last_triggered_step(step)
            for summary in run_values.results.get("summary", ()):
                self._summary_writer.add_summary(summary, step)
        self._next_step = step + 1

    def end(self, session: SessionLike | None = None) -> None:
        if self._summary_writer:
            self._summary_writer.flush()

    def _summaries(self) -> list[Any] | None:
        op = self._scaffold.summary_op if self._summary_op is None else self._summary_op
        return op if op is None or isinstance(op, list) else [op]


@export("train.ProfilerHook")
class ProfilerHook(SessionRunHook):
    """A hook that traces a step at an interval.

    It writes files `timeline-<step>.json` for Chrome's trace viewer.

    Args:
      save_steps: The interval in steps.
      save_secs: The interval in seconds. Exactly one of the two must be given.
      output_dir: The directory.
      show_dataflow: Whether the trace has arrows for the flow of tensors.
      show_memory: Whether the trace has the use of memory.
    """

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir: str = "",
        show_dataflow: bool = True,
        show_memory: bool = False,
    ):
        self._output_file = os.path.join(output_dir, "timeline-{}.json")
        self._file_writer = writer.FileWriterCache.get(output_dir)
        self._show_dataflow = show_dataflow
        self._show_memory = show_memory
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)

    def begin(self) -> None:
        self._next_step: int | None = None
        self._global_step_tensor = global_step_read("ProfilerHook")

    def after_create_session(self, session: SessionLike, coord: Coordinator) -> None:
        if self._next_step is None:  # the first trace comes after so many steps, not at once
            self._timer.update_last_triggered_step(session.run(self._global_step_tensor))

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        self._request_summary = self._next_step is not None and self._timer.should_trigger_for_step(
            self._next_step
        )
        options = RunOptions(trace_level=RunOptions.FULL_TRACE) if self._request_summary else None
        return SessionRunArgs({"global_step": self._global_step_tensor}, options=options)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        step = _step_after_run(self, run_context, run_values)
        if self._request_summary:
            self._timer.update_last_triggered_step(step)
            self._save(step, run_values.run_metadata)
        self._next_step = step + 1

    def _save(self, step: int, run_metadata: Any) -> None:
        path = self._output_file.format(step)
        logging.info("Saving timeline for %d into '%s'.", step, path)
        trace = Timeline(run_metadata.step_stats).generate_chrome_trace_format(
            show_dataflow=self._show_dataflow, show_memory=self._show_memory
        )
        replace_bytes(path, trace.encode())
        self._file_writer.add_run_metadata(run_metadata, f"step_{step}")
