"""What an input function returns, as the features and labels of a model function."""

from __future__ import annotations

from typing import Any

import tideflow as tf
from tideflow.data.dataset import Dataset
from tideflow.graph.scopes import GraphKeys, get_collection
from tideflow.ops.datasets.iterators import get_next_op, get_next_sync_op
from tideflow.train.session_run_hook import SessionRunHook


class IteratorInitializerHook(SessionRunHook):
    """Initializes an iterator in every session that is made."""

    def __init__(self, iterator: Any):
        self._iterator = iterator

    def begin(self) -> None:
        self._initializer = self._iterator.initializer

    def after_create_session(self, session: Any, coord: Any) -> None:
        session.run(self._initializer)


def features_and_labels(result: Any) -> tuple[Any, Any, list[SessionRunHook]]:
    """The features, the labels or None, and the hooks that the input needs."""
    hooks: list[SessionRunHook] = []
    if isinstance(result, Dataset):
        iterator = tf.data.make_initializable_iterator(result)
        hooks.append(IteratorInitializerHook(iterator))
        result = iterator.get_next()
    if not isinstance(result, (list, tuple)):
        return result, None, hooks
    if len(result) != 2:
        raise ValueError("input_fn should return (features, labels) as a len 2 tuple.")
    return result[0], result[1], hooks


def ends(features: Any) -> bool:
    """Whether an input can end, because a dataset or a queue is behind it."""
    tensors = [item for item in tf.nest.flatten(features) if isinstance(item, tf.Tensor)]
    if any(tensor.op.definition in (get_next_op, get_next_sync_op) for tensor in tensors):
        return True
    return bool(get_collection(GraphKeys.QUEUE_RUNNERS))
