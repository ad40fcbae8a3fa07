"""QueueRunner: threads that fill a queue, one for each of its enqueue operations."""

from __future__ import annotations

import contextlib
import logging
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph.collection_protos import register_proto_function
from tideflow.graph.errors import CancelledError, OutOfRangeError
from tideflow.graph.operation import Operation
from tideflow.graph.queue_runner_proto import QueueRunnerDef
from tideflow.graph.scopes import GraphKeys, get_default_graph, refuse_eagerly
from tideflow.graph.stacks import default_sessions
from tideflow.interrupts import deferred
from tideflow.queues.base import QueueBase
from tideflow.runtime.ending import wait_at_exit
from tideflow.train.coordinator import Coordinator

if TYPE_CHECKING:
    from tideflow.graph.typing import SessionLike

_log = logging.getLogger("tensorflow")
_codes = {kind(None, None, "").error_code: kind for kind in (CancelledError, OutOfRangeError)}


@export("train.QueueRunner", "train.queue_runner.QueueRunner")
class QueueRunner:
    """Runs enqueue operations in threads until the coordinator stops or the data ends; closes the queue.

    Args:
      queue: The queue.
      enqueue_ops: The operations; each runs in a thread of its own.
      close_op: The operation that closes the queue; made if None.
      cancel_op: The operation that closes the queue and cancels pending enqueues; made if None.
      queue_closed_exception_types: Exceptions that mean that the queue is closed; OutOfRangeError if None.
      queue_runner_def: A QueueRunnerDef message, which replaces the arguments above.
      import_scope: The name scope under which the operations of the message were imported.

    Raises:
      ValueError: If the arguments contradict each other, or the queue or the operations are missing.
    """

    _is_awaited = True  # whether a coordinator that stops waits for its threads

    def __init__(
        self,
        queue: QueueBase | None = None,
        enqueue_ops: Sequence[Operation] | None = None,
        close_op: Operation | None = None,
        cancel_op: Operation | None = None,
        queue_closed_exception_types: tuple[type[BaseException], ...] | None = None,
        queue_runner_def: Any = None,
        import_scope: str | None = None,
    ):
        refuse_eagerly(
            "QueueRunners are not supported when eager execution is enabled. Instead, please use tf.data to "
            "get data into your model."
        )
        if queue_runner_def is not None:
            if queue or enqueue_ops:
                raise ValueError("queue_runner_def and queue are mutually exclusive.")
            self._init_from_proto(queue_runner_def, import_scope)
            return
        if not queue or not enqueue_ops:
            raise ValueError("Must provide queue and enqueue_ops.")
        if queue_closed_exception_types is not None and (
            not isinstance(queue_closed_exception_types, tuple)
            or not queue_closed_exception_types
            or not all(isinstance(t, type) and issubclass(t, Exception) for t in queue_closed_exception_types)
        ):
            raise TypeError(
                "queue_closed_exception_types, when provided, must be a tuple of tf.error types, but saw: "
                f"{queue_closed_exception_types}"
            )
        self._queue_closed_exception_types = queue_closed_exception_types or (OutOfRangeError,)
        self._queue: Any = queue
        self._enqueue_ops = list(enqueue_ops)
        self._close_op = queue.close() if close_op is None else close_op
        self._cancel_op = queue.close(cancel_pending_enqueues=True) if cancel_op is None else cancel_op
        self._start()

    def _start(self) -> None:
        self._lock = threading.Lock()
        self._runs_per_session: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()
        self._exceptions_raised: list[BaseException] = []

    def _init_from_proto(self, message: Any, import_scope: str | None) -> None:
        graph, prefix = get_default_graph(), f"{import_scope}/" if import_scope else ""

        def element(name: str) -> Any:
            return graph.as_graph_element(prefix + name)

        self._queue = element(message.queue_name)
        self._enqueue_ops = [element(name) for name in message.enqueue_op_name]
        self._close_op, self._cancel_op = element(message.close_op_name), element(message.cancel_op_name)
        types = tuple(_codes[code] for code in message.queue_closed_exception_types if code in _codes)
        self._queue_closed_exception_types = types or (OutOfRangeError,)
        self._start()

    @property
    def queue(self) -> QueueBase:
        """The queue."""
        return self._queue

    @property
    def enqueue_ops(self) -> list[Operation]:
        """The operations that threads run."""
        return self._enqueue_ops

    @property
    def close_op(self) -> Operation:
        """The operation that closes the queue."""
        return self._close_op

    @property
    def cancel_op(self) -> Operation:
        """The operation that closes the queue and cancels pending enqueues."""
        return self._cancel_op

    @property
    def queue_closed_exception_types(self) -> tuple[type[Exception], ...]:
        """The exceptions that mean that the queue is closed."""
        return self._queue_closed_exception_types

    @property
    def exceptions_raised(self) -> list[BaseException]:
        """The exceptions of threads that have no coordinator."""
        return self._exceptions_raised

    @property
    def name(self) -> str:
        """The name of the queue."""
        return self._queue.name

    @deferred
    def create_threads(
        self, sess: SessionLike, coord: Coordinator | None = None, daemon: bool = False, start: bool = False
    ) -> list[threading.Thread]:
        """Makes a thread for each enqueue operation, and one that closes the queue at the stop.

        Args:
          sess: The session to run the operations in.
          coord: The coordinator of the threads; without one, exceptions are collected in `exceptions_raised`.
          daemon: Whether the threads are daemon threads.
          start: Whether the threads are started.

        Returns:
          The threads; none if they exist for the session.
        """
        with self._lock:
            if self._runs_per_session.get(sess, 0) > 0:
                return []  # they run already
            self._runs_per_session[sess] = len(self._enqueue_ops)
            self._exceptions_raised = []
        threads = [
            threading.Thread(
                target=self._fill, args=(sess, i, coord), name=f"QueueRunnerThread-{self.name}-{op.name}"
            )
            for i, op in enumerate(self._enqueue_ops)
        ]
        if coord is not None:
            threads.append(
                threading.Thread(
                    target=self._close_on_stop,
                    args=(sess, coord),
                    name=f"QueueRunnerThread-{self.name}-close_on_stop",
                )
            )
        for thread in threads:
            if coord is not None and self._is_awaited:
                coord.register_thread(thread)
            thread.daemon = daemon or not self._is_awaited
            wait_at_exit(thread)
            if start:
                thread.start()
        return threads

    def _step(self, sess: Any, number: int) -> Callable[[], Any]:
        """What a thread does again and again."""
        return sess.make_callable(self._enqueue_ops[number])

    def _fill(self, sess: Any, number: int, coord: Coordinator | None) -> None:
        running = True
        try:
            enqueue = self._step(sess, number)
            while coord is None or not coord.should_stop():
                try:
                    enqueue()
                except self._queue_closed_exception_types:  # the end of the data
                    with self._lock:
                        running = False
                        self._runs_per_session[sess] -= 1
                        last = not self._runs_per_session[sess]
                    if last:
                        with contextlib.suppress(Exception):
                            sess.run(self._close_op)
                    return
        except Exception as error:
            self._note(error, sess, coord)
        finally:
            if running:
                with self._lock:
                    self._runs_per_session[sess] -= 1

    def _note(self, error: Exception, sess: Any, coord: Coordinator | None) -> None:
        if coord is not None:
            is_the_end = isinstance(error, CancelledError) or not self._is_awaited
            if not (is_the_end and coord.should_stop()):
                coord.request_stop(error)
            return
        if not isinstance(error, CancelledError) and not getattr(sess, "_closed", False):
            _log.error("Exception in QueueRunner: %s", error)
        with self._lock:
            self._exceptions_raised.append(error)

    def _close_on_stop(self, sess: Any, coord: Coordinator) -> None:
        coord.wait_for_stop()
        with contextlib.suppress(Exception):  # the session may be closed already, and the queue with it
            sess.run(self._cancel_op)

    def to_proto(self, export_scope: str | None = None) -> Any:
        """Converts the queue runner to a QueueRunnerDef message.

        Args:
          export_scope: A name scope, which is removed from the names in the message.

        Returns:
          The message, or None if the queue is not in the scope.
        """
        prefix = f"{export_scope}/" if export_scope else ""
        message = QueueRunnerDef()
        message.queue_name = self.queue.name.removeprefix(prefix)
        message.enqueue_op_name.extend(op.name.removeprefix(prefix) for op in self._enqueue_ops)
        message.close_op_name = self._close_op.name.removeprefix(prefix)
        message.cancel_op_name = self._cancel_op.name.removeprefix(prefix)
        codes = {kind: code for code, kind in _codes.items()}
        message.queue_closed_exception_types.extend(
            codes[kind] for kind in self._queue_closed_exception_types if kind in codes
        )
        return message

    @staticmethod
    def from_proto(queue_runner_def: Any, import_scope: str | None = None) -> QueueRunner:
        """Makes a queue runner from a QueueRunnerDef message.

        Args:
          queue_runner_def: The message.
          import_scope: The name scope under which the operations were imported.

        Returns:
          The queue runner.
        """
        return QueueRunner(queue_runner_def=queue_runner_def, import_scope=import_scope)


@export("train.add_queue_runner", "train.queue_runner.add_queue_runner")
def add_queue_runner(qr: QueueRunner, collection: str = GraphKeys.QUEUE_RUNNERS) -> None:
    """Adds a queue runner to a collection, so that `tf.train.start_queue_runners` starts it.

    Args:
      qr: The queue runner.
      collection: The collection's key.
    """
    get_default_graph().add_to_collection(collection, qr)


@export("train.start_queue_runners", "train.queue_runner.start_queue_runners")
def start_queue_runners(
    sess: SessionLike | None = None,
    coord: Coordinator | None = None,
    daemon: bool = True,
    start: bool = True,
    collection: str = GraphKeys.QUEUE_RUNNERS,
) -> list[threading.Thread]:
    """Starts the threads of all queue runners in a collection.

    Args:
      sess: The session to run in; the default session if None.
      coord: The coordinator of the threads.
      daemon: Whether the threads are daemon threads.
      start: Whether the threads are started, or only made.
      collection: The collection's key.

    Returns:
      The threads.

    Raises:
      ValueError: If there is no session.
    """
    refuse_eagerly("Queues are not compatible with eager execution.")
    sess = default_sessions.top() if sess is None else sess
    if sess is None:
        raise ValueError(
            "Cannot start queue runners: No default session is registered. Use `with sess.as_default()` or "
            "pass an explicit session to tf.start_queue_runners(sess=sess)"
        )
    if type(sess).__name__ in ("MonitoredSession", "SingularMonitoredSession"):
        return []  # it has started them itself
    if not hasattr(sess, "run") or not hasattr(sess, "graph"):
        raise TypeError(f"sess must be a `tf.Session` object. Given class: {type(sess)}")
    with sess.graph.as_default():
        runners = get_default_graph().get_collection(collection)
    threads = []
    for runner in runners:
        threads += runner.create_threads(sess, coord=coord, daemon=daemon, start=start)
    return threads


register_proto_function(GraphKeys.QUEUE_RUNNERS, QueueRunnerDef, QueueRunner.from_proto)
