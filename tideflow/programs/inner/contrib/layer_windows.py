"""Inner names of `tf.contrib.receptive_field`: what one node of a graph sees of its input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tideflow.contrib.receptive_field import _windows


def parse_graph_nodes(graph_def: Any) -> dict[str, Any]:
    """The nodes of a GraphDef by name."""
    return {node.name: node for node in graph_def.node}


def get_layer_params(
    node: Any,
    name_to_node: dict[str, Any],
    input_resolution: Sequence[int] | None = None,
    force: bool = False,
) -> tuple[int | None, ...]:
    """A layer's kernel, stride, padding before the first element and whole padding, each along x and y.

    Args:
      node: The NodeDef.
      name_to_node: All nodes of its graph, by name.
      input_resolution: The number of rows and of columns that come in, where padding depends on it.
      force: Whether all are None for a layer that is not known.

    Raises:
      ValueError: If the layer is not known, or not as it must be.
    """
    x, y = _windows(node, name_to_node, input_resolution, unknown_is_fine=force)
    return tuple(size for pair in zip(x, y, strict=True) for size in pair)
