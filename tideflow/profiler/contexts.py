"""`tf.contrib.tfprof.ProfileContext`: traces and profiles steps of the sessions that a block runs."""

from __future__ import annotations

import os
import random
import sys
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any

from tensorboard.compat.proto.config_pb2 import RunMetadata, RunOptions

from tideflow.export import export
from tideflow.graph import errors
from tideflow.io.local_files import write_bytes
from tideflow.profiler.profiling import Profiler
from tideflow.session.fetches import Fetches
from tideflow.session.session import BaseSession

_WARM_UP = 10  # steps that are not traced unless asked for
_MOST = 100  # steps that are traced in all

_inside: list[ProfileContext] = []  # the context that a block is in


@export("contrib.tfprof.ProfileContext")
class ProfileContext:
    """Traces steps of all sessions in a `with` block, profiles them, and writes profiles to a directory.

    Args:
      profile_dir: The directory.
      trace_steps: The numbers of the steps to trace, counted from the start of the block; by default the
        first of each set of fetches after ten steps, and some more.
      dump_steps: The numbers of the steps after which a profile is written; 100 by default.
      enabled: Whether anything happens at all.
      debug: Whether traces are written too, as text, and what happens is told on the standard error output.

    Raises:
      ValueError: If there is no directory, or more than 100 steps are to be traced.
    """

    def __init__(
        self,
        profile_dir: str,
        trace_steps: Collection[int] | None = None,
        dump_steps: Collection[int] | None = None,
        enabled: bool = True,
        debug: bool = False,
    ):
        self._enabled = enabled
        if not enabled:
            return
        if not profile_dir:
            raise ValueError("Must have a directory for profile.\n")
        if trace_steps is not None and len(trace_steps) > _MOST:
            raise ValueError(f"Only support tracing up to {_MOST} steps.\n")
        self._directory, self._debug = profile_dir, debug
        self._chooses = trace_steps is None
        self._trace_steps = set(trace_steps or ())
        self._dump_steps = {_MOST} if dump_steps is None else set(dump_steps)
        self._trace_next = self._dump_next = False
        self._step = self._traced = 0
        self._chance = random.Random(111)
        self._fetched: set[str] = set()
        self._auto_profiles: list[tuple[str, Any, list[int]]] = []
        self._views: dict[str, dict[int, Any]] = {}
        self._profiler: Profiler | None = None
        self._lock = threading.Lock()

    def get_profiles(self, cmd: str) -> dict[int, Any]:
        """Gets what `add_auto_profiling` has profiled.

        Args:
          cmd: By what it is sorted.

        Returns:
          The profiles by the numbers of their steps.

        Raises:
          ValueError: If there are none.
        """
        if cmd not in self._views:
            raise ValueError(f"No autoprofiler for command: {cmd}, was run")
        return self._views[cmd]

    def add_auto_profiling(self, cmd: str, options: dict[str, Any], profile_steps: Collection[int]) -> None:
        """Profiles at some steps, which are traced.

        Args:
          cmd: By what the profile is sorted: `"scope"`, `"graph"`, `"op"` or `"code"`.
          options: The options, which `tf.profiler.ProfileOptionBuilder` builds.
          profile_steps: The numbers of the steps.
        """
        if self._enabled:
            self._auto_profiles.append((cmd, options, list(profile_steps)))
            self._trace_steps.update(profile_steps)

    @property
    def profiler(self) -> Profiler | None:
        """The profiler that the traced steps are added to; None if nothing is to happen."""
        if self._enabled and self._profiler is None:
            self._profiler = Profiler()
        return self._profiler if self._enabled else None

    def trace_next_step(self) -> None:
        """Traces the next step."""
        if self._enabled:
            self._trace_next = True

    def dump_next_step(self) -> None:
        """Writes a profile after the next step."""
        if self._enabled:
            self._dump_next = True

    def __enter__(self) -> ProfileContext:
        if self._enabled:
            if _inside:
                raise errors.InternalError(None, None, "Already in context or context not cleaned.")
            _inside.append(self)
            self._run = BaseSession.run
            BaseSession.run = _profiled(self, self._run)  # type: ignore[method-assign]
        return self

    def __exit__(self, *exc: object) -> None:
        if self._enabled and _inside == [self]:
            BaseSession.run = self._run  # type: ignore[method-assign]
            _inside.clear()

    @contextmanager
    def _new_step(self) -> Iterator[int | None]:
        """The number of a step; None while another thread's is profiled."""
        alone = self._lock.acquire(blocking=False)
        try:
            yield self._step if alone else None
        finally:
            self._step += 1
            self._trace_next = self._dump_next = False
            if alone:
                self._lock.release()

    def _traces(self, step: int, session: BaseSession, fetches: Any) -> bool:
        if self._traced > _MOST:
            return False
        wanted = step in self._trace_steps or self._trace_next or self._chosen(step, session, fetches)
        self._traced += wanted
        return wanted

    def _chosen(self, step: int, session: BaseSession, fetches: Any) -> bool:
        """Whether a step that nobody asked for is traced: the first of its kind, or a random one."""
        if not self._chooses or step <= _WARM_UP:
            return False
        found = Fetches(session.graph, fetches)
        names = "-".join(sorted(each.name for each in (*found.tensors, *found.targets)))
        self._tell(f"trace fetches: {names}")
        if names not in self._fetched:
            self._fetched.add(names)
            return True
        return self._covered() < 0.5 and step < _MOST and self._chance.randint(0, 10) < 2

    def _covered(self) -> float:
        """The part of the operations that traced steps ran."""
        nodes = self._profiler._model.nodes.values() if self._profiler is not None else ()
        return sum(bool(node.steps) for node in nodes) / max(1, len(nodes))

    def _tell(self, what: str) -> None:
        if self._debug:
            sys.stderr.write(f"debug: {what}\n")

    def _write(self, name: str, data: bytes) -> None:
        os.makedirs(self._directory, exist_ok=True)
        write_bytes(os.path.join(self._directory, name), data)

    def _add(self, step: int, session: BaseSession, trace: RunMetadata) -> None:
        if self._debug:
            self._write(f"run_meta_{step}", str(trace).encode())
        if self._profiler is None:
            self._profiler = Profiler(session.graph)
        self._profiler.add_step(step, trace)

    def _finish(self, step: int) -> None:
        """Writes and profiles what is to be after a step."""
        dumps = step in self._dump_steps or self._dump_next
        wanted = [(cmd, options) for cmd, options, steps in self._auto_profiles if step in steps]
        profiler = self.profiler if dumps or wanted else None
        if profiler is None:
            return
        if dumps:
            self._tell(f"dumping file at step: {step}")
            self._write(f"profile_{step}", profiler.serialize_to_string())
        views: dict[str, Callable] = {
            "graph": profiler.profile_graph,
            "scope": profiler.profile_name_scope,
            "op": profiler.profile_operations,
            "code": profiler.profile_python,
        }
        for cmd, options in wanted:
            self._tell(f"profiling {cmd} step: {step}")
            if cmd not in views:
                raise ValueError(f"Unknown cmd: {cmd}\n")
            self._views.setdefault(cmd, {})[step] = views[cmd](options)


def _profiled(context: ProfileContext, run: Callable) -> Callable:
    """`run` of sessions, with what the context wants to know."""

    def profiled_run(
        self: BaseSession, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        with context._new_step() as step:
            if step is None:
                return run(self, fetches, feed_dict, options, run_metadata)
            if context._traces(step, self, fetches):
                context._tell(f"tracing step: {step}")
                traced = RunOptions(trace_level=RunOptions.FULL_TRACE)
                if options is not None:
                    traced.MergeFrom(options)
                    traced.trace_level = RunOptions.FULL_TRACE
                run_metadata = RunMetadata() if run_metadata is None else run_metadata
                results = run(self, fetches, feed_dict, traced, run_metadata)
                context._add(step, self, run_metadata)
            else:
                results = run(self, fetches, feed_dict, options, run_metadata)
            context._finish(step)
            return results

    return profiled_run
