"""Where random numbers come from: the seeds of ops, their streams, and the devices' own generators."""

from __future__ import annotations

import functools
from typing import Any

import torch

from tideflow.graph import dtypes
from tideflow.graph.op import ShapeError
from tideflow.graph.schema import attr
from tideflow.graph.scopes import get_seed
from tideflow.ops.helpers.axes import vector
from tideflow.ops.helpers.types import INDICES
from tideflow.runtime.philox import Philox, Stream

SEEDS = {"seed": 0, "seed2": 0}  # the attributes of a stateful op; both are 0 where it has no seed
SEED_TYPE = attr("type", dtypes.int64, allowed=INDICES)  # of the two numbers that a stateless op takes


def seed_attrs(seed: int | None) -> dict[str, int | None]:
    """The attributes of an op that draws numbers, with the graph's seed and its own."""
    return dict(zip(("seed", "seed2"), get_seed(seed)))


def stream_of(state: dict, seed: int, seed2: int) -> Stream | None:
    """The stream that a seeded op holds between its runs; None where it has no seed."""
    if seed == 0 and seed2 == 0:
        return None
    return state.get("stream") or state.setdefault("stream", Stream(seed, seed2))


def generator_of(seed: list[int]) -> Philox:
    """The generator of a stateless op, which starts every run at the same place."""
    if len(vector(seed, "seed must have shape [2], not ")) != 2:
        raise ShapeError(f"seed must have shape [2], not [{len(seed)}]")
    return Philox.stateless(*seed)


def check_seed(seed: Any) -> None:
    """The seed of a stateless op, as far as a shape rule knows it: two numbers."""
    if vector(seed, "seed must have shape [2], not ") is not None and len(seed) != 2:
        raise ShapeError(
            f"Dimension must be 2 but is {len(seed)}", f"seed must have shape [2], not [{len(seed)}]"
        )


@functools.cache
def device_generator(device: torch.device) -> torch.Generator:
    """The process's generator of unseeded numbers on a device; the operating system seeds it."""
    generator = torch.Generator(device)
    generator.seed()
    return generator
