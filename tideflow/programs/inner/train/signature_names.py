"""Names of TensorFlow's inner modules of SavedModels, beside the public ones."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import tideflow as tf
from tideflow.estimator.export.outputs import SUPERVISED_EVAL_METHOD_NAME, SUPERVISED_TRAIN_METHOD_NAME
from tideflow.io import saved_models
from tideflow.saved_model import builder, tensor_info
from tideflow.saved_model.loader import asset_paths
from tideflow.saved_model.signatures import build_signature_def, supervised_signature_def
from tideflow.saved_model.signatures import load_op_from_signature_def as load_op_from_signature_def

EXTRA_ASSETS_DIRECTORY = "assets.extra"
SAVED_MODEL_FILENAME_JSON = "saved_model.json"
DEFAULT_TRAIN_SIGNATURE_DEF_KEY = "train"
DEFAULT_EVAL_SIGNATURE_DEF_KEY = "eval"

build_tensor_info_internal = tensor_info.build_tensor_info
build_tensor_info_from_op = tensor_info.op_info
get_element_from_tensor_info = tensor_info.get_element_from_tensor_info
_SavedModelBuilder = builder.SavedModelBuilder
get_asset_tensors = asset_paths
parse_saved_model = _parse_saved_model = saved_models.read_saved_model


def supervised_train_signature_def(
    inputs: Mapping[str, Any], loss: Any, predictions: Any = None, metrics: Any = None
) -> Any:
    """The signature of a training step."""
    return supervised_signature_def(SUPERVISED_TRAIN_METHOD_NAME, inputs, loss, predictions, metrics)


def supervised_eval_signature_def(
    inputs: Mapping[str, Any], loss: Any, predictions: Any = None, metrics: Any = None
) -> Any:
    """The signature of a step of evaluation."""
    return supervised_signature_def(SUPERVISED_EVAL_METHOD_NAME, inputs, loss, predictions, metrics)


def op_signature_def(op: Any, key: str) -> Any:
    """A signature that names an operation."""
    return build_signature_def(outputs={key: tensor_info.op_info(op)})


def get_variables_dir(export_dir: str) -> str:
    """Where a model's variables lie."""
    return os.path.join(os.fsdecode(export_dir), saved_models.VARIABLES_DIRECTORY)


def get_variables_path(export_dir: str) -> str:
    """The prefix of the checkpoint of a model's variables."""
    return os.path.join(get_variables_dir(export_dir), saved_models.VARIABLES_FILENAME)


def get_assets_dir(export_dir: str) -> str:
    """Where a model's assets lie."""
    return os.path.join(os.fsdecode(export_dir), saved_models.ASSETS_DIRECTORY)


def get_or_create_variables_dir(export_dir: str) -> str:
    """Where a model's variables lie; the folder is made."""
    return _made(get_variables_dir(export_dir))


def get_or_create_assets_dir(export_dir: str) -> str:
    """Where a model's assets lie; the folder is made."""
    return _made(get_assets_dir(export_dir))


def _made(folder: str) -> str:
    tf.io.gfile.makedirs(folder)
    return folder
