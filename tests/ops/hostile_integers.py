"""Runs samples with hostile integers in place of their own: `python -m tests.ops.hostile_integers OP_TYPE …`.

Each op type runs in this process, one after the other. The name of the one that runs is the last line on
standard output, so that its reader knows which op type a crash belongs to. A refusal is what is hoped for.
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

import tideflow as tf
from tests.ops.cases import Case, arrays, build, cases

LIMIT = 6 << 30  # bytes of address space beyond which an allocation fails
HOSTILE = (-1, -(2**31), 2**31 - 1, 2**40, -(2**62), 2**62)


def hostile_variants(case: Case) -> Iterator[tuple[str, list[Any]]]:
    """The sample's values with each integer input replaced: all of it, and its last element alone."""
    values = arrays(case.inputs)
    for i, value in enumerate(values):
        items = (
            enumerate(value)
            if isinstance(value, list) and any(_is_integer(v) for v in value)
            else [(None, value)]
        )
        for j, item in items:
            if not _is_integer(item):
                continue
            for number in HOSTILE:
                for whole in (True, False):
                    changed = _changed(np.asarray(item), number, whole)
                    if changed is None:
                        continue
                    replaced = changed if j is None else [*value[:j], changed, *value[j + 1 :]]
                    yield (
                        f"input {i} = {number}{'' if whole else ' at the end'}",
                        [
                            *values[:i],
                            replaced,
                            *values[i + 1 :],
                        ],
                    )


def _is_integer(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(isinstance(item, int) and not isinstance(item, bool) for item in value)
    return isinstance(value, (int, np.ndarray)) and np.asarray(value).dtype.kind in "iu"


def _changed(array: np.ndarray, number: int, whole: bool) -> np.ndarray | None:
    info = np.iinfo(array.dtype)
    number = min(max(number, info.min), info.max)
    if whole:
        return np.full(array.shape, number, array.dtype)
    if array.size < 2:
        return None
    changed = array.copy()
    changed.reshape(-1)[-1] = number
    return changed


def run(case: Case, values: list[Any]) -> Exception | None:
    """What running the op on these values raises, if anything."""
    for how in ("known", "unknown"):
        try:
            with tf.Graph().as_default() as graph:
                built = build(case.op, case.inputs, values, case.attrs, how)
            with tf.Session(graph=graph) as session:
                built.run(session)
        except Exception as error:
            refusal = error
        else:
            refusal = None
    return refusal


def main(names: list[str]) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))
    for case in cases():
        if case.op.name in names:
            print(case.op.name, flush=True)
            for what, values in hostile_variants(case):
                print(f"{case.id}, {what}", file=sys.stderr, flush=True)
                error = run(case, values)
                if error is not None and not isinstance(error, (ValueError, TypeError, tf.errors.OpError)):
                    print(f"RAW {case.id}, {what}: {type(error).__name__}: {str(error)[:200]}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
