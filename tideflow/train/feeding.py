"""A queue that is filled with what Python functions give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tideflow.export import export
from tideflow.graph.errors import CancelledError, OutOfRangeError
from tideflow.graph.operation import Operation
from tideflow.queues.base import QueueBase
from tideflow.train.queue_runner import QueueRunner


@export("contrib.training.FeedingQueueRunner")
class FeedingQueueRunner(QueueRunner):
    """A QueueRunner whose steps are fed: each enqueue operation has a function that makes its feed_dict.

    Args:
      queue: The queue.
      enqueue_ops: The operations that fill the queue, a thread for each.
      close_op: The operation that closes the queue.
      cancel_op: The operation that closes the queue and cancels what waits in it.
      feed_fns: For each enqueue operation, a function without arguments that makes its feed_dict.
      queue_closed_exception_types: Exceptions that mean that the queue is closed; OutOfRangeError if None.

    Raises:
      ValueError: If there are not as many functions as enqueue operations.
    """

    def __init__(
        self,
        queue: QueueBase | None = None,
        enqueue_ops: Sequence[Operation] | None = None,
        close_op: Operation | None = None,
        cancel_op: Operation | None = None,
        feed_fns: Sequence[Callable[[], dict] | None] | None = None,
        queue_closed_exception_types: tuple[type[BaseException], ...] | None = None,
    ):
        closed = queue_closed_exception_types or (OutOfRangeError, CancelledError)
        super().__init__(queue, enqueue_ops, close_op, cancel_op, queue_closed_exception_types=closed)
        if feed_fns is not None and len(feed_fns) != len(self.enqueue_ops):
            raise ValueError("If feed_fns is not None, it must have the same length as enqueue_ops.")
        self._feed_fns = list(feed_fns or [None] * len(self.enqueue_ops))

    def _step(self, sess: Any, number: int) -> Callable[[], Any]:
        feeds = self._feed_fns[number]
        if feeds is None:
            return super()._step(sess, number)
        return lambda: sess.run(self.enqueue_ops[number], feeds())

    def to_proto(self, export_scope: str | None = None) -> Any:
        """Refuses: functions of Python cannot be written down.

        Args:
          export_scope: Not used.
        """
        raise NotImplementedError(f"{type(self).__name__} does not support serialization to proto.")
