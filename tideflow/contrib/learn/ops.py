"""tf.contrib.learn.ops: losses, embeddings and sequences, as the first models of it used them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.platform.deprecation import deprecated

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike

_DIRECTLY = (None, "Please use tf.nn/tf.layers directly.")


@export("contrib.learn.ops.embedding_lookup")
@deprecated("2016-12-01", "Use `tf.embedding_lookup` instead.")
def embedding_lookup(params: TensorLike, ids: TensorLike, name: str = "embedding_lookup") -> Tensor:
    """Looks up rows of a matrix.

    Args:
      params: The matrix.
      ids: The numbers of the rows, in any shape.
      name: A name for the operations.

    Returns:
      The rows, in the shape of `ids` with one more axis.
    """
    with tf.name_scope(name, "embedding_lookup", [params, ids]):
        params, ids = tf.convert_to_tensor(params), tf.convert_to_tensor(ids)
        shape = tf.shape(ids)
        flat = tf.reshape(ids, tf.reduce_prod(shape, keepdims=True))
        rows = tf.reshape(tf.nn.embedding_lookup(params, flat, name=name), tf.concat([shape, [-1]], 0))
        rows.set_shape(ids.get_shape().concatenate(params.get_shape()[1:]))
        return rows


@export("contrib.learn.ops.categorical_variable")
@deprecated("2016-12-01", "Use `tf.contrib.layers.embed_sequence` instead.")
def categorical_variable(tensor_in: TensorLike, n_classes: int, embedding_size: int, name: str) -> Tensor:
    """Embeds categories.

    Args:
      tensor_in: The numbers of the categories.
      n_classes: How many categories there are.
      embedding_size: The size of an embedding.
      name: The variable scope, and the beginning of the variable's name.

    Returns:
      The embeddings.
    """
    with tf.variable_scope(name):
        return embedding_lookup(tf.get_variable(f"{name}_embeddings", [n_classes, embedding_size]), tensor_in)


@export("contrib.learn.ops.mean_squared_error_regressor")
@deprecated("2016-12-01", "Use `tf.losses.mean_squared_error` and explicit logits computation.")
def mean_squared_error_regressor(
    tensor_in: TensorLike, labels: Tensor, weights: TensorLike, biases: TensorLike, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Predicts numbers by a linear layer.

    Args:
      tensor_in: The inputs, a matrix.
      labels: The labels.
      weights: The weights of the layer.
      biases: The biases of the layer.
      name: A name for the operations.

    Returns:
      The predictions, and the mean squared error.
    """
    with tf.name_scope(name, "mean_squared_error_regressor", [tensor_in, labels]):
        predictions = tf.nn.xw_plus_b(tensor_in, weights, biases)
        if len(labels.get_shape()) == 1 and len(predictions.get_shape()) == 2:
            predictions = tf.squeeze(predictions, axis=[1])
        return predictions, tf.losses.mean_squared_error(labels, predictions)


@export("contrib.learn.ops.softmax_classifier")
@deprecated("2016-12-01", "Use `tf.losses.softmax_cross_entropy` and explicit logits computation.")
def softmax_classifier(
    tensor_in: TensorLike,
    labels: TensorLike,
    weights: TensorLike,
    biases: TensorLike,
    class_weight: TensorLike | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Predicts classes by a linear layer.

    Args:
      tensor_in: The inputs, a matrix.
      labels: The labels, one-hot.
      weights: The weights of the layer.
      biases: The biases of the layer.
      class_weight: What the logits are multiplied by.
      name: A name for the operations.

    Returns:
      The probabilities, and the cross entropy.
    """
    with tf.name_scope(name, "softmax_classifier", [tensor_in, labels]):
        logits = tf.nn.xw_plus_b(tensor_in, weights, biases)
        if class_weight is not None:
            logits = tf.multiply(logits, class_weight)
        return tf.nn.softmax(logits), tf.losses.softmax_cross_entropy(labels, logits)


@export("contrib.learn.ops.sequence_classifier")
@deprecated(*_DIRECTLY)
def sequence_classifier(
    decoding: Sequence[Tensor],
    labels: Sequence[Tensor],
    sampling_decoding: Sequence[Tensor] | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Predicts a class for each step of a sequence.

    Args:
      decoding: The logits of each step.
      labels: The labels of each step, one-hot.
      sampling_decoding: The logits that are predicted from, instead of those of the loss.
      name: A name for the operations.

    Returns:
      The probabilities, and the sum of the cross entropies.
    """
    with tf.name_scope(name, "sequence_classifier", [decoding, labels]):
        entropies = [
            tf.nn.softmax_cross_entropy_with_logits(
                labels=labels[number], logits=logits, name=f"sequence_loss/xent_raw{number}"
            )
            for number, logits in enumerate(decoding)
        ]
        predictions = [tf.nn.softmax(logits) for logits in sampling_decoding or decoding]
        entropy = tf.add_n(entropies, name="sequence_loss/xent")
        return tf.stack(predictions, axis=1), tf.reduce_sum(entropy, name="sequence_loss")


@export("contrib.learn.ops.seq2seq_inputs")
@deprecated(*_DIRECTLY)
def seq2seq_inputs(
    x: TensorLike,
    y: TensorLike,
    input_length: int,
    output_length: int,
    sentinel: Tensor | None = None,
    name: str | None = None,
) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    """Divides sequences into the steps of an encoder and a decoder.

    Args:
      x: The inputs, [batch, steps, size].
      y: The outputs, [batch, steps, size].
      input_length: Has no effect.
      output_length: Has no effect.
      sentinel: What begins the decoder's inputs and ends its outputs; zeros if None.
      name: A name for the operations.

    Returns:
      The steps of the encoder's inputs, of the decoder's inputs and of its outputs.
    """
    with tf.name_scope(name, "seq2seq_inputs", [x, y]):
        inputs, outputs = tf.unstack(x, axis=1), tf.unstack(y, axis=1)
        if sentinel is None:
            sentinel = tf.zeros(tf.stack([tf.shape(x)[0], outputs[0].get_shape().as_list()[1]]))
            sentinel.set_shape(outputs[0].get_shape())
        return inputs, [sentinel, *outputs], [*outputs, sentinel]


@export("contrib.learn.ops.rnn_decoder")
@deprecated(*_DIRECTLY)
def rnn_decoder(
    decoder_inputs: Sequence[Tensor], initial_state: Any, cell: Any, scope: str | None = None
) -> tuple[list[Tensor], list[Any], list[Tensor], list[Any]]:
    """Decodes a sequence by a cell, once with given inputs and once with its own outputs.

    Args:
      decoder_inputs: The inputs of each step.
      initial_state: The state to begin with.
      cell: The cell.
      scope: The variable scope.

    Returns:
      The outputs and the states with given inputs, and those with its own.
    """
    with tf.variable_scope(scope or "dnn_decoder") as variables:
        states, sampled_states = [initial_state], [initial_state]
        outputs: list[Tensor] = []
        sampled: list[Tensor] = []
        with tf.name_scope("training", values=[*decoder_inputs, initial_state]):
            for number, given in enumerate(decoder_inputs):
                if number > 0:
                    variables.reuse_variables()
                output, state = cell(given, states[-1])
                outputs.append(output)
                states.append(state)
        with tf.name_scope("sampling", values=[initial_state]):
            for number in range(len(decoder_inputs)):
                first = number == 0
                output, state = (outputs[0], states[0]) if first else cell(sampled[-1], sampled_states[-1])
                sampled.append(output)
                sampled_states.append(state)
    return outputs, states, sampled, sampled_states


@export("contrib.learn.ops.rnn_seq2seq")
@deprecated(*_DIRECTLY)
def rnn_seq2seq(
    encoder_inputs: Sequence[Tensor],
    decoder_inputs: Sequence[Tensor],
    encoder_cell: Any,
    decoder_cell: Any = None,
    dtype: DTypeLike = tf.float32,
    scope: str | None = None,
) -> tuple[list[Tensor], list[Any], list[Tensor], list[Any]]:
    """Encodes a sequence by a cell, and decodes another from the last state.

    Args:
      encoder_inputs: The inputs of each step of the encoder.
      decoder_inputs: The inputs of each step of the decoder.
      encoder_cell: The cell of the encoder.
      decoder_cell: The cell of the decoder; that of the encoder if None.
      dtype: The type of the state.
      scope: The variable scope.

    Returns:
      The outputs and the states with given inputs, and those with the decoder's own outputs as inputs.
    """
    with tf.variable_scope(scope or "rnn_seq2seq"):
        _, state = tf.nn.static_rnn(encoder_cell, encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, state, decoder_cell or encoder_cell)
