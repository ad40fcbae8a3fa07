"""What was measured, as Markdown."""

import os
import platform
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from statistics import median
from types import ModuleType

from benchmarks.peers import PEERS

MB = 2**20


@dataclass
class Results:
    works: dict[str, ModuleType]
    peers: list[str]
    rounds: int
    load: float = field(default_factory=lambda: os.getloadavg()[0])
    seconds: dict[str, dict[str, list[float]]] = field(default_factory=dict)  # work, peer, one per round
    baselines: dict[str, dict[str, list[float]]] = field(default_factory=dict)  # likewise
    first: dict[str, dict[str, float]] = field(default_factory=dict)
    pages: dict[str, dict[str, list[tuple[float, int]]]] = field(default_factory=dict)  # faults, bytes taken
    shared: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)  # work, peer, way of sharing
    memory: dict[str, dict[str, dict[str, int]]] = field(default_factory=dict)  # work, peer, kind
    minutes: float = 0.0  # that all of it took
    versions: dict[str, str] = field(default_factory=dict)
    troubles: list[str] = field(default_factory=list)


def markdown(results: Results) -> str:
    parts = ["# Speed and memory, Tideflow beside its peers", facts(results), HOW_TO_READ]
    if results.seconds:
        parts += ["## Speed", speed_table(results)]
    if results.shared:
        parts += ["## On a shared machine", ON_A_SHARED_MACHINE, shared_table(results)]
    if results.pages:
        parts += ["## Page faults and memory of a step", OF_PAGES, pages_table(results)]
    for title, memory in results.memory.items():
        parts += [f"## Memory: {title}", memory_table(memory)]
    notes = results.troubles + disagreements(results)
    if notes:
        parts += ["## Not as it should be", "\n".join(f"- {note}" for note in notes)]
    return "\n\n".join(parts) + "\n"


HOW_TO_READ = """\
A time is the median over the rounds of the median step of each; ± is the round farthest from it. A ratio
is Tideflow's time divided by the peer's: below 1, Tideflow is faster. The peers take turns, round by round,
and the others stand still meanwhile. A baseline, where there is one, is the same step without what the work
is about, timed in turn with it."""

ON_A_SHARED_MACHINE = """\
The same steps beside a process that keeps one core busy, and of two processes that do the same at once.
Reached: no slower than TensorFlow on a machine shared in the same way, for both ways."""

OF_PAGES = """\
The page faults of a step, each a new page that the system fills with zeros, and the most memory that the
process held during its rounds beyond what it held before them."""


def facts(results: Results) -> str:
    versions = ", ".join(f"{PEERS[peer].title} {version}" for peer, version in results.versions.items())
    machine = f"{cpu_model()}, {os.cpu_count()} cores, {memory_size()} of memory, {platform.system()}"
    load = f"load average {results.load:.1f} before it began"
    return (
        f"Made by `python -m benchmarks` on {date.today()}, {results.rounds} rounds, in "
        f"{results.minutes:.0f} minutes.\n"
        f"Machine: {machine}; {load}.\n"
        f"Versions: Python {platform.python_version()}, {versions}."
    )


def cpu_model() -> str:
    with open("/proc/cpuinfo") as cpus:
        models = [line.split(":", 1)[1].strip() for line in cpus if line.startswith("model name")]
    return models[0] if models else platform.machine()


def memory_size() -> str:
    return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GB"


def speed_table(results: Results) -> str:
    header = [
        "work",
        *(PEERS[peer].title for peer in results.peers),
        "ratio to TensorFlow",
        "to the best peer",
        "to reach",
        "reached",
    ]
    rows = []
    for name, measured in results.seconds.items():
        work = results.works[name]
        times = {peer: median(rounds) for peer, rounds in measured.items()}
        baselines = results.baselines.get(name, {})
        rows.append(
            [
                work.title,
                *(timing(measured.get(peer), baselines.get(peer)) for peer in results.peers),
                ratio(times, ["tensorflow"]),
                ratio(times, [peer for peer in times if peer != "tideflow"]),
                ", ".join(limit(*each, getattr(work, "baseline", "")) for each in work.reach.items()),
                verdict({**times, **baseline_time(baselines)}, work.reach) if work.reach else "",
            ]
        )
    return table(header, rows)


WAYS_TO_SHARE = {"alone": "alone", "busy": "one core busy", "twice": "two programs at once"}


def shared_table(results: Results) -> str:
    peers = [peer for peer in results.peers if any(peer in found for found in results.shared.values())]
    header = ["work", *(f"{PEERS[peer].title}, {way}" for peer in peers for way in WAYS_TO_SHARE.values())]
    header += ["ratio to TensorFlow, one core busy", "two at once", "reached"]
    rows = []
    for name, found in results.shared.items():
        rows.append([results.works[name].title])
        rows[-1] += [
            duration(found[peer][way]) if peer in found else "–" for peer in peers for way in WAYS_TO_SHARE
        ]
        times = {way: {peer: seconds[way] for peer, seconds in found.items()} for way in ("busy", "twice")}
        rows[-1] += [ratio(each, ["tensorflow"]) for each in times.values()]
        verdicts = {verdict(each, {"tensorflow": 1.0}) for each in times.values()}
        rows[-1].append("**no**" if "**no**" in verdicts else verdicts.pop())
    return table(header, rows)


def pages_table(results: Results) -> str:
    header = ["work"]
    header += [f"{PEERS[peer].title}, {what}" for what in ("faults", "most memory") for peer in results.peers]
    rows = []
    for name, found in results.pages.items():
        rounds = [found.get(peer) for peer in results.peers]
        faults = ["–" if each is None else f"{median(count for count, _ in each):.3g}" for each in rounds]
        taken = ["–" if each is None else f"{max(size for _, size in each) / MB:.1f} MB" for each in rounds]
        rows.append([results.works[name].title, *faults, *taken])
    return table(header, rows)


def timing(rounds: list[float] | None, baselines: list[float] | None) -> str:
    if rounds is None:
        return "–"
    middle = median(rounds)
    spread = max(abs(each - middle) for each in rounds) / middle
    beside = f" (baseline {duration(median(baselines))})" if baselines else ""
    return f"{duration(middle)} ±{spread:.0%}{beside}"


def duration(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:.3g} s"
    return f"{1e3 * seconds:.3g} ms" if seconds >= 1e-3 else f"{1e6 * seconds:.3g} µs"


def ratio(times: dict[str, float], peers: list[str]) -> str:
    known = [times[peer] for peer in peers if peer in times]
    return f"{times['tideflow'] / min(known):.3g}" if known and "tideflow" in times else ""


def baseline_time(baselines: dict[str, list[float]]) -> dict[str, float]:
    return {"baseline": median(baselines["tideflow"])} if "tideflow" in baselines else {}


def limit(what: str, bound: float, baseline: str = "") -> str:
    if what == "seconds":
        return f"≤ {duration(bound)}"
    return f"≤ {bound:g} of {baseline if what == 'baseline' else PEERS[what].title}"


def verdict(values: dict[str, float], reach: dict[str, float]) -> str:
    if "tideflow" not in values or any(what not in values for what in reach if what != "seconds"):
        return ""
    allowed = min(bound * (1 if what == "seconds" else values[what]) for what, bound in reach.items())
    return "yes" if values["tideflow"] <= allowed else "**no**"


def memory_table(measured: dict[str, dict[str, int]]) -> str:
    header = [
        "resident",
        *(PEERS[peer].title for peer in measured),
        "ratio to TensorFlow",
        "to reach",
        "reached",
    ]
    rows = []
    for kind, title, reach in MEMORY:
        sizes = {peer: memory[kind] for peer, memory in measured.items()}
        rows.append(
            [
                title,
                *(f"{size / MB:.0f} MB" for size in sizes.values()),
                ratio(sizes, ["tensorflow"]),
                ", ".join(limit(*each) for each in reach.items()),
                verdict(sizes, reach) if reach else "",
            ]
        )
    return table(header, rows)


MEMORY = (
    ("imported", "once the library is loaded", {}),
    ("resident", "after the steps", {"tensorflow": 1.0}),
    ("peak", "at most", {"tensorflow": 1.0}),
)


def disagreements(results: Results) -> list[str]:
    """Works whose first step did not give every peer the same number."""
    found = []
    for name, values in results.first.items():
        smallest, largest = min(values.values()), max(values.values())
        if largest - smallest > 1e-3 * max(abs(smallest), abs(largest)):
            seen = ", ".join(f"{PEERS[peer].title} {value:g}" for peer, value in values.items())
            found.append(f"{results.works[name].title}: the peers compute different things: {seen}")
    return found


def table(header: list[str], rows: Iterable[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
