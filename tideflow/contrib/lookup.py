"""`tf.contrib.lookup`: the older spellings of what stands in `tideflow.lookup`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.scopes import name_scope
from tideflow.lookup import vocabulary
from tideflow.lookup.vocabulary import FastHashSpec, HasherSpec

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike


def _check_mapping(mapping: Any) -> None:
    if mapping is None:
        raise ValueError("mapping must be specified.")


@export("contrib.lookup.index_table_from_tensor")
def index_table_from_tensor(
    mapping: TensorLike,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: HasherSpec = FastHashSpec,
    dtype: DTypeLike = dtypes.string,
    name: str | None = None,
) -> Any:
    """Makes a table from the elements of a vector to their places.

    Args:
      mapping: A vector of strings or integers.
      num_oov_buckets: The number of buckets for what the table does not have.
      default_value: The value of what the table does not have, without buckets.
      hasher_spec: The hash function of the buckets.
      dtype: The type of the keys.
      name: The name of the table.

    Returns:
      The table.
    """
    _check_mapping(mapping)
    return vocabulary.index_table_from_tensor(
        mapping, num_oov_buckets, default_value, hasher_spec, dtype, name
    )


@export("contrib.lookup.index_to_string_table_from_tensor")
def index_to_string_table_from_tensor(
    mapping: TensorLike, default_value: str = "UNK", name: str | None = None
) -> Any:
    """Makes a table from places to the elements of a vector.

    Args:
      mapping: A vector of strings.
      default_value: The value of what the table does not have, without buckets.
      name: The name of the table.

    Returns:
      The table.
    """
    _check_mapping(mapping)
    return vocabulary.index_to_string_table_from_tensor(mapping, default_value, name)


@export("contrib.lookup.string_to_index_table_from_file")
def string_to_index_table_from_file(
    vocabulary_file: TensorLike | None = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    hasher_spec: HasherSpec = FastHashSpec,
    name: str | None = None,
) -> Any:
    """Makes a table from the lines of a file to their numbers.

    Args:
      vocabulary_file: The file, a string or a scalar string tensor.
      num_oov_buckets: The number of buckets for what the table does not have.
      vocab_size: The number of lines that are used; all if None.
      default_value: The value of what the table does not have, without buckets.
      hasher_spec: The hash function of the buckets.
      name: The name of the table.

    Returns:
      The table.
    """
    return vocabulary.index_table_from_file(
        vocabulary_file, num_oov_buckets, vocab_size, default_value, hasher_spec, dtypes.string, name
    )


@export("contrib.lookup.string_to_index_table_from_tensor")
def string_to_index_table_from_tensor(
    mapping: TensorLike,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: HasherSpec = FastHashSpec,
    name: str | None = None,
) -> Any:
    """Makes a table from the strings of a vector to their places.

    Args:
      mapping: A vector of strings.
      num_oov_buckets: The number of buckets for what the table does not have.
      default_value: The value of what the table does not have, without buckets.
      hasher_spec: The hash function of the buckets.
      name: The name of the table.

    Returns:
      The table.
    """
    with name_scope(name, "string_to_index") as scope:
        mapping = convert_to_tensor(mapping)
    if mapping.dtype.base_dtype != dtypes.string:
        raise ValueError("string_to_index_table_from_tensor requires string.")
    return index_table_from_tensor(mapping, num_oov_buckets, default_value, hasher_spec, name=scope)


@export("contrib.lookup.string_to_index")
def string_to_index(
    tensor: TensorLike, mapping: TensorLike, default_value: int = -1, name: str | None = None
) -> Any:
    """Finds the places of strings in a vector.

    Args:
      tensor: A tensor of strings.
      mapping: A vector of strings.
      default_value: The value of what the table does not have, without buckets.
      name: The name scope of the operations.

    Returns:
      An int64 tensor of places.
    """
    return index_table_from_tensor(mapping, default_value=default_value, name=name).lookup(tensor)


@export("contrib.lookup.index_to_string")
def index_to_string(
    tensor: TensorLike, mapping: TensorLike, default_value: str = "UNK", name: str | None = None
) -> Any:
    """Finds the strings at places of a vector.

    Args:
      tensor: An int64 tensor of places.
      mapping: A vector of strings.
      default_value: The value of what the table does not have, without buckets.
      name: The name scope of the operations.

    Returns:
      A tensor of strings.
    """
    return index_to_string_table_from_tensor(mapping, default_value, name).lookup(tensor)
