"""How a pipeline is to be run: `tf.data.Options`. What is not said stays None."""

from __future__ import annotations

from typing import Any

from tideflow.export import export


class _Options:
    """Attributes with names, each None until it is set."""

    _names: tuple[str, ...] = ()
    _parts: dict[str, type[_Options]] = {}

    def __init__(self):
        for name in self._names:
            object.__setattr__(self, name, None)
        for name, kind in self._parts.items():
            object.__setattr__(self, name, kind())

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._names and name not in self._parts:
            raise AttributeError(
                f"Cannot set the property {name} on {type(self).__name__}. Available properties: "
                f"{', '.join((*self._names, *self._parts))}."
            )
        if name in self._parts and not isinstance(value, self._parts[name]):
            raise TypeError(f'Property "{name}" must be of type {self._parts[name]}, got: {value!r}')
        object.__setattr__(self, name, value)

    def __eq__(self, other: Any) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __ne__(self, other: Any) -> bool:
        return not self == other

    __hash__ = None

    def merged(self, other: Any) -> Any:
        """Options that say what either says; ValueError where they disagree."""
        result = type(self)()
        for name in self._names:
            mine, given = getattr(self, name), getattr(other, name)
            if mine is not None and given is not None and mine != given:
                raise ValueError(f"Cannot merge incompatible values of options: {name}")
            object.__setattr__(result, name, mine if given is None else given)
        for name in self._parts:
            object.__setattr__(result, name, getattr(self, name).merged(getattr(other, name)))
        return result


@export("data.experimental.DistributeOptions")
class DistributeOptions(_Options):
    """How a dataset is spread over workers."""

    _names = ("auto_shard", "num_devices")


@export("data.experimental.MapVectorizationOptions")
class MapVectorizationOptions(_Options):
    """Whether maps may be made maps of batches."""

    _names = ("enabled", "use_choose_fastest")


@export("data.experimental.OptimizationOptions")
class OptimizationOptions(_Options):
    """Which rewrites of the pipeline are wanted."""

    _names = (
        "apply_default_optimizations",
        "autotune",
        "autotune_algorithm",
        "autotune_cpu_budget",
        "filter_fusion",
        "filter_with_random_uniform_fusion",
        "hoist_random_uniform",
        "map_and_batch_fusion",
        "map_and_filter_fusion",
        "map_fusion",
        "map_parallelization",
        "noop_elimination",
        "parallel_batch",
        "shuffle_and_repeat_fusion",
    )
    _parts = {"map_vectorization": MapVectorizationOptions}


@export("data.experimental.StatsOptions")
class StatsOptions(_Options):
    """Where the pipeline's statistics go."""

    _names = ("aggregator", "counter_prefix", "latency_all_edges", "prefix")


@export("data.experimental.ThreadingOptions")
class ThreadingOptions(_Options):
    """How many threads the pipeline may use."""

    _names = ("max_intra_op_parallelism", "private_threadpool_size")


@export("data.Options")
class Options(_Options):
    """How a pipeline is to be run."""

    _names = ("experimental_deterministic", "experimental_slack")
    _parts = {
        "experimental_distribute": DistributeOptions,
        "experimental_optimization": OptimizationOptions,
        "experimental_stats": StatsOptions,
        "experimental_threading": ThreadingOptions,
    }

    def merge(self, options: Options) -> Options:
        """Options that say what either says; ValueError where they disagree."""
        return self.merged(options)
