"""Models as pictures, by pydot and Graphviz."""

from __future__ import annotations

import os
import sys
from typing import Any

from tideflow.export import export
from tideflow.keras.engine.network import Network
from tideflow.keras.layers.wrappers import Wrapper

_MISSING = "Failed to import pydot. You must install pydot and graphviz for `pydotprint` to work."


def _pydot() -> Any:
    """The package, if it is there and Graphviz with it."""
    for name in ("pydot_ng", "pydotplus", "pydot"):
        try:
            found = __import__(name)  # loaded when asked for
        except ImportError:
            continue
        try:
            found.Dot.create(found.Dot())
        except OSError:
            return None
        return found
    return None


def _shape_text(layer: Any, attribute: str) -> str:
    try:
        return str(getattr(layer, attribute)).replace("None", "?")
    except (AttributeError, RuntimeError):
        return "?"


def _label(layer: Any, expand_nested: bool, show_layer_names: bool, show_shapes: bool) -> str:
    name, kind = layer.name, type(layer).__name__
    if isinstance(layer, Wrapper) and not (expand_nested and isinstance(layer.layer, Network)):
        name, kind = f"{name}({layer.layer.name})", f"{kind}({type(layer.layer).__name__})"
    label = f"{name}: {kind}" if show_layer_names else kind
    if not show_shapes:
        return label
    shapes = [_shape_text(layer, attribute) for attribute in ("input_shape", "output_shape")]
    return f"{label}\n|{{input:|output:}}|{{{{{shapes[0]}}}|{{{shapes[1]}}}}}"


@export("keras.utils.model_to_dot")
def model_to_dot(
    model: Any,
    show_shapes: bool = False,
    show_layer_names: bool = True,
    rankdir: str = "TB",
    expand_nested: bool = False,
    dpi: int = 96,
    subgraph: bool = False,
) -> Any:
    """Converts a model to a graph of pydot: a node for each layer, an edge from each to those that it feeds.

    Args:
      model: The model.
      show_shapes: Whether nodes show the shapes of inputs and outputs.
      show_layer_names: Whether nodes show the names of layers.
      rankdir: `"TB"` for a picture from top to bottom, `"LR"` for one from left to right.
      expand_nested: Whether models inside the model show their layers.
      dpi: The dots per inch of the picture.
      subgraph: Whether a cluster is made, which a larger graph can hold.

    Returns:
      A `pydot.Dot`, or a `pydot.Cluster`.

    Raises:
      ImportError: If pydot or Graphviz is not there.
    """
    pydot = _pydot()
    if pydot is None:
        if "IPython.core.magics.namespace" in sys.modules:  # a notebook goes on
            print(_MISSING)
            return None
        raise ImportError(_MISSING)
    if subgraph:
        dot = pydot.Cluster(style="dashed", graph_name=model.name)
        dot.set("label", model.name)
        dot.set("labeljust", "l")
    else:
        dot = pydot.Dot()
        dot.set("rankdir", rankdir)
        dot.set("concentrate", True)
        dot.set("dpi", dpi)
        dot.set_node_defaults(shape="record")
    if type(model).__name__ == "Sequential" and not model.built:
        model.build()
    if not model._is_graph_network:
        dot.add_node(pydot.Node(str(id(model)), label=model.name))
        return dot
    layers = list(model._inner_layers())
    ends: dict[int, tuple[str, str]] = {}  # where edges to a layer arrive, and where those from it begin
    for layer in layers:
        own = str(id(layer))
        ends[id(layer)] = own, own
        wrapped = isinstance(layer, Wrapper) and isinstance(layer.layer, Network)
        nested = layer if isinstance(layer, Network) else layer.layer if wrapped else None
        if expand_nested and nested is not None:
            inner = model_to_dot(nested, show_shapes, show_layer_names, rankdir, expand_nested, subgraph=True)
            first, *_, last = inner.get_nodes() if len(inner.get_nodes()) > 1 else inner.get_nodes() * 2
            dot.add_subgraph(inner)
            ends[id(layer)] = (own if wrapped else first.get_name()), last.get_name()
            if wrapped:
                dot.add_edge(pydot.Edge(own, first.get_name()))
        if not (expand_nested and isinstance(layer, Network)):
            dot.add_node(pydot.Node(own, label=_label(layer, expand_nested, show_layer_names, show_shapes)))
    for layer in layers:
        for node in layer._inbound_nodes:
            if node not in model._layer_graph.nodes:
                continue
            for source in node.sources:
                begin, end = ends[id(source.layer)][1], ends[id(layer)][0]
                if not dot.get_edge(begin, end):
                    dot.add_edge(pydot.Edge(begin, end))
    return dot


@export("keras.utils.plot_model")
def plot_model(
    model: Any,
    to_file: str = "model.png",
    show_shapes: bool = False,
    show_layer_names: bool = True,
    rankdir: str = "TB",
    expand_nested: bool = False,
    dpi: int = 96,
) -> Any:
    """Draws a model into a file.

    Args:
      model: The model.
      to_file: The path of the picture, whose format its ending says.
      show_shapes: Whether nodes show the shapes of inputs and outputs.
      show_layer_names: Whether nodes show the names of layers.
      rankdir: `"TB"` for a picture from top to bottom, `"LR"` for one from left to right.
      expand_nested: Whether models inside the model show their layers.
      dpi: The dots per inch of the picture.

    Returns:
      The picture as a notebook shows it, where IPython is there.

    Raises:
      ImportError: If pydot or Graphviz is not there.
    """
    dot = model_to_dot(model, show_shapes, show_layer_names, rankdir, expand_nested, dpi)
    if dot is None:
        return None
    dot.write(to_file, format=os.path.splitext(to_file)[1].removeprefix(".") or "png")
    try:
        from IPython import display  # loaded when asked for
    except ImportError:
        return None
    return display.Image(filename=to_file)
