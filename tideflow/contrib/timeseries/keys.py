"""The names of what time series models take and return."""

from __future__ import annotations

from tideflow.export import export

TIMES, VALUES = "times", "values"
STATE = "start_tuple"
STATE_PREFIX = "model_state"
PREDICT, FILTER, COLD_START_FILTER = "serving_default", "filter", "cold_start_filter"


class Times:
    """The name of times."""

    TIMES = TIMES


class Values:
    """The name of values."""

    VALUES = VALUES


class State:
    """The names of the state that a model starts from: as a whole, and the prefix of its parts."""

    STATE_TUPLE = STATE
    STATE_PREFIX = STATE_PREFIX


@export("contrib.timeseries.TrainEvalFeatures")
class TrainEvalFeatures(Times, Values):
    """The names of the features of training and evaluation."""


class PredictionFeatures(Times, State):
    """The names of the features of prediction."""


class FilteringFeatures(Times, Values, State):
    """The names of the features of filtering."""


class PredictionResults(Times):
    """The names of what prediction returns, beside those of the model."""


class SavedModelLabels:
    """The names of the signatures of exported models."""

    PREDICT = PREDICT
    FILTER = FILTER
    COLD_START_FILTER = COLD_START_FILTER


@export("contrib.timeseries.FilteringResults")
class FilteringResults(Times, State):
    """The names of what evaluation returns and prediction continues from."""
