"""Statistics of data: of files, of blocks in memory, or of columns."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, cast

from tideflow.pipeline.data.faults import Faults
from tideflow.pipeline.data.sources import PathLike, Source, find_sources
from tideflow.pipeline.engine.run import accumulate
from tideflow.pipeline.statistics.datasets import Statistics
from tideflow.pipeline.statistics.options import StatsOptions


def generate_statistics(
    data: PathLike | Sequence[PathLike] | Sequence[Source],
    options: StatsOptions | None = None,
    *,
    format: str | None = None,
    workers: int | None = None,
    ray: str | None = None,
    progress: Callable[[int, int], None] | None = None,
    faults: Faults | None = None,
) -> Any:
    """Computes the statistics of a data set, in one pass.

    Args:
      data: Files, folders or patterns (`data.sources.find_sources`), or sources.
      options: What is to be computed.
      format: The format of files whose suffix does not say it.
      workers: The number of processes. By default as many as cores, and this one for small data.
      ray: The address of a Ray cluster that does it instead.
      progress: Called with the number of parts that are done and of all.
      faults: Gets the faulty rows. By default one raises a DataLossError.

    Returns:
      A DatasetFeatureStatisticsList.
    """
    if not isinstance(data, (str, os.PathLike)) and all(isinstance(each, Source) for each in data):
        sources = [each for each in data if isinstance(each, Source)]
    else:
        sources = find_sources(cast("PathLike | Sequence[PathLike]", data), format)
    accumulators = {"statistics": Statistics(options or StatsOptions())}
    found = accumulate(sources, accumulators, workers, ray, progress, faults)
    return found["statistics"]
