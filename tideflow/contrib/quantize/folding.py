"""What both kinds of batch norms share when they are folded into the weights before them.

A batch norm after a layer, `gamma * (w x - mean) / sigma + beta`, is a layer with the weights
`gamma / sigma * w`. While a model trains, sigma is that of the batch, and would make the weights jump; so the
weights are folded with the moving average of sigma, and the output is corrected by the ratio of the two.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from tideflow.contrib.graph_editor.reroute import reroute_ts
from tideflow.contrib.quantize.steps import quantization_step
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import get_default_graph
from tideflow.nn.convolutions import depthwise_conv2d
from tideflow.ops.arrays.blocks import batch_to_space_nd
from tideflow.ops.arrays.constants import identity
from tideflow.ops.arrays.creation import ones, zeros
from tideflow.ops.control_flow.conditionals import smart_cond
from tideflow.ops.math import binary, unary
from tideflow.ops.nn.depthwise_convolution import depthwise_conv2d_native_op


@dataclasses.dataclass
class Statistics:
    """The values by which a batch norm that trains is corrected."""

    gamma: Tensor
    mean: Tensor  # of the batch
    variance: Tensor
    moving_mean: Tensor
    moving_variance: Tensor
    mean_decay: Tensor  # how fast the moving averages follow
    variance_decay: Tensor
    epsilon: Tensor | float


@dataclasses.dataclass
class Corrections:
    """Factors of weights and of the output, and what is added to the output."""

    scale: Tensor
    reciprocal: Tensor
    offset: Tensor


def corrections(values: Statistics, freeze_delay: int | None, prefix: str = "") -> Corrections:
    """The corrections of a batch norm; after `freeze_delay` steps, moving averages stay and are used."""
    with get_default_graph().name_scope(f"{prefix}batch_norm_correction"):
        moving = unary.rsqrt(values.moving_variance + values.epsilon)
        batch = unary.rsqrt(values.variance + values.epsilon)
        scale = identity(binary.divide(moving, batch, name="scale_compute"), name="correction_scale")
        reciprocal = unary.reciprocal(scale, name="reciprocal_compute")
        offset = binary.multiply(
            values.gamma, values.mean * batch - values.moving_mean * moving, name="offset_compute"
        )
        frozen: Any = False
        if freeze_delay is not None:
            frozen = binary.greater_equal(quantization_step(), freeze_delay, name="use_moving_average")
        _stop(values.mean_decay, frozen, "freeze_moving_mean")
        _stop(values.variance_decay, frozen, "freeze_moving_var")
        return Corrections(
            scale,
            smart_cond(frozen, lambda: ones(scale.shape), lambda: reciprocal, name="correction_recip"),
            smart_cond(frozen, lambda: offset, lambda: zeros(offset.shape), name="correction_offset"),
        )


def _stop(decay: Tensor, frozen: Any, name: str) -> None:
    """Makes a moving average follow with the decay 0, that is not at all, once it is frozen."""
    consumers = decay.consumers()
    chosen = smart_cond(frozen, lambda: 0.0, lambda: decay, name=name)
    reroute_ts(chosen, decay, can_modify=consumers)


def clone(op: Operation, name: str, *inputs: Tensor) -> Tensor:
    """The output of a layer of the same kind and attributes on other inputs."""
    if op.definition is depthwise_conv2d_native_op:
        return depthwise_conv2d(
            *inputs,
            op.attrs["strides"],
            op.attrs["padding"],
            name=name,
            data_format=op.attrs["data_format"],
        )
    attrs = {key: value for key, value in op.attrs.items() if not key.startswith("_")}
    return op.definition.node_from_flat(list(inputs), attrs, name).outputs[0]


def back_to_space(tensor: Tensor, op: Operation | None, name: str) -> Tensor:
    """What a dilated convolution gives, put together from its parts as `op` does it."""
    return tensor if op is None else batch_to_space_nd(tensor, op.inputs[1], op.inputs[2], name=name)
