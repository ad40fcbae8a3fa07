"""Embeddings: sequences of ids as sequences of vectors, bags of ids as their mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
from tideflow.variables.variable_scope import variable_scope


@export("contrib.layers.embed_sequence")
def embed_sequence(
    ids: Any,
    vocab_size: int | None = None,
    embed_dim: int | None = None,
    unique: bool = False,
    initializer: Any = None,
    regularizer: Callable | None = None,
    trainable: bool = True,
    scope: Any = None,
    reuse: bool | None = None,
) -> Tensor:
    """A vector for each id of a batch of sequences."""
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
    ids: Any,
    vocab_size: int,
    embed_dim: int,
    sparse_lookup: bool = True,
    initializer: Any = None,
    regularizer: Callable | None = None,
    trainable: bool = True,
    scope: Any = None,
    reuse: bool | None = None,
) -> Tensor:
    """The mean of the vectors of each bag of ids."""
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
    params: Any, ids: Any, partition_strategy: str = "mod", name: str | None = None
) -> Tensor:
    """`tf.nn.embedding_lookup` that looks each id up once, however often it comes."""
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
    embedding_weights: Any,
    sparse_ids: SparseTensor,
    sparse_weights: SparseTensor | None = None,
    combiner: str | None = None,
    default_id: int | None = None,
    name: str | None = None,
    partition_strategy: str = "div",
    max_norm: float | None = None,
) -> Tensor:
    """`tf.nn.embedding_lookup_sparse` that leaves out ids below 0, and gives `default_id`'s row for none at
    all.
    """
    return nn.safe_embedding_lookup_sparse(
        embedding_weights,
        sparse_ids,
        sparse_weights,
        combiner or "mean",
        default_id,
        name,
        partition_strategy,
        max_norm,
    )
