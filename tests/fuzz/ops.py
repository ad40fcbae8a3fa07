"""Ops on damaged inputs: a sample of a random op, with other shapes, types, numbers and attributes.

An op may compute something, or refuse with an error of `tf.errors`, a ValueError or a TypeError in our own
words. `python -m tests.fuzz.ops SEED …` runs these cases again; with `--count N`, so many cases that follow
from one seed.
"""

from __future__ import annotations

import argparse
import functools
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import tideflow as tf
from tests.ops.cases import Case, arrays, build, cases
from tests.ops.hostile_inputs import FLOATS, INTEGERS, limit_memory
from tests.ops.raw_errors import is_raw, told
from tideflow.graph.dtypes import DType

NAME = "ops"
_SIZES = (0, 1, 2, 3, 5, 8)


def one(random: Random, corpus: Path) -> None:
    """Runs one damaged sample.

    Raises:
      AssertionError: With a description, also in a file of the corpus, where the op did not refuse properly.
    """
    seed = random.getrandbits(48)
    corpus.mkdir(parents=True, exist_ok=True)
    running = corpus / "running.txt"  # tells which case it was that ended the process
    running.write_text(f"python -m tests.fuzz.ops {seed}\n")
    failure = run(seed)
    running.unlink()
    if failure is not None:
        text = f"{failure}\n  again: python -m tests.fuzz.ops {seed}\n"
        (corpus / f"{seed:012x}.txt").write_text(text)
        raise AssertionError(text)


def run(seed: int) -> str | None:
    """What is wrong with the case of this seed; None where nothing is."""
    random = Random(seed)
    case = random.choice(_sampled())
    values, attrs, damage = _damaged(case, random)
    how = random.choice(("known", "unknown", "computed", "computed"))
    what = f"{case.id}, {how}: {'; '.join(damage)}"
    try:
        with tf.Graph().as_default() as graph:
            built = build(case.op, case.inputs, values, attrs, how)
        with tf.Session(graph=graph) as session:
            built.run(session)
    except Exception as error:
        return f"{what}: {told(error)}" if is_raw(error) else None
    return None


@functools.cache
def _sampled() -> list[Case]:
    return [case for case in cases() if case.inputs and not case.op.blocking]


# ---------------------------------------------------------------------------------- damage


def _damaged(case: Case, random: Random) -> tuple[list[Any], dict[str, Any], list[str]]:
    """The sample's values and attributes with one to three changes, and what they are."""
    values = [np.asarray(value) if isinstance(value, np.generic) else value for value in arrays(case.inputs)]
    attrs, damage = dict(case.attrs), []
    for _ in range(random.randint(1, 3)):
        i = random.randrange(len(values))
        value = values[i]
        if random.random() < 0.2:
            damage.append(_change_attribute(case, attrs, random))
        elif isinstance(value, np.ndarray):
            values[i], what = _changed(value, random)
            damage.append(f"{case.op.inputs[i].name} {what}")
        elif isinstance(value, list) and value and isinstance(value[0], np.ndarray):
            j = random.randrange(len(value))
            changed, what = _changed(value[j], random)
            values[i] = [*value[:j], changed, *value[j + 1 :]]
            damage.append(f"{case.op.inputs[i].name}[{j}] {what}")
    return values, attrs, damage


def _change_attribute(case: Case, attrs: dict[str, Any], random: Random) -> str:
    known = {**case.op._defaults, **attrs}
    counts = {arg.number_attr for arg in (*case.op.inputs, *case.op.outputs)}
    wanted = [
        n for n, a in case.op.attrs.items() if a.kind in ("int", "list(int)", "bool") and n not in counts
    ]
    if not wanted:
        return "nothing"
    name = random.choice(wanted)
    if case.op.attrs[name].kind == "bool":
        attrs[name] = not known.get(name)
    elif case.op.attrs[name].kind == "int":
        attrs[name] = random.choice(INTEGERS)
    else:
        numbers = list(known.get(name) or [])
        if numbers and random.random() < 0.8:
            numbers[random.randrange(len(numbers))] = random.choice(INTEGERS)
        else:
            numbers = numbers[:-1] if random.random() < 0.5 else [*numbers, 1]
        attrs[name] = numbers
    return f"{name}={attrs[name]}"


def _changed(array: np.ndarray, random: Random) -> tuple[np.ndarray, str]:
    change = random.choice((_number, _number, _size, _size, _rank, _type))
    changed = change(array, random)
    return (
        changed,
        f"{array.dtype}{list(array.shape)} -> {changed.dtype}{list(changed.shape)} by {change.__name__}",
    )


def _number(array: np.ndarray, random: Random) -> np.ndarray:
    """One element, or all, are an extreme."""
    if not array.size or array.dtype.kind not in "iufc":
        return array
    changed = array.copy()
    if array.dtype.kind in "iu":
        bounds = np.iinfo(array.dtype)
        number = min(max(random.choice(INTEGERS), bounds.min), bounds.max)
    else:
        number = random.choice(FLOATS)
    with np.errstate(over="ignore"):
        if random.random() < 0.5:
            changed[...] = number
        else:
            changed.reshape(-1)[random.randrange(array.size)] = number
    return changed


def _size(array: np.ndarray, random: Random) -> np.ndarray:
    """One axis has another size."""
    if not array.ndim or not array.size:
        return array
    shape = list(array.shape)
    shape[random.randrange(array.ndim)] = random.choice(_SIZES)
    return np.resize(array, shape)


def _rank(array: np.ndarray, random: Random) -> np.ndarray:
    """There is an axis more or less."""
    if array.ndim and random.random() < 0.5:
        return np.array(array[0]) if len(array) else np.zeros(array.shape[1:], array.dtype)
    return array[np.newaxis]


def _type(array: np.ndarray, random: Random) -> np.ndarray:
    """The elements have another type."""
    if array.dtype.kind not in "iufcb":
        return array
    target: DType = random.choice([tf.float32, tf.float64, tf.float16, tf.int32, tf.int64, tf.int8, tf.bool])
    with np.errstate(all="ignore"):
        return array.astype(target.as_numpy_dtype)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seeds", nargs="+", type=int, metavar="SEED")
    parser.add_argument("--count", type=int, help="run so many cases that follow from the first seed")
    options = parser.parse_args()
    limit_memory()
    random = Random(options.seeds[0])
    seeds = [random.getrandbits(48) for _ in range(options.count)] if options.count else options.seeds
    for seed in seeds:
        failure = run(seed)
        if failure is not None:
            print(f"{failure} (seed {seed})", flush=True)


if __name__ == "__main__":
    main()
