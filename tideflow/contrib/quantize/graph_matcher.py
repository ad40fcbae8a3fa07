"""Patterns of operations, as `contrib.quantize.python.graph_matcher` has them for programs."""

from __future__ import annotations

import abc
import itertools
from collections.abc import Iterable, Iterator, Sequence

from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Tensor


class Pattern(abc.ABC):
    """Something that an operation may look like."""

    @abc.abstractmethod
    def match(self, op: Operation, tensor: Tensor | None) -> MatchResult | None:
        """Looks at an operation.

        Args:
          op: The operation.
          tensor: The output of it by which it was found; None for the first one.

        Returns:
          What was found; None if the operation is not like this.
        """


class OpTypePattern(Pattern):
    """An operation of some types, whose inputs are like other patterns.

    Args:
      op_type: The types, separated by bars; `"*"` for any.
      name: What it is called in a result.
      inputs: The patterns, or types, of its inputs; None to look no further.
      ordered_inputs: Whether the inputs must be in this order.

    Raises:
      ValueError: If there are more than eight inputs.
    """

    def __init__(
        self,
        op_type: str,
        name: str | None = None,
        inputs: Sequence[Pattern | str] | None = None,
        ordered_inputs: bool = True,
    ):
        if len(inputs or ()) > 8:
            raise ValueError("Only < 8 inputs are allowed when ordered_inputs is False.")
        self._op_type = op_type
        self._name = name
        self._inputs = [part if isinstance(part, Pattern) else OpTypePattern(part) for part in inputs or ()]
        self._ordered_inputs = ordered_inputs

    @property
    def name(self) -> str | None:
        return self._name

    def match(self, op: Operation, tensor: Tensor | None) -> MatchResult | None:
        if self._op_type != "*" and op.type not in self._op_type.split("|"):
            return None
        if self._inputs and len(op.inputs) != len(self._inputs):
            return None
        orders = [self._inputs] if self._ordered_inputs else itertools.permutations(self._inputs)
        for order in orders:
            found = [part.match(x.op, x) for part, x in zip(order, op.inputs)]
            if None not in found:
                result = MatchResult()
                result.add(self, op, tensor)
                for part in found:
                    result.merge_from(part)
                return result
        return None


class OneofPattern(Pattern):
    """An operation that is like one of several patterns: the first that fits.

    Args:
      sub_patterns: The patterns.
    """

    def __init__(self, sub_patterns: Iterable[Pattern]):
        self._sub_patterns = list(sub_patterns)

    def match(self, op: Operation, tensor: Tensor | None) -> MatchResult | None:
        found = (part.match(op, tensor) for part in self._sub_patterns)
        return next((result for result in found if result is not None), None)


class MatchResult:
    """The operations, and the tensors by which they were found, that patterns were found in."""

    def __init__(self) -> None:
        self._found: dict[Pattern, tuple[Operation, Tensor | None]] = {}
        self._named: dict[str, Pattern] = {}

    def add(self, pattern: OpTypePattern, op: Operation, tensor: Tensor | None) -> None:
        """Notes what a pattern was found in.

        Args:
          pattern: The pattern.
          op: The operation.
          tensor: The output of it by which it was found.

        Raises:
          ValueError: If another pattern has its name.
        """
        self._found[pattern] = op, tensor
        if pattern.name is not None:
            if pattern.name in self._named:
                raise ValueError(f"Name {pattern.name} is already bound to another pattern")
            self._named[pattern.name] = pattern

    def _of(self, pattern_or_name: Pattern | str) -> tuple[Operation | None, Tensor | None]:
        if not isinstance(pattern_or_name, (Pattern, str)):
            raise ValueError(f"pattern_or_name has type {type(pattern_or_name)}. Expect Pattern or str.")
        pattern = self._named.get(pattern_or_name) if isinstance(pattern_or_name, str) else pattern_or_name
        return (None, None) if pattern is None else self._found.get(pattern, (None, None))

    def get_op(self, pattern_or_name: Pattern | str) -> Operation | None:
        """The operation that a pattern was found in.

        Args:
          pattern_or_name: The pattern, or its name.

        Returns:
          The operation; None if there is none.
        """
        return self._of(pattern_or_name)[0]

    def get_tensor(self, pattern_or_name: Pattern | str) -> Tensor | None:
        """The tensor by which a pattern was found.

        Args:
          pattern_or_name: The pattern, or its name.

        Returns:
          The tensor; None if there is none.
        """
        return self._of(pattern_or_name)[1]

    def merge_from(self, other_match_result: MatchResult) -> None:
        """Takes over what another result has.

        Args:
          other_match_result: The other one.
        """
        self._found.update(other_match_result._found)
        self._named.update(other_match_result._named)


class GraphMatcher:
    """Looks for a pattern in a graph.

    Args:
      pattern: The pattern.
    """

    def __init__(self, pattern: Pattern):
        self._pattern = pattern

    def match_op(self, op: Operation) -> MatchResult | None:
        """Looks at one operation, and what it takes its inputs from.

        Args:
          op: The operation.

        Returns:
          What was found; None if the operation is not like the pattern.
        """
        return self._pattern.match(op, None)

    def match_ops(self, ops: Iterable[Operation]) -> Iterator[MatchResult]:
        """Looks at some operations.

        Args:
          ops: The operations.

        Yields:
          What was found in those that are like the pattern.
        """
        yield from filter(None, map(self.match_op, ops))

    def match_graph(self, graph: Graph) -> Iterator[MatchResult]:
        """Looks at all operations of a graph.

        Args:
          graph: The graph.

        Yields:
          What was found in those that are like the pattern.
        """
        yield from self.match_ops(graph.get_operations())
