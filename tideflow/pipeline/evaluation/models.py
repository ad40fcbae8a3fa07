"""Predictions of SavedModels for blocks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from tideflow.pipeline.data.examples import serialize_examples
from tideflow.pipeline.evaluation.inputs import dense
from tideflow.serving.calls import CLASSIFY, DEFAULT_SIGNATURE, REGRESS, Arrays, Signature, TensorSpec
from tideflow.serving.saved_model_servable import SavedModel

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS_AT_ONCE = 1024
# Where a ModelSpec names no preprocessing functions, those of these signatures that the model has are asked.
_TRANSFORMED = ("transformed_features", "transformed_labels")


@lru_cache(maxsize=4)
def _loaded(path: str) -> SavedModel:
    """The model, once in a process."""
    return SavedModel(path)


@dataclass(frozen=True)
class ModelPredictions:
    """What a SavedModel answers to the rows of a block.

    Args:
      path: The SavedModel's folder.
      signature_name: The signature; by default the one for serving.
      batch_size: How many rows are asked at once.
      preprocessing: The signatures that make features, labels or weights of what is in the data.
    """

    path: str
    signature_name: str = ""
    batch_size: int = _ROWS_AT_ONCE
    preprocessing: tuple[str, ...] = ()

    def __call__(self, block: pa.RecordBatch) -> Arrays:
        return self._answers(self.signature_name or _default(_loaded(self.path)), block)

    def transformed_features(self, block: pa.RecordBatch) -> Arrays:
        """What the model's preprocessing makes of the rows of a block, by name."""
        known = _loaded(self.path).signatures
        found: dict[str, np.ndarray] = {}
        for name in self.preprocessing or [name for name in _TRANSFORMED if name in known]:
            found.update(self._answers(name, block))
        return found

    def _answers(self, name: str, block: pa.RecordBatch) -> Arrays:
        model = _loaded(self.path)
        if name not in model.signatures:
            raise ValueError(
                f"{self.path} has no signature {name!r}; it has {', '.join(sorted(model.signatures))}"
            )
        signature = model.signatures[name]
        outputs = tuple(signature.outputs)
        found: dict[str, list[np.ndarray]] = {output: [] for output in outputs}
        for begin in range(0, block.num_rows, self.batch_size):
            part = block.slice(begin, self.batch_size)
            answer = model.run(name, inputs_of(part, signature), outputs)
            for output, value in answer.items():
                value = np.asarray(value)
                if value.shape[:1] != (part.num_rows,):
                    raise ValueError(
                        f"{self.path} answers {part.num_rows} rows with {output} of shape {list(value.shape)}"
                    )
                found[output].append(value)
        return {output: np.concatenate(values) for output, values in found.items()}


def _default(model: SavedModel) -> str:
    """The signature for serving, or the one that is there."""
    if DEFAULT_SIGNATURE in model.signatures or len(model.signatures) != 1:
        return DEFAULT_SIGNATURE
    return next(iter(model.signatures))


def inputs_of(block: pa.RecordBatch, signature: Signature) -> Arrays:
    """The rows of a block as a signature takes them: serialized Examples, or features by name."""
    takes_examples = signature.method_name in (CLASSIFY, REGRESS)
    if len(signature.inputs) == 1:
        ((name, spec),) = signature.inputs.items()
        is_bytes = spec.dtype.as_numpy_dtype is object
        if is_bytes and (takes_examples or name not in block.schema.names):
            return {name: np.array(serialize_examples(block), dtype=object)}
    arrays = {}
    for name, spec in signature.inputs.items():
        if name not in block.schema.names:
            raise ValueError(f"the model asks for {name!r}, which the data do not have: {block.schema.names}")
        arrays[name] = _shaped(dense(block.column(name), name), spec)
    return arrays


def _shaped(values: np.ndarray, spec: TensorSpec) -> np.ndarray:
    if spec.shape is not None and len(spec.shape) == 1 and values.shape[1] == 1:
        values = values[:, 0]
    elif spec.shape is not None and len(spec.shape) > 2:
        values = values.reshape(len(values), *(-1 if size is None else size for size in spec.shape[1:]))
    return values.astype(spec.dtype.as_numpy_dtype)
