"""The conditions and loops of a step, as other systems have them: a predicate with two branches, or with a
body, each a list of steps.

In a program a node says under which conditions it runs, and a Merge takes what the taken side made. Here the
nodes of a side stand in its branch, and one condition gives the values of all Merges that can be computed at
once: what they share is computed once. Conditions that constants decide are none any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tideflow.compile.ir import Guards, Loop, Node, Program, Value, walk


@dataclass(frozen=True)
class Branch:
    """One side of a condition, or what a loop does.

    Attributes:
      steps: What it computes, in order.
      results: Its values: one for each Merge, or for each variable of the loop.
    """

    steps: list[Step]
    results: list[Value]


@dataclass(frozen=True)
class Condition:
    """A condition.

    Attributes:
      pred: What decides.
      merges: The nodes that it computes.
      sides: The branch where the predicate does not hold, and the one where it does.
      taken: The values from outside that the branches use.
    """

    pred: Value
    merges: list[Node]
    sides: tuple[Branch, Branch]
    taken: list[Value]


@dataclass(frozen=True)
class Iteration:
    """A loop.

    Attributes:
      loop: The node that it computes.
      test: Whether to go on.
      body: The next values of the variables.
      taken: The values from outside that both use.
    """

    loop: Loop
    test: Branch
    body: Branch
    taken: list[Value]


Step = Node | Condition | Iteration


def decide(program: Program) -> bool:
    """Takes out the sides of conditions that constants rule out. Returns whether there were any."""
    used = set(program.uses())
    merges = [node for node in program.nodes if any(map(_is_ruled_out, node.choices))]
    if any(index in used for merge in merges for index in merge.outputs[1:]):
        return False
    replaced: dict[Value, Value] = {}
    kept = []
    for node in program.nodes:
        node.replace_values(replaced)
        if _is_ruled_out(node.guards):
            continue
        node.guards = frozenset((pred, side) for pred, side in node.guards if not _is_constant(pred))
        possible = [i for i, guards in enumerate(node.choices) if not _is_ruled_out(guards)]
        if len(possible) == 1 < len(node.choices):
            replaced[node.outputs[0]] = node.inputs[possible[0]]
        else:
            kept.append(node)
    has_changed = len(kept) < len(program.nodes)
    program.nodes = kept
    program.targets &= set(kept)
    program.fetches = [replaced.get(value, value) for value in program.fetches]
    return any([decide(node.body) for node in kept if isinstance(node, Loop)]) or has_changed


def _is_constant(pred: Value) -> bool:
    return pred.op.definition.role == "constant"


def _is_ruled_out(guards: Guards) -> bool:
    return any(_is_constant(pred) and bool(pred.op.attrs["value"]) != side for pred, side in guards)


def in_branches(nodes: Sequence[Node], guards: Guards = frozenset()) -> list[Step]:
    """The nodes that run where `guards` hold, with conditions in the place of Merges, and loops with what
    they do. Constants are left out. Each Merge has a form that `sides_of` knows.
    """
    here = [node for node in nodes if node.guards == guards and node.definition.role != "constant"]
    waiting = dict.fromkeys(here)
    steps: list[Step] = []
    for node in here:
        if node not in waiting:
            continue
        if node.choices:
            steps.append(_condition(node, [each for each in waiting if each.choices], nodes, waiting))
            for merge in steps[-1].merges:
                del waiting[merge]
        else:
            steps.append(_iteration(node) if isinstance(node, Loop) else node)
            del waiting[node]
    return steps


def _condition(
    first: Node, merges: Sequence[Node], nodes: Sequence[Node], waiting: dict[Node, None]
) -> Condition:
    pred, _ = sides_of(first)
    joined = []
    for merge in merges:
        if sides_of(merge)[0] is pred:
            needs = {value.op for side in (False, True) for value in _inside([merge], pred, side)[1]}
            if not any(op in waiting for op in needs):
                joined.append(merge)
    sides, taken = [], {}
    for side in (False, True):
        inside, outside = _inside(joined, pred, side)
        steps = in_branches([node for node in nodes if node in inside], first.guards | {(pred, side)})
        sides.append(Branch(steps, [_input(merge, side) for merge in joined]))
        taken.update(dict.fromkeys(outside))
    return Condition(pred, joined, tuple(sides), list(taken))


def _iteration(loop: Loop) -> Iteration:
    pred, *following = loop.body.fetches
    before, needed = [
        [node for node in loop.body.nodes if node in behind]
        for behind in (_behind([pred]), _behind(following))
    ]
    steps = in_branches(needed) + in_branches(needed, frozenset([(pred, True)]))
    taken = [*loop.taken, *_constants_in(loop)]
    return Iteration(loop, Branch(in_branches(before), [pred]), Branch(steps, following), taken)


def _behind(values: Sequence[Value]) -> set[Node]:
    """The nodes that values need."""
    found: set[Node] = set()
    waiting = [value.op for value in values]
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += [value.op for value in node.dependencies]
    return found


def _constants_in(loop: Loop) -> list[Value]:
    return [node.outputs[0] for node in walk(loop.body) if node.definition.role == "constant"]


def _inside(merges: Sequence[Node], pred: Value, side: bool) -> tuple[set[Node], list[Value]]:
    """The nodes that compute the inputs of Merges on one side, and the values that they take from outside."""
    inside: set[Node] = set()
    outside: dict[Value, None] = {}
    waiting = [_input(merge, side) for merge in merges]
    while waiting:
        value = waiting.pop()
        if value.op.definition.role == "constant" or (pred, side) not in value.op.guards:
            outside[value] = None
        elif value.op not in inside:
            inside.add(value.op)
            waiting += value.op.dependencies
            if isinstance(value.op, Loop):
                waiting += _constants_in(value.op)
    return inside, list(outside)


def _input(merge: Node, side: bool) -> Value:
    return merge.inputs[sides_of(merge)[1][side]]


def sides_of(merge: Node) -> tuple[Value, tuple[int, int]] | None:
    """The predicate between whose sides a Merge chooses, and the places of its inputs where that does not
    hold and where it does; None where it chooses in another way.
    """
    if len(merge.choices) != 2 or any(len(guards) != 1 for guards in merge.choices):
        return None
    ((pred, side),), ((other, other_side),) = merge.choices
    if pred is not other or side == other_side:
        return None
    return pred, ((1, 0) if side else (0, 1))
