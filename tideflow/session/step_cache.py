"""The steps of a session that were compiled, by what `run` was given."""

from __future__ import annotations

from typing import Any

from tideflow.graph.graph import Graph
from tideflow.session.step import Step

# Fetches and keys of the feed_dict, hashable, and the kind of the step.
StepKey = tuple[Any, Any, str]

# Kinds. Steps of the same fetches and feeds differ in how `run` calls them, and in the hooks of their plans.
QUICK = ""  # without options; every key of the feed_dict is one tensor, so its values are taken as they are
FLAT = "flat"  # without options; some key stands for several tensors
TIMED = "timed"  # with a time limit
TRACED = "traced"  # with a trace
TIMED_AND_TRACED = "timed and traced"


class StepCache:
    """Steps by key. They hold for the graph as it was when they were compiled: operations that were added
    since do not matter to them, changes of older ones do.
    """

    def __init__(self, graph: Graph):
        self._graph = graph
        self._mutations = graph._mutations
        self.steps: dict[StepKey, Step] = {}
        self.get = self.steps.get  # every run looks its step up: a method of this class would be slower

    @property
    def is_stale(self) -> bool:
        """Whether older operations of the graph were changed since."""
        return self._mutations != self._graph._mutations

    def drop_stale(self) -> None:
        """Drops the steps if the graph they hold for is no more."""
        if self.is_stale:
            self.steps.clear()
            self._mutations = self._graph._mutations
