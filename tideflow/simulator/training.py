"""Training by parameter servers, message by message as the runtime sends them.

A worker's step: its master sends one small `run` message to every server; each server sends its parameters;
the worker computes, forward through the servers' layers and back, and sends each gradient as soon as it has
it; the server takes it in and answers `run`. In a synchronous step every server also tells the first one,
which keeps the token queue, that the gradient is in its accumulator (a control edge between tasks is a
message), and the worker's step ends with a token. The chief runs a step of its own meanwhile: take the mean
from every accumulator, update, put out tokens.
"""

from __future__ import annotations

import gc
import math
import random
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import simpy

from tideflow.simulator.barrier import Accumulator, Dropped, Gradient, PutOut, Take, Token, Tokens, Waits
from tideflow.simulator.network import NEVER, Call, Machine, Network, Tail, Task, countdown

SMALL = 200  # bytes of a message without a tensor
FORWARD = 1 / 3  # of a step's computing; the rest is the way back

Process = Generator[simpy.Event, None, None]


@dataclass(frozen=True)
class Job:
    """What is trained, and by how many."""

    workers: int
    servers: int
    worker: Machine
    server: Machine
    fetch_bytes: float = 4.0  # from each server, each step
    push_bytes: float = 4.0  # to each server, each step
    index_bytes: float = 0.0  # to each server before it can answer: which rows are wanted
    synchronous: bool = True
    backups: int = 0  # of the workers: a step needs the others' number of gradients
    compute: float = 0.0  # seconds of a worker's own work a step
    spread: float = 0.0  # of it: the standard deviation of its logarithm
    straggling: Tail = NEVER  # what a worker's step takes longer now and then
    computing: Callable[[int], float] | None = None  # a worker's next seconds, where they are known
    seed: int = 1

    @property
    def need(self) -> int:
        return self.workers - self.backups


@contextmanager
def _no_collection() -> Iterator[None]:
    """Looking for cycles, of which there are hardly any, would take a quarter of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class Training:
    """A job in simulated time. `step_seconds` are those of whole steps, or of single workers' where each goes
    its own way; `dropped` counts gradients that came too late.
    """

    def __init__(self, job: Job):
        self.job = job
        self.env = simpy.Environment()
        self.rng = random.Random(job.seed)
        self.network = Network(self.env, self.rng)
        self.workers = [Task(self.env, job.worker) for _ in range(job.workers)]
        self.servers = [Task(self.env, job.server) for _ in range(job.servers)]
        self.step_seconds: list[float] = []
        self.dropped = 0
        self._accumulators = [Accumulator(job.need) for _ in self.servers]
        self._tokens = Tokens()
        self._waiting: dict[int, simpy.Event] = {}  # worker -> its token
        self._when_taken: list[Call] = [lambda: None] * job.servers

    def run(self, steps: int) -> Training:
        """Runs until so many steps are over: of all together, or of one worker on the average."""
        if self.job.synchronous:
            self.env.process(self._lead())
        for worker in range(self.job.workers):
            self.env.process(self._work(worker))
        until = steps if self.job.synchronous else steps * self.job.workers
        with _no_collection():
            while len(self.step_seconds) < until:
                self.env.step()
        return self

    # ------------------------------------------------------------------ a worker

    def _work(self, worker: int) -> Process:
        step = 0
        while True:
            began = self.env.now
            ended, token = self.env.event(), self.env.event()
            fetched = self._fetch(worker)
            answers = countdown(self.job.servers, ended.succeed)
            reported = countdown(self.job.servers, partial(self._wait_for_token, worker))
            self._waiting[worker] = token
            push = partial(self._push, worker, step, reported, answers)
            yield from self._compute(worker, self._seconds(worker), fetched, push)
            yield ended
            if self.job.synchronous:
                step = yield token
            else:
                self.step_seconds.append(self.env.now - began)

    def _fetch(self, worker: int) -> list[simpy.Event]:
        """Asks every server for its parameters; an event for each."""
        me, job, fetched = self.workers[worker], self.job, []
        for server in self.servers:
            here = self.env.event()
            answer = partial(self.network.send, server, me, job.fetch_bytes, here.succeed)
            asked = countdown(1 + (job.index_bytes > 0), answer)
            self.network.send(me, server, SMALL, asked)
            if job.index_bytes > 0:
                self.network.send(me, server, job.index_bytes, asked)
            fetched.append(here)
        return fetched

    def _seconds(self, worker: int) -> float:
        """What a worker's computing takes this time."""
        job = self.job
        if job.computing is not None:
            return job.computing(worker)
        return job.compute * math.exp(self.rng.gauss(0.0, job.spread)) + job.straggling.draw(self.rng)

    def _compute(
        self, worker: int, seconds: float, fetched: list[simpy.Event], push: Callable[[int], None]
    ) -> Process:
        """Forward as the parameters come, then back, a gradient at a time.

        Every server has variables of every layer, so workers that compute in step do not all need the same
        server at the same time. Each begins with another one here: the same, with fewer messages.
        """
        servers = len(fetched)
        order = [(worker + i) % servers for i in range(servers)]
        for server in order:
            if not fetched[server].processed:
                yield fetched[server]
            if seconds:
                yield self.env.timeout(FORWARD * seconds / servers)
        for server in reversed(order):
            if seconds:
                yield self.env.timeout((1 - FORWARD) * seconds / servers)
            push(server)

    def _push(self, worker: int, step: int, reported: Call, answers: Call, server: int) -> None:
        """Sends a gradient; the server adds it up, reports that to the keeper of the tokens, and answers."""
        me, there = self.workers[worker], self.servers[server]

        def taken_in() -> None:
            if self.job.synchronous:
                self._accumulate(server, Gradient(worker, step))
                self._report(server, reported)
            self.network.send(there, me, SMALL, answers)

        self.network.send(
            me, there, self.job.push_bytes, lambda: self._sum(there, self.job.push_bytes, taken_in)
        )

    def _sum(self, server: Task, size: float, call: Call) -> None:
        now = self.env.now
        self.network.after(server.processor.book(now, size / server.machine.sum_bytes_per_second) - now, call)

    # ------------------------------------------------------------------ the barrier

    def _accumulate(self, server: int, event: Gradient | Take) -> None:
        for effect in self._accumulators[server].handle(event):
            if isinstance(effect, Dropped):
                self.dropped += 1
            else:
                self._when_taken[server]()

    def _report(self, server: int, call: Call) -> None:
        """Tells the server that keeps the tokens: a message, but for itself."""
        if server == 0:
            call()
        else:
            self.network.send(self.servers[server], self.servers[0], SMALL, call)

    def _wait_for_token(self, worker: int) -> None:
        self._give_out(self._tokens.handle(Waits(worker)))

    def _give_out(self, tokens: list[Token]) -> None:
        for token in tokens:
            go_on = partial(self._waiting[token.worker].succeed, token.step)
            self.network.send(self.servers[0], self.workers[token.worker], SMALL, go_on)

    def _lead(self) -> Process:
        """The chief's own steps. It is the first worker: its messages are that task's."""
        job, me, step = self.job, self.workers[0], 0
        while True:
            began = self.env.now
            ended = self.env.event()
            answers = countdown(job.servers, ended.succeed)
            updated = countdown(job.servers, partial(self._release, step + 1))
            for server in range(job.servers):
                self._when_taken[server] = partial(self._update, server, updated, answers)
                take = partial(self._accumulate, server, Take())
                self.network.send(me, self.servers[server], SMALL, take)
            yield ended
            self.step_seconds.append(self.env.now - began)
            step += 1

    def _update(self, server: int, updated: Call, answers: Call) -> None:
        there = self.servers[server]

        def done() -> None:
            self._report(server, updated)
            self.network.send(there, self.workers[0], SMALL, answers)

        self._sum(there, self.job.push_bytes, done)

    def _release(self, step: int) -> None:
        self._give_out(self._tokens.handle(PutOut(step, self.job.workers)))
