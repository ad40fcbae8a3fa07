"""Seeds that follow from one."""

from __future__ import annotations

import hashlib

from tideflow.export import export


@export("contrib.distributions.SeedStream")
class SeedStream:
    """A stream of seeds that follow from one: each call gives the next.

    Args:
      seed: The seed, or a stream whose seed is taken; None makes every seed None.
      salt: A word that makes this stream differ from others of the same seed.
    """

    def __init__(self, seed: int | SeedStream | None, salt: str):
        self._seed = seed.original_seed if isinstance(seed, SeedStream) else seed
        self._salt = salt
        self._counter = 0

    def __call__(self) -> int | None:
        self._counter += 1
        if self._seed is None:
            return None
        text = str((self._seed, self._counter, self._salt))
        return int(hashlib.sha512(text.encode()).hexdigest(), 16)

    @property
    def original_seed(self) -> int | None:
        """The seed that the others follow from."""
        return self._seed

    @property
    def salt(self) -> str:
        """The word of this stream."""
        return self._salt
