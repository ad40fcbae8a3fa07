"""Pipelines: components with typed inputs and outputs, lineage, caching by content, resuming."""

from tideflow.pipeline.orchestration.components import (
    Context,
    Input,
    Output,
    component,
    earlier_span,
    latest_blessed,
)
from tideflow.pipeline.orchestration.data_components import (
    ExampleGen,
    ExampleValidator,
    SchemaGen,
    StatisticsGen,
    Transform,
)
from tideflow.pipeline.orchestration.model_components import Evaluator, InfraValidator, Pusher, Trainer
from tideflow.pipeline.orchestration.pipelines import Pipeline, load
from tideflow.pipeline.orchestration.runner import run

__all__ = [
    "Context",
    "Evaluator",
    "ExampleGen",
    "ExampleValidator",
    "InfraValidator",
    "Input",
    "Output",
    "Pipeline",
    "Pusher",
    "SchemaGen",
    "StatisticsGen",
    "Trainer",
    "Transform",
    "component",
    "earlier_span",
    "latest_blessed",
    "load",
    "run",
]
