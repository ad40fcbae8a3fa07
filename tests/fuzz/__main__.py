"""Runs the project's fuzzers for a time: `python -m tests.fuzz --seconds 300`, or `make fuzz`.

Each module of this folder that has a function `one` is a fuzzer: `one(random, corpus)` makes one case, tries
it, and raises AssertionError where a promise is broken. A fuzzer runs in a process of its own, so that a
crash is a finding too; it is named by its seed, and `--seed` runs that one case again.
"""

from __future__ import annotations

import argparse
import importlib
import os
import pkgutil
import random
import resource
import select
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import tests.fuzz

_LONGEST = 120  # seconds of one case before it counts as a hang
_MOST_FINDINGS = 20  # of one fuzzer, which then ends


def main() -> int:
    """Runs the fuzzers that the command line names; 1 where one of them found something."""
    options = _options()
    options.corpus.mkdir(parents=True, exist_ok=True)
    if options.seed is not None:
        _run_cases(options.fuzzers[0], options.seed, 0, options.corpus)
        return 0
    if options.first_seed is not None:
        _run_cases(options.fuzzers[0], options.first_seed, options.seconds, options.corpus)
        return 0
    share = options.seconds / len(options.fuzzers)
    return int(any([_run_fuzzer(name, share, options.corpus) for name in options.fuzzers]))


def _options() -> argparse.Namespace:
    names = [module.name for module in pkgutil.iter_modules(tests.fuzz.__path__)]
    names = [name for name in names if not name.startswith(("__", "test_")) and _fuzzer(name)]
    parser = argparse.ArgumentParser(
        "python -m tests.fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("fuzzers", nargs="*", default=names, metavar="FUZZER", help=f"of {', '.join(names)}")
    parser.add_argument("--seconds", type=float, default=300, help="for all of them together (%(default)s)")
    parser.add_argument("--corpus", type=Path, default=Path("out/fuzz"), help="keeps findings (%(default)s)")
    parser.add_argument("--seed", type=int, help="run just the case of this seed, in this process")
    parser.add_argument(
        "--first-seed", type=int, help=argparse.SUPPRESS
    )  # what this program gives its children
    options = parser.parse_args()
    unknown = set(options.fuzzers) - set(names)
    if unknown:
        parser.error(f"there is no fuzzer {' '.join(sorted(unknown))}; there are {', '.join(names)}")
    return options


def _fuzzer(name: str) -> Callable[[random.Random, Path], None] | None:
    return getattr(importlib.import_module(f"tests.fuzz.{name}"), "one", None)


def _run_cases(name: str, seed: int, seconds: float, corpus: Path) -> None:
    """Runs the cases of a seed and of those that follow, for a time; prints each seed before its case."""
    one, end = _fuzzer(name), time.monotonic() + seconds
    half = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    resource.setrlimit(resource.RLIMIT_AS, (half, half))  # a case that asks for more is refused, not swapped
    while True:
        print(seed, flush=True)
        one(random.Random(seed), corpus)
        if time.monotonic() >= end:
            return
        seed += 1


def _run_fuzzer(name: str, seconds: float, corpus: Path) -> int:
    """Runs a fuzzer in children until its time is over; the number of its findings."""
    first = seed = time.time_ns() % (1 << 40)
    findings, end = 0, time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0 and findings < _MOST_FINDINGS:
        last, finding = _run_child(name, seed, left, corpus)
        if finding:
            findings += 1
            print(f"{name}: seed {last}: {finding}", flush=True)
        seed = last + 1
    print(f"{name}: {seed - first} cases, {findings} findings", flush=True)
    return findings


def _run_child(name: str, seed: int, seconds: float, corpus: Path) -> tuple[int, str]:
    """The last seed that a child tried, and what is to be said of it."""
    command = [sys.executable, "-W", "ignore", "-m", "tests.fuzz", name, "--first-seed", str(seed)]
    command += ["--seconds", str(seconds), "--corpus", str(corpus)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, bufsize=1) as child:
        while True:
            ready, _, _ = select.select([child.stdout], [], [], _LONGEST)
            if not ready:
                child.kill()
                return seed, f"hangs for {_LONGEST} seconds"
            line = child.stdout.readline()
            if not line:
                break
            seed = int(line) if line.strip().isdigit() else seed
    code = child.returncode
    if code < 0:
        return seed, f"crashes with signal {-code}"
    return seed, "breaks a promise (see above)" if code else ""


if __name__ == "__main__":
    sys.exit(main())
