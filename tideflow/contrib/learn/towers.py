"""The models behind the ready-made estimators: sums of weighted columns, and layers on columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tideflow as tf
from tideflow.contrib.layers.columns.vectors import EmbeddingColumn
from tideflow.contrib.learn.canned import are_of_contrib
from tideflow.contrib.learn.modes import ModeKeys

_LEAST_SLICE = 64 << 20  # in bytes: smaller variables stay in one piece
_LEAST_LAYER_SLICE = 256 << 10
_ACTIVATIONS = {"relu": tf.nn.relu, "tanh": tf.nn.tanh, "sigmoid": tf.nn.sigmoid}
LINEAR, DNN = "linear", "dnn"  # scopes, and collections of the variables


def activation_of(given: Any) -> Any:
    if not isinstance(given, str):
        return given
    if given not in _ACTIVATIONS:
        raise ValueError(
            f"Activation name should be one of [{', '.join(_ACTIVATIONS)}], you provided {given}."
        )
    return _ACTIVATIONS[given]


def partitioner_of(config: Any, min_slice_size: int = _LEAST_SLICE) -> Callable:
    replicas = config.num_ps_replicas if config else 0
    return tf.min_max_variable_partitioner(max_partitions=replicas, min_slice_size=min_slice_size)


def linear_logits(
    features: Mapping[str, Any],
    columns: Sequence[Any],
    size: int,
    joint: bool,
    scope: Any,
    collection: str = LINEAR,
    trainable: bool = True,
) -> Any:
    """The sum of the columns with a weight for each of their values."""
    if not are_of_contrib(columns):
        return tf.feature_column.linear_model(
            features, columns, units=size, weight_collections=[collection], trainable=trainable
        )
    layers = tf.contrib.layers
    layer = (
        layers.joint_weighted_sum_from_feature_columns if joint else layers.weighted_sum_from_feature_columns
    )
    logits, _, _ = layer(
        columns_to_tensors=features,
        feature_columns=columns,
        num_outputs=size,
        weight_collections=[collection],
        trainable=trainable,
        scope=scope,
    )
    return logits


def add_summaries(value: Any, tag: str, joint: str) -> None:
    tf.summary.scalar(f"{tag}{joint}fraction_of_zero_values", tf.nn.zero_fraction(value))
    tf.summary.histogram(f"{tag}{joint}activation", value)


def dnn_logits(
    features: Mapping[str, Any],
    columns: Sequence[Any],
    hidden_units: Sequence[int],
    size: int,
    activation: Any,
    dropout: float | None,
    mode: str,
    input_partitioner: Callable,
    tag_joint: str,
    collection: str = DNN,
    trainable: bool = True,
) -> tuple[Any, str]:
    """The logits of layers on columns, and the name of the scope of the columns' variables."""
    layers = tf.contrib.layers
    with tf.variable_scope(
        "input_from_feature_columns", values=tuple(features.values()), partitioner=input_partitioner
    ) as input_scope:
        if are_of_contrib(columns):
            net = layers.input_from_feature_columns(
                columns_to_tensors=features,
                feature_columns=columns,
                weight_collections=[collection],
                trainable=trainable,
                scope=input_scope,
            )
        else:
            net = tf.feature_column.input_layer(features, columns, [collection], trainable)
    for number, units in enumerate(hidden_units):
        with tf.variable_scope(f"hiddenlayer_{number}", values=(net,)) as scope:
            net = layers.fully_connected(
                net,
                units,
                activation_fn=activation,
                variables_collections=[collection],
                trainable=trainable,
                scope=scope,
            )
            if dropout is not None and mode == ModeKeys.TRAIN:
                net = layers.dropout(net, keep_prob=1.0 - dropout)
        add_summaries(net, scope.name, tag_joint)
    with tf.variable_scope("logits", values=(net,)) as scope:
        logits = layers.fully_connected(
            net,
            size,
            activation_fn=None,
            variables_collections=[collection],
            trainable=trainable,
            scope=scope,
        )
    add_summaries(logits, scope.name, tag_joint)
    return logits, input_scope.name


def dnn_scope(features: Mapping[str, Any], config: Any) -> Any:
    """The variable scope that `dnn_logits` is called in."""
    return tf.variable_scope(
        DNN, values=tuple(features.values()), partitioner=partitioner_of(config, _LEAST_LAYER_SLICE)
    )


def embedding_multipliers(given: Mapping[Any, float] | None, input_scope: str) -> dict[Any, float] | None:
    """By what the gradients of the embeddings of some columns are multiplied."""
    if not given:
        return None
    multipliers = {}
    for column, factor in given.items():
        if not isinstance(column, EmbeddingColumn):
            raise ValueError(
                "learning rate multipler can only be defined for embedding columns. It is defined for "
                f"{column}"
            )
        embedding = tf.get_collection(DNN, f"{input_scope}/{column.name}")
        if not embedding:
            raise ValueError(f"Couldn't find a variable for column {column}")
        multipliers.update(dict.fromkeys(embedding, factor))
    return multipliers
