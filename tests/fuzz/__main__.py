"""Runs the project's fuzzers for a time: `python -m tests.fuzz --seconds 300`, or `make fuzz`.

Each module of this folder that has a function `one` is a fuzzer: `one(random, corpus)` makes one case, tries
it, and raises AssertionError where a promise is broken. A fuzzer runs in a process of its own, so that a
crash is a finding too; it is named by its seed, and `--seed` runs that one case again.
"""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import pkgutil
import random
import sys
import time
import traceback
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path

import tests.fuzz

_LONGEST = 120  # seconds of one case before it counts as a hang


def main() -> int:
    """Runs the fuzzers that the command line names; 1 where one of them found something."""
    options = _options()
    options.corpus.mkdir(parents=True, exist_ok=True)
    if options.seed is not None:
        for name in options.fuzzers:
            _fuzzer(name)(random.Random(options.seed), options.corpus)
        return 0
    share = options.seconds / len(options.fuzzers)
    findings = [finding for name in options.fuzzers for finding in _run(name, share, options.corpus)]
    for finding in findings:
        print(finding, file=sys.stderr)
    return int(bool(findings))


def _options() -> argparse.Namespace:
    names = [name for name in _modules() if hasattr(importlib.import_module(f"tests.fuzz.{name}"), "one")]
    parser = argparse.ArgumentParser(
        "python -m tests.fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("fuzzers", nargs="*", default=names, metavar="FUZZER", help=f"of {', '.join(names)}")
    parser.add_argument("--seconds", type=float, default=300, help="for all of them together (%(default)s)")
    parser.add_argument("--corpus", type=Path, default=Path("out/fuzz"), help="keeps findings (%(default)s)")
    parser.add_argument("--seed", type=int, help="run just the case of this seed, in this process")
    options = parser.parse_args()
    unknown = set(options.fuzzers) - set(names)
    if unknown:
        parser.error(f"there is no fuzzer {' '.join(sorted(unknown))}; there are {', '.join(names)}")
    return options


def _modules() -> list[str]:
    found = (module.name for module in pkgutil.iter_modules(tests.fuzz.__path__))
    return [name for name in found if not name.startswith(("__", "test_"))]


def _fuzzer(name: str):
    return importlib.import_module(f"tests.fuzz.{name}").one


def _run(name: str, seconds: float, corpus: Path) -> list[str]:
    """Runs one fuzzer in children until its time is over; the findings, in words."""
    context = multiprocessing.get_context("spawn")
    seed = context.Value("q", time.time_ns() % (1 << 40))
    findings: list[str] = []
    began, first = time.monotonic(), seed.value
    while (left := began + seconds - time.monotonic()) > 0 and len(findings) < 20:
        child = context.Process(target=_cases, args=(name, seed, left, corpus), daemon=False)
        child.start()
        finding = _watched(child, seed)
        if finding:
            findings.append(f"{name}: seed {seed.value}: {finding}")
            print(findings[-1], flush=True)
        seed.value += 1
    print(f"{name}: {seed.value - first} cases, {len(findings)} findings", flush=True)
    return findings


def _watched(child: multiprocessing.Process, seed: Synchronized) -> str:
    """What became of a child: nothing to say, a failure, a crash or a hang."""
    while child.is_alive():
        before = seed.value
        child.join(_LONGEST)
        if child.is_alive() and seed.value == before:
            child.kill()
            child.join()
            return f"hangs for {_LONGEST} seconds"
    code = child.exitcode
    return "" if not code else f"crashes with signal {-code}" if code < 0 else "breaks a promise (see above)"


def _cases(name: str, seed: Synchronized, seconds: float, corpus: Path) -> None:
    one, end = _fuzzer(name), time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            one(random.Random(seed.value), corpus)
        except BaseException:
            traceback.print_exc()
            sys.exit(1)
        seed.value += 1


if __name__ == "__main__":
    sys.exit(main())
