"""Where a batch starts from: the model's own start, or states that were kept from batches before."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.contrib.timeseries.keys import STATE, TIMES, VALUES
from tideflow.contrib.timeseries.models import (
    ModelOutputs,
    SequentialTimeSeriesModel,
    TimeSeriesModel,
    per_series,
)

if TYPE_CHECKING:
    from tideflow.contrib.timeseries.statistics import InputStatistics
    from tideflow.graph.operation import Tensor

_SAVING_INTERVAL = 20  # of time, between states that are kept


class PassthroughStateManager:
    """Every batch starts from the model's own start."""

    def __init__(self) -> None:
        self._input_statistics: InputStatistics | None = None

    def initialize_graph(self, model: Any, input_statistics: InputStatistics | None = None) -> None:
        """Makes what is needed in the default graph."""
        self._input_statistics = input_statistics

    def define_loss(self, model: TimeSeriesModel, features: dict[str, Any], mode: str) -> ModelOutputs:
        """Scores a batch."""
        if STATE in features:
            raise ValueError("Overriding start state is not supported for this model.")
        return model.define_loss(features, mode)


class _OverridableStateManager(PassthroughStateManager, abc.ABC):
    """Batches of evaluation may bring a state to start from."""

    @abc.abstractmethod
    def _define_loss_with_saved_state(self, model: Any, features: dict[str, Any], mode: str) -> ModelOutputs:
        """Scores a batch that brings none."""

    def define_loss(self, model: TimeSeriesModel, features: dict[str, Any], mode: str) -> ModelOutputs:
        """Scores a batch."""
        if STATE not in features:
            return self._define_loss_with_saved_state(model, features, mode)
        if mode == tf.estimator.ModeKeys.TRAIN:
            raise ValueError(
                "Overriding saved state for training is not supported (but a value for feature "
                f"{STATE} was specified)."
            )
        state = features.pop(STATE)
        return model.get_batch_loss(features=features, mode=mode, state=state)


class FilteringOnlyStateManager(_OverridableStateManager):
    """Batches start from the model's own start, or from a state that they bring."""

    def _define_loss_with_saved_state(self, model: Any, features: dict[str, Any], mode: str) -> ModelOutputs:
        return model.define_loss(features, mode)


class ChainingStateManager(_OverridableStateManager):
    """Batches start from states that earlier batches left, by the time that they start at."""

    def initialize_graph(self, model: Any, input_statistics: InputStatistics | None = None) -> None:
        """Makes the tables of states in the default graph."""
        super().initialize_graph(model, input_statistics)
        self._start = tf.nest.map_structure(tf.convert_to_tensor, model.get_start_state())
        self._tables = [
            _table(part, f"cached_states_{number}")
            for number, part in enumerate(tf.nest.flatten(self._start))
        ]

    def _define_loss_with_saved_state(
        self, model: SequentialTimeSeriesModel, features: dict[str, Any], mode: str
    ) -> ModelOutputs:
        times = features[TIMES]
        loss, states, predictions = model.per_step_batch_loss(features, mode, self._states_at(times[:, 0]))
        with tf.control_dependencies([self._keep(times, states)]):
            loss = tf.identity(loss)
        end = tf.nest.map_structure(lambda part: part[-1:, -1], states)
        predictions["observed"] = features[VALUES]
        return ModelOutputs(loss, end, predictions, times)

    def _states_at(self, times: Tensor) -> Any:
        """The states that were kept for these times; the model's own where the series starts."""
        chunks = times // _SAVING_INTERVAL
        statistics = self._input_statistics
        start_time = 0 if statistics is None else statistics.start_time
        is_start = tf.equal(chunks, start_time // _SAVING_INTERVAL)
        own = tf.nest.flatten(per_series(self._start, tf.shape(times)[0]))
        keys = tf.cast(chunks, tf.int64)
        found = []
        for table, part in zip(self._tables, own, strict=True):
            kept = tf.reshape(table.lookup(keys), tf.shape(part))
            found.append(tf.where(is_start, part, kept))
        return tf.nest.pack_sequence_as(self._start, found)

    def _keep(self, times: Tensor, states: Any) -> Any:
        """Keeps each state for the stretch of time that comes after it."""
        following = tf.concat([times[:, 1:], times[:, -1:] + 1], axis=1)
        chunks = tf.maximum(following // _SAVING_INTERVAL, times // _SAVING_INTERVAL + 1)
        keys = tf.reshape(chunks, [-1])
        parts = [tf.identity(part) for part in tf.nest.flatten(states)]
        with tf.control_dependencies(parts):  # all states are read before one is replaced
            kept = [
                table.insert(keys, tf.reshape(part, [tf.size(keys), -1]))
                for table, part in zip(self._tables, parts, strict=True)
            ]
        return tf.group(*kept)


def _table(default: Tensor, name: str) -> Any:
    return tf.contrib.lookup.MutableDenseHashTable(
        tf.int64,
        default.dtype.base_dtype,
        default_value=tf.reshape(default, [-1]),
        empty_key=-1,
        deleted_key=-2,
        name=name,
        checkpoint=False,
    )
