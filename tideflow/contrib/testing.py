"""tf.contrib.testing: what tests of summaries need."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary

import tideflow as tf
from tideflow.export import export
from tideflow.summary import writer as writers


@export("contrib.testing.assert_summary")
def assert_summary(
    expected_tags: Iterable[str], expected_simple_values: Mapping[str, float], summary_proto: Summary
) -> None:
    """Checks the tags of a summary, and some of its numbers.

    Args:
      expected_tags: All tags of the summary.
      expected_simple_values: Numbers by tag, which are compared to two decimals.
      summary_proto: The summary.

    Raises:
      ValueError: If the tags are others.
      AssertionError: If a number is another.
    """
    for value in summary_proto.value:
        if value.tag in expected_simple_values:
            np.testing.assert_almost_equal(
                value.simple_value, expected_simple_values[value.tag], decimal=2, err_msg=value.tag
            )
    wanted, found = set(expected_tags), {value.tag for value in summary_proto.value}
    if wanted != found:
        raise ValueError(f"Expected tags {wanted}, got {found}.")


@export("contrib.testing.to_summary_proto")
def to_summary_proto(summary_str: bytes) -> Summary:
    """Parses a summary.

    Args:
      summary_str: The serialized summary.

    Returns:
      The summary.
    """
    return Summary.FromString(summary_str)


@export("contrib.testing.latest_event_file")
def latest_event_file(base_dir: str) -> str | None:
    """Finds the newest file of events.

    Args:
      base_dir: The directory.

    Returns:
      The path, or None.
    """
    return max(glob.glob(os.path.join(base_dir, "events.*")), default=None)


@export("contrib.testing.latest_events")
def latest_events(base_dir: str) -> Iterable[Event]:
    """Reads the newest file of events.

    Args:
      base_dir: The directory.

    Returns:
      The events.
    """
    path = latest_event_file(base_dir)
    return tf.train.summary_iterator(path) if path else []


@export("contrib.testing.latest_summaries")
def latest_summaries(base_dir: str) -> list[Event]:
    """Reads the events with summaries from the newest file of events.

    Args:
      base_dir: The directory.

    Returns:
      The events.
    """
    return [event for event in latest_events(base_dir) if event.HasField("summary")]


@export("contrib.testing.simple_values_from_events")
def simple_values_from_events(events: Iterable[Event], tags: Iterable[str]) -> dict[str, float]:
    """Finds the newest numbers of tags.

    Args:
      events: The events.
      tags: The tags.

    Returns:
      The numbers by tag.

    Raises:
      ValueError: If a tag has no number.
    """
    wanted, found = set(tags), {}
    for event, value in _values(events):
        if value.tag not in wanted:
            continue
        if not value.HasField("simple_value"):
            raise ValueError(f"Summary for {value.tag} is not a simple_value.")
        if value.tag not in found or event.step > found[value.tag][0]:
            found[value.tag] = (event.step, value.simple_value)
    return {tag: number for tag, (_, number) in found.items()}


def _values(events: Iterable[Event]) -> Iterator[tuple[Event, Any]]:
    for event in events:
        if event.HasField("summary"):
            for value in event.summary.value:
                yield event, value


def _check_step(global_step: int | None) -> None:
    if global_step is not None and global_step < 0:
        raise ValueError(f"Invalid global_step {global_step}.")


@export("contrib.testing.FakeSummaryWriter")
class FakeSummaryWriter:
    """A summary writer that keeps what it is given, and writes nothing.

    Args:
      logdir: The directory, where others would write.
      graph: The graph.
    """

    _replaced: Any = None

    @classmethod
    def install(cls) -> None:
        """Takes the place of the writers that `tf.summary.FileWriterCache` makes.

        Raises:
          ValueError: If it has taken it already.
        """
        if cls._replaced:
            raise ValueError("FakeSummaryWriter already installed.")
        cls._replaced = writers.FileWriter
        writers.FileWriter = FakeSummaryWriter

    @classmethod
    def uninstall(cls) -> None:
        """Gives that place back.

        Raises:
          ValueError: If it has not taken it.
        """
        if not cls._replaced:
            raise ValueError("FakeSummaryWriter not installed.")
        writers.FileWriter, cls._replaced = cls._replaced, None

    def __init__(self, logdir: str, graph: Any = None):
        self._logdir, self._graph = logdir, graph
        self._summaries: dict[Any, list[Summary]] = {}
        self._added_graphs: list[Any] = []
        self._added_meta_graphs: list[Any] = []
        self._added_session_logs: list[Any] = []
        self._added_run_metadata: dict[str, Any] = {}

    @property
    def summaries(self) -> dict[Any, list[Summary]]:
        """The summaries by step."""
        return self._summaries

    def assert_summaries(
        self,
        test_case: Any,
        expected_logdir: str | None = None,
        expected_graph: Any = None,
        expected_summaries: Mapping[int, Mapping[str, float]] | None = None,
        expected_added_graphs: list[Any] | None = None,
        expected_added_meta_graphs: list[Any] | None = None,
        expected_session_logs: list[Any] | None = None,
    ) -> None:
        """Checks what was added.

        Args:
          test_case: The test, with its assertions.
          expected_logdir: The directory.
          expected_graph: The graph that it was made with.
          expected_summaries: The numbers by step and tag.
          expected_added_graphs: The graphs.
          expected_added_meta_graphs: The meta graphs.
          expected_session_logs: The session logs.
        """
        if expected_logdir is not None:
            test_case.assertEqual(expected_logdir, self._logdir)
        if expected_graph is not None:
            test_case.assertTrue(expected_graph is self._graph)
        for step, expected in (expected_summaries or {}).items():
            test_case.assertTrue(
                step in self._summaries, msg=f"Missing step {step} from {self._summaries.keys()}."
            )
            found = {
                value.tag: value.simple_value
                for summary in self._summaries[step]
                for value in summary.value
                if value.tag != "global_step/sec"
            }
            test_case.assertEqual(expected, found)
        if expected_added_graphs is not None:
            test_case.assertEqual(expected_added_graphs, self._added_graphs)
        if expected_added_meta_graphs is not None:
            test_case.assertEqual(expected_added_meta_graphs, self._added_meta_graphs)
        if expected_session_logs is not None:
            test_case.assertEqual(expected_session_logs, self._added_session_logs)

    def add_summary(self, summ: Summary | bytes, current_global_step: int) -> None:
        """Keeps a summary.

        Args:
          summ: The summary, serialized or not.
          current_global_step: The step.
        """
        summary = Summary.FromString(summ) if isinstance(summ, bytes) else summ
        self._summaries.setdefault(current_global_step, []).append(summary)

    def add_graph(self, graph: Any, global_step: int | None = None, graph_def: Any = None) -> None:
        """Keeps a graph.

        Args:
          graph: The graph.
          global_step: The step.
          graph_def: None.

        Raises:
          ValueError: If the step is negative, or there is a GraphDef.
        """
        _check_step(global_step)
        if graph_def is not None:
            raise ValueError(f"Unexpected graph_def {graph_def}.")
        self._added_graphs.append(graph)

    def add_meta_graph(self, meta_graph_def: Any, global_step: int | None = None) -> None:
        """Keeps a meta graph.

        Args:
          meta_graph_def: The MetaGraphDef.
          global_step: The step.

        Raises:
          ValueError: If the step is negative.
        """
        _check_step(global_step)
        self._added_meta_graphs.append(meta_graph_def)

    def add_session_log(self, session_log: Any, global_step: int | None = None) -> None:
        """Keeps a session log.

        Args:
          session_log: The SessionLog.
          global_step: The step.
        """
        self._added_session_logs.append(session_log)

    def add_run_metadata(self, run_metadata: Any, tag: str, global_step: int | None = None) -> None:
        """Keeps the metadata of a step.

        Args:
          run_metadata: The RunMetadata.
          tag: Its name.
          global_step: The step.

        Raises:
          ValueError: If the step is negative.
        """
        _check_step(global_step)
        self._added_run_metadata[tag] = run_metadata

    def flush(self) -> None:
        """Does nothing."""

    def reopen(self) -> None:
        """Does nothing."""

    def close(self) -> None:
        """Does nothing."""
