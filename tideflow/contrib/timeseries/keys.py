"""The names of what time series models take and return."""

from __future__ import annotations

from tideflow.export import export

TIMES, VALUES = "times", "values"
STATE = "start_tuple"
STATE_PREFIX = "model_state"
PREDICT, FILTER, COLD_START_FILTER = "serving_default", "filter", "cold_start_filter"


@export("contrib.timeseries.TrainEvalFeatures")
class TrainEvalFeatures:
    """The names of the features of training and evaluation."""

    TIMES = TIMES
    VALUES = VALUES


@export("contrib.timeseries.FilteringResults")
class FilteringResults:
    """The names of what evaluation returns and prediction continues from."""

    TIMES = TIMES
    STATE_TUPLE = STATE
    STATE_PREFIX = STATE_PREFIX
