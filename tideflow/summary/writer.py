"""FileWriter: events into a file that TensorBoard reads, written by a thread of its own."""

from __future__ import annotations

import logging
import os
import queue
import threading
import time
import warnings
import weakref
from typing import TYPE_CHECKING, Any, ClassVar

from tensorboard.compat.proto.config_pb2 import RunMetadata
from tensorboard.compat.proto.event_pb2 import Event, SessionLog, TaggedRunMetadata
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.meta_graph_pb2 import MetaGraphDef
from tensorboard.compat.proto.summary_pb2 import Summary

from tideflow.export import export
from tideflow.graph.graph import Graph
from tideflow.graph.scopes import get_default_graph, refuse_eagerly
from tideflow.interrupts import deferred
from tideflow.io.events import EventFile
from tideflow.io.local_files import as_tensorflow_errors, local_path
from tideflow.summary.plugin_assets import write_plugin_assets
from tideflow.variables.meta_graph import export_meta_graph

if TYPE_CHECKING:
    from tideflow.graph.typing import PathLike, SessionLike, TensorLike

_log = logging.getLogger("tensorflow")


class _Pen:
    """A thread that writes what is put into its queue, until it is told to end.

    It knows nothing of the writer it serves: one that nobody holds any more is collected, and ends it.
    """

    def __init__(self, file: EventFile, pending: queue.Queue, flush_secs: float):
        self._file, self._pending, self._flush_secs = file, pending, flush_secs
        self.failure: Exception | None = None
        self._thread = threading.Thread(target=self._write, name="tideflow-events", daemon=True)
        self._thread.start()

    def _write(self) -> None:
        next_flush = 0.0  # the first event can be seen at once
        while (event := self._pending.get()) is not None:
            try:
                if self.failure is None:  # else, events are dropped: whoever adds them must not wait for ever
                    self._file.write(event)
                    if time.monotonic() >= next_flush:
                        self._file.flush()
                        next_flush = time.monotonic() + self._flush_secs
            except Exception as error:
                self.failure = error
            finally:
                self._pending.task_done()
        self._pending.task_done()

    def end(self) -> None:
        """Everything put so far is in the file, which is closed, afterwards."""
        if (
            threading.current_thread() is self._thread
        ):  # it collected its own writer, and cannot wait for itself
            threading.Thread(target=self.end, name="tideflow-events-end").start()
            return
        self._pending.put(None)
        self._thread.join()
        self._file.close()


class EventFileWriter:
    """Puts events into a file of a directory, in the background."""

    def __init__(
        self, logdir: Any, max_queue: int = 10, flush_secs: float = 120, filename_suffix: str | None = None
    ):
        self._logdir = os.fsdecode(logdir)
        path = local_path(logdir) or os.curdir
        with as_tensorflow_errors(path):
            os.makedirs(path, exist_ok=True)
        self._file = EventFile(path, filename_suffix or "")
        if filename_suffix:
            self._file.open()
        self._pending: queue.Queue = queue.Queue(max_queue)
        self._flush_secs = flush_secs
        self._start()

    @deferred
    def _start(self) -> None:
        self._pen = _Pen(self._file, self._pending, self._flush_secs)
        self._end = weakref.finalize(self, self._pen.end)  # also when the process ends
        _writers.add(self)

    @property
    def closed(self) -> bool:
        return not self._end.alive

    def get_logdir(self) -> str:
        """The directory of the file."""
        return self._logdir

    @deferred
    def add_event(self, event: Event) -> None:
        """Adds an event, unless the writer is closed; waits while too many are pending."""
        if not self.closed:
            self._pending.put(event)

    @deferred
    def flush(self) -> None:
        """What was added is in the file afterwards; a failure to write it is raised here."""
        if self.closed:
            return
        self._pending.join()
        self._raise_failure()
        self._file.flush()

    @deferred
    def close(self) -> None:
        """Writes what is pending and ends the file and the thread."""
        self._end()
        self._raise_failure()

    def _raise_failure(self) -> None:
        failure, self._pen.failure = self._pen.failure, None
        if failure is not None:
            raise failure

    def reopen(self) -> None:
        """After `close`, the events that follow go to a new file."""
        if self.closed:
            self._start()


_writers: weakref.WeakSet[EventFileWriter] = weakref.WeakSet()


def _after_fork() -> None:
    """The threads that write are the parent's: in a child their writers are closed, until reopened."""
    for writer in list(_writers):
        writer._end.detach()
        writer._file.forget()
        writer._pending = queue.Queue(writer._pending.maxsize)
    FileWriterCache._lock = threading.RLock()


os.register_at_fork(after_in_child=_after_fork)


class SummaryWriter:
    """Makes events of summaries, graphs and logs, and hands them to a writer of events."""

    def __init__(self, event_writer: EventFileWriter, graph: Any = None, graph_def: Any = None):
        self.event_writer = event_writer
        self._run_tags: set[str] = set()
        self._described_tags: set[str] = set()
        if graph is not None or graph_def is not None:
            self.add_graph(graph=graph, graph_def=graph_def)
            given = graph if graph_def is None else graph_def
            nodes = {"graph": given} if isinstance(given, Graph) else {"graph_def": given}
            self.add_meta_graph(export_meta_graph(**nodes))

    def add_summary(self, summary: bytes | Summary, global_step: TensorLike | None = None) -> None:
        """Adds what a summary op gave, or a Summary made by hand.

        TensorBoard needs the metadata of a tag once: they stay with its first value only.

        Args:
          summary: The Summary message, serialized or not.
          global_step: The step that it is of; None for none.
        """
        if isinstance(summary, bytes):
            summary = Summary.FromString(summary)
        for value in summary.value:
            if value.tag in self._described_tags:
                value.ClearField("metadata")
            elif value.HasField("metadata"):
                self._described_tags.add(value.tag)
        self._add_event(Event(summary=summary), global_step)

    def add_session_log(self, session_log: SessionLog, global_step: TensorLike | None = None) -> None:
        """Adds that a session started, stopped or saved a checkpoint.

        Args:
          session_log: The SessionLog message.
          global_step: The step that it is of; None for none.
        """
        self._add_event(Event(session_log=session_log), global_step)

    def add_graph(
        self,
        graph: Graph | GraphDef | None,
        global_step: TensorLike | None = None,
        graph_def: GraphDef | None = None,
    ) -> None:
        """Adds a graph, with the shapes of its tensors.

        Args:
          graph: The graph.
          global_step: The step that it is of; None for none.
          graph_def: A deprecated way to give a GraphDef.

        Raises:
          TypeError: If it is neither a Graph nor a GraphDef.
        """
        if graph is not None and graph_def is not None:
            raise ValueError("Please pass only graph, or graph_def (deprecated), but not both.")
        nodes = _nodes(graph if graph_def is None else graph_def)
        self._add_event(Event(graph_def=nodes.SerializeToString()), global_step)
        if isinstance(graph, Graph):
            write_plugin_assets(graph, local_path(self.event_writer.get_logdir()))

    def add_meta_graph(self, meta_graph_def: MetaGraphDef, global_step: TensorLike | None = None) -> None:
        """Adds a MetaGraphDef.

        Args:
          meta_graph_def: The message.
          global_step: The step that it is of; None for none.

        Raises:
          TypeError: If it is no MetaGraphDef.
        """
        if not isinstance(meta_graph_def, MetaGraphDef):
            raise TypeError(f"meta_graph_def must be type MetaGraphDef, saw type: {type(meta_graph_def)}")
        self._add_event(Event(meta_graph_def=meta_graph_def.SerializeToString()), global_step)

    def add_run_metadata(
        self, run_metadata: RunMetadata, tag: str, global_step: TensorLike | None = None
    ) -> None:
        """Adds what is known of one `session.run`, under a tag of its own.

        Args:
          run_metadata: The RunMetadata message.
          tag: The tag.
          global_step: The step that it is of; None for none.

        Raises:
          ValueError: If the tag was used before.
        """
        if tag in self._run_tags:
            raise ValueError("The provided tag was already used for this event type")
        self._run_tags.add(tag)
        tagged = TaggedRunMetadata(tag=tag, run_metadata=run_metadata.SerializeToString())
        self._add_event(Event(tagged_run_metadata=tagged), global_step)

    def _add_event(self, event: Event, step: Any) -> None:
        event.wall_time = time.time()
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)


def _nodes(graph: Any) -> GraphDef:
    if isinstance(graph, Graph):
        return graph.as_graph_def(add_shapes=True)
    if isinstance(graph, GraphDef):
        _log.warning(
            "Passing a `GraphDef` to the SummaryWriter is deprecated. Pass a `Graph` object instead, such as "
            "`sess.graph`."
        )
        return graph
    raise TypeError("The passed graph must be an instance of `Graph` or the deprecated `GraphDef`")


# Writers that were asked for with a session: one file for each of its directories.
_of_sessions: weakref.WeakKeyDictionary[Any, dict[str, EventFileWriter]] = weakref.WeakKeyDictionary()


@export("summary.FileWriter")
class FileWriter(SummaryWriter):
    """Writes summaries and other events into a new event file, in a background thread.

    A `with` block closes the file at its end.

    Args:
      logdir: The directory.
      graph: A graph to write at the start.
      max_queue: The number of events that may wait for the thread.
      flush_secs: The interval of flushes in seconds.
      graph_def: An older form of `graph`.
      filename_suffix: The suffix of the file's name.
      session: If given, events are written by operations of this session.

    Raises:
      RuntimeError: In eager mode; or if `session` is given, but there is no graph.
    """

    _is_of_graphs = True

    def __init__(
        self,
        logdir: PathLike | None,
        graph: Graph | GraphDef | None = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        graph_def: GraphDef | None = None,
        filename_suffix: str | None = None,
        session: SessionLike | None = None,
    ):
        if self._is_of_graphs:
            refuse_eagerly(
                "tf.summary.FileWriter is not compatible with eager execution. Use tf.contrib.summary "
                "instead."
            )
        writers = {} if session is None else _of_sessions.setdefault(session, {})
        writer = writers.get(os.fsdecode(logdir))
        if writer is None or writer.closed:
            writer = EventFileWriter(logdir, max_queue, flush_secs, filename_suffix)
            writers[writer.get_logdir()] = writer
        super().__init__(writer, graph, graph_def)

    def __enter__(self) -> FileWriter:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()

    def get_logdir(self) -> str:
        """The directory of the file."""
        return self.event_writer.get_logdir()

    def _warn_if_closed(self) -> None:
        if self.event_writer.closed:
            warnings.warn(
                "Attempting to use a closed FileWriter. The operation will be a noop unless the FileWriter "
                "is explicitly reopened.",
                stacklevel=3,
            )

    def _add_event(self, event: Event, step: Any) -> None:
        self._warn_if_closed()
        super()._add_event(event, step)

    def add_event(self, event: Event) -> None:
        """Adds an event.

        Args:
          event: An Event message.
        """
        self._warn_if_closed()
        self.event_writer.add_event(event)

    def flush(self) -> None:
        """Writes all events so far to the file."""
        self._warn_if_closed()
        self.event_writer.flush()

    def close(self) -> None:
        """Writes all events so far and closes the file."""
        self.event_writer.close()

    def reopen(self) -> None:
        """Makes a new file in the same directory for events after `close`."""
        self.event_writer.reopen()


@export("summary.FileWriterCache")
class FileWriterCache:
    """A cache of writers, one for each directory."""

    _cache: ClassVar[dict[str, FileWriter]] = {}
    _lock = threading.RLock()

    @staticmethod
    def clear() -> None:
        """Closes and removes all writers."""
        with FileWriterCache._lock:
            for writer in FileWriterCache._cache.values():
                writer.close()
            FileWriterCache._cache.clear()

    @staticmethod
    def get(logdir: str) -> FileWriter:
        """Gets the writer of a directory, and makes it if there is none.

        Args:
          logdir: The directory.

        Returns:
          The FileWriter.
        """
        with FileWriterCache._lock:
            if logdir not in FileWriterCache._cache:
                FileWriterCache._cache[logdir] = FileWriter(logdir, graph=get_default_graph())
            return FileWriterCache._cache[logdir]
