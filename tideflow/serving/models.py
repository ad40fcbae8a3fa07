"""What every kind of model is once it is loaded: signatures, and a function of a batch."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Protocol

import numpy as np

from tideflow.graph.errors import OpError
from tideflow.runtime.values import empty_like_type, to_numpy
from tideflow.serving.calls import Array, Arrays, Signature, TensorSpec

MEASURED_ROWS = 32
_MEASUREMENTS = 3  # of which the quickest counts: the machine may be busy with something else
# A session compiles a plan for each of the first eight shapes of a step, and then one for all others
# (compile/variants.py): after these sizes no request waits for the compiler.
WARM_UP_SIZES = (1, 2, 3, 4, 5, 6, 7, 8, MEASURED_ROWS)


class Model(Protocol):
    """A model in memory. One thread at a time calls it."""

    signatures: Mapping[str, Signature]

    def run(self, signature: str, inputs: Arrays, outputs: tuple[str, ...]) -> Arrays:
        """The outputs that are asked for, by name."""

    def close(self) -> None:
        """Gives back what the model holds."""


def compile_ahead(model: Model) -> float | None:
    """Runs made-up batches, so that plans are compiled and memory is allocated before the first request.
    Returns the seconds of a batch of `MEASURED_ROWS`, by the slowest signature; None where none could be run.

    A signature that cannot be batched is left alone: such ones change state, as a counter does.
    """
    slowest: float | None = None
    for key, signature in model.signatures.items():
        if not signature.is_batchable:
            continue
        outputs = tuple(signature.outputs)
        try:
            for rows in WARM_UP_SIZES:
                model.run(key, zeros(signature.inputs, rows), outputs)
            times = [_seconds(model, key, outputs) for _ in range(_MEASUREMENTS)]
        except (OpError, ValueError, TypeError):  # zeros, or empty strings, are nothing that it takes
            continue
        slowest = max(slowest or 0.0, min(times))
    return slowest


def _seconds(model: Model, key: str, outputs: tuple[str, ...]) -> float:
    """How long a batch of zeros takes, where the thread has a processor."""
    inputs = zeros(model.signatures[key].inputs, MEASURED_ROWS)
    begin = time.thread_time()
    model.run(key, inputs, outputs)
    return time.thread_time() - begin


def zeros(inputs: Mapping[str, TensorSpec], rows: int) -> Arrays:
    """A batch of zeros and empty strings; axes of unknown size have size 1."""
    return {name: _zeros(spec, rows) for name, spec in inputs.items()}


def _zeros(spec: TensorSpec, rows: int) -> Array:
    _, *rest = spec.shape or (None,)
    return np.array(to_numpy(empty_like_type(spec.dtype, [rows, *(size or 1 for size in rest)])))
