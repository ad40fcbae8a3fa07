"""Initializers that load a matrix of a checkpoint for another vocabulary."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.ops.arrays import joining
from tideflow.train.remapping import Vocabularies, load_and_remap_matrix
from tideflow.variables.initializers import TruncatedNormal, Zeros


def _vocabularies(of: str, new: str | None, old: str | None, old_size: int = -1) -> Vocabularies | None:
    if bool(old) != bool(new):
        raise ValueError(
            f"old_{of}_vocab_file and new_{of}_vocab_file must both be specified or left unspecified. "
            f"old_{of}_vocab_file='{old}', new_{of}_vocab_file='{new}'"
        )
    return Vocabularies(new, old, old_size) if new and old else None


@export("contrib.framework.load_and_remap_matrix_initializer")
def load_and_remap_matrix_initializer(
    ckpt_path: str,
    old_tensor_name: str,
    new_row_vocab_size: int,
    new_col_vocab_size: int,
    old_row_vocab_size: int = -1,
    old_row_vocab_file: str | None = None,
    new_row_vocab_file: str | None = None,
    old_col_vocab_file: str | None = None,
    new_col_vocab_file: str | None = None,
    num_row_oov_buckets: int = 0,
    num_col_oov_buckets: int = 0,
    initializer: Callable | None = None,
    max_rows_in_memory: int = -1,
) -> Callable[..., Tensor]:
    """Makes an initializer that takes the rows and columns of words that the checkpoint knows from there.

    Args:
      ckpt_path: The prefix of the checkpoint.
      old_tensor_name: The name of the matrix in it.
      new_row_vocab_size: The number of rows that stand for words.
      new_col_vocab_size: The number of columns that stand for words; or of all, without files for columns.
      old_row_vocab_size: How many words of the old file of rows count; -1 for all.
      old_row_vocab_file: A file with a word for each row of the old matrix.
      new_row_vocab_file: A file with a word for each row of the new one.
      old_col_vocab_file: A file with a word for each column of the old matrix.
      new_col_vocab_file: A file with a word for each column of the new one.
      num_row_oov_buckets: How many rows follow for unknown words.
      num_col_oov_buckets: How many columns follow for unknown words.
      initializer: What initializes the rest; zeros if None.
      max_rows_in_memory: Has no effect: the whole matrix is read.

    Returns:
      The initializer, of matrices and of their parts by rows.

    Raises:
      TypeError: If `initializer` cannot be called.
    """
    initializer = Zeros() if initializer is None else initializer
    if not callable(initializer):
        raise TypeError(
            f"initializer must be callable, instead of being {initializer} of type {type(initializer)}."
        )

    def initialize(shape: Any, dtype: Any = dtypes.float32, partition_info: Any = None) -> Tensor:
        offset = 0 if partition_info is None else partition_info.single_offset(shape)
        _check(shape, dtype, offset)
        unknown_rows = min(shape[0], max(0, offset + shape[0] - new_row_vocab_size))
        if offset > new_row_vocab_size:
            return initializer(shape)
        rows = _vocabularies("row", new_row_vocab_file, old_row_vocab_file, old_row_vocab_size)
        columns = _vocabularies("col", new_col_vocab_file, old_col_vocab_file)
        if rows is None and columns is None:
            raise ValueError(
                "Must provide either row or column vocab files. If no remapping is necessary, consider using "
                "`tf.contrib.framework.init_from_checkpoint` instead."
            )
        size = (shape[0] - unknown_rows, new_col_vocab_size)
        matrix = load_and_remap_matrix(
            ckpt_path, old_tensor_name, size, initializer, rows, columns, offset, max_rows_in_memory
        )
        if unknown_rows:
            fresh = convert_to_tensor(initializer([unknown_rows, new_col_vocab_size]))
            matrix = joining.concat([matrix, fresh], 0)
        if num_col_oov_buckets:
            fresh = convert_to_tensor(initializer([shape[0], num_col_oov_buckets]))
            matrix = joining.concat([matrix, fresh], 1)
        return matrix

    def _check(shape: Any, dtype: Any, offset: int) -> None:
        if dtype != dtypes.float32:
            raise TypeError(f"Currently, only float32 is supported. Received dtype: {dtype}")
        if len(shape) != 2:
            raise ValueError(f"Expected 2-dim shape, but received: {shape}")
        if shape[0] <= 0:
            raise ValueError(f"Expected 1st dim of shape to be > 0, but received shape: {shape}")
        columns = new_col_vocab_size + num_col_oov_buckets
        if shape[1] != columns:
            raise ValueError(
                f"Expected 2nd dim of shape to be new_col_vocab_size ({new_col_vocab_size}) + "
                f"num_col_oov_buckets ({num_col_oov_buckets}) = {columns}, but received shape: {shape}"
            )
        rows = new_row_vocab_size + num_row_oov_buckets
        if offset + shape[0] > rows:
            raise ValueError(
                f"Trying to initialize {shape[0]} additional rows after {offset} rows have already been "
                f"initialized, which would exceed expected total row count of new_row_vocab_size "
                f"({new_row_vocab_size}) + num_row_oov_buckets ({num_row_oov_buckets}) = {rows}."
            )
        for name, count in (("row", num_row_oov_buckets), ("col", num_col_oov_buckets)):
            if count < 0:
                raise ValueError(f"num_{name}_oov_buckets must be >= 0, but received {count}")

    return initialize


@export("contrib.framework.load_embedding_initializer")
def load_embedding_initializer(
    ckpt_path: str,
    embedding_tensor_name: str,
    new_vocab_size: int,
    embedding_dim: int,
    old_vocab_file: str,
    new_vocab_file: str,
    old_vocab_size: int = -1,
    num_oov_buckets: int = 0,
    initializer: Callable | None = None,
    max_rows_in_memory: int = -1,
) -> Callable[..., Tensor]:
    """Makes an initializer that takes the embeddings of words that the checkpoint knows from there.

    Args:
      ckpt_path: The prefix of the checkpoint.
      embedding_tensor_name: The name of the embeddings in it.
      new_vocab_size: The number of words.
      embedding_dim: The size of an embedding.
      old_vocab_file: A file with a word for each row of the old embeddings.
      new_vocab_file: A file with a word for each row of the new ones.
      old_vocab_size: How many words of the old file count; -1 for all.
      num_oov_buckets: How many rows follow for unknown words.
      initializer: What initializes the rest; truncated normal numbers of 1 / sqrt(embedding_dim) if None.
      max_rows_in_memory: Has no effect: the whole matrix is read.

    Returns:
      The initializer.
    """
    return load_and_remap_matrix_initializer(
        ckpt_path,
        embedding_tensor_name,
        new_vocab_size,
        embedding_dim,
        old_row_vocab_size=old_vocab_size,
        old_row_vocab_file=old_vocab_file,
        new_row_vocab_file=new_vocab_file,
        num_row_oov_buckets=num_oov_buckets,
        initializer=initializer or TruncatedNormal(stddev=1.0 / math.sqrt(embedding_dim)),
        max_rows_in_memory=max_rows_in_memory,
    )


@export("contrib.framework.load_linear_multiclass_bias_initializer")
def load_linear_multiclass_bias_initializer(
    ckpt_path: str,
    bias_tensor_name: str,
    new_class_vocab_size: int,
    old_class_vocab_file: str,
    new_class_vocab_file: str,
    num_class_oov_buckets: int = 0,
    initializer: Callable | None = None,
    max_rows_in_memory: int = -1,
) -> Callable[..., Tensor]:
    """Makes an initializer that takes the biases of classes that the checkpoint knows from there.

    Args:
      ckpt_path: The prefix of the checkpoint.
      bias_tensor_name: The name of the biases in it, a matrix of one column.
      new_class_vocab_size: The number of classes.
      old_class_vocab_file: A file with a name for each old class.
      new_class_vocab_file: A file with a name for each new class.
      num_class_oov_buckets: How many biases follow for unknown classes.
      initializer: What initializes the rest; zeros if None.
      max_rows_in_memory: Has no effect: the whole matrix is read.

    Returns:
      The initializer.
    """
    return load_and_remap_matrix_initializer(
        ckpt_path,
        bias_tensor_name,
        new_class_vocab_size,
        1,
        old_row_vocab_file=old_class_vocab_file,
        new_row_vocab_file=new_class_vocab_file,
        num_row_oov_buckets=num_class_oov_buckets,
        initializer=initializer,
        max_rows_in_memory=max_rows_in_memory,
    )


@export("contrib.framework.load_variable_slot_initializer")
def load_variable_slot_initializer(
    ckpt_path: str,
    old_tensor_name: str,
    primary_partition_info: Any,
    new_row_vocab_size: int,
    new_col_vocab_size: int,
    old_row_vocab_file: str | None = None,
    new_row_vocab_file: str | None = None,
    old_col_vocab_file: str | None = None,
    new_col_vocab_file: str | None = None,
    num_row_oov_buckets: int = 0,
    num_col_oov_buckets: int = 0,
    initializer: Callable | None = None,
    max_rows_in_memory: int = -1,
) -> Callable[..., Tensor]:
    """Makes an initializer of an optimizer's slot: it loads the rows that the variable's part has.

    Args:
      ckpt_path: The prefix of the checkpoint.
      old_tensor_name: The name of the slot in it.
      primary_partition_info: Which part of a partitioned variable the slot belongs to.
      new_row_vocab_size: The number of rows that stand for words.
      new_col_vocab_size: The number of columns that stand for words; or of all, without files for columns.
      old_row_vocab_file: A file with a word for each row of the old matrix.
      new_row_vocab_file: A file with a word for each row of the new one.
      old_col_vocab_file: A file with a word for each column of the old matrix.
      new_col_vocab_file: A file with a word for each column of the new one.
      num_row_oov_buckets: How many rows follow for unknown words.
      num_col_oov_buckets: How many columns follow for unknown words.
      initializer: What initializes the rest; zeros if None.
      max_rows_in_memory: Has no effect: the whole matrix is read.

    Returns:
      The initializer.
    """
    of_part = load_and_remap_matrix_initializer(
        ckpt_path,
        old_tensor_name,
        new_row_vocab_size,
        new_col_vocab_size,
        old_row_vocab_file=old_row_vocab_file,
        new_row_vocab_file=new_row_vocab_file,
        old_col_vocab_file=old_col_vocab_file,
        new_col_vocab_file=new_col_vocab_file,
        num_row_oov_buckets=num_row_oov_buckets,
        num_col_oov_buckets=num_col_oov_buckets,
        initializer=initializer,
        max_rows_in_memory=max_rows_in_memory,
    )

    def initialize(shape: Any, dtype: Any = dtypes.float32, partition_info: Any = None) -> Tensor:
        return of_part(shape, dtype, partition_info=primary_partition_info)

    return initialize
