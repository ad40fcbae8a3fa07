"""Clipper's experiments with several models: bandits, ensembles, stragglers, the cache under feedback."""

import asyncio
import contextlib
import random
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import BaggingClassifier
from sklearn.tree import DecisionTreeClassifier

from benchmarks.serving import digits
from benchmarks.serving.driver import loaded, run, say
from tideflow.graph.dtypes import float32, int64
from tideflow.serving.applications import Answer, Application, Applications
from tideflow.serving.batch_sizes import AIMD
from tideflow.serving.calls import DEFAULT_SIGNATURE, PREDICT, Call, Servable, Signature, TensorSpec
from tideflow.serving.selection import Exp3, Exp4, Majority, Policy, chances
from tideflow.serving.selection_state import States
from tideflow.serving.worker_process import Workers
from tideflow.simulator.pictures import figure_of, from_zero, legend, prepare

QUERIES, BROKEN_AT, MENDED_AT = 20_000, 5_000, 10_000
COLOURS = ("#6b7785", "#8d5a17", "#2f855a", "#6741d9", "#c92a2a")


def _answers(models: dict[str, Any]) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """What models say to every picture that they were not trained on, and what is right."""
    _, asked, _, labels = digits.digits()
    return {name: model.predict(asked) for name, model in models.items()}, labels


# ---------------------------------------------------------------------------------------------------- bandits


def bandits(work: Path, pictures: Path, seconds: float) -> str:
    """Five models; the best is broken at query 5,000 and mended at 10,000; each query has its feedback."""
    answers, labels = _answers(digits.five_unlike())
    best = min(answers, key=lambda name: float(np.mean(answers[name] != labels)))
    numbers = np.random.default_rng(0)
    queries = numbers.integers(0, len(labels), QUERIES)
    said = {name: answers[name][queries] for name in answers}
    said[best] = said[best].copy()
    said[best][BROKEN_AT:MENDED_AT] = numbers.integers(0, 10, MENDED_AT - BROKEN_AT)
    right = labels[queries]
    errors = {name: said[name] != right for name in said}
    weights = {}
    for name, policy in {"Exp3": Exp3(), "Exp4": Exp4()}.items():
        errors[name], weights[name] = _learned(policy, said, right, best)
    phases = {
        "first 5,000": slice(0, BROKEN_AT),
        "broken": slice(BROKEN_AT, MENDED_AT),
        "mended": slice(MENDED_AT, None),
    }
    _draw_bandits(errors, weights, best, pictures / "bandits.png")
    lines = [f"| error | {' | '.join(phases)} | all |", "|---|" + "--:|" * (len(phases) + 1)]
    for name, wrong in errors.items():
        parts = [f"{np.mean(wrong[phase]):.1%}" for phase in phases.values()]
        lines.append(f"| {name} | {' | '.join(parts)} | {np.mean(wrong):.1%} |")
    return "\n".join(lines)


def _learned(
    policy: Policy, said: dict[str, np.ndarray], right: np.ndarray, best: str
) -> tuple[np.ndarray, np.ndarray]:
    """Which queries were answered wrongly, and the weight of one model after each."""
    say(type(policy).__name__)
    draws = random.Random(0)
    models = list(said)
    state, wrong, weights = policy.init(), np.zeros(len(right), bool), np.zeros(len(right))
    for query, label in enumerate(right):
        asked = policy.select(state, models, draws.random())
        outputs = {name: said[name][query] for name in asked}
        combined = policy.combine(state, asked, outputs, {})
        assert combined is not None
        wrong[query] = combined.output != label
        state = policy.observe(state, models, int(label), outputs)
        weights[query] = chances(state, models)[best]
    return wrong, weights


def _draw_bandits(
    errors: dict[str, np.ndarray], weights: dict[str, np.ndarray], best: str, path: Path
) -> None:
    ours = {"Exp3": "#d9780f", "Exp4": "#0b7285"}
    colours = {**dict(zip(errors, COLOURS)), **ours}
    with figure_of(path, 2) as (means, shares):
        prepare(
            means, "Five models, the best of them broken for a while", "query", "error, mean of 1,000 queries"
        )
        for name, wrong in errors.items():
            mean = np.convolve(wrong, np.ones(1000) / 1000, "valid")
            is_ours = name in ours
            means.plot(
                np.arange(len(mean)) + 1000,
                mean,
                color=colours[name],
                linewidth=2.0 if is_ours else 1.0,
                alpha=1.0 if is_ours else 0.7,
                label=name,
            )
        prepare(shares, f"Weight of the model that breaks ({best})", "query", "weight")
        for name, colour in ours.items():
            shares.plot(weights[name], color=colour, label=name)
        for axes in (means, shares):
            axes.axvspan(BROKEN_AT, MENDED_AT, color="#c92a2a", alpha=0.06, linewidth=0)
            axes.set_ylim(0, 1.05)
        legend(means, loc="upper right")
        legend(shares, loc="center right")


# -------------------------------------------------------------------------------------------------- ensembles


def ensembles(work: Path, pictures: Path, seconds: float) -> str:
    """The error of five models, of their majority, and of the majority by how many agree."""
    answers, labels = _answers(digits.five_alike())
    models, policy = list(answers), Majority()
    combined = [
        policy.combine({}, models, {name: said[query] for name, said in answers.items()}, {})
        for query in range(len(labels))
    ]
    wrong = np.array([each.output for each in combined if each]) != labels
    agree = np.array([round(each.confidence * len(models)) for each in combined if each])
    singles = {name: float(np.mean(said != labels)) for name, said in answers.items()}
    with figure_of(pictures / "ensembles.png", 2) as (errors, agreement):
        prepare(errors, "Error of each model, and of the majority", "", "error")
        bars = {**singles, "majority": float(np.mean(wrong))}
        errors.bar(range(len(bars)), list(bars.values()), color=[COLOURS[0]] * 5 + ["#0b7285"])
        errors.set_xticks(range(len(bars)), [name.replace(" ", "\n") for name in bars], fontsize=8)
        prepare(agreement, "Error of the majority, by how many agree", "models that agree", "error")
        levels = [level for level in range(1, 6) if np.any(agree == level)]
        agreement.bar(levels, [float(np.mean(wrong[agree == level])) for level in levels], color="#0b7285")
        for level in levels:
            agreement.annotate(
                f"{np.mean(agree == level):.0%} of queries",
                (level, float(np.mean(wrong[agree == level]))),
                ha="center",
                va="bottom",
                fontsize=8,
            )
        agreement.set_xticks(levels)
        for axes in (errors, agreement):
            from_zero(axes)
    best = min(singles.values())
    lines = ["| answers | share of queries | error |", "|---|--:|--:|"]
    lines += [f"| {name} | 100% | {error:.1%} |" for name, error in singles.items()]
    lines.append(
        f"| majority ({1 - np.mean(wrong) / best:.0%} less than the best) | 100% | {np.mean(wrong):.1%} |"
    )
    lines += [
        f"| majority, {level} of 5 agree | {np.mean(agree == level):.0%} "
        f"| {np.mean(wrong[agree == level]):.1%} |"
        for level in reversed(levels)
    ]
    return "\n".join(lines)


# ------------------------------------------------------------------------------------------------- stragglers

SIZES = (2, 4, 8, 16)
STRAGGLING = 0.05  # of answers
IN_TIME = 0.020  # seconds
USERS = 4  # that ask, one query after another: few, for the models' time is looked at, not the server's


class Straggler:
    """A model whose answers take some milliseconds, and now and then many."""

    version = 1

    def __init__(self, name: str, answers: np.ndarray, seed: int) -> None:
        self.name, self._answers = name, answers
        self._numbers = random.Random(seed)
        self._loop = asyncio.get_running_loop()
        inputs = {"query": TensorSpec(int64, (None,), "query:0")}
        self.signatures = {
            DEFAULT_SIGNATURE: Signature(PREDICT, inputs, {"label": TensorSpec(float32, (None,), "label:0")})
        }

    def submit(self, call: Call) -> None:
        is_late = self._numbers.random() < STRAGGLING
        seconds = self._numbers.uniform(0.040, 0.120) if is_late else self._numbers.lognormvariate(-5.3, 0.3)
        (query,) = call.inputs["query"]
        self._loop.call_later(seconds, call.done, {"label": self._answers[query : query + 1]})


class Found(dict[str, Servable]):
    """Servables by name."""

    def find(self, name: str, version: int | None = None, label: str | None = None) -> Servable:
        return self[name]


async def _straggling(
    workers: Workers, objective: float, answers: list[np.ndarray], labels: np.ndarray, queries: int
) -> tuple[np.ndarray, float, float]:
    """The seconds of each query, the share of queries with a late model, and the error."""
    loop = asyncio.get_running_loop()
    models = {f"m{index}": Straggler(f"m{index}", said, index) for index, said in enumerate(answers)}
    states = States()
    applications = Applications(Found(models), states, cache_bytes=0)
    applications.add(Application("app", "integers", -1, objective, policy="majority", models=list(models)))
    seconds, late, wrong = np.zeros(queries), 0, 0

    async def ask(query: int) -> None:
        nonlocal late, wrong
        began = time.perf_counter()
        answered: asyncio.Future[Answer] = loop.create_future()
        place = query % len(labels)
        applications.predict("app", np.array([place]), "", answered.set_result)
        answer = await answered
        seconds[query] = time.perf_counter() - began
        late += seconds[query] >= objective
        wrong += int(answer.output) != labels[place]

    async def user(first: int) -> None:
        for query in range(first, queries, USERS):
            await ask(query)

    await asyncio.gather(*map(user, range(USERS)))
    states.close()
    return seconds, late / queries, wrong / queries


def stragglers(work: Path, pictures: Path, seconds: float) -> str:
    """Ensembles of more and more models, with and without answers at the deadline."""
    train, asked, labels, right = digits.digits()
    trees = DecisionTreeClassifier(max_depth=10, max_features=60)
    bag = BaggingClassifier(trees, max(SIZES), max_samples=0.4, random_state=0).fit(train, labels)
    answers = [tree.predict(asked).astype(np.float32) for tree in bag.estimators_]
    queries = int(400 * seconds)
    found = {}
    for size in SIZES:
        for kind, objective in (("at the deadline", IN_TIME), ("waits for all", 10.0)):
            say(f"{size} models, {kind}")
            found[size, kind] = run(_straggling, objective, answers[:size], right, queries)
    with figure_of(pictures / "stragglers.png", 2) as (latencies, errors):
        prepare(latencies, "Time of an ensemble's answer", "models", "ms")
        prepare(errors, "Error of the ensemble", "models", "error")
        for kind, colour in (("at the deadline", "#0b7285"), ("waits for all", "#d9780f")):
            times = [float(np.quantile(found[size, kind][0], 0.99)) * 1e3 for size in SIZES]
            means = [float(np.mean(found[size, kind][0])) * 1e3 for size in SIZES]
            latencies.plot(SIZES, times, "o-", color=colour, label=f"{kind}, p99")
            latencies.plot(SIZES, means, "o:", color=colour, label=f"{kind}, mean")
            errors.plot(SIZES, [found[size, kind][2] for size in SIZES], "o-", color=colour, label=kind)
        for axes in (latencies, errors):
            axes.set_xticks(SIZES)
            from_zero(axes)
            legend(axes)
    lines = [
        "| models | answers | mean, ms | p99, ms | queries with a late model | error |",
        "|--:|---|--:|--:|--:|--:|",
    ]
    for (size, kind), (times, late, error) in found.items():
        share = f"{late:.0%}" if kind == "at the deadline" else ""
        lines.append(
            f"| {size} | {kind} | {np.mean(times) * 1e3:.1f} | {np.quantile(times, 0.99) * 1e3:.1f} "
            f"| {share} | {error:.1%} |"
        )
    return "\n".join(lines)


# ----------------------------------------------------------------------------------------- cache and feedback


async def _feedback(workers: Workers, paths: list[Path], cache_bytes: int, seconds: float) -> float:
    """Observations a second, each of an input that was predicted before."""
    states = States()
    try:
        async with contextlib.AsyncExitStack() as stack:
            servables = Found()
            for index, path in enumerate(paths):
                one = loaded(workers, path, lambda: AIMD(0.010), name=f"m{index}")
                servables[f"m{index}"], _ = await stack.enter_async_context(one)
            applications = Applications(servables, states, cache_bytes=cache_bytes)
            applications.add(Application("app", "floats", -1, 10.0, policy="exp4", models=list(servables)))
            return await _observations(applications, seconds)
    finally:
        states.close()


async def _observations(applications: Applications, seconds: float) -> float:
    loop = asyncio.get_running_loop()
    _, asked, _, labels = digits.digits()
    inputs = [row.astype(np.float64) for row in asked]
    count = 0

    async def user(first: int, end: float) -> None:
        nonlocal count
        place = first
        while loop.time() < end:
            place = (place + 64) % len(inputs)
            told = loop.create_future()
            applications.update("app", inputs[place], int(labels[place]), "", told.set_result)
            await told
            count += 1

    async def predicted(place: int) -> None:
        answered = loop.create_future()
        applications.predict("app", inputs[place], "", answered.set_result)
        await answered

    for place in range(0, len(inputs), 64):
        await asyncio.gather(*(predicted(each) for each in range(place, min(place + 64, len(inputs)))))
    end = loop.time() + seconds
    await asyncio.gather(*(user(first, end) for first in range(64)))
    return count / seconds


def cache(work: Path, pictures: Path, seconds: float) -> str:
    """Feedback to an ensemble of four, with predictions kept and without."""
    paths = []
    for index, (_, model) in enumerate(list(digits.five_alike().items())[:4]):
        paths.append(digits.saved(model, work / f"m{index}"))
    found = {}
    for kind, size in (("without a cache", 0), ("with a cache of 32 MB", 32 << 20)):
        say(f"feedback {kind}")
        found[kind] = run(_feedback, paths, size, seconds)
    without = found["without a cache"]
    with figure_of(pictures / "cache.png", 1) as (axes,):
        prepare(axes, "Feedback to an ensemble of four", "", "observations / s")
        axes.bar(list(found), list(found.values()), color=[COLOURS[0], "#0b7285"], width=0.5)
        from_zero(axes)
    lines = ["| feedback | observations/s | times |", "|---|--:|--:|"]
    lines += [f"| {kind} | {rate:,.0f} | {rate / without:.1f} |" for kind, rate in found.items()]
    return "\n".join(lines)
