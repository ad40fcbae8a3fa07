"""Clipper's experiments with batches: sizes that adapt, delays, replicas."""

from functools import partial
from pathlib import Path

from benchmarks.serving import digits
from benchmarks.serving.driver import Measured, kept_under_way, loaded, plain_numbers, run, say
from tideflow.serving.batch_sizes import AIMD, FixedSize, QuantileRegression
from tideflow.serving.batching import BatchingOptions
from tideflow.serving.worker_process import Workers
from tideflow.simulator.pictures import figure_of, from_zero, legend, prepare

OBJECTIVE = 0.020  # seconds, the paper's
STRATEGIES = {
    "no batching": partial(FixedSize, 1),
    "fixed, 32": partial(FixedSize, 32),
    "AIMD": partial(AIMD, OBJECTIVE / 2),
    "quantile regression": partial(QuantileRegression, OBJECTIVE / 2),
}
LOADS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
COLOURS = ("#6b7785", "#8d5a17", "#0b7285", "#6741d9")


async def _ladder(
    workers: Workers, path: Path, sizes: object, loads: tuple[int, ...], seconds: float
) -> list[Measured]:
    """Throughput and latency with more and more calls under way, until none is answered in time."""
    _, inputs, _, _ = digits.digits()
    found = []
    async with loaded(workers, path, sizes) as (servable, metrics):
        await kept_under_way(servable, list(inputs), 256, seconds)  # the sizes are learned
        for load in loads:
            found.append(await kept_under_way(servable, list(inputs), load, seconds, metrics))
            if found[-1].p99 > 4 * OBJECTIVE:
                break
    return found


def best_in_time(found: list[Measured]) -> Measured | None:
    """The most calls a second of which 99 % were answered within the objective."""
    in_time = [each for each in found if each.p99 <= OBJECTIVE]
    return max(in_time, key=lambda each: each.throughput, default=None)


def adaptive(work: Path, pictures: Path, seconds: float) -> str:
    """Sizes that adapt against none, for a model of cheap rows and one of dear ones."""
    models = {
        "linear SVM": digits.linear_svm(work / "linear"),
        "kernel SVM": digits.kernel_svm(work / "kernel"),
    }
    found, trace = run(_all_strategies, models, seconds)
    _draw_adaptive(found, trace, pictures / "adaptive.png")
    lines = [
        "| model | batches | calls/s within 20 ms | p99, ms | rows of a batch | times no batching |",
        "|---|---|--:|--:|--:|--:|",
    ]
    for (model, strategy), ladder in found.items():
        best, alone = best_in_time(ladder), best_in_time(found[model, "no batching"])
        if best is None:
            lines.append(f"| {model} | {strategy} | none | | | |")
            continue
        times = f"{best.throughput / alone.throughput:.1f}" if alone else ""
        lines.append(
            f"| {model} | {strategy} | {best.throughput:,.0f} | {best.p99 * 1e3:.1f} | {best.rows:.1f} "
            f"| {times} |"
        )
    return "\n".join(lines)


async def _all_strategies(
    workers: Workers, models: dict[str, Path], seconds: float
) -> tuple[dict[tuple[str, str], list[Measured]], Measured]:
    found = {}
    for model, path in models.items():
        for strategy, sizes in STRATEGIES.items():
            say(f"{model}, {strategy}")
            found[model, strategy] = await _ladder(workers, path, sizes, LOADS, seconds)
    return found, await _trace(workers, models["linear SVM"], seconds)


async def _trace(workers: Workers, path: Path, seconds: float) -> Measured:
    _, inputs, _, _ = digits.digits()
    async with loaded(workers, path, STRATEGIES["AIMD"]) as (servable, metrics):
        return await kept_under_way(servable, list(inputs), 1024, seconds, metrics)


def _draw_adaptive(found: dict[tuple[str, str], list[Measured]], trace: Measured, path: Path) -> None:
    with figure_of(path, 3) as (rates, latencies, sizes):
        prepare(rates, "Linear SVM: calls a second", "calls under way", "calls / s")
        prepare(latencies, "Linear SVM: 99th percentile", "calls under way", "ms")
        for strategy, colour in zip(STRATEGIES, COLOURS):
            ladder = found["linear SVM", strategy]
            loads = [each.outstanding for each in ladder]
            rates.plot(
                loads, [each.throughput for each in ladder], "o-", color=colour, markersize=3, label=strategy
            )
            latencies.plot(
                loads, [each.p99 * 1e3 for each in ladder], "o-", color=colour, markersize=3, label=strategy
            )
        latencies.axhline(OBJECTIVE * 1e3, color="#c92a2a", linestyle=":", label="objective")
        for axes in (rates, latencies):
            axes.set_xscale("log", base=2)
            plain_numbers(axes)
            legend(axes)
        prepare(sizes, "AIMD finds its size: 1,024 calls under way", "batch", "rows")
        numbers = range(len(trace.batches))
        sizes.plot(numbers, [batch.limit for batch in trace.batches], color=COLOURS[2], label="limit")
        sizes.plot(
            numbers, [batch.rows for batch in trace.batches], ".", color="#d9780f", markersize=3, label="rows"
        )
        from_zero(sizes)
        legend(sizes)


DELAYS = (0, 0.5, 1, 2, 4, 8)  # milliseconds
DELAYED_LOADS = (16, 64)  # calls under way


async def _all_delays(workers: Workers, path: Path, seconds: float) -> dict[tuple[int, float], Measured]:
    found = {}
    for load in DELAYED_LOADS:
        for delay in DELAYS:
            say(f"linear SVM, {load} calls under way, batches wait {delay} ms")
            found[load, delay] = await _delayed(workers, path, delay, load, seconds)
    return found


async def _delayed(workers: Workers, path: Path, delay: float, load: int, seconds: float) -> Measured:
    _, inputs, _, _ = digits.digits()
    async with loaded(workers, path, STRATEGIES["AIMD"], BatchingOptions(delay=delay / 1e3)) as (
        servable,
        metrics,
    ):
        await kept_under_way(servable, list(inputs), load, seconds / 2)
        return await kept_under_way(servable, list(inputs), load, seconds, metrics)


def delayed(work: Path, pictures: Path, seconds: float) -> str:
    """What it brings to let a batch wait for more calls, at moderate load."""
    path = digits.linear_svm(work / "linear")
    found = run(_all_delays, path, seconds)
    with figure_of(pictures / "delayed.png", 2) as (rates, latencies):
        prepare(rates, "Linear SVM, batches that wait: calls a second", "ms that a batch waits", "calls / s")
        prepare(latencies, "99th percentile", "ms that a batch waits", "ms")
        for load, colour in zip(DELAYED_LOADS, COLOURS[2:]):
            of_load = [found[load, delay] for delay in DELAYS]
            label = f"{load} calls under way"
            rates.plot(DELAYS, [each.throughput for each in of_load], "o-", color=colour, label=label)
            latencies.plot(DELAYS, [each.p99 * 1e3 for each in of_load], "o-", color=colour, label=label)
        for axes in (rates, latencies):
            from_zero(axes)
            legend(axes)
    lines = [
        "| calls under way | a batch waits | calls/s | p99, ms | rows of a batch |",
        "|--:|--:|--:|--:|--:|",
    ]
    for (load, delay), each in found.items():
        lines.append(
            f"| {load} | {delay} ms | {each.throughput:,.0f} | {each.p99 * 1e3:.1f} | {each.rows:.1f} |"
        )
    return "\n".join(lines)


REPLICAS = (1, 2, 3, 4)


async def _all_replicas(workers: Workers, path: Path, seconds: float) -> dict[int, Measured]:
    _, inputs, _, _ = digits.digits()
    found = {}
    for count in REPLICAS:
        say(f"{count} replicas")
        async with loaded(workers, path, partial(FixedSize, 64), replicas=count) as (servable, metrics):
            found[count] = await kept_under_way(servable, list(inputs), 256 * count, seconds, metrics)
    return found


def replicas(work: Path, pictures: Path, seconds: float) -> str:
    """More replicas of a model that computes on a device of its own."""
    path = digits.waiting(work / "waiting", 5.0, 0.2)
    found = run(_all_replicas, path, seconds)
    rates = [found[count].throughput for count in REPLICAS]
    with figure_of(pictures / "replicas.png", 1) as (axes,):
        prepare(axes, "Replicas of a model on a device of its own", "replicas", "calls / s")
        axes.plot(REPLICAS, rates, "o-", color=COLOURS[2], label="measured")
        axes.plot(
            REPLICAS, [rates[0] * count for count in REPLICAS], ":", color=COLOURS[0], label="in proportion"
        )
        axes.set_xticks(REPLICAS)
        from_zero(axes)
        legend(axes)
    lines = ["| replicas | calls/s | times one |", "|--:|--:|--:|"]
    lines += [f"| {count} | {rate:,.0f} | {rate / rates[0]:.2f} |" for count, rate in zip(REPLICAS, rates)]
    return "\n".join(lines)
