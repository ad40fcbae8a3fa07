"""Operations and tensors found by name, by their neighbours, and by walks along the edges."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from tideflow.contrib.graph_editor.util import (
    ControlOutputs,
    get_consuming_ops,
    get_generating_ops,
    is_iterable,
    make_list_of_op,
    make_list_of_t,
    unique,
)
from tideflow.export import export
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Tensor

if TYPE_CHECKING:
    from typing import TypeAlias

Neighbours: TypeAlias = "Callable[[Operation], Iterable[Operation]]"


@export("contrib.graph_editor.can_be_regex", "contrib.graph_editor.select.can_be_regex")
def can_be_regex(obj: Any) -> bool:
    """Whether a value is a regular expression, compiled or as a string.

    Args:
      obj: Any value.

    Returns:
      True or False.
    """
    return isinstance(obj, (str, re.Pattern))


@export("contrib.graph_editor.make_regex", "contrib.graph_editor.select.make_regex")
def make_regex(obj: str | re.Pattern[str]) -> re.Pattern[str]:
    """Compiles a regular expression, unless it is compiled.

    Args:
      obj: The expression.

    Returns:
      The compiled expression.

    Raises:
      ValueError: If `obj` is neither a string nor a compiled expression.
    """
    if not can_be_regex(obj):
        raise ValueError(f"Expected a string or a regex, got: {type(obj)}")
    return re.compile(obj)


def _inputs_of(ops: Iterable[Operation]) -> list[Tensor]:
    return unique(*(op.inputs for op in ops))


def _outputs_of(ops: Iterable[Operation]) -> list[Tensor]:
    return [tensor for op in ops for tensor in op.outputs]


@export("contrib.graph_editor.filter_ts", "contrib.graph_editor.select.filter_ts")
def filter_ts(ops: Any, positive_filter: Callable[[Tensor], Any] | bool) -> list[Tensor]:
    """Lists those tensors at some operations that a function accepts.

    Args:
      ops: Operations, or a graph.
      positive_filter: A function of a tensor; True for all.

    Returns:
      The inputs, then the outputs of the operations.
    """
    listed = make_list_of_op(ops)
    found = unique(_inputs_of(listed), _outputs_of(listed))
    return found if positive_filter is True else [tensor for tensor in found if positive_filter(tensor)]


@export("contrib.graph_editor.filter_ts_from_regex", "contrib.graph_editor.select.filter_ts_from_regex")
def filter_ts_from_regex(ops: Any, regex: str | re.Pattern[str]) -> list[Tensor]:
    """Lists those tensors at some operations whose names contain a match.

    Args:
      ops: Operations, or a graph.
      regex: The regular expression.

    Returns:
      The inputs, then the outputs of the operations.
    """
    expression = make_regex(regex)
    return filter_ts(ops, lambda tensor: expression.search(tensor.name))


@export("contrib.graph_editor.filter_ops", "contrib.graph_editor.select.filter_ops")
def filter_ops(ops: Any, positive_filter: Callable[[Operation], Any] | bool) -> list[Operation]:
    """Lists those operations that a function accepts.

    Args:
      ops: Operations, or a graph.
      positive_filter: A function of an operation; True for all.

    Returns:
      The operations.
    """
    listed = make_list_of_op(ops)
    return listed if positive_filter is True else [op for op in listed if positive_filter(op)]


@export("contrib.graph_editor.filter_ops_from_regex", "contrib.graph_editor.select.filter_ops_from_regex")
def filter_ops_from_regex(ops: Any, regex: str | re.Pattern[str]) -> list[Operation]:
    """Lists those operations whose names contain a match.

    Args:
      ops: Operations, or a graph.
      regex: The regular expression.

    Returns:
      The operations.
    """
    expression = make_regex(regex)
    return filter_ops(ops, lambda op: expression.search(op.name))


@export("contrib.graph_editor.get_name_scope_ops", "contrib.graph_editor.select.get_name_scope_ops")
def get_name_scope_ops(ops: Any, scope: str) -> list[Operation]:
    """Lists those operations that stand in a name scope.

    Args:
      ops: Operations, or a graph.
      scope: The name of the scope; a slash at its end makes no difference.

    Returns:
      The operations.
    """
    return filter_ops_from_regex(ops, rf"^{scope.removesuffix('/')}(/.*)?$")


@export("contrib.graph_editor.check_cios", "contrib.graph_editor.select.check_cios")
def check_cios(
    control_inputs: bool = False,
    control_outputs: ControlOutputs | None = None,
    control_ios: ControlOutputs | None = None,
) -> tuple[bool, ControlOutputs | None]:
    """Checks the arguments that say whether control edges count, and brings control outputs up to date.

    Args:
      control_inputs: Whether control inputs count.
      control_outputs: A `ControlOutputs`, if control outputs count.
      control_ios: A `ControlOutputs`, if both count.

    Returns:
      Whether control inputs count, and the control outputs or None.

    Raises:
      TypeError: If an argument has another type.
      ValueError: If both control outputs and `control_ios` are given.
    """
    if control_ios is not None and control_outputs is not None:
        raise ValueError("control_outputs should be None when using control_ios.")
    outputs = control_outputs if control_ios is None else control_ios
    if outputs is not None:
        if not isinstance(outputs, ControlOutputs):
            raise TypeError(f"Expected a util.ControlOutputs, got: {type(outputs)}")
        outputs.update()
    return control_inputs or control_ios is not None, outputs


@export("contrib.graph_editor.get_ops_ios", "contrib.graph_editor.select.get_ops_ios")
def get_ops_ios(
    ops: Any,
    control_inputs: bool = False,
    control_outputs: ControlOutputs | None = None,
    control_ios: ControlOutputs | None = None,
) -> list[Operation]:
    """Lists the neighbours of some operations: what they take values from, and what takes theirs.

    Args:
      ops: Operations, or a graph.
      control_inputs: Whether control inputs count.
      control_outputs: A `ControlOutputs`, if control outputs count.
      control_ios: A `ControlOutputs`, if both count.

    Returns:
      The neighbours, each once.
    """
    before, after = check_cios(control_inputs, control_outputs, control_ios)
    backward, forward = _sources(before), _consumers(after)
    return unique(*((*backward(op), *forward(op)) for op in make_list_of_op(ops)))


def _sources(control_inputs: bool, stops: frozenset[Tensor] = frozenset()) -> Neighbours:
    def sources(op: Operation) -> list[Operation]:
        found = [tensor.op for tensor in op.inputs if tensor not in stops]
        return found + op.control_inputs if control_inputs else found

    return sources


def _consumers(control_outputs: ControlOutputs | None, stops: frozenset[Tensor] = frozenset()) -> Neighbours:
    def consumers(op: Operation) -> list[Operation]:
        found = [other for tensor in op.outputs if tensor not in stops for other in tensor.consumers()]
        return found if control_outputs is None else [*found, *control_outputs.get(op)]

    return consumers


@export("contrib.graph_editor.compute_boundary_ts", "contrib.graph_editor.select.compute_boundary_ts")
def compute_boundary_ts(ops: Any) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    """Finds where the values of a group of operations come in, go out, and pass between them.

    Args:
      ops: Operations, or a graph.

    Returns:
      Three lists of tensors: inputs from outside, outputs that somebody outside takes or nobody takes, and
      tensors from one operation of the group to another. One of the last that is also taken outside is an
      output as well.
    """
    listed = make_list_of_op(ops)
    inputs, outputs = _inputs_of(listed), _outputs_of(listed)
    made, group = set(outputs), set(listed)
    inside = [tensor for tensor in inputs if tensor in made]
    hidden = {tensor for tensor in inside if group.issuperset(tensor.consumers())}
    from_outside = [tensor for tensor in inputs if tensor not in made]
    return from_outside, [tensor for tensor in outputs if tensor not in hidden], inside


@export("contrib.graph_editor.get_within_boundary_ops", "contrib.graph_editor.select.get_within_boundary_ops")
def get_within_boundary_ops(
    ops: Any,
    seed_ops: Any,
    boundary_ops: Any = (),
    inclusive: bool = True,
    control_inputs: bool = False,
    control_outputs: ControlOutputs | None = None,
    control_ios: ControlOutputs | None = None,
) -> list[Operation]:
    """Lists the operations that are connected with some others without crossing a boundary.

    Args:
      ops: The operations, or the graph, to choose from.
      seed_ops: The operations to begin with.
      boundary_ops: The operations of the boundary.
      inclusive: Whether those of the boundary that are reached belong to the result.
      control_inputs: Whether control inputs connect.
      control_outputs: A `ControlOutputs`, if control outputs connect.
      control_ios: A `ControlOutputs`, if both do.

    Returns:
      The operations, in the order of `ops`.

    Raises:
      ValueError: If a seed belongs to the boundary.
    """
    before, after = check_cios(control_inputs, control_outputs, control_ios)
    seeds = make_list_of_op(seed_ops, allow_graph=False)
    boundary = set(make_list_of_op(boundary_ops))
    if not boundary.isdisjoint(seeds):
        raise ValueError("Boundary is intersecting with the seeds.")
    backward, forward = _sources(before), _consumers(after)
    reached = _walk(
        seeds, lambda op: () if op in boundary else (*backward(op), *forward(op)), lambda op: True
    )
    return [op for op in make_list_of_op(ops) if op in reached and (inclusive or op not in boundary)]


def _walk(
    seeds: Iterable[Operation], neighbours: Neighbours, accepted: Callable[[Operation], bool]
) -> dict[Operation, None]:
    """What is reached from the seeds over accepted operations, the nearest first, as the keys of a
    dictionary.
    """
    reached = dict.fromkeys(seeds)
    wave = list(reached)
    while wave:
        found = {other: None for op in wave for other in neighbours(op) if other not in reached}
        wave = [op for op in found if accepted(op)]
        reached.update(dict.fromkeys(wave))
    return reached


def _walk_from(
    seeds: Any,
    at_tensors: Callable[[Any], list[Operation]],
    neighbours: Neighbours,
    inclusive: bool,
    within_ops: Any,
    within_ops_fn: Callable[[Operation], Any] | None,
) -> list[Operation]:
    given = list(seeds) if is_iterable(seeds) else [seeds]
    if not given:
        return []
    if isinstance(given[0], Tensor):
        given = at_tensors(given)
    begin = make_list_of_op(given, allow_graph=False)
    within = set(make_list_of_op(within_ops, allow_graph=False)) if within_ops else None

    def accepted(op: Operation) -> bool:
        return (within is None or op in within) and (within_ops_fn is None or bool(within_ops_fn(op)))

    begin = [op for op in begin if within is None or op in within]
    reached = _walk(begin, neighbours, accepted)
    return [op for op in reached if inclusive or op not in begin]


@export("contrib.graph_editor.get_forward_walk_ops", "contrib.graph_editor.select.get_forward_walk_ops")
def get_forward_walk_ops(
    seed_ops: Any,
    inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Callable[[Operation], Any] | None = None,
    stop_at_ts: Any = (),
    control_outputs: ControlOutputs | None = None,
) -> list[Operation]:
    """Lists the operations that depend on some others.

    Args:
      seed_ops: The operations to begin with; for tensors, the operations that take them.
      inclusive: Whether those belong to the result.
      within_ops: Operations that the walk does not leave.
      within_ops_fn: A function that says whether the walk may enter an operation.
      stop_at_ts: Where the walk ends: one `tf.Tensor`, or several.
      control_outputs: A `ControlOutputs`, if the walk goes along control edges too.

    Returns:
      The operations, the nearest first.

    Raises:
      TypeError: If `seed_ops` or `within_ops` has something else in it.
    """
    _, after = check_cios(False, control_outputs)
    neighbours = _consumers(after, frozenset(make_list_of_t(stop_at_ts)))
    return _walk_from(seed_ops, get_consuming_ops, neighbours, inclusive, within_ops, within_ops_fn)


@export("contrib.graph_editor.get_backward_walk_ops", "contrib.graph_editor.select.get_backward_walk_ops")
def get_backward_walk_ops(
    seed_ops: Any,
    inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Callable[[Operation], Any] | None = None,
    stop_at_ts: Any = (),
    control_inputs: bool = False,
) -> list[Operation]:
    """Lists the operations on which some others depend.

    Args:
      seed_ops: The operations to begin with; for tensors, the operations that compute them.
      inclusive: Whether those belong to the result.
      within_ops: Operations that the walk does not leave.
      within_ops_fn: A function that says whether the walk may enter an operation.
      stop_at_ts: Where the walk ends: one `tf.Tensor`, or several.
      control_inputs: Whether the walk goes along control edges too.

    Returns:
      The operations, the nearest first.

    Raises:
      TypeError: If `seed_ops` or `within_ops` has something else in it.
    """
    neighbours = _sources(control_inputs, frozenset(make_list_of_t(stop_at_ts)))
    return _walk_from(seed_ops, get_generating_ops, neighbours, inclusive, within_ops, within_ops_fn)


@export(
    "contrib.graph_editor.get_walks_intersection_ops",
    "contrib.graph_editor.select.get_walks_intersection_ops",
)
def get_walks_intersection_ops(
    forward_seed_ops: Any,
    backward_seed_ops: Any,
    forward_inclusive: bool = True,
    backward_inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Callable[[Operation], Any] | None = None,
    control_inputs: bool = False,
    control_outputs: ControlOutputs | None = None,
    control_ios: ControlOutputs | None = None,
) -> list[Operation]:
    """Lists the operations on the ways from some operations to others.

    Args:
      forward_seed_ops: Where the ways begin: operations, or tensors for those that take them.
      backward_seed_ops: Where they end: operations, or tensors for those that compute them.
      forward_inclusive: Whether the operations at the beginning count.
      backward_inclusive: Whether those at the end do.
      within_ops: Operations that the walks do not leave.
      within_ops_fn: A function that says whether a walk may enter an operation.
      control_inputs: Whether the walk backward goes along control edges too.
      control_outputs: A `ControlOutputs`, if the walk forward does.
      control_ios: A `ControlOutputs`, if both do.

    Returns:
      The operations that both walks reach, in the order of the walk forward.
    """
    before, after = check_cios(control_inputs, control_outputs, control_ios)
    forward = get_forward_walk_ops(
        forward_seed_ops, forward_inclusive, within_ops, within_ops_fn, control_outputs=after
    )
    backward = get_backward_walk_ops(
        backward_seed_ops, backward_inclusive, within_ops, within_ops_fn, control_inputs=before
    )
    reached = set(backward)
    return [op for op in forward if op in reached]


@export("contrib.graph_editor.get_walks_union_ops", "contrib.graph_editor.select.get_walks_union_ops")
def get_walks_union_ops(
    forward_seed_ops: Any,
    backward_seed_ops: Any,
    forward_inclusive: bool = True,
    backward_inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Callable[[Operation], Any] | None = None,
    control_inputs: bool = False,
    control_outputs: ControlOutputs | None = None,
    control_ios: ControlOutputs | None = None,
) -> list[Operation]:
    """Lists the operations that depend on some operations, and those on which others depend.

    Args:
      forward_seed_ops: Where the walk forward begins: operations, or tensors for those that take them.
      backward_seed_ops: Where the walk backward begins: operations, or tensors for those that compute them.
      forward_inclusive: Whether the first ones count.
      backward_inclusive: Whether the others do.
      within_ops: Operations that the walks do not leave.
      within_ops_fn: A function that says whether a walk may enter an operation.
      control_inputs: Whether the walk backward goes along control edges too.
      control_outputs: A `ControlOutputs`, if the walk forward does.
      control_ios: A `ControlOutputs`, if both do.

    Returns:
      The operations of the walk forward, then those that only the walk backward reaches.
    """
    before, after = check_cios(control_inputs, control_outputs, control_ios)
    return unique(
        get_forward_walk_ops(
            forward_seed_ops, forward_inclusive, within_ops, within_ops_fn, control_outputs=after
        ),
        get_backward_walk_ops(
            backward_seed_ops, backward_inclusive, within_ops, within_ops_fn, control_inputs=before
        ),
    )


def _selected(
    args: tuple[Any, ...],
    keywords: dict[str, Any],
    mark: str,
    others: str,
    by_name: Callable[[Graph, re.Pattern[str]], list[Any]],
    listed: Callable[[Any], list[Any]],
) -> list[Any]:
    """What the arguments name. A regular expression that begins with the comment `others` is not for these
    elements; one without `mark` neither, where `restrict_<mark>_regex` is set.
    """
    allowed = {"graph", "positive_filter", "restrict_ops_regex", "restrict_ts_regex"}
    for key in keywords:
        if key not in allowed:
            raise ValueError(f"Wrong keywords argument: {key}.")
    graph, accepted = keywords.get("graph"), keywords.get("positive_filter")
    if graph is not None and not isinstance(graph, Graph):
        raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")
    found: dict[Any, None] = {}
    for arg in args:
        if can_be_regex(arg):
            if graph is None:
                raise ValueError("Use the keyword argument 'graph' to use regex.")
            regex = make_regex(arg)
            is_marked = regex.pattern.startswith(f"(?#{mark})")
            if regex.pattern.startswith(f"(?#{others})"):
                continue
            if keywords.get(f"restrict_{mark}_regex") and not is_marked:
                continue
            elements = by_name(graph, regex)
        else:
            elements = listed(arg)
        found.update((e, None) for e in elements if accepted is None or accepted(e))
    return list(found)


@export("contrib.graph_editor.select_ops", "contrib.graph_editor.select.select_ops")
def select_ops(*args: Any, **kwargs: Any) -> list[Operation]:
    """Selects operations.

    Args:
      *args: Operations, lists of them, graphs, or regular expressions for their names. An expression that
        begins with `(?#ts)` is for tensors and selects none.
      **kwargs: `graph`, in which expressions search; `positive_filter`, a function that accepts an operation
        or not; `restrict_ops_regex`, whether only expressions that begin with `(?#ops)` select operations.

    Returns:
      The operations, each once.

    Raises:
      TypeError: If `graph` is no graph, or an argument cannot be used.
      ValueError: If a keyword is unknown, or an expression has no graph to search in.
    """
    return _selected(
        args, kwargs, "ops", "ts", filter_ops_from_regex, lambda arg: make_list_of_op(arg, ignore_ts=True)
    )


@export("contrib.graph_editor.select_ts", "contrib.graph_editor.select.select_ts")
def select_ts(*args: Any, **kwargs: Any) -> list[Tensor]:
    """Selects tensors.

    Args:
      *args: Tensors, lists of them, graphs, or regular expressions for their names. An expression that
        begins with `(?#ops)` is for operations and selects none.
      **kwargs: `graph`, in which expressions search; `positive_filter`, a function that accepts one of
        them or not; `restrict_ts_regex`, whether only expressions that begin with `(?#ts)` select tensors.

    Returns:
      The tensors, each once.

    Raises:
      TypeError: If `graph` is no graph, or an argument cannot be used.
      ValueError: If a keyword is unknown, or an expression has no graph to search in.
    """
    return _selected(
        args, kwargs, "ts", "ops", filter_ts_from_regex, lambda arg: make_list_of_t(arg, ignore_ops=True)
    )


@export("contrib.graph_editor.select_ops_and_ts", "contrib.graph_editor.select.select_ops_and_ts")
def select_ops_and_ts(*args: Any, **kwargs: Any) -> tuple[list[Operation], list[Tensor]]:
    """Selects operations and tensors.

    Args:
      *args: Operations, tensors, lists of them, graphs, or regular expressions for names: of tensors, where
        the expression begins with `(?#ts)`, of operations otherwise.
      **kwargs: `graph`, in which expressions search; `positive_filter`, a function that accepts an element
        or not.

    Returns:
      The operations and the tensors.

    Raises:
      TypeError: If `graph` is no graph, or an argument cannot be used.
      ValueError: If a keyword is unknown, or an expression has no graph to search in.
    """
    return (
        select_ops(*args, restrict_ops_regex=False, **kwargs),
        select_ts(*args, restrict_ts_regex=True, **kwargs),
    )
