"""SavedModels of the estimators of tf.contrib.learn: input functions for serving, signatures, strategies."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import tideflow as tf
from tideflow.contrib.learn.export_strategy import ExportStrategy
from tideflow.contrib.learn.model_fn import ModelFnOps, classes_of, scores_of
from tideflow.contrib.learn.modes import ModeKeys, PredictionKey, ProblemType
from tideflow.contrib.session_bundle import gc
from tideflow.estimator.estimator import Estimator as CoreEstimator
from tideflow.estimator.export.signatures import temporary_directory, timestamped_directory
from tideflow.export import export
from tideflow.graph.graph import Graph
from tideflow.graph.scopes import GraphKeys, add_to_collection, get_collection
from tideflow.platform import gfile
from tideflow.platform.deprecation import deprecated
from tideflow.saved_model.builder import SavedModelBuilder
from tideflow.saved_model.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from tideflow.session.session import Session
from tideflow.train.saver import Saver
from tideflow.train.scaffold import Scaffold
from tideflow.variables.global_step import create_global_step

if TYPE_CHECKING:
    from tensorboard.compat.proto.meta_graph_pb2 import SignatureDef

DEFAULT_INPUT = "default_input_alternative"
_DEFAULT_OUTPUT = "default_output_alternative"


@export("contrib.learn.InputFnOps", "contrib.learn.utils.InputFnOps")
class InputFnOps(NamedTuple):
    """What an input function for serving returns.

    Args:
      features: The features of the model.
      labels: None.
      default_inputs: What a server feeds, by name.
    """

    features: Any
    labels: Any
    default_inputs: Any


@export("contrib.learn.build_parsing_serving_input_fn", "contrib.learn.utils.build_parsing_serving_input_fn")
@deprecated(None, "Please use tf.estimator.export.build_parsing_serving_input_receiver_fn.")
def build_parsing_serving_input_fn(
    feature_spec: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], InputFnOps]:
    """Makes an input function of serialized Examples, for serving.

    Args:
      feature_spec: How each feature stands in an Example, as for `tf.parse_example`.
      default_batch_size: The number of Examples in a batch; any if None.

    Returns:
      The input function.
    """

    def input_fn() -> InputFnOps:
        examples = tf.placeholder(tf.string, [default_batch_size], name="input_example_tensor")
        return InputFnOps(tf.parse_example(examples, feature_spec), None, {"examples": examples})

    return input_fn


@export("contrib.learn.utils.build_default_serving_input_fn")
@deprecated(None, "Please use tf.estimator.export.build_raw_serving_input_receiver_fn.")
def build_default_serving_input_fn(
    features: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], InputFnOps]:
    """Makes an input function of the features themselves, for serving.

    Args:
      features: Tensors by name, of the types and shapes that are fed.
      default_batch_size: The number of examples in a batch; any if None.

    Returns:
      The input function.
    """

    def input_fn() -> InputFnOps:
        fed = {
            name: tf.placeholder(like.dtype, [default_batch_size, *like.get_shape()[1:]], name=like.op.name)
            for name, like in features.items()
        }
        return InputFnOps(fed, None, fed)

    return input_fn


def build_standardized_signature_def(
    input_tensors: Mapping[str, Any], output_tensors: Mapping[str, Any], problem_type: int
) -> SignatureDef:
    """The signature that servers know for a kind of problem, where inputs and outputs fit it."""
    inputs, outputs = input_tensors, output_tensors
    if not inputs:
        raise ValueError("input_tensors must be provided.")
    if not outputs:
        raise ValueError("output_tensors must be provided.")
    utils = tf.saved_model.signature_def_utils
    single_input = next(iter(inputs.values())) if len(inputs) == 1 else None
    single_output = next(iter(outputs.values())) if len(outputs) == 1 else None
    if single_input is not None and problem_type in (
        ProblemType.CLASSIFICATION,
        ProblemType.LOGISTIC_REGRESSION,
    ):
        classes, scores = classes_of(outputs), scores_of(outputs)
        if classes is None and scores is None and single_output is not None:
            if single_output.dtype == tf.string:
                classes = single_output
            else:
                scores = single_output
        if classes is not None or scores is not None:
            return utils.classification_signature_def(single_input, classes, scores)
    if problem_type == ProblemType.LINEAR_REGRESSION and None not in (single_input, single_output):
        return utils.regression_signature_def(single_input, single_output)
    return utils.predict_signature_def(inputs, outputs)


def inputs_of(given: Any) -> dict[str, Any]:
    """The inputs that a server may feed, by name."""
    if not given[0]:
        raise ValueError("Features must be defined.")
    return {DEFAULT_INPUT: given.default_inputs} if isinstance(given, InputFnOps) else {}


def get_output_alternatives(
    model_fn_ops: ModelFnOps, default_output_alternative_key: str | None = None
) -> tuple[Mapping[str | None, Any], str | None]:
    """The outputs of a model by name, and the name of the default one."""
    alternatives, default = model_fn_ops.output_alternatives, default_output_alternative_key
    if not alternatives:
        if default:
            raise ValueError(
                f"Requested default_output_alternative: {default}, but available output_alternatives are: []"
            )
        predictions = model_fn_ops.predictions
        if not isinstance(predictions, dict):
            predictions = {PredictionKey.GENERIC: predictions}
        return {_DEFAULT_OUTPUT: (ProblemType.UNSPECIFIED, predictions)}, _DEFAULT_OUTPUT
    if default:
        if default in alternatives:
            return alternatives, default
        raise ValueError(
            f"Requested default_output_alternative: {default}, but available output_alternatives are: "
            f"{sorted(alternatives)}"
        )
    if len(alternatives) == 1:
        return alternatives, next(iter(alternatives))
    raise ValueError(
        "Please specify a default_output_alternative.  Available output_alternatives are: "
        f"{sorted(alternatives)}"
    )


def signatures_of(
    inputs: Mapping[str, Any],
    outputs: Mapping[str | None, Any],
    default: str | None,
    name_of_inputs: str = DEFAULT_INPUT,
) -> dict[str, SignatureDef]:
    """The signatures of inputs with all outputs, and that of the default output."""
    made = {
        name: build_standardized_signature_def(inputs, tensors, kind)
        for name, (kind, tensors) in outputs.items()
    }
    named = {f"{name_of_inputs}:{name}": signature for name, signature in made.items()}
    return {**named, DEFAULT_SERVING_SIGNATURE_DEF_KEY: made[default]}


def export_saved_model(
    estimator: Any,
    export_dir_base: str,
    serving_input_fn: Callable,
    default_output: str | None,
    assets_extra: Mapping[str, str] | None,
    as_text: bool,
    checkpoint_path: str,
    graphs: Sequence[Any],
    strip_default_attrs: bool,
) -> bytes:
    """Writes a checkpoint as a SavedModel; returns the directory."""
    if not graphs or graphs[0].transforms:
        raise ValueError("The first element of graph_rewrite_specs must specify no transforms.")
    for spec in graphs[1:]:
        if spec.transforms:
            raise ValueError(
                f"graph_rewrite_specs asks for the transforms {list(spec.transforms)}, and graphs are "
                "exported as they are. Change the graph in the model function instead, with "
                "tf.graph_util or tf.contrib.quantize."
            )
    directory = timestamped_directory(export_dir_base)
    temporary = os.fsdecode(temporary_directory(directory))
    builder = SavedModelBuilder(temporary)
    with Graph().as_default() as graph:
        create_global_step(graph)
        given = serving_input_fn()
        features = given[0]
        inputs = inputs_of(given).get(DEFAULT_INPUT)
        if not inputs:
            raise ValueError("A default input_alternative must be provided.")
        for key in features:
            add_to_collection("input_feature_keys", key)
        model = estimator._call_model_fn(features, None, ModeKeys.INFER)
        outputs, default = get_output_alternatives(model, default_output)
        arguments = dict(
            signature_def_map=signatures_of(inputs, outputs, default),
            assets_collection=get_collection(GraphKeys.ASSET_FILEPATHS),
            main_op=Scaffold.default_local_init_op(),
            strip_default_attrs=strip_default_attrs,
        )
        with Session("") as session:
            saver = (model.scaffold and model.scaffold.saver) or Saver(sharded=True)
            saver.restore(session, checkpoint_path)
            builder.add_meta_graph_and_variables(session, graphs[0].tags, **arguments)
            for spec in graphs[1:]:
                builder.add_meta_graph(spec.tags, **arguments)
    builder.save(as_text)
    for name, source in (assets_extra or {}).items():
        target = os.path.join(temporary, "assets.extra", os.fsdecode(name))
        gfile.makedirs(os.path.dirname(target))
        gfile.copy(source, target)
    gfile.rename(temporary, directory)
    return directory


def timed(path: gc.Path) -> gc.Path | None:
    name = os.path.basename(path.path)
    return path._replace(export_version=int(name)) if len(name) == 10 and name.isdigit() else None


def garbage_collect_exports(export_dir_base: str | bytes, exports_to_keep: int | None) -> None:
    """Removes the older exports of a directory, all but the newest ones."""
    if exports_to_keep is not None:
        older = gc.negation(gc.largest_export_versions(exports_to_keep))
        for path in older(gc.get_paths(os.fsdecode(export_dir_base), timed)):
            gfile.rmtree(path.path)


@export("contrib.learn.make_export_strategy", "contrib.learn.utils.make_export_strategy")
@deprecated(None, "Switch to tf.estimator.Exporter and associated utilities.")
def make_export_strategy(
    serving_input_fn: Callable,
    default_output_alternative_key: str | None = None,
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    exports_to_keep: int | None = 5,
    strip_default_attrs: bool | None = None,
) -> ExportStrategy:
    """Makes the strategy that writes SavedModels, for an Experiment.

    Args:
      serving_input_fn: A function that returns InputFnOps, or for an estimator of `tf.estimator` a
        ServingInputReceiver.
      default_output_alternative_key: Which of several outputs is the default.
      assets_extra: Files to copy into the SavedModel, by their names there.
      as_text: Whether the file has the text form of the message.
      exports_to_keep: How many of the newest exports are kept; all if None.
      strip_default_attrs: Whether attributes with their default values are removed.

    Returns:
      The strategy. Its name is `Servo`.
    """

    def export_fn(
        estimator: Any,
        export_dir_base: str | bytes,
        checkpoint_path: str | None = None,
        strip_default_attrs: bool | None = False,
    ) -> bytes:
        arguments: dict[str, Any] = dict(
            assets_extra=assets_extra,
            as_text=as_text,
            checkpoint_path=checkpoint_path,
            strip_default_attrs=bool(strip_default_attrs),
        )
        if not isinstance(estimator, CoreEstimator):
            arguments["default_output_alternative_key"] = default_output_alternative_key
        elif default_output_alternative_key is not None:
            raise ValueError(
                "default_output_alternative_key is not supported in core Estimator. Given: "
                f"{default_output_alternative_key}"
            )
        result = estimator.export_savedmodel(export_dir_base, serving_input_fn, **arguments)
        garbage_collect_exports(export_dir_base, exports_to_keep)
        return result

    return ExportStrategy("Servo", export_fn, strip_default_attrs)
