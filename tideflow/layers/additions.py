"""What the calls of a layer add to a step of training: losses, updates and metrics."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tideflow.export import load, symbols
from tideflow.graph import nest
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import name_scope
from tideflow.layers import keras_state
from tideflow.layers.keras_graph import note_update, runs_as_function
from tideflow.layers.nodes import behind
from tideflow.ops.arrays import shapes
from tideflow.ops.math import casting

if TYPE_CHECKING:
    from tideflow.graph.typing import RegularizerLike


class Additions:
    """The part of `Layer` that keeps losses, updates and metrics."""

    _losses: list[Tensor]
    _losses_of_calls: dict[int, list[Tensor]]
    _callable_losses: list[Callable]
    _updates: list[Any]
    _metrics: list[Any]

    def _regularize(self, name: str, variable: Any, regularizer: RegularizerLike) -> None:
        """Adds a weight's penalty, computed wherever somebody asks for the losses."""

        def penalty() -> Any:
            owner = name if variable.handle.is_eager else variable.op.name
            with name_scope(f"{owner}/Regularizer"):
                return regularizer(variable)

        self.add_loss(penalty)

    def _regularize_activity(self, inputs: Any, outputs: Any) -> None:
        if self.activity_regularizer is None:
            return
        with name_scope("ActivityRegularizer"):
            for output in nest.flatten(outputs):
                loss = self.activity_regularizer(output)
                batch = casting.cast(shapes.shape(output)[0], loss.dtype)
                self.add_loss(loss / batch, inputs=inputs)

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Adds losses of the layer.

        Args:
          losses: A loss, a list of losses, or functions without arguments that compute one.
          inputs: The inputs on which the losses depend; None if they depend on none.
        """
        for loss in nest.flatten(losses):
            if callable(loss):
                self._callable_losses.append(loss)
            elif loss is not None and runs_as_function():
                kept = self._losses_of_calls.setdefault(threading.get_ident(), [])
                kept.append(convert_to_tensor(loss, preferred_dtype=keras_state.floatx()))
            elif loss is not None:
                loss = convert_to_tensor(loss, preferred_dtype=keras_state.floatx())
                loss._unconditional_loss = inputs is None
                self._losses.append(loss)

    def _clear_losses(self) -> None:
        """Drops the losses of the last call, here and in the layers inside."""
        self._losses_of_calls.pop(threading.get_ident(), None)
        for layer in self._inner_layers():
            layer._clear_losses()

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Adds operations that a training step should run.

        Args:
          updates: An operation, a function without arguments that makes it, or a list of these. In eager mode
            the functions of a layer that is not trainable are not called.
          inputs: The inputs on which the operations depend; None if they depend on none.
        """
        at_once = runs_as_function()
        for update in nest.flatten(updates):
            is_function = callable(update) and not isinstance(update, Operation)
            if at_once and is_function and not self.trainable:
                continue
            op = update() if is_function else update
            if at_once:  # it has run, or runs with the function, or with the step that is being built
                note_update(op)
                continue
            op = getattr(op, "op", op)
            around = keras_state.inputs_of_call()
            conditional = inputs is not None or (around is not None and bool(behind([op], around)))
            self._updates.append((op, conditional))

    def add_metric(self, value: Any, aggregation: str | None = None, name: str | None = None) -> None:
        """Adds a metric, which models report beside those of `compile`.

        Args:
          value: The metric: a structure of values that are averaged, or the result of a metric object.
          aggregation: `"mean"`; None where a metric object has aggregated the value.
          name: The name of the metric.

        Raises:
          ValueError: If the aggregation is unknown, or the name is missing.
        """
        if aggregation not in (None, "mean"):
            raise ValueError(
                "We currently support only `mean` sample-wise metric aggregation. You provided "
                f"aggregation=`{aggregation}`"
            )
        metric = getattr(value, "_metric_obj", None)
        if name is None and metric is None:
            raise ValueError(
                "Please provide a name for your metric like `self.add_metric(tf.reduce_sum(inputs), "
                "name='mean_activation', aggregation='mean')`"
            )
        if aggregation is None and metric is None:
            raise ValueError(
                "We do not support adding an aggregated metric result tensor that is not the output of a "
                "`tf.keras.metrics.Metric` metric instance. Pass the result of a metric object, or a value "
                "with `aggregation='mean'`."
            )
        if metric is None:
            known = next((m for m in self._metrics if m.name == name), None)
            metric = known or _mean_metric(name)
            metric(value)
        if all(metric is not other for other in self._metrics):
            self._metrics.append(metric)

    @property
    def metrics(self) -> list[Any]:
        """The metrics that were added to the layer and the layers in it."""
        return self._metrics + self._of_inner_layers("metrics")

    @property
    def losses(self) -> list[Tensor]:
        """The losses that were added to the layer and the layers in it."""
        made = []
        for compute in self._callable_losses:
            loss = compute()
            if loss is not None:
                loss = convert_to_tensor(loss, preferred_dtype=keras_state.floatx())
                loss._unconditional_loss = True
                made.append(loss)
        of_call = self._losses_of_calls.get(threading.get_ident())
        return (of_call or self._losses) + made + self._of_inner_layers("losses")

    @property
    def updates(self) -> list[Any]:
        """The operations that were added to the layer and the layers in it."""
        if not self.trainable and not self.stateful:
            return []
        return [update for update, _ in self._updates] + self._of_inner_layers("updates")

    def get_losses_for(self, inputs: Any) -> list[Tensor]:
        """Gets the losses that depend on inputs.

        Args:
          inputs: The inputs; None for the losses that depend on none.

        Returns:
          A list of losses.
        """
        losses = self.losses
        if inputs is None:
            return [loss for loss in losses if getattr(loss, "_unconditional_loss", False)]
        conditional = [loss for loss in losses if not getattr(loss, "_unconditional_loss", False)]
        return behind(conditional, inputs)

    def get_updates_for(self, inputs: Any) -> list[Any]:
        """Gets the update operations that depend on inputs.

        Args:
          inputs: The inputs; None for the operations that depend on none.

        Returns:
          A list of operations.
        """
        updates = self._marked_updates()
        if inputs is None:
            return [update for update, conditional in updates if not conditional]
        return behind([update for update, conditional in updates if conditional], inputs)

    def _marked_updates(self) -> list[tuple[Any, bool]]:
        """The updates, each with whether it depends on inputs."""
        if not self.trainable and not self.stateful:
            return []
        return self._updates + [pair for layer in self._inner_layers() for pair in layer._marked_updates()]


def _mean_metric(name: str | None) -> Any:
    load("keras.metrics.Mean")  # metrics are layers themselves
    return symbols["keras.metrics.Mean"](name=name)
