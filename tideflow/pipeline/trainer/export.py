"""Models exported with the transform graph inside: they take raw Examples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import tideflow as tf
from tideflow.pipeline.transform.output import TFTransformOutput
from tideflow.saved_model.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY, SERVING

_EXAMPLES = "examples"


def _raw_to_transformed(transformed: TFTransformOutput, labels: Iterable[str]) -> tuple[Any, dict[str, Any]]:
    """A placeholder of serialized raw Examples, and the transformed features that need no label."""
    left_out = set(labels)
    spec = {name: each for name, each in transformed.raw_feature_spec().items() if name not in left_out}
    serialized = tf.placeholder(tf.string, [None], name="input_example_tensor")
    return serialized, transformed.transform_raw_features(tf.io.parse_example(serialized, spec))


def serving_input_receiver_fn(
    transformed: TFTransformOutput, labels: Iterable[str] = ()
) -> Callable[[], tf.estimator.export.ServingInputReceiver]:
    """What an estimator exports in front of its model: serialized raw Examples, parsed and transformed.

    Args:
      transformed: The transform's output.
      labels: Raw features that are not there when the model is served.

    Returns:
      A function for `export_saved_model`.
    """

    def receiver_fn() -> tf.estimator.export.ServingInputReceiver:
        serialized, features = _raw_to_transformed(transformed, labels)
        return tf.estimator.export.ServingInputReceiver(features, {_EXAMPLES: serialized})

    return receiver_fn


def export_keras_model(
    model: tf.keras.Model,
    transformed: TFTransformOutput,
    export_dir: str,
    labels: Iterable[str] = (),
    inputs_of: Callable[[dict[str, Any]], Any] | None = None,
) -> None:
    """Writes a SavedModel of a Keras model with the transform graph in front of it.

    Its signature takes serialized raw Examples as `examples`, and gives the model's outputs by their names.

    Args:
      model: The model, trained.
      transformed: The transform's output.
      export_dir: The folder, which must not exist or be empty.
      labels: Raw features that are not there when the model is served.
      inputs_of: What the model is called with, of the transformed features by name; by default the features
        themselves, or, for a model with one input, the columns of all of them side by side.
    """
    config, weights = model.get_config(), model.get_weights()
    with tf.Graph().as_default(), tf.Session() as session:
        # The model's own graph has training in it: what is exported is a copy with the same weights.
        copy = type(model).from_config(config)
        serialized, features = _raw_to_transformed(transformed, labels)
        outputs = copy((inputs_of or _inputs_of(copy))(features))
        named = outputs if isinstance(outputs, (list, tuple)) else [outputs]
        session.run(tf.global_variables_initializer())
        copy.set_weights(weights)
        signature = dict(zip(model.output_names, named, strict=True))
        export_session(session, export_dir, serialized, signature)


def _inputs_of(model: Any) -> Callable[[dict[str, Any]], Any]:
    names = list(model.input_names)
    shapes = [each.shape for each in model.inputs]

    def by_name(features: dict[str, Any]) -> Any:
        if set(names) <= set(features):
            # Keras makes columns of vectors when it trains; here that is done for it.
            chosen = [
                tf.expand_dims(features[name], 1)
                if features[name].shape.ndims == 1 and shape.ndims == 2
                else features[name]
                for name, shape in zip(names, shapes, strict=True)
            ]
            return chosen if len(chosen) > 1 else chosen[0]
        if len(names) > 1:
            raise ValueError(f"The model's inputs are {names}, the transformed features {sorted(features)}")
        columns = [tf.cast(features[name], tf.float32) for name in sorted(features)]
        return tf.concat([tf.reshape(column, [tf.shape(column)[0], -1]) for column in columns], axis=1)

    return by_name


def export_session(
    session: tf.Session,
    export_dir: str,
    examples: tf.Tensor,
    outputs: Mapping[str, tf.Tensor],
) -> None:
    """Writes a SavedModel of a session's graph, vocabularies included.

    Args:
      session: The session, whose variables have their values.
      export_dir: The folder, which must not exist or be empty.
      examples: The placeholder of serialized Examples.
      outputs: What the model gives, by name.
    """
    with session.graph.as_default():
        builder = tf.saved_model.Builder(export_dir)
        builder.add_meta_graph_and_variables(
            session,
            [SERVING],
            {
                DEFAULT_SERVING_SIGNATURE_DEF_KEY: tf.saved_model.predict_signature_def(
                    {_EXAMPLES: examples}, dict(outputs)
                )
            },
            assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
            main_op=tf.tables_initializer(),
        )
        builder.save()
