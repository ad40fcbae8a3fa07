"""Which function handles which kind of message, and on which thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tideflow.cluster.listener import Reply
from tideflow.cluster.messages import A, Message
from tideflow.cluster.protocol import Sender
from tideflow.cluster.wire import failure_of
from tideflow.cluster.worker_threads import WorkerThreads
from tideflow.graph import errors


class Dispatch:
    """Calls the handler of each message that a listener receives. Handlers run on the listener's thread and
    must be quick; those of `on_slow_request` run on a worker thread.
    """

    def __init__(self, threads: WorkerThreads):
        self._threads = threads
        self._posts: dict[type[Message], Callable[[Any, Sender], None]] = {}
        self._requests: dict[type[Message], Callable[[Any, Reply], None]] = {}

    def on_post(self, kind: type[A], handler: Callable[[A, Sender], None]) -> None:
        """`handler` takes messages whose sender waits for no answer, and the sender."""
        self._posts[kind] = handler

    def on_request(self, kind: type[A], handler: Callable[[A, Reply], None]) -> None:
        """`handler` answers by the reply that it is given, at once or later."""
        self._requests[kind] = handler

    def on_slow_request(self, kind: type[A], handler: Callable[[A], Message]) -> None:
        """`handler` returns the answer, and may take any time."""
        self._requests[kind] = lambda message, reply: self._threads.submit(_answer, handler, message, reply)

    def __call__(self, message: Message, reply: Reply | None, sender: Sender) -> None:
        """Handles a message; `reply` is None if its sender waits for no answer."""
        if reply is None:
            post = self._posts.get(type(message))
            if post is not None:
                post(message, sender)
                return
        else:
            request = self._requests.get(type(message))
            if request is not None:
                request(message, reply)
                return
        raise errors.invalid_argument(f"'{message.kind}' is nothing that a task is asked for.")


def _answer(handler: Callable[[A], Message], message: A, reply: Reply) -> None:
    try:
        answer = handler(message)
    except Exception as error:
        answer = failure_of(error)
    reply(answer)
