"""Session: runs parts of a graph. Feeds in, fetches out, one cached plan per pair of them."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterable, Iterator, Set
from typing import Any

from tensorboard.compat.proto.config_pb2 import CallableOptions, ConfigProto, RunMetadata, RunOptions
from tensorboard.compat.proto.graph_pb2 import GraphDef

from tideflow.compile.request import Hook, StepRequest
from tideflow.compile.trust import check_untrusted, check_untrusted_parts
from tideflow.export import export
from tideflow.graph import errors
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import get_default_graph
from tideflow.graph.stacks import default_graphs, default_sessions
from tideflow.interrupts import deferred
from tideflow.runtime.devices import Device
from tideflow.runtime.ending import close_at_exit, open_sessions
from tideflow.runtime.resources import ResourceManager
from tideflow.runtime.waiting import StepContext
from tideflow.session import checks, step_cache, targets
from tideflow.session.config import (
    apply_config,
    device_mapping,
    half_by_device,
    wants_early_compilation,
)
from tideflow.session.executor import Executor, LocalExecutor
from tideflow.session.explain import explain
from tideflow.session.feeds import are_single_tensors, flat_feeds, resolve_feed
from tideflow.session.fetches import Fetches, fetch_key
from tideflow.session.partial_run import PartialRun
from tideflow.session.step import Step
from tideflow.session.step_cache import QUICK, StepCache
from tideflow.session.traced_step import TracedStep, TraceRequest

_NO_KEYS = ()


# Runs a step whose options name tensors to watch. The debugger, a room below this one, sets it.
run_watched: Callable[..., Any] | None = None


class BaseSession:
    """What Session and InteractiveSession share."""

    def __init__(
        self,
        target: str = "",
        graph: Graph | None = None,
        config: ConfigProto | None = None,
        check_finite: bool = False,
        deterministic: bool | None = None,
        trusted: bool = True,
    ):
        target = "" if target is None else target
        if not isinstance(target, (str, bytes)):
            raise TypeError(f"target must be a string, but got {type(target)}")
        if graph is not None and not isinstance(graph, Graph):
            raise TypeError(f"graph must be a tf.Graph, but got {type(graph)}")
        if config is not None and not isinstance(config, ConfigProto):
            raise TypeError(f"config must be a tf.ConfigProto, but got {type(config)}")
        self._target = target
        self._graph = graph if graph is not None else get_default_graph()
        self._config = config
        self._resources = ResourceManager(self._graph.resources)
        self._resources.compile_early = wants_early_compilation(config)
        remote = targets.connect(target, self._graph, config) if target else None
        self._placement, self._disabled_rules = apply_config(config, deterministic)
        self._half_by_device = half_by_device(config)
        if self._placement.log and not target:
            print(device_mapping(self._placement.devices), flush=True)
        self._executor: Executor = remote or LocalExecutor(self._resources, self._placement)
        self._closed = self._was_reset = self._is_of_parent = False
        own_timeout = config.operation_timeout_in_ms / 1000 if config is not None else 0.0
        self._timeout = own_timeout or self._executor.default_timeout
        self._steps = StepCache(self._graph)
        self._partial_runs: dict[str, PartialRun] = {}
        self._check = checks.FINITE if check_finite else None
        self._growth = checks.GrowthWatch(self._graph)
        self._measured_runs = 0
        self._trusted = trusted
        self._own_files: frozenset[Tensor] = frozenset()
        close_at_exit(self)

    def __repr__(self) -> str:
        at = f" at {self._target!r}" if self._target else ""
        return f"<{type(self).__name__}{at}{' (closed)' if self._closed else ''} of {self._graph!r}>"

    # ------------------------------------------------------------------ running

    def run(
        self,
        fetches: Any,
        feed_dict: dict[Any, Any] | None = None,
        options: RunOptions | None = None,
        run_metadata: RunMetadata | None = None,
    ) -> Any:
        """Runs the part of the graph that `fetches` need, and returns their values.

        Args:
          fetches: A tensor or an operation, its name, a sparse or ragged tensor, a variable; or a list, a
            tuple or a dict of these, nested to any depth.
          feed_dict: Values for tensors of the graph, by tensor or by name. A fed tensor is not computed.
          options: A `tf.RunOptions`: a time limit, a trace.
          run_metadata: A `tf.RunMetadata`, which is filled in with what `options` ask for.

        Returns:
          A structure like `fetches`: a NumPy array or scalar for each tensor, None for each operation.

        Raises:
          RuntimeError: If the session is closed, or its graph is empty.
          TypeError: If a fetch or a key of `feed_dict` is of a wrong type.
          ValueError: If a fetch is not in the graph, or a fed value does not have the tensor's shape.
          tf.errors.OpError: If an operation fails; the error names it.
        """
        try:
            key: Any = (
                fetches if fetches.__class__ is Tensor else fetch_key(fetches),
                tuple(feed_dict) if feed_dict else _NO_KEYS,
                QUICK,
            )
            step = self._steps.get(key)
        except TypeError:
            key = step = None
        if (
            step is None
            or self._closed
            or options is not None
            or run_metadata is not None
            or self._steps.is_stale
        ):
            return self._run_slowly(key, fetches, feed_dict, options, run_metadata)
        return step(feed_dict.values() if feed_dict else _NO_KEYS)

    def _run_slowly(
        self,
        key: Any,
        fetches: Any,
        feed_dict: dict[Any, Any] | None,
        options: RunOptions | None,
        run_metadata: RunMetadata | None,
    ) -> Any:
        """Runs a step that is new or has options; `key` is None where it cannot be cached."""
        self._check_ready()
        watches = options.debug_options.debug_tensor_watch_opts if options is not None else ()
        if run_watched is not None and options is not None and watches:
            return run_watched(self, fetches, feed_dict, options, run_metadata)
        feeds, values = flat_feeds(self._graph, feed_dict)
        timeout = (options.timeout_in_ms / 1000 if options is not None else 0) or self._timeout or None
        asked = None
        if run_metadata is not None:
            run_metadata.Clear()
            asked = TraceRequest.of(options, self._config, self._measured_runs)
            self._measured_runs += 1
        if asked is not None and not self._executor.fills_traces:
            return self._run_traced(key, fetches, feeds, values, timeout, asked, run_metadata)
        is_quick = not feed_dict or are_single_tensors(feed_dict)
        kind = step_cache.TIMED if timeout else QUICK if is_quick else step_cache.FLAT
        key = None if key is None else (*key[:2], kind)
        step = self._steps.get(key)
        if step is None:
            step = Step(self._executor, *self._request(fetches, feeds, self._hook(timeout)))
            if key is not None:
                self._growth.new_step()
                self._steps.steps[key] = step
        if asked is None:
            return step(values, StepContext(timeout))
        try:
            return step(values, StepContext(timeout, run_metadata))
        finally:
            asked.select(run_metadata)

    def _run_traced(
        self,
        key: Any,
        fetches: Any,
        feeds: list[Tensor],
        values: list[Any],
        timeout: float | None,
        asked: TraceRequest,
        run_metadata: RunMetadata,
    ) -> Any:
        """Runs a traced step of this process. The run takes its step out of the cache: a concurrent run of
        another thread makes one of its own.
        """
        kind = step_cache.TIMED_AND_TRACED if timeout else step_cache.TRACED
        key = None if key is None else (*key[:2], kind)
        step = self._steps.steps.pop(key, None)
        if not isinstance(step, TracedStep):
            request, found = self._request(fetches, feeds, self._hook(timeout))
            step = TracedStep(self._executor, request, found, self._placement)
        results = step.run(values, StepContext(timeout), self._graph, asked, run_metadata)
        if key is not None:
            self._steps.steps[key] = step
        return results

    def _hook(self, timeout: float | None) -> Hook | None:
        return checks.combined(self._check, checks.IN_TIME if timeout else None)

    def _request(
        self, fetches: Any, feeds: list[Tensor], hook: Hook | None = None
    ) -> tuple[StepRequest, Fetches]:
        found = Fetches(self._graph, fetches)
        tensors, operations = tuple(found.tensors), tuple(found.targets)
        rules = self._disabled_rules
        half = self._half_by_device
        request = StepRequest(
            tensors, operations, tuple(feeds), disabled_rules=rules, half_by_device=half, hook=hook
        )
        if not self._trusted:
            check_untrusted(request, self._own_files)
        elif self._graph._untrusted:
            check_untrusted_parts(request, self._graph._untrusted)
        return request, found

    def _distrust(self) -> None:
        """From now on, refuses operations that touch files or Python."""
        self._trusted = False
        self._steps.steps.clear()

    @contextlib.contextmanager
    def _may_read(self, own_files: Iterable[Tensor]) -> Iterator[None]:
        """Inside the block, a graph that is not trusted may read the files that these tensors, fed, name."""
        self._own_files = frozenset(own_files)
        try:
            yield
        finally:
            self._own_files = frozenset()

    def _check_ready(self) -> None:
        self._check_open()
        if not self._graph.version:
            raise RuntimeError(
                "The Session graph is empty.  Add operations to the graph before calling run()."
            )
        self._steps.drop_stale()

    def _refuse_after_fork(self) -> None:
        """In a child process: every run takes the slow path, and fails there."""
        self._closed = self._is_of_parent = True

    def _check_open(self) -> None:
        if self._is_of_parent:
            raise errors.failed_precondition(
                "A session does not survive a fork: this one was made before this process was forked, and "
                "its threads and locks stayed with the parent. Make a session in the child."
            )
        if self._was_reset:
            raise errors.cancelled("Session has been closed.")
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")

    def make_callable(
        self, fetches: Any, feed_list: list[Any] | None = None, accept_options: bool = False
    ) -> Callable[..., Any]:
        """A function that runs `fetches`, taking values for `feed_list` as positional arguments.

        Args:
          fetches: As for `run`.
          feed_list: The tensors, or their names, for which the function takes values, in this order.
          accept_options: Whether the function takes `options` and `run_metadata` too, by keyword.

        Returns:
          The function. It returns what `run` would.

        Raises:
          TypeError: If `feed_list` is no list, or a fetch is of a wrong type.
        """
        if feed_list is not None and not isinstance(feed_list, (list, tuple)):
            raise TypeError("`feed_list` must be a list or tuple.")
        feed_list = list(feed_list or ())
        self._check_open()
        Fetches(self._graph, fetches)  # raises where something cannot be fetched
        if accept_options:
            return lambda *values, options=None, run_metadata=None: self.run(
                fetches, self._callable_feeds(feed_list, values), options, run_metadata
            )
        if isinstance(fetches, (list, dict)):
            fetches = fetches.copy()
        return lambda *values: self.run(fetches, self._callable_feeds(feed_list, values))

    def _make_callable_from_options(self, callable_options: CallableOptions) -> Callable[..., list[Any]]:
        """A function as the message describes it: feeds, in its order, to a list of its fetches' values."""
        options, feeds = CallableOptions(), list(callable_options.feed)
        options.CopyFrom(callable_options)
        fetches = [*options.fetch, *options.target]
        step = self.make_callable(fetches, feeds, accept_options=True)

        def call(*values: Any, run_metadata: RunMetadata | None = None) -> list[Any]:
            found: list[Any] = step(*values, options=options.run_options, run_metadata=run_metadata)
            return found[: len(options.fetch)]

        return call

    def _callable_feeds(self, feed_list: list[Any], values: tuple[Any, ...]) -> dict[Any, Any]:
        if len(feed_list) != len(values):
            raise ValueError(f"Expected {len(feed_list)} arguments, got {len(values)}")
        return dict(zip(feed_list, values, strict=True))

    def partial_run_setup(self, fetches: Any, feeds: list[Any] | None = None) -> str:
        """Announces a step that `partial_run` performs piece by piece, each operation at most once.

        Args:
          fetches: Everything that the pieces will fetch.
          feeds: Every tensor that they will feed.

        Returns:
          The handle of the step, for `partial_run`.
        """
        self._check_open()
        tensors = [tensor for key in feeds or () for tensor in resolve_feed(self._graph, key)]
        request, _ = self._request(fetches, tensors)
        if not request.fetches and not request.targets:
            raise errors.invalid_argument("Must specify at least one target to fetch or execute.")
        run = PartialRun(self._executor, request, self._timeout or None)
        self._partial_runs[run.handle] = run
        return run.handle

    def partial_run(self, handle: str, fetches: Any, feed_dict: dict[Any, Any] | None = None) -> Any:
        """Performs the next piece of a step: takes these feeds, returns these fetches.

        Args:
          handle: What `partial_run_setup` has returned.
          fetches: As for `run`; some of those that were announced, and were not fetched yet.
          feed_dict: As for `run`; values for tensors that were announced, and were not fed yet.

        Returns:
          A structure like `fetches`, with their values.

        Raises:
          tf.errors.InvalidArgumentError: If something was not announced, or was fetched or fed before.
        """
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

    def explain(self, fetches: Any, feed_dict: dict[Any, Any] | None = None) -> str:
        """The plan of a step, for reading: its source, devices, rewrites, compile time and peak memory.

        Args:
          fetches: As for `run`.
          feed_dict: As for `run`; the plan is made for the shapes of these values.

        Returns:
          The plan as Python source, with comments.
        """
        feeds, values = flat_feeds(self._graph, feed_dict)
        step = Step(self._executor, *self._request(fetches, feeds))
        return explain(step.plan_for([feed(value) for feed, value in zip(step.feeders, values, strict=True)]))

    # ------------------------------------------------------------------ the session itself

    @property
    def graph(self) -> Graph:
        return self._graph

    @property
    def graph_def(self) -> GraphDef:
        infer_shapes = self._config is not None and self._config.graph_options.infer_shapes
        return self._graph.as_graph_def(add_shapes=infer_shapes)

    @property
    def sess_str(self) -> Any:
        return self._target

    def list_devices(self) -> list[Device]:
        """The devices this session may use."""
        if self._closed:
            raise errors.cancelled("Session has been closed.")
        return self._executor.devices()

    def _gone_tasks(self) -> Set[str]:
        """The tasks of its cluster that were there and are no more, without having finished their work."""
        return self._executor.missing_tasks()

    @deferred
    def close(self) -> None:
        """Ends the session's steps, and drops its state."""
        if self._is_of_parent:
            return  # the parent closes it
        self._closed = True
        self._executor.close()
        self._steps.steps.clear()
        self._partial_runs.clear()

    @contextlib.contextmanager
    def as_default(self) -> Iterator[BaseSession]:
        """`eval()` and `run()` of tensors and operations use this session inside the block."""
        with default_sessions.pushed(self):
            yield self
            inner = default_sessions.top()
            if inner is not self and inner is not None and not isinstance(inner, InteractiveSession):
                raise AssertionError(f"Nesting violated for default stack of {type(inner)} objects")


@export("Session")
class Session(BaseSession):
    """Runs operations of a graph, and holds the state (variables, queues, tables) that they change.

    A session releases its state when it is closed. As a context manager it is the default session inside the
    block, and is closed at its end:

        with tf.Session() as session:
            session.run(fetches)

    Args:
      target: Where steps run: "" for this process, or the target of a `tf.train.Server`.
      graph: The graph; by default the default graph.
      config: A `tf.ConfigProto`: devices, threads, optimizations.
      check_finite: Whether to fail at the first operation that produces a NaN or an infinity, and to name it.
      deterministic: Whether to use kernels that give the same bits every time; by default as the environment
        variable TF_DETERMINISTIC_OPS says.
      trusted: False to refuse operations that reach files or Python functions of the process, with
        PermissionDeniedError: for graphs that somebody else made.
    """

    def __init__(
        self,
        target: str = "",
        graph: Graph | None = None,
        config: ConfigProto | None = None,
        *,
        check_finite: bool = False,
        deterministic: bool | None = None,
        trusted: bool = True,
    ):
        super().__init__(target, graph, config, check_finite, deterministic, trusted)
        self._entered: contextlib.ExitStack | None = None

    def __enter__(self) -> Session:
        if self._entered is not None:
            raise RuntimeError(
                "Session context managers are not re-entrant. Use `Session.as_default()` if you want to "
                "enter a session multiple times."
            )
        stack = contextlib.ExitStack()
        stack.enter_context(self._graph.as_default())
        stack.enter_context(self.as_default())
        self._entered = stack
        return self

    @deferred
    def __exit__(self, *exc: Any) -> None:
        stack, self._entered = self._entered, None
        if stack is not None:
            stack.close()
        self.close()

    @staticmethod
    def reset(target: str, containers: list[str] | None = None, config: ConfigProto | None = None) -> None:
        """Clears the state of a cluster. Without a target, closes the sessions of this process, whose state
        ends with them.

        Args:
          target: The target of a `tf.train.Server`, or "".
          containers: The resource containers to clear; by default the default container.
          config: A `tf.ConfigProto`.
        """
        if target:
            targets.reset(target, containers or [], config)
            return
        for session in [each for each in open_sessions() if isinstance(each._executor, LocalExecutor)]:
            session._was_reset = True
            session.close()


@export("InteractiveSession")
class InteractiveSession(BaseSession):
    """A session that is the default one from its construction until it is closed, for use in a shell.

    Args:
      target: As for `tf.Session`.
      graph: As for `tf.Session`; it is the default graph, too.
      config: As for `tf.Session`.
      **options: The other arguments of `tf.Session`.
    """

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
        default_sessions.push(self)
        self._explicit_graph = graph
        if graph is not None:
            default_graphs.push(graph)

    def close(self) -> None:
        if self._closed:
            return
        InteractiveSession._active -= 1
        default_sessions.discard(self)
        if self._explicit_graph is not None:
            default_graphs.discard(self._explicit_graph)
        super().close()
