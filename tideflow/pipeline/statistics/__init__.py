"""Statistics of data sets, as DatasetFeatureStatisticsList messages."""

from tideflow.pipeline.statistics.files import load_statistics, write_statistics
from tideflow.pipeline.statistics.generate import generate_statistics
from tideflow.pipeline.statistics.options import StatsOptions

__all__ = ["StatsOptions", "generate_statistics", "load_statistics", "write_statistics"]
