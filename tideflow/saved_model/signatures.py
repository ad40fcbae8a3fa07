"""SignatureDef messages: what a model takes and gives, by name, and which question it answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tensorboard.compat.proto.meta_graph_pb2 import SignatureDef, TensorInfo

from tideflow.export import export
from tideflow.graph import dtypes, errors
from tideflow.graph.operation import Operation, Tensor
from tideflow.saved_model import constants, tensor_info

_STRING = dtypes.string.as_datatype_enum
_FLOAT = dtypes.float32.as_datatype_enum


def _exported(function: Any) -> Any:
    """Public under both names that TensorFlow gives it."""
    name = function.__name__
    return export(f"saved_model.{name}", f"saved_model.signature_def_utils.{name}")(function)


@_exported
def build_signature_def(
    inputs: Mapping[str, TensorInfo] | None = None,
    outputs: Mapping[str, TensorInfo] | None = None,
    method_name: str | None = None,
) -> SignatureDef:
    """Makes a SignatureDef.

    Args:
      inputs: The inputs by name, as TensorInfo messages.
      outputs: The outputs by name, as TensorInfo messages.
      method_name: The name of the method.

    Returns:
      The message.
    """
    signature = SignatureDef()
    for given, field in ((inputs, signature.inputs), (outputs, signature.outputs)):
        for key, info in (given or {}).items():
            field[key].CopyFrom(info)
    if method_name is not None:
        signature.method_name = method_name
    return signature


@_exported
def regression_signature_def(examples: Tensor, predictions: Tensor) -> SignatureDef:
    """Makes the signature of a regression.

    Args:
      examples: A string tensor of serialized Example messages.
      predictions: A float tensor.

    Returns:
      The SignatureDef.

    Raises:
      ValueError: If an argument is missing or has the wrong type.
    """
    inputs = _examples(examples, "Regression")
    if predictions is None:
        raise ValueError("Regression predictions cannot be None.")
    outputs = tensor_info.build_tensor_info(predictions)
    if outputs.dtype != _FLOAT:
        raise ValueError("Regression output must be a float Tensor.")
    return build_signature_def(
        {constants.REGRESS_INPUTS: inputs},
        {constants.REGRESS_OUTPUTS: outputs},
        constants.REGRESS_METHOD_NAME,
    )


@_exported
def classification_signature_def(
    examples: Tensor, classes: Tensor | None, scores: Tensor | None
) -> SignatureDef:
    """Makes the signature of a classification.

    Args:
      examples: A string tensor of serialized Example messages.
      classes: A string tensor of classes, or None.
      scores: A float tensor of scores, or None.

    Returns:
      The SignatureDef.

    Raises:
      ValueError: If an argument is missing or has the wrong type.
    """
    if examples is not None and isinstance(examples, Tensor) and classes is None and scores is None:
        raise ValueError("Classification classes and scores cannot both be None.")
    inputs = _examples(examples, "Classification")
    outputs = {}
    if classes is not None:
        info = outputs[constants.CLASSIFY_OUTPUT_CLASSES] = tensor_info.build_tensor_info(classes)
        if info.dtype != _STRING:
            raise ValueError("Classification classes must be a string Tensor.")
    if scores is not None:
        info = outputs[constants.CLASSIFY_OUTPUT_SCORES] = tensor_info.build_tensor_info(scores)
        if info.dtype != _FLOAT:
            raise ValueError("Classification scores must be a float Tensor.")
    return build_signature_def({constants.CLASSIFY_INPUTS: inputs}, outputs, constants.CLASSIFY_METHOD_NAME)


def supervised_signature_def(
    method_name: str, inputs: Mapping[str, Any], *outputs: Mapping[str, Any] | None
) -> SignatureDef:
    """The signature of a step with labels, which trains or evaluates; its outputs may come in parts."""
    if not inputs:
        raise ValueError(f"{method_name} inputs cannot be None or empty.")
    together = {key: value for part in outputs for key, value in (part or {}).items()}
    takes, gives = (
        {key: tensor_info.build_tensor_info(value) for key, value in given.items()}
        for given in (inputs, together)
    )
    return build_signature_def(takes, gives, method_name)


def _examples(examples: Any, task: str) -> TensorInfo:
    if examples is None:
        raise ValueError(f"{task} examples cannot be None.")
    if not isinstance(examples, Tensor) or examples.dtype.base_dtype != dtypes.string:
        raise ValueError(f"{task} examples must be a string Tensor.")
    return tensor_info.build_tensor_info(examples)


@_exported
def predict_signature_def(inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> SignatureDef:
    """Makes the signature of a prediction.

    Args:
      inputs: The input tensors by name.
      outputs: The output tensors by name.

    Returns:
      The SignatureDef.

    Raises:
      ValueError: If there are no inputs or no outputs.
    """
    if not inputs:
        raise ValueError("Prediction inputs cannot be None or empty.")
    if not outputs:
        raise ValueError("Prediction outputs cannot be None or empty.")
    takes, gives = (
        {key: tensor_info.build_tensor_info(tensor) for key, tensor in given.items()}
        for given in (inputs, outputs)
    )
    return build_signature_def(takes, gives, constants.PREDICT_METHOD_NAME)


# --------------------------------------------------------------------------------------------- valid

# What each method takes and what it may give, with the types it must have; predictions may be anything.
_METHODS = {
    constants.CLASSIFY_METHOD_NAME: (
        constants.CLASSIFY_INPUTS,
        {constants.CLASSIFY_OUTPUT_CLASSES: _STRING, constants.CLASSIFY_OUTPUT_SCORES: _FLOAT},
    ),
    constants.REGRESS_METHOD_NAME: (constants.REGRESS_INPUTS, {constants.REGRESS_OUTPUTS: _FLOAT}),
}


@_exported
def is_valid_signature(signature_def: SignatureDef | None) -> bool:
    """Whether a signature can be served: it has a known method, with the inputs and outputs of that.

    Args:
      signature_def: The SignatureDef.

    Returns:
      True or False.
    """
    if signature_def is None or not signature_def.inputs or not signature_def.outputs:
        return False
    if signature_def.method_name == constants.PREDICT_METHOD_NAME:
        return True
    if signature_def.method_name not in _METHODS:
        return False
    examples, allowed = _METHODS[signature_def.method_name]
    return (
        set(signature_def.inputs) == {examples}
        and signature_def.inputs[examples].dtype == _STRING
        and all(info.dtype == allowed.get(key) for key, info in signature_def.outputs.items())
    )


# ------------------------------------------------------------------------------- operations by signature


def load_op_from_signature_def(
    signature_def: SignatureDef, key: str, import_scope: str | None = None
) -> Operation | Tensor:
    """The operation of the default graph that a signature's output names."""
    try:
        return tensor_info.get_element_from_tensor_info(signature_def.outputs[key], import_scope=import_scope)
    except (KeyError, ValueError):
        raise errors.not_found(
            f"The {key} could not be found in the graph. Please make sure the SavedModel was created by the "
            "internal _SavedModelBuilder. If you are using the public API, please make sure the SignatureDef "
            f'in the SavedModel does not contain the key "{key}".',
        ) from None
