"""`tensorflow.python.framework.subscribe`: side effects that run whenever a tensor is computed."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

from tideflow.graph.nest import map_structure
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import name_scope
from tideflow.ops.arrays.constants import identity

_stand_ins: weakref.WeakSet[Operation] = weakref.WeakSet()  # the Identities of subscribed tensors


def subscribe(tensors: Any, side_effects: Callable[[Tensor], Any] | Sequence[Callable[[Tensor], Any]]) -> Any:
    """Runs side effects whenever one of these tensors is computed for somebody.

    Args:
      tensors: A tensor, or a list, tuple or dictionary of them.
      side_effects: Functions that take a tensor and return an operation or tensors to run.

    Returns:
      The same structure with tensors in place of the given ones: they have the same values, after the side
      effects. Operations that took the given tensors take these from now on.
    """
    effects = side_effects if isinstance(side_effects, Sequence) else [side_effects]
    return map_structure(lambda tensor: _subscribed(tensor, effects), tensors)


def _subscribed(tensor: Tensor, effects: Sequence[Callable[[Tensor], Any]]) -> Tensor:
    op = tensor.op
    if op in _stand_ins:  # further effects of a tensor that is subscribed already
        op._add_control_inputs(_operations(op.inputs[0], effects))
        return tensor
    for consumer in tensor.consumers():
        if consumer in _stand_ins:
            return _subscribed(consumer.outputs[0], effects)
    consumers = dict.fromkeys(tensor.consumers())
    takers = [(taker, i) for taker in consumers for i, x in enumerate(taker.inputs) if x is tensor]
    with op.graph.as_default(), name_scope(f"{op.name}/subscription"):
        done = _operations(tensor, effects)
        with op.graph.control_dependencies(done):
            stand_in = identity(tensor)
    _stand_ins.add(stand_in.op)
    for taker, i in takers:
        taker._update_input(i, stand_in)
    return stand_in


def _operations(tensor: Tensor, effects: Sequence[Callable[[Tensor], Any]]) -> list[Operation]:
    found: list[Operation] = []
    for effect in effects:
        made = effect(tensor)
        for each in made if isinstance(made, (list, tuple)) else [made]:
            found.append(each if isinstance(each, Operation) else each.op)
    return found
