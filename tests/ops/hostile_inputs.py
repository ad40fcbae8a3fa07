"""Runs samples with hostile numbers in place of their own: `python -m tests.ops.hostile_inputs OP_TYPE …`.

Integers (sizes, axes, indices, attributes) become extreme, floats become NaN and infinities, arrays become
empty. An op may compute something or refuse; it may not end the process, corrupt the heap, run past its
deadline, or refuse in words that are not ours. Without names the program runs every op type.

The ops run in child processes, which take many each. `--seed N` runs a few variants of each sample instead of
all of them.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import glob
import os
import random
import resource
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

import tideflow as tf
from tests.ops.cases import Built, Case, arrays, build, cases
from tests.ops.raw_errors import is_raw, told
from tideflow.ops.helpers.samples import scratch

INTEGERS = (0, -1, 1, -(2**31), 2**31 - 1, 2**31 + 5, 2**40, -(2**62), 2**62, -(2**63), 2**63 - 1)
FLOATS = (np.nan, np.inf, -np.inf, 0.0, -1.0, 1e30)
_ROOM = 1 << 30  # bytes that a child may allocate; more fails as in a machine without memory
_DEADLINE = 60  # seconds for all variants of an op
_FEW = 1  # variants of a kind, of a sample, with a seed
_FEW_SAMPLES = 2  # of an op, with a seed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="OP_TYPE")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    names = options.names or sorted({case.op.name for case in cases()})
    if options.child:
        _run_all(names, options.seed)
        return
    for failure in failures(names, options.seed):
        print(failure, flush=True)


# ---------------------------------------------------------------------------------- the parent


def failures(names: list[str], seed: int | None = None) -> Iterator[str]:
    """Runs the ops in child processes; what they did wrong, a line each."""
    waiting = list(names)
    while waiting:
        command = [sys.executable, "-m", "tests.ops.hostile_inputs", "--child", *waiting]
        if seed is not None:
            command += ["--seed", str(seed)]
        child = subprocess.run(command, env=checked_heap(), capture_output=True, text=True, check=False)
        lines = child.stdout.splitlines()
        yield from (line.removeprefix("RAW ") for line in lines if line.startswith("RAW "))
        if child.returncode == 0:
            return
        started = [line.removeprefix("OP ") for line in lines if line.startswith("OP ")]
        assert started, f"the child did not start:\n{child.stderr[-2000:]}"
        variant = next(line for line in reversed(child.stderr.splitlines()) if line.startswith("VARIANT "))
        how = f"ended by signal {-child.returncode}" if child.returncode < 0 else f"exit {child.returncode}"
        words = child.stderr.partition(variant)[2].strip().splitlines()
        yield f"{variant.removeprefix('VARIANT ')}: {how}: {' | '.join(words[:12])}"
        waiting = waiting[waiting.index(started[-1]) + 1 :]


def checked_heap() -> dict[str, str]:
    """The environment of a child: a damaged heap aborts it, and freed memory is overwritten."""
    checked = {"MALLOC_CHECK_": "3", "MALLOC_PERTURB_": "165", "LD_PRELOAD": "libc_malloc_debug.so.0"}
    return {**os.environ, **checked, "OMP_NUM_THREADS": "1"}


# ---------------------------------------------------------------------------------- the child


def _run_all(names: list[str], seed: int | None) -> None:
    limit_memory()
    wanted = {name: [case for case in cases() if case.op.name == name] for name in names}
    for name, samples in wanted.items():
        print(f"OP {name}", flush=True)
        faulthandler.dump_traceback_later(_DEADLINE, exit=True)
        if seed is not None:
            samples = random.Random(f"{seed} {name}").sample(samples, min(_FEW_SAMPLES, len(samples)))
        for case in samples:
            for what, error in outcomes(case, None if seed is None else random.Random(f"{seed} {case.id}")):
                if error is not None and is_raw(error):
                    print(f"RAW {what}: {told(error)}", flush=True)
    faulthandler.cancel_dump_traceback_later()
    for path in glob.glob(scratch("*")):
        os.remove(path)


def limit_memory() -> None:
    """Lets this process allocate little more than it has: what asks for more fails."""
    with open("/proc/self/statm") as statistics:
        mapped = int(statistics.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (mapped + _ROOM, mapped + _ROOM))


def outcomes(case: Case, chance: random.Random | None) -> Iterator[tuple[str, Exception | None]]:
    """Each variant of a sample, and the error that running it raised."""
    with tf.Graph().as_default() as graph:
        built = build(case.op, case.inputs, arrays(case.inputs), case.attrs, "unknown")
    fed = list(_fed(built))
    attributes = list(_attributes(case))
    fixed = list(_constants(case))
    if chance is not None:
        fed, attributes, fixed = (
            chance.sample(found, min(_FEW, len(found))) for found in (fed, attributes, fixed)
        )
    with tf.Session(graph=graph) as session:
        for what, feeds in fed:
            yield (
                _told(case, what),
                _error_of(lambda f=feeds: Built(built.node, f, built.variables).run(session)),
            )
    for what, values, attrs in [*fixed, *attributes]:
        yield _told(case, what), _error_of(lambda v=values, a=attrs: _build_and_run(case, v, a))


def _told(case: Case, what: str) -> str:
    text = f"{case.id}, {what}"
    print(f"VARIANT {text}", file=sys.stderr, flush=True)
    return text


def _error_of(action: Any) -> Exception | None:
    with contextlib.redirect_stdout(sys.stderr):
        try:
            action()
        except Exception as error:
            return error
    return None


def _build_and_run(case: Case, values: list[Any], attrs: dict[str, Any]) -> None:
    with tf.Graph().as_default() as graph:
        built = build(case.op, case.inputs, values, attrs)
    with tf.Session(graph=graph) as session:
        built.run(session)


# ---------------------------------------------------------------------------------- the variants


def _fed(built: Built) -> Iterator[tuple[str, dict[Any, Any]]]:
    """Feeds of which one has hostile numbers."""
    for position, (tensor, value) in enumerate(built.feeds.items()):
        for what, changed in _hostile_arrays(np.asarray(value)):
            yield f"feed {position} {what}", {**built.feeds, tensor: changed}
    yield from emptied({tensor: np.asarray(value) for tensor, value in built.feeds.items()})


def emptied(feeds: dict[Any, np.ndarray]) -> Iterator[tuple[str, dict[Any, Any]]]:
    """Feeds without elements: one of them along one axis, then all of them along the axes of one size."""
    for position, (tensor, value) in enumerate(feeds.items()):
        for axis in range(value.ndim):
            yield f"feed {position} empty along {axis}", {**feeds, tensor: np.take(value, [], axis)}
    for size in sorted({size for value in feeds.values() for size in value.shape}):
        shapes = {t: tuple(0 if n == size else n for n in value.shape) for t, value in feeds.items()}
        yield f"0 in place of {size}", {t: np.resize(value, shapes[t]) for t, value in feeds.items()}


def _constants(case: Case) -> Iterator[tuple[str, list[Any], dict[str, Any]]]:
    """Inputs that shape rules look at, of which one has hostile numbers."""
    values = arrays(case.inputs)
    for i, (arg, value) in enumerate(zip(case.op.inputs, values, strict=True)):
        if arg.name not in case.op.host or arg.is_list or not isinstance(value, int | list | np.ndarray):
            continue
        array = np.asarray(value)
        for what, changed in _hostile_arrays(array):
            given = changed if isinstance(value, np.ndarray) else changed.tolist()
            yield f"{arg.name} {what}", [*values[:i], given, *values[i + 1 :]], case.attrs


def _attributes(case: Case) -> Iterator[tuple[str, list[Any], dict[str, Any]]]:
    """Attributes of which one is a hostile integer."""
    values = arrays(case.inputs)
    counts = {arg.number_attr for arg in (*case.op.inputs, *case.op.outputs)}
    for name, attr in case.op.attrs.items():
        known = {**case.op._defaults, **case.attrs}.get(name)
        if name in counts or attr.kind not in ("int", "list(int)", "float"):
            continue
        for number in FLOATS if attr.kind == "float" else INTEGERS:
            if attr.kind == "list(int)":
                for at in range(len(known or [])):
                    changed = [*known[:at], number, *known[at + 1 :]]
                    yield f"{name}={changed}", values, {**case.attrs, name: changed}
            else:
                yield f"{name}={number}", values, {**case.attrs, name: number}


def _hostile_arrays(array: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """The array with a hostile number in all places, and in the last alone."""
    for number in _numbers(array.dtype):
        yield f"= {number}", np.full(array.shape, number, array.dtype)
        if array.size > 1:
            changed = array.copy()
            changed.reshape(-1)[-1] = number
            yield f"ends with {number}", changed


def _numbers(dtype: np.dtype) -> list[Any]:
    if dtype.kind in "iu":
        bounds = np.iinfo(dtype)
        return sorted({min(max(number, bounds.min), bounds.max) for number in INTEGERS})
    with np.errstate(over="ignore"):
        return [dtype.type(number) for number in FLOATS] if dtype.kind in "fc" else []


if __name__ == "__main__":
    main()
