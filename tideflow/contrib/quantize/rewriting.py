"""The public functions: fold the batch norms of a graph, then round its weights and activations."""

from __future__ import annotations

import re

from tideflow.contrib.quantize.fused_batch_norms import fold_fused_batch_norms
from tideflow.contrib.quantize.layers import quantize_layers
from tideflow.contrib.quantize.plain_batch_norms import fold_plain_batch_norms
from tideflow.export import export
from tideflow.graph.graph import Graph
from tideflow.graph.scopes import get_default_graph

_OPTIMIZER_UPDATE = re.compile(r"(Resource)?(Sparse)?Apply[A-Z]")


def _rewrite(
    graph: Graph | None,
    is_training: bool,
    weight_bits: int = 8,
    activation_bits: int = 8,
    symmetric: bool = False,
    quant_delay: int | None = None,
    freeze_bn_delay: int | None = None,
    scope: str | None = None,
) -> None:
    graph = graph or get_default_graph()
    updates = {op.type for op in graph.get_operations() if _OPTIMIZER_UPDATE.match(op.type)}
    if updates:
        raise ValueError(
            f"Training op found in graph, exiting {updates}: rewrite it before an optimizer adds to it"
        )
    with graph.as_default():
        fold_fused_batch_norms(graph, freeze_bn_delay)
        fold_plain_batch_norms(graph, is_training, freeze_bn_delay)
        quantize_layers(
            graph,
            is_training,
            weight_bits=weight_bits,
            activation_bits=activation_bits,
            symmetric=symmetric,
            delay=quant_delay,
            scope=scope,
        )


@export("contrib.quantize.create_training_graph")
def create_training_graph(input_graph: Graph | None = None, quant_delay: int = 0) -> None:
    """Rewrites a graph for training in place: it trains as if it computed with eight bits.

    Batch norms are folded into the weights of their layers, and FakeQuant operations round weights and
    activations. Call it before gradients are made.

    Args:
      input_graph: The graph; the default graph if None.
      quant_delay: The number of steps after which values are rounded. Until then the ranges of weights and
        activations are learned.

    Raises:
      ValueError: If the graph has updates of an optimizer already.
    """
    _rewrite(input_graph, is_training=True, quant_delay=quant_delay)


@export("contrib.quantize.create_eval_graph")
def create_eval_graph(input_graph: Graph | None = None) -> None:
    """Rewrites a graph for evaluation in place: it computes as if it had eight bits.

    Args:
      input_graph: The graph; the default graph if None.

    Raises:
      ValueError: If the graph has updates of an optimizer.
    """
    _rewrite(input_graph, is_training=False)


@export("contrib.quantize.experimental_create_training_graph")
def experimental_create_training_graph(
    input_graph: Graph | None = None,
    weight_bits: int = 8,
    activation_bits: int = 8,
    symmetric: bool = False,
    quant_delay: int = 0,
    freeze_bn_delay: int | None = None,
    scope: str | None = None,
) -> None:
    """`create_training_graph` with more choices.

    Args:
      input_graph: The graph; the default graph if None.
      weight_bits: The number of bits of a weight.
      activation_bits: The number of bits of an activation.
      symmetric: Whether ranges have zero in their middle.
      quant_delay: The number of steps after which values are rounded.
      freeze_bn_delay: The number of steps after which batch norms use their moving averages and keep them;
        None for never.
      scope: A name scope: layers outside of it are not rounded.

    Raises:
      ValueError: If the graph has updates of an optimizer already.
    """
    _rewrite(input_graph, True, weight_bits, activation_bits, symmetric, quant_delay, freeze_bn_delay, scope)


@export("contrib.quantize.experimental_create_eval_graph")
def experimental_create_eval_graph(
    input_graph: Graph | None = None,
    weight_bits: int = 8,
    activation_bits: int = 8,
    symmetric: bool = False,
    quant_delay: int | None = None,
    scope: str | None = None,
) -> None:
    """`create_eval_graph` with more choices.

    Args:
      input_graph: The graph; the default graph if None.
      weight_bits: The number of bits of a weight.
      activation_bits: The number of bits of an activation.
      symmetric: Whether ranges have zero in their middle.
      quant_delay: The number of steps after which values are rounded.
      scope: A name scope: layers outside of it are not rounded.

    Raises:
      ValueError: If the graph has updates of an optimizer.
    """
    _rewrite(input_graph, False, weight_bits, activation_bits, symmetric, quant_delay, None, scope)
