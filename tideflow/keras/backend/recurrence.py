"""A step function over the time steps of sequences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.export import export
from tideflow.graph import nest

if TYPE_CHECKING:
    from tideflow.graph.operation import Tensor
    from tideflow.graph.typing import TensorLike


def _swapped(x: Tensor) -> Tensor:
    return tf.transpose(x, [1, 0, *range(2, x.shape.ndims)])


def _like(mask: Tensor, value: Tensor, fixed: int = 1) -> Tensor:
    """A mask with an element for each element of a value."""
    for _ in range(value.shape.ndims - mask.shape.ndims):
        mask = tf.expand_dims(mask, -1)
    sizes = value.shape.as_list()[fixed:]
    if None in sizes:
        return tf.tile(mask, tf.concat([[1] * fixed, tf.shape(value)[fixed:]], 0))
    return tf.tile(mask, [1] * fixed + sizes)


@export("keras.backend.rnn")
def rnn(
    step_function: Callable,
    inputs: Any,
    initial_states: Sequence[Any],
    go_backwards: bool = False,
    mask: TensorLike | None = None,
    constants: Sequence[Any] | None = None,
    unroll: bool = False,
    input_length: Any = None,
    time_major: bool = False,
    zero_output_for_mask: bool = False,
) -> tuple[Any, Any, list[Any]]:
    """Calls a step function for each time step of sequences.

    Args:
      step_function: A function of the inputs of a time step and a list of states, with the constants behind
        them, that returns an output and a list of new states.
      inputs: The sequences: a structure whose first axes are batch and time.
      initial_states: The states before the first time step.
      go_backwards: Whether the last time step comes first.
      mask: Which time steps are there, of shape [batch, time]. Others change no state.
      constants: What each step is given behind the states.
      unroll: Whether the steps are written out in the graph, without a loop.
      input_length: The number of time steps; that of the inputs if None.
      time_major: Whether the time comes before the batch.
      zero_output_for_mask: Whether outputs of missing time steps are zeros, not those of the step before.

    Returns:
      The last output, all outputs, and the last states.
    """
    constants = list(constants or ())
    if not time_major:
        inputs = nest.map_structure(_swapped, inputs)
    flat = nest.flatten(inputs)
    steps = flat[0].shape.as_list()[0]
    length = tf.shape(flat[0])[0]
    if mask is not None:
        mask = tf.cast(mask, tf.bool) if mask.dtype != tf.bool else mask
        if mask.shape.ndims == 2:
            mask = tf.expand_dims(mask, -1)
        if not time_major:
            mask = _swapped(mask)
    run = _unrolled if unroll else _looped
    if unroll and not steps:
        raise ValueError("Unrolling requires a fixed number of timesteps.")
    last, outputs, states = run(
        step_function,
        inputs,
        list(initial_states),
        go_backwards,
        mask,
        constants,
        steps,
        length,
        zero_output_for_mask,
    )

    def shaped(output: Tensor) -> Tensor:
        if not time_major:
            output = _swapped(output)
        sizes = output.shape.as_list()
        batch = flat[0].shape.as_list()[1]
        front = [steps, batch] if time_major else [batch, steps]
        output.set_shape([*front, *sizes[2:]])
        return output

    return last, nest.map_structure(shaped, outputs), states


def _unrolled(
    step: Callable,
    inputs: Any,
    states: Any,
    backwards: bool,
    mask: Any,
    constants: Any,
    steps: int,
    length: Any,
    zero: bool,
) -> Any:
    def at(values: Any, time: int) -> Any:
        return nest.map_structure(lambda value: tf.unstack(value)[time], values)

    order = range(steps - 1, -1, -1) if backwards else range(steps)
    split = nest.map_structure(tf.unstack, inputs) if not nest.is_nested(inputs) else None
    outputs: list[Any] = []
    for time in order:
        here = split[time] if split is not None else at(inputs, time)
        output, new = step(here, [*states, *constants])
        if mask is not None:
            present = mask[time]
            before = outputs[-1] if outputs and not zero else nest.map_structure(tf.zeros_like, output)
            output = nest.map_structure(
                lambda a, b, there=present: tf.where(_like(there, a), a, b), output, before
            )
            new = [
                nest.map_structure(lambda a, b, there=present: tf.where(_like(there, a), a, b), fresh, old)
                for fresh, old in zip(new, states, strict=True)
            ]
        states = list(new)
        outputs.append(output)
    stacked = nest.map_structure(lambda *each: tf.stack(each), *outputs)
    return outputs[-1], stacked, states


def _looped(
    step: Callable,
    inputs: Any,
    states: Any,
    backwards: bool,
    mask: Any,
    constants: Any,
    steps: Any,
    length: Any,
    zero: bool,
) -> Any:
    arrays = nest.map_structure(
        lambda x: tf.TensorArray(x.dtype, size=length, tensor_array_name="input_ta").unstack(
            tf.reverse(x, [0]) if backwards else x
        ),
        inputs,
    )
    flat_arrays = nest.flatten(arrays)
    first = (
        nest.pack_sequence_as(inputs, [x[0] for x in nest.flatten(inputs)])
        if nest.is_nested(inputs)
        else inputs[0]
    )
    example, _ = step(first, [*states, *constants])
    flat_example = nest.flatten(example)
    outputs = [
        tf.TensorArray(x.dtype, size=length, tensor_array_name=f"output_ta_{i}")
        for i, x in enumerate(flat_example)
    ]
    start, masks = tf.constant(0, tf.int32, name="time"), None
    if mask is not None:
        masks = tf.TensorArray(tf.bool, size=length, tensor_array_name="mask_ta").unstack(
            tf.reverse(mask, [0]) if backwards else mask
        )
    flat_states = nest.flatten(states)
    kept_before = [tf.zeros_like(x) for x in flat_example] if masks is not None else []
    number = len(flat_states)

    def body(time: Any, outs: Any, before: Any, *now: Any) -> Any:
        read = [array.read(time) for array in flat_arrays]
        here = nest.pack_sequence_as(inputs, read) if nest.is_nested(inputs) else read[0]
        present = None if masks is None else masks.read(time)
        packed = nest.pack_sequence_as(states, list(now))
        output, new = step(here, [*packed, *constants])
        flat_output, flat_new = nest.flatten(output), nest.flatten(new)
        for old, fresh in zip(now, flat_new, strict=True):
            fresh.set_shape(old.shape)
        if present is not None:
            other = [tf.zeros_like(x) for x in flat_output] if zero else before
            flat_output = [tf.where(_like(present, a), a, b) for a, b in zip(flat_output, other, strict=True)]
            flat_new = [tf.where(_like(present, a), a, b) for a, b in zip(flat_new, now, strict=True)]
        outs = [array.write(time, x) for array, x in zip(outs, flat_output, strict=True)]
        return (time + 1, outs, flat_output if masks is not None else [], *flat_new)

    found = tf.while_loop(
        lambda time, *_: time < length,
        body,
        (start, outputs, kept_before, *flat_states),
        parallel_iterations=32,
    )
    made = [array.stack() for array in found[1]]
    for array, x in zip(made, flat_example, strict=True):
        array.set_shape([steps, *x.shape.as_list()])
    last = [array[-1] for array in made]
    new_states = nest.pack_sequence_as(states, list(found[3 : 3 + number]))
    single = not nest.is_nested(example)
    pack = (lambda values: values[0]) if single else (lambda values: nest.pack_sequence_as(example, values))
    return pack(last), pack(made), list(new_states)
