"""All models with all libraries, each in a process of its own, and the table of them: RESULTS_GPU.md.

What is measured is kept in a file of facts, so that several calls, on several days or within a time limit
each, make one table: a trial that has its facts is not run again unless it is asked for with --again.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import torch

from benchmarks.gpu.trial import BATCHES, LIBRARIES, POSITIONS, ROUNDS, STEPS

RESULTS = Path(__file__).parents[1] / "RESULTS_GPU.md"
FACTS = Path(__file__).with_name("facts.json")
TITLES = {
    "tideflow": "Tideflow",
    "tideflow_half": "Tideflow, mixed precision",
    "eager": "PyTorch",
    "compiled": "PyTorch, compiled",
    "compiled_half": "PyTorch, compiled, autocast",
    "jax": "JAX",
}
IN_HALF = ("resnet50", "gpt2")  # the models that are also measured in mixed precision
# Milliseconds a step on a Titan X in the paper's Table 1: TensorFlow, and the fastest other library there.
PAPER = {"alexnet": (81, 81), "overfeat": (279, 211), "oxfordnet": (540, 320), "googlenet": (445, 270)}
SAMPLED = {"softmax": "the softmax layer alone", "lstm": "the whole language model"}
SHORTEST = 20  # seconds: with less time left, no trial begins
QUICK = ["--batch", "2", "--steps", "1", "--rounds", "1", "--warmup", "1"]

Facts = dict[str, dict[str, dict[str, Any]]]  # by model and library


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks gpu", description=__doc__)
    parser.add_argument("--models", nargs="+", choices=BATCHES, default=list(BATCHES), metavar="MODEL")
    parser.add_argument("--libraries", nargs="+", choices=LIBRARIES, metavar="LIBRARY")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="after which no trial goes on")
    parser.add_argument(
        "--together", type=int, default=1, help="trials that compile at the same time (%(default)s)"
    )
    parser.add_argument("--again", action="store_true", help="run trials that have their facts, too")
    parser.add_argument("--quick", action="store_true", help="tiny batches, on a CPU too; nothing is kept")
    parser.add_argument("--facts", type=Path, default=FACTS, help="the file of facts (%(default)s)")
    parser.add_argument("--out", type=Path, default=RESULTS, help="the table (%(default)s)")
    options = parser.parse_args(arguments)
    if not options.quick and not torch.cuda.is_available():
        parser.error("there is no GPU that torch can use")
    end = time.monotonic() + options.seconds
    facts: Facts = json.loads(options.facts.read_text()) if options.facts.exists() else {}
    facts = {} if options.quick else facts
    trials = [
        (model, library)
        for model in options.models
        for library in options.libraries or LIBRARIES
        if (options.libraries or model in IN_HALF or not library.endswith("half"))
        and (options.again or library not in facts.get(model, {}))
    ]
    while trials and time.monotonic() < end - SHORTEST:
        wave, trials = trials[: options.together], trials[options.together :]
        for (model, library), found in _measured(wave, end, QUICK if options.quick else []):
            facts.setdefault(model, {})[library] = found
            if not options.quick:
                options.facts.write_text(json.dumps(facts, indent=1, sort_keys=True) + "\n")
                options.out.write_text(table(facts))
    for model, library in trials:
        say(f"{model}, {TITLES[library]}: no time was left")
    print(table(facts))


def _measured(wave: list[tuple[str, str]], end: float, options: list[str]) -> list[Any]:
    """Starts some trials; when all are at full speed, lets them measure one after the other."""
    found, processes = [], []
    environment = {**os.environ, "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}  # trials share the GPU's memory
    for trial in wave:
        command = [sys.executable, "-m", "benchmarks.gpu.trial", *trial, "--wait", *options]
        errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 (it lives as long as the trial)
        process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
        )
        timer = threading.Timer(min(max(end - time.monotonic(), 0), 1e6), process.kill)
        timer.start()
        processes.append((trial, process, errors, timer))
    for _, process, _, _ in processes:
        _wait_until_ready(process)
    for (model, library), process, errors, timer in processes:
        out, _ = process.communicate("go\n" if process.poll() is None else None)
        timer.cancel()
        if process.returncode:
            errors.seek(0)
            lines = errors.read().strip().splitlines()
            say(f"{model}, {TITLES[library]}: {lines[-1] if lines else 'there was too little time'}")
            continue
        facts = {**json.loads(out.strip().splitlines()[-1]), "together": len(wave)}
        facts["machine"] = torch.cuda.get_device_name() if torch.cuda.is_available() else "a CPU"
        facts["torch"] = torch.__version__
        say(f"{model}, {TITLES[library]}: {1e3 * facts['seconds']:.2f} ms")
        found.append(((model, library), facts))
    return found


def _wait_until_ready(process: subprocess.Popen[str]) -> None:
    """Waits until a trial is at full speed, or has ended."""
    assert process.stdout is not None
    while (line := process.stdout.readline()) and line != "ready\n":
        pass


def table(facts: Facts) -> str:
    """The facts as Markdown."""
    all_facts = [found for by_library in facts.values() for found in by_library.values()]
    machines = sorted({f"{found['machine']} with torch {found['torch']}" for found in all_facts})
    lines = [
        "# Training steps of whole models on a GPU",
        "",
        f"`python -m benchmarks gpu`, on {' and '.join(machines) or 'no machine yet'}. Milliseconds a step: "
        f"the median of {ROUNDS} rounds of {STEPS} steps, each library in a process of its own, with 32-bit "
        "floats and TF32 unless it says mixed precision; then images (words of a text) a second, gigabytes "
        "that tensors took at most, seconds of the first step, and seconds from the start until full speed, "
        "compiling included. Image models and LSTMs train with gradient descent, GPT-2 and DCGAN with Adam; "
        "the loss is fetched in every step.",
    ]
    if any(found["together"] > 1 for found in all_facts):
        lines[-1] += (
            " Trials with an asterisk were prepared beside others, so that their first step and their way to "
            "full speed took longer; they were measured alone."
        )
    lines += ["", "| model | batch | library | ms a step | a second | GB | first step | full speed after |"]
    lines.append("|---|---|---|---|---|---|---|---|")
    for model in BATCHES:
        for library in LIBRARIES:
            if found := facts.get(model, {}).get(library):
                count = found["batch"] * POSITIONS.get(model, 1)
                star = "*" if found["together"] > 1 else ""
                lines.append(
                    f"| {model} | {found['batch']} | {TITLES[library]} | {1e3 * found['seconds']:.2f} | "
                    f"{count / found['seconds']:,.0f} | {found['memory'] / 2**30:.1f} | "
                    f"{found['first']:.1f} s{star} | {found['ready']:.0f} s{star} |"
                )
    lines += [*_gains(facts), *_in_half(facts)]
    lines += ["", "The paper's Table 1, on a GPU of 2015, for the same batches:", ""]
    lines += ["| model | TensorFlow | the fastest other library |", "|---|---|---|"]
    lines += [f"| {model} | {ours} ms | {best} ms |" for model, (ours, best) in PAPER.items()]
    return "\n".join(lines) + "\n"


def _gains(facts: Facts) -> list[str]:
    """What the sampled softmax saves."""
    rows = []
    for model, title in SAMPLED.items():
        for library, found in facts.get(model, {}).items():
            if sampled := facts.get(f"{model}_sampled", {}).get(library):
                gain = found["seconds"] / sampled["seconds"]
                rows.append(f"| {title} | {TITLES[library]} | {gain:.1f} |")
    if not rows:
        return []
    return [
        "",
        "The sampled softmax, with 512 words of 40,000: how many times faster a training step is than with "
        "the full one. The paper counts 78 times less to compute and to send in that layer. Tideflow updates "
        "only the rows of the words that it drew; PyTorch and JAX, as written here, update all of them.",
        "",
        "| step | library | times faster |",
        "|---|---|---|",
        *rows,
    ]


def _in_half(facts: Facts) -> list[str]:
    """What mixed precision gains."""
    rows = []
    for model in facts:
        plain, half = (facts[model].get(library) for library in ("tideflow", "tideflow_half"))
        if plain and half:
            gain, losses = plain["seconds"] / half["seconds"], (plain["loss"], half["loss"])
            rows.append(f"| {model} | {gain:.2f} | {losses[0]:.4f} | {losses[1]:.4f} |")
    if not rows:
        return []
    header = ["| model | times faster | loss after the last step | in mixed precision |", "|---|---|---|---|"]
    return ["", "Tideflow's mixed precision beside TF32:", "", *header, *rows]


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
