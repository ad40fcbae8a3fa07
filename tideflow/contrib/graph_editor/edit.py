"""Parts of a graph cut off, joined and passed by."""

from __future__ import annotations

from typing import Any

from tideflow.contrib.graph_editor.reroute import (
    remove_control_inputs,
    reroute_inputs,
    reroute_ts,
    swap_inputs,
    swap_outputs,
)
from tideflow.contrib.graph_editor.select import check_cios
from tideflow.contrib.graph_editor.subgraph import SubGraphView, make_view
from tideflow.contrib.graph_editor.util import (
    ControlOutputs,
    check_graphs,
    make_placeholder_from_tensor,
    placeholder_name,
)
from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.ops.arrays.constants import placeholder


@export("contrib.graph_editor.detach_control_inputs", "contrib.graph_editor.edit.detach_control_inputs")
def detach_control_inputs(sgv: Any) -> None:
    """Lets a part of a graph wait for no operation outside of it.

    Args:
      sgv: A view, or what `make_view` makes one of.
    """
    view = make_view(sgv)
    inside = set(view.ops)
    for op in view.ops:
        remove_control_inputs(op, [control for control in op.control_inputs if control not in inside])


@export("contrib.graph_editor.detach_control_outputs", "contrib.graph_editor.edit.detach_control_outputs")
def detach_control_outputs(sgv: Any, control_outputs: ControlOutputs) -> None:
    """Lets no operation outside wait for a part of a graph.

    Args:
      sgv: A view, or what `make_view` makes one of.
      control_outputs: The `ControlOutputs` of the graph.

    Raises:
      TypeError: If `control_outputs` is something else.
    """
    if not isinstance(control_outputs, ControlOutputs):
        raise TypeError(f"Expected a util.ControlOutputs, got: {type(control_outputs)}")
    control_outputs.update()
    view = make_view(sgv)
    inside = set(view.ops)
    for op in view.ops:
        for waiting in control_outputs.get(op):
            if waiting not in inside:
                remove_control_inputs(waiting, op)


@export("contrib.graph_editor.detach_inputs", "contrib.graph_editor.edit.detach_inputs")
def detach_inputs(sgv: Any, control_inputs: bool = False) -> tuple[SubGraphView, list[Tensor]]:
    """Cuts off the inputs of a part of a graph: it takes placeholders instead.

    Args:
      sgv: A view, or what `make_view` makes one of.
      control_inputs: Whether its control inputs are cut off too.

    Returns:
      The view, brought up to date, and a placeholder for each input.
    """
    view = make_view(sgv)
    if not view:
        return view, []
    with view.graph.as_default():
        made = [placeholder(t.dtype, name=placeholder_name(t)) for t in view.inputs]
    swap_inputs(view, made)
    if control_inputs:
        detach_control_inputs(view)
    return view, made


@export("contrib.graph_editor.detach_outputs", "contrib.graph_editor.edit.detach_outputs")
def detach_outputs(
    sgv: Any, control_outputs: ControlOutputs | None = None
) -> tuple[SubGraphView, list[Tensor]]:
    """Cuts off the outputs of a part of a graph: what took them takes placeholders instead.

    Args:
      sgv: A view, or what `make_view` makes one of.
      control_outputs: The `ControlOutputs` of the graph, if what waits for the part shall no longer wait.

    Returns:
      A view with those outputs that somebody takes, and a placeholder for each.
    """
    view = make_view(sgv)
    if not view:
        return view, []
    taken = view.remap_outputs([i for i, t in enumerate(view.outputs) if t.consumers()])
    with view.graph.as_default():
        made = [make_placeholder_from_tensor(t) for t in taken.outputs]
    swap_outputs(taken, made)
    if control_outputs is not None:
        detach_control_outputs(taken, control_outputs)
    return taken, made


@export("contrib.graph_editor.detach", "contrib.graph_editor.edit.detach")
def detach(
    sgv: Any,
    control_inputs: bool = False,
    control_outputs: ControlOutputs | None = None,
    control_ios: ControlOutputs | None = None,
) -> tuple[Any, list[Tensor], list[Tensor]]:
    """Cuts a part of a graph off at both sides.

    Args:
      sgv: A view, or what `make_view` makes one of.
      control_inputs: Whether its control inputs are cut off too.
      control_outputs: The `ControlOutputs` of the graph, if its control outputs are cut off too.
      control_ios: The `ControlOutputs` of the graph, if both are.

    Returns:
      `sgv`, a placeholder for each input, and a placeholder for each output that somebody took.
    """
    before, after = check_cios(control_inputs, control_outputs, control_ios)
    _, inputs = detach_inputs(sgv, before)
    _, outputs = detach_outputs(sgv, after)
    return sgv, inputs, outputs


@export("contrib.graph_editor.connect", "contrib.graph_editor.edit.connect")
def connect(sgv0: Any, sgv1: Any, disconnect_first: bool = False) -> tuple[SubGraphView, SubGraphView]:
    """Makes the outputs of a part of a graph the inputs of another.

    Args:
      sgv0: The part with the outputs: a view, or what `make_view` makes one of.
      sgv1: The part with the inputs.
      disconnect_first: Whether what took the outputs so far gets placeholders instead.

    Returns:
      The two views.

    Raises:
      ValueError: If outputs and inputs do not go together, or the views are of two graphs.
    """
    view0, view1 = make_view(sgv0), make_view(sgv1)
    check_graphs(view0, view1)
    if disconnect_first:
        detach_outputs(view0)
    reroute_inputs(SubGraphView(passthrough_ts=view0.outputs), view1)
    return view0, view1


@export("contrib.graph_editor.bypass", "contrib.graph_editor.edit.bypass")
def bypass(sgv: Any) -> tuple[SubGraphView, list[Tensor]]:
    """Takes a part of a graph out of the way: what took its outputs takes its inputs.

    Args:
      sgv: A view, or what `make_view` makes one of. It must have as many inputs as outputs.

    Returns:
      The view, and the placeholders that it takes instead of its inputs.

    Raises:
      ValueError: If inputs and outputs do not go together.
    """
    view = make_view(sgv)
    inputs = list(view.inputs)
    view, placeholders = detach_inputs(view)
    reroute_ts(inputs, view.outputs)
    return view, placeholders
