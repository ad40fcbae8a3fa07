"""Tables of a model that leaves its session: what is in them goes along as constants.

A key that is a number is found by its place in an array, or by halving a sorted one. A key that is a string
waits for `texts.py`, which knows the numbers of strings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import tideflow as tf
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.partial import constant_value
from tideflow.ops.state.lookup_tables import find_op, find_v2_op
from tideflow.runtime.tables import Table
from tideflow.session.session import Session

LOOKUPS = (find_op.name, find_v2_op.name)
_SPREAD = 8  # an array by key is used if at least one in so many numbers is a key


@dataclass(frozen=True)
class Items:
    """What is in a table.

    Attributes:
      keys: A vector.
      values: The value of each key, along the first axis.
    """

    keys: np.ndarray
    values: np.ndarray


def items_of_tables(session: Session, graph: Graph) -> dict[str, Items]:
    """What is in the tables that `graph`, a part of the session's, looks something up in.

    Returns:
      The items, by the name of the operation that looks them up.

    Raises:
      FailedPreconditionError: If a table is not initialized.
    """
    found = {}
    for op in lookups(graph):
        handle = session.graph.get_tensor_by_name(op.inputs[0].name)
        table: Table = session.run(handle)
        if not table.key_shape:
            found[op.name] = Items(*table.export_items())
    return found


def lookups(graph: Graph) -> list[Operation]:
    """The operations of a graph that look keys up."""
    return [op for op in graph.get_operations() if op.type in LOOKUPS]


def write_out(graph: Graph, items: Mapping[str, Items]) -> dict[Tensor, Tensor]:
    """Puts constants in the place of the tables whose keys are numbers.

    Returns:
      What stands for each value that was looked up.
    """
    replaced = {}
    for op in lookups(graph):
        if op.name in items and not _has_strings(op):
            replaced[op.outputs[0]] = _looked_up(op, items[op.name])
    redirect(replaced)
    return replaced


def _has_strings(op: Operation) -> bool:
    return op.inputs[1].dtype.base_dtype == tf.string


def _looked_up(op: Operation, items: Items) -> Tensor:
    with op.graph.as_default(), tf.device(op.device), tf.name_scope(f"{op.name}/constants/"):
        _, keys, default = op.inputs
        return tf.gather(with_default(items.values, default), _rows(keys, items.keys))


def with_default(values: np.ndarray, default: Tensor) -> Any:
    """The values of a table, and after them the one for keys that it lacks."""
    known = constant_value(default)
    if known is None:
        return tf.concat([tf.constant(values, default.dtype), default[None]], 0)
    return tf.constant(np.concatenate([values, np.asarray(known, values.dtype)[None]]), default.dtype)


def _rows(keys: Tensor, known: np.ndarray) -> Tensor:
    """The row of each key, or the one after the last."""
    if not len(known):
        return tf.zeros_like(keys, tf.int64)
    if known.dtype.kind in "iu":
        least, most = int(known.min()), int(known.max())
        if most - least < _SPREAD * len(known):
            return _rows_by_key(tf.cast(keys, tf.int64), known.astype(np.int64), least, most)
    return _rows_by_halving(keys, known)


def _rows_by_key(keys: Tensor, known: np.ndarray, least: int, most: int) -> Tensor:
    rows = np.full(most - least + 2, len(known), np.int64)
    rows[known - least] = np.arange(len(known))
    missing = tf.fill(tf.shape(keys), tf.constant(rows.size - 1, tf.int64))
    place = tf.where((keys >= least) & (keys <= most), keys - least, missing)
    return tf.gather(tf.constant(rows), place)


def _rows_by_halving(keys: Tensor, known: np.ndarray) -> Tensor:
    order = np.argsort(known, kind="stable")
    ordered = tf.constant(known[order], keys.dtype)
    low = tf.zeros_like(keys, tf.int64)  # the last place whose key is not above, or the first
    step = 1 << max(len(known) - 1, 1).bit_length()
    while step:
        next_place = tf.minimum(low + step, len(known) - 1)
        low = tf.where(tf.gather(ordered, next_place) <= keys, next_place, low)
        step //= 2
    missing = tf.fill(tf.shape(keys), tf.constant(len(known), tf.int64))
    return tf.where(tf.equal(tf.gather(ordered, low), keys), tf.gather(tf.constant(order), low), missing)


def redirect(replaced: Mapping[Tensor, Tensor]) -> None:
    """Has the consumers of tensors take others instead."""
    for old, new in replaced.items():
        for consumer in set(old.consumers()):
            for index, taken in enumerate(consumer.inputs):
                if taken is old:
                    consumer._update_input(index, new)
