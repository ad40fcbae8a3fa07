"""Feeds: which tensors a `feed_dict` names, and its values as the step takes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from tideflow.graph import dtypes
from tideflow.graph.arrays import as_array
from tideflow.graph.composite import IndexedSlices, SparseTensor
from tideflow.graph.dtypes import DType
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Tensor
from tideflow.runtime.values import to_torch
from tideflow.session.fetches import expansion_of


def flat_feeds(graph: Graph, feed_dict: Mapping[Any, Any] | None) -> tuple[list[Tensor], list[Any]]:
    """Every tensor that a feed_dict names, and the value that is fed for it."""
    if feed_dict is not None and not isinstance(feed_dict, Mapping):
        raise TypeError(f"input must be a dictionary of tensors and values, but feed_dict is {feed_dict!r}")
    pairs = [pair for key, value in (feed_dict or {}).items() for pair in _pairs(graph, key, value)]
    return [tensor for tensor, _ in pairs], [value for _, value in pairs]


def are_single_tensors(feed_dict: Mapping[Any, Any]) -> bool:
    """Whether every key of a feed_dict is one tensor, which is fed its value as it is."""
    return not any(
        isinstance(key, (tuple, SparseTensor, IndexedSlices)) or expansion_of(key) is not None
        for key in feed_dict
    )


def _pairs(graph: Graph, key: Any, value: Any) -> list[tuple[Tensor, Any]]:
    if isinstance(key, tuple):
        if not isinstance(value, (tuple, list)) or len(value) != len(key):
            raise ValueError(f"Cannot feed {value!r} for the {len(key)} keys {key}: give a value for each.")
        return [pair for k, v in zip(key, value) for pair in _pairs(graph, k, v)]
    expansion = expansion_of(key)
    if expansion is not None and expansion.feed is not None:
        return list(expansion.feed(key, value))
    tensors = resolve_feed(graph, key)
    if not isinstance(key, (SparseTensor, IndexedSlices)):
        return [(tensors[0], value)]
    if not isinstance(value, (tuple, list)):
        raise TypeError(f"Cannot feed {value!r} for {key}: give a value for each of its parts.")
    parts = [part for part in value if part is not None]
    without_shape = _has_known_shape(key) and len(parts) == 2
    if len(parts) != len(tensors) and not without_shape:
        raise ValueError(f"Cannot feed {value!r} for {key}: give a value for each of its parts.")
    return [(_feedable(graph, tensor), part) for tensor, part in zip(tensors, parts)]


def resolve_feed(graph: Graph, key: Any) -> list[Tensor]:
    """The tensors that a key of a feed_dict stands for: one, the parts of a sparse value, or those of a
    tuple.
    """
    if isinstance(key, SparseTensor):
        return [key.indices, key.values, key.dense_shape]
    if isinstance(key, IndexedSlices):
        return [part for part in (key.values, key.indices, key.dense_shape) if part is not None]
    if isinstance(key, tuple):
        return [tensor for part in key for tensor in resolve_feed(graph, part)]
    expansion = expansion_of(key)
    if expansion is not None and expansion.tensors is not None:
        return list(expansion.tensors(key))
    try:
        tensor = graph.as_graph_element(key, allow_operation=False)
    except (TypeError, ValueError, KeyError) as error:
        raise TypeError(f"Cannot interpret feed_dict key as Tensor: {error.args[0]}") from None
    return [_feedable(graph, tensor)]


def _has_known_shape(key: SparseTensor | IndexedSlices) -> bool:
    return isinstance(key, SparseTensor) and key.dense_shape.op.definition.role != "placeholder"


def _feedable(graph: Graph, tensor: Tensor) -> Tensor:
    if not graph.is_feedable(tensor):
        raise ValueError(f"Tensor {tensor} may not be fed.")
    return tensor


def check_shape(tensor: Tensor, value: Any) -> None:
    """ValueError where a fed value's shape contradicts the tensor's."""
    if not tensor.shape.is_compatible_with(tuple(value.shape)):
        raise ValueError(
            f"Cannot feed value of shape {tuple(value.shape)!r} for Tensor {tensor.name!r}, which has shape "
            f"{str(tensor.shape)!r} (made at {tensor.op.user_line})"
        )


def feeder(tensor: Tensor) -> Callable[[Any], Any]:
    """The function that turns a value fed for `tensor` into what the step takes; arrays of its dtype are not
    copied.
    """
    dtype = tensor.dtype.base_dtype
    if dtype is dtypes.string:
        return _string_feeder(tensor)
    if dtype.torch is None:
        raise TypeError(f"Tensor {tensor.name!r} of type {dtype.name} may not be fed.")
    numpy_dtype, torch_dtype = np.dtype(dtype.numpy), dtype.torch
    from_numpy, array = torch.from_numpy, np.array
    is_float = dtype in (dtypes.float32, dtypes.float64)

    def feed(value: Any) -> torch.Tensor:
        kind = value.__class__
        if kind is np.ndarray and value.dtype is numpy_dtype and value.flags.writeable:
            try:
                return from_numpy(value)
            except (ValueError, TypeError):  # negative strides, or a dtype that torch cannot share
                copied: torch.Tensor = to_torch(value)
                return copied
        if kind is float and is_float:
            return from_numpy(array(value, numpy_dtype))
        if isinstance(value, torch.Tensor):
            return value.detach().to(torch_dtype)
        fed: torch.Tensor = to_torch(_as_array(value, tensor, dtype, numpy_dtype))
        return fed

    return feed


def _as_array(value: Any, tensor: Tensor, dtype: DType, numpy_dtype: np.dtype[Any]) -> np.ndarray:
    if isinstance(value, Tensor):
        raise TypeError(
            "The value of a feed cannot be a tf.Tensor object. Acceptable feed values include Python "
            "scalars, strings, lists, numpy ndarrays, or TensorHandles. For reference, the tensor object was "
            f"{value} which was passed to the feed with key {tensor}."
        )
    try:
        array = np.asarray(value, dtype=numpy_dtype)
    except OverflowError:
        raise _too_large(value, tensor, dtype) from None
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"Cannot feed {type(value).__name__} for Tensor {tensor.name!r} of type {dtype.name}: {error}"
        ) from None
    if isinstance(value, int) and not dtype.is_bool and array != value:
        raise _too_large(value, tensor, dtype)
    return array


def _too_large(value: Any, tensor: Tensor, dtype: DType) -> TypeError:
    return TypeError(
        f"Type of feed value {value} with type {type(value)} is not compatible with Tensor type "
        f"{dtype.as_numpy_dtype}. Try explicitly setting the type of the feed tensor to a "
        f"larger type (e.g. int64). The tensor is {tensor.name!r}."
    )


def _string_feeder(tensor: Tensor) -> Callable[[Any], np.ndarray]:
    def feed(value: Any) -> np.ndarray:
        if isinstance(value, Tensor):
            return _as_array(value, tensor, tensor.dtype, np.dtype(object))
        return as_array(value, dtypes.string)

    return feed
