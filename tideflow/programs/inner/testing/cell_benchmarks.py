"""What TensorFlow's tests of recurrent cells import of their benchmarks."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import tideflow as tf


def device(use_gpu: bool = False) -> Any:
    """A device scope: the first GPU's, or the CPU's."""
    return tf.device("/gpu:0" if use_gpu else "/cpu:0")


def seconds_per_run(op: Any, sess: Any, num_runs: int = 50) -> float:
    """How long a step takes, on average, after two that do not count."""
    for _ in range(2):
        sess.run(op)
    begin = time.time()
    for _ in range(num_runs):
        sess.run(op)
    return (time.time() - begin) / num_runs


def dict_product(dicts: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """Each choice of one value of every key's."""
    for values in itertools.product(*dicts.values()):
        yield dict(zip(dicts, values, strict=True))
