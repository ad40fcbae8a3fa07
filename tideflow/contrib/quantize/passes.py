"""The passes of the rewriting, each alone and under the name that `contrib.quantize.python` gives it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

import tideflow as tf
from tideflow.contrib.quantize.fake_quants import Rounding, fake_quant
from tideflow.contrib.quantize.fused_batch_norms import fold_fused_batch_norms
from tideflow.contrib.quantize.layers import quantize_layers
from tideflow.contrib.quantize.patterns import SKIPPED_PREFIXES
from tideflow.contrib.quantize.plain_batch_norms import fold_plain_batch_norms
from tideflow.contrib.quantize.steps import quantization_step
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Tensor

_BATCH_NORM = re.compile(r"^(.*)BatchNorm/batchnorm")

CreateOrGetQuantizationStep = quantization_step


def FoldBatchNorms(graph: Graph, is_training: bool, freeze_batch_norm_delay: int | None = None) -> None:
    """Folds batch norms into the layers before them.

    Args:
      graph: The graph.
      is_training: Whether it is a graph for training.
      freeze_batch_norm_delay: After how many steps batch norms use their moving averages; None for never.
    """
    with graph.as_default():
        fold_fused_batch_norms(graph, freeze_batch_norm_delay)
        fold_plain_batch_norms(graph, is_training, freeze_batch_norm_delay)


def Quantize(
    graph: Graph,
    is_training: bool,
    weight_bits: int = 8,
    activation_bits: int = 8,
    symmetric: bool = False,
    ema_decay: float = 0.999,
    quant_delay: int | None = None,
    vars_collection: str = tf.GraphKeys.GLOBAL_VARIABLES,
    scope: str | None = None,
) -> None:
    """Rounds the weights and activations of layers.

    Args:
      graph: The graph.
      is_training: Whether it is a graph for training.
      weight_bits: The number of bits of a weight.
      activation_bits: The number of bits of an activation.
      symmetric: Whether ranges have zero in their middle.
      ema_decay: The decay of the moving averages of ranges.
      quant_delay: The number of steps after which values are rounded.
      vars_collection: The collection of the ranges.
      scope: A name scope: layers outside of it are not rounded.
    """
    with graph.as_default():
        quantize_layers(
            graph,
            is_training,
            weight_bits=weight_bits,
            activation_bits=activation_bits,
            symmetric=symmetric,
            delay=quant_delay,
            scope=scope,
            decay=ema_decay,
            collection=None if vars_collection == tf.GraphKeys.GLOBAL_VARIABLES else vars_collection,
        )


def FixedQuantize(
    inputs: Tensor, init_min: float = -6.0, init_max: float = 6.0, scope: str | None = None
) -> Tensor:
    """Rounds over a range that never changes.

    Args:
      inputs: The values.
      init_min: The lowest.
      init_max: The highest.
      scope: The name scope.

    Returns:
      The rounded values.
    """
    with tf.name_scope(scope, "FixedQuantize", values=[inputs]):
        return tf.quantization.fake_quant_with_min_max_args(inputs, min=init_min, max=init_max)


def LastValueQuantize(
    inputs: Tensor,
    per_channel: bool = False,
    init_min: float = -6.0,
    init_max: float = 6.0,
    vars_collection: str | None = None,
    name_prefix: str = "LastValueQuant",
    reuse: bool | None = None,
    is_training: bool = True,
    num_bits: int = 8,
    narrow_range: bool = False,
    symmetric: bool = False,
) -> Tensor:
    """Rounds over the range of the last batch.

    Args:
      inputs: The values.
      per_channel: Whether the last axis has a range for each of its elements.
      init_min: The first lowest value.
      init_max: The first highest value.
      vars_collection: A collection of the ranges, beside the global variables.
      name_prefix: The variable scope.
      reuse: Whether ranges are shared, as in `tf.variable_scope`.
      is_training: Whether the range changes.
      num_bits: The number of bits.
      narrow_range: Whether the lowest number is left out.
      symmetric: Whether zero is in the middle of the range.

    Returns:
      The rounded values.
    """
    how = Rounding(
        num_bits,
        is_training,
        symmetric,
        narrow_range,
        is_moving=False,
        first_min=init_min,
        first_max=init_max,
        per_channel=per_channel,
        collection=vars_collection,
    )
    return fake_quant(inputs, how, name_prefix, reuse)


def MovingAvgQuantize(
    inputs: Tensor,
    per_channel: bool = False,
    init_min: float = -6.0,
    init_max: float = 6.0,
    ema_decay: float = 0.999,
    vars_collection: str | None = tf.GraphKeys.MOVING_AVERAGE_VARIABLES,
    name_prefix: str = "MovingAvgQuantize",
    reuse: bool | None = None,
    is_training: bool = True,
    num_bits: int = 8,
    narrow_range: bool = False,
    symmetric: bool = False,
) -> Tensor:
    """Rounds over a moving average of the batches' ranges.

    Args:
      inputs: The values.
      per_channel: Whether the last axis has a range for each of its elements.
      init_min: The first lowest value.
      init_max: The first highest value.
      ema_decay: The decay of the moving averages.
      vars_collection: A collection of the ranges, beside the global variables.
      name_prefix: The variable scope.
      reuse: Whether ranges are shared, as in `tf.variable_scope`.
      is_training: Whether the range changes.
      num_bits: The number of bits.
      narrow_range: Whether the lowest number is left out.
      symmetric: Whether zero is in the middle of the range.

    Returns:
      The rounded values.
    """
    how = Rounding(
        num_bits,
        is_training,
        symmetric,
        narrow_range,
        first_min=init_min,
        first_max=init_max,
        decay=ema_decay,
        per_channel=per_channel,
        collection=vars_collection,
    )
    return fake_quant(inputs, how, name_prefix, reuse)


class InputToOps:
    """Which operations take the outputs of which, but for those of gradients, optimizers and summaries.

    Args:
      graph: The graph.
    """

    def __init__(self, graph: Graph):
        self.mapping: dict[Tensor, set[Operation]] = defaultdict(set)
        for op in graph.get_operations():
            if not op.name.startswith(SKIPPED_PREFIXES):
                for tensor in op.inputs:
                    self.mapping[tensor].add(op)

    def ConsumerOperations(self, producer_op: Operation) -> set[Operation]:
        """The operations that take an output of one.

        Args:
          producer_op: The operation.

        Returns:
          A set of operations.
        """
        return {consumer for tensor in producer_op.outputs for consumer in self.mapping[tensor]}


def BatchNormGroups(graph: Graph) -> list[str]:
    """Finds the layers that have a batch norm of single operations.

    Args:
      graph: The graph.

    Returns:
      The prefixes of their names.
    """
    matches = (_BATCH_NORM.search(op.name) for op in graph.get_operations())
    prefixes = (match.group(1) for match in matches if match)
    return list(dict.fromkeys(prefix for prefix in prefixes if not prefix.startswith(SKIPPED_PREFIXES)))


def GetEndpointActivationOp(graph: Graph, prefix: str) -> Operation | None:
    """Finds the activation at the end of a layer.

    Args:
      graph: The graph.
      prefix: The prefix of the layer's name.

    Returns:
      The operation; None if there is none.
    """
    for suffix in "Relu6 Relu Identity".split():
        try:
            return graph.get_operation_by_name(prefix + suffix)
        except KeyError:
            continue
    return None


def DropStringPrefix(s: str, prefix: str) -> str:
    """A string without its prefix, if it has it.

    Args:
      s: The string.
      prefix: The prefix.

    Returns:
      A string.
    """
    return s.removeprefix(prefix)


def RerouteTensor(t0: Tensor, t1: Tensor, can_modify: Iterable[Operation] | None = None) -> int:
    """Has operations take another tensor.

    Args:
      t0: The tensor that they take from now on.
      t1: The tensor that they took.
      can_modify: The operations that may be changed; all if None.

    Returns:
      The number of inputs that were changed.
    """
    allowed = None if can_modify is None else set(can_modify)
    consumers = [op for op in dict.fromkeys(t1.consumers()) if allowed is None or op in allowed]
    places = [(op, place) for op in consumers for place, x in enumerate(op.inputs) if x is t1]
    for op, place in places:
        op._update_input(place, t0)
    return len(places)
