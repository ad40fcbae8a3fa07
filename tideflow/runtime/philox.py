"""Philox4x32-10, the counter-based generator of TensorFlow's random ops, for whole arrays at once.

A key and a 128-bit counter determine a block of four 32-bit words; the next block has the counter plus one.
There is no other state, so any part of a stream can be computed at any time and in any order.

    generator = Philox.from_seeds(seed, seed2)          # a place in a stream: a value, safe to share
    generator.words(0, 10)                              # the first 10 blocks, as a (10, 4) array of uint32

    stream = Stream(seed, seed2)                        # what a stateful op holds between its runs
    stream.reserve_outputs(1000)                        # this run's generator; the next run starts behind it
"""

import secrets
import threading
from dataclasses import dataclass

import numpy as np

CHUNK = 1 << 13
"""Blocks to compute at a time: few enough for the cache, and many enough that calls of NumPy are cheap."""

RESERVED_PER_OUTPUT = 256
"""Blocks that an op reserves for each value it returns, whether it needs them or not."""

_MASK32 = (1 << 32) - 1
_MASK64 = (1 << 64) - 1
_MASK128 = (1 << 128) - 1

_ROUNDS = 10
_KEY_STEP = np.array([[0x9E3779B9], [0xBB67AE85]], np.uint64)
_KEY_STEPS = np.arange(_ROUNDS, dtype=np.uint64)[:, None, None] * _KEY_STEP
_MULTIPLIERS = np.array([[0xCD9E8D57], [0xD2511F53]], np.uint64)

_LOW = np.array(_MASK32, np.uint64)
_HALF = np.array(32, np.uint64)

_STATELESS_KEY = 0x02461E293EC8F720
"""The key under which the seeds of the stateless ops are mixed."""


@dataclass(frozen=True, slots=True)
class Philox:
    """A place in a stream: a 64-bit key and the 128-bit counter of the next block."""

    key: int
    counter: int

    @classmethod
    def from_seeds(cls, seed: int, seed2: int) -> "Philox":
        """The generator of a stateful op: `seed` is the key, `seed2` the upper half of the counter."""
        return cls(seed & _MASK64, (seed2 & _MASK64) << 64)

    @classmethod
    def stateless(cls, seed: int, seed2: int) -> "Philox":
        """The generator of a stateless op: its key and counter are the block whose counter are the seeds."""
        counter = (seed & _MASK64) | (seed2 & _MASK64) << 64
        key, upper = (int(half) for half in cls(_STATELESS_KEY, counter).words(0, 1).view(np.uint64)[0])
        return cls(key, upper << 64)

    def skip(self, blocks: int) -> "Philox":
        """The generator that starts `blocks` later."""
        return Philox(self.key, (self.counter + blocks) & _MASK128)

    def reserve_blocks(self, count: int) -> "Philox":
        """Itself: a stateless op starts every run at the same place. See `Stream.reserve_blocks`."""
        return self

    reserve_outputs = reserve_blocks

    def words(self, start: int, count: int) -> np.ndarray:
        """Blocks start … start + count - 1, counted from here: a (count, 4) array of uint32."""
        return self.skip(start).blocks(np.arange(count, dtype=np.uint64))

    def blocks(self, offsets: np.ndarray) -> np.ndarray:
        """The blocks at these distances from here (a vector of uint64): an array of uint32, four for each."""
        # Words 0 and 2 of the state are kept in `active`, 1 and 3 in `passive`, each as a uint64 below 2**32.
        # A round multiplies the active words; both halves of both products make the next state.
        active = np.empty((2, len(offsets)), np.uint64)
        passive = np.empty_like(active)
        products = np.empty_like(active)
        self._load_counters(offsets, active, passive)
        crosswise = active[::-1]
        for key in _round_keys(self.key):
            np.multiply(crosswise, _MULTIPLIERS, out=products)
            np.right_shift(products, _HALF, out=active)
            np.bitwise_xor(active, passive, out=active)
            np.bitwise_xor(active, key, out=active)
            np.bitwise_and(products, _LOW, out=passive)
        np.left_shift(passive, _HALF, out=passive)
        result = np.empty((len(offsets), 2), np.uint64)
        np.bitwise_or(active, passive, out=result.T)
        return result.view(np.uint32)

    def _load_counters(self, offsets: np.ndarray, active: np.ndarray, passive: np.ndarray) -> None:
        start = np.uint64(self.counter & _MASK64)
        lower, upper = active
        np.add(offsets, start, out=lower)
        np.add(np.less(lower, start), np.uint64(self.counter >> 64), out=upper)
        np.right_shift(active, _HALF, out=passive)
        np.bitwise_and(active, _LOW, out=active)


def _round_keys(key: int) -> np.ndarray:
    """The keys of the rounds, one column of two words for each."""
    halves = np.array([[key & _MASK32], [key >> 32]], np.uint64)
    return (halves + _KEY_STEPS) & _LOW


class Stream:
    """The generator of one stateful op, which all of its runs share: each run reserves the next part.

    If both seeds are zero, the op has no seed, and the stream starts at a random place.
    """

    def __init__(self, seed: int = 0, seed2: int = 0) -> None:
        if seed == 0 and seed2 == 0:
            seed, seed2 = secrets.randbits(64), secrets.randbits(64)
        self._next = Philox.from_seeds(seed, seed2)
        self._lock = threading.Lock()

    def reserve_blocks(self, count: int) -> Philox:
        """A generator of `count` blocks, which no other run will get."""
        with self._lock:
            reserved = self._next
            self._next = reserved.skip(count)
        return reserved

    def reserve_outputs(self, count: int) -> Philox:
        """A generator for `count` values of any distribution."""
        return self.reserve_blocks(count * RESERVED_PER_OUTPUT)
