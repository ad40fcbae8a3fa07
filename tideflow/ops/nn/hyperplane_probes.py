"""Which buckets of hash tables to look into for a point's neighbours, by its sides of hyperplanes."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from tideflow.graph import errors
from tideflow.graph.errors import InternalError, InvalidArgumentError
from tideflow.graph.op import Op
from tideflow.ops.helpers.axes import scalar
from tideflow.ops.helpers.samples import f32, f64, int32s
from tideflow.ops.helpers.types import types
from tideflow.runtime.values import to_numpy, to_torch

hyperplane_lsh_probes_op = Op(
    "HyperplaneLSHProbes",
    "point_hyperplane_product: CoordinateType, num_tables: int32, num_hyperplanes_per_table: int32, "
    "num_probes: int32 -> probes: int32, table_ids: int32",
    CoordinateType=types("float double"),
    host="num_tables num_hyperplanes_per_table num_probes",
    on_host=True,
    differentiable=False,
)


@hyperplane_lsh_probes_op.shape
def _probes_shape(point_hyperplane_product, num_tables, num_hyperplanes_per_table, num_probes):
    known = point_hyperplane_product.ndims == 2
    rows = point_hyperplane_product.as_list()[0] if known else None
    return [[rows, scalar(num_probes)]] * 2


@hyperplane_lsh_probes_op.kernel
def _probes_kernel(point_hyperplane_product, num_tables, num_hyperplanes_per_table, num_probes):
    if point_hyperplane_product.ndim != 2:
        raise errors.invalid_argument(
            f"Need a two-dimensional products tensor, got {point_hyperplane_product.ndim} dimensions."
        )
    counts = {
        "num_tables": num_tables,
        "num_hyperplanes_per_table": num_hyperplanes_per_table,
        "num_probes": num_probes,
    }
    for name, count in counts.items():
        if count < 1:
            raise errors.invalid_argument(f"{name} must be at least 1 but got {count}.")
    if num_hyperplanes_per_table > 30:
        raise errors.invalid_argument(
            f"Need num_hyperplanes_per_table <= 30, got {num_hyperplanes_per_table}. If you need more, "
            "use more tables: the bits of a probe are those of one int32."
        )
    products = to_numpy(point_hyperplane_product)
    expected = num_tables * num_hyperplanes_per_table
    if products.shape[1] != expected:
        raise errors.invalid_argument(
            f"Expected number of hyperplanes is {expected} but received {products.shape[1]} "
            "inner products per point."
        )
    probes = np.empty((len(products), num_probes, 2), np.int32)
    for point, row in enumerate(products):
        found = list(itertools.islice(_probes_of(row.reshape(num_tables, -1)), num_probes))
        if len(found) < num_probes:
            raise errors.internal(f"Failed to get probe number {len(found)} for point number {point}.")
        probes[point] = found
    return to_torch(probes[..., 0].copy()), to_torch(probes[..., 1].copy())


def _probes_of(products: np.ndarray) -> Iterator[tuple[int, int]]:
    """The buckets of one point with their tables: its own of each table, then those nearest to it.

    A bucket beyond some hyperplanes is as far as the sum of the squares of their products. The sets of
    hyperplanes of a table come out in the order of that sum: with the hyperplanes sorted, the set that
    ends with hyperplane i is followed by the set with i + 1 in its place, and by the one with i + 1 as well.
    """
    bits = 1 << np.arange(products.shape[1])[::-1]
    own = (products >= 0) @ bits
    yield from ((int(bucket), table) for table, bucket in enumerate(own))
    orders = np.argsort(np.abs(products), axis=1, kind="stable")
    costs = np.take_along_axis(np.square(products), orders, axis=1)
    heap = [(float(costs[table, 0]), table, (0,)) for table in range(len(products))]
    heapq.heapify(heap)
    while heap:
        cost, table, beyond = heapq.heappop(heap)
        yield int(own[table] ^ bits[orders[table, list(beyond)]].sum()), table
        last = beyond[-1]
        if last + 1 < products.shape[1]:
            further = cost + float(costs[table, last + 1])
            heapq.heappush(heap, (further, table, (*beyond, last + 1)))
            heapq.heappush(heap, (further - float(costs[table, last]), table, (*beyond[:-1], last + 1)))


def _all_buckets(
    products: np.ndarray, tables: Any, planes: Any, probes: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Every bucket with its distance, sorted; the point's own buckets first."""
    rows = []
    for row in products.reshape(len(products), int(tables), int(planes)):
        sides = list(itertools.product((False, True), repeat=int(planes)))
        found = sorted(
            (float(((np.array(side) != (row[table] >= 0)) * row[table] ** 2).sum()), table, bucket)
            for table in range(len(row))
            for bucket, side in enumerate(sides)
        )
        rows.append([(bucket, table) for _, table, bucket in found[: int(probes)]])
    return np.array(rows)[..., 0], np.array(rows)[..., 1]


hyperplane_lsh_probes_op.samples(
    (f32(3, 6), *int32s(2, 3, 9)),
    (f64(2, 4), *int32s(1, 4, 16)),
    (f32(2, 4), *int32s(4, 1, 5)),
    against=_all_buckets,
)
hyperplane_lsh_probes_op.refuses(
    (f32(2, 5), *int32s(2, 3, 1)), "Expected number of hyperplanes is 6 but received 5", InvalidArgumentError
)
hyperplane_lsh_probes_op.refuses((f32(6), *int32s(2, 3, 1)), "two-dimensional products", InvalidArgumentError)
hyperplane_lsh_probes_op.refuses((f32(2, 2), *int32s(0, 2, 1)), "must be at least 1", InvalidArgumentError)
hyperplane_lsh_probes_op.refuses((f32(1, 31), *int32s(1, 31, 1)), "Need num_hyper", InvalidArgumentError)
hyperplane_lsh_probes_op.refuses(
    (f32(1, 2), *int32s(1, 2, 5)), "Failed to get probe number 4 for point number 0", InternalError
)
