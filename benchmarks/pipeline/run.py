"""The pipeline beside TFDV, TFT and TFMA; writes benchmarks/RESULTS_PIPELINE.md.

What is measured is kept in a file of facts, so that several calls, within a time limit each, make one report:
a row that is asked for again takes the place of the one that was there.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.pipeline.table import write_table
from benchmarks.report import cpu_model, memory_size

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
RESULTS = HERE.parent / "RESULTS_PIPELINE.md"
FACTS = HERE / "facts.json"
OURS = sys.executable
ORIGINALS, TABLES = (str(ROOT / ".oracles" / name / "bin" / "python") for name in ("tfx", "tables"))


class Row(NamedTuple):
    """What is measured: its name in the table, the interpreter, and the function of measured.py."""

    title: str
    python: str
    function: str
    rows: int
    arguments: tuple[str, ...] = ()


MILLION = 1_000_000
PARTS: dict[str, tuple[str, dict[str, Row]]] = {
    "statistics": (
        "Statistics: a CSV of so many rows and 11 columns, from the file to the message",
        {
            "tideflow": Row("Tideflow, one thread", OURS, "tideflow_statistics", MILLION, ("1",)),
            "tideflow-2": Row("Tideflow, two threads", OURS, "tideflow_statistics", MILLION, ("2",)),
            "twice": Row(
                "Tideflow, two processes, each all rows", OURS, "tideflow_statistics_twice", MILLION
            ),
            "tfdv-frame": Row(
                "TFDV from a DataFrame (counts by sketches)", ORIGINALS, "tfdv_from_dataframe", MILLION
            ),
            "polars": Row("polars, one thread", TABLES, "polars_statistics", MILLION, ("1",)),
            "polars-2": Row("polars, two threads", TABLES, "polars_statistics", MILLION, ("2",)),
            "duckdb": Row("DuckDB, one thread", TABLES, "duckdb_statistics", MILLION, ("1",)),
            "duckdb-2": Row("DuckDB, two threads", TABLES, "duckdb_statistics", MILLION, ("2",)),
            "pyarrow": Row("pyarrow, one thread", TABLES, "pyarrow_statistics", MILLION, ("1",)),
            "pyarrow-2": Row("pyarrow, two threads", TABLES, "pyarrow_statistics", MILLION, ("2",)),
            "tideflow-10m": Row("Tideflow, one thread", OURS, "tideflow_statistics", 10 * MILLION, ("1",)),
            "tideflow-10m-2": Row("Tideflow, two threads", OURS, "tideflow_statistics", 10 * MILLION, ("2",)),
            "tfdv": Row("TFDV from CSV, by Beam", ORIGINALS, "tfdv_from_csv", MILLION),
        },
    ),
    "transform": (
        "Transform: five z-scores, two vocabularies and buckets, analysis and all rows",
        {
            "tideflow": Row("Tideflow, one process", OURS, "tideflow_transform", MILLION // 10, ("1",)),
            "tideflow-2": Row("Tideflow, two threads", OURS, "tideflow_transform", MILLION // 10, ("2",)),
            "tideflow-1m": Row("Tideflow, one process", OURS, "tideflow_transform", MILLION, ("1",)),
            "tideflow-1m-2": Row(
                "Tideflow, two processes and their start", OURS, "tideflow_transform", MILLION, ("2",)
            ),
            "tft": Row("TFT, by Beam", ORIGINALS, "tft_transform", MILLION // 10),
        },
    ),
    "evaluation": (
        "Evaluation: four metrics over all rows and ten slices",
        {
            "tideflow": Row("Tideflow, one process", OURS, "tideflow_evaluation", MILLION // 10),
            "tfma": Row("TFMA, by Beam", ORIGINALS, "tfma_evaluation", MILLION // 10),
        },
    ),
    "ray": (
        "Statistics by Ray: the workers have started, and their CPU seconds are not counted",
        {
            "one": Row("one worker", OURS, "tideflow_statistics_by_ray", MILLION, ("1",)),
            "two": Row("two workers", OURS, "tideflow_statistics_by_ray", MILLION, ("2",)),
        },
    ),
}
_DEMO = "The demo: raw data to a served prediction (`examples/pipeline/serve_taxi.py`)"
_SLOW = 30.0  # seconds; what takes longer is measured in the first round alone
_NOT_MEASURED = "not measured: "
_HEAD = "| | rows | CPU s | wall s | rows/s | memory, MB | load | rounds |\n|---" + "|---:" * 7 + "|"


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks pipeline", description=__doc__)
    names = [*PARTS, "demo"]
    parser.add_argument(
        "--parts", nargs="+", choices=names, default=names, metavar="PART", help=" ".join(names)
    )
    parser.add_argument("--rows", nargs="+", metavar="ROW", help="only these rows of the parts, such as tfdv")
    parser.add_argument("--rounds", type=int, default=3, help="of which the best counts (%(default)s)")
    parser.add_argument(
        "--minutes",
        type=float,
        default=13.0,
        help="begin nothing that would take longer: later rounds and slow rows are left out (%(default)s)",
    )
    parser.add_argument("--folder", type=Path, help="where the tables are kept (a temporary folder)")
    parser.add_argument(
        "--quick", action="store_true", help="a hundredth of the rows, nothing is kept: a look"
    )
    options = parser.parse_args(arguments)
    facts: dict[str, Any] = {} if options.quick or not FACTS.exists() else json.loads(FACTS.read_text())
    folder = options.folder or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    try:
        _measure(options, facts, folder)
    finally:
        if options.folder is None:
            shutil.rmtree(folder)
    text = markdown(facts)
    print(text)
    if not options.quick:
        RESULTS.write_text(text)


def _measure(options: argparse.Namespace, facts: dict[str, Any], folder: Path) -> None:
    """Measures round by round, so that neighbours who come and go disturb all rows alike."""
    clock = _Clock(60 * options.minutes)
    rows = [
        (part, name, row)
        for part in options.parts
        for name, row in (PARTS[part][1].items() if part != "demo" else ())
        if options.rows is None or name in options.rows
    ]
    if "demo" in options.parts and not options.rows:
        facts["demo"] = _demo(folder, clock)
        print("demo", facts["demo"], flush=True)
        _keep(facts, options.quick)
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for number in range(1 if options.quick else options.rounds):
        for part, name, row in rows:
            if number and clock.seconds_of(row) > _SLOW:
                continue
            kept = facts.setdefault(part, {})
            measured = _measured(row, folder, options.quick, clock)
            if "problem" not in measured:
                found.setdefault((part, name), []).append(measured)
                measured = min(found[part, name], key=lambda each: each["wall"])
            if "problem" not in measured or (number == 0 and "wall" not in kept.get(name, {})):
                kept[name] = {**measured, "rounds": len(found.get((part, name), ()))}
            print(part, name, kept[name], flush=True)
            _keep(facts, options.quick)


def _keep(facts: dict[str, Any], quick: bool) -> None:
    if not quick:
        FACTS.write_text(json.dumps(facts, indent=1) + "\n")


class _Clock:
    """The time that is left, and how long each row took when it was measured last."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self._took: dict[Any, float] = {}

    @property
    def left(self) -> float:
        return self._end - time.monotonic()

    def seconds_of(self, row: Any) -> float:
        return self._took.get(row, 0.0)

    def has_time_for(self, row: Any) -> bool:
        return self.left > self.seconds_of(row)

    def took(self, row: Any, seconds: float) -> None:
        self._took[row] = seconds


def _measured(row: Row, folder: Path, quick: bool, clock: _Clock) -> dict[str, Any]:
    """One measurement; or the problem that there is none."""
    rows = row.rows // 100 if quick else row.rows
    if not Path(row.python).exists():
        return {"problem": f"no {Path(row.python).relative_to(ROOT)} (tests/oracle/make-oracles makes it)"}
    if not clock.has_time_for(row):
        return {"problem": "there was no time for it"}
    path = write_table(folder / f"{rows}.csv", rows)
    command = [row.python, str(HERE / "measured.py"), row.function, str(path), *row.arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
    began = time.monotonic()
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=max(1.0, clock.left)
        )
    except subprocess.TimeoutExpired:
        return {"problem": f"it did not end in {time.monotonic() - began:.0f} s"}
    if done.returncode:
        raise SystemExit(f"{row.title}: {done.stderr[-2000:]}")
    clock.took(row, time.monotonic() - began)
    return {**json.loads(done.stdout.splitlines()[-1]), "rows": rows, **_conditions()}


def _demo(folder: Path, clock: _Clock) -> dict[str, Any]:
    """The seconds of a first run, and of the second that the program makes itself."""
    work = folder / "demo"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [OURS, str(ROOT / "examples" / "pipeline" / "serve_taxi.py")]
    begin = time.perf_counter()
    try:
        done = subprocess.run(
            command, cwd=work, env=environment, capture_output=True, text=True, timeout=max(1.0, clock.left)
        )
    except subprocess.TimeoutExpired:
        return {"problem": "there was no time for it"}
    if done.returncode:
        raise SystemExit(f"the demo: {done.stderr[-2000:]}")
    whole = time.perf_counter() - begin
    first, second = (
        float(seconds) for seconds in re.findall(r"^   in ([\d.]+) s$", done.stdout, re.MULTILINE)
    )
    return {"whole": whole, "first": first, "second": second, **_conditions()}


def _conditions() -> dict[str, Any]:
    return {"date": str(date.today()), "load": round(os.getloadavg()[0], 1)}


def markdown(facts: dict[str, Any]) -> str:
    """The report of what is kept."""
    made = [
        "# The pipeline beside TFDV, TFT and TFMA",
        f"Made by `python -m benchmarks pipeline`. Machine: {cpu_model()}, {os.cpu_count()} cores, "
        f"{memory_size()} of memory. Imports are not counted; the best of the rounds is. CPU seconds are "
        "those of the process that was called and of those that it waited for, memory is that of the former.",
    ]
    for part, (title, rows) in PARTS.items():
        found = facts.get(part, {})
        lines = [_line(row.title, found[name]) for name, row in rows.items() if name in found]
        if lines:
            made += [f"## {title}", "\n".join([_HEAD, *lines]), *_ratios(found, rows)]
    demo = facts.get("demo", {})
    if "whole" in demo:
        words = (
            f"The pipeline's first run: {demo['first']:.0f} s. Its second run, nothing changed: "
            f"{demo['second']:.1f} s. The whole program, with both, the server and its answers: "
            f"{demo['whole']:.0f} s."
        )
        made += [f"## {_DEMO}", words]
    elif demo:
        made += [f"## {_DEMO}", _NOT_MEASURED + demo["problem"]]
    return "\n\n".join(made) + "\n"


def _ratios(found: dict[str, Any], rows: dict[str, Row]) -> list[str]:
    """How much faster two workers are than one, where both were measured."""
    pairs = [(name, f"{name}-2") for name in rows] + [("one", "two")]
    measured = [pair for pair in pairs if all("wall" in found.get(name, {}) for name in pair)]
    words = [
        f"{rows[one].title.partition(',')[0]}, {found[one]['rows']:,} rows: "
        f"{found[one]['wall'] / found[two]['wall']:.2f}"
        for one, two in measured
    ]
    if "wall" in found.get("twice", {}) and "wall" in found.get("tideflow", {}):
        limit = 2 * found["tideflow"]["wall"] / found["twice"]["wall"]
        words.append(f"two processes that share nothing but the machine: {limit:.2f}")
    return [f"Two against one, times as fast: {'; '.join(words)}."] if words else []


def _line(title: str, kept: dict[str, Any]) -> str:
    if "problem" in kept:
        return f"| {title} | {_NOT_MEASURED}{kept['problem']} | | | | | | |"
    numbers = [
        f"{kept['rows']:,}",
        f"{kept['cpu']:.2f}",
        f"{kept['wall']:.2f}",
        f"{kept['rows'] / kept['wall']:,.0f}",
        f"{kept['memory']:.0f}",
        str(kept["load"]),
        str(kept["rounds"]),
    ]
    return f"| {title} | {' | '.join(numbers)} |"
