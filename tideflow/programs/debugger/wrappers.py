"""Sessions around sessions: what is done before and after each step, and with its values."""

from __future__ import annotations

import abc
import contextlib
import os
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tensorboard.compat.proto.config_pb2 import CallableOptions, RunMetadata, RunOptions

from tideflow.graph import nest
from tideflow.graph.errors import OpError
from tideflow.graph.stacks import default_sessions
from tideflow.platform import gfile, logging
from tideflow.programs.debugger.watch_options import watch_graph
from tideflow.programs.debugger.watching import check_watchable, write_run_info
from tideflow.session.session import BaseSession
from tideflow.train.monitored_session import MonitoredSession


def _check_type(obj: Any, expected_types: Any) -> None:
    if not isinstance(obj, expected_types):
        raise TypeError(f"Expected type {expected_types}; got type {type(obj)}")


class OnSessionInitRequest:
    """A session is about to be wrapped.

    Args:
      sess: The session.
    """

    def __init__(self, sess: Any):
        _check_type(sess, (BaseSession, MonitoredSession))
        self.session = sess


class OnSessionInitAction:
    """What can follow."""

    PROCEED = "proceed"
    REMOTE_INSTR_LOOP = "remote_instr_loop"


class OnSessionInitResponse:
    """What follows.

    Args:
      action: One of `OnSessionInitAction`.
    """

    def __init__(self, action: str):
        _check_type(action, str)
        self.action = action


@dataclass
class OnRunStartRequest:
    """A step is about to run.

    Args:
      fetches: What it fetches.
      feed_dict: What it is fed.
      run_options: Its options.
      run_metadata: Where it says what it did.
      run_call_count: Its number, from 1.
      is_callable_runner: Whether it is run by a function of `make_callable`.
    """

    fetches: Any
    feed_dict: Any
    run_options: Any
    run_metadata: Any
    run_call_count: int
    is_callable_runner: bool = False


class OnRunStartAction:
    """How a step can run."""

    DEBUG_RUN = "debug_run"
    PROFILE_RUN = "profile_run"
    NON_DEBUG_RUN = "non_debug_run"


class OnRunStartResponse:
    """How a step runs, and what of it is watched.

    Args:
      action: One of `OnRunStartAction`.
      debug_urls: The folders of its values.
      debug_ops: What is written of values.
      node_name_regex_whitelist: An expression that names of watched operations match.
      op_type_regex_whitelist: An expression that types of watched operations match.
      tensor_dtype_regex_whitelist: An expression that types of watched values match.
      tolerate_debug_op_creation_failures: Whether values that a debug op cannot look at are left out.
    """

    def __init__(
        self,
        action: str,
        debug_urls: list[str],
        debug_ops: Any = "DebugIdentity",
        node_name_regex_whitelist: str | None = None,
        op_type_regex_whitelist: str | None = None,
        tensor_dtype_regex_whitelist: str | None = None,
        tolerate_debug_op_creation_failures: bool = False,
    ):
        _check_type(action, str)
        _check_type(debug_urls, list)
        self.action, self.debug_urls, self.debug_ops = action, debug_urls, debug_ops
        self.node_name_regex_whitelist = node_name_regex_whitelist
        self.op_type_regex_whitelist = op_type_regex_whitelist
        self.tensor_dtype_regex_whitelist = tensor_dtype_regex_whitelist
        self.tolerate_debug_op_creation_failures = tolerate_debug_op_creation_failures

    def watched(self) -> dict[str, Any]:
        """The arguments of `watch_graph`."""
        return {name: value for name, value in vars(self).items() if name != "action"}


class OnRunEndRequest:
    """A step has run.

    Args:
      performed_action: How: one of `OnRunStartAction`.
      run_metadata: What it did.
      client_graph_def: The graph.
      tf_error: Why it has failed; None if it has not.
    """

    def __init__(
        self,
        performed_action: str,
        run_metadata: RunMetadata | None = None,
        client_graph_def: Any = None,
        tf_error: OpError | None = None,
    ):
        _check_type(performed_action, str)
        if run_metadata is not None:
            _check_type(run_metadata, RunMetadata)
        self.performed_action, self.run_metadata = performed_action, run_metadata
        self.client_graph_def, self.tf_error = client_graph_def, tf_error


class OnRunEndResponse:
    """What follows a step: nothing yet."""


_Run = Callable[[RunOptions | None, RunMetadata | None], Any]  # runs a step with options


class BaseDebugWrapperSession(abc.ABC):
    """A session around another, which asks what to do before and after each step.

    Args:
      sess: The session.
      thread_name_filter: An expression that names of threads match whose steps are watched; all if None.
      pass_through_operrors: Whether the error of a step is raised at once. Otherwise `on_run_end` is told,
        and `run` returns the error.
    """

    def __init__(
        self, sess: Any, thread_name_filter: str | None = None, pass_through_operrors: bool | None = False
    ):
        _check_type(sess, (BaseSession, MonitoredSession))
        check_watchable(sess)
        self._sess = sess
        self._thread_name_filter_pattern = re.compile(thread_name_filter) if thread_name_filter else None
        self._pass_through_operrors = pass_through_operrors
        self._run_call_count = 0
        self._entered: list[contextlib.ExitStack] = []
        response = self.on_session_init(OnSessionInitRequest(sess))
        _check_type(response, OnSessionInitResponse)
        if response.action == OnSessionInitAction.REMOTE_INSTR_LOOP:
            raise NotImplementedError("OnSessionInitAction REMOTE_INSTR_LOOP has not been implemented.")
        if response.action != OnSessionInitAction.PROCEED:
            raise ValueError(f"Invalid OnSessionInitAction value: {response.action}")

    @property
    def session(self) -> Any:
        """The session that is wrapped."""
        return self._sess

    @property
    def run_call_count(self) -> int:
        """How many steps were run."""
        return self._run_call_count

    def increment_run_call_count(self) -> None:
        """Counts a step."""
        self._run_call_count += 1

    def __getattr__(self, name: str) -> Any:
        if name == "_sess":  # before there is one
            raise AttributeError(name)
        return getattr(self._sess, name)

    # ------------------------------------------------------------------ steps

    def run(
        self,
        fetches: Any,
        feed_dict: Any = None,
        options: RunOptions | None = None,
        run_metadata: RunMetadata | None = None,
        callable_runner: Callable | None = None,
        callable_runner_args: Any = None,
        callable_options: CallableOptions | None = None,
    ) -> Any:
        """As `tf.Session.run`, with what is asked for before and after it.

        Args:
          fetches: As of `tf.Session.run`.
          feed_dict: As of `tf.Session.run`.
          options: As of `tf.Session.run`.
          run_metadata: As of `tf.Session.run`.
          callable_runner: A function of `make_callable` that runs the step instead.
          callable_runner_args: Its arguments.
          callable_options: `CallableOptions` that say what the step is instead.

        Returns:
          As of `tf.Session.run`.
        """
        if callable_runner and callable_options:
            raise ValueError(
                "callable_runner and callable_options are mutually exclusive, but are both specified in this "
                "call to BaseDebugWrapperSession.run()."
            )
        for name, given in (("callable_runner", callable_runner), ("callable_options", callable_options)):
            if given and (fetches or feed_dict):
                raise ValueError(
                    f"{name} and fetches/feed_dict are mutually exclusive, but are used simultaneously."
                )
        self.increment_run_call_count()
        step = self._step(fetches, feed_dict, callable_runner, callable_options, callable_runner_args or ())
        if _is_empty(fetches):
            logging.info(
                "Due to empty fetches, tfdbg Session wrapper is letting a Session.run pass through without "
                "any debugging actions."
            )
            return step(options, run_metadata)
        if self._is_disabled_thread():
            return step(options, run_metadata)
        response = self.on_run_start(
            OnRunStartRequest(
                fetches, feed_dict, options, run_metadata, self._run_call_count, bool(callable_runner)
            )
        )
        _check_type(response, OnRunStartResponse)
        results, request = self._acted(response, step, options, run_metadata)
        _check_type(self.on_run_end(request), OnRunEndResponse)
        return results

    def _step(self, fetches: Any, feeds: Any, runner: Any, spec: CallableOptions | None, args: Any) -> _Run:
        """The step as a function of its options."""
        if runner:

            def run_callable(options: RunOptions | None, run_metadata: RunMetadata | None) -> Any:
                return runner(*args, options=options, run_metadata=run_metadata)

            return run_callable
        if spec:

            def run_specified(options: RunOptions | None, run_metadata: RunMetadata | None) -> Any:
                asked = CallableOptions.FromString(spec.SerializeToString())
                if options is not None:
                    asked.run_options.MergeFrom(options)
                return self._sess._make_callable_from_options(asked)(*args, run_metadata=run_metadata)

            return run_specified
        return lambda options, run_metadata: self._sess.run(fetches, feeds, options, run_metadata)

    def _acted(
        self,
        response: OnRunStartResponse,
        step: _Run,
        options: RunOptions | None,
        run_metadata: RunMetadata | None,
    ) -> tuple[Any, OnRunEndRequest]:
        """Runs the step as the response says; gives its results, and what is told afterwards."""
        action, error = response.action, None
        if action == OnRunStartAction.NON_DEBUG_RUN:
            return step(options, run_metadata), OnRunEndRequest(action)
        asked = RunOptions.FromString(options.SerializeToString()) if options is not None else RunOptions()
        made = run_metadata if run_metadata is not None else RunMetadata()
        if action == OnRunStartAction.DEBUG_RUN:
            self._decorate_run_options_for_debug(asked, **response.watched())
        elif action == OnRunStartAction.PROFILE_RUN:
            self._decorate_run_options_for_profile(asked)
        else:
            raise ValueError(f"Invalid OnRunStartAction value: {action}")
        try:
            results = step(asked, made)
        except OpError as failure:
            if self._pass_through_operrors or action != OnRunStartAction.DEBUG_RUN:
                raise
            results = error = failure
        return results, OnRunEndRequest(action, made, self._sess.graph.as_graph_def(), error)

    def _is_disabled_thread(self) -> bool:
        pattern = self._thread_name_filter_pattern
        return pattern is not None and not pattern.match(threading.current_thread().name)

    def _is_disk_usage_reset_each_run(self) -> bool:
        return False

    def _decorate_run_options_for_debug(
        self, run_options: RunOptions, debug_urls: Any, debug_ops: Any = "DebugIdentity", **watched: Any
    ) -> None:
        """Adds watches to the options of a step."""
        run_options.output_partition_graphs = True
        is_first = self._run_call_count == 1
        watch_graph(
            run_options,
            self._sess.graph,
            debug_ops,
            debug_urls,
            reset_disk_byte_usage=is_first or self._is_disk_usage_reset_each_run(),
            **watched,
        )

    def _decorate_run_options_for_profile(self, run_options: RunOptions) -> None:
        """Asks for the times of the operations of a step."""
        run_options.trace_level = RunOptions.FULL_TRACE

    @abc.abstractmethod
    def on_session_init(self, request: OnSessionInitRequest) -> OnSessionInitResponse:
        """Is called when the session is wrapped."""

    @abc.abstractmethod
    def on_run_start(self, request: OnRunStartRequest) -> OnRunStartResponse:
        """Is called before each step."""

    @abc.abstractmethod
    def on_run_end(self, request: OnRunEndRequest) -> OnRunEndResponse:
        """Is called after each step."""

    # ------------------------------------------------------------------ what else sessions do

    def run_step_fn(self, step_fn: Callable) -> Any:
        """As of `tf.train.MonitoredSession`.

        Args:
          step_fn: A function of a `StepContext`.

        Returns:
          What the function returns.
        """
        return step_fn(MonitoredSession.StepContext(self._sess, self.run))

    def partial_run_setup(self, fetches: Any, feeds: Any = None) -> Any:
        """Steps in parts are not watched."""
        raise NotImplementedError("partial_run_setup is not implemented for debug-wrapper sessions.")

    def partial_run(self, handle: Any, fetches: Any, feed_dict: Any = None) -> Any:
        """Steps in parts are not watched."""
        raise NotImplementedError("partial_run is not implemented for debug-wrapper sessions.")

    def make_callable(self, fetches: Any, feed_list: Any = None, accept_options: bool = False) -> Callable:
        """As `tf.Session.make_callable`; the function's steps are watched.

        Args:
          fetches: As of `tf.Session.make_callable`.
          feed_list: As of `tf.Session.make_callable`.
          accept_options: Not looked at: the function takes options in any case.

        Returns:
          The function.
        """
        runner = self._sess.make_callable(fetches, feed_list=feed_list, accept_options=True)

        def call(*values: Any, options: Any = None, run_metadata: Any = None) -> Any:
            return self.run(
                None,
                options=options,
                run_metadata=run_metadata,
                callable_runner=runner,
                callable_runner_args=values,
            )

        return call

    def _make_callable_from_options(self, callable_options: CallableOptions) -> Callable:
        def call(*values: Any, run_metadata: Any = None) -> Any:
            return self.run(
                None,
                run_metadata=run_metadata,
                callable_options=callable_options,
                callable_runner_args=values,
            )

        return call

    def as_default(self) -> Any:
        """`eval()` and `run()` of tensors and operations use this session inside the block."""
        return default_sessions.pushed(self)

    def __enter__(self) -> Any:
        self._entered.append(contextlib.ExitStack())
        self._entered[-1].enter_context(self.as_default())
        return self

    def __exit__(self, *exc: Any) -> None:
        self._entered.pop().close()

    def should_stop(self) -> bool:
        """Whether the monitored session that is wrapped has been asked to stop."""
        if not hasattr(self._sess, "should_stop"):
            raise ValueError(
                f"The wrapped session {self._sess!r} does not have a method called 'should_stop'. Do you "
                "intend to wrap a tf.MonitoredSession instead?"
            )
        return self._sess.should_stop()


def _is_empty(fetches: Any) -> bool:
    """Whether a structure has nothing in it."""
    if isinstance(fetches, Mapping):
        fetches = list(fetches.values())
    return nest.is_nested(fetches) and all(map(_is_empty, fetches))


class WatchOptions:
    """Which values are kept, and what of them: what a `watch_fn` gives.

    Args:
      debug_ops: `DebugIdentity`, `DebugNanCount`, `DebugNumericSummary`, or a list of these.
      node_name_regex_whitelist: An expression that names of operations match.
      op_type_regex_whitelist: An expression that types of operations match.
      tensor_dtype_regex_whitelist: An expression that types of values match.
      tolerate_debug_op_creation_failures: Whether values that a debug op cannot look at are left out.
    """

    def __init__(
        self,
        debug_ops: Any = None,
        node_name_regex_whitelist: str | None = None,
        op_type_regex_whitelist: str | None = None,
        tensor_dtype_regex_whitelist: str | None = None,
        tolerate_debug_op_creation_failures: bool = False,
    ):
        self.debug_ops = debug_ops or ["DebugIdentity"]
        self.node_name_regex_whitelist = node_name_regex_whitelist
        self.op_type_regex_whitelist = op_type_regex_whitelist
        self.tensor_dtype_regex_whitelist = tensor_dtype_regex_whitelist
        self.tolerate_debug_op_creation_failures = tolerate_debug_op_creation_failures

    def __repr__(self) -> str:
        return f"WatchOptions({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


class NonInteractiveDebugWrapperSession(BaseDebugWrapperSession):
    """A session around another that keeps values of each step, and asks nobody.

    Args:
      sess: The session.
      watch_fn: A function of fetches and feeds to `WatchOptions`; all values are kept if None.
      thread_name_filter: An expression that names of threads match whose steps are watched; all if None.
      pass_through_operrors: As of `BaseDebugWrapperSession`.
    """

    def __init__(
        self,
        sess: Any,
        watch_fn: Callable | None = None,
        thread_name_filter: str | None = None,
        pass_through_operrors: bool | None = False,
    ):
        super().__init__(sess, thread_name_filter, pass_through_operrors)
        if watch_fn is not None and not callable(watch_fn):
            raise TypeError("watch_fn is not callable")
        self._watch_fn = watch_fn

    def on_session_init(self, request: OnSessionInitRequest) -> OnSessionInitResponse:
        """Goes on."""
        return OnSessionInitResponse(OnSessionInitAction.PROCEED)

    @abc.abstractmethod
    def prepare_run_debug_urls(self, fetches: Any, feed_dict: Any) -> Any:
        """The folder of the values of a step, `file:///…`, or a list of folders."""

    def on_run_start(self, request: OnRunStartRequest) -> OnRunStartResponse:
        """Watches the step.

        Args:
          request: The step.

        Returns:
          What is watched.
        """
        urls, watched = self._prepare_run_watch_config(request.fetches, request.feed_dict)
        return OnRunStartResponse(OnRunStartAction.DEBUG_RUN, urls, **vars(watched))

    def _prepare_run_watch_config(self, fetches: Any, feed_dict: Any) -> tuple[list[str], WatchOptions]:
        urls = self.prepare_run_debug_urls(fetches, feed_dict)
        watched = WatchOptions() if self._watch_fn is None else self._watch_fn(fetches, feed_dict)
        if isinstance(watched, tuple):
            watched = WatchOptions(*watched)
        return [urls] if isinstance(urls, str) else urls, watched

    def on_run_end(self, request: OnRunEndRequest) -> OnRunEndResponse:
        """Goes on."""
        return OnRunEndResponse()


class DumpingDebugWrapperSession(NonInteractiveDebugWrapperSession):
    """A session that writes the values of each step to files, in a folder of its own: `run_<time>_<number>`.

    Args:
      sess: The session.
      session_root: The folder of all steps: an empty one, or one that is not there yet.
      watch_fn: A function of fetches and feeds to `WatchOptions`; all values are written if None.
      thread_name_filter: An expression that names of threads match whose steps are watched; all if None.
      pass_through_operrors: As of `BaseDebugWrapperSession`.
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
        super().__init__(sess, watch_fn, thread_name_filter, pass_through_operrors)
        self._session_root = os.path.expanduser(session_root)
        if gfile.exists(self._session_root):
            if not gfile.isdir(self._session_root):
                raise ValueError(f"session_root path points to a file: {self._session_root}")
            if gfile.listdir(self._session_root):
                raise ValueError(f"session_root path points to a non-empty directory: {self._session_root}")
        else:
            gfile.makedirs(self._session_root)
        self._run_counter = 0
        self._run_counter_lock = threading.Lock()

    def prepare_run_debug_urls(self, fetches: Any, feed_dict: Any) -> list[str]:
        """Makes the folder of a step.

        Args:
          fetches: What it fetches.
          feed_dict: What it is fed.

        Returns:
          The folder, `file:///…`, in a list.
        """
        with self._run_counter_lock:
            name = f"run_{time.time_ns() // 1000}_{self._run_counter}"
            self._run_counter += 1
        folder = os.path.join(self._session_root, name)
        gfile.mkdir(folder)
        write_run_info(folder, fetches, feed_dict)
        return [f"file://{folder}"]
