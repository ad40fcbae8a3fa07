"""`tf.contrib.timeseries.saved_model_utils`: exported time series models, filtered and predicted with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tideflow.contrib.timeseries import keys
from tideflow.contrib.timeseries.arrays import batched_series
from tideflow.contrib.timeseries.continuation import times_after
from tideflow.contrib.timeseries.heads import state_to_dictionary
from tideflow.export import export

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


def _run(
    session: Any, signatures: Any, label: str, features: Mapping[str, Any], continue_from: Mapping[str, Any]
) -> dict[str, Any]:
    """Runs a signature on features and a state, and says the times with its results."""
    signature = signatures.signature_def[label]
    if keys.STATE in continue_from:
        continue_from = state_to_dictionary(continue_from[keys.STATE])
    fed = {**continue_from, **features}
    graph = session.graph
    feeds = {graph.as_graph_element(signature.inputs[name].name): value for name, value in fed.items()}
    fetches = {name: graph.as_graph_element(info.name) for name, info in signature.outputs.items()}
    return {**session.run(fetches, feed_dict=feeds), keys.TIMES: features[keys.TIMES]}


@export("contrib.timeseries.saved_model_utils.predict_continuation")
def predict_continuation(
    continue_from: Mapping[str, Any],
    signatures: Any,
    session: Any,
    steps: int | None = None,
    times: TensorLike | None = None,
    exogenous_features: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Predicts what comes after observations that were evaluated or filtered.

    Args:
      continue_from: What `evaluate`, `cold_start_filter` or `filter_continuation` returned.
      signatures: The MetaGraphDef that loading the model returned.
      session: The session that it was loaded in.
      steps: How many times after the last one to predict.
      times: The times to predict, [window] or [batch, window], instead of `steps`.
      exogenous_features: Features by name that are known for these times, [batch, window, ...].

    Returns:
      Arrays by name: the predictions, and their times.
    """
    asked = times_after(continue_from, steps, times)
    # Not the times before: what is fed is the state, and the times that are asked for.
    state = {name: value for name, value in continue_from.items() if name != keys.TIMES}
    features = {keys.TIMES: asked, **(exogenous_features or {})}
    return _run(session, signatures, keys.PREDICT, features, state)


@export("contrib.timeseries.saved_model_utils.cold_start_filter")
def cold_start_filter(signatures: Any, session: Any, features: Mapping[str, Any]) -> dict[str, Any]:
    """Takes observations in, from the model's own start.

    Args:
      signatures: The MetaGraphDef that loading the model returned.
      session: The session that it was loaded in.
      features: Times, values, and features beside the series, by name.

    Returns:
      The parts of the state by name, and the times.
    """
    series = batched_series(features, require_single_batch=False)
    return _run(session, signatures, keys.COLD_START_FILTER, series, {})


@export("contrib.timeseries.saved_model_utils.filter_continuation")
def filter_continuation(
    continue_from: Mapping[str, Any], signatures: Any, session: Any, features: Mapping[str, Any]
) -> dict[str, Any]:
    """Takes more observations in.

    Args:
      continue_from: What `evaluate`, `cold_start_filter` or `filter_continuation` returned.
      signatures: The MetaGraphDef that loading the model returned.
      session: The session that it was loaded in.
      features: Times, values, and features beside the series, by name.

    Returns:
      The parts of the state by name, and the times.
    """
    series = batched_series(features, require_single_batch=False)
    state = {name: value for name, value in continue_from.items() if name != keys.TIMES}
    return _run(session, signatures, keys.FILTER, series, state)
