"""Serving: throughput beside other servers, loads beside served models, Clipper's experiments; writes
benchmarks/RESULTS_SERVING.md.

A whole run takes less than 20 minutes on two idle cores. What is measured is kept in a file of facts as soon
as it is known, so that several calls, within a time limit each, make one report. What is asked for again
takes the place of what was there; with --resume only what is not there is measured.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks.report import cpu_model, memory_size
from benchmarks.serving import batching, loading, models, parsing, selecting, throughput
from benchmarks.serving.load import Load
from benchmarks.serving.servers import SERVERS

HERE = Path(__file__)
RESULTS = HERE.parents[1] / "RESULTS_SERVING.md"
FACTS = HERE.with_name("facts.json")
PICTURES = HERE.parents[2] / "docs" / "serving"


@dataclass(frozen=True)
class Part:
    """An experiment, and what a paper says of it."""

    title: str
    paper: str
    measure: Callable[[Path, Path, float], str]
    source: str = "The paper"
    draws: bool = True  # whether there is a picture beside the table


PARTS = {
    "loading": Part(
        "Latency while another model loads",
        "p99 while models load falls from 500-1500 ms to 75-150 ms by threads of their own. Here a model of "
        "1 GB is loaded and unloaded all the time; both cores serve. At most 1.5 times is the aim.",
        loading.loading,
        "TFX, KDD 2017",
        draws=False,
    ),
    "unloading": Part(
        "Memory after loads and unloads",
        "memory is not given back (10 GiB, and 8.2 after all is unloaded). Here the memory of all processes "
        "of the server, each page counted once.",
        loading.unloading,
        "What users say of others",
        draws=False,
    ),
    "adaptive": Part(
        "Batch sizes that adapt",
        "AIMD against no batching under 20 ms: up to 26 times the throughput, for a linear SVM of "
        "scikit-learn; AIMD as good as quantile regression.",
        batching.adaptive,
    ),
    "delayed": Part(
        "Delayed batches", "3.3 times from waiting 2 ms, for an SVM of scikit-learn.", batching.delayed
    ),
    "replicas": Part("Replicas", "3.95 times with 4 GPU nodes, over 10 Gb/s.", batching.replicas),
    "cache": Part(
        "The cache under feedback",
        "6,000 to 11,000 observations a second, an ensemble of four.",
        selecting.cache,
    ),
    "bandits": Part(
        "A model that breaks",
        "Five models, 20,000 queries, the best one broken at 5,000 and mended at 10,000: Exp3 and Exp4 turn "
        "away and come back.",
        selecting.bandits,
    ),
    "ensembles": Part(
        "Ensembles", "ImageNet: 5.2 % less error (relative) than the best of five.", selecting.ensembles
    ),
    "stragglers": Part(
        "Stragglers",
        "At the deadline an ensemble answers with what has come: it is in time, and little is lost.",
        selecting.stragglers,
    ),
    "parsing": Part(
        "Parsing of Examples",
        "TFX's own parser into tensors took a half to a fifth of the generic one's time. Examples for "
        "each second of processor time.",
        parsing.parsing,
        "TFX, KDD 2017",
        draws=False,
    ),
}


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks serving", description=__doc__)
    names = ["throughput", *PARTS]
    parser.add_argument(
        "--parts", nargs="+", choices=names, default=names, metavar="PART", help=" ".join(names)
    )
    known = list(SERVERS)
    parser.add_argument(
        "--servers", nargs="+", choices=known, default=known, metavar="SERVER", help=" ".join(known)
    )
    parser.add_argument(
        "--models", nargs="+", choices=models.MODELS, default=list(models.MODELS), metavar="MODEL"
    )
    parser.add_argument("--clients", nargs="+", type=int, default=list(throughput.CLIENTS), metavar="N")
    parser.add_argument("--seconds", type=float, default=2.0, help="of each measurement (%(default)s)")
    parser.add_argument("--quick", action="store_true", help="short measurements, nothing is kept: a look")
    parser.add_argument("--resume", action="store_true", help="measure only what is not in the file of facts")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin nothing after so long")
    options = parser.parse_args(arguments)
    end = time.monotonic() + 60 * options.minutes
    seconds = 1.0 if options.quick else options.seconds
    facts: dict[str, Any] = {} if options.quick or not FACTS.exists() else json.loads(FACTS.read_text())
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        pictures = work / "pictures" if options.quick else PICTURES
        pictures.mkdir(parents=True, exist_ok=True)

        def keep() -> None:
            if not options.quick:
                _write(FACTS, json.dumps(facts, indent=1))
                _write(RESULTS, markdown(facts))

        for name in options.parts:
            if time.monotonic() > end:
                break
            if name == "throughput":
                _measure_servers(work, options, seconds, facts, keep, end)
                throughput.draw(_results(facts[name]), pictures / "throughput.png")
            elif not (options.resume and name in facts):
                facts[name] = {"table": PARTS[name].measure(work, pictures, seconds), **_conditions()}
            keep()
    print(markdown(facts))


def _measure_servers(
    work: Path,
    options: argparse.Namespace,
    seconds: float,
    facts: dict[str, Any],
    keep: Callable[[], None],
    end: float,
) -> None:
    """Measures the servers that are asked for, and puts each load into the facts when it is known."""
    results = _results(facts["throughput"]) if "throughput" in facts else throughput.Results()
    wanted = throughput.cells(options.servers, options.models, options.clients)
    if options.resume:
        wanted = [cell for cell in wanted if cell not in results.found]

    def keep_loads() -> None:
        facts["throughput"] = {
            "loads": [[list(cell), asdict(load)] for cell, load in results.found.items()],
            "versions": results.versions,
            "troubles": results.troubles,
            **_conditions(),
        }
        keep()

    throughput.measure(work, wanted, seconds, results, keep_loads, end)
    keep_loads()


def _write(path: Path, text: str) -> None:
    """Writes a file so that it is there whole, or as it was."""
    beside = path.with_suffix(".new")
    beside.write_text(text)
    beside.replace(path)


def _conditions() -> dict[str, Any]:
    return {"date": str(date.today()), "load": round(os.getloadavg()[0], 1)}


def _results(kept: dict[str, Any]) -> throughput.Results:
    found = {throughput.Cell(*cell): Load(**load) for cell, load in kept["loads"]}
    return throughput.Results(found, kept["versions"], kept["troubles"])


def markdown(facts: dict[str, Any]) -> str:
    """The report of what is kept."""
    made = [
        "# Serving: other servers, and Clipper's experiments",
        f"Made by `python -m benchmarks serving`. Machine: {cpu_model()}, {os.cpu_count()} cores, "
        f"{memory_size()} of memory. [What each experiment does](../docs/serving_experiments.md).",
    ]
    if "throughput" in facts:
        kept = facts["throughput"]
        made += ["## Throughput and latency beside other servers", _made_on(kept), THROUGHPUT]
        made += ["![](../docs/serving/throughput.png)", throughput.table(_results(kept))]
    for name, part in PARTS.items():
        if name in facts:
            made += [f"## {part.title}", f"{part.source}: {part.paper} {_made_on(facts[name])}"]
            made += [f"![](../docs/serving/{name}.png)"] * part.draws + [facts[name]["table"]]
    return "\n\n".join(made) + "\n"


THROUGHPUT = """\
Every server is alone on one core, all its processes together; the load generator (wrk for REST, h2load for
gRPC) is on another. A request is one row of 784 floats, and each client sends the next one when it has the
answer. CPU is that of all processes of the server. TensorFlow has the same SavedModels, the others the same
models in NumPy."""


def _made_on(kept: dict[str, Any]) -> str:
    return f"(Measured on {kept['date']}, load average {kept['load']}.)"
