"""Tasks and what is between them: processors that handle messages, and network interfaces that carry them.

Three ideas, each of them testable against a formula:

- A processor serves messages in the order in which they come, `cores` at a time.
- An interface shares its bandwidth equally among the messages that are on it, as many TCP connections do.
- A message crosses the sender's interface and the receiver's at the same time, and is there when both are
  done with it and the latency is over. So neither carries more than it can, whichever is the narrower.
"""

from __future__ import annotations

import heapq
import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass

import simpy

PACKET = 4096  # bytes; where bandwidth is shared, a message of a packet or so waits for nobody's megabytes

Call = Callable[[], None]


@dataclass(frozen=True)
class Tail:
    """Now and then, something takes longer: by `scale` seconds and more, by a power law."""

    probability: float = 0.0
    scale: float = 0.0
    shape: float = 2.0  # of Pareto's law; the smaller, the heavier

    def draw(self, rng: random.Random) -> float:
        """The seconds that this one takes longer."""
        return self.scale * rng.paretovariate(self.shape) if rng.random() < self.probability else 0.0


NEVER = Tail()


class Processor:
    """Serves in the order of arrival. It is a calendar: what is booked is known to the end at once."""

    def __init__(self, cores: int):
        self._free = [0.0] * cores
        self.busy = 0.0  # seconds, all told

    def book(self, now: float, seconds: float) -> float:
        """When a job of so many seconds that comes now will be done."""
        done = max(now, self._free[0]) + seconds
        heapq.heapreplace(self._free, done)
        self.busy += seconds
        return done


class FairShare:
    """A line whose bandwidth is shared equally by whatever is on it; no clock of its own.

    `_had` is how many bytes a transfer would have moved that began with the simulation. A transfer of b bytes
    that begins when it is h ends when it is h + b: the order in which transfers end never changes.
    """

    _ROUNDING = 1e-3  # bytes

    def __init__(self, bytes_per_second: float):
        self.bytes_per_second = bytes_per_second
        self._had = 0.0
        self._since = 0.0
        self._leaving: list[tuple[float, int, Call]] = []
        self._number = itertools.count()

    def add(self, now: float, size: float, call: Call) -> None:
        """Puts a message on the line; `call` is what `leaving` gives back for it."""
        self._advance(now)
        heapq.heappush(self._leaving, (self._had + size, next(self._number), call))

    def next_at(self) -> float:
        """When the next one leaves, if nobody comes; infinity on an empty line."""
        if not self._leaving:
            return float("inf")
        left = max(0.0, self._leaving[0][0] - self._had)
        return self._since + left * len(self._leaving) / self.bytes_per_second

    def leaving(self, now: float) -> list[Call]:
        """Removes the transfers that have ended by now; returns what to call for them."""
        self._advance(now)
        done = []
        while self._leaving and self._leaving[0][0] <= self._had + self._ROUNDING:
            done.append(heapq.heappop(self._leaving)[2])
        return done

    def _advance(self, now: float) -> None:
        if self._leaving:
            self._had += (now - self._since) * self.bytes_per_second / len(self._leaving)
        self._since = now


class Line:
    """A network interface in one direction, in simulated time."""

    def __init__(self, env: simpy.Environment, bytes_per_second: float):
        self._env = env
        self._share = FairShare(bytes_per_second)
        self._alarm: simpy.Event | None = None
        self._alarm_at = float("inf")

    def carry(self, size: float, call: Call) -> None:
        """Carries a message, beside whatever else is on the line; then calls."""
        self._share.add(self._env.now, size, call)
        self._set_alarm()

    def _set_alarm(self) -> None:
        """One alarm is enough: it rings early where others came meanwhile, and is set again."""
        at = self._share.next_at()
        if at < self._alarm_at:
            self._alarm_at = at
            self._alarm = self._env.timeout(max(0.0, at - self._env.now))
            self._alarm.callbacks.append(self._ring)

    def _ring(self, alarm: simpy.Event) -> None:
        if alarm is not self._alarm:
            return  # an earlier one took its place
        self._alarm_at = float("inf")
        done = self._share.leaving(self._env.now)
        self._set_alarm()
        for call in done:
            call()


@dataclass(frozen=True)
class Machine:
    """What a task runs on, in seconds and bytes."""

    message_seconds: float  # of processor, for one end of a message
    latency: float  # of the network, one way, and of waking up whoever waits
    bytes_per_second: float  # of the network interface, each way
    cores: int = 1  # that handle messages at the same time
    sum_bytes_per_second: float = 5e9  # adding a gradient to others
    jitter: Tail = NEVER  # of the latency


class Task:
    """A process with a processor for its messages and a network interface."""

    def __init__(self, env: simpy.Environment, machine: Machine):
        self.machine = machine
        self.processor = Processor(machine.cores)
        self.outward = Line(env, machine.bytes_per_second)
        self.inward = Line(env, machine.bytes_per_second)
        self.bytes_sent = self.bytes_received = 0.0
        self.messages_received = 0


class Network:
    """Carries messages between tasks."""

    def __init__(self, env: simpy.Environment, rng: random.Random):
        self._env, self._rng = env, rng

    def after(self, seconds: float, call: Call) -> None:
        """Calls when so many seconds are over."""
        self._env.timeout(seconds).callbacks.append(lambda _: call())

    def send(self, sender: Task, receiver: Task, size: float, call: Call) -> None:
        """Sends a message, and calls when the receiver has taken it in."""
        sender.bytes_sent += size
        now = self._env.now
        wait = sender.processor.book(now, sender.machine.message_seconds) - now
        latency = sender.machine.latency + sender.machine.jitter.draw(self._rng)
        arrive = lambda: self._arrive(receiver, size, call)
        if size <= PACKET:
            slower = min(sender.machine.bytes_per_second, receiver.machine.bytes_per_second)
            self.after(wait + latency + size / slower, arrive)
        else:
            self.after(wait, lambda: self._cross(sender, receiver, size, lambda: self.after(latency, arrive)))

    @staticmethod
    def _cross(sender: Task, receiver: Task, size: float, call: Call) -> None:
        both = countdown(2, call)
        sender.outward.carry(size, both)
        receiver.inward.carry(size, both)

    def _arrive(self, receiver: Task, size: float, call: Call) -> None:
        receiver.bytes_received += size
        receiver.messages_received += 1
        now = self._env.now
        self.after(receiver.processor.book(now, receiver.machine.message_seconds) - now, call)


def countdown(count: int, call: Call) -> Call:
    """What calls `call` when it has been called so many times."""
    left = count

    def one() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            call()

    return one
