"""The descriptions of arguments that many of Keras's layers share, each written once."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T", bound=type)
F = TypeVar("F", bound=Callable)


def _each(kind: str, words: str) -> dict[str, str]:
    """The same kind of argument for each of a layer's weights."""
    weights = {
        "kernel": "the weights",
        "recurrent": "the weights of the state",
        "bias": "the biases",
        "depthwise": "the weights of single channels",
        "pointwise": "the weights that mix channels",
        "alpha": "the slopes",
        "beta": "the offset",
        "gamma": "the scale",
        "embeddings": "the embeddings",
    }
    return {f"{name}_{kind}": words.format(of=of) for name, of in weights.items()}


ARGUMENTS = {
    **_each("initializer", "The initializer of {of}, or its name."),
    **_each("regularizer", "The regularizer of {of}, or its name."),
    **_each("constraint", "The constraint of {of}, which optimizers apply after each update."),
    "activation": "The activation, a function of a tensor or its name; none if None.",
    "activity_regularizer": "The regularizer of the output.",
    "alpha": "The slope of the negative side.",
    "arguments": "Further arguments of the function, by name.",
    "axes": "The axis, or one for each input, along which products are summed.",
    "axis": "The axis.",
    "backward_layer": "The layer that reads the sequence backward; like `layer` if None.",
    "batch_size": "The size of the batch; open if None.",
    "cell": "The cell, or a list of cells that are stacked.",
    "cells": "The cells, the one next to the input first.",
    "center": "Whether there is an offset, beta.",
    "cropping": "How much is cut off at each end of each axis: one number, one an axis, or a pair an axis.",
    "data_format": '`"channels_last"` or `"channels_first"`; the default of Keras if None.',
    "depth_multiplier": "The number of filters for each input channel.",
    "dilation_rate": "The distance of neighbouring elements of the filter along each axis, or one for all.",
    "dims": "The new order of the axes, from 1; the batch stays first.",
    "dropout": "The fraction of the inputs that is dropped during training.",
    "epsilon": "A small number that is added to the variance.",
    "filters": "The number of output channels.",
    "function": "A function of the input, and of `arguments`.",
    "go_backwards": "Whether the sequence is read from its end.",
    "implementation": "1 for many small products, 2 for fewer and larger ones.",
    "input_dim": "The number of different indices.",
    "input_length": "The length of the sequences, where it is fixed.",
    "interpolation": '`"nearest"` or `"bilinear"`.',
    "kernel_size": "The size of the filter along each axis, or one for all.",
    "kwargs": "Arguments of `tf.keras.layers.Layer`.",
    "l1": "The factor of the sum of absolute values.",
    "l2": "The factor of the sum of squares.",
    "layer": "The layer that is wrapped.",
    "mask": "The mask of the output, or a function of inputs and mask; none if None.",
    "mask_value": "The value that marks a time step as missing.",
    "mask_zero": "Whether index 0 marks a missing time step.",
    "max_value": "The largest output; none if None.",
    "merge_mode": 'How the outputs are joined: `"sum"`, `"mul"`, `"concat"`, `"ave"`, or None for a list.',
    "momentum": "The decay of the moving averages.",
    "moving_mean_initializer": "The initializer of the moving mean, or its name.",
    "moving_variance_initializer": "The initializer of the moving variance, or its name.",
    "name": "The name.",
    "n": "The number of repetitions.",
    "negative_slope": "The slope below the threshold.",
    "noise_shape": "The shape of the random decisions, which is broadcast to that of the input.",
    "normalize": "Whether the inputs are scaled to length one first.",
    "output_dim": "The size of an embedding.",
    "output_padding": "How much is added at the end of each axis of the output; the least if None.",
    "output_shape": "The shape of the output without the batch, or a function of the input's shape.",
    "padding": '`"valid"` or `"same"`.',
    "pool_size": "The size of the window along each axis, or one for all.",
    "rate": "The probability that an element is dropped.",
    "recurrent_activation": "The activation of the gates, a function of a tensor or its name.",
    "recurrent_dropout": "The fraction of the state that is dropped during training.",
    "reset_after": "Whether the reset gate applies after the product with the state, as CuDNN does it.",
    "return_sequences": "Whether the output has all time steps, not the last one only.",
    "return_state": "Whether the last state is returned after the output.",
    "scale": "Whether there is a scale, gamma.",
    "seed": "The seed of the random numbers.",
    "shared_axes": "The axes along which the slopes are shared.",
    "size": "How often elements are repeated along each axis, or one number for all.",
    "stateful": "Whether the last state of a batch is the first one of the next batch.",
    "stddev": "The standard deviation of the noise.",
    "strides": "The stride along each axis, or one for all.",
    "target_shape": "The shape of the output without the batch; one size may be -1.",
    "theta": "The value up to which the output is zero.",
    "threshold": "The value up to which the output is zero, or has the negative slope.",
    "time_major": "Whether the time, not the batch, is the first axis of inputs and outputs.",
    "trainable": "Whether optimizers change the variables by default.",
    "unit_forget_bias": "Whether the biases of the forget gate begin at one.",
    "units": "The size of the output.",
    "unroll": "Whether the time steps are written out in the graph, without a loop.",
    "use_bias": "Whether there is a bias.",
    "use_scale": "Whether the scores are multiplied by a variable.",
    "x": "The tensor.",
    "y": "The other tensor.",
    "y_pred": "The predictions, a tensor.",
    "y_true": "The true values, a tensor.",
    "weights": "The first values of the weights.",
}


def _argument_lines(parameters: list[inspect.Parameter], own: dict[str, str], what: str) -> list[str]:
    lines = []
    for parameter in parameters:
        words = own.get(parameter.name) or ARGUMENTS.get(parameter.name)
        if words is None:
            raise ValueError(f"{what} does not say what its argument {parameter.name} is")
        stars = {parameter.VAR_KEYWORD: "**", parameter.VAR_POSITIONAL: "*"}.get(parameter.kind, "")
        lines.append(f"  {stars}{parameter.name}: {words}")
    return ["", "Args:", *lines] if lines else []


def described(summary: str, **own: str) -> Callable[[T], T]:
    """Gives a class its docstring: a summary, then its arguments, by the words of `own` or those that all
    layers share.
    """

    def describe(cls: T) -> T:
        parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
        cls.__doc__ = "\n".join([summary, *_argument_lines(parameters, own, cls.__name__), ""])
        return cls

    return describe


def explained(summary: str, returns: str = "A tensor.", **own: str) -> Callable[[F], F]:
    """Gives a function its docstring, as `described` does for classes."""

    def explain(function: F) -> F:
        parameters = [p for p in inspect.signature(function).parameters.values() if p.name != "self"]
        lines = _argument_lines(parameters, own, function.__name__)
        function.__doc__ = "\n".join([summary, *lines, "", "Returns:", f"  {returns}", ""])
        return function

    return explain
