"""Names that slim has because it takes over all of its modules: `slim.bucketize` and others."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.contrib.framework.argument_scopes import arg_scope_func_key
from tideflow.contrib.layers.columns import scattered
from tideflow.export import export, expose
from tideflow.graph.composite import SparseTensor
from tideflow.graph.operation import Tensor
from tideflow.nn import embeddings
from tideflow.ops.math.histograms import bucketize_op
from tideflow.ops.sparse import feature_crosses
from tideflow.platform import logging
from tideflow.variables.partitioned import PartitionedVariable

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

expose(arg_scope_func_key, "contrib.slim.arg_scope_func_key")


@export("contrib.slim.experimental")
def experimental(func: Callable) -> Callable:
    """Has a function warn, whenever it is called, that it may change.

    Args:
      func: The function.

    Returns:
      The function, decorated.
    """

    @functools.wraps(func)
    def warn_and_call(*args: Any, **kwargs: Any) -> Any:
        logging.warning(
            "%s (from %s) is experimental and may change or be removed at any time, and without warning.",
            func.__qualname__,
            func.__module__,
        )
        return func(*args, **kwargs)

    first, _, rest = (func.__doc__ or "").partition("\n")
    notice = "THIS FUNCTION IS EXPERIMENTAL. It may change or be removed at any time, and without warning."
    warn_and_call.__doc__ = f"{first} (experimental)\n\n{notice}\n{rest}"
    return warn_and_call


@export("contrib.slim.bucketize")
def bucketize(input_tensor: TensorLike, boundaries: Sequence[float], name: str | None = None) -> Tensor:
    """Says between which boundaries numbers lie.

    Args:
      input_tensor: Numbers.
      boundaries: The boundaries, in order.
      name: A name for the operation.

    Returns:
      For each number how many boundaries are not above it, int32.
    """
    return bucketize_op(input_tensor, boundaries=boundaries, name=name)


@export("contrib.slim.sparse_feature_cross")
def sparse_feature_cross(
    inputs: list[Any],
    hashed_output: bool = False,
    num_buckets: int = 0,
    name: str | None = None,
    hash_key: int | None = None,
) -> SparseTensor:
    """Every combination of the features that a row has in several columns.

    Args:
      inputs: The columns, a list of SparseTensors and tensors of rank 2, of strings or integers.
      hashed_output: Whether combinations are hashed, and not joined.
      num_buckets: The number of different hashes; 0 for any.
      name: A name for the operation.
      hash_key: The key that hashes are combined by; an older way without one if None.

    Returns:
      The combinations of each row: a SparseTensor of strings, or of int64.

    Raises:
      TypeError: If `inputs` is no list, or something in it is no tensor.
    """
    if not isinstance(inputs, list):
        raise TypeError("Inputs must be a list")
    if not all(isinstance(column, (SparseTensor, Tensor)) for column in inputs):
        raise TypeError("All inputs must be SparseTensors")
    return feature_crosses.sparse_feature_cross(inputs, hashed_output, num_buckets, name, hash_key)


def _parts(params: Any) -> list[Any]:
    return list(params) if isinstance(params, (list, PartitionedVariable)) else [params]


@export("contrib.slim.scattered_embedding_lookup")
def scattered_embedding_lookup(
    params: TensorLike | Sequence[TensorLike],
    values: TensorLike,
    dimension: int,
    name: str | None = None,
    hash_key: int | None = None,
) -> Tensor:
    """Embeds values by hashing: the numbers of an embedding lie scattered over one vector, for all values.

    Args:
      params: The vector, or a list of its parts, of which the first ones may be one longer.
      values: The values.
      dimension: The size of an embedding.
      name: A name for the operations.
      hash_key: The key that hashes are combined by; an older way without one if None.

    Returns:
      A tensor of the shape of `values` and `dimension`.

    Raises:
      ValueError: If the size is not positive, or that of a part is wrong.
    """
    if dimension is None:
        raise ValueError("You must specify dimension.")
    if dimension <= 0:
        raise ValueError(f"Dimension must be >0. Given is {dimension}")
    return scattered.scattered_embedding_lookup(_parts(params), values, dimension, hash_key, name)


@export("contrib.slim.scattered_embedding_lookup_sparse")
def scattered_embedding_lookup_sparse(
    params: TensorLike | Sequence[TensorLike],
    sparse_values: SparseTensor,
    dimension: int,
    combiner: str | None = None,
    default_value: Any = None,
    name: str | None = None,
    hash_key: int | None = None,
) -> Tensor:
    """Embeds the values of a sparse tensor by hashing, and combines those of a row.

    Args:
      params: The vector, or a list of its parts, of which the first ones may be one longer.
      sparse_values: The values, of rank 2.
      dimension: The size of an embedding.
      combiner: `"sum"`, `"mean"` or `"sqrtn"`; the mean if None.
      default_value: The value of rows that have none; one of its own if None.
      name: A name for the operations.
      hash_key: The key that hashes are combined by; an older way without one if None.

    Returns:
      A tensor [rows, dimension].

    Raises:
      TypeError: If the values are no SparseTensor.
      ValueError: If there is no such combiner.
    """
    if not isinstance(sparse_values, SparseTensor):
        raise TypeError("sparse_values must be SparseTensor")
    return scattered.scattered_embedding_lookup_sparse(
        _parts(params), sparse_values, dimension, combiner or "mean", name, hash_key, default_value
    )


@export("contrib.slim.embedding_lookup_sparse_with_distributed_aggregation")
def embedding_lookup_sparse_with_distributed_aggregation(
    params: TensorLike | Sequence[TensorLike],
    sp_ids: SparseTensor,
    sp_weights: SparseTensor | None,
    partition_strategy: str = "mod",
    name: str | None = None,
    combiner: str | None = None,
    max_norm: float | None = None,
) -> Tensor:
    """Combines the embeddings of the ids of each row, as `tf.nn.embedding_lookup_sparse` does.

    TensorFlow sums up the rows of each part of the embedding where that part is. Here a step on a cluster
    sends what its parts need of each other in any case.

    Args:
      params: The embedding: a tensor, a partitioned variable, or a list of parts.
      sp_ids: The ids, a SparseTensor with a row for each example.
      sp_weights: The weights of the ids; all weigh 1 if None.
      partition_strategy: `"mod"` or `"div"`: how ids are spread over the parts.
      name: A name for the operation.
      combiner: `"mean"`, `"sqrtn"` or `"sum"`; the mean if None.
      max_norm: The largest norm of an embedding; any if None.

    Returns:
      A tensor with a row for each example.

    Raises:
      TypeError: If the ids or weights are no SparseTensor.
      ValueError: If the combiner is another one.
    """
    if combiner is None:
        logging.warning('The default value of combiner will change from "mean" to "sqrtn" after 2016/11/01.')
        combiner = "mean"
    return embeddings.embedding_lookup_sparse(
        _parts(params), sp_ids, sp_weights, partition_strategy, name, combiner, max_norm
    )
