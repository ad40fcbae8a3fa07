"""What one pass over data computes: accumulators, whose states are merged in any order.

Rows travel in blocks: `pyarrow.RecordBatch`es in which every column is a list of int64, float32, float64 or
binary (lists of lists for the feature lists of SequenceExamples). A null is a feature that the row does not
have, an empty list one without values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa


class Accumulator(ABC):
    """A computation over all rows, in parts.

    `extract` of a merged state does not depend on how the rows were divided among states, nor on the order in
    which states were merged. Accumulators and states are pickled, and states are small: they go from workers
    to the process that merges them.
    """

    @property
    def is_threaded(self) -> bool:
        """Whether `add` and `settle` hold Python's lock so little that threads do them at once."""
        return False

    @abstractmethod
    def create(self) -> Any:
        """The state of no rows."""

    @abstractmethod
    def add(self, state: Any, block: pa.RecordBatch) -> Any:
        """The state with the rows of a block added. The given state may be changed, and is not used again."""

    def settle(self, state: Any) -> Any:
        """The state of a whole part, with the work done in it that can be done before it is merged."""
        return state

    @abstractmethod
    def merge(self, states: Sequence[Any]) -> Any:
        """The state of the rows of several states, which may be changed and are not used again."""

    @abstractmethod
    def extract(self, state: Any) -> Any:
        """The result."""


@dataclass(frozen=True)
class Rows(Accumulator):
    """The number of rows."""

    is_threaded = True

    def create(self) -> int:
        return 0

    def add(self, state: int, block: pa.RecordBatch) -> int:
        return state + int(block.num_rows)

    def merge(self, states: Sequence[int]) -> int:
        return sum(states)

    def extract(self, state: int) -> int:
        return state


@dataclass(frozen=True)
class Together(Accumulator):
    """Several accumulators by name, in one pass. Its result is a dictionary."""

    accumulators: Mapping[str, Accumulator]

    @property
    def is_threaded(self) -> bool:
        return all(each.is_threaded for each in self.accumulators.values())

    def create(self) -> dict[str, Any]:
        return {name: each.create() for name, each in self.accumulators.items()}

    def add(self, state: dict[str, Any], block: pa.RecordBatch) -> dict[str, Any]:
        for name, each in self.accumulators.items():
            state[name] = each.add(state[name], block)
        return state

    def settle(self, state: dict[str, Any]) -> dict[str, Any]:
        return {name: each.settle(state[name]) for name, each in self.accumulators.items()}

    def merge(self, states: Sequence[dict[str, Any]]) -> dict[str, Any]:
        return {
            name: each.merge([state[name] for state in states]) for name, each in self.accumulators.items()
        }

    def extract(self, state: dict[str, Any]) -> dict[str, Any]:
        return {name: each.extract(state[name]) for name, each in self.accumulators.items()}


@dataclass(frozen=True)
class Mapped(Accumulator):
    """An accumulator of blocks that a function makes of the blocks read, such as decoded or filtered ones.

    Args:
      function: Of a block, a block. It is pickled by its name, so it is no lambda.
      accumulator: What accumulates the blocks it returns.
    """

    function: Callable[[Any], Any]
    accumulator: Accumulator

    def create(self) -> Any:
        return self.accumulator.create()

    def add(self, state: Any, block: pa.RecordBatch) -> Any:
        return self.accumulator.add(state, self.function(block))

    def settle(self, state: Any) -> Any:
        return self.accumulator.settle(state)

    def merge(self, states: Sequence[Any]) -> Any:
        return self.accumulator.merge(states)

    def extract(self, state: Any) -> Any:
        return self.accumulator.extract(state)
