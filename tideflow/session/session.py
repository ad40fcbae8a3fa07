"""Session: runs parts of a graph. Feeds in, fetches out, one cached plan per pair of them."""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Callable, Iterator, Set
from typing import Any

from tensorboard.compat.proto.config_pb2 import ConfigProto, RunOptions
from tensorboard.compat.proto.graph_pb2 import GraphDef

from tideflow.compile.compiler import compile_step
from tideflow.compile.emit import Plan
from tideflow.export import export
from tideflow.graph import errors
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import get_default_graph
from tideflow.graph.stacks import default_graphs, default_sessions
from tideflow.runtime.devices import Device
from tideflow.runtime.ending import close_at_exit, open_sessions
from tideflow.runtime.resources import ResourceManager
from tideflow.runtime.waiting import traced, within
from tideflow.session import checks
from tideflow.session import targets as destinations
from tideflow.session.config import apply_config, device_mapping, wants_early_compilation
from tideflow.session.explain import explain
from tideflow.session.feeds import flat_feeds, resolve_feed
from tideflow.session.fetches import Fetches, fetch_key
from tideflow.session.partial_run import PartialRun
from tideflow.session.step import Step
from tideflow.session.watched import Watched

_NO_KEYS = ()


class BaseSession:
    """What Session and InteractiveSession share."""

    def __init__(
        self,
        target: str = "",
        graph: Graph | None = None,
        config: ConfigProto | None = None,
        check_finite: bool = False,
        deterministic: bool | None = None,
    ):
        if not isinstance(target, (str, bytes)):
            raise TypeError(f"target must be a string, but got {type(target)}")
        if graph is not None and not isinstance(graph, Graph):
            raise TypeError(f"graph must be a tf.Graph, but got {type(graph)}")
        if config is not None and not isinstance(config, ConfigProto):
            raise TypeError(f"config must be a tf.ConfigProto, but got {type(config)}")
        self._target = target
        self._graph = graph if graph is not None else get_default_graph()
        self._config = config
        self._elsewhere = destinations.connect(target, self._graph, config) if target else None
        self._placement, self._disabled_rules = apply_config(config, deterministic)
        if self._placement.log and not target:
            print(device_mapping(self._placement.devices), flush=True)
        self._resources = ResourceManager()
        self._resources.compile_early = wants_early_compilation(config)
        self._closed = self._was_reset = False
        self._timeout = config.operation_timeout_in_ms / 1000 if config is not None else 0.0
        self._steps: dict[Any, Step] = {}
        self._split_steps: dict[Any, Step] = {}  # those with keys that stand for several tensors
        self._timed_steps: dict[Any, Step] = {}  # those with a time limit of their own
        self._watched_steps: dict[Any, Watched] = {}  # those with a trace
        self._partial_runs: dict[str, PartialRun] = {}
        self._lock = threading.Lock()
        self._after_each = checks.finite if check_finite else None
        self._mutations = self._graph._mutations
        self._growth = checks.GrowthWatch(self._graph)
        close_at_exit(self)

    # ------------------------------------------------------------------ running

    def run(
        self,
        fetches: Any,
        feed_dict: dict | None = None,
        options: RunOptions | None = None,
        run_metadata: Any = None,
    ) -> Any:
        """Computes `fetches`, with the values of `feed_dict` in place of the tensors it names."""
        try:
            key = (
                fetches if fetches.__class__ is Tensor else fetch_key(fetches),
                tuple(feed_dict) if feed_dict else _NO_KEYS,
            )
            step = self._steps.get(key)
        except TypeError:
            key = step = None
        if (
            step is None
            or self._closed
            or options is not None
            or run_metadata is not None
            or self._timeout
            or self._is_stale()
        ):
            return self._run_with_care(key, fetches, feed_dict, options, run_metadata)
        return step(feed_dict.values() if feed_dict else _NO_KEYS)

    def _is_stale(self) -> bool:
        return self._mutations != self._graph._mutations

    def _run_with_care(self, key: Any, fetches: Any, feed_dict: Any, options: Any, run_metadata: Any) -> Any:
        """A step not seen before, or with options."""
        self._check_ready()
        feeds, values = flat_feeds(self._graph, feed_dict)
        limit = (options.timeout_in_ms / 1000 if options is not None else 0) or self._timeout
        limited = within(limit) if limit else contextlib.nullcontext()
        if run_metadata is not None:
            run_metadata.Clear()
            if Watched.wants(options, self._config) and self._elsewhere is not None:
                limited = self._told_by_tasks(limit, options, run_metadata)
            elif Watched.wants(options, self._config):
                with self._watched_step(key, fetches, feeds, limit) as watched, limited:
                    return watched.run(values, options, self._config, run_metadata)
        # On the quick path a step takes the dictionary's values as they are: only where each key is a tensor.
        steps = self._steps if len(feeds) == len(feed_dict or ()) else self._split_steps
        if limit and not self._timeout:
            steps = self._timed_steps
        step = steps.get(key) if key is not None else None
        if step is None:
            hook = checks.hooks(self._after_each, checks.in_time if limit else None)
            step = Step(self, Fetches(self._graph, fetches), feeds, hook)
            if key is not None:
                self._growth.new_step()
                steps[key] = step
        with limited:
            return step(values)

    @contextlib.contextmanager
    def _told_by_tasks(self, limit: float, options: RunOptions | None, run_metadata: Any) -> Iterator[None]:
        """A step on a cluster whose tasks tell what they do."""
        try:
            with traced(limit, run_metadata):
                yield
        finally:
            Watched.keep_what_is_asked(options, self._config, run_metadata)

    @contextlib.contextmanager
    def _watched_step(self, key: Any, fetches: Any, feeds: list[Tensor], limit: float) -> Iterator[Watched]:
        """A step for one run that is traced; another thread's run meanwhile has one of its own."""
        watched = self._watched_steps.pop((key, bool(limit)), None) if key is not None else None
        if watched is None:
            checked = checks.hooks(self._after_each, checks.in_time if limit else None)
            watched = Watched(self, Fetches(self._graph, fetches), feeds, checked)
        yield watched
        if key is not None:
            self._watched_steps[key, bool(limit)] = watched

    def _check_ready(self) -> None:
        self._check_open()
        if not self._graph.version:
            raise RuntimeError(
                "The Session graph is empty.  Add operations to the graph before calling run()."
            )
        if self._is_stale():
            self._steps.clear()
            self._split_steps.clear()
            self._timed_steps.clear()
            self._watched_steps.clear()
            self._mutations = self._graph._mutations

    def _compile(
        self,
        tensors: list[Tensor],
        targets: list[Operation],
        feeds: list[Tensor],
        shapes: list,
        after_each: Callable | None,
        done: Set[Operation] = frozenset(),
    ) -> Plan:
        try:
            if self._elsewhere is not None:
                return self._elsewhere.compile(tensors, targets, feeds, shapes, after_each, done)
            return compile_step(
                tensors,
                targets,
                feeds,
                shapes,
                self._resources,
                self._placement,
                self._disabled_rules,
                after_each,
                done,
            )
        except ValueError as error:
            raise errors.invalid_argument(str(error)) from error

    def _check_open(self) -> None:
        if self._was_reset:
            raise errors.cancelled("Session has been closed.")
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")

    def make_callable(
        self, fetches: Any, feed_list: list | None = None, accept_options: bool = False
    ) -> Callable:
        """A function that runs `fetches`, taking values for `feed_list` as positional arguments."""
        if feed_list is not None and not isinstance(feed_list, (list, tuple)):
            raise TypeError("`feed_list` must be a list or tuple.")
        feed_list = list(feed_list or ())
        self._check_open()
        Fetches(self._graph, fetches)  # what cannot be fetched is said now
        if accept_options:
            return lambda *values, options=None, run_metadata=None: self.run(
                fetches, self._callable_feeds(feed_list, values), options, run_metadata
            )
        if isinstance(fetches, (list, dict)):
            fetches = fetches.copy()
        return lambda *values: self.run(fetches, self._callable_feeds(feed_list, values))

    def _callable_feeds(self, feed_list: list, values: tuple) -> dict:
        if len(feed_list) != len(values):
            raise ValueError(f"Expected {len(feed_list)} arguments, got {len(values)}")
        return dict(zip(feed_list, values, strict=True))

    def partial_run_setup(self, fetches: Any, feeds: list | None = None) -> str:
        """Announces a step that `partial_run` performs piece by piece."""
        self._check_open()
        tensors = [tensor for key in feeds or () for tensor in resolve_feed(self._graph, key)]
        run = PartialRun(self, Fetches(self._graph, fetches), tensors)
        self._partial_runs[run.handle] = run
        return run.handle

    def partial_run(self, handle: str, fetches: Any, feed_dict: dict | None = None) -> Any:
        """Goes on with the step `handle`: takes these feeds, returns these fetches."""
        self._check_open()
        if handle not in self._partial_runs:
            raise errors.invalid_argument(
                f"Must run 'setup' before performing partial runs! No partial run {handle!r}."
            )
        run = self._partial_runs[handle]
        feeds = dict(zip(*flat_feeds(self._graph, feed_dict), strict=True))
        results = run(Fetches(self._graph, fetches), feeds)
        if run.finished:
            del self._partial_runs[handle]
        return results

    def explain(self, fetches: Any, feed_dict: dict | None = None) -> str:
        """The plan of this step, for reading: its source, devices, rewrites, compile time and peak memory."""
        feeds, values = flat_feeds(self._graph, feed_dict)
        step = Step(self, Fetches(self._graph, fetches), feeds)
        return explain(step.plan_for([feed(value) for feed, value in zip(step.feeders, values, strict=True)]))

    # ------------------------------------------------------------------ the session itself

    @property
    def graph(self) -> Graph:
        return self._graph

    @property
    def graph_def(self) -> GraphDef:
        return self._graph.as_graph_def()

    @property
    def sess_str(self) -> Any:
        return self._target

    def list_devices(self) -> list[Device]:
        """The devices this session may use."""
        if self._closed:
            raise errors.cancelled("Session has been closed.")
        if self._elsewhere is not None:
            return self._elsewhere.devices()
        return list(self._placement.devices)

    def _gone_tasks(self) -> Set[str]:
        """The tasks of its cluster that were there and are no more, their work not done."""
        return frozenset() if self._elsewhere is None else self._elsewhere.gone()

    def close(self) -> None:
        """Ends the session and lets go of its state."""
        self._closed = self._resources.closed = True
        if self._elsewhere is not None:
            self._elsewhere.close()
        self._resources.wake()
        self._steps.clear()
        self._split_steps.clear()
        self._timed_steps.clear()
        self._watched_steps.clear()
        self._partial_runs.clear()
        self._resources.clear()

    @contextlib.contextmanager
    def as_default(self) -> Iterator[BaseSession]:
        """`eval()` and `run()` of tensors and operations use this session inside the block."""
        with default_sessions.pushed(self):
            yield self


@export("Session")
class Session(BaseSession):
    """Runs a graph. `check_finite` names the first op that makes a NaN; `deterministic` gives the same bits
    every time.
    """

    def __init__(
        self,
        target: str = "",
        graph: Graph | None = None,
        config: ConfigProto | None = None,
        *,
        check_finite: bool = False,
        deterministic: bool | None = None,
    ):
        super().__init__(target, graph, config, check_finite, deterministic)
        self._entered: list[contextlib.ExitStack] = []

    def __enter__(self) -> Session:
        stack = contextlib.ExitStack()
        stack.enter_context(self._graph.as_default())
        stack.enter_context(self.as_default())
        self._entered.append(stack)
        return self

    def __exit__(self, *exc: Any) -> None:
        self._entered.pop().close()
        self.close()

    @staticmethod
    def reset(target: str, containers: list[str] | None = None, config: ConfigProto | None = None) -> None:
        """Clears state on a cluster. Without a target, closes the sessions of this process, whose state ends
        with them.
        """
        if target:
            destinations.reset(target, containers or [], config)
            return
        for session in [each for each in open_sessions() if each._elsewhere is None]:
            session._was_reset = True
            session.close()


@export("InteractiveSession")
class InteractiveSession(BaseSession):
    """A session that makes itself the default on construction, for use in a shell."""

    _active = 0

    def __init__(
        self, target: str = "", graph: Graph | None = None, config: ConfigProto | None = None, **options: Any
    ):
        super().__init__(target, graph, config, **options)
        if InteractiveSession._active:
            warnings.warn(
                "An interactive session is already active. This can cause out-of-memory errors in some "
                "cases. You must explicitly call `InteractiveSession.close()` to release resources held by "
                "the other session(s).",
                stacklevel=2,
            )
        InteractiveSession._active += 1
        default_sessions.items.append(self)
        self._explicit_graph = graph
        if graph is not None:
            default_graphs.items.append(graph)

    def close(self) -> None:
        if self._closed:
            return
        InteractiveSession._active -= 1
        if self in default_sessions.items:
            default_sessions.items.remove(self)
        if self._explicit_graph in default_graphs.items:
            default_graphs.items.remove(self._explicit_graph)
        super().close()
