"""tf.contrib.learn.models: the model functions that the first estimators of it were made of."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.contrib.learn.ops import mean_squared_error_regressor, softmax_classifier
from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.platform.deprecation import deprecated

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike

_CLASS = (None, "Consider using a class from tf.estimator.")


@export("contrib.learn.models.linear_regression_zero_init")
@deprecated(None, "Consider using a tf.estimator.LinearRegressor")
def linear_regression_zero_init(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Predicts numbers by a linear layer whose variables begin with zeros.

    Args:
      x: The inputs, a matrix.
      y: The labels.

    Returns:
      The predictions, and the loss.
    """
    return linear_regression(x, y, init_mean=0.0, init_stddev=0.0)


@export("contrib.learn.models.logistic_regression_zero_init")
@deprecated(None, "Consider using a class from tf.estimator.LinearClassifier")
def logistic_regression_zero_init(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Predicts classes by a linear layer whose variables begin with zeros.

    Args:
      x: The inputs, a matrix.
      y: The labels, one-hot.

    Returns:
      The probabilities, and the loss.
    """
    return logistic_regression(x, y, init_mean=0.0, init_stddev=0.0)


def _variables(x: Tensor, y: Tensor, size: int, mean: float | None, stddev: float) -> tuple[Any, Any]:
    """The weights and the bias of a linear layer, with summaries of all that goes in."""
    scope = tf.get_variable_scope().name
    dtype = x.dtype.base_dtype
    initializer = None if mean is None else tf.random_normal_initializer(mean, stddev, dtype=dtype)
    tf.summary.histogram(f"{scope}.x", x)
    tf.summary.histogram(f"{scope}.y", y)
    shape = [x.get_shape().as_list()[1], size]
    weights = tf.get_variable("weights", shape, dtype=dtype, initializer=initializer)
    bias = tf.get_variable("bias", [size], dtype=dtype, initializer=initializer)
    tf.summary.histogram(f"{scope}.weights", weights)
    tf.summary.histogram(f"{scope}.bias", bias)
    return weights, bias


@export("contrib.learn.models.linear_regression")
@deprecated(*_CLASS)
def linear_regression(
    x: Tensor, y: Tensor, init_mean: float | None = None, init_stddev: float = 1.0
) -> tuple[Tensor, Tensor]:
    """Predicts numbers by a linear layer.

    Args:
      x: The inputs, a matrix.
      y: The labels.
      init_mean: The mean of the variables' first values; they are uniformly distributed if None.
      init_stddev: The standard deviation of these.

    Returns:
      The predictions, and the loss.
    """
    with tf.variable_scope("linear_regression"):
        shape = y.get_shape().as_list()
        weights, bias = _variables(x, y, 1 if len(shape) == 1 else shape[1], init_mean, init_stddev)
        return mean_squared_error_regressor(x, y, weights, bias)


@export("contrib.learn.models.logistic_regression")
@deprecated(*_CLASS)
def logistic_regression(
    x: Tensor,
    y: Tensor,
    class_weight: Tensor | None = None,
    init_mean: float | None = None,
    init_stddev: float = 1.0,
) -> tuple[Tensor, Tensor]:
    """Predicts classes by a linear layer.

    Args:
      x: The inputs, a matrix.
      y: The labels, one-hot.
      class_weight: What the logits are multiplied by; the tensor `class_weight:0` of the graph, if there is
        one, where it is None.
      init_mean: The mean of the variables' first values; they are uniformly distributed if None.
      init_stddev: The standard deviation of these.

    Returns:
      The probabilities, and the loss.
    """
    with tf.variable_scope("logistic_regression"):
        weights, bias = _variables(x, y, y.get_shape().as_list()[-1], init_mean, init_stddev)
        if class_weight is None:
            try:
                class_weight = tf.get_default_graph().get_tensor_by_name("class_weight:0")
            except KeyError:
                class_weight = None
        return softmax_classifier(x, y, weights, bias, class_weight=class_weight)


def _reversed(steps: Sequence[Tensor], lengths: Any) -> list[Tensor]:
    if lengths is None:
        return list(reversed(steps))
    return tf.unstack(tf.reverse_sequence(tf.stack(steps), lengths, seq_axis=0, batch_axis=1))


@export("contrib.learn.models.bidirectional_rnn")
@deprecated(None, "Please consider `tf.nn.bidirectional_dynamic_rnn`.")
def bidirectional_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: list[Tensor],
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: DTypeLike | None = None,
    sequence_length: Any = None,
    scope: str | None = None,
) -> tuple[list[Tensor], Tensor]:
    """Runs a sequence through two cells, one of them from the end to the beginning.

    Args:
      cell_fw: The cell that goes forward.
      cell_bw: The cell that goes backward.
      inputs: The inputs of each step, [batch, size].
      initial_state_fw: The state that the first cell begins with.
      initial_state_bw: The state that the second cell begins with.
      dtype: The type of the states, if none is given.
      sequence_length: The lengths of the sequences.
      scope: The beginning of the variable scopes' names; `BiRNN` if None.

    Returns:
      The outputs of each step of both cells side by side, and so their last states.

    Raises:
      TypeError: If a cell or the list is none.
      ValueError: If the list is empty.
    """
    for name, cell in (("cell_fw", cell_fw), ("cell_bw", cell_bw)):
        if not isinstance(cell, tf.contrib.rnn.RNNCell):
            raise TypeError(f"{name} must be an instance of RNNCell")
    if not isinstance(inputs, list):
        raise TypeError("inputs must be a list")
    if not inputs:
        raise ValueError("inputs must not be empty")
    name = scope or "BiRNN"
    with tf.variable_scope(f"{name}_FW"):
        forward, state_fw = tf.nn.static_rnn(cell_fw, inputs, initial_state_fw, dtype, sequence_length)
    with tf.variable_scope(f"{name}_BW"):
        turned = _reversed(inputs, sequence_length)
        backward, state_bw = tf.nn.static_rnn(cell_bw, turned, initial_state_bw, dtype, sequence_length)
    pairs = zip(forward, _reversed(backward, sequence_length), strict=True)
    return [tf.concat(pair, 1) for pair in pairs], tf.concat([state_fw, state_bw], 1)


@export("contrib.learn.models.get_rnn_model")
@deprecated(None, "Please consider tensorflow/tensor2tensor.")
def get_rnn_model(
    rnn_size: int,
    cell_type: str,
    num_layers: int,
    input_op_fn: Callable,
    bidirectional: bool,
    target_predictor_fn: Callable,
    sequence_length: Any,
    initial_state: Any,
    attn_length: int | None,
    attn_size: int | None,
    attn_vec_size: int | None,
) -> Callable[[Tensor, Tensor], Any]:
    """Makes a model function of a recurrent network.

    Args:
      rnn_size: The size of the cells.
      cell_type: `"rnn"`, `"gru"` or `"lstm"`.
      num_layers: The number of cells on top of each other.
      input_op_fn: A function from the features to the inputs of each step.
      bidirectional: Whether a second network goes from the end to the beginning.
      target_predictor_fn: A function from the last state and the labels to predictions and loss.
      sequence_length: The lengths of the sequences.
      initial_state: The state to begin with.
      attn_length: The number of steps that attention looks back to; no attention if None.
      attn_size: The size of the attention's vectors.
      attn_vec_size: The size of the attention's hidden layer.

    Returns:
      A function from features and labels to what `target_predictor_fn` returns.
    """
    rnn = tf.contrib.rnn

    def rnn_estimator(x: Tensor, y: Tensor) -> Any:
        kinds = {
            "rnn": rnn.BasicRNNCell,
            "gru": rnn.GRUCell,
            "lstm": functools.partial(rnn.BasicLSTMCell, state_is_tuple=False),
        }
        if cell_type not in kinds:
            raise ValueError(f"cell_type {cell_type} is not supported. ")

        def layer() -> Any:
            cell = kinds[cell_type](rnn_size)
            if attn_length is None:
                return cell
            return rnn.AttentionCellWrapper(
                cell,
                attn_length=attn_length,
                attn_size=attn_size,
                attn_vec_size=attn_vec_size,
                state_is_tuple=False,
            )

        def layers() -> Any:
            return rnn.MultiRNNCell([layer() for _ in range(num_layers)], state_is_tuple=False)

        inputs = input_op_fn(x)
        if bidirectional:
            _, encoding = bidirectional_rnn(
                layers(), layers(), inputs, initial_state, initial_state, tf.float32, sequence_length
            )
        else:
            _, encoding = tf.nn.static_rnn(layers(), inputs, initial_state, tf.float32, sequence_length)
        return target_predictor_fn(encoding, y)

    return rnn_estimator
