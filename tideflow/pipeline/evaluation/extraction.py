"""From a block to the labels, predictions and weights of its models, and to its slices."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.pipeline.data.lists import lists_of
from tideflow.pipeline.evaluation.inputs import PREDICTION_KEYS, Batch, Ragged, RowValues, dense, values_of
from tideflow.pipeline.evaluation.keys import SliceKey
from tideflow.pipeline.evaluation.models import ModelPredictions
from tideflow.pipeline.evaluation.slices import SliceSpec, slice_specs_of, slices

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class ModelColumns:
    """Where a model's labels, predictions and weights come from.

    Args:
      name: The model's name.
      labels: The features with labels, by output ("" for all outputs).
      predictions: The features with predictions, or, where a model predicts, its outputs, by output.
      weights: The features with weights, by output.
      predict: The model that predicts; None where predictions are features.
    """

    name: str
    labels: Mapping[str, str]
    predictions: Mapping[str, str]
    weights: Mapping[str, str]
    predict: ModelPredictions | None = None

    def transformed(self, block: pa.RecordBatch) -> dict[str, pa.Array]:
        """The columns that the model makes of a block: labels, weights and slices may be among them."""
        if self.predict is None:
            return {}
        made = self.predict.transformed_features(block).items()
        rows = block.num_rows
        return {
            name: lists_of(values.reshape(-1), np.full(rows, values.size // max(rows, 1)))
            for name, values in made
        }

    def read(
        self, block: pa.RecordBatch, columns: Mapping[str, pa.Array], outputs: Sequence[str], into: Batch
    ) -> None:
        """Puts the labels, predictions and weights of a block into a batch."""
        vocabulary = None
        if self.predict is not None:
            found = self.predict(block)
            vocabulary = _vocabulary(found)
            into.outputs.update({(self.name, name): np.asarray(value) for name, value in found.items()})
            for output in outputs:
                into.predictions[self.name, output] = _prediction(
                    found, output, self.predictions.get(output, "")
                )
        else:
            for output, column in self.predictions.items():
                into.predictions[self.name, output] = values_of(
                    _column(columns, column, "prediction"), column
                )
        for output, column in self.labels.items():
            label = values_of(_column(columns, column, "label"), column)
            into.labels[self.name, output] = _class_ids(label, vocabulary)
        for output, column in self.weights.items():
            into.weights[self.name, output] = dense(_column(columns, column, "example weight"), column)[
                :, 0
            ].astype(float)


def _column(columns: Mapping[str, pa.Array], name: str, what: str) -> pa.Array:
    if name not in columns:
        raise ValueError(
            f"the data have no feature {name!r} for the {what}; they have {', '.join(sorted(columns))}"
        )
    return columns[name]


def _prediction(found: Mapping[str, np.ndarray], output: str, key: str) -> RowValues:
    """The output that is the prediction. Metrics may need none: those that name the outputs they read."""
    chosen = {
        name.split("/", 1)[-1]: value
        for name, value in found.items()
        if name.split("/", 1)[0] == output and output
    }
    chosen = chosen or dict(found)
    if len(chosen) == 1:
        (value,) = chosen.values()
    else:
        named = [key] if key else [output, *PREDICTION_KEYS]
        name = next((name for name in named if name in chosen), None)
        if name is None:
            problem = (
                "unable to prepare prediction for metric computation because the model has the outputs "
                f"{', '.join(sorted(chosen))}: name one in ModelSpec.prediction_key"
            )
            return Ragged([], problem)
        value = chosen[name]
    value = np.asarray(value)
    return value.reshape(len(value), -1)


def _vocabulary(found: Mapping[str, np.ndarray]) -> list[bytes] | None:
    for classes in ("all_classes", "classes"):
        if classes in found and (classes == "all_classes" or "scores" in found):
            first = np.asarray(found[classes]).reshape(len(found[classes]), -1)[:1]
            return [each.encode() if isinstance(each, str) else each for each in first.reshape(-1).tolist()]
    return None


def _class_ids(label: RowValues, vocabulary: list[bytes] | None) -> RowValues:
    """Labels that are names of classes become their ids."""
    if vocabulary is None or isinstance(label, Ragged) or label.dtype != object:
        return label
    ids = {name: index for index, name in enumerate(vocabulary)}
    return np.asarray([[ids.get(each, -1) for each in row] for row in label.tolist()])


@dataclass(frozen=True)
class Extraction:
    """From a block to its batch and its slices."""

    models: Sequence[ModelColumns]
    outputs: Sequence[str]
    slice_specs: Sequence[SliceSpec]

    def __call__(self, block: pa.RecordBatch) -> tuple[Batch, dict[SliceKey, np.ndarray]]:
        columns = {name: block.column(name) for name in block.schema.names}
        transformed = [model.transformed(block) for model in self.models]
        every = {**columns, **ChainMap(*transformed)}
        batch = Batch(every, block.num_rows, {}, {}, {})
        for model, own in zip(self.models, transformed):
            model.read(block, {**columns, **own}, self.outputs, batch)
        return batch, slices(every, block.num_rows, self.slice_specs)


def extraction_of(config: Any, predict: Mapping[str, ModelPredictions]) -> Extraction:
    """The extraction that a completed EvalConfig asks for, with the models that predict by name."""
    models = []
    for spec in config.model_specs:
        keys: list[dict[str, str]] = []
        for field_name in ("label_key", "prediction_key", "example_weight_key"):
            single, several = getattr(spec, field_name), dict(getattr(spec, f"{field_name}s"))
            keys.append({"": single} if single else several)
        labels, predictions, weights = keys
        models.append(ModelColumns(spec.name, labels, predictions, weights, predict.get(spec.name)))
    outputs = sorted({name for spec in config.metrics_specs for name in spec.output_names}) or [""]
    return Extraction(models, outputs, slice_specs_of(config))
