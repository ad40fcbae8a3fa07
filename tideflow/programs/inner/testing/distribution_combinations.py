"""`tensorflow.python.distribute.combinations`: tests that are run with several strategies."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from typing import Any

from tideflow.eager.context import num_gpus
from tideflow.programs.inner.testing import mode_combinations
from tideflow.programs.inner.testing.mode_combinations import NamedObject as NamedObject
from tideflow.programs.inner.testing.mode_combinations import combine as combine
from tideflow.programs.inner.testing.mode_combinations import times as times
from tideflow.programs.inner.testing.test_combinations import (
    OptionalParameter,
    ParameterModifier,
    TestCombination,
)


class NamedDistribution:
    """A strategy by a name, and what it needs; it is made when a test gets it.

    Args:
      name: The name, which is part of the test's.
      distribution_fn: A function that makes the strategy.
      required_gpus: How many GPUs it needs.
      required_tpu: Whether it needs a TPU.
    """

    def __init__(
        self,
        name: str,
        distribution_fn: Callable[[], Any],
        required_gpus: int | None = None,
        required_tpu: bool = False,
    ):
        self._name = name
        self._distribution_fn = distribution_fn
        self.required_gpus = required_gpus
        self.required_tpu = required_tpu

    @property
    def strategy(self) -> Any:
        return self._distribution_fn()

    def __repr__(self) -> str:
        return self._name


class DistributionParameter(ParameterModifier):
    """A test gets the strategy, not what names it."""

    def modified_arguments(
        self, kwargs: dict[str, Any], requested_parameters: Sequence[str]
    ) -> dict[str, Any]:
        return {key: each.strategy for key, each in kwargs.items() if isinstance(each, NamedDistribution)}


def _named(kwargs: dict[str, Any]) -> list[NamedDistribution]:
    return [each for each in kwargs.values() if isinstance(each, NamedDistribution)]


class NamedGPUCombination(TestCombination):
    """`required_gpus`, or what a strategy requires: a test that lacks GPUs is skipped."""

    GPU_TEST = "test_gpu" in sys.argv[0]

    def should_execute_combination(self, kwargs: dict[str, Any]) -> tuple[bool, str | None]:
        required = kwargs.get("required_gpus")
        if _named(kwargs) and required:
            raise ValueError("Do not use `required_gpus` and arguments of type NamedDistribution together.")
        count = max([required or 0, *(each.required_gpus or 0 for each in _named(kwargs))])
        if not count and self.GPU_TEST:
            return False, "Test that doesn't require GPUs."
        if count > num_gpus():
            return False, f"Only {num_gpus()} of {count} required GPUs are available."
        return True, None

    def parameter_modifiers(self) -> Sequence[ParameterModifier]:
        return [OptionalParameter("required_gpus")]


class GPUCombination(NamedGPUCombination):
    """The same, where tests get the strategies themselves."""

    def parameter_modifiers(self) -> Sequence[ParameterModifier]:
        return [DistributionParameter(), *super().parameter_modifiers()]


class NamedTPUCombination(TestCombination):
    """`required_tpus`, or what a strategy requires: there are none here, and the test is skipped."""

    TPU_TEST = "test_tpu" in sys.argv[0]

    def should_execute_combination(self, kwargs: dict[str, Any]) -> tuple[bool, str | None]:
        if "required_tpus" in kwargs and "required_tpu" in kwargs:
            raise ValueError(
                "Do not use `required_tpu`.  Both `required_tpus` and `required_tpu` were specified."
            )
        required = kwargs.get("required_tpus") or kwargs.get("required_tpu")
        if _named(kwargs) and required:
            raise ValueError("Do not use `required_tpus` and arguments of type NamedDistribution together.")
        if required or any(each.required_tpu for each in _named(kwargs)):
            return False, "Test requires a TPU, but it's not available."
        return (False, "Test that doesn't require TPUs.") if self.TPU_TEST else (True, None)

    def parameter_modifiers(self) -> Sequence[ParameterModifier]:
        return [OptionalParameter("required_tpus"), OptionalParameter("required_tpu")]


class TPUCombination(NamedTPUCombination):
    """The same, where tests get the strategies themselves."""

    def parameter_modifiers(self) -> Sequence[ParameterModifier]:
        return [DistributionParameter(), *super().parameter_modifiers()]


generate = functools.partial(
    mode_combinations.generate.func,
    test_combinations=(
        *mode_combinations.generate.keywords["test_combinations"],
        GPUCombination(),
        TPUCombination(),
    ),
)
