"""Constants and helpers of TensorFlow's inner modules `stateful_random_ops` and `random_seed`."""

from __future__ import annotations

from typing import Any

from tideflow.graph import scopes
from tideflow.ops.random import rng_state
from tideflow.random.generator import create_rng_state, get_global_generator, state_of_size

MAX_INT64 = 2**63 - 1
MIN_INT64 = -(2**63)
UINT64_SPAN = SEED_UINT_SPAN = 2**64
SEED_TYPE = STATE_TYPE = ALGORITHM_TYPE = "int64"
SEED_MIN, SEED_MAX = MIN_INT64, MAX_INT64
SEED_TYPE_BITS = 64
SEED_BIT_MASK = UINT64_SPAN - 1
SEED_SIZE = 16
RNG_ALG_PHILOX = DEFAULT_ALGORITHM = rng_state.PHILOX
RNG_ALG_THREEFRY = 2
PHILOX_STATE_SIZE = rng_state.STATE_SIZE
THREEFRY_STATE_SIZE = 2

DEFAULT_GRAPH_SEED = scopes.DEFAULT_GRAPH_SEED
set_seed = scopes.set_random_seed
_make_state_from_seed = create_rng_state
_make_1d_state = state_of_size


def __getattr__(name: str) -> Any:
    if name == "global_generator":
        return get_global_generator()
    raise AttributeError(name)


def _uint_to_int(n: int) -> int:
    """The signed integer with the bits of an unsigned one."""
    return n - UINT64_SPAN if n > SEED_MAX else n


def _truncate_seed(seed: int) -> int:
    """A seed as an int32 that is not negative."""
    return seed % (2**31 - 1)
