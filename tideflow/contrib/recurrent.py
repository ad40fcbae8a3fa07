"""`tf.contrib.recurrent`: recurrent networks of cells that are functions of weights, state and input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tideflow as tf
from tideflow.export import export
from tideflow.graph import nest
from tideflow.graph.operation import Tensor


def _at(structure: Any, t: Any) -> Any:
    return nest.map_structure(lambda x: tf.gather(x, t), structure)


def _steps(structure: Any, first: Any, count: Any) -> Any:
    """Some steps of sequences, of which time is the first axis."""
    return nest.map_structure(lambda x: x[first : first + count], structure)


def _arrays(like: Any, count: Any) -> list[tf.TensorArray]:
    """An array for the values of all steps, for each tensor."""
    return [tf.TensorArray(x.dtype, count, element_shape=x.shape) for x in nest.flatten(like)]


def _written(arrays: list[tf.TensorArray], t: Any, values: Any) -> list[tf.TensorArray]:
    return [array.write(t, value) for array, value in zip(arrays, nest.flatten(values), strict=True)]


def _stacked(arrays: list[tf.TensorArray], like: Any) -> Any:
    return nest.pack_sequence_as(like, [array.stack() for array in arrays])


def _forward(cell_fn: Callable, theta: Any, state0: Any, inputs: Any, extras: Any, count: Any) -> Any:
    """The states after all steps, the last one, and the extras of all steps."""

    def body(t: Tensor, state: Any, states: list, kept: list) -> Any:
        following, more = cell_fn(theta, state, _at(inputs, t))
        flat = [tf.convert_to_tensor(x) for x in nest.flatten(following)]
        for new, old in zip(flat, nest.flatten(state0), strict=True):
            new.set_shape(old.shape)
        following = nest.pack_sequence_as(state0, flat)
        return t + 1, following, _written(states, t, following), _written(kept, t, more)

    start = [tf.constant(0), state0, _arrays(state0, count), _arrays(extras, count)]
    _, last, states, kept = tf.while_loop(lambda t, *_: t < count, body, start)
    return _stacked(states, state0), last, _stacked(kept, extras)


def _backward(
    cell_grad: Callable,
    theta: Any,
    before: Any,
    inputs: Any,
    extras: Any,
    d_states: Any,
    d_last: Any,
    count: Any,
) -> Any:
    """The gradients of the weights, of the first state and of the inputs, from those of the states."""

    def body(t: Tensor, d_theta: Any, d_state: Any, d_inputs: list) -> Any:
        d_state = nest.map_structure(tf.add, _at(d_states, t), d_state)
        given = [theta, _at(before, t), _at(inputs, t)]
        flat = [
            tf.zeros_like(x) if dx is None else dx
            for x, dx in zip(
                nest.flatten(given), nest.flatten(cell_grad(*given, _at(extras, t), d_state)), strict=True
            )
        ]
        d_theta_t, d_state, d_inputs_t = nest.pack_sequence_as(given, flat)
        return (
            t - 1,
            nest.map_structure(tf.add, d_theta, d_theta_t),
            d_state,
            _written(d_inputs, t, d_inputs_t),
        )

    start = [
        count - 1,
        nest.map_structure(tf.zeros_like, theta),
        d_last,
        _arrays(nest.map_structure(lambda x: x[0], inputs), count),
    ]
    _, d_theta, d_state0, d_inputs = tf.while_loop(lambda t, *_: t >= 0, body, start)
    return d_theta, d_state0, _stacked(d_inputs, inputs)


def _with_gradient(
    cell_fn: Callable, cell_grad: Callable, theta: Any, state0: Any, inputs: Any, extras: Any, count: Any
) -> Any:
    """The states and the last one, differentiated by the cell's own gradient."""
    given = [theta, state0, inputs]

    @tf.custom_gradient
    def run(*flat: Tensor) -> Any:
        theta, state0, inputs = nest.pack_sequence_as(given, list(flat))
        states, last, kept = _forward(cell_fn, theta, state0, inputs, extras, count)
        before = nest.map_structure(
            lambda first, all_: tf.concat([tf.expand_dims(first, 0), all_[:-1]], 0), state0, states
        )

        def gradient(*slopes: Tensor) -> Any:
            d_states, d_last = nest.pack_sequence_as([states, last], list(slopes))
            found = _backward(cell_grad, theta, before, inputs, kept, d_states, d_last, count)
            return nest.flatten(found)

        return [*nest.flatten(states), *nest.flatten(last)], gradient

    results = run(*nest.flatten(given))
    return nest.pack_sequence_as([state0, state0], list(results))


def _is_one_step(inputs: Any, length: Any) -> bool:
    if not isinstance(length, Tensor):
        return bool(length == 1)
    return all(x.shape.dims is not None and x.shape[0].value == 1 for x in nest.flatten(inputs))


@export("contrib.recurrent.Recurrent")
def Recurrent(
    theta: Any,
    state0: Any,
    inputs: Any,
    cell_fn: Callable[[Any, Any, Any], tuple[Any, Any]],
    cell_grad: Callable[..., Any] | None = None,
    extras: Any = None,
    max_input_length: Any = None,
    use_tpu: bool = False,
    aligned_end: bool = False,
) -> tuple[Any, Any]:
    """Runs a cell along sequences.

    Args:
      theta: The weights, a structure of tensors.
      state0: The first state, a structure of tensors.
      inputs: The sequences, a structure of tensors whose first axis is time.
      cell_fn: `cell_fn(theta, state, input)` returns the next state, and what its gradient needs.
      cell_grad: `cell_grad(theta, state, input, extras, d_state)` returns the gradients of the first three;
        None differentiates `cell_fn`.
      extras: A structure of tensors like what `cell_fn` returns besides; found by calling it if None.
      max_input_length: How many steps are run; the others have states of zeros. All if None.
      use_tpu: Accepted for TensorFlow's sake.
      aligned_end: Whether the last steps are run, not the first.

    Returns:
      The states after each step, along a new first axis, and the last one.
    """
    theta, state0, inputs = (
        nest.map_structure(tf.convert_to_tensor, structure) for structure in (theta, state0, inputs)
    )
    if cell_grad is None and _is_one_step(inputs, max_input_length):
        state, _ = cell_fn(theta, state0, nest.map_structure(lambda x: tf.squeeze(x, axis=0), inputs))
        return nest.map_structure(lambda x: tf.expand_dims(x, axis=0), state), state
    length = tf.shape(nest.flatten(inputs)[0])[0]
    count = length if max_input_length is None else tf.convert_to_tensor(max_input_length, tf.int32)
    first = length - count if aligned_end else 0
    if extras is None:
        _, extras = cell_fn(theta, state0, _at(inputs, 0))
    run_on = _steps(inputs, first, count)
    if cell_grad is None:
        states, last, _ = _forward(cell_fn, theta, state0, run_on, extras, count)
    else:
        states, last = _with_gradient(cell_fn, cell_grad, theta, state0, run_on, extras, count)

    def padded(x: Tensor) -> Tensor:
        others = [[0, 0]] * (len(x.shape) - 1)
        return tf.pad(x, tf.stack([[first, length - first - count], *others]))

    return nest.map_structure(padded, states), last


# ------------------------------------------------------------------------------------------------ RNN cells


def _last_of_each(states: Tensor, sequence_length: Tensor) -> Tensor:
    """What sequences have at their ends; zeros for empty ones."""
    is_last = tf.one_hot(sequence_length - 1, tf.shape(states)[0], axis=0, dtype=states.dtype)
    return tf.reduce_sum(tf.expand_dims(is_last, -1) * states, 0)


@export("contrib.recurrent.functional_rnn")
def functional_rnn(
    cell: Any,
    inputs: Any,
    sequence_length: Any = None,
    initial_state: Any = None,
    dtype: Any = None,
    time_major: bool = False,
    scope: Any = None,
    use_tpu: bool = False,
    reverse: bool = False,
) -> tuple[Tensor, Any]:
    """Runs an RNN cell along sequences, like `tf.nn.dynamic_rnn`.

    Args:
      cell: The cell.
      inputs: The sequences, of shape `[batch, time, features]`.
      sequence_length: The lengths of the sequences; outputs behind them are zeros.
      initial_state: The first state; the cell's zeros if None.
      dtype: The type of those zeros.
      time_major: Whether inputs and outputs have time first.
      scope: The variable scope; "rnn" if None.
      use_tpu: Accepted for TensorFlow's sake.
      reverse: Whether the sequences are read from their ends.

    Returns:
      The outputs and the last state.
    """
    with tf.variable_scope(scope or "rnn"):
        inputs = tf.convert_to_tensor(inputs)
        if sequence_length is not None:
            sequence_length = tf.convert_to_tensor(sequence_length)
        if not time_major:
            inputs = tf.transpose(inputs, [1, 0, 2])
        steps = inputs.shape[0]
        if initial_state is None:
            initial_state = cell.zero_state(tf.shape(inputs)[1], dtype)
        if reverse:
            inputs = tf.reverse(inputs, [0])
        output, _ = cell(tf.gather(inputs, 0), initial_state)  # makes the variables, and shows the shape

        def cell_step(_: Any, state: Any, input_t: Tensor) -> Any:
            made, following = cell(input_t, state[1])
            return [made, following], []

        (outputs, states), (_, last) = Recurrent(
            theta=[],
            state0=[tf.zeros_like(output), initial_state],
            inputs=inputs,
            cell_fn=cell_step,
            extras=[],
            max_input_length=None if sequence_length is None else tf.reduce_max(sequence_length),
            aligned_end=reverse,
        )
    if sequence_length is not None and not reverse:
        last = nest.map_structure(lambda x: _last_of_each(x, sequence_length), states)
    if reverse:
        outputs = tf.reverse(outputs, [0])
    outputs = tf.transpose(outputs, [1, 0, 2])
    outputs.set_shape([output.shape[0], steps, output.shape[1]])
    if sequence_length is not None:
        mask = tf.sequence_mask(sequence_length, tf.shape(outputs)[1], outputs.dtype)
        outputs = tf.expand_dims(mask, -1) * outputs
    for made, like in zip(nest.flatten(last), nest.flatten(initial_state), strict=True):
        made.set_shape(like.shape)
    return (tf.transpose(outputs, [1, 0, 2]) if time_major else outputs), last


@export("contrib.recurrent.bidirectional_functional_rnn")
def bidirectional_functional_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Any,
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    time_major: bool = False,
    use_tpu: bool = False,
    fast_reverse: bool = False,
    scope: Any = None,
) -> tuple[tuple[Tensor, Tensor], tuple[Any, Any]]:
    """Runs two RNN cells along sequences, one from their starts and one from their ends.

    Args:
      cell_fw: The cell that begins at the starts.
      cell_bw: The cell that begins at the ends.
      inputs: The sequences, of shape `[batch, time, features]`.
      initial_state_fw: The first state of `cell_fw`; its zeros if None.
      initial_state_bw: The first state of `cell_bw`; its zeros if None.
      dtype: The type of those zeros.
      sequence_length: The lengths of the sequences.
      time_major: Whether inputs and outputs have time first.
      use_tpu: Accepted for TensorFlow's sake.
      fast_reverse: Whether `cell_bw` reads whole sequences backward, padding included.
      scope: The variable scope; "bidirectional_rnn" if None.

    Returns:
      The outputs of both, and the last states of both.
    """
    time_axis, batch_axis = (0, 1) if time_major else (1, 0)

    def reversed_(x: Tensor) -> Tensor:
        if sequence_length is None:
            return tf.reverse(x, axis=[time_axis])
        return tf.reverse_sequence(x, sequence_length, seq_dim=time_axis, batch_dim=batch_axis)

    with tf.variable_scope(scope or "bidirectional_rnn"):
        with tf.variable_scope("fw") as fw_scope:
            output_fw, state_fw = functional_rnn(
                cell_fw, inputs, sequence_length, initial_state_fw, dtype, time_major, fw_scope
            )
        with tf.variable_scope("bw") as bw_scope:
            output_bw, state_bw = functional_rnn(
                cell_bw,
                inputs if fast_reverse else reversed_(inputs),
                sequence_length,
                initial_state_bw,
                dtype,
                time_major,
                bw_scope,
                reverse=fast_reverse,
            )
    if not fast_reverse:
        output_bw = reversed_(output_bw)
    return (output_fw, output_bw), (state_fw, state_bw)
