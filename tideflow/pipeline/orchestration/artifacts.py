"""Artifacts: what one component leaves in a folder for others, with a type and a few properties.

The type's name is TFX's, so that people recognise lineage. A type is a class only so that signatures of
components can say it: `examples: Input[Examples]`.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, ClassVar

TYPES: dict[str, type[Artifact]] = {}


@dataclasses.dataclass
class Artifact:
    """A folder that a component wrote, or is about to write.

    Attributes:
        uri: the folder.
        properties: facts in JSON that others ask for without reading files: `span`, `splits`, `blessed`.
        fingerprint: a digest of the folder's files; empty while the component writes.
        id: its number in the metadata; 0 while the component writes.
    """

    uri: Path
    properties: dict[str, Any] = dataclasses.field(default_factory=dict)
    fingerprint: str = ""
    id: int = 0

    contents: ClassVar[str] = "files"

    def __init_subclass__(cls) -> None:
        TYPES[cls.__name__] = cls

    @property
    def type_name(self) -> str:
        """The name of the type, as metadata keep it."""
        return type(self).__name__

    def split(self, name: str) -> Path:
        """The folder of one split."""
        return self.uri / f"Split-{name}"

    @property
    def splits(self) -> list[str]:
        """The names of its splits, in order."""
        return list(self.properties.get("splits", []))


class Examples(Artifact):
    """Rows by split: `Split-train/`, `Split-eval/`."""

    contents = "rows by split"


class ExampleStatistics(Artifact):
    """By split, `FeatureStats.pb`: a `DatasetFeatureStatisticsList`."""

    contents = "statistics by split"


class Schema(Artifact):
    """`schema.pbtxt`."""

    contents = "a schema"


class ExampleAnomalies(Artifact):
    """By split, `SchemaDiff.pb`: an `Anomalies` message."""

    contents = "anomalies by split"


class TransformGraph(Artifact):
    """`transform_fn/` and `transformed_metadata/`."""

    contents = "a transform graph"


class Model(Artifact):
    """`serving_model_dir/`, a SavedModel; `eval_model_dir/` where evaluation takes another one."""

    contents = "a model"


class ModelRun(Artifact):
    """Checkpoints and TensorBoard's events of a training."""

    contents = "checkpoints and events of a training"


class ModelEvaluation(Artifact):
    """Metrics, plots and the validation's result of a model."""

    contents = "metrics by slice"


class ModelBlessing(Artifact):
    """`BLESSED` or `NOT_BLESSED`; properties: `blessed`, `reasons`."""

    contents = "whether the model is good enough"


class InfraBlessing(Artifact):
    """`INFRA_BLESSED` or `INFRA_NOT_BLESSED`; properties: `blessed`, `reasons`."""

    contents = "whether the model is safe to serve"


class PushedModel(Artifact):
    """The version that was pushed; properties: `pushed`, `destination`, `version`."""

    contents = "where the model was pushed"
