"""An estimator of the graphs in a SavedModel."""

from __future__ import annotations

from typing import Any

import tideflow as tf
from tideflow.estimator.estimator import Estimator
from tideflow.estimator.export.outputs import SUPERVISED_EVAL_METHOD_NAME, SUPERVISED_TRAIN_METHOD_NAME
from tideflow.estimator.export.signatures import EXPORT_TAGS
from tideflow.estimator.spec import EstimatorSpec, ModeKeys
from tideflow.estimator.warm_start import WarmStartSettings
from tideflow.export import export
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Tensor
from tideflow.platform import logging
from tideflow.saved_model import constants
from tideflow.saved_model.loader import SavedModelLoader, get_init_op
from tideflow.train.checkpoint_utils import list_variables
from tideflow.variables.global_step import assert_global_step, get_global_step

_MODES = (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT)
_METHODS = {ModeKeys.TRAIN: SUPERVISED_TRAIN_METHOD_NAME, ModeKeys.EVAL: SUPERVISED_EVAL_METHOD_NAME}
_EMPTIED = (constants.ASSETS_KEY, constants.LEGACY_INIT_OP_KEY, constants.MAIN_OP_KEY, constants.TRAIN_OP_KEY)


@export("contrib.estimator.SavedModelEstimator")
class SavedModelEstimator(Estimator):
    """An estimator whose model is a SavedModel that an estimator has written: it trains on from there.

    A mode can be used if the SavedModel has a graph of it, as those have that
    `experimental_export_all_saved_models` writes.

    Args:
      saved_model_dir: The directory of the SavedModel.
      model_dir: The directory of checkpoints of this estimator.
    """

    def __init__(self, saved_model_dir: str, model_dir: str | None = None):
        self.saved_model_loader = SavedModelLoader(saved_model_dir)
        checkpoint = self.saved_model_loader.variables_path
        names = [name for name, _ in list_variables(checkpoint)]
        super().__init__(
            self._model_of_mode,
            model_dir=model_dir,
            warm_start_from=WarmStartSettings(ckpt_to_initialize_from=checkpoint, vars_to_warm_start=names),
        )
        self.saved_model_dir = saved_model_dir
        self._available_modes = [mode for mode in _MODES if self._signature(mode) is not None]
        logging.info("Available modes for Estimator: %s", self._available_modes)

    def _create_and_assert_global_step(self, graph: Graph) -> None:
        """Nothing: the SavedModel has one."""

    def _signature(self, mode: str) -> Any:
        """The signature of a mode; None where the SavedModel has none."""
        try:
            message = self.saved_model_loader.get_meta_graph_def_from_tags(EXPORT_TAGS[mode])
        except RuntimeError:
            logging.warning("%s mode not found in SavedModel.", mode)
            return None
        key = constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY if mode == ModeKeys.PREDICT else mode
        if key not in message.signature_def:
            logging.warning(
                'Metagraph for mode %s was found, but SignatureDef with key "%s" is missing.', mode, key
            )
            return None
        return message.signature_def[key]

    def _model_of_mode(self, features: Any, labels: Any, mode: str) -> EstimatorSpec:
        if mode not in self._available_modes:
            raise RuntimeError(
                f"{mode} mode is not available in the SavedModel. Use saved_model_cli to check that the "
                "Metagraph for this mode has been exported."
            )
        graph = tf.get_default_graph()
        if get_global_step(graph) is not None:
            raise RuntimeError(
                "Graph must not contain a global step tensor before the SavedModel is loaded. Please make "
                "sure that the input function does not create a global step."
            )
        loader, tags = self.saved_model_loader, EXPORT_TAGS[mode]
        signature, message = self._signature(mode), loader.get_meta_graph_def_from_tags(tags)
        names = {key: info.name for key, info in signature.outputs.items()}
        _, tensors = loader.load_graph(
            graph,
            tags,
            input_map=_input_map(message, signature, features, labels),
            return_elements=list(names.values()),
        )
        outputs = dict(zip(names, tensors, strict=True))
        assert_global_step(get_global_step(graph))
        init_op = get_init_op(message)
        train_ops = tf.get_collection(constants.TRAIN_OP_KEY)
        if len(train_ops) > 1:
            raise RuntimeError("Multiple ops found in the train_op collection.")
        loss, predictions, metrics = _sorted_outputs(mode, outputs, signature.method_name)
        train_op = train_ops[0] if train_ops else None
        for key in _EMPTIED:
            tf.get_collection_ref(key).clear()
        return EstimatorSpec(
            mode=mode,
            scaffold=tf.train.Scaffold(local_init_op=init_op),
            loss=loss,
            train_op=train_op,
            predictions=predictions,
            eval_metric_ops=metrics,
        )


def _named(tensors: Any, kind: str) -> dict[str, Tensor]:
    """Features or labels by name: one alone has the name of its kind."""
    if tensors is None:
        return {}
    return dict(tensors) if isinstance(tensors, dict) else {kind: tensors}


def _input_map(message: Any, signature: Any, features: Any, labels: Any) -> dict[str, Tensor]:
    """What replaces the inputs of the SavedModel's graph, by their names there."""
    waited_for = {name for node in message.graph_def.node for name in node.input if name.startswith("^")}
    given = {**_named(labels, "label"), **_named(features, "feature")}
    found: dict[str, Tensor] = {}
    for key, info in signature.inputs.items():
        if key not in given:
            raise ValueError(
                f'Key "{key}" not found in features or labels passed in to the model function. All required '
                f"keys: {list(signature.inputs)}"
            )
        _check_like(given[key], info, key)
        name = info.name.partition(":")[0]
        found[name] = given[key]
        if f"^{name}" in waited_for:
            found[f"^{name}"] = given[key]
    return found


def _check_like(tensor: Tensor, info: Any, name: str) -> None:
    dtype, shape = tf.as_dtype(info.dtype), tf.TensorShape(info.tensor_shape)
    wrong = []
    if tensor.dtype != dtype:
        wrong.append(f"\n\tExpected dtype: {dtype}, Got: {tensor.dtype}")
    if not tensor.shape.is_compatible_with(shape):
        wrong.append(f"\n\tExpected shape: {shape}, Got: {tensor.shape}")
    if wrong:
        raise ValueError(f"Tensor shape and/or dtype validation failed for input {name}:{''.join(wrong)}")


def _sorted_outputs(mode: str, outputs: dict[str, Tensor], method: str) -> tuple[Any, Any, Any]:
    """The loss, the predictions and the metrics."""
    if mode == ModeKeys.PREDICT:
        return None, outputs, None
    if method != _METHODS[mode]:
        raise RuntimeError(
            f"Invalid SignatureDef method name for mode {mode}.\n\tExpected: {_METHODS[mode]}\n\tGot: "
            f"{method}\nPlease ensure that the SavedModel was exported with "
            "`tf.estimator.experimental_export_all_saved_models()`."
        )
    predictions = {key: value for key, value in outputs.items() if key.split("/")[0] == "predictions"}
    metrics = {}
    for key, value in outputs.items():
        name = key.removesuffix("/value")
        if key.startswith("metrics/") and name != key and f"{name}/update_op" in outputs:
            metrics[name] = (value, outputs[f"{name}/update_op"])
    return outputs["loss"], predictions, metrics
