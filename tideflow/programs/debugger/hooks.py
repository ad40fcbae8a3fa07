"""Hooks of the debugger: what its sessions do, for the steps of monitored sessions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorboard.compat.proto.config_pb2 import RunOptions

from tideflow.programs.debugger.local_cli import LocalCLIDebugWrapperSession
from tideflow.programs.debugger.watch_options import watch_graph
from tideflow.programs.debugger.wrappers import (
    DumpingDebugWrapperSession,
    OnRunEndRequest,
    OnRunStartAction,
    OnRunStartRequest,
)
from tideflow.train.session_run_hook import SessionRunArgs, SessionRunHook


class LocalCLIDebugHook(SessionRunHook):
    """A hook that stops before and after each step, and answers questions about it on the terminal.

    Args:
      ui_type: As of `LocalCLIDebugWrapperSession`.
      dump_root: As of `LocalCLIDebugWrapperSession`.
      thread_name_filter: As of `LocalCLIDebugWrapperSession`.
      config_file_path: As of `LocalCLIDebugWrapperSession`.
    """

    def __init__(
        self,
        ui_type: str = "curses",
        dump_root: str | None = None,
        thread_name_filter: str | None = None,
        config_file_path: Any = None,
    ):
        self._arguments = {
            "ui_type": ui_type,
            "dump_root": dump_root,
            "thread_name_filter": thread_name_filter,
            "config_file_path": config_file_path,
        }
        self._filters: dict[str, Callable] = {}
        self._session_wrapper: Any = None
        self._performed_action: str = OnRunStartAction.NON_DEBUG_RUN

    def add_tensor_filter(self, filter_name: str, tensor_filter: Callable) -> None:
        """Adds a filter for `lt -f` and `run -f`.

        Args:
          filter_name: Its name.
          tensor_filter: A function of what is known about a value and of the value, to a boolean.
        """
        self._filters[filter_name] = tensor_filter
        if self._session_wrapper is not None:
            self._session_wrapper.add_tensor_filter(filter_name, tensor_filter)

    def before_run(self, run_context: Any) -> SessionRunArgs:
        """Asks how to go on.

        Args:
          run_context: The step.

        Returns:
          The options of the step.
        """
        if self._session_wrapper is None:
            self._session_wrapper = LocalCLIDebugWrapperSession(run_context.session, **self._arguments)
            for name, tensor_filter in self._filters.items():
                self._session_wrapper.add_tensor_filter(name, tensor_filter)
        wrapper, asked = self._session_wrapper, run_context.original_args
        wrapper.increment_run_call_count()
        response = wrapper.on_run_start(
            OnRunStartRequest(asked.fetches, asked.feed_dict, None, None, wrapper.run_call_count)
        )
        self._performed_action = response.action
        options = RunOptions()
        if response.action == OnRunStartAction.DEBUG_RUN:
            wrapper._decorate_run_options_for_debug(options, **response.watched())
        elif response.action == OnRunStartAction.PROFILE_RUN:
            wrapper._decorate_run_options_for_profile(options)
        return SessionRunArgs(None, feed_dict=None, options=options)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Shows the step.

        Args:
          run_context: The step.
          run_values: What it gave.
        """
        self._session_wrapper.on_run_end(OnRunEndRequest(self._performed_action, run_values.run_metadata))


class DumpingDebugHook(SessionRunHook):
    """A hook that writes the values of each step to files, in a folder of its own.

    Args:
      session_root: As of `DumpingDebugWrapperSession`.
      watch_fn: As of `DumpingDebugWrapperSession`.
      thread_name_filter: As of `DumpingDebugWrapperSession`.
      log_usage: Accepted for TensorFlow's sake.
    """

    def __init__(
        self,
        session_root: str,
        watch_fn: Callable | None = None,
        thread_name_filter: str | None = None,
        log_usage: bool = True,
    ):
        self._session_root, self._watch_fn = session_root, watch_fn
        self._thread_name_filter = thread_name_filter
        self._session_wrapper: Any = None

    def before_run(self, run_context: Any) -> SessionRunArgs:
        """Watches the step.

        Args:
          run_context: The step.

        Returns:
          The options of the step.
        """
        is_first = self._session_wrapper is None
        if is_first:
            self._session_wrapper = DumpingDebugWrapperSession(
                run_context.session, self._session_root, self._watch_fn, self._thread_name_filter
            )
        self._session_wrapper.increment_run_call_count()
        asked, options = run_context.original_args, RunOptions()
        urls, watched = self._session_wrapper._prepare_run_watch_config(asked.fetches, asked.feed_dict)
        watch_graph(
            options,
            run_context.session.graph,
            debug_urls=urls,
            reset_disk_byte_usage=is_first,
            **vars(watched),
        )
        return SessionRunArgs(None, feed_dict=None, options=options)
