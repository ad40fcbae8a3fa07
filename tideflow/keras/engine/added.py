"""What `add_loss` and `add_metric` of a functional model add to it: layers that pass their input on."""

from __future__ import annotations

from typing import Any

from tideflow.layers.base import Layer


class AddLoss(Layer):
    """A layer whose input is a loss."""

    def __init__(self, unconditional: bool, **kwargs: Any):
        super().__init__(**kwargs)
        self.unconditional = unconditional

    def call(self, inputs: Any) -> Any:
        self.add_loss(inputs, inputs=None if self.unconditional else inputs)
        return inputs

    def get_config(self) -> dict[str, Any]:
        """The arguments of the constructor, by name."""
        return {**super().get_config(), "unconditional": self.unconditional}


class AddMetric(Layer):
    """A layer whose input is a metric."""

    def __init__(self, aggregation: str | None = None, metric_name: str | None = None, **kwargs: Any):
        super().__init__(**kwargs)
        self.aggregation = aggregation
        self.metric_name = metric_name

    def call(self, inputs: Any) -> Any:
        self.add_metric(inputs, self.aggregation, self.metric_name)
        return inputs

    def get_config(self) -> dict[str, Any]:
        """The arguments of the constructor, by name."""
        return {
            **super().get_config(),
            "aggregation": self.aggregation,
            "metric_name": self.metric_name,
        }
