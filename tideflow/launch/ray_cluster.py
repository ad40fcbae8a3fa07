"""A job on a Ray cluster. Ray places the tasks and detects lost machines; it carries no tensors.

Every task has a seat: a bundle of a placement group, and an actor in it that has the task's process. The
seats that the job cannot begin without are in one placement group, so that Ray places all of them or none.
Each seat of a further worker is in a group of its own, which Ray's autoscaler sees as a request. A task that
fails is started again in its seat. If a seat's machine is lost, Ray places its actor on another machine. If
the task's address changes by that, or if a further worker gets its seat, the cluster is a different one: the
job begins again with it, from its last checkpoint.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tideflow.cluster import keys
from tideflow.launch import processes
from tideflow.launch.local import NEW_KEY, key_file
from tideflow.launch.plan import Plan, arguments_of, cluster_of, environment_of, tasks_of, threads_of
from tideflow.launch.shell import LONGEST_WAIT, Ended, Event, Output, Regroup, Shell, Started, signals_noted
from tideflow.launch.supervision import Supervision, Task
from tideflow.launch.view import PlainView, view_of

_NEWS_SECONDS = 5.0  # how long an actor waits for news before it returns none
_CONNECT_SECONDS = 10.0
_LOST = 128 + 9  # the exit code of a task whose machine is lost: that of SIGKILL
_REPORT_AGAIN_SECONDS = 30.0
_SETTLE_SECONDS = 3.0  # several seats often change together: the job begins again once for all of them


def launch(
    plan: Plan,
    address: str,
    *,
    min_workers: int | None = None,
    key: str | None = None,
    ship: str | None = None,
    plain: bool = False,
) -> int:
    """Runs the job on a Ray cluster to its end; returns its exit code."""
    with key_file(key or os.environ.get(keys.VARIABLE) or NEW_KEY) as named:
        secret = {name: Path(path).read_text() for name, path in named.items()}
    least = plan.workers if min_workers is None else min_workers
    with _connected(address, ship) as ray:
        seats = Seats(ray, plan, least)
        try:
            return _run(plan, seats, secret, ship, plain)
        except KeyboardInterrupt:
            return 130
        finally:
            seats.give_back()


def _run(plan: Plan, seats: Seats, secret: Mapping[str, str], ship: str | None, plain: bool) -> int:
    supervision = Supervision(plan.tasks, plan.chief, plan.restarts, plan.grace)
    with view_of(supervision, plain) as view:
        while True:
            seats.fill(view)
            seated = seats.by_task()
            restarted = {task: seat.restarts for task, seat in seated.items()}
            supervision = Supervision(
                list(seated), plan.chief, plan.restarts, plan.grace, restarted=restarted
            )
            view.supervision = supervision
            with signals_noted() as signals:
                code = Shell(supervision, OnRay(plan, seats, seated, secret, ship), view, signals).run()
            if not supervision.is_regrouping:
                return code
            for task, seat in seated.items():
                seat.restarts = supervision.records[task].restarts


@contextlib.contextmanager
def _connected(address: str, ship: str | None) -> Iterator[Any]:
    try:
        import ray  # loaded when asked for
    except ImportError:
        raise ValueError("--ray needs Ray: pip install 'tideflow[cluster]'") from None
    _check_reachable(address)
    # Ray sends the source of `processes`, so that an actor need not import Tideflow and torch.
    ray.cloudpickle.register_pickle_by_value(processes)  # type: ignore[no-untyped-call]
    environment = {"working_dir": os.path.abspath(ship)} if ship else {}
    try:
        ray.init(address=address, runtime_env=environment, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        raise ValueError(f"there is no Ray cluster at {address}: {error}") from None
    try:
        yield ray
    finally:
        ray.shutdown()


def _check_reachable(address: str) -> None:
    """Raises ValueError if nothing listens at the address. Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    if address == "auto" or "://" in address:
        return
    if not host or not port.isdecimal():
        raise ValueError(f"--ray takes host:port, or auto; found '{address}'")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise ValueError(f"there is no Ray cluster at {address}: {error}") from None


# ----------------------------------------------------------------------------------------------------- seats


class Seat:
    """Resources for one task: a bundle of a placement group, and the actor in it while there is one."""

    def __init__(self, ray: Any, job: str, group: Any, bundle: int, options: Mapping[str, Any]) -> None:
        self._ray, self.job, self._group, self._bundle, self._options = ray, job, group, bundle, options
        self.actor: Any = None
        self.arriving: Any = None  # the reference of the actor's first answer, while it is being placed
        self.address = ""
        self.restarts = 0

    @property
    def is_taken(self) -> bool:
        """Whether a task can be started here."""
        return self.actor is not None and self.arriving is None

    def take(self) -> None:
        """Requests an actor here. Ray places it when there is room."""
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy  # loaded when asked for

        strategy = PlacementGroupSchedulingStrategy(self._group, self._bundle)
        actor = self._ray.remote(processes.RayHost).options(
            scheduling_strategy=strategy, max_concurrency=4, **self._options
        )
        self.actor = actor.remote()
        port = int(self.address.rpartition(":")[2]) if self.address else None
        self.arriving = self.actor.place.remote(port)

    def arrive(self) -> None:
        """Gets the address of the task from the actor, which has been placed."""
        self.address = self._ray.get(self.arriving)
        self.arriving = None

    def lose(self) -> None:
        """Gives up a lost actor. It is killed, in case its machine comes back."""
        if self.actor is not None:
            self._ray.kill(self.actor)
        self.actor = self.arriving = None

    def close(self) -> None:
        """Kills the task's process and the actor."""
        if self.is_taken:
            with contextlib.suppress(Exception):  # the actor is lost then, and its process with it
                self._ray.get(self.actor.close.remote(), timeout=5)
        self.lose()


class Seats:
    """The seats of a job: those that it needs to begin, placed together, and those of further workers."""

    def __init__(self, ray: Any, plan: Plan, min_workers: int) -> None:
        self.ray, self.plan = ray, plan
        needed = tasks_of(plan.ps, min_workers, plan.has_chief, plan.has_evaluator)
        further = [Task("worker", index) for index in range(min_workers, plan.workers)]
        self._groups: list[Any] = []
        self.needed = self._seats(needed)
        self.further = [seat for task in further for seat in self._seats([task])]

    def _seats(self, tasks: Sequence[Task]) -> list[Seat]:
        options = [self._options(task) for task in tasks]
        bundles = [_bundle(option) for option in options]
        group = self.ray.util.placement_group(bundles, strategy="PACK")
        self._groups.append(group)
        return [Seat(self.ray, task.job, group, i, options[i]) for i, task in enumerate(tasks)]

    def _options(self, task: Task) -> dict[str, float]:
        given = self.plan.resources_of(task)
        return {"num_cpus": 1.0 if given.cpus is None else given.cpus, "num_gpus": given.gpus or 0.0}

    @property
    def all(self) -> list[Seat]:
        """Every seat; those that the job needs to begin come first."""
        return [*self.needed, *self.further]

    def fill(self, view: PlainView) -> None:
        """Waits until every needed seat is taken, and reports which are missing."""
        reported = time.monotonic() - _REPORT_AGAIN_SECONDS + 2.0
        for seat in self.all:
            if seat.actor is None:
                seat.take()
        while waiting := [seat for seat in self.needed if not seat.is_taken]:
            if time.monotonic() - reported > _REPORT_AGAIN_SECONDS:
                reported = time.monotonic()
                wanted = ", ".join(f"{seat.job} {_bundle(seat._options)}" for seat in waiting)
                view.report(f"waiting for room on Ray for {len(waiting)} of {len(self.all)} tasks: {wanted}")
            self._wait_for_actor(LONGEST_WAIT)

    def _wait_for_actor(self, seconds: float) -> None:
        arriving = {seat.arriving: seat for seat in self.all if seat.arriving is not None}
        if arriving:
            ready, _ = self.ray.wait(list(arriving), num_returns=1, timeout=seconds)
            for ref in ready:
                self.arrived(arriving[ref])

    def arrived(self, seat: Seat) -> bool:
        """Records that a seat's actor has been placed. Requests another and returns False if it is lost."""
        try:
            seat.arrive()
            return True
        except self.ray.exceptions.RayError:  # its machine was lost meanwhile
            seat.lose()
            seat.take()
            return False

    def by_task(self) -> dict[Task, Seat]:
        """The tasks of a cluster that consists of the seats taken now."""
        counts: dict[str, int] = {}
        made = {}
        for seat in self.all:
            if seat.is_taken:
                index = counts[seat.job] = counts.get(seat.job, -1) + 1
                made[Task(seat.job, index)] = seat
        return made

    def give_back(self) -> None:
        """Ends all actors and removes the placement groups."""
        for seat in self.all:
            seat.close()
        for group in self._groups:
            self.ray.util.remove_placement_group(group)


def _bundle(options: Mapping[str, float]) -> dict[str, float]:
    """The resources of the bundle for an actor with these options."""
    bundle = {"CPU": options["num_cpus"], "GPU": options["num_gpus"]}
    return {name: amount for name, amount in bundle.items() if amount} or {"CPU": 0.001}


# ------------------------------------------------------------------------------------------------- the tasks


class OnRay:
    """Runs the tasks of one cluster in their seats, for a `Shell`."""

    def __init__(
        self,
        plan: Plan,
        seats: Seats,
        seated: Mapping[Task, Seat],
        secret: Mapping[str, str],
        ship: str | None,
    ) -> None:
        self._ray, self._seats, self._seated, self._secret = seats.ray, seats, seated, secret
        self._plan, self._folder = plan, None if ship else os.getcwd()
        self._script = plan.script if ship else os.path.abspath(plan.script)
        self._addresses = {task: seat.address for task, seat in seated.items()}
        self._cluster = cluster_of(self._addresses)
        self._wanted: set[Task] = set()  # tasks that start when their seats have an actor
        self._starting: dict[Any, Task] = {}
        self._news: dict[Any, Task] = {}
        self._events: list[Event] = []
        self._change: tuple[float, str] | None = None  # of the cluster: when to regroup, and why

    def start(self, task: Task) -> None:
        """Starts a task in its seat, once the seat has an actor."""
        seat = self._seated[task]
        if seat.is_taken:
            self._start(task, seat)
            return
        self._wanted.add(task)
        if seat.actor is None:
            seat.take()

    def _start(self, task: Task, seat: Seat) -> None:
        cpus = self._plan.resources_of(task).cpus
        environment = {**environment_of(task, self._cluster), "OMP_NUM_THREADS": threads_of(cpus or 1)}
        arguments = [self._script, *arguments_of(self._plan, task, self._cluster)[1:]]
        begun = seat.actor.start.remote(arguments, environment, self._secret, self._folder)
        self._starting[begun] = task

    def send(self, task: Task, number: int) -> None:
        """Sends a signal to a task. A task that waits for its seat has no process, and counts as ended."""
        if task in self._wanted:
            self._wanted.discard(task)
            self._events.append(Ended(task, 128 + number))
        elif self._seated[task].is_taken:
            self._seated[task].actor.send.remote(number)

    def wait(self, seconds: float) -> list[Event]:
        """The events since the last call, of processes and of seats."""
        arriving = {seat.arriving: seat for seat in self._seats.all if seat.arriving is not None}
        refs = [*self._starting, *self._news, *arriving]
        if refs and not self._events:
            ready, _ = self._ray.wait(refs, num_returns=1, timeout=seconds)
            if ready:  # and all others that are ready by now
                ready, _ = self._ray.wait(refs, num_returns=len(refs), timeout=0)
            for ref in ready:
                if ref in arriving:
                    self._seat_taken(arriving[ref])
                else:
                    self._receive(ref)
        elif not self._events:
            time.sleep(seconds)
        if self._change is not None and time.monotonic() >= self._change[0]:
            self._events.append(Regroup(self._change[1]))
            self._change = None
        events, self._events = self._events, []
        return events

    def _seat_taken(self, seat: Seat) -> None:
        if not self._seats.arrived(seat):
            return
        task = next((task for task, taken in self._seated.items() if taken is seat), None)
        if task is None or seat.address != self._addresses[task]:
            reason = "a further worker is there" if task is None else f"{task} is at {seat.address} now"
            self._change = self._change or (time.monotonic() + _SETTLE_SECONDS, reason)
        elif task in self._wanted:
            self._wanted.discard(task)
            self._start(task, seat)

    def _receive(self, ref: Any) -> None:
        """Handles the answer of an actor."""
        began = ref in self._starting
        task = self._starting.pop(ref) if began else self._news.pop(ref)
        try:
            answer = self._ray.get(ref)
        except self._ray.exceptions.RayError as error:
            self._lose(task, error)
            return
        if began:
            self._events.append(Started(task, answer))
            self._request_news(task)
            return
        self._events += [
            Output(task, what) if kind == "output" else Ended(task, what) for kind, what in answer
        ]
        if not any(kind == "ended" for kind, _ in answer):
            self._request_news(task)

    def _request_news(self, task: Task) -> None:
        self._news[self._seated[task].actor.news.remote(_NEWS_SECONDS)] = task

    def _lose(self, task: Task, error: Exception) -> None:
        seat = self._seated[task]
        reason = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
        self._events += [Output(task, f"lost: {reason}"), Ended(task, _LOST)]
        if isinstance(error, self._ray.exceptions.RayTaskError):  # the actor is alive, but has failed
            seat.close()
        else:
            seat.lose()
