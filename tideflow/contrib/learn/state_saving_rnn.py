"""StateSavingRnnEstimator: a recurrent model over pieces of sequences, held by queues with their states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tideflow as tf
from tideflow.contrib.layers.columns.inputs import check_sequence_columns
from tideflow.contrib.learn import rnn
from tideflow.contrib.learn.estimator import Estimator
from tideflow.contrib.learn.model_fn import ModelFnOps
from tideflow.contrib.learn.modes import ModeKeys
from tideflow.contrib.learn.rnn import PredictionType, RNNKeys, _multi_value_loss
from tideflow.contrib.learn.run_config import RunConfig


def construct_state_saving_rnn(
    cell: Any, inputs: Any, num_label_columns: int, state_saver: Any, state_name: Any, scope: str = "rnn"
) -> tuple[Any, Any]:
    """The activations of the steps of a piece, and the state at its end, which is saved for the next piece.

    Args:
      cell: The cell.
      inputs: The inputs of the steps, a list.
      num_label_columns: How many activations a step has.
      state_saver: What holds the states.
      state_name: The names of the parts of the state, in the structure of the cell's state.
      scope: A name for the operations.

    Returns:
      The activations and the state.
    """
    with tf.name_scope(scope):
        outputs, state = tf.nn.static_state_saving_rnn(cell, inputs, state_saver, state_name, scope=scope)
        activations = tf.contrib.layers.fully_connected(
            tf.stack(outputs, axis=1), num_label_columns, activation_fn=None
        )
        return activations, tf.identity(state, name=RNNKeys.FINAL_STATE_KEY)


def _get_name_or_parent_names(column: Any) -> list[str]:
    """The names of the features that a column is made of."""
    return [parent.name for parent in column.parents] or [column.name]


def _prepare_features_for_sqss(
    features: Any,
    labels: Any,
    mode: str,
    sequence_feature_columns: Sequence[Any],
    context_feature_columns: Sequence[Any] | None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The features of the steps, labels among them, and those of whole sequences."""
    check_sequence_columns(sequence_feature_columns)

    def found(kind: str, names: Sequence[str]) -> dict[str, Any]:
        for name in names:
            if features.get(name) is None:
                raise ValueError(f"No key in features for {kind} feature: {name}")
        return {name: features[name] for name in names}

    names = [name for column in sequence_feature_columns for name in _get_name_or_parent_names(column)]
    steps = found("sequence", names)
    whole = found("context", [column.name for column in context_feature_columns or ()])
    if mode != ModeKeys.INFER:
        steps[RNNKeys.LABELS_KEY] = labels
    return steps, whole


def _get_state_names(cell: Any) -> Any:
    """The names of the parts of a cell's state, in its structure."""
    size = cell.state_size
    if isinstance(size, tf.TensorShape):
        raise TypeError("cell.state_size of type TensorShape is not supported.")
    if isinstance(size, int):
        return rnn._get_state_name(0)
    if isinstance(size, tf.nn.rnn_cell.LSTMStateTuple):
        return _lstm_state_names(0)
    of_part = _lstm_state_names if isinstance(size[0], tf.nn.rnn_cell.LSTMStateTuple) else rnn._get_state_name
    return [of_part(number) for number in range(len(size))]


def _lstm_state_names(number: int) -> list[str]:
    return [f"{rnn._get_state_name(number)}_{part}" for part in "ch"]


def _get_initial_states(cell: Any) -> dict[str, Any]:
    """The state that sequences begin with, by the names of its parts."""
    names = tf.contrib.framework.nest.flatten(_get_state_names(cell))
    zeros = tf.contrib.framework.nest.flatten(cell.zero_state(1, dtype=tf.float32))
    return {name: tf.squeeze(zero, axis=0) for name, zero in zip(names, zeros, strict=True)}


def _read_batch(
    cell: Any,
    features: Any,
    labels: Any,
    mode: str,
    num_unroll: int,
    batch_size: int,
    sequence_feature_columns: Sequence[Any],
    context_feature_columns: Sequence[Any] | None = None,
    num_threads: int = 3,
    queue_capacity: int = 1000,
    seed: int | None = None,
) -> Any:
    """A batch of pieces of sequences, with the states that they begin with."""
    states = _get_initial_states(cell)
    steps, whole = _prepare_features_for_sqss(
        features, labels, mode, sequence_feature_columns, context_feature_columns
    )
    return tf.contrib.training.batch_sequences_with_states(
        input_key="key",
        input_sequences=steps,
        input_context=whole,
        input_length=None,  # that of the features
        initial_states=states,
        num_unroll=num_unroll,
        batch_size=batch_size,
        pad=True,
        make_keys_unique=True,
        make_keys_unique_seed=seed,
        num_threads=num_threads,
        capacity=queue_capacity,
    )


def _prepare_inputs_for_rnn(
    sequence_features: dict[str, Any],
    context_features: dict[str, Any] | None,
    sequence_feature_columns: Sequence[Any],
    num_unroll: int,
) -> list[Any]:
    """The inputs of the steps of a piece: the columns of the step, and the features of the whole sequence."""
    for feature in sequence_features.values():
        if isinstance(feature, tf.SparseTensor):
            feature.dense_shape.set_shape([3])  # batch, steps and values: a queue forgets it
    steps = tf.contrib.layers.sequence_input_from_feature_columns(sequence_features, sequence_feature_columns)
    steps.set_shape([None, num_unroll, None])
    if not context_features:
        return tf.unstack(steps, axis=1)

    def repeated(feature: Any) -> Any:
        return tf.squeeze(tf.tile(tf.expand_dims(feature, 1), [1, num_unroll, 1]), axis=2)

    whole = tf.stack([repeated(context_features[name]) for name in sorted(context_features)], 2)
    return tf.unstack(tf.concat([steps, whole], axis=2), axis=1)


def _get_rnn_model_fn(
    cell_type: Any,
    target_column: Any,
    problem_type: int,
    optimizer: Any,
    num_unroll: int,
    num_units: Any,
    num_threads: int,
    queue_capacity: int,
    batch_size: int,
    sequence_feature_columns: Sequence[Any],
    context_feature_columns: Sequence[Any] | None = None,
    predict_probabilities: bool = False,
    learning_rate: float | None = None,
    gradient_clipping_norm: float | None = None,
    dropout_keep_probabilities: Sequence[float] | None = None,
    name: str = "StateSavingRNNModel",
    seed: int | None = None,
) -> Callable[..., ModelFnOps]:
    """The model function of a recurrent model whose sequences come in pieces."""
    rnn.check_problem_type(problem_type, predict_probabilities)
    if num_unroll <= 0:
        raise ValueError(f"num_unroll must be positive; got {num_unroll}.")

    def model_fn(features: Any, labels: Any, mode: str) -> ModelFnOps:
        loss = train_op = metrics = None
        with tf.name_scope(name):
            keep = dropout_keep_probabilities if mode == ModeKeys.TRAIN else None
            cell = rnn.construct_rnn_cell(num_units, cell_type, keep)
            batch = _read_batch(
                cell,
                features,
                labels,
                mode,
                num_unroll,
                batch_size,
                sequence_feature_columns,
                context_feature_columns,
                num_threads,
                queue_capacity,
                seed,
            )
            steps = batch.sequences
            if mode != ModeKeys.INFER:
                labels = steps.pop(RNNKeys.LABELS_KEY)
            inputs = _prepare_inputs_for_rnn(steps, batch.context, sequence_feature_columns, num_unroll)
            activations, state = construct_state_saving_rnn(
                cell, inputs, target_column.num_label_columns, batch, _get_state_names(cell)
            )
            predictions = rnn.multi_value_predictions(
                activations, target_column, problem_type, predict_probabilities
            )
            if mode != ModeKeys.INFER:
                loss = _multi_value_loss(activations, labels, batch.length, target_column, features)
                metrics = rnn.get_eval_metric_ops(
                    problem_type, PredictionType.MULTIPLE_VALUE, batch.length, predictions, labels
                )
            predictions.update(rnn.state_tuple_to_dict(state))
            if mode == ModeKeys.TRAIN:
                train_op = rnn.optimized(loss, learning_rate, optimizer, gradient_clipping_norm)
        return ModelFnOps(
            mode=mode, predictions=predictions, loss=loss, train_op=train_op, eval_metric_ops=metrics
        )

    return model_fn


class StateSavingRnnEstimator(Estimator):
    """A recurrent model over sequences that are cut into pieces; states go from piece to piece.

    Args:
      problem_type: `ProblemType.CLASSIFICATION` or `ProblemType.LINEAR_REGRESSION`.
      num_unroll: The number of steps of a piece.
      batch_size: The number of pieces in a batch.
      sequence_feature_columns: The feature columns of the steps.
      context_feature_columns: The feature columns of whole sequences.
      num_classes: The number of classes.
      num_units: The size of the cell, or the sizes of several.
      cell_type: `"basic_rnn"`, `"lstm"`, `"gru"`, or a class of cells.
      optimizer_type: The optimizer, its name, or a function that returns one.
      learning_rate: The learning rate.
      predict_probabilities: Whether probabilities of classes are predicted too.
      momentum: The momentum of the optimizer `"Momentum"`.
      gradient_clipping_norm: The greatest norm of all gradients together.
      dropout_keep_probabilities: As of `tf.contrib.learn.DynamicRnnEstimator`.
      model_dir: The directory of the model.
      config: A RunConfig.
      feature_engineering_fn: A function of features and labels that returns those which the model gets.
      num_threads: How many threads read sequences.
      queue_capacity: How many pieces wait.
      seed: A seed of the keys of sequences.
    """

    def __init__(
        self,
        problem_type: int,
        num_unroll: int,
        batch_size: int,
        sequence_feature_columns: Sequence[Any],
        context_feature_columns: Sequence[Any] | None = None,
        num_classes: int | None = None,
        num_units: Any = None,
        cell_type: Any = "basic_rnn",
        optimizer_type: Any = "SGD",
        learning_rate: float = 0.1,
        predict_probabilities: bool = False,
        momentum: float | None = None,
        gradient_clipping_norm: float | None = 5.0,
        dropout_keep_probabilities: Sequence[float] | None = None,
        model_dir: str | None = None,
        config: RunConfig | None = None,
        feature_engineering_fn: Callable | None = None,
        num_threads: int = 3,
        queue_capacity: int = 1000,
        seed: int | None = None,
    ):
        name, target = rnn.name_and_target("MultiValueStateSavingRNN", problem_type, num_classes)
        if isinstance(optimizer_type, str) and optimizer_type == "Momentum":
            optimizer_type = tf.train.MomentumOptimizer(learning_rate, momentum)
        model_fn = _get_rnn_model_fn(
            cell_type,
            target,
            problem_type,
            optimizer_type,
            num_unroll,
            num_units,
            num_threads,
            queue_capacity,
            batch_size,
            sequence_feature_columns,
            context_feature_columns,
            predict_probabilities,
            learning_rate,
            gradient_clipping_norm,
            dropout_keep_probabilities,
            name,
            seed,
        )
        super().__init__(model_fn, model_dir, config, feature_engineering_fn=feature_engineering_fn)
