"""What the parts of the server say to each other: what a model takes and gives, a call of it, the model.

Front ends turn bytes into a `Call` and hand it to a `Servable`; batching, the cache and workers stand behind
that one method. Everything here belongs to the thread of the server's event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, TypeAlias

import numpy as np

from tideflow.graph.dtypes import DType
from tideflow.graph.errors import OpError

Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"
Arrays: TypeAlias = dict[str, Array]  # by the signature's names; strings are bytes in object arrays

PREDICT, CLASSIFY, REGRESS = (f"tensorflow/serving/{name}" for name in ("predict", "classify", "regress"))
DEFAULT_SIGNATURE = "serving_default"


@dataclass(frozen=True)
class TensorSpec:
    """An input or an output of a signature. An unknown shape, or size, is None."""

    dtype: DType
    shape: tuple[int | None, ...] | None
    tensor_name: str  # in the graph, as clients see it in the metadata

    @property
    def has_rows(self) -> bool:
        """Whether the first axis is one of any number of examples."""
        return self.shape is None or bool(self.shape) and self.shape[0] is None


@dataclass(frozen=True)
class Signature:
    """A function of a model: what it takes, what it gives, and which method of the interface it is for."""

    method_name: str
    inputs: Mapping[str, TensorSpec]
    outputs: Mapping[str, TensorSpec]

    @cached_property
    def is_batchable(self) -> bool:
        """Whether the examples of several calls may be computed together."""
        return all(spec.has_rows for spec in (*self.inputs.values(), *self.outputs.values()))


Done: TypeAlias = Callable[[Arrays | OpError], None]


@dataclass(slots=True, eq=False)
class Call:
    """One use of a signature. `done` is called once, with outputs or an error, unless it is cancelled.

    Inputs are checked against the signature already: names, types, and as many rows in each as `rows`
    (1 where the signature is not batchable). `deadline` is a time of the loop's clock.
    """

    signature: str
    inputs: Arrays
    outputs: tuple[str, ...]
    rows: int
    deadline: float
    done: Done
    is_cancelled: bool = field(default=False)


@dataclass(frozen=True)
class VersionStatus:
    """Where a version of a model stands. `state` is a number of `messages.STATES`."""

    version: int
    state: int
    error: OpError | None


class Servable(Protocol):
    """A version of a model that answers calls."""

    name: str
    version: int
    signatures: Mapping[str, Signature]

    def submit(self, call: Call) -> None:
        """Takes a call. An error, of a full queue say, is given to `call.done` too."""


async def answer(servable: Servable, call: Call) -> Arrays:
    """Submits a call with a `done` of its own, and waits for the outputs. A caller that leaves cancels it."""
    result: asyncio.Future[Arrays] = asyncio.get_running_loop().create_future()

    def done(outcome: Arrays | OpError) -> None:
        if result.done():
            return
        if isinstance(outcome, OpError):
            result.set_exception(outcome)
        else:
            result.set_result(outcome)

    call.done = done
    servable.submit(call)
    try:
        return await result
    except asyncio.CancelledError:
        call.is_cancelled = True
        raise
