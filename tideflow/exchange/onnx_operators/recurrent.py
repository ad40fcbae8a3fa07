"""Recurrent layers: RNN, GRU and LSTM, in one direction or in both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import tideflow as tf
from tideflow.exchange.onnx_operators.registry import Given, operator

Step = Callable[..., tuple[Any, ...]]  # (x, *states) -> states; the first state is the output


def _affine(x: Any, alpha: float, beta: float) -> Any:
    return alpha * x + beta


_ACTIVATIONS: dict[str, tuple[Callable[..., Any], tuple[float, ...]]] = {
    "affine": (_affine, (1.0, 0.0)),
    "elu": (lambda x, a: tf.where(x < 0, a * tf.expm1(x), x), (1.0,)),
    "hardsigmoid": (lambda x, a, b: tf.clip_by_value(a * x + b, 0.0, 1.0), (0.2, 0.5)),
    "leakyrelu": (lambda x, a: tf.where(x < 0, a * x, x), (0.01,)),
    "relu": (tf.nn.relu, ()),
    "scaledtanh": (lambda x, a, b: a * tf.tanh(b * x), (1.0, 1.0)),
    "sigmoid": (tf.sigmoid, ()),
    "softplus": (tf.nn.softplus, ()),
    "softsign": (tf.nn.softsign, ()),
    "tanh": (tf.tanh, ()),
    "thresholdedrelu": (lambda x, a: tf.where(x > a, x, tf.zeros_like(x)), (1.0,)),
}


def _activations(given: Given, defaults: Sequence[str]) -> list[list[Callable]]:
    """The activations of each direction, which may have parameters."""
    directions = 2 if given.attribute("direction", "forward") == "bidirectional" else 1
    names = given.texts("activations") or [*defaults] * directions
    alphas, betas = (list(given.attribute(f"activation_{name}", ())) for name in ("alpha", "beta"))
    made: list[Callable] = []
    count = len(defaults)
    for name in names:
        if name.lower() not in _ACTIVATIONS:
            raise ValueError(f"activation {name} is not known")
        function, parameters = _ACTIVATIONS[name.lower()]
        own = [(each.pop(0) if each else value) for each, value in zip((alphas, betas), parameters)]
        activation = partial(_activated, function, own)
        is_of_state = len(made) % count == 2  # of an LSTM, which onnxruntime does not clip
        made.append(activation if is_of_state else _clipped(given, activation))
    return [made[i * count : (i + 1) * count] for i in range(directions)]


def _activated(function: Callable, parameters: Sequence[float], x: Any) -> Any:
    return function(x, *parameters)


def _clipped(given: Given, function: Callable) -> Callable:
    limit = given.attribute("clip")
    return function if limit is None else lambda x: function(tf.clip_by_value(x, -limit, limit))


def _layer(
    given: Given, defaults: Sequence[str], step: Callable[..., Step], states: Sequence[Any], gates: int
) -> tuple[Any, ...]:
    """Runs the step of each direction over the sequence.

    Args:
      given: The node.
      defaults: The names of the activations of a direction.
      step: Makes a direction's step of its number, the matrix for the states, their bias, and activations.
        It is given the products of the inputs, of all times.
      states: What the states begin with, [directions, batch, size]; None is zero.
      gates: How many matrices the weights hold.

    Returns:
      All outputs, [time, directions, batch, size], and the last states of the directions.
    """
    x, weights, recurrent, bias = *given.inputs[:3], given.input(3)
    batch_first = given.flag("layout")
    x = tf.transpose(x, [1, 0, 2]) if batch_first else x
    size = recurrent.shape.as_list()[-1]
    lengths, direction = given.input(4), given.attribute("direction", "forward")
    every, lasts = [], []
    for i, activations in enumerate(_activations(given, defaults)):
        backward = direction == "reverse" or i == 1
        of_inputs, of_states = (
            (tf.zeros([gates * size], x.dtype),) * 2 if bias is None else tf.split(bias[i], 2)
        )
        inputs = tf.tensordot(x, weights[i], [[2], [1]]) + of_inputs
        begun = [_initial(state, i, batch_first, x, size) for state in states]
        own = step(i, tf.transpose(recurrent[i]), of_states, activations)
        outputs, last = _run(_turned(inputs, lengths, backward), begun, own, lengths)
        every.append(_turned(outputs, lengths, backward))
        lasts.append(last)
    outputs = tf.stack(every, 1)
    found = [tf.stack(each) for each in zip(*lasts, strict=True)]
    if batch_first:
        return tf.transpose(outputs, [2, 0, 1, 3]), *(tf.transpose(each, [1, 0, 2]) for each in found)
    return outputs, *found


def _initial(state: Any, i: int, batch_first: bool, x: Any, size: int) -> Any:
    if state is None:
        made = tf.zeros(tf.stack([tf.shape(x)[1], size]), x.dtype)
    else:
        made = state[:, i] if batch_first else state[i]
    made.set_shape([x.shape[1], size])
    return made


def _turned(x: Any, lengths: Any, backward: bool) -> Any:
    """A sequence from its end to its begin, where the direction says so."""
    if not backward:
        return x
    return (
        tf.reverse(x, [0]) if lengths is None else tf.reverse_sequence(x, lengths, seq_axis=0, batch_axis=1)
    )


def _run(inputs: Any, states: Sequence[Any], step: Step, lengths: Any) -> tuple[Any, list[Any]]:
    """All outputs, and the last states. After the end of a sequence outputs are zero, and states stay."""
    count = tf.shape(inputs)[0]
    source = tf.TensorArray(inputs.dtype, count).unstack(inputs)
    outputs = tf.TensorArray(inputs.dtype, count, element_shape=states[0].shape)

    def advance(time: Any, made: Any, *before: Any) -> list[Any]:
        after = step(source.read(time), *before)
        output = after[0]
        if lengths is not None:
            goes_on = (time < lengths)[:, None]
            output = tf.where_v2(goes_on, output, tf.zeros_like(output))
            after = tuple(tf.where_v2(goes_on, new, old) for new, old in zip(after, before, strict=True))
        return [time + 1, made.write(time, output), *after]

    _, made, *last = tf.while_loop(lambda time, *_: time < count, advance, [0, outputs, *states])
    stacked = made.stack()
    stacked.set_shape([inputs.shape[0], *states[0].shape.as_list()])
    return stacked, last


@operator("RNN")
def _rnn(given: Given) -> Any:
    def step(_: int, weights: Any, bias: Any, activations: Sequence[Callable]) -> Step:
        return lambda x, h: (activations[0](x + tf.matmul(h, weights) + bias),)

    return _layer(given, ["Tanh"], step, [given.input(5)], 1)


@operator("GRU")
def _gru(given: Given) -> Any:
    linear_before_reset = given.flag("linear_before_reset")

    def step(_: int, weights: Any, bias: Any, activations: Sequence[Callable]) -> Step:
        of_gates, of_new = tf.split(weights, [2 * weights.shape[0].value, -1], 1)
        bias_of_gates, bias_of_new = tf.split(bias, [2 * weights.shape[0].value, -1])
        gate, activation = activations

        def advance(x: Any, h: Any) -> tuple[Any]:
            x_gates, x_new = tf.split(x, [2 * weights.shape[0].value, -1], 1)
            update, reset = tf.split(gate(x_gates + tf.matmul(h, of_gates) + bias_of_gates), 2, 1)
            if linear_before_reset:
                new = activation(x_new + reset * (tf.matmul(h, of_new) + bias_of_new))
            else:
                new = activation(x_new + tf.matmul(reset * h, of_new) + bias_of_new)
            return ((1 - update) * new + update * h,)

        return advance

    return _layer(given, ["Sigmoid", "Tanh"], step, [given.input(5)], 3)


@operator("LSTM")
def _lstm(given: Given) -> Any:
    peepholes, couples = given.input(7), given.flag("input_forget")

    def step(i: int, weights: Any, bias: Any, activations: Sequence[Callable]) -> Step:
        looks = [0.0] * 3 if peepholes is None else tf.split(peepholes[i], 3)
        return partial(_lstm_step, weights, bias, activations, looks, couples)

    return _layer(given, ["Sigmoid", "Tanh", "Tanh"], step, [given.input(5), given.input(6)], 4)


def _lstm_step(
    weights: Any,
    bias: Any,
    activations: Sequence[Callable],
    looks: Sequence[Any],
    couples: bool,
    x: Any,
    h: Any,
    c: Any,
) -> tuple[Any, Any]:
    gate, activation, of_output = activations
    into, out, forget, new = tf.split(x + tf.matmul(h, weights) + bias, 4, 1)
    look_in, look_out, look_forget = looks
    into = gate(into + look_in * c)
    kept = 1 - into if couples else gate(forget + look_forget * c)
    after = kept * c + into * activation(new)
    return gate(out + look_out * after) * of_output(after), after
