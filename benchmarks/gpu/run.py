"""All models with all libraries, each in a process of its own, and the table of them: RESULTS_GPU.md."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch

from benchmarks.gpu.trial import BATCHES, LIBRARIES, POSITIONS, ROUNDS, STEPS

RESULTS = Path(__file__).parents[1] / "RESULTS_GPU.md"
TITLES = {"tideflow": "Tideflow", "eager": "PyTorch", "compiled": "PyTorch, compiled"}
# Milliseconds a step on a Titan X in the paper's Table 1: TensorFlow, and the fastest other library there.
PAPER = {"alexnet": (81, 81), "overfeat": (279, 211), "oxfordnet": (540, 320), "googlenet": (445, 270)}


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks gpu", description=__doc__)
    parser.add_argument("--models", nargs="+", choices=BATCHES, default=list(BATCHES), metavar="MODEL")
    parser.add_argument("--libraries", nargs="+", choices=LIBRARIES, default=list(LIBRARIES))
    parser.add_argument("--out", type=Path, default=RESULTS, help="the file to write (%(default)s)")
    options = parser.parse_args(arguments)
    if not torch.cuda.is_available():
        parser.error("there is no GPU that torch can use")
    found: dict[str, dict[str, Any]] = {}
    for model in options.models:
        for library in options.libraries:
            found.setdefault(model, {})[library] = _measured(model, library)
            options.out.write_text(_table(found, options.libraries))
    print(options.out.read_text())


def _measured(model: str, library: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.gpu.trial", model, library]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        print(f"{model}, {TITLES[library]}: {lines[-1] if lines else 'failed'}", file=sys.stderr, flush=True)
        return {}
    facts: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    print(f"{model}, {TITLES[library]}: {1e3 * facts['seconds']:.2f} ms", file=sys.stderr, flush=True)
    return facts


def _table(found: dict[str, dict[str, Any]], libraries: list[str]) -> str:
    name = torch.cuda.get_device_name()
    lines = [
        "# Training steps of whole models on a GPU",
        "",
        f"`python -m benchmarks gpu`, on {name} with torch {torch.__version__}. Milliseconds a step: the "
        f"median of {ROUNDS} rounds of {STEPS} steps, each library in a process of its own, with 32-bit "
        "floats and TF32; then images (words for GPT-2) a second, gigabytes that tensors took at most, "
        "seconds of the first step, and seconds from the start until full speed, compiling included. "
        "Image models train with gradient descent, GPT-2 with Adam; the loss is fetched in every step.",
        "",
        "| model | batch | library | ms a step | a second | GB | first step | full speed after |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for model, by_library in found.items():
        for library in libraries:
            facts = by_library.get(library)
            if facts:
                count = BATCHES[model] * (POSITIONS if model == "gpt2" else 1)
                lines.append(
                    f"| {model} | {BATCHES[model]} | {TITLES[library]} | {1e3 * facts['seconds']:.2f} | "
                    f"{count / facts['seconds']:,.0f} | {facts['memory'] / 2**30:.1f} | "
                    f"{facts['first']:.1f} s | {facts['ready']:.0f} s |"
                )
    lines += ["", "The paper's Table 1, on a GPU of 2015, for the same batches:", ""]
    lines += ["| model | TensorFlow | the fastest other library |", "|---|---|---|"]
    lines += [f"| {model} | {ours} ms | {best} ms |" for model, (ours, best) in PAPER.items()]
    return "\n".join(lines) + "\n"
