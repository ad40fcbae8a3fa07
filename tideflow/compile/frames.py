"""Frames: which operations of a graph are in which loop, as Enter, Exit and the edges between them say.

This follows from the graph alone, so that loops of imported graphs are found as well as those made here.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass, field
from typing import Any

from tideflow.graph import errors
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.operation import Operation, Tensor
from tideflow.ops.distributed.sending import RECV

ENTER = ("Enter", "RefEnter")
EXIT = ("Exit", "RefExit")
MERGE = ("Merge", "RefMerge")
NEXT = ("NextIteration", "RefNextIteration")
SWITCH = ("Switch", "RefSwitch")
_OF_LOOPS = frozenset((*ENTER, *EXIT, *NEXT))


@dataclass(eq=False)
class Frame:
    """The operations of one frame. An inner frame is one member of it. The root frame is the graph outside of
    all loops.
    """

    name: str = ""
    parent: Frame | None = None
    members: list[Operation | Frame] = field(default_factory=list)

    @property
    def operations(self) -> list[Operation]:
        return [member for member in self.members if isinstance(member, Operation)]

    @property
    def enters(self) -> list[Operation]:
        return [op for op in self.operations if op.type in ENTER]


def arranged(ops: Set[Operation], feeds: Set[Tensor]) -> Frame:
    """The root frame. The members of every frame are in an order that respects their edges; where several may
    come next, the one made first does.
    """
    order, before = _ordered(ops, feeds)
    root = Frame()
    if not any(op.type in _OF_LOOPS for op in ops):
        root.members = list(order)
        return root
    frame_of = _frames(order, feeds, root)
    frames: dict[Frame, None] = {root: None}
    for op in order:
        frame = frame_of[op]
        frame.members.append(op)
        while frame not in frames:  # an inner frame is where its first operation is
            frames[frame] = None
            assert frame.parent is not None, "only the root, which is known, has none"
            frame.parent.members.append(frame)
            frame = frame.parent
    for frame in frames:
        _arrange(frame, before)
    return root


def frames_of(ops: Set[Operation], feeds: Set[Tensor]) -> tuple[list[Operation], dict[Operation, Frame]]:
    """The operations in order, and the frame of each, without regard to what the frames contain."""
    order, _ = _ordered(ops, feeds)
    return order, _frames(order, feeds, Frame())


def _ordered(
    ops: Set[Operation], feeds: Set[Tensor]
) -> tuple[list[Operation], dict[Operation, set[Operation]]]:
    before = {op: set(_before(op, ops, feeds)) for op in ops}
    return sorted_topologically(ops, before, lambda op: op._id), before


def sorted_topologically(
    items: Iterable[Any], before: dict[Any, set[Any]], key: Callable[[Any], int]
) -> list[Any]:
    """The items, each after those that must come before it."""
    waiting = {item: len(before[item]) for item in items}
    followers: dict[Any, list[Any]] = {}
    for item in waiting:
        for other in before[item]:
            followers.setdefault(other, []).append(item)
    ready = [(key(item), id(item), item) for item, count in waiting.items() if not count]
    heapq.heapify(ready)
    order = []
    while ready:
        item = heapq.heappop(ready)[2]
        order.append(item)
        for follower in followers.get(item, ()):
            waiting[follower] -= 1
            if not waiting[follower]:
                heapq.heappush(ready, (key(follower), id(follower), follower))
    if len(order) != len(waiting):
        raise _cycle(min((item for item in waiting if waiting[item]), key=key))
    return order


def _before(op: Operation, ops: Set[Operation], feeds: Set[Tensor]) -> Iterable[Operation]:
    """What must run before an operation in one iteration: all but the edges that lead to the next one."""
    for tensor in op.inputs:
        if tensor not in feeds and not is_back_edge(tensor, op):
            yield tensor.op
    for control in op.control_inputs:
        if control in ops:
            yield control


def is_back_edge(tensor: Tensor, op: Operation) -> bool:
    return op.type in MERGE and tensor.op.type in NEXT


def _cycle(item: Any) -> InvalidArgumentError:
    if isinstance(item, Frame):
        return errors.invalid_argument(
            f"The loop in frame '{item.name}' depends on what it gives: two loops in one frame, or an Exit "
            "that leads back into an Enter.",
        )
    return InvalidArgumentError(
        item.node_def,
        item,
        f"The graph has a cycle through '{item.name}' ({item.type}), made at {item.user_line}; without a "
        "loop construct (NextIteration) a step cannot begin anywhere on it.",
    )


def _frames(order: list[Operation], feeds: Set[Tensor], root: Frame) -> dict[Operation, Frame]:
    """The frame of each operation: an Enter opens one, an Exit is back in the one around it."""
    found: dict[tuple[Frame, str], Frame] = {}
    frame_of: dict[Operation, Frame] = {}
    for op in order:
        frame = _frame_of_inputs(op, frame_of, feeds, root)
        if op.type in ENTER:
            name = op.attrs["frame_name"]
            frame = found.setdefault((frame, name), Frame(name, frame))
        elif op.type in EXIT:
            frame = _around(op, frame, "leaves")
        elif op.type in NEXT:
            _around(op, frame, "goes on in")
        frame_of[op] = frame
    _check(order, frame_of)
    return frame_of


def _around(op: Operation, frame: Frame, does: str) -> Frame:
    if frame.parent is None:
        raise _malformed(op, f"'{op.name}' ({op.type}) {does} a loop that nothing enters.")
    return frame.parent


def _malformed(op: Operation, message: str) -> InvalidArgumentError:
    return InvalidArgumentError(op.node_def, op, f"{message} '{op.name}' was made at {op.user_line}.")


def _check(order: list[Operation], frame_of: dict[Operation, Frame]) -> None:
    """Checks that every frame is one loop, that it can end, and that no control edge crosses its border."""
    conds: dict[Frame, Operation] = {}
    for op in order:
        frame = frame_of[op]
        if op.type == "LoopCond":
            other = conds.setdefault(frame, op)
            if other is not op:
                raise _malformed(
                    op,
                    f'Invalid loop structure: Loop "{frame.name}" has more than one LoopCond node: '
                    f'"{op.name}" and "{other.name}". Two loops cannot share a frame; has one graph been '
                    "imported twice?",
                )
        elif op.type in NEXT and not _may_end(op, frame_of):
            raise _malformed(
                op,
                f"The loop in frame '{frame.name}' can never end: no Switch stands before '{op.name}' "
                f"({op.type}).",
            )
        elif op.type not in _OF_LOOPS:
            for control in op.control_inputs:
                if frame_of.get(control, frame) is not frame:
                    raise _different_frames(op, (frame, op), (frame_of[control], control))


def _may_end(following: Operation, frame_of: dict[Operation, Frame]) -> bool:
    """Whether a Switch decides if there is a next iteration."""
    frame = frame_of[following]
    seen, stack = set(), [following]
    while stack:
        op = stack.pop()
        if op.type in SWITCH or op.type == RECV:  # what is received may be dead
            return True
        if op in seen or frame_of.get(op) is not frame or op.type in ENTER:
            continue
        seen.add(op)
        stack += [tensor.op for tensor in op.inputs if not is_back_edge(tensor, op)]
        stack += op.control_inputs
    return not any(user.type in MERGE for user in following.outputs[0]._consumers)


def _frame_of_inputs(
    op: Operation, frame_of: dict[Operation, Frame], feeds: Set[Tensor], root: Frame
) -> Frame:
    chosen: tuple[Frame, Operation] | None = None
    for tensor in op.inputs:
        if tensor in feeds or is_back_edge(tensor, op):
            continue
        frame = frame_of[tensor.op]
        if chosen is not None and frame is not chosen[0]:
            raise _different_frames(op, chosen, (frame, tensor.op))
        chosen = (frame, tensor.op)
    if chosen is not None:
        return chosen[0]
    waited = (frame_of[control] for control in op.control_inputs if control in frame_of)
    return next((frame for frame in waited if frame.parent is not None), root)


def _different_frames(
    op: Operation, one: tuple[Frame, Operation], other: tuple[Frame, Operation]
) -> InvalidArgumentError:
    where = " ".join(
        f"The input '{source.name}' is in frame '{frame.name}'." for frame, source in (one, other)
    )
    return _malformed(
        op,
        f"The node '{op.name}' has inputs from different frames. {where} A value leaves a loop only as one "
        "of the loop's results.",
    )


def stays_inside(element: Tensor | Operation) -> InvalidArgumentError:
    """The error for fetching what is inside a loop."""
    op = element.op if isinstance(element, Tensor) else element
    return InvalidArgumentError(
        op.node_def,
        op,
        f"'{element.name}' is inside a loop, where it has a value for every iteration; fetch one of the "
        "loop's results instead.",
    )


def _arrange(frame: Frame, before: dict[Operation, set[Operation]]) -> None:
    """Puts the members in order, each inner frame as one."""
    if all(isinstance(member, Operation) for member in frame.members):
        return  # they came in order
    unit_of: dict[Operation, Operation | Frame] = {}
    _map_units(frame, unit_of)
    edges: dict[Operation | Frame, set[Operation | Frame]] = {member: set() for member in frame.members}
    for op, unit in unit_of.items():
        edges[unit].update(unit_of[other] for other in before[op] if other in unit_of)
    for unit in edges:
        edges[unit].discard(unit)
    frame.members = sorted_topologically(frame.members, edges, _first_id)


def _map_units(frame: Frame, unit_of: dict[Operation, Operation | Frame], unit: Frame | None = None) -> None:
    """By operation, the member of the outermost frame that it is, or is in."""
    for member in frame.members:
        if isinstance(member, Operation):
            unit_of[member] = unit or member
        else:
            _map_units(member, unit_of, unit or member)


def _first_id(member: Operation | Frame) -> int:
    return member._id if isinstance(member, Operation) else min(_first_id(inner) for inner in member.members)


# ------------------------------------------------------------------------------------------------ structure


@dataclass
class Ring:
    """One loop variable: it enters, is merged, goes on through a NextIteration, and may leave by Exits."""

    enter: Operation
    merge: Operation
    following: Operation


@dataclass
class LoopShape:
    """A frame that is a while loop."""

    rings: list[Ring]
    constants: list[Operation]
    cond: Operation


def loop_shape(frame: Frame, ops: Set[Operation]) -> LoopShape | None:
    """The frame as a while loop; None where it has another structure."""
    members = frame.operations
    conds = [op for op in members if op.type == "LoopCond"]
    merging = [op for op in members if op.type in MERGE and any(t.op.type in NEXT for t in op.inputs)]
    rings = [ring for ring in map(_ring, merging) if ring is not None]
    if len(conds) != 1 or len(rings) < len(merging):
        return None
    entering = {ring.enter for ring in rings}
    constants = [op for op in members if op.type in ENTER and op not in entering]
    merges = {ring.merge for ring in rings}
    followings = {ring.following for ring in rings}
    for op in members:
        if op.type in ENTER and op in constants and not op.attrs["is_constant"]:
            return None
        if op.type in NEXT and op not in followings:
            return None
        if op.type in SWITCH and not _is_plain_switch(op, conds[0], merges, ops):
            return None
        if any(tensor.op in merges and tensor.value_index for tensor in op.inputs):
            return None
        if any(_leaves_otherwise(tensor, conds[0], ops) for tensor in op.outputs):
            return None
    return LoopShape(rings, constants, conds[0])


def _ring(merge: Operation) -> Ring | None:
    if merge.type != "Merge" or len(merge.inputs) != 2:
        return None
    enter, following = (tensor.op for tensor in merge.inputs)
    if enter.type != "Enter" or following.type not in NEXT or enter.attrs["is_constant"]:
        return None
    return Ring(enter, merge, following)


def _leaves_otherwise(tensor: Tensor, cond: Operation, ops: Set[Operation]) -> bool:
    """Whether a value leaves the loop by another way than the false side of the loop's own Switches."""
    if not any(user.type in EXIT and user in ops for user in tensor._consumers):
        return False
    while tensor.op.type == "Identity":
        tensor = tensor.op.inputs[0]
    op = tensor.op
    return op.type not in SWITCH or op.inputs[1].op is not cond or tensor.value_index == 1


def _is_plain_switch(op: Operation, cond: Operation, merges: set[Operation], ops: Set[Operation]) -> bool:
    """Whether what leaves by this Switch, if it is the loop's, leaves the loop itself."""
    if op.inputs[1].op is not cond:
        return True
    leaving = exits_behind(op.outputs[0], ops)
    return leaving is not None and (not leaving or op.inputs[0].op in merges)


def exits_behind(tensor: Tensor, ops: Set[Operation]) -> list[Operation] | None:
    """The Exits that take a value, as it is or through the identities that gated gradients put there; None
    where something else takes it.
    """
    exits = []
    for user in tensor._consumers:
        if user not in ops:
            continue
        behind = [user] if user.type in EXIT else None
        if user.type == "Identity":
            behind = exits_behind(user.outputs[0], ops)
        if not behind:
            return None
        exits += behind
    return exits
