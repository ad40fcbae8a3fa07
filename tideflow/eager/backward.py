"""The way back over what a tape recorded, by the op types' own gradient functions, which run eagerly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tideflow.autodiff import aggregate
from tideflow.autodiff.registry import gradient_function
from tideflow.eager.recording import Entry, as_record
from tideflow.graph import dtypes
from tideflow.graph.composite import IndexedSlices, SparseTensor
from tideflow.ops.arrays import creation


def backward(
    entries: Sequence[Entry], targets: list[Any], sources: list[Any], seeds: Sequence[Any]
) -> list[Any]:
    """The gradients of the sources, over the records from the last to the first."""
    reached = {id(source) for source in sources if source is not None}
    between = []
    for record in map(as_record, entries):
        if not reached.isdisjoint(map(id, record.inputs)):
            between.append(record)
            reached.update(map(id, record.outputs))
    received: dict[int, list[Any]] = {}
    for target, seed in zip(targets, seeds, strict=True):
        for part in _parts(target):
            weight = creation.ones_like(part) if seed is None and part.dtype is not dtypes.resource else seed
            received.setdefault(id(part), []).append(weight)
    for record in reversed(between):
        outputs = record.outputs
        grads = [_summed(received, output) for output in outputs]
        if all(grad is None for grad in grads):
            continue
        function: Callable[..., Any] | None = record.gradient or gradient_function(record)  # type: ignore[arg-type]
        if function is None:
            continue
        for i, grad in enumerate(grads):
            if grad is None and _carries_gradient(outputs[i]) and not record.takes_none:
                grads[i] = zeros = creation.zeros_like(outputs[i])
                zeros._stands_for_none = True
        record.wanted = reached
        inner = function(record, *grads)
        record.wanted = ()
        inner = inner if isinstance(inner, (list, tuple)) else [inner]
        if len(inner) != len(record.inputs):
            raise ValueError(
                f"Num gradients {len(inner)} generated for op {record.type} do not match num inputs "
                f"{len(record.inputs)}"
            )
        for tensor, grad in zip(record.inputs, inner, strict=True):
            if grad is not None and id(tensor) in reached:
                received.setdefault(id(tensor), []).append(grad)
    return [None if source is None else _summed(received, source) for source in sources]


def _parts(target: Any) -> list[Any]:
    return [target.values] if isinstance(target, (IndexedSlices, SparseTensor)) else [target]


def _carries_gradient(tensor: Any) -> bool:
    return tensor.dtype.is_floating or tensor.dtype.is_complex


def _summed(received: dict[int, list[Any]], tensor: Any) -> Any:
    grads = received.get(id(tensor))
    if not grads:
        return None
    if len(grads) > 1:
        received[id(tensor)] = grads = [aggregate.summed(grads, None, tensor)]
    return grads[0]
