"""What a training function is told, under TFX's names."""

from __future__ import annotations

import dataclasses
import json
from typing import Any


@dataclasses.dataclass
class FnArgs:
    """The arguments of a training function.

    Attributes:
      train_files: The files of the examples to train with.
      eval_files: The files of the examples to evaluate with.
      serving_model_dir: Where the function exports its SavedModel.
      model_run_dir: Where it keeps checkpoints and TensorBoard's events. What an interrupted run left there
        is found by the next.
      transform_output: The folder of the transform's output, if the examples are transformed.
      train_steps: How long to train.
      eval_steps: How long to evaluate.
      schema_path: The file of the examples' schema.
      base_model: The SavedModel of an earlier model, whose parameters training may begin with.
      eval_model_dir: Where a model for evaluation goes, if it is another one.
      working_dir: A folder for anything else.
      custom_config: Whatever the function understands.
    """

    train_files: list[str] = dataclasses.field(default_factory=list)
    eval_files: list[str] = dataclasses.field(default_factory=list)
    serving_model_dir: str | None = None
    model_run_dir: str | None = None
    transform_output: str | None = None
    train_steps: int | None = None
    eval_steps: int | None = None
    schema_path: str | None = None
    base_model: str | None = None
    eval_model_dir: str | None = None
    working_dir: str | None = None
    custom_config: dict[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def transform_graph_path(self) -> str | None:
        """TFX's other name for `transform_output`."""
        return self.transform_output

    def to_json(self) -> str:
        """The arguments as text, for other processes."""
        return json.dumps(dataclasses.asdict(self))

    @classmethod
    def from_json(cls, text: str) -> FnArgs:
        """The arguments that `to_json` wrote.

        Args:
          text: The text.
        """
        return cls(**json.loads(text))
