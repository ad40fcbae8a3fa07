"""What the server counts, under TensorFlow Serving's names: text for Prometheus, figures for the page.

To count is an addition to a plain number: everything here belongs to the thread of the server's event loop.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from tideflow.serving.batching import Batch

FINE = 8  # buckets of ours within one of TensorFlow Serving's: percentiles are right to a few per cent
MOST_CHILDREN = 1000  # of a family: names that clients made up must not fill the memory
OTHERS = "(others)"


class Counter:
    """A number that goes up, or, as a gauge, both ways."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0.0


class Histogram:
    """How many values fell between which bounds, made by `growing`. Prometheus sees every `FINE`th."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def add(self, value: float) -> None:
        """Counts a value."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    @property
    def count(self) -> int:
        """How many values were counted."""
        return sum(self.counts)

    def percentiles(self, shares: Sequence[float]) -> list[float]:
        """The values under which these shares of the values lie. None, where none was counted."""
        sums = list(itertools.accumulate(self.counts))
        return [self._value_at(share * sums[-1], sums) for share in shares] if sums[-1] else []

    def _value_at(self, rank: float, sums: Sequence[int]) -> float:
        counts, bounds = self.counts, self.bounds
        index = next(index for index, total in enumerate(sums) if total >= rank and counts[index])
        if index == len(bounds):
            return bounds[-1]
        low = bounds[index - 1] if index else 0.0
        return low + (bounds[index] - low) * (rank - (sums[index] - counts[index])) / counts[index]


def growing(scale: float, factor: float, count: int) -> list[float]:
    """Bounds from `scale` on that grow by a factor, and `FINE` - 1 between each two of them."""
    return [scale * factor ** (step / FINE) for step in range((count - 1) * FINE + 1)]


@dataclass(frozen=True)
class _Read:
    """A number that somebody else keeps."""

    read: Callable[[], float]

    @property
    def value(self) -> float:
        return self.read()


Child = TypeVar("Child")


@dataclass
class Family(Generic[Child]):
    """A metric, and its values by their labels."""

    name: str  # as TensorFlow Serving says it, with slashes
    text: str
    kind: str  # counter, gauge or histogram
    labels: tuple[str, ...]
    make: Callable[[], Child]
    children: dict[tuple[str, ...], Child | _Read] = field(default_factory=dict)

    def of(self, *values: str) -> Child:
        """The number or the histogram of these label values. Keep it: finding it is what costs."""
        child = self.children.get(values)
        if child is None:
            if len(self.children) >= MOST_CHILDREN:
                values = (OTHERS,) * len(self.labels)
            child = self.children.setdefault(values, self.make())
        return child  # type: ignore[return-value]

    def reads(self, read: Callable[[], float], *values: str) -> None:
        """The number of these label values is what the function returns when Prometheus asks."""
        self.children[values] = _Read(read)

    def forget(self, *values: str) -> None:
        """Drops the numbers whose labels begin with these values, of a model that has gone."""
        for key in [key for key in self.children if key[: len(values)] == values]:
            del self.children[key]

    def lines(self) -> Iterator[str]:
        """The metric in Prometheus' text format."""
        name = re.sub(r"[^a-zA-Z0-9_:]", "_", self.name.replace("/", ":"))
        yield f"# HELP {name} {self.text}"
        yield f"# TYPE {name} {self.kind}"
        for values, child in self.children.items():
            labels = [f'{label}="{_escaped(value)}"' for label, value in zip(self.labels, values)]
            if isinstance(child, Histogram):
                yield from _histogram_lines(name, labels, child)
            else:
                yield f"{name}{_in_braces(labels)} {child.value:.17g}"  # type: ignore[union-attr]


def _histogram_lines(name: str, labels: list[str], histogram: Histogram) -> Iterator[str]:
    sums = list(itertools.accumulate(histogram.counts))
    shown = [(f"{bound:.6g}", total) for bound, total in zip(histogram.bounds[::FINE], sums[::FINE])]
    for bound, total in [*shown, ("+Inf", sums[-1])]:
        limit = f'le="{bound}"'
        yield f"{name}_bucket{_in_braces([*labels, limit])} {total}"
    yield f"{name}_sum{_in_braces(labels)} {histogram.total:.17g}"
    yield f"{name}_count{_in_braces(labels)} {sums[-1]}"


def _in_braces(labels: list[str]) -> str:
    return "{" + ",".join(labels) + "}" if labels else ""


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


# ------------------------------------------------------------------------------------------ what is counted


@dataclass(frozen=True)
class BatchRecord:
    """A batch that was computed, for the page."""

    time: float
    rows: int
    padding: int
    limit: int
    seconds: float
    waited: float
    reason: str


LATENCY = growing(10, 1.8, 33)  # microseconds, up to 20 minutes
QUEUING = growing(100, 1.2, 52)
SIZES = growing(1, 2, 15)


class Metrics:
    """The metrics of a server."""

    def __init__(self) -> None:
        self.families: list[Family[Counter] | Family[Histogram]] = []
        serving, tideflow = "/tensorflow/serving/", "/tideflow/serving/"
        batching = f"{serving}batching_session/"
        self.request_count = self.counter(f"{serving}request_count", "Requests.", "model_name", "status")
        self.request_latency = self.histogram(
            f"{serving}request_latency",
            "Microseconds of a request.",
            LATENCY,
            "model_name",
            "API",
            "entrypoint",
        )
        self.runtime_latency = self.histogram(
            f"{serving}runtime_latency",
            "Microseconds of a batch in the model.",
            LATENCY,
            "model_name",
            "API",
            "runtime",
        )
        self.example_counts = self.histogram(
            f"{serving}request_example_counts", "Examples of a request.", SIZES, "model"
        )
        self.example_count_total = self.counter(
            f"{serving}request_example_count_total", "Examples of all requests.", "model"
        )
        self.request_log_count = self.counter(
            f"{serving}request_log_count", "Requests that were logged.", "model_name", "status"
        )
        self.warmup_latency = self.histogram(
            f"{serving}model_warmup_latency", "Microseconds of a warm-up.", LATENCY, "model_path", "status"
        )
        self.warmup_records_read = self.counter(
            f"{serving}model_warmup_records_read", "Requests that warmed a model up.", "model_path", "status"
        )
        self.queuing_latency = self.histogram(
            f"{batching}queuing_latency", "Microseconds that a call waited.", QUEUING, "thread_pool_name"
        )
        self.input_batch_size = self.histogram(f"{batching}input_batch_size", "Rows of a call.", SIZES)
        self.processed_batch_size = self.histogram(
            f"{batching}processed_batch_size", "Rows of a batch, with its padding.", SIZES
        )
        self.padding_size = self.histogram(f"{batching}padding_size", "Rows of padding of a batch.", SIZES)
        self.wrapped_run_count = self.counter(f"{batching}wrapped_run_count", "Batches.")
        self.batches_closed = self.counter(
            f"{tideflow}batches_closed", "Batches by why they were closed.", "model_name", "reason"
        )
        self.batch_limit = self.gauge(f"{tideflow}batch_limit", "Rows that a batch may have.", "model_name")
        self.batches: dict[str, deque[BatchRecord]] = {}  # the latest of each model
        self._requests: dict[tuple[str, str, str, str], tuple[Counter, Histogram, Histogram, Counter]] = {}
        self._batch_counts: dict[str, tuple[Histogram, Histogram, deque[BatchRecord], Counter]] = {}
        self._marks: deque[tuple[float, dict[tuple[str, ...], tuple[int, ...]]]] = deque(maxlen=61)

    def counter(self, name: str, text: str, *labels: str) -> Family[Counter]:
        """Adds a family of numbers that go up."""
        return self._added(Family(name, text, "counter", labels, Counter))

    def gauge(self, name: str, text: str, *labels: str) -> Family[Counter]:
        """Adds a family of numbers that go up and down."""
        return self._added(Family(name, text, "gauge", labels, Counter))

    def histogram(self, name: str, text: str, bounds: Sequence[float], *labels: str) -> Family[Histogram]:
        """Adds a family of histograms with these bounds, made by `growing`."""
        return self._added(Family(name, text, "histogram", labels, lambda: Histogram(bounds)))

    def _added(self, family: Family[Child]) -> Family[Child]:
        self.families.append(family)  # type: ignore[arg-type]
        return family

    def record_request(
        self, model: str, api: str, entrypoint: str, status: str, seconds: float, examples: int
    ) -> None:
        """Counts a request: API "Predict", say, by entry point "REST" or "GRPC", status "OK".

        Times and examples are those of requests that succeeded, as TensorFlow Serving has it.
        """
        key = (model, api, entrypoint, status)
        found = self._requests.get(key)
        if found is None:
            found = (
                self.request_count.of(model, status),
                self.request_latency.of(model, api, entrypoint),
                self.example_counts.of(model),
                self.example_count_total.of(model),
            )
            if len(self._requests) < MOST_CHILDREN:
                self._requests[key] = found
        count, latency, sizes, total = found
        count.value += 1
        if status != "OK":
            return
        latency.add(seconds * 1e6)
        sizes.add(float(examples))  # comparing floats with floats is what is fast
        total.value += examples

    def record_batch(self, model: str, batch: Batch, seconds: float) -> None:
        """Counts a computed batch of a model."""
        found = self._batch_counts.get(model)
        if found is None:
            found = self._batch_counts[model] = (
                self.runtime_latency.of(model, "Predict", "TF1"),
                self.queuing_latency.of(model),
                self.batches.setdefault(model, deque(maxlen=512)),
                self.batch_limit.of(model),
            )
        runtime, queuing, latest, limit = found
        runtime.add(seconds * 1e6)
        sizes = self.input_batch_size.of()
        for piece in batch.pieces:
            queuing.add((batch.taken_at - piece.arrived) * 1e6)
            sizes.add(float(piece.end - piece.begin))
        padding = batch.padded_rows - batch.rows
        self.processed_batch_size.of().add(float(batch.padded_rows))
        self.padding_size.of().add(float(padding))
        self.wrapped_run_count.of().value += 1
        self.batches_closed.of(model, batch.reason.name).value += 1
        limit.value = batch.limit
        latest.append(
            BatchRecord(
                batch.taken_at, batch.rows, padding, batch.limit, seconds, batch.waited, batch.reason.name
            )
        )

    def prometheus_text(self) -> bytes:
        """All metrics in Prometheus' text format."""
        lines = itertools.chain.from_iterable(family.lines() for family in self.families)
        return "".join(f"{line}\n" for line in lines).encode()

    # ---------------------------------------------------------------------------------- figures for the page

    def mark(self, now: float) -> None:
        """Remembers the counts of this moment. Called once a second, so `recent` can look a minute back."""
        counts = {key: tuple(child.counts) for key, child in self._latencies()}
        self._marks.append((now, counts))

    def _latencies(self) -> Iterator[tuple[tuple[str, ...], Histogram]]:
        for key, child in self.request_latency.children.items():
            if isinstance(child, Histogram):
                yield key, child

    def recent(self, now: float) -> dict[str, dict[str, float]]:
        """Of each model, over the last minute: requests a second, and percentiles of latency in seconds."""
        began, before = self._marks[0] if self._marks else (now, {})
        found: dict[str, dict[str, float]] = {}
        of_models: dict[str, list[tuple[Histogram, tuple[int, ...]]]] = {}
        for key, child in self._latencies():
            of_models.setdefault(key[0], []).append((child, before.get(key, (0,) * len(child.counts))))
        for model, children in of_models.items():
            together = Histogram(LATENCY)
            for child, then in children:
                together.counts = [
                    sum(each) for each in zip(together.counts, child.counts, (-n for n in then))
                ]
            values = together.percentiles((0.5, 0.9, 0.99, 0.999))
            rate = together.count / (now - began) if now > began else 0.0
            found[model] = {"rate": rate} | {
                name: value / 1e6 for name, value in zip(("p50", "p90", "p99", "p999"), values)
            }
        return found

    def totals(self) -> dict[str, dict[str, int]]:
        """Of each model, how many requests had which status since the server started."""
        found: dict[str, dict[str, int]] = {}
        for (model, status), child in self.request_count.children.items():
            found.setdefault(model, {})[status] = int(child.value)
        return found
