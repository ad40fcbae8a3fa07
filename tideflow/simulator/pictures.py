"""The paper's figures, drawn from the simulation, with the published numbers as marks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from tideflow.simulator import paper
from tideflow.simulator.experiments import (
    BACKUPS,
    CURVES,
    INCEPTION_WORKERS,
    NULL_WORKERS,
    Key,
    Outcome,
    normalized_speedup,
)
from tideflow.simulator.report import images

INK, MUTED, GRID = "#1f2933", "#6b7785", "#e4e7eb"
COLOURS = dict(zip(CURVES, ("#0b7285", "#2f855a", "#8d5a17", "#6741d9")))
# Curves that run close together stay apart: the dashes of one let the line of the other be seen.
LINES = {curve: "--" if curve == "sparse" else "-" for curve in CURVES}
TOGETHER, APART, PUBLISHED = "#0b7285", "#d9780f", "#c92a2a"
LOOK = {
    "text.color": INK,
    "axes.edgecolor": GRID,
    "axes.labelcolor": MUTED,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "font.size": 9.5,
}

Outcomes = Mapping[Key, Outcome]


def draw_all(outcomes: Outcomes, folder: Path) -> list[Path]:
    """Writes every picture into a folder; where they are."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = {"null_steps": draw_null_steps, "inception": draw_inception, "backups": draw_backups}
    drawn["scale"] = draw_scale
    paths = []
    for name, draw in drawn.items():
        paths.append(folder / f"{name}.png")
        draw(outcomes, paths[-1])
    return paths


@contextmanager
def figure_of(path: Path, columns: int) -> Iterator[list[Axes]]:
    """A picture of so many plots side by side, written when the block ends."""
    with plt.rc_context(LOOK):
        figure, axes = plt.subplots(1, columns, figsize=(5.2 * columns, 3.9), squeeze=False)
        yield list(axes[0])
        figure.tight_layout()
        figure.savefig(path, dpi=110)
        plt.close(figure)


def prepare(axes: Axes, title: str, x: str, y: str) -> None:
    """Titles, grid and frame of a plot."""
    axes.set_title(title, loc="left", fontsize=10.5, fontweight="bold")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(which="both", length=0)
    axes.spines[["top", "right"]].set_visible(False)


def legend(axes: Axes, **where: object) -> None:
    """The names of a plot's lines."""
    axes.legend(frameon=False, fontsize=8.5, labelcolor=MUTED, **where)


def from_zero(axes: Axes) -> None:
    """Lets a plot's height begin at zero, with some room above its highest point."""
    axes.set_ylim(0, 1.05 * axes.get_ylim()[1])


def draw_null_steps(outcomes: Outcomes, path: Path) -> None:
    """Null synchronous steps: batches a second by workers."""
    with figure_of(path, 1) as (axes,):
        prepare(axes, "Null synchronous steps, 16 servers", "workers", "batches / s")
        for curve, colour in COLOURS.items():
            rates = [1 / outcomes["null", "paper", curve, n].median for n in NULL_WORKERS]
            axes.plot(NULL_WORKERS, rates, LINES[curve], color=colour, label=curve)
        marks = [(n, 1 / seconds) for (_, n), seconds in paper.NULL_STEP_SECONDS.items()]
        axes.plot(*zip(*marks), "x", color=PUBLISHED, markersize=7, label="published")
        low, high = (1 / seconds for seconds in reversed(paper.SPARSE_SECONDS))
        axes.axhspan(
            low, high, color=COLOURS["sparse"], alpha=0.1, linewidth=0, label="published range, sparse"
        )
        axes.set_yscale("log")
        axes.set_ylim(top=6000)
        legend(axes, ncols=2, loc="upper right")


def draw_inception(outcomes: Outcomes, path: Path) -> None:
    """Inception-v3: throughput by workers, and how long steps take."""
    with figure_of(path, 2) as (rates, times):
        prepare(rates, "Inception-v3, 17 servers", "workers", "images / s")
        prepare(times, "Step times (line: median; band: 10 to 90%)", "workers", "seconds")
        for synchronous, colour in ((False, APART), (True, TOGETHER)):
            label = "synchronous" if synchronous else "asynchronous"
            found = [outcomes["inception", synchronous, n] for n in INCEPTION_WORKERS]
            rates.plot(INCEPTION_WORKERS, [images(one) for one in found], "o-", color=colour, label=label)
            times.plot(INCEPTION_WORKERS, [one.median for one in found], "o-", color=colour, label=label)
            low, high = ([one.percentile(p) for one in found] for p in (10, 90))
            times.fill_between(INCEPTION_WORKERS, low, high, color=colour, alpha=0.15, linewidth=0)
        published = [paper.INCEPTION_WORKERS], [paper.INCEPTION_IMAGES_PER_SECOND]
        rates.plot(*published, "x", color=PUBLISHED, markersize=8, label="published")
        from_zero(rates)
        from_zero(times)
        legend(rates)
        legend(times, loc="lower right")


def draw_backups(outcomes: Outcomes, path: Path) -> None:
    """50 workers with backups: the step, and the speedup that is left when their cost is counted."""
    with figure_of(path, 2) as (times, speedups):
        prepare(times, "50 workers with backups: median step", "backup workers", "seconds")
        times.plot(BACKUPS, [outcomes["backups", b].median for b in BACKUPS], "o-", color=TOGETHER)
        times.plot(
            [paper.BEST_BACKUPS],
            [paper.BEST_BACKUPS_SECONDS],
            "x",
            color=PUBLISHED,
            markersize=8,
            label="published",
        )
        prepare(speedups, "t(0)/t(b) x 50/(50+b)", "backup workers", "normalized speedup")
        speedups.plot(BACKUPS, [normalized_speedup(outcomes, b) for b in BACKUPS], "o-", color=TOGETHER)
        speedups.plot(
            [paper.BEST_NORMALIZED_BACKUPS],
            [paper.BEST_NORMALIZED_SPEEDUP],
            "x",
            color=PUBLISHED,
            markersize=8,
            label="published",
        )
        speedups.axhline(1, color=MUTED, linewidth=1, linestyle=":", label="without backups")
        from_zero(times)
        legend(times, loc="lower right")
        legend(speedups, loc="lower right", bbox_to_anchor=(1, 0.08))


def draw_scale(outcomes: Outcomes, path: Path) -> None:
    """Where this runtime and the paper's set-up go from there."""
    with figure_of(path, 2) as (steps, rates):
        prepare(steps, "This runtime: null steps, 16 servers", "workers", "milliseconds")
        for curve in ("scalar", "sparse", "dense 100 MB"):
            points = sorted(
                (k[3], 1e3 * o.median) for k, o in outcomes.items() if k[:3] == ("null", "here", curve)
            )
            steps.plot(*zip(*points), f"o{LINES[curve]}", color=COLOURS[curve], markersize=4, label=curve)
        prepare(rates, "Inception-v3, synchronous", "workers", "images / s")
        on_17 = sorted((k[2], images(o)) for k, o in outcomes.items() if k[:2] == ("inception", True))
        more = sorted((k[1], images(o)) for k, o in outcomes.items() if k[0] == "more servers")
        rates.plot(*zip(*on_17), "o-", color=TOGETHER, markersize=4, label="17 servers")
        rates.plot(*zip(*more), "s--", color=APART, markersize=4, label="a server for 12 workers")
        for axes in (steps, rates):
            axes.set_xscale("log")
            axes.set_yscale("log")
            legend(axes)
