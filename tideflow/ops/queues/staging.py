"""Staging areas as ops. They have no handle: ops of one `shared_name` are about one area."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from tideflow.graph.op import Op
from tideflow.graph.schema import attr
from tideflow.ops.helpers.session_objects import NAMED
from tideflow.runtime.staging import MapStagingArea, StagingArea
from tideflow.runtime.waiting import StepContext

OPS: dict[str, Op] = {}
_BOUNDS = {"capacity": attr("int", 0, minimum=0), "memory_limit": attr("int", 0, minimum=0)}
_SOME_TYPES = {"dtypes": attr("list(type)", minimum=1)}
_ANY_TYPES = {"dtypes": attr("list(type)")}
_INT = torch.int32


def _area(kind: Callable, resources: Any, node: Any) -> Any:
    attrs = node.attrs
    name = attrs["shared_name"] or node.name
    components = len(attrs["dtypes"])
    area = resources.get_or_create(
        attrs["container"],
        "staging area",
        name,
        lambda: kind(name, components, attrs["capacity"], attrs["memory_limit"], resources.store.is_closed),
    )
    area.components = max(area.components, components)  # an op that takes a part may be the first to run
    return area


def _add(
    name: str, signature: str, types: dict, kind: Callable, shape: Callable, act: Callable, **options: Any
) -> None:
    """An op on a staging area: it calls `act(area, *inputs)`, or `act(area, context, *inputs)` where it may
    wait.
    """
    op = Op(name, signature, stateful=True, differentiable=False, **_BOUNDS, **types, **NAMED, **options)
    op.shape(shape)

    def kernel(*inputs, resources, node):
        return act(_area(kind, resources, node), *inputs)

    def blocking_kernel(*inputs, resources, node, context):
        return act(_area(kind, resources, node), context, *inputs)

    for key in ("", "string"):
        op.kernel(key)(blocking_kernel if op.blocking else kernel)
    op.samples(covered_by="tests/queues/test_barriers_and_staging.py")
    OPS[name] = op


def _nothing(*inputs: Any) -> list:
    return []


def _unknown(*inputs: Any, dtypes: list) -> list:
    return [None] * len(dtypes)


def _count(size: int) -> torch.Tensor:
    return torch.tensor(size, dtype=_INT)


_add("Stage", "values: dtypes", _SOME_TYPES, StagingArea, _nothing, StagingArea.put, blocking=True)
_add("Unstage", " -> values: dtypes", _SOME_TYPES, StagingArea, _unknown, StagingArea.get, blocking=True)
_add(
    "StagePeek",
    "index: int32 -> values: dtypes",
    _SOME_TYPES,
    StagingArea,
    _unknown,
    StagingArea.peek,
    host="index",
    blocking=True,
)
_add("StageSize", " -> size: int32", _ANY_TYPES, StagingArea, _nothing, lambda area: _count(area.size()))
_add("StageClear", "", _ANY_TYPES, StagingArea, _nothing, StagingArea.clear)


def _get_any(area: MapStagingArea, context: StepContext, indices: list[int]) -> list:
    key, values = area.get_any(context, indices)
    return [torch.tensor(key), *values]


def _map_family(prefix: str, ordered: bool) -> None:
    def area(*args: Any) -> MapStagingArea:
        return MapStagingArea(*args, ordered=ordered)

    _add(
        f"{prefix}Stage",
        "key: int64, indices: int32, values: fake_dtypes",
        {**_ANY_TYPES, "fake_dtypes": attr("list(type)", minimum=1)},
        area,
        _nothing,
        MapStagingArea.put,
        host="key indices",
        blocking=True,
    )
    for name, act in (("Unstage", MapStagingArea.get), ("Peek", MapStagingArea.peek)):
        _add(
            f"{prefix}{name}",
            "key: int64, indices: int32 -> values: dtypes",
            _SOME_TYPES,
            area,
            _unknown,
            act,
            host="key indices",
            blocking=True,
        )
    _add(
        f"{prefix}UnstageNoKey",
        "indices: int32 -> key: int64, values: dtypes",
        _SOME_TYPES,
        area,
        lambda indices, *, dtypes: [None] * (1 + len(dtypes)),
        _get_any,
        host="indices",
        blocking=True,
    )
    _add(f"{prefix}Size", " -> size: int32", _ANY_TYPES, area, _nothing, lambda a: _count(a.size()))
    _add(
        f"{prefix}IncompleteSize",
        " -> size: int32",
        _ANY_TYPES,
        area,
        _nothing,
        lambda a: _count(a.incomplete_size()),
    )
    _add(f"{prefix}Clear", "", _ANY_TYPES, area, _nothing, MapStagingArea.clear)


_map_family("Map", ordered=False)
_map_family("OrderedMap", ordered=True)
