"""Eager mode beside PyTorch's and TensorFlow 1.15's: `python -m benchmarks eager` writes RESULTS_EAGER.md.

Tideflow and PyTorch take turns in this process, TensorFlow in one of its own; all on one core, so that small
things are measured and not how threads wait for each other.
"""

from __future__ import annotations

import platform
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

import torch

import tideflow as tf
from benchmarks.eager_works import Works, of_tf, of_torch
from benchmarks.peers import ROOT
from benchmarks.programs import disagreements, running
from benchmarks.report import cpu_model, duration, table

RESULTS = Path(__file__).with_name("RESULTS_EAGER.md")
TENSORFLOW = ROOT / ".oracles/tf1/bin/python"
ROUNDS = 25
SMALL, STEP = 2.0, 1.3  # the largest ratios to PyTorch's time, of a small op and of a training step

HOW_TO_READ = f"""\
A time is that of the quickest of {ROUNDS} rounds. A ratio is Tideflow's time divided by the peer's, the
median over the rounds, in each of which the peers take turns at every work: below 1, Tideflow is faster. To
reach: a small op takes at most {SMALL:g} times PyTorch's time of it, a step under a tape {STEP:g} times
PyTorch's autograd; a function of 100 small ops is faster than eagerly, and as fast as in a session."""


def main() -> None:
    tf.enable_eager_execution()
    torch.set_num_threads(1)
    peers: dict[str, Any] = {"Tideflow": Works(of_tf(tf)), "PyTorch": Works(of_torch(torch))}
    versions = {"PyTorch": torch.__version__}
    works = Path(__file__).with_name("eager_works.py")
    with running("TensorFlow 1.15", TENSORFLOW, [works], "`make oracle` makes it.") as tensorflow:
        if tensorflow is not None:
            peers["TensorFlow"] = tensorflow
            versions["TensorFlow"] = tensorflow.version
        times: dict[str, dict[str, list[float]]] = {title: {} for title in peers["Tideflow"].works}
        for turn in range(ROUNDS):
            print(f"round {turn + 1} of {ROUNDS}", flush=True)
            for title, found in times.items():
                for name, peer in peers.items():
                    if title in peer.first:
                        found.setdefault(name, []).append(peer.measured(title))
    text = _report(times, versions, disagreements({name: peer.first for name, peer in peers.items()}))
    RESULTS.write_text(text)
    print(text)


def _report(times: dict[str, dict[str, list[float]]], versions: dict[str, str], notes: list[str]) -> str:
    named = ", ".join(f"{name} {version}" for name, version in versions.items())
    rows = []
    for title, found in times.items():
        ours = found["Tideflow"]
        bound, against = _bound(title, times)
        rows.append(
            [
                title,
                *(duration(min(found[name])) if name in found else "–" for name in _PEERS),
                *(f"{_ratio(ours, found[name]):.2f}" if name in found else "–" for name in _PEERS[1:]),
                f"≤ {bound:g} of {against[0]}",
                "yes" if _ratio(ours, against[1]) <= bound else "**no**",
            ]
        )
    header = ["work", *_PEERS, *(f"ratio to {name}" for name in _PEERS[1:]), "to reach", "reached"]
    parts = [
        "# Eager mode, Tideflow beside PyTorch and TensorFlow 1.15",
        f"Made by `python -m benchmarks eager` on {date.today()}, on {cpu_model()}, one thread. "
        f"Python {platform.python_version()}, {named}.",
        HOW_TO_READ,
        table(header, rows),
    ]
    if notes:
        parts += ["## Not as it should be", "\n".join(f"- {note}" for note in notes)]
    return "\n\n".join(parts) + "\n"


_PEERS = ("Tideflow", "PyTorch", "TensorFlow")
_EAGERLY, _SESSION = "100 small ops, eagerly", "100 small ops, a session"


def _bound(title: str, times: dict[str, dict[str, list[float]]]) -> tuple[float, tuple[str, list[float]]]:
    """What a work is held to: the largest ratio, and to what."""
    if title.endswith("tf.function"):
        eagerly, session = (times[other]["Tideflow"] for other in (_EAGERLY, _SESSION))
        return 1.0, ("a session", session) if median(session) < median(eagerly) else ("eager", eagerly)
    if title == _SESSION:
        return 1.0, ("eager", times[_EAGERLY]["Tideflow"])
    bound = STEP if title.startswith("taped") else SMALL
    return bound, ("PyTorch", times[title]["PyTorch"])


def _ratio(ours: list[float], theirs: list[float]) -> float:
    return median(a / b for a, b in zip(ours, theirs, strict=True))
