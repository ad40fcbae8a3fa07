"""Epochs of Keras models beside TensorFlow's and Keras 3 on PyTorch's: `python -m benchmarks keras`.

It writes RESULTS_KERAS.md. Each peer is a process of its own, on one thread; they take turns, epoch by epoch.
"""

from __future__ import annotations

import argparse
import platform
import sys
from contextlib import ExitStack
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.keras_works import WORKS
from benchmarks.peers import ROOT
from benchmarks.programs import disagreements, running
from benchmarks.report import cpu_model, duration, table

RESULTS = Path(__file__).with_name("RESULTS_KERAS.md")
PEERS = ("TensorFlow 1.15", "TensorFlow 2", "Keras 3 on PyTorch")

HOW_TO_READ = """\
A time is that of the quickest of {rounds} epochs, after two to warm up, on generated data. A ratio is
Tideflow's time divided by the peer's, the median over the rounds, in each of which the peers take turns:
below 1, Tideflow is faster. To reach: at least as fast as TensorFlow 1.15, in graph mode as it is, and as
Keras 3 on PyTorch. TensorFlow 2 has Keras 3 too, which compiles a step by XLA; "eagerly" is after
`tf.enable_eager_execution()`."""


def main(arguments: list[str]) -> None:
    """Measures all works and writes the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks keras", description=__doc__)
    parser.add_argument("--rounds", type=int, default=8, help="epochs of each work and peer (default: 8)")
    parser.add_argument(
        "--keras3",
        type=Path,
        default=ROOT / ".oracles/keras3/bin/python",
        help="the Python that has Keras 3 and PyTorch",
    )
    options = parser.parse_args(arguments)
    with ExitStack() as stack:
        peers = {
            name: program for name, program in _programs(stack, options.keras3).items() if program is not None
        }
        times: dict[str, dict[str, list[float]]] = {title: {name: [] for name in peers} for title in WORKS}
        for turn in range(options.rounds):
            print(f"round {turn + 1} of {options.rounds}", file=sys.stderr, flush=True)
            for title, found in times.items():
                for name, peer in peers.items():
                    found[name].append(peer.measured(title))
        versions = {name: peer.version for name, peer in peers.items()}
        notes = disagreements({name: peer.first for name, peer in peers.items()})
    text = _report(times, versions, notes, options.rounds)
    RESULTS.write_text(text)
    print(text)


def _programs(stack: ExitStack, keras3: Path) -> dict[str, Any]:
    def start(name: str, python: Path, *arguments: str) -> Any:
        print(f"starting {name}", file=sys.stderr, flush=True)
        program = [Path(__file__).with_name("keras_works.py"), *arguments]
        return stack.enter_context(
            running(
                name,
                python,
                program,
                "`tests/oracle/make-oracles .oracles tf1 tf2 keras3` makes it.",
                OMP_NUM_THREADS="1",
                PYTHONPATH=str(ROOT) if arguments[0] == "tideflow" else "",
            )
        )

    ours = Path(sys.executable)
    return {
        "Tideflow": start("Tideflow", ours, "tideflow"),
        "Tideflow, eagerly": start("Tideflow, eagerly", ours, "tideflow", "eager"),
        PEERS[0]: start(PEERS[0], ROOT / ".oracles/tf1/bin/python", "tensorflow"),
        PEERS[1]: start(PEERS[1], ROOT / ".oracles/tf2/bin/python", "tensorflow"),
        PEERS[2]: start(PEERS[2], keras3, "keras"),
    }


def _report(
    times: dict[str, dict[str, list[float]]], versions: dict[str, str], notes: list[str], rounds: int
) -> str:
    columns = ("Tideflow", "Tideflow, eagerly", *PEERS)
    rows = []
    for title, found in times.items():
        ratios = {name: _ratio(found["Tideflow"], found[name]) for name in PEERS if name in found}
        asked = [ratio for name, ratio in ratios.items() if name != PEERS[1]]
        rows.append(
            [
                title,
                *(duration(min(found[name])) if name in found else "–" for name in columns),
                *(f"{ratios[name]:.2f}" if name in ratios else "–" for name in PEERS),
                "–" if not asked else "yes" if max(asked) <= 1 else "**no**",
            ]
        )
    named = ", ".join(f"{name}: {version}" for name, version in versions.items() if name in PEERS)
    parts = [
        "# Epochs of Keras models, Tideflow beside TensorFlow and Keras 3",
        f"Made by `python -m benchmarks keras` on {date.today()}, on {cpu_model()}, one thread. "
        f"Python {platform.python_version()}; {named}.",
        HOW_TO_READ.format(rounds=rounds),
        table(["an epoch of", *columns, *(f"ratio to {name}" for name in PEERS), "reached"], rows),
    ]
    if notes:
        parts += ["## Not as it should be", "\n".join(f"- {note}" for note in notes)]
    return "\n\n".join(parts) + "\n"


def _ratio(ours: list[float], theirs: list[float]) -> float:
    return median(a / b for a, b in zip(ours, theirs, strict=True))
