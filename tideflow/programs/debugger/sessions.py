"""Sessions and hooks of the debugger: they show the values of steps on a terminal, or write them to files."""

from __future__ import annotations

import abc
import contextlib
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from tideflow.graph.errors import OpError
from tideflow.graph.stacks import default_sessions
from tideflow.programs.debugger.dumps import Datum, Dump, has_inf_or_nan, write
from tideflow.programs.debugger.terminal import Terminal, run_info
from tideflow.programs.debugger.watching import Recorder, check_watchable, wanted_by, watching
from tideflow.train.session_run_hook import SessionRunArgs, SessionRunHook


class WatchOptions(NamedTuple):
    """Which values are kept: what a `watch_fn` gives.

    Args:
      debug_ops: Accepted for TensorFlow's sake: values are kept as they are.
      node_name_regex_whitelist: An expression that names of operations match.
      op_type_regex_whitelist: An expression that types of operations match.
      tensor_dtype_regex_whitelist: An expression that types of values match.
      tolerate_debug_op_creation_failures: Accepted for TensorFlow's sake.
    """

    debug_ops: Any = "DebugIdentity"
    node_name_regex_whitelist: str | None = None
    op_type_regex_whitelist: str | None = None
    tensor_dtype_regex_whitelist: str | None = None
    tolerate_debug_op_creation_failures: bool = False


class _Conversation:
    """What the terminal is told, step by step, and how far steps run by themselves."""

    def __init__(self) -> None:
        self.filters: dict[str, Callable] = {"has_inf_or_nan": has_inf_or_nan}
        self._terminal = Terminal(self.filters)
        self._count = 0
        self._unwatched = 0  # steps that the user lets run
        self._until: str | None = None  # the filter that stops them

    def before(self, graph: Any, fetches: Any, feeds: Any) -> bool:
        """Whether the next step is watched."""
        self._count += 1
        if self._until is not None:
            return True
        if not self._unwatched:
            opening = f"--- run-start: run #{self._count} ---\n{run_info(fetches, feeds)}"
            self._ask(opening, Dump([], graph.as_graph_def()), graph, fetches, feeds)
        if not self._unwatched:
            return True
        self._unwatched -= 1
        return False

    def after(self, data: list[Datum], graph: Any, fetches: Any, feeds: Any, error: Any = None) -> None:
        """Shows a step that was watched."""
        dump = Dump(data, graph.as_graph_def())
        waits = self._until is not None and error is None
        if waits and not dump.find(self.filters[self._until], first_n=1):
            return
        ending = f"run #{self._count}: {dump.size} dumped tensor(s)"
        opening = f"--- run-end: {ending} ---"
        if error is not None:
            opening = f"--- run-end: {ending}; an ERROR occurred ---\n{error}"
        self._until = None
        self._ask(opening, dump, graph, fetches, feeds)

    def _ask(self, opening: str, dump: Dump, graph: Any, fetches: Any, feeds: Any) -> None:
        words = self._terminal.talk(opening, dump, graph, fetches, feeds)
        if words is None:
            sys.exit(1)
        if words[:1] == ["-f"]:
            self._until = words[1]
        elif words:
            self._unwatched = 1 if words == ["-n"] else int(words[1])


class _Wrapper(abc.ABC):
    """A session around another: what it does not do itself, the other does."""

    def __init__(self, sess: Any, thread_name_filter: str | None = None):
        check_watchable(sess)
        self._sess = sess
        self._threads = re.compile(thread_name_filter) if thread_name_filter else None
        self._entered: list[contextlib.ExitStack] = []

    @property
    def session(self) -> Any:
        """The session that is wrapped."""
        return self._sess

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sess, name)

    @contextlib.contextmanager
    def as_default(self) -> Iterator[Any]:
        """`eval()` and `run()` of tensors and operations use this session inside the block."""
        with default_sessions.pushed(self):
            yield self

    def __enter__(self) -> Any:
        stack = contextlib.ExitStack()
        stack.enter_context(self._sess.graph.as_default())
        stack.enter_context(self.as_default())
        self._entered.append(stack)
        return self

    def __exit__(self, *exc: Any) -> None:
        self._entered.pop().close()
        self._sess.close()

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """As `tf.Session.run`, but watched.

        Args:
          fetches: As of `tf.Session.run`.
          feed_dict: As of `tf.Session.run`.
          options: As of `tf.Session.run`.
          run_metadata: As of `tf.Session.run`.

        Returns:
          As of `tf.Session.run`.
        """

        def step() -> Any:
            return self._sess.run(fetches, feed_dict, options, run_metadata)

        if self._threads is not None and not self._threads.match(threading.current_thread().name):
            return step()
        return self._watched(step, fetches, feed_dict)

    def make_callable(self, fetches: Any, feed_list: Any = None, accept_options: bool = False) -> Callable:
        """As `tf.Session.make_callable`; the function's steps are watched."""
        keys = list(feed_list or ())

        def call(*values: Any, options: Any = None, run_metadata: Any = None) -> Any:
            return self.run(fetches, dict(zip(keys, values, strict=True)), options, run_metadata)

        return call

    @abc.abstractmethod
    def _watched(self, step: Callable[[], Any], fetches: Any, feed_dict: Any) -> Any:
        """Runs a step and keeps its values."""


class LocalCLIDebugWrapperSession(_Wrapper):
    """A session that stops before and after each step, and answers questions about it on the terminal.

    Args:
      sess: The session.
      dump_root: Accepted for TensorFlow's sake: values are kept in memory.
      log_usage: Accepted for TensorFlow's sake.
      ui_type: Accepted for TensorFlow's sake: there is one terminal.
      thread_name_filter: An expression that names of threads match whose steps are watched; all if None.
      config_file_path: Accepted for TensorFlow's sake.
    """

    def __init__(
        self,
        sess: Any,
        dump_root: str | None = None,
        log_usage: bool = True,
        ui_type: str = "curses",
        thread_name_filter: str | None = None,
        config_file_path: Any = False,
    ):
        super().__init__(sess, thread_name_filter)
        self._conversation = _Conversation()

    def add_tensor_filter(self, filter_name: str, tensor_filter: Callable) -> None:
        """Adds a filter for `lt -f` and `run -f`.

        Args:
          filter_name: Its name.
          tensor_filter: A function of what is known about a value and of the value, to a boolean.
        """
        self._conversation.filters[filter_name] = tensor_filter

    def _watched(self, step: Callable[[], Any], fetches: Any, feed_dict: Any) -> Any:
        graph = self._sess.graph
        if not self._conversation.before(graph, fetches, feed_dict):
            return step()
        recorder = Recorder(wanted_by())
        try:
            with watching(self._sess, recorder):
                result = step()
        except OpError as error:
            self._conversation.after(recorder.data, graph, fetches, feed_dict, error)
            raise
        self._conversation.after(recorder.data, graph, fetches, feed_dict)
        return result


class DumpingDebugWrapperSession(_Wrapper):
    """A session that writes the values of each step to files, in a folder of its own: `run_<time>_<number>`.

    Args:
      sess: The session.
      session_root: The folder of all steps.
      watch_fn: A function of fetches and feeds to `WatchOptions`; all values are written if None.
      thread_name_filter: An expression that names of threads match whose steps are watched; all if None.
      pass_through_operrors: Accepted for TensorFlow's sake: errors are always raised.
      log_usage: Accepted for TensorFlow's sake.
    """

    def __init__(
        self,
        sess: Any,
        session_root: str,
        watch_fn: Callable | None = None,
        thread_name_filter: str | None = None,
        pass_through_operrors: bool | None = None,
        log_usage: bool = True,
    ):
        super().__init__(sess, thread_name_filter)
        self._files = _Files(session_root, watch_fn)

    def _watched(self, step: Callable[[], Any], fetches: Any, feed_dict: Any) -> Any:
        recorder = self._files.recorder(fetches, feed_dict)
        try:
            with watching(self._sess, recorder):
                return step()
        finally:
            self._files.keep(recorder, self._sess.graph, (fetches, feed_dict))


class _Files:
    """The folders of the steps of a session."""

    def __init__(self, root: str, watch_fn: Callable | None):
        if os.path.isfile(root):
            raise ValueError(f"session_root path points to a file: {root}")
        self._root, self._watch_fn, self._count = root, watch_fn, 0

    def recorder(self, fetches: Any, feeds: Any) -> Recorder:
        """Keeps what is to be written of a step."""
        options = self._watch_fn(fetches, feeds) if self._watch_fn is not None else WatchOptions()
        if isinstance(options, tuple) and not isinstance(options, WatchOptions):
            options = WatchOptions(*options)
        return Recorder(wanted_by(*options[1:4]))

    def keep(self, recorder: Recorder, graph: Any, step: tuple[Any, Any]) -> None:
        """Writes a step, whose fetches and feeds these are."""
        self._count += 1
        folder = os.path.join(self._root, f"run_{time.time_ns() // 1000}_{self._count}")
        write(folder, recorder.data, graph.as_graph_def(), step, self._count - 1)


class _WatchingHook(SessionRunHook):
    """A hook around the steps of a monitored session."""

    def __init__(self) -> None:
        self._watch: contextlib.ExitStack | None = None
        self._recorder: Recorder | None = None

    def _start(self, session: Any, recorder: Recorder) -> None:
        check_watchable(session)
        self._recorder, self._watch = recorder, contextlib.ExitStack()
        self._watch.enter_context(watching(session, recorder))

    def _stop(self) -> Recorder | None:
        recorder, self._recorder = self._recorder, None
        if self._watch is not None:
            self._watch.close()
            self._watch = None
        return recorder


class LocalCLIDebugHook(_WatchingHook):
    """A hook that stops before and after each step, and answers questions about it on the terminal.

    Args:
      ui_type: Accepted for TensorFlow's sake: there is one terminal.
      dump_root: Accepted for TensorFlow's sake: values are kept in memory.
      thread_name_filter: Accepted for TensorFlow's sake: a monitored session runs in one thread.
      config_file_path: Accepted for TensorFlow's sake.
    """

    def __init__(
        self,
        ui_type: str = "curses",
        dump_root: str | None = None,
        thread_name_filter: str | None = None,
        config_file_path: Any = None,
    ):
        super().__init__()
        self._conversation = _Conversation()

    def add_tensor_filter(self, filter_name: str, tensor_filter: Callable) -> None:
        """Adds a filter for `lt -f` and `run -f`.

        Args:
          filter_name: Its name.
          tensor_filter: A function of what is known about a value and of the value, to a boolean.
        """
        self._conversation.filters[filter_name] = tensor_filter

    def before_run(self, run_context: Any) -> SessionRunArgs | None:
        """Asks how to go on.

        Args:
          run_context: The step.

        Returns:
          None: the hook fetches nothing.
        """
        asked, session = run_context.original_args, run_context.session
        if self._conversation.before(session.graph, asked.fetches, asked.feed_dict):
            self._start(session, Recorder(wanted_by()))
        return None

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Shows the step.

        Args:
          run_context: The step.
          run_values: What it gave.
        """
        recorder = self._stop()
        if recorder is not None:
            asked, graph = run_context.original_args, run_context.session.graph
            self._conversation.after(recorder.data, graph, asked.fetches, asked.feed_dict)


class DumpingDebugHook(_WatchingHook):
    """A hook that writes the values of each step to files, in a folder of its own.

    Args:
      session_root: The folder of all steps.
      watch_fn: A function of fetches and feeds to `WatchOptions`; all values are written if None.
      thread_name_filter: Accepted for TensorFlow's sake: a monitored session runs in one thread.
      log_usage: Accepted for TensorFlow's sake.
    """

    def __init__(
        self,
        session_root: str,
        watch_fn: Callable | None = None,
        thread_name_filter: str | None = None,
        log_usage: bool = True,
    ):
        super().__init__()
        self._files = _Files(session_root, watch_fn)

    def before_run(self, run_context: Any) -> SessionRunArgs | None:
        """Begins to watch.

        Args:
          run_context: The step.

        Returns:
          None: the hook fetches nothing.
        """
        asked = run_context.original_args
        self._start(run_context.session, self._files.recorder(asked.fetches, asked.feed_dict))
        return None

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Writes the step.

        Args:
          run_context: The step.
          run_values: What it gave.
        """
        recorder = self._stop()
        if recorder is not None:
            asked = run_context.original_args
            self._files.keep(recorder, run_context.session.graph, (asked.fetches, asked.feed_dict))
