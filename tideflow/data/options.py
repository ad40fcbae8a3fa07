"""How a pipeline is to be run: `tf.data.Options`. What is not said stays None."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tideflow.data.stats import StatsAggregator
from tideflow.export import export

_DEFAULTS = ["map_and_batch_fusion", "noop_elimination", "shuffle_and_repeat_fusion"]


class _Option:
    """An attribute of a type; `default` makes what it is before it is set."""

    def __init__(self, kind: type, default: Callable[[], Any] = lambda: None):
        self.kind, self.default = kind, default

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, options: Any, owner: type) -> Any:
        return self if options is None else options._values[self.name]

    def __set__(self, options: Any, value: Any) -> None:
        if not isinstance(value, self.kind):
            raise TypeError(
                f'Property "{self.name}" must be of type {self.kind}, got: {value!r} (type: {type(value)})'
            )
        options._values[self.name] = value


class _Options:
    """Attributes with names, which can be set to what they are for."""

    def __init__(self):
        object.__setattr__(self, "_values", {name: option.default() for name, option in self._options()})

    @classmethod
    def _options(cls) -> list[tuple[str, _Option]]:
        return [(name, option) for name, option in vars(cls).items() if isinstance(option, _Option)]

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._values:
            raise AttributeError(
                f"Cannot set the property {name} on {type(self).__name__}. Available properties: "
                f"{', '.join(self._values)}."
            )
        object.__setattr__(self, name, value)

    def __eq__(self, other: Any) -> bool:
        return type(self) is type(other) and self._values == other._values

    def __ne__(self, other: Any) -> bool:
        return not self == other

    __hash__ = None

    def merged(self, other: Any) -> Any:
        """Options that say what either says; ValueError where they disagree."""
        result = type(self)()
        if not isinstance(other, type(self)):
            raise TypeError(f"Incompatible options type: {type(other)} vs {type(self)}")
        for name, unsaid in result._values.items():
            mine, given = self._values[name], other._values[name]
            if isinstance(mine, _Options):
                result._values[name] = mine.merged(given)
            elif given in (mine, unsaid):
                result._values[name] = mine
            elif mine == unsaid:
                result._values[name] = given
            else:
                raise ValueError(
                    f"Cannot merge incompatible values ({mine!r} and {given!r}) of option: {name}"
                )
        return result


@export("data.experimental.DistributeOptions")
class DistributeOptions(_Options):
    """How a dataset is distributed over workers."""

    auto_shard = _Option(bool, lambda: True)
    num_devices = _Option(int)


@export("data.experimental.MapVectorizationOptions")
class MapVectorizationOptions(_Options):
    """Whether `map` and `batch` may be exchanged, so that a function gets batches."""

    enabled = _Option(bool)
    use_choose_fastest = _Option(bool)


@export("data.experimental.OptimizationOptions")
class OptimizationOptions(_Options):
    """Which optimizations of the pipeline are applied."""

    apply_default_optimizations = _Option(bool)
    autotune = _Option(bool)
    autotune_algorithm = _Option(int)
    autotune_buffers = _Option(bool)
    autotune_cpu_budget = _Option(int)
    filter_fusion = _Option(bool)
    filter_with_random_uniform_fusion = _Option(bool)
    hoist_random_uniform = _Option(bool)
    map_and_batch_fusion = _Option(bool)
    map_and_filter_fusion = _Option(bool)
    map_fusion = _Option(bool)
    map_parallelization = _Option(bool)
    map_vectorization = _Option(MapVectorizationOptions, MapVectorizationOptions)
    noop_elimination = _Option(bool)
    parallel_batch = _Option(bool)
    shuffle_and_repeat_fusion = _Option(bool)


@export("data.experimental.StatsOptions")
class StatsOptions(_Options):
    """Which aggregator collects the pipeline's statistics."""

    aggregator = _Option(StatsAggregator)
    counter_prefix = _Option(str, str)
    latency_all_edges = _Option(bool)
    prefix = _Option(str, str)


@export("data.experimental.ThreadingOptions")
class ThreadingOptions(_Options):
    """How many threads the pipeline may use."""

    max_intra_op_parallelism = _Option(int)
    private_threadpool_size = _Option(int)


@export("data.Options")
class Options(_Options):
    """How a pipeline runs. Set the attributes and call `Dataset.with_options`."""

    experimental_deterministic = _Option(bool)
    experimental_distribute = _Option(DistributeOptions, DistributeOptions)
    experimental_optimization = _Option(OptimizationOptions, OptimizationOptions)
    experimental_slack = _Option(bool)
    experimental_stateful_whitelist = _Option(list)
    experimental_stats = _Option(StatsOptions, StatsOptions)
    experimental_threading = _Option(ThreadingOptions, ThreadingOptions)

    def merge(self, options: Options) -> Options:
        """Merges these options with others.

        Args:
          options: The other options.

        Returns:
          Options with the values of both.

        Raises:
          ValueError: If an option has two different values.
        """
        return self.merged(options)

    def _optimizations(self) -> list[str]:
        """The names, as an OptimizeDataset takes them, of how the pipeline may be changed."""
        chosen = [] if self.experimental_optimization.apply_default_optimizations is False else _DEFAULTS
        return [*chosen, "make_sloppy"] if self.experimental_deterministic is False else chosen
