"""Training on replicas: the model function runs for each device of a strategy; one spec stands for all."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from tideflow.data.dataset import Dataset
from tideflow.distribute.input_context import InputContext
from tideflow.distribute.strategy import Strategy, get_loss_reduction
from tideflow.estimator.input_results import IteratorInitializerHook, features_and_labels
from tideflow.estimator.spec import EstimatorSpec
from tideflow.train.session_run_hook import SessionRunHook


def input_of_replicas(
    strategy: Strategy, call_input_fn: Callable[[InputContext], Any]
) -> tuple[Any, Any, list[SessionRunHook]]:
    """The features and labels of each replica, and the hooks that the input needs."""

    def dataset_of(context: InputContext) -> Any:
        found = call_input_fn(context)
        if not isinstance(found, Dataset) and not callable(found):
            raise ValueError(
                "input_fn() must return a tf.data.Dataset or a callable when using a tf.distribute.Strategy."
            )
        return found

    iterator = strategy.make_input_fn_iterator(dataset_of)
    hooks: list[SessionRunHook] = []
    if hasattr(iterator, "initializer"):
        hooks.append(IteratorInitializerHook(iterator))
    features, labels, _ = features_and_labels(iterator.get_next())
    return features, labels, hooks


def spec_of_replicas(
    strategy: Strategy, call_model_fn: Callable[[Any, Any], EstimatorSpec], features: Any, labels: Any
) -> EstimatorSpec:
    """One spec for those of all replicas: their losses reduced, their training steps as one."""
    specs: list[EstimatorSpec] = []

    def of_replica(its_features: Any, its_labels: Any) -> Any:
        specs.append(call_model_fn(its_features, its_labels))
        return specs[-1].loss, specs[-1].train_op

    with _scaled_losses(strategy):
        losses, train_ops = strategy.extended.call_for_each_replica(of_replica, args=(features, labels))
        how = get_loss_reduction()
    loss = strategy.reduce(how, losses) if strategy.num_replicas_in_sync > 1 else losses
    return specs[0]._replace(loss=loss, train_op=strategy.group(train_ops))


@contextlib.contextmanager
def _scaled_losses(strategy: Strategy) -> Iterator[None]:
    """Lets optimizers divide a mean loss by the number of replicas, whose gradients they add."""
    try:
        strategy._scale_loss_for_estimator = True
        yield
    finally:
        strategy._scale_loss_for_estimator = False
