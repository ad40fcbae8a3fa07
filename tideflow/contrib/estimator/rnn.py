"""`RNNClassifier` and `RNNEstimator`: a recurrent network over sequences of feature columns, and a head."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import tideflow as tf
from tideflow.contrib.estimator.extenders import clip_gradients_by_norm
from tideflow.contrib.learn.rnn import select_last_activations, with_context
from tideflow.estimator.canned.heads import class_head
from tideflow.estimator.canned.logits import partitioner_of
from tideflow.estimator.canned.optimizers import optimizer_of
from tideflow.estimator.estimator import Estimator
from tideflow.estimator.run_config import RunConfig
from tideflow.estimator.spec import EstimatorSpec
from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.losses.reduction import Reduction
from tideflow.rnn.cells import BasicLSTMCell, BasicRNNCell, GRUCell, RNNCell
from tideflow.train.optimizer import Optimizer

_LEARNING_RATE = 0.05
_CLIP_NORM = 5.0
_CELLS = {"basic_rnn": BasicRNNCell, "lstm": BasicLSTMCell, "gru": GRUCell}
_DEFAULT = object()  # where a program said nothing of the kind of cells


def _cells(num_units: Sequence[int], cell_type: Any) -> Callable[[str], RNNCell]:
    """A function that makes the cell, or a stack of them, for a mode."""

    def single(units: int) -> RNNCell:
        kind = _CELLS.get(cell_type, cell_type)
        if not kind or not issubclass(kind, RNNCell):
            raise ValueError(f"Supported cell types are {list(_CELLS)}; got {kind}")
        return kind(num_units=units)

    def rnn_cell_fn(mode: str) -> RNNCell:
        made = [single(units) for units in num_units]
        return made[0] if len(made) == 1 else tf.nn.rnn_cell.MultiRNNCell(made)

    return rnn_cell_fn


def _chosen_cells(rnn_cell_fn: Callable | None, num_units: Any, cell_type: Any) -> Callable:
    if rnn_cell_fn and (num_units or cell_type is not _DEFAULT):
        raise ValueError("num_units and cell_type must not be specified when using rnn_cell_fn")
    return rnn_cell_fn or _cells(num_units, "basic_rnn" if cell_type is _DEFAULT else cell_type)


def _logits(
    features: dict[str, Any],
    mode: str,
    units: int,
    rnn_cell_fn: Callable,
    sequence_columns: tuple,
    context_columns: tuple,
    partitioner: Any,
    return_sequences: bool,
) -> tuple[Tensor, Tensor]:
    """The logits, of the last step or of all, and which steps there are."""
    values = tuple(features.values())
    with tf.variable_scope("sequence_input_layer", values=values, partitioner=partitioner):
        inputs, lengths = tf.contrib.feature_column.sequence_input_layer(features, sequence_columns)
        tf.summary.histogram("sequence_length", lengths)
        if context_columns:
            inputs = with_context(inputs, tf.feature_column.input_layer(features, context_columns))
    cell = rnn_cell_fn(mode)
    outputs, _ = tf.nn.dynamic_rnn(cell, inputs, sequence_length=lengths, dtype=tf.float32)
    if not return_sequences:
        outputs = select_last_activations(outputs, tf.cast(lengths, tf.int32))
    with tf.variable_scope("logits", values=(outputs,)):
        logits = tf.layers.dense(outputs, units, kernel_initializer=tf.glorot_uniform_initializer())
    return logits, tf.sequence_mask(lengths)


def _model(
    head: Any,
    rnn_cell_fn: Callable,
    sequence_columns: Iterable[Any] | None,
    context_columns: Iterable[Any] | None,
    optimizer: Any,
    input_layer_partitioner: Any,
    return_sequences: bool = False,
) -> Callable[..., EstimatorSpec]:
    """The model function of a recurrent network."""

    def model_fn(features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
        if not isinstance(features, dict):
            raise ValueError(f"features should be a dictionary of `Tensor`s. Given type: {type(features)}")
        trainer = optimizer
        if not isinstance(trainer, Optimizer):
            trainer = clip_gradients_by_norm(optimizer_of(trainer, _LEARNING_RATE), _CLIP_NORM)
        with tf.variable_scope("rnn", values=tuple(features.values()), partitioner=partitioner_of(config)):
            logits, mask = _logits(
                features,
                mode,
                head.logits_dimension,
                rnn_cell_fn,
                tuple(sequence_columns or ()),
                tuple(context_columns or ()),
                input_layer_partitioner or partitioner_of(config, 64 << 20),
                return_sequences,
            )
            if return_sequences:
                features.setdefault(head.input_sequence_mask_key, mask)
            return head.create_estimator_spec(
                features=features,
                mode=mode,
                labels=labels,
                train_op_fn=lambda loss: trainer.minimize(loss, global_step=tf.train.get_global_step()),
                logits=logits,
            )

    return model_fn


@export("contrib.estimator.RNNClassifier")
class RNNClassifier(Estimator):
    """A recurrent network that classifies sequences.

    Args:
      sequence_feature_columns: The columns of what changes from step to step.
      context_feature_columns: The columns of what each step gets besides.
      num_units: The sizes of the cells, from the first to the last.
      cell_type: `"basic_rnn"`, `"lstm"`, `"gru"`, or a class of cells.
      rnn_cell_fn: A function of the mode that makes the cell, instead of the two before.
      model_dir: The directory of the model.
      n_classes: The number of classes.
      weight_column: The feature with the weights of the examples: its name, or a numeric column.
      label_vocabulary: The labels, if they are strings.
      optimizer: An optimizer; or its name, or a function that makes it: then gradients are clipped.
      loss_reduction: How the losses of a batch become one, of `tf.losses.Reduction`.
      input_layer_partitioner: A partitioner of the variables of the feature columns.
      config: A RunConfig.
    """

    def __init__(
        self,
        sequence_feature_columns: Iterable[Any],
        context_feature_columns: Iterable[Any] | None = None,
        num_units: Sequence[int] | None = None,
        cell_type: Any = _DEFAULT,
        rnn_cell_fn: Callable | None = None,
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        optimizer: Any = "Adagrad",
        loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
        input_layer_partitioner: Any = None,
        config: RunConfig | None = None,
    ):
        model_fn = _model(
            class_head(n_classes, weight_column, label_vocabulary, loss_reduction),
            _chosen_cells(rnn_cell_fn, num_units, cell_type),
            sequence_feature_columns,
            context_feature_columns,
            optimizer,
            input_layer_partitioner,
        )
        super().__init__(model_fn, model_dir, config)


@export("contrib.estimator.RNNEstimator")
class RNNEstimator(Estimator):
    """A recurrent network with a head of the program's choice.

    Args:
      head: The head.
      sequence_feature_columns: The columns of what changes from step to step.
      context_feature_columns: The columns of what each step gets besides.
      num_units: The sizes of the cells, from the first to the last.
      cell_type: `"basic_rnn"`, `"lstm"`, `"gru"`, or a class of cells.
      rnn_cell_fn: A function of the mode that makes the cell, instead of the two before.
      return_sequences: Whether the head gets the logits of all steps; it must say by
        `input_sequence_mask_key` as which feature it takes the mask of the steps.
      model_dir: The directory of the model.
      optimizer: An optimizer; or its name, or a function that makes it: then gradients are clipped.
      input_layer_partitioner: A partitioner of the variables of the feature columns.
      config: A RunConfig.

    Raises:
      ValueError: If the head does not take sequences and should, or cells are given in two ways.
    """

    def __init__(
        self,
        head: Any,
        sequence_feature_columns: Iterable[Any],
        context_feature_columns: Iterable[Any] | None = None,
        num_units: Sequence[int] | None = None,
        cell_type: Any = _DEFAULT,
        rnn_cell_fn: Callable | None = None,
        return_sequences: bool = False,
        model_dir: str | None = None,
        optimizer: Any = "Adagrad",
        input_layer_partitioner: Any = None,
        config: RunConfig | None = None,
    ):
        chosen = _chosen_cells(rnn_cell_fn, num_units, cell_type)
        if return_sequences and not hasattr(head, "input_sequence_mask_key"):
            raise ValueError(
                "Provided head must be a `_SequentialHead` object when `return_sequences` is set to True."
            )
        model_fn = _model(
            head,
            chosen,
            sequence_feature_columns,
            context_feature_columns,
            optimizer,
            input_layer_partitioner,
            return_sequences,
        )
        super().__init__(model_fn, model_dir, config)
