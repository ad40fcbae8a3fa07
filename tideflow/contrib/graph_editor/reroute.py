"""Edges moved: operations get their values from other tensors, or wait for other operations."""

from __future__ import annotations

from typing import Any

from tideflow.contrib.graph_editor.subgraph import SubGraphView, make_view
from tideflow.contrib.graph_editor.util import (
    check_graphs,
    get_consuming_ops,
    make_list_of_op,
    make_list_of_t,
)
from tideflow.export import export
from tideflow.graph.operation import Operation, Tensor


def _check_compatible(ts0: list[Tensor], ts1: list[Tensor]) -> None:
    if len(ts0) != len(ts1):
        raise ValueError(f"ts0 and ts1 have different sizes: {len(ts0)} != {len(ts1)}")
    for t0, t1 in zip(ts0, ts1):
        if not t0.dtype.is_compatible_with(t1.dtype):
            raise ValueError(f"Dtypes {t0.dtype} and {t1.dtype} are not compatible.")
        if not t0.shape.is_compatible_with(t1.shape):
            raise ValueError(f"Shapes {t0.shape} and {t1.shape} are not compatible.")


def _reroute_ts(
    given0: Any, given1: Any, swap: bool, can_modify: Any = None, cannot_modify: Any = None
) -> int:
    """Lets what takes a tensor of the second list take that of the first; with `swap` also the reverse."""
    ts0, ts1 = make_list_of_t(given0), make_list_of_t(given1)
    _check_compatible(ts0, ts1)
    allowed = None if can_modify is None else set(make_list_of_op(can_modify))
    forbidden = set() if cannot_modify is None else set(make_list_of_op(cannot_modify))
    moves = []  # collected before the first edge moves: a tensor may be in several pairs
    for t0, t1 in zip(ts0, ts1):
        if t0 is not t1:
            moves += [(op, t1, t0) for op in dict.fromkeys(t1.consumers())]
            moves += [(op, t0, t1) for op in dict.fromkeys(t0.consumers())] if swap else []
    inputs = [
        (op, i, new)
        for op, old, new in moves
        if op not in forbidden and (allowed is None or op in allowed)
        for i, tensor in enumerate(op.inputs)
        if tensor is old
    ]
    for op, i, new in inputs:
        op._update_input(i, new)
    return len(inputs)


@export("contrib.graph_editor.swap_ts", "contrib.graph_editor.reroute.swap_ts")
def swap_ts(ts0: Any, ts1: Any, can_modify: Any = None, cannot_modify: Any = None) -> int:
    """Lets what takes the first values take the second, and the reverse.

    Args:
      ts0: One `tf.Tensor`, or several.
      ts1: As many, of compatible types and shapes.
      can_modify: The operations whose inputs may change; None for all.
      cannot_modify: Operations whose inputs stay.

    Returns:
      How many inputs have changed.

    Raises:
      TypeError: If an argument has something else in it.
      ValueError: If the two do not go together.
    """
    return _reroute_ts(ts0, ts1, True, can_modify, cannot_modify)


@export("contrib.graph_editor.reroute_ts", "contrib.graph_editor.reroute.reroute_ts")
def reroute_ts(ts0: Any, ts1: Any, can_modify: Any = None, cannot_modify: Any = None) -> int:
    """Lets what takes the second values take the first.

    Args:
      ts0: One `tf.Tensor`, or several.
      ts1: As many, of compatible types and shapes.
      can_modify: The operations whose inputs may change; None for all.
      cannot_modify: Operations whose inputs stay.

    Returns:
      How many inputs have changed.

    Raises:
      TypeError: If an argument has something else in it.
      ValueError: If the two do not go together.
    """
    return _reroute_ts(ts0, ts1, False, can_modify, cannot_modify)


def _views(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    view0, view1 = make_view(sgv0), make_view(sgv1)
    check_graphs(view0, view1)
    return view0, view1


def _follow_inputs(view0: SubGraphView, view1: SubGraphView, swap: bool) -> None:
    """Brings two views up to date after the inputs of the first became those of the second."""
    before0, before1 = view0.copy(), view1.copy()
    view1._input_ts, view1._passthrough_ts = list(before0._input_ts), list(before0._passthrough_ts)
    if swap:
        view0._input_ts, view0._passthrough_ts = list(before1._input_ts), list(before1._passthrough_ts)
    _follow_passthroughs(view0, view1)
    if swap:
        _follow_passthroughs(view1, view0)


def _follow_passthroughs(source: SubGraphView, view: SubGraphView) -> None:
    """An output that passes through `source` is, in `view`, the input in the same place."""
    view._output_ts = [
        view._input_ts[source._input_ts.index(t)] if t in source._passthrough_ts else t
        for t in view._output_ts
    ]


def _reroute_inputs(sgv0: Any, sgv1: Any, swap: bool) -> tuple[SubGraphView, SubGraphView]:
    view0, view1 = _views(sgv0, sgv1)
    own = [*view0.ops, *view1.ops]
    passing = [*get_consuming_ops(view0.passthroughs), *get_consuming_ops(view1.passthroughs)]
    _reroute_ts(view0.inputs, view1.inputs, swap, can_modify=own + passing)
    _follow_inputs(view0, view1, swap)
    return view0, view1


def _reroute_outputs(sgv0: Any, sgv1: Any, swap: bool) -> tuple[SubGraphView, SubGraphView]:
    view0, view1 = _views(sgv0, sgv1)
    _reroute_ts(view0.outputs, view1.outputs, swap, cannot_modify=[*view0.ops, *view1.ops])
    return view0, view1


def _reroute_both(sgv0: Any, sgv1: Any, swap: bool) -> tuple[SubGraphView, SubGraphView]:
    view0, view1 = _views(sgv0, sgv1)
    _reroute_outputs(view0, view1, swap)
    return _reroute_inputs(view0, view1, swap)


@export("contrib.graph_editor.swap_inputs", "contrib.graph_editor.reroute.swap_inputs")
def swap_inputs(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    """Gives each of two parts of a graph the inputs of the other.

    Args:
      sgv0: A view, or what `make_view` makes one of.
      sgv1: The other.

    Returns:
      The two views, brought up to date.

    Raises:
      ValueError: If the inputs do not go together, or the views are of two graphs.
    """
    return _reroute_inputs(sgv0, sgv1, swap=True)


@export("contrib.graph_editor.reroute_inputs", "contrib.graph_editor.reroute.reroute_inputs")
def reroute_inputs(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    """Gives a part of a graph the inputs of another one.

    Args:
      sgv0: The part whose inputs are taken: a view, or what `make_view` makes one of.
      sgv1: The part that gets them.

    Returns:
      The two views, brought up to date.

    Raises:
      ValueError: If the inputs do not go together, or the views are of two graphs.
    """
    return _reroute_inputs(sgv0, sgv1, swap=False)


@export("contrib.graph_editor.swap_outputs", "contrib.graph_editor.reroute.swap_outputs")
def swap_outputs(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    """Gives what takes the outputs of each of two parts of a graph those of the other.

    Args:
      sgv0: A view, or what `make_view` makes one of.
      sgv1: The other.

    Returns:
      The two views.

    Raises:
      ValueError: If the outputs do not go together, or the views are of two graphs.
    """
    return _reroute_outputs(sgv0, sgv1, swap=True)


@export("contrib.graph_editor.reroute_outputs", "contrib.graph_editor.reroute.reroute_outputs")
def reroute_outputs(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    """Gives what takes the outputs of a part of a graph those of another one.

    Args:
      sgv0: The part whose outputs are taken from now on: a view, or what `make_view` makes one of.
      sgv1: The part whose outputs were taken.

    Returns:
      The two views.

    Raises:
      ValueError: If the outputs do not go together, or the views are of two graphs.
    """
    return _reroute_outputs(sgv0, sgv1, swap=False)


@export("contrib.graph_editor.swap_ios", "contrib.graph_editor.reroute.swap_ios")
def swap_ios(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    """Puts each of two parts of a graph in the place of the other: `swap_outputs`, then `swap_inputs`.

    Args:
      sgv0: A view, or what `make_view` makes one of.
      sgv1: The other.

    Returns:
      The two views, brought up to date.

    Raises:
      ValueError: If inputs or outputs do not go together, or the views are of two graphs.
    """
    return _reroute_both(sgv0, sgv1, swap=True)


@export("contrib.graph_editor.reroute_ios", "contrib.graph_editor.reroute.reroute_ios")
def reroute_ios(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    """Gives a part of a graph the inputs of another, whose outputs take the place of its own.

    Args:
      sgv0: A view, or what `make_view` makes one of.
      sgv1: The other.

    Returns:
      The two views, brought up to date.

    Raises:
      ValueError: If inputs or outputs do not go together, or the views are of two graphs.
    """
    return _reroute_both(sgv0, sgv1, swap=False)


def _control_ops(op: Any, cops: Any) -> list[Operation]:
    if not isinstance(op, Operation):
        raise TypeError(f"Expected a tf.Operation, got: {type(op)}")
    return make_list_of_op(cops, allow_graph=False)


@export("contrib.graph_editor.remove_control_inputs", "contrib.graph_editor.reroute.remove_control_inputs")
def remove_control_inputs(op: Operation, cops: Any) -> None:
    """Lets an operation no longer wait for others.

    Args:
      op: The operation.
      cops: The operations for which it need not wait: one, or several.

    Raises:
      TypeError: If `op` is no operation, or `cops` has something else in it.
      ValueError: If one of `cops` is no control input of `op`.
    """
    removed = _control_ops(op, cops)
    for control in removed:
        if control not in op.control_inputs:
            raise ValueError(f"{control.name} is not a control_input of {op.name}")
    kept = [control for control in op.control_inputs if control not in removed]
    op._remove_all_control_inputs()
    op._add_control_inputs(kept)


@export("contrib.graph_editor.add_control_inputs", "contrib.graph_editor.reroute.add_control_inputs")
def add_control_inputs(op: Operation, cops: Any) -> None:
    """Lets an operation wait for others.

    Args:
      op: The operation.
      cops: The operations for which it waits: one, or several.

    Raises:
      TypeError: If `op` is no operation, or `cops` has something else in it.
      ValueError: If one of `cops` is a control input of `op` already.
    """
    added = _control_ops(op, cops)
    for control in added:
        if control in op.control_inputs:
            raise ValueError(f"{control.name} is already a control_input of {op.name}")
    op._add_control_inputs(added)
