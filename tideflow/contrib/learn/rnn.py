"""DynamicRnnEstimator: a recurrent model over sequences, with one prediction for each or for each step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tideflow as tf
from tideflow.contrib.learn.estimator import Estimator
from tideflow.contrib.learn.model_fn import ModelFnOps
from tideflow.contrib.learn.modes import ModeKeys, PredictionKey, ProblemType
from tideflow.contrib.learn.run_config import RunConfig
from tideflow.export import export

_CELLS = {"basic_rnn": "BasicRNNCell", "lstm": "LSTMCell", "gru": "GRUCell"}


class RNNKeys:
    """The names of what a recurrent model takes and gives beside features and predictions."""

    FINAL_STATE_KEY = "final_state"
    LABELS_KEY = "__labels__"
    SEQUENCE_LENGTH_KEY = "sequence_length"
    STATE_PREFIX = "rnn_cell_state"


class PredictionType:
    """Whether there is one prediction for a sequence, or one for each of its steps."""

    SINGLE_VALUE = 1
    MULTIPLE_VALUE = 2


def construct_rnn_cell(
    num_units: Any,
    cell_type: Any = "basic_rnn",
    dropout_keep_probabilities: Sequence[float] | None = None,
) -> Any:
    """A cell, or several on top of each other, whose inputs and outputs are kept with these probabilities."""
    rnn = tf.contrib.rnn
    sizes = num_units if isinstance(num_units, (list, tuple)) else (num_units,)
    kind = getattr(rnn, _CELLS[cell_type]) if cell_type in _CELLS else cell_type
    if not kind or not issubclass(kind, rnn.RNNCell):
        raise ValueError(f"The supported cell types are {list(_CELLS)}; got {cell_type}")
    cells = [kind(num_units=size) for size in sizes]
    if dropout_keep_probabilities:
        cells = apply_dropout(cells, dropout_keep_probabilities)
    return cells[0] if len(cells) == 1 else rnn.MultiRNNCell(cells)


def apply_dropout(
    cells: Sequence[Any], dropout_keep_probabilities: Sequence[float], random_seed: int | None = None
) -> list[Any]:
    """Cells whose inputs are kept with a probability each, and the outputs of the last one with the last."""
    keep = dropout_keep_probabilities
    if len(keep) != len(cells) + 1:
        raise ValueError(
            "The number of dropout probabilities must be one greater than the number of cells. Got "
            f"{len(cells)} cells and {len(keep)} dropout probabilities."
        )
    wrap = tf.contrib.rnn.DropoutWrapper
    lower = [
        wrap(cell, into, 1.0, seed=random_seed) for cell, into in zip(cells[:-1], keep[:-2], strict=True)
    ]
    return [*lower, wrap(cells[-1], keep[-2], keep[-1])]


def _get_state_name(i: int) -> str:
    """The name under which a model gives and takes a part of its state."""
    return f"{RNNKeys.STATE_PREFIX}_{i}"


def state_tuple_to_dict(state: Any) -> dict[str, Any]:
    """The parts of a state by the names under which a model gives them."""
    with tf.name_scope("state_tuple_to_dict"):
        parts = enumerate(tf.contrib.framework.nest.flatten(state))
        named = {_get_state_name(number): part for number, part in parts}
        return {name: None if part is None else tf.identity(part, name=name) for name, part in named.items()}


def dict_to_state_tuple(input_dict: Mapping[str, Any], cell: Any) -> Any:
    """The state to begin with, if the features hold one."""
    sizes = tf.contrib.framework.nest.flatten(cell.state_size)
    names = list(map(_get_state_name, range(len(sizes))))
    parts = []
    with tf.name_scope("dict_to_state_tuple"):
        for number, (name, size) in enumerate(zip(names, sizes, strict=True)):
            if input_dict.get(name) is None:
                continue
            checks = [
                tf.assert_rank(input_dict[name], 2, name=f"check_state_{number}_rank"),
                tf.assert_equal(tf.shape(input_dict[name])[1], size, name=f"check_state_{number}_shape"),
            ]
            with tf.control_dependencies(checks):
                parts.append(tf.identity(input_dict[name], name=name))
    if not parts:
        return None
    if len(parts) != len(sizes):
        raise ValueError(
            f"RNN state was partially specified.Expected zero or {len(sizes)} state Tensors; got {len(parts)}"
        )
    return tf.contrib.framework.nest.pack_sequence_as(cell.state_size, parts)


def build_sequence_input(
    features: Mapping[str, Any],
    sequence_feature_columns: Sequence[Any],
    context_feature_columns: Sequence[Any] | None,
    weight_collections: Any = None,
    scope: Any = None,
) -> Any:
    """The columns of each step, and after them those of the whole sequence."""
    layers = tf.contrib.layers
    columns = [*sequence_feature_columns, *(context_feature_columns or ())]
    features = {**features, **layers.transform_features(features, columns)}
    options = {"weight_collections": weight_collections, "scope": scope}
    sequence = layers.sequence_input_from_feature_columns(features, sequence_feature_columns, **options)
    if context_feature_columns is None:
        return sequence
    whole = layers.input_from_feature_columns(features, context_feature_columns, **options)
    return with_context(sequence, whole)


def construct_rnn(
    initial_state: Any,
    sequence_input: Any,
    cell: Any,
    num_label_columns: int,
    dtype: Any = tf.float32,
    parallel_iterations: int | None = 32,
    swap_memory: bool = True,
) -> tuple[Any, Any]:
    """The activations of all steps, as many as there are columns of labels, and the state at the end."""
    with tf.name_scope("RNN"):
        outputs, state = tf.nn.dynamic_rnn(
            cell,
            sequence_input,
            initial_state=initial_state,
            dtype=dtype,
            parallel_iterations=parallel_iterations,
            swap_memory=swap_memory,
            time_major=False,
        )
        activations = tf.contrib.layers.fully_connected(outputs, num_label_columns, activation_fn=None)
        return activations, state


def with_context(sequence: Any, whole: Any) -> Any:
    """A sequence, each step of which has what is known of the whole sequence too."""
    checks = []
    for name, tensor, rank in (("sequence_input", sequence, 3), ("context_input", whole, 2)):
        found = [tf.shape(tensor)]
        checks.append(tf.assert_rank(tensor, rank, message=f"{name} must have rank {rank}", data=found))
        wanted = f"{name} must have dtype float32; got {tensor.dtype}."
        checks.append(tf.assert_type(tensor, tf.float32, message=wanted))
    with tf.control_dependencies(checks):
        steps = tf.shape(sequence)[1]
        repeated = tf.tile(tf.expand_dims(whole, 1), tf.concat([[1], [steps], [1]], 0))
    return tf.concat([sequence, repeated], 2)


def select_last_activations(activations: Any, lengths: Any) -> Any:
    """The activations of the last step of each sequence."""
    with tf.name_scope("select_last_activations", values=[activations, lengths]):
        size, steps, width = (tf.shape(activations)[axis] for axis in range(3))
        places = tf.range(size) * steps + (steps if lengths is None else lengths) - 1
        last = tf.gather(tf.reshape(activations, [-1, width]), places)
        last.set_shape([activations.get_shape()[0], activations.get_shape()[2]])
        return last


def mask_activations_and_labels(activations: Any, labels: Any, sequence_lengths: Any) -> tuple[Any, Any]:
    """The activations and labels of all steps, without those after the end of a sequence."""
    with tf.name_scope("mask_activations_and_labels", values=[activations, labels, sequence_lengths]):
        shape = tf.shape(labels)
        if sequence_lengths is None:
            count = shape[0] * shape[1]
            return tf.reshape(activations, [count, -1]), tf.reshape(labels, [count])
        mask = tf.sequence_mask(sequence_lengths, shape[1])
        return tf.boolean_mask(activations, mask), tf.boolean_mask(labels, mask)


def _single_value_predictions(
    activations: Any, sequence_length: Any, target_column: Any, problem_type: int, predict_probabilities: bool
) -> dict[str, Any]:
    """The predictions for each sequence, by their names."""
    key = _predictions_key(problem_type)
    with tf.name_scope("SingleValuePrediction"):
        last = select_last_activations(activations, sequence_length)
        if not predict_probabilities:
            return {key: target_column.logits_to_predictions(last, proba=False)}
        probabilities = target_column.logits_to_predictions(last, proba=True)
        return {PredictionKey.PROBABILITIES: probabilities, key: tf.argmax(probabilities, 1)}


def _predictions_key(problem_type: int) -> str:
    return PredictionKey.CLASSES if problem_type == ProblemType.CLASSIFICATION else PredictionKey.SCORES


def multi_value_predictions(
    activations: Any, target_column: Any, problem_type: int, predict_probabilities: bool
) -> dict[str, Any]:
    """The predictions for each step, by their names."""
    target, key = target_column, _predictions_key(problem_type)
    with tf.name_scope("MultiValuePrediction"):
        shape = tf.shape(activations)
        flat = tf.reshape(activations, [-1, shape[2]])
        found = {}
        if predict_probabilities:
            probabilities = target.logits_to_predictions(flat, proba=True)
            predicted = tf.argmax(probabilities, 1)
            whole = tf.concat([shape[:2], [2]], 0) if target.num_label_columns == 1 else shape
            name = PredictionKey.PROBABILITIES
            found[name] = tf.reshape(probabilities, whole, name=name)
        else:
            predicted = target.logits_to_predictions(flat, proba=False)
        found[key] = tf.reshape(predicted, [shape[0], shape[1]], name=key)
        return found


def _multi_value_loss(
    activations: Any, labels: Any, sequence_length: Any, target_column: Any, features: Any
) -> Any:
    """The loss over all steps."""
    with tf.name_scope("MultiValueLoss"):
        masked = mask_activations_and_labels(activations, labels, sequence_length)
        return target_column.loss(*masked, features)


def _single_value_loss(
    activations: Any, labels: Any, sequence_length: Any, target_column: Any, features: Any
) -> Any:
    """The loss over the last steps."""
    with tf.name_scope("SingleValueLoss"):
        return target_column.loss(select_last_activations(activations, sequence_length), labels, features)


def get_eval_metric_ops(
    problem_type: int,
    prediction_type: int,
    sequence_length: Any,
    prediction_dict: dict[str, Any],
    labels: Any,
) -> dict[str, Any]:
    """The metrics of a model, by their names: the accuracy of classes."""
    if problem_type != ProblemType.CLASSIFICATION:
        return {}
    classes = prediction_dict[PredictionKey.CLASSES]
    if prediction_type == PredictionType.MULTIPLE_VALUE:
        classes, labels = mask_activations_and_labels(classes, labels, sequence_length)
    return {"accuracy": tf.contrib.metrics.streaming_accuracy(predictions=classes, labels=labels)}


def _get_output_alternatives(prediction_type: int, problem_type: int, prediction_dict: dict[str, Any]) -> Any:
    """What an exported model says of its predictions; nothing of those of each step."""
    if prediction_type == PredictionType.MULTIPLE_VALUE:
        return None
    if prediction_type != PredictionType.SINGLE_VALUE:
        raise ValueError(f"Unrecognized prediction_type: {prediction_type}")
    kept = {name: value for name, value in prediction_dict.items() if RNNKeys.STATE_PREFIX not in name}
    return {"dynamic_rnn_output": (problem_type, kept)}


def check_problem_type(problem_type: int, predict_probabilities: bool) -> None:
    """ValueError for an unknown type, or for probabilities of numbers."""
    if problem_type not in (ProblemType.CLASSIFICATION, ProblemType.LINEAR_REGRESSION):
        raise ValueError(
            "problem_type must be ProblemType.LINEAR_REGRESSION or ProblemType.CLASSIFICATION; got "
            f"{problem_type}"
        )
    if predict_probabilities and problem_type != ProblemType.CLASSIFICATION:
        raise ValueError(
            "predict_probabilities can only be set to True for problem_type ProblemType.CLASSIFICATION; "
            f"got {problem_type}."
        )


def name_and_target(name: str, problem_type: int, num_classes: int | None) -> tuple[str, Any]:
    """The name of a model, after what it is called so far, and its target column."""
    if problem_type == ProblemType.LINEAR_REGRESSION:
        return f"{name}Regressor", tf.contrib.layers.regression_target()
    if problem_type != ProblemType.CLASSIFICATION:
        raise ValueError(
            "problem_type must be either ProblemType.LINEAR_REGRESSION or ProblemType.CLASSIFICATION; "
            f"got {problem_type}"
        )
    if not num_classes:
        raise ValueError("For CLASSIFICATION problem_type, num_classes must be specified.")
    return f"{name}Classifier", tf.contrib.layers.multi_class_target(n_classes=num_classes)


def optimized(loss: Any, learning_rate: float | None, optimizer: Any, clip_gradients: float | None) -> Any:
    """The operation that trains a recurrent model."""
    return tf.contrib.layers.optimize_loss(
        loss=loss,
        global_step=None,
        learning_rate=learning_rate,
        optimizer=optimizer,
        clip_gradients=clip_gradients,
        summaries=tf.contrib.layers.OPTIMIZER_SUMMARIES,
    )


def _get_dynamic_rnn_model_fn(
    cell_type: Any,
    num_units: Any,
    target_column: Any,
    problem_type: int,
    prediction_type: int,
    optimizer: Any,
    sequence_feature_columns: Sequence[Any],
    context_feature_columns: Sequence[Any] | None = None,
    predict_probabilities: bool = False,
    learning_rate: float | None = None,
    gradient_clipping_norm: float | None = None,
    dropout_keep_probabilities: Sequence[float] | None = None,
    sequence_length_key: str = RNNKeys.SEQUENCE_LENGTH_KEY,
    dtype: Any = tf.float32,
    parallel_iterations: int | None = None,
    swap_memory: bool = True,
    name: str = "DynamicRNNModel",
) -> Callable[..., ModelFnOps]:
    """The model function of a recurrent model whose sequences come whole."""
    check_problem_type(problem_type, predict_probabilities)
    if prediction_type not in (PredictionType.SINGLE_VALUE, PredictionType.MULTIPLE_VALUE):
        raise ValueError(
            "prediction_type must be PredictionType.MULTIPLE_VALUEs or PredictionType.SINGLE_VALUE; got "
            f"{prediction_type}"
        )
    by_step = prediction_type == PredictionType.MULTIPLE_VALUE

    def model_fn(features: Any, labels: Any, mode: str) -> ModelFnOps:
        loss = train_op = metrics = None
        with tf.name_scope(name):
            lengths = features.get(sequence_length_key)
            inputs = build_sequence_input(features, sequence_feature_columns, context_feature_columns)
            keep = dropout_keep_probabilities if mode == ModeKeys.TRAIN else None
            cell = construct_rnn_cell(num_units, cell_type, keep)
            activations, state = construct_rnn(
                dict_to_state_tuple(features, cell),
                inputs,
                cell,
                target_column.num_label_columns,
                dtype=dtype,
                parallel_iterations=parallel_iterations,
                swap_memory=swap_memory,
            )
            if by_step:
                predictions = multi_value_predictions(
                    activations, target_column, problem_type, predict_probabilities
                )
            else:
                predictions = _single_value_predictions(
                    activations, lengths, target_column, problem_type, predict_probabilities
                )
            if mode != ModeKeys.INFER:
                loss_of = _multi_value_loss if by_step else _single_value_loss
                loss = loss_of(activations, labels, lengths, target_column, features)
            predictions.update(state_tuple_to_dict(state))
            if mode != ModeKeys.INFER:
                metrics = get_eval_metric_ops(problem_type, prediction_type, lengths, predictions, labels)
            if mode == ModeKeys.TRAIN:
                train_op = optimized(loss, learning_rate, optimizer, gradient_clipping_norm)
        return ModelFnOps(
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=metrics,
            output_alternatives=_get_output_alternatives(prediction_type, problem_type, predictions),
        )

    return model_fn


@export("contrib.learn.DynamicRnnEstimator")
class DynamicRnnEstimator(Estimator):
    """A recurrent model over sequences.

    Args:
      problem_type: `ProblemType.CLASSIFICATION` or `ProblemType.LINEAR_REGRESSION`.
      prediction_type: 1 for one prediction for each sequence, 2 for one for each of its steps.
      sequence_feature_columns: The feature columns of the steps.
      context_feature_columns: The feature columns of whole sequences.
      num_classes: The number of classes.
      num_units: The size of the cell, or the sizes of several.
      cell_type: `"basic_rnn"`, `"lstm"`, `"gru"`, or a class of cells.
      optimizer: The optimizer, its name, or a function that returns one.
      learning_rate: The learning rate.
      predict_probabilities: Whether probabilities of classes are predicted too.
      momentum: The momentum of the optimizer `"Momentum"`.
      gradient_clipping_norm: The greatest norm of all gradients together.
      dropout_keep_probabilities: The probabilities that an input of each cell is kept in training, and
        that an output of the last one is.
      model_dir: The directory of the model.
      feature_engineering_fn: A function of features and labels that returns those which the model gets.
      config: A RunConfig.

    Raises:
      ValueError: If a type is unknown, or there is no number of classes.
    """

    def __init__(
        self,
        problem_type: int,
        prediction_type: int,
        sequence_feature_columns: Sequence[Any],
        context_feature_columns: Sequence[Any] | None = None,
        num_classes: int | None = None,
        num_units: int | Sequence[int] | None = None,
        cell_type: Any = "basic_rnn",
        optimizer: Any = "SGD",
        learning_rate: float = 0.1,
        predict_probabilities: bool = False,
        momentum: float | None = None,
        gradient_clipping_norm: float | None = 5.0,
        dropout_keep_probabilities: Sequence[float] | None = None,
        model_dir: str | None = None,
        feature_engineering_fn: Callable | None = None,
        config: RunConfig | None = None,
    ):
        if prediction_type not in (PredictionType.SINGLE_VALUE, PredictionType.MULTIPLE_VALUE):
            raise ValueError(
                "prediction_type must be one of PredictionType.MULTIPLE_VALUE or "
                f"PredictionType.SINGLE_VALUE; got {prediction_type}"
            )
        by_step = prediction_type == PredictionType.MULTIPLE_VALUE
        kind = "MultiValueDynamicRNN" if by_step else "SingleValueDynamicRNN"
        name, target = name_and_target(kind, problem_type, num_classes)
        if isinstance(optimizer, str) and optimizer == "Momentum":
            optimizer = tf.train.MomentumOptimizer(learning_rate, momentum)
        model_fn = _get_dynamic_rnn_model_fn(
            cell_type,
            num_units,
            target,
            problem_type,
            prediction_type,
            optimizer,
            sequence_feature_columns,
            context_feature_columns,
            predict_probabilities,
            learning_rate,
            gradient_clipping_norm,
            dropout_keep_probabilities,
            parallel_iterations=32,
            name=name,
        )
        super().__init__(model_fn, model_dir, config, feature_engineering_fn=feature_engineering_fn)
