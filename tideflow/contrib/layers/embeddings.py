"""Embeddings: sequences of ids as sequences of vectors, bags of ids as their mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tideflow.contrib.framework.model_variables import model_variable
from tideflow.contrib.layers.arrangement import dense_to_sparse
from tideflow.export import export
from tideflow.graph.composite import SparseTensor
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.nn import embeddings as nn
from tideflow.ops.arrays import distinct, indexing, joining, shapes
from tideflow.ops.math import reductions
from tideflow.ops.math.checks import assert_same_float_dtype
from tideflow.variables.variable_scope import variable_scope

if TYPE_CHECKING:
    from tideflow.graph.typing import InitializerLike, RegularizerLike, TensorLike
    from tideflow.variables.variable_scope import VariableScope


@export("contrib.layers.embed_sequence")
def embed_sequence(
    ids: TensorLike,
    vocab_size: int | None = None,
    embed_dim: int | None = None,
    unique: bool = False,
    initializer: InitializerLike | None = None,
    regularizer: RegularizerLike | None = None,
    trainable: bool = True,
    scope: str | VariableScope | None = None,
    reuse: bool | None = None,
) -> Tensor:
    """A vector for each id of a batch of sequences.

    Args:
      ids: A tensor [batch, length] of ids.
      vocab_size: The number of ids; needed unless variables are reused.
      embed_dim: The length of a vector; needed unless variables are reused.
      unique: Whether each id is looked up once, however often it comes.
      initializer: The initializer of the variable.
      regularizer: The regularizer of the variable.
      trainable: Whether the variables are trained.
      scope: The variable scope of the layer; named after the layer if None.
      reuse: Whether the variables of an earlier layer of the same scope are shared.

    Returns:
      A tensor [batch, length, embed_dim].

    Raises:
      ValueError: If the sizes are missing and `reuse` is not set.
    """
    if not (reuse or (vocab_size and embed_dim)):
        raise ValueError(
            "Must specify vocab size and embedding dimension when not reusing. Got vocab_size="
            f"{vocab_size} and embed_dim={embed_dim}"
        )
    with variable_scope(scope, "EmbedSequence", [ids], reuse=reuse):
        shape = [vocab_size, embed_dim]
        if reuse and (vocab_size is None or embed_dim is None):
            shape = None
        table = _table(shape, initializer, regularizer, trainable)
        if unique:
            return embedding_lookup_unique(table, ids)
        return nn.embedding_lookup(table, ids)


@export("contrib.layers.bow_encoder")
def bow_encoder(
    ids: TensorLike | SparseTensor,
    vocab_size: int,
    embed_dim: int,
    sparse_lookup: bool = True,
    initializer: InitializerLike | None = None,
    regularizer: RegularizerLike | None = None,
    trainable: bool = True,
    scope: str | VariableScope | None = None,
    reuse: bool | None = None,
) -> Tensor:
    """The mean of the vectors of each bag of ids.

    Args:
      ids: A tensor [batch, ids], or a SparseTensor of ids.
      vocab_size: The number of ids.
      embed_dim: The length of a vector.
      sparse_lookup: Whether ids are looked up as a sparse tensor, in which 0 stands for no id.
      initializer: The initializer of the variable.
      regularizer: The regularizer of the variable.
      trainable: Whether the variables are trained.
      scope: The variable scope of the layer; named after the layer if None.
      reuse: Whether the variables of an earlier layer of the same scope are shared.

    Returns:
      A tensor [batch, embed_dim].

    Raises:
      TypeError: If `ids` is sparse and `sparse_lookup` False.
    """
    with variable_scope(scope, "bow_encoder", [ids], reuse=reuse):
        table = _table([vocab_size, embed_dim], initializer, regularizer, trainable)
        if not sparse_lookup:
            if isinstance(ids, SparseTensor):
                raise TypeError(f"ids are expected to be dense Tensor, got: {ids}")
            return reductions.reduce_mean(nn.embedding_lookup(table, ids), axis=1)
        if not isinstance(ids, SparseTensor):
            ids = dense_to_sparse(ids)
        return safe_embedding_lookup_sparse([table], ids, combiner="mean", default_id=0)


def _table(shape: Any, initializer: Any, regularizer: Any, trainable: bool) -> Any:
    return model_variable(
        "embeddings", shape=shape, initializer=initializer, regularizer=regularizer, trainable=trainable
    )


@export("contrib.layers.embedding_lookup_unique")
def embedding_lookup_unique(
    params: TensorLike, ids: TensorLike, partition_strategy: str = "mod", name: str | None = None
) -> Tensor:
    """`tf.nn.embedding_lookup` that looks each id up once, however often it comes.

    Args:
      params: The table of vectors, or a list of its parts.
      ids: A tensor of ids.
      partition_strategy: How ids are divided among the parts: `"mod"` or `"div"`.
      name: The name scope of the operations.

    Returns:
      A tensor with a vector for each id.
    """
    with name_scope(name, "EmbeddingLookupUnique", [params, ids]):
        ids = convert_to_tensor(ids)
        known = shapes.shape(ids)
        flat = shapes.reshape(ids, reductions.reduce_prod(known, keepdims=True))
        unique, places = distinct.unique(flat)
        rows = nn.embedding_lookup(params, unique, partition_strategy)
        found = indexing.gather(rows, places)
        result = shapes.reshape(found, joining.concat([known, shapes.shape(rows)[1:]], 0))
        result.set_shape(ids.shape.concatenate(rows.shape[1:]))
        return result


@export("contrib.layers.safe_embedding_lookup_sparse")
def safe_embedding_lookup_sparse(
    embedding_weights: TensorLike | Sequence[TensorLike],
    sparse_ids: SparseTensor,
    sparse_weights: SparseTensor | None = None,
    combiner: str | None = None,
    default_id: int | None = None,
    name: str | None = None,
    partition_strategy: str = "div",
    max_norm: float | None = None,
) -> Tensor:
    """Looks up the vectors of sparse ids, of which negative ones are left out, and combines those of a row.

    Args:
      embedding_weights: The table of vectors, or a list of its parts.
      sparse_ids: A SparseTensor [batch, ids] of ids.
      sparse_weights: A SparseTensor with a weight for each id; all weigh 1 if None.
      combiner: How the vectors of a row are combined: `"mean"` (None), `"sum"` or `"sqrtn"`.
      default_id: The id of a row without any; zeros if None.
      name: The name scope of the operations.
      partition_strategy: How ids are divided among the parts: `"div"` or `"mod"`.
      max_norm: The largest norm of a vector; any if None.

    Returns:
      A tensor [batch, size].

    Raises:
      ValueError: If there is no table, or the types of its parts and of the weights differ.
    """
    parts = nn.safe_tables(embedding_weights, sparse_weights)
    assert_same_float_dtype([*parts, sparse_weights])
    return nn.safe_embedding_lookup_sparse(
        parts,
        sparse_ids,
        sparse_weights,
        combiner or "mean",
        default_id,
        name,
        partition_strategy,
        max_norm,
    )
