"""Inception modules, written as tables.

A module is its branches, side by side; a branch is its steps, one after another, in words: "96:3x3" is a
convolution to depth 96, "max:3x3" and "avg:3x3" are poolings, "/2" at the end is a stride. A step has the
name that its kind, place and size make ("Conv2d_0b_3x3"), or the one after "@". Steps joined by "+" stand
side by side.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from tideflow.contrib.framework.argument_scopes import arg_scope
from tideflow.contrib.layers.arrangement import softmax
from tideflow.contrib.layers.convolutions import convolution2d as conv2d
from tideflow.contrib.layers.dense import dropout, fully_connected
from tideflow.contrib.layers.normalizers import batch_norm
from tideflow.contrib.layers.penalties import l2_regularizer
from tideflow.contrib.layers.pools import avg_pool2d, max_pool2d
from tideflow.contrib.layers.scaling import variance_scaling_initializer
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import GraphKeys
from tideflow.ops.arrays import joining, shapes
from tideflow.ops.nn.activations import relu
from tideflow.variables.variable_scope import variable_scope

_STEP = re.compile(r"(max|avg|\d+):(\d+)x(\d+)(/2)?(?:@(\w+))?")
_POOLS = {"max": max_pool2d, "avg": avg_pool2d}


class Builder:
    """Makes layers from words, and remembers each end point until the final one."""

    def __init__(
        self,
        final_endpoint: str,
        depth: Callable[[int], int] = lambda d: d,
        initial: Callable[[list[str], int], dict[str, Any]] = lambda steps, i: {},
        strided: dict[str, Any] | None = None,
    ):
        """`initial(branch, i)` and `strided` are more arguments of a convolution in a module, of a stride."""
        self.final_endpoint = final_endpoint
        self.depth = depth
        self.initial = initial
        self.strided = strided or {}
        self.end_points: dict[str, Tensor] = {}

    @property
    def is_done(self) -> bool:
        return self.final_endpoint in self.end_points

    def add(self, name: str, net: Tensor, make: Callable[[Tensor], Tensor]) -> Tensor:
        """The next end point; nothing once the final one is there."""
        if self.is_done:
            return net
        self.end_points[name] = make(net)
        return self.end_points[name]

    def step(self, net: Tensor, words: str, scope: str, **more: Any) -> Tensor:
        """One layer."""
        kind, height, width, stride, _ = _STEP.fullmatch(words).groups()
        if stride:
            more = {"stride": 2, **self.strided, **more}
        if kind in _POOLS:
            return _POOLS[kind](net, [int(height), int(width)], scope=scope, **more)
        return conv2d(net, self.depth(int(kind)), [int(height), int(width)], scope=scope, **more)

    def body(
        self,
        net: Tensor,
        table: Mapping[str, str | Sequence[str]],
        more: Mapping[str, dict[str, Any]] | None = None,
    ) -> Tensor:
        """A table of end points: layers, and modules, which are several branches.

        `more` has more arguments for some of the layers.
        """
        for name, words in table.items():
            if isinstance(words, str):
                net = self.add(
                    name, net, partial(self.step, words=words, scope=name, **(more or {}).get(name, {}))
                )
            else:
                net = self.add(name, net, partial(self._module, name, branches=words))
        return net

    def _module(self, name: str, net: Tensor, branches: Sequence[str]) -> Tensor:
        """A module of branches."""
        with variable_scope(name):
            made = []
            for number, branch in enumerate(branches):
                with variable_scope(f"Branch_{number}"):
                    made.append(self._branch(net, branch.split()))
            return joining.concat(made, 3)

    def _branch(self, net: Tensor, steps: list[str]) -> Tensor:
        for place, step in enumerate(steps):
            parts = [
                self.step(net, words, _name(words, place), **self.initial(steps, place))
                for words in step.split("+")
            ]
            net = parts[0] if len(parts) == 1 else joining.concat(parts, 3)
        return net

    def result(self, net: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """The final end point, and all up to it."""
        if not self.is_done:
            raise ValueError(f"Unknown final endpoint {self.final_endpoint}")
        return net, self.end_points


def _name(words: str, place: int) -> str:
    kind, height, width, stride, name = _STEP.fullmatch(words).groups()
    word = f"{kind.title()}Pool" if kind in _POOLS else "Conv2d"
    at = "1a" if stride else f"0{'abcde'[place]}"
    return name or f"{word}_{at}_{height}x{width}"


def depth_function(depth_multiplier: float, min_depth: int) -> Callable[[int], int]:
    """How deep a layer is in a thinner or thicker model."""
    if depth_multiplier <= 0:
        raise ValueError("depth_multiplier is not greater than zero.")
    return lambda depth: max(int(depth * depth_multiplier), min_depth)


def fitting(net: Tensor, size: int) -> list[int]:
    """The size of a kernel, which is not larger than the images."""
    height, width = net.shape.as_list()[1:3]
    return [size, size] if height is None or width is None else [min(height, size), min(width, size)]


def logits_of(net: Tensor, num_classes: int, spatial_squeeze: bool, scope: str) -> Tensor:
    """The scores of the classes, by a convolution of one pixel."""
    logits = conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope=scope)
    return shapes.squeeze(logits, [1, 2], name="SpatialSqueeze") if spatial_squeeze else logits


def pooled(net: Tensor, size: int, keep_prob: float) -> Tensor:
    """The mean over all pixels, with dropout."""
    kernel = fitting(net, size)
    net = avg_pool2d(net, kernel, padding="VALID", scope="AvgPool_1a_{}x{}".format(*kernel))
    return dropout(net, keep_prob=keep_prob, scope="Dropout_1b")


def normalized_scope(weight_decay: float, collection: str, use_batch_norm: bool = True, **more: Any) -> dict:
    """The argument scope of these models: penalties on weights, batch normalization."""
    params = {
        "decay": 0.9997,
        "epsilon": 0.001,
        "updates_collections": GraphKeys.UPDATE_OPS,
        "variables_collections": {
            "beta": None,
            "gamma": None,
            "moving_mean": [collection],
            "moving_variance": [collection],
        },
        **more,
    }
    with (
        arg_scope([conv2d, fully_connected], weights_regularizer=l2_regularizer(weight_decay)),
        arg_scope(
            [conv2d],
            weights_initializer=variance_scaling_initializer(),
            activation_fn=relu,
            normalizer_fn=batch_norm if use_batch_norm else None,
            normalizer_params=params if use_batch_norm else {},
        ) as scope,
    ):
        return scope


default_prediction = softmax
