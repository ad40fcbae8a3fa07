"""From what a model gives in a mode to the signatures of its SavedModel, and where that is written."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any

from tensorboard.compat.proto.meta_graph_pb2 import SignatureDef

from tideflow.estimator.export.outputs import (
    SUPERVISED_EVAL_METHOD_NAME,
    SUPERVISED_TRAIN_METHOD_NAME,
    EvalOutput,
    ExportOutput,
    TrainOutput,
    serving_outputs,
)
from tideflow.estimator.export.receivers import SINGLE_RECEIVER_NAME
from tideflow.estimator.spec import EstimatorSpec, ModeKeys
from tideflow.platform import gfile, logging
from tideflow.saved_model import constants
from tideflow.saved_model.signatures import is_valid_signature

EXPORT_TAGS = {
    ModeKeys.PREDICT: [constants.SERVING],
    ModeKeys.TRAIN: [constants.TRAINING],
    ModeKeys.EVAL: [constants.EVAL],
}
_MOST_ATTEMPTS = 10  # to find a directory whose name, the time in seconds, is not taken
_METHODS = {
    constants.CLASSIFY_METHOD_NAME: "Classify",
    constants.REGRESS_METHOD_NAME: "Regress",
    constants.PREDICT_METHOD_NAME: "Predict",
    SUPERVISED_TRAIN_METHOD_NAME: "Train",
    SUPERVISED_EVAL_METHOD_NAME: "Eval",
}


def outputs_for_mode(spec: EstimatorSpec) -> dict[str, ExportOutput]:
    """What a model gives in the mode of its spec."""
    if spec.mode == ModeKeys.PREDICT:
        return serving_outputs(spec.export_outputs, spec.predictions)
    kind = TrainOutput if spec.mode == ModeKeys.TRAIN else EvalOutput
    return {spec.mode: kind(spec.loss, spec.predictions, spec.eval_metric_ops)}


def signatures_of(
    receiver: Any, outputs: Mapping[str, ExportOutput], serving_only: bool
) -> dict[str, SignatureDef]:
    """The signatures from each way to feed a model to each of its outputs, those that there can be."""
    receivers = {"": receiver.receiver_tensors}
    for name, tensors in (getattr(receiver, "receiver_tensors_alternatives", None) or {}).items():
        receivers[f"{name or 'None'}:"] = tensors
    included: dict[str, SignatureDef] = {}
    excluded: dict[str, str] = {}
    for prefix, tensors in receivers.items():
        named = tensors if isinstance(tensors, dict) else {SINGLE_RECEIVER_NAME: tensors}
        for key, output in outputs.items():
            name = f"{prefix}{key or 'None'}"
            try:
                included[name] = output.as_signature_def(named)
            except ValueError as error:
                excluded[name] = str(error)
    _log_signatures(included, excluded)
    return {key: made for key, made in included.items() if not serving_only or is_valid_signature(made)}


def _log_signatures(included: Mapping[str, SignatureDef], excluded: Mapping[str, str]) -> None:
    for method, word in _METHODS.items():
        names = [name for name, signature in included.items() if signature.method_name == method]
        logging.info("Signatures INCLUDED in export for %s: %s", word, names or "None")
    if excluded:
        logging.info(
            "Signatures EXCLUDED from export because they cannot be be served via TensorFlow Serving APIs:"
        )
    for name, reason in excluded.items():
        logging.info("'%s' : %s", name, reason)
    if not included:
        logging.warn("Export includes no signatures!")
    elif constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY not in included:
        logging.warn("Export includes no default signature!")


def timestamped_directory(base: str | bytes) -> bytes:
    """A directory that does not exist yet, named after the time in seconds."""
    for attempt in range(1, _MOST_ATTEMPTS + 1):
        directory = os.path.join(os.fsencode(base), str(int(time.time())).encode())
        if not gfile.exists(directory):
            return directory
        logging.warn(
            "Directory %s already exists; retrying (attempt %d/%d)",
            os.fsdecode(directory),
            attempt,
            _MOST_ATTEMPTS,
        )
        time.sleep(1)  # the next name is a second away
    raise RuntimeError(f"Failed to obtain a unique export directory name after {_MOST_ATTEMPTS} attempts.")


def temporary_directory(directory: bytes | str) -> bytes:
    """Where a model is written before it gets its name: nobody sees half of one."""
    folder, name = os.path.split(os.fsencode(directory))
    return os.path.join(folder, b"temp-" + name)
