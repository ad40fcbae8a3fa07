"""What was simulated beside what the paper published, as text and as a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tideflow.simulator import machines, paper
from tideflow.simulator.experiments import BACKUPS, NULL_WORKERS, Key, Outcome, normalized_speedup

Outcomes = Mapping[Key, Outcome]

FITTED = {("scalar", 1), ("scalar", 100), ("dense 1 GB", 1)}


@dataclass(frozen=True)
class Row:
    """One published number."""

    what: str
    published: float
    simulated: float
    unit: str
    fitted: bool  # a cost of the machines was chosen so that it comes out

    @property
    def error(self) -> str:
        """Relative to what was published; of a count, the difference."""
        if isinstance(self.published, int):
            return f"{self.simulated - self.published:+d}"
        return f"{100 * (self.simulated / self.published - 1):+.0f}%"

    def cells(self) -> list[str]:
        number = lambda value: f"{value:.4g}{self.unit}"
        origin = "fitted" if self.fitted else "predicted"
        return [self.what, number(self.published), number(self.simulated), self.error, origin]


def rows(outcomes: Outcomes) -> list[Row]:
    """Every number that the paper's text has, beside the simulation's."""
    found = [
        Row(
            f"null step, {curve}, {_workers(workers)}",
            1e3 * seconds,
            1e3 * outcomes["null", "paper", curve, workers].median,
            " ms",
            (curve, workers) in FITTED,
        )
        for (curve, workers), seconds in paper.NULL_STEP_SECONDS.items()
    ]
    for workers, seconds in zip((1, 100), paper.SPARSE_SECONDS):
        simulated = outcomes["null", "paper", "sparse", workers].median
        found.append(
            Row(f"null step, sparse, {_workers(workers)}", 1e3 * seconds, 1e3 * simulated, " ms", False)
        )
    return found + _inception_rows(outcomes) + _backup_rows(outcomes)


def _inception_rows(outcomes: Outcomes) -> list[Row]:
    workers, published = paper.INCEPTION_WORKERS, paper.INCEPTION_IMAGES_PER_SECOND
    apart, together = outcomes["inception", False, workers], outcomes["inception", True, workers]
    ratio = outcomes["inception", True, 50].median / outcomes["inception", False, 50].median
    return [
        Row(f"Inception-v3, asynchronous, {workers} workers", published, images(apart), " images/s", False),
        Row(f"Inception-v3, synchronous, {workers} workers", published, images(together), " images/s", False),
        Row(
            "median step, synchronous over asynchronous, 50 workers",
            paper.SYNCHRONOUS_OVER_ASYNCHRONOUS,
            ratio,
            "",
            False,
        ),
    ]


def _backup_rows(outcomes: Outcomes) -> list[Row]:
    seconds = {backups: outcomes["backups", backups].median for backups in BACKUPS}
    speedups = {backups: normalized_speedup(outcomes, backups) for backups in BACKUPS}
    of = "50 workers, "
    return [
        Row(of + "median step with 4 backups", paper.BEST_BACKUPS_SECONDS, seconds[4], " s", True),
        Row(of + "t(0)/t(3) x 50/53", paper.BEST_NORMALIZED_SPEEDUP, speedups[3], "", True),
        Row(
            of + "backups with the shortest step",
            paper.BEST_BACKUPS,
            min(seconds, key=seconds.get),
            "",
            False,
        ),
        Row(
            of + "backups with the highest normalized speedup",
            paper.BEST_NORMALIZED_BACKUPS,
            max(speedups, key=speedups.get),
            "",
            False,
        ),
    ]


def images(outcome: Outcome) -> float:
    """Images that training gets through in a second."""
    return machines.INCEPTION_BATCH * outcome.gradients_per_second


def predictions(outcomes: Outcomes) -> list[list[str]]:
    """Beyond the paper: a row for each number of workers."""
    largest = max(key[-1] for key in outcomes if key[0] == "more servers")
    found = []
    for workers in (*NULL_WORKERS, 1000, largest):
        cells = [f"{workers:,}"]
        for key in (
            ("null", "here", "scalar", workers),
            ("null", "here", "sparse", workers),
            ("null", "here", "dense 100 MB", workers),
        ):
            cells.append(_milliseconds(outcomes[key]) if key in outcomes else "–")
        for key in (("inception", True, workers), ("more servers", workers)):
            cells.append(f"{images(outcomes[key]):,.0f}" if key in outcomes else "–")
        found.append(cells)
    return found


def _milliseconds(outcome: Outcome) -> str:
    return f"{1e3 * outcome.median:,.3g} ms" if outcome.median < 1 else f"{outcome.median:,.1f} s"


def _workers(count: int) -> str:
    return "1 worker" if count == 1 else f"{count} workers"


COMPARED = ["what", "published", "simulated", "error", "simulated is"]
PREDICTED = [
    "workers",
    "null step: scalar",
    "sparse, 32 rows",
    "dense 100 MB",
    "Inception-v3 on 17 servers, images/s",
    "one server for 12 workers, images/s",
]


def as_markdown(outcomes: Outcomes, measured: Mapping[str, Any]) -> str:
    """The page with both tables."""
    return "\n".join(
        [
            "# What `make simulate` found",
            "",
            "Written by the command; `docs/simulation.md` tells what it means.",
            "",
            f"Calibrated on {measured['date']}: {measured['machine']}; one end of a message costs "
            f"{1e6 * measured['message_seconds']:.0f} µs, a socket carries "
            f"{measured['socket_bytes_per_second'] / 1e9:.2f} GB/s.",
            "",
            "## Beside the paper",
            "",
            *_table(COMPARED, [row.cells() for row in rows(outcomes)]),
            "",
            "## Beyond the paper",
            "",
            "Null steps: this runtime, 16 servers, 10 Gb/s. Inception-v3: synchronous, the paper's machines.",
            "",
            *_table(PREDICTED, predictions(outcomes)),
            "",
        ]
    )


def as_text(outcomes: Outcomes) -> str:
    """Both tables, for a terminal."""
    compared = _columns(COMPARED, [row.cells() for row in rows(outcomes)])
    return "\n".join([*compared, "", *_columns(PREDICTED, predictions(outcomes))])


def _table(head: list[str], body: list[list[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *body]
    return ["| " + " | ".join(line) + " |" for line in lines]


def _columns(head: list[str], body: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(head, *body)]
    line = lambda cells: "  ".join(cell.ljust(width) for cell, width in zip(cells, widths)).rstrip()
    return [line(head), *map(line, body)]
