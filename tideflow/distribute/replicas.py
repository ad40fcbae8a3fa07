"""Replicas of a function, built one after the other in threads that stop where they meet.

A replica runs until it ends, or calls `merge_call`; then the next one does. When all have called it, the
function of the merge runs once, and the replicas go on with its results. Never do two of them run at once, so
that graphs are built in the same order each time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.distribute import context
from tideflow.distribute.context import Mode
from tideflow.distribute.replica_context import ReplicaContext
from tideflow.distribute.values import regroup, select
from tideflow.graph.scopes import device, get_default_graph
from tideflow.graph.stacks import default_sessions
from tideflow.variables.creators import creators_of
from tideflow.variables.variable_scope import get_variable_scope, variable_creator_scope, variable_scope

if TYPE_CHECKING:
    from tideflow.distribute.strategy import Strategy


class _Abandoned(BaseException):
    """Ends the thread of a replica whose step is given up."""


class Merge:
    """A call that all replicas make together."""

    def __init__(
        self, function: Callable, args: Sequence[Any], kwargs: dict[str, Any], scopes: dict[str, Any]
    ):
        self.function = function
        self.args = tuple(args)
        self.kwargs = kwargs
        self.scopes = scopes  # of the replica, in its graph
        self.variable_scope = get_variable_scope()


def run_replicas(
    strategy: Strategy, devices: Sequence[str], fn: Callable, args: Sequence[Any], kwargs: dict[str, Any]
) -> Any:
    """Runs a function for each device; what it returned, with a value for each of them."""
    made: dict[str, list[Any]] = {}
    replicas = [
        _Replica(strategy, i, devices, fn, select(i, tuple(args)), select(i, kwargs), made)
        for i in range(len(devices))
    ]
    try:
        while True:
            for replica in replicas:
                replica.run_until_it_stops()
            if all(replica.merge is None for replica in replicas):
                return regroup([replica.result for replica in replicas], devices)
            if any(replica.merge is None for replica in replicas):
                raise RuntimeError(
                    "Some replicas have called `merge_call`, and others have ended without it: the function "
                    "must make the same calls on every replica."
                )
            _merge(strategy, replicas, devices)
    finally:
        for replica in replicas:
            replica.abandon()


def _merge(strategy: Strategy, replicas: Sequence[_Replica], devices: Sequence[str]) -> None:
    merges = [replica.merge for replica in replicas]
    first = merges[0]
    args = regroup([merge.args for merge in merges], devices)
    kwargs = regroup([merge.kwargs for merge in merges], devices)
    waited_for = [controls for merge in merges for controls in merge.scopes["controls"]]
    scopes = {**first.scopes, "controls": tuple(waited_for)}
    with (
        get_default_graph()._local.block(**scopes),
        context.entered(Mode(strategy, None)),
        variable_scope(first.variable_scope),
    ):
        result = first.function(strategy, *args, **kwargs)
    for i, replica in enumerate(replicas):
        replica.answer = select(i, result)


def _scopes(graph: Any) -> dict[str, Any]:
    """The scopes that this thread is in, in a graph."""
    return {name: value for name, value in vars(graph._local).items() if name != "depth"}


class _Replica(ReplicaContext):
    """A replica, and the thread that runs its function."""

    def __init__(
        self,
        strategy: Strategy,
        position: int,
        devices: Sequence[str],
        fn: Callable,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        made: dict[str, list[Any]],
    ):
        super().__init__(strategy, position)
        self.merge: Merge | None = None
        self.answer: Any = None
        self.result: Any = None
        self._error: BaseException | None = None
        self._is_abandoned = False
        self._may_go, self._has_stopped = threading.Semaphore(0), threading.Semaphore(0)
        self._graph = get_default_graph()
        self._scopes = _scopes(self._graph)
        self._session = default_sessions.top()
        self._variable_scope = get_variable_scope()
        self._creators = list(creators_of(self._graph))
        self._device = devices[position]
        self._made, self._count = made, dict[str, int]()
        self._work = lambda: fn(*args, **kwargs)
        self._thread = threading.Thread(target=self._run, name=f"tideflow replica {position}", daemon=True)

    # ------------------------------------------------------------------ what the caller's thread does

    def run_until_it_stops(self) -> None:
        """Lets the replica run until it ends, or waits for the others. What makes variables is the graph's,
        not a thread's, so that each replica brings its own.
        """
        self.merge = None
        creators = creators_of(self._graph)
        outer, creators[:] = list(creators), self._creators
        try:
            if self._thread.ident is None:
                self._thread.start()
            self._may_go.release()
            self._has_stopped.acquire()
        finally:
            self._creators, creators[:] = list(creators), outer
        if self._error is not None:
            raise self._error

    def abandon(self) -> None:
        """Ends a thread that waits; one that has ended is not there any more."""
        self._is_abandoned = True
        self._may_go.release()

    # ------------------------------------------------------------------ what the replica's thread does

    def _run(self) -> None:
        self._may_go.acquire()
        try:
            if not self._is_abandoned:
                self.result = self._call()
        except _Abandoned:
            pass
        except BaseException as error:  # raised again in the caller's thread
            self._error = error
        finally:
            self._has_stopped.release()

    def _call(self) -> Any:
        name = self._scopes["name_stack"]
        if self._position:
            name = f"{name}/replica_{self._position}" if name else f"replica_{self._position}"
        with (
            self._graph.as_default(),
            default_sessions.pushed(self._session),
            self._graph._local.block(**{**self._scopes, "name_stack": name}),
            self,
            device(self._device),
            variable_scope(
                self._variable_scope, reuse=bool(self._position) or None, auxiliary_name_scope=False
            ),
            variable_creator_scope(self._create_once),
        ):
            return self._work()

    def _create_once(self, next_creator: Callable[..., Any], **arguments: Any) -> Any:
        """A variable that the first replica makes is the other replicas' too: the next of that name."""
        name = arguments.get("name") or "Variable"
        made = self._made.setdefault(name, [])
        at = self._count.get(name, 0)
        self._count[name] = at + 1
        if self._position == 0:
            with context.entered(Mode(self._strategy, None)):
                made.append(next_creator(**arguments))
        elif at >= len(made):
            raise RuntimeError(
                f"Tried to create variable {name} with mismatching name on device {self._position}: the "
                "first replica has not made it."
            )
        return made[at]

    def _merge_call(self, merge_fn: Callable, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        scopes = {**_scopes(self._graph), "devices": self._scopes["devices"]}
        self.merge = Merge(merge_fn, args, kwargs, scopes)
        self._has_stopped.release()
        self._may_go.acquire()
        if self._is_abandoned:
            raise _Abandoned
        answer, self.answer = self.answer, None
        return answer
