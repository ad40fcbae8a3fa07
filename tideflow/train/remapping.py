"""Matrices of checkpoints whose rows, or columns, stand for words: loaded for another vocabulary."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tideflow.graph import dtypes
from tideflow.graph.operation import Tensor
from tideflow.ops.arrays import creation
from tideflow.ops.state import vocabulary_remapping


class Vocabularies(NamedTuple):
    """Two files with a word in each line; the first `old_size` of the old one count, or all if it is -1."""

    new: str
    old: str
    old_size: int = -1


def load_and_remap_matrix(
    path: str,
    key: str,
    size: tuple[int, int],
    initializer: Callable,
    rows: Vocabularies | None = None,
    columns: Vocabularies | None = None,
    row_offset: int = 0,
    max_rows_in_memory: int = -1,
) -> Tensor:
    """A matrix of this size: rows and columns of known words from the checkpoint, others initialized.

    Without vocabularies, rows are those of the checkpoint from `row_offset` on, and columns all of them.
    """
    remap = vocabulary_remapping.generate_vocab_remapping_op
    row_count, column_count = size
    if rows is None:
        row_sources = creation.range(row_offset, row_offset + row_count, dtype=dtypes.int64)
        rows_there = row_count
    else:
        row_sources, rows_there = remap(
            rows.new,
            rows.old,
            new_vocab_offset=row_offset,
            num_new_vocab=row_count,
            old_vocab_size=rows.old_size,
        )
    if columns is None:
        column_sources, columns_there = [], column_count
    else:
        column_sources, columns_there = remap(
            columns.new, columns.old, new_vocab_offset=0, num_new_vocab=column_count
        )
    missing = row_count * column_count - rows_there * columns_there
    return vocabulary_remapping.load_and_remap_matrix_op(
        path,
        key,
        row_sources,
        column_sources,
        initializer([missing, 1]),
        num_rows=row_count,
        num_cols=column_count,
        max_rows_in_memory=max_rows_in_memory,
    )
