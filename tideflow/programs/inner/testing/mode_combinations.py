"""Combinations of a test's arguments that say in which mode it is run."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import tideflow as tf
from tideflow.eager.context import eager_mode, graph_mode
from tideflow.programs.inner.testing import test_combinations
from tideflow.programs.inner.testing.test_combinations import (
    NamedObject as NamedObject,
)
from tideflow.programs.inner.testing.test_combinations import (
    OptionalParameter,
    ParameterModifier,
    TestCombination,
)
from tideflow.programs.inner.testing.test_combinations import (
    combine as combine,
)
from tideflow.programs.inner.testing.test_combinations import (
    times as times,
)
from tideflow.programs.inner.util.version_names import enabled


class EagerGraphCombination(TestCombination):
    """`mode` is "eager" or "graph"."""

    def context_managers(self, kwargs: dict[str, Any]) -> Sequence[Any]:
        mode = kwargs.pop("mode", "graph")
        if mode == "eager":
            return [eager_mode()]
        if mode == "graph":
            return [tf.Graph().as_default(), graph_mode()]
        raise ValueError(f"'mode' has to be either 'eager' or 'graph' and not {mode}")

    def parameter_modifiers(self) -> Sequence[ParameterModifier]:
        return [OptionalParameter("mode")]


class TFVersionCombination(TestCombination):
    """`tf_api_version` is 1 or 2, of which one is switched on."""

    def should_execute_combination(self, kwargs: dict[str, Any]) -> tuple[bool, str | None]:
        version = kwargs.pop("tf_api_version", None)
        if version == 1 and enabled():
            return False, "Skipping a TF1.x test when TF2 is enabled."
        if version == 2 and not enabled():
            return False, "Skipping a TF2 test when TF2 is not enabled."
        return True, None

    def parameter_modifiers(self) -> Sequence[ParameterModifier]:
        return [OptionalParameter("tf_api_version")]


generate = functools.partial(
    test_combinations.generate, test_combinations=(EagerGraphCombination(), TFVersionCombination())
)
