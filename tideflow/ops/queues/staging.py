"""Staging areas as ops. They have no handle: ops of one `shared_name` are about one area."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from tideflow.graph.op import Op
from tideflow.graph.schema import attr
from tideflow.ops.helpers.session_objects import NAMED
from tideflow.runtime.staging import MapStagingArea, StagingArea
from tideflow.runtime.waiting import StepContext

_BOUNDS = {"capacity": attr("int", 0, minimum=0), "memory_limit": attr("int", 0, minimum=0)}
_SOME_TYPES = {"dtypes": attr("list(type)", minimum=1)}
_ANY_TYPES = {"dtypes": attr("list(type)")}


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


def _staging_op(
    name: str, signature: str, types: dict, kind: Callable, shape: Callable, act: Callable, **options: Any
) -> Op:
    """An op on a staging area: it calls `act(area, *inputs)`, or `act(area, context, *inputs)` where it may
    wait.
    """
    op = Op(name, signature, stateful=True, differentiable=False, **_BOUNDS, **types, **NAMED, **options)
    op.shape(shape)

    def _kernel(*inputs, resources, node):
        return act(_area(kind, resources, node), *inputs)

    def _blocking_kernel(*inputs, resources, node, context):
        return act(_area(kind, resources, node), context, *inputs)

    for key in ("", "string"):
        op.kernel(key)(_blocking_kernel if op.blocking else _kernel)
    op.samples(covered_by="tests/ops/queues/test_staging.py")
    return op


def _nothing(*inputs: Any) -> list:
    return []


def _unknown(*inputs: Any, dtypes: list) -> list:
    return [None] * len(dtypes)


def _size(area: StagingArea | MapStagingArea) -> torch.Tensor:
    return torch.tensor(area.size(), dtype=torch.int32)


stage_op = _staging_op(
    "Stage", "values: dtypes", _SOME_TYPES, StagingArea, _nothing, StagingArea.put, blocking=True
)
unstage_op = _staging_op(
    "Unstage", " -> values: dtypes", _SOME_TYPES, StagingArea, _unknown, StagingArea.get, blocking=True
)
stage_peek_op = _staging_op(
    "StagePeek",
    "index: int32 -> values: dtypes",
    _SOME_TYPES,
    StagingArea,
    _unknown,
    StagingArea.peek,
    host="index",
    blocking=True,
)
stage_size_op = _staging_op("StageSize", " -> size: int32", _ANY_TYPES, StagingArea, _nothing, _size)
stage_clear_op = _staging_op("StageClear", "", _ANY_TYPES, StagingArea, _nothing, StagingArea.clear)


_map_area = functools.partial(MapStagingArea, ordered=False)
_ordered_map_area = functools.partial(MapStagingArea, ordered=True)


_PUT = {"types": {**_ANY_TYPES, "fake_dtypes": attr("list(type)", minimum=1)}, "shape": _nothing}
_BY_KEY = {"host": "key indices", "blocking": True}

map_stage_op = _staging_op(
    "MapStage",
    "key: int64, indices: int32, values: fake_dtypes",
    kind=_map_area,
    act=MapStagingArea.put,
    **_PUT,
    **_BY_KEY,
)
ordered_map_stage_op = _staging_op(
    "OrderedMapStage",
    "key: int64, indices: int32, values: fake_dtypes",
    kind=_ordered_map_area,
    act=MapStagingArea.put,
    **_PUT,
    **_BY_KEY,
)

_TAKEN = {"types": _SOME_TYPES, "shape": _unknown}

map_unstage_op = _staging_op(
    "MapUnstage",
    "key: int64, indices: int32 -> values: dtypes",
    kind=_map_area,
    act=MapStagingArea.get,
    **_TAKEN,
    **_BY_KEY,
)
ordered_map_unstage_op = _staging_op(
    "OrderedMapUnstage",
    "key: int64, indices: int32 -> values: dtypes",
    kind=_ordered_map_area,
    act=MapStagingArea.get,
    **_TAKEN,
    **_BY_KEY,
)

map_peek_op = _staging_op(
    "MapPeek",
    "key: int64, indices: int32 -> values: dtypes",
    kind=_map_area,
    act=MapStagingArea.peek,
    **_TAKEN,
    **_BY_KEY,
)
ordered_map_peek_op = _staging_op(
    "OrderedMapPeek",
    "key: int64, indices: int32 -> values: dtypes",
    kind=_ordered_map_area,
    act=MapStagingArea.peek,
    **_TAKEN,
    **_BY_KEY,
)


def _key_and_values(indices, *, dtypes):
    return [None] * (1 + len(dtypes))


def _get_any(area: MapStagingArea, context: StepContext, indices: list[int]) -> list:
    key, values = area.get_any(context, indices)
    return [torch.tensor(key), *values]


map_unstage_no_key_op = _staging_op(
    "MapUnstageNoKey",
    "indices: int32 -> key: int64, values: dtypes",
    _SOME_TYPES,
    _map_area,
    _key_and_values,
    _get_any,
    host="indices",
    blocking=True,
)
ordered_map_unstage_no_key_op = _staging_op(
    "OrderedMapUnstageNoKey",
    "indices: int32 -> key: int64, values: dtypes",
    _SOME_TYPES,
    _ordered_map_area,
    _key_and_values,
    _get_any,
    host="indices",
    blocking=True,
)

map_size_op = _staging_op("MapSize", " -> size: int32", _ANY_TYPES, _map_area, _nothing, _size)
ordered_map_size_op = _staging_op(
    "OrderedMapSize", " -> size: int32", _ANY_TYPES, _ordered_map_area, _nothing, _size
)


def _incomplete_size(area: MapStagingArea) -> torch.Tensor:
    return torch.tensor(area.incomplete_size(), dtype=torch.int32)


map_incomplete_size_op = _staging_op(
    "MapIncompleteSize", " -> size: int32", _ANY_TYPES, _map_area, _nothing, _incomplete_size
)
ordered_map_incomplete_size_op = _staging_op(
    "OrderedMapIncompleteSize", " -> size: int32", _ANY_TYPES, _ordered_map_area, _nothing, _incomplete_size
)

map_clear_op = _staging_op("MapClear", "", _ANY_TYPES, _map_area, _nothing, MapStagingArea.clear)
ordered_map_clear_op = _staging_op(
    "OrderedMapClear", "", _ANY_TYPES, _ordered_map_area, _nothing, MapStagingArea.clear
)
