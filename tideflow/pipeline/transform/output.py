"""What a transform leaves behind: a SavedModel and schemas, which training and serving use.

transform_fn/                        the graph with the results of analyzers, and its assets
transformed_metadata/schema.pbtxt    what its outputs are
transformed_metadata/asset_map       the files of vocabularies by name
metadata/schema.pbtxt                what its inputs are
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

import tideflow as tf
from tideflow.graph.op_registry import role_of
from tideflow.io.saved_models import SAVED_MODEL_FILENAME_PB, read_saved_model, write_saved_model
from tideflow.pipeline.messages import schema as messages
from tideflow.pipeline.schema.editing import load_schema_text, write_schema_text
from tideflow.pipeline.transform.analyze import Results, resolved_graph
from tideflow.pipeline.transform.analyzers import sanitized_vocab_filename
from tideflow.pipeline.transform.feature_specs import (
    schema_as_feature_spec,
    schema_from_feature_spec,
    spec_of_outputs,
)
from tideflow.pipeline.transform.loading import SIGNATURE, TAG, apply_saved_transform
from tideflow.pipeline.transform.trace import Trace, components, values_of
from tideflow.saved_model.loader import asset_paths

_SCHEMA = "schema.pbtxt"


def write_output(folder: str, traced: Trace, results: Results, raw_schema: Any) -> None:
    """Writes the output of a transform.

    Args:
      folder: The folder.
      traced: The preprocessing function's trace.
      results: What its analyzers found.
      raw_schema: The schema of its inputs.
    """
    graph = resolved_graph(traced, results)
    inputs, outputs = (
        {name: _same_in(graph, value) for name, value in given.items()}
        for given in (traced.inputs, traced.outputs)
    )
    with graph.as_default(), tf.Session() as session:
        session.run(tf.tables_initializer())
        domains = _domains(session, traced)
        schema = schema_from_feature_spec(spec_of_outputs(outputs), domains)
        builder = tf.saved_model.Builder(os.path.join(folder, TFTransformOutput.TRANSFORM_FN_DIR))
        builder.add_meta_graph_and_variables(
            session,
            [TAG],
            {SIGNATURE: tf.saved_model.predict_signature_def(inputs, outputs)},
            assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
            main_op=tf.tables_initializer(),
        )
        builder.save()
    forget_asset_paths(os.path.join(folder, TFTransformOutput.TRANSFORM_FN_DIR))
    metadata = os.path.join(folder, TFTransformOutput.TRANSFORMED_METADATA_DIR)
    os.makedirs(metadata)
    write_schema_text(schema, os.path.join(metadata, _SCHEMA))
    if traced.assets:
        with open(os.path.join(metadata, TFTransformOutput.ASSET_MAP), "w") as file:
            json.dump(traced.assets, file)
    raw_metadata = os.path.join(folder, TFTransformOutput.RAW_METADATA_DIR)
    os.makedirs(raw_metadata)
    write_schema_text(raw_schema, os.path.join(raw_metadata, _SCHEMA))


def forget_asset_paths(folder: str) -> None:
    """Names a SavedModel's assets in its graph by their names alone: whoever loads it puts their paths in.

    They came from folders with random names, and the same transform or training is to be the same bytes.

    Args:
      folder: The SavedModel's.
    """
    message = read_saved_model(folder)
    renamed = False
    for meta_graph in message.meta_graphs:
        constants = {node.name: node for node in meta_graph.graph_def.node if role_of(node.op) == "constant"}
        for tensor, path in asset_paths(folder, meta_graph).items():
            node = constants.get(tensor.partition(":")[0])
            if node is not None:
                node.attr["value"].tensor.string_val[:] = [os.path.basename(path).encode()]
                renamed = True
    if renamed:
        as_text = not os.path.exists(os.path.join(folder, SAVED_MODEL_FILENAME_PB))
        write_saved_model(message, folder, as_text)


def _same_in(graph: Any, value: Any) -> Any:
    """The tensor of another graph with the same name."""
    if isinstance(value, tf.SparseTensor):
        return tf.SparseTensor(*(graph.get_tensor_by_name(part.name) for part in components(value)))
    return graph.get_tensor_by_name(value.name)


def _domains(session: Any, traced: Trace) -> dict[str, Any]:
    """The domains of outputs whose range an analyzer or mapper has said."""
    ranges = {
        name: traced.ranges[values_of(value).name]
        for name, value in traced.outputs.items()
        if values_of(value).name in traced.ranges
    }
    names = {name: [least.name, largest.name] for name, (least, largest) in ranges.items()}
    return {
        name: messages.IntDomain(min=int(least), max=int(largest), is_categorical=True)
        for name, (least, largest) in session.run(names).items()
    }


class DatasetMetadata:
    """A schema, as TFT's programs ask for it.

    Args:
      schema: A Schema message.
    """

    def __init__(self, schema: Any) -> None:
        self.schema = schema

    @classmethod
    def from_feature_spec(
        cls, feature_spec: Mapping[str, Any], domains: Mapping[str, Any] | None = None
    ) -> DatasetMetadata:
        """The metadata of features that are read in these ways.

        Args:
          feature_spec: Feature specs by name.
          domains: Domain messages by name.
        """
        return cls(schema_from_feature_spec(feature_spec, domains))


class TFTransformOutput:
    """The output of a transform, of Tideflow's or of TFT's.

    Args:
      transform_output_dir: The folder.
    """

    TRANSFORMED_METADATA_DIR = "transformed_metadata"
    TRANSFORM_FN_DIR = "transform_fn"
    ASSET_MAP = "asset_map"
    RAW_METADATA_DIR = "metadata"
    PRE_TRANSFORM_FEATURE_STATS_PATH = os.path.join("pre_transform_feature_stats", "FeatureStats.pb")
    POST_TRANSFORM_FEATURE_STATS_PATH = os.path.join("post_transform_feature_stats", "FeatureStats.pb")

    def __init__(self, transform_output_dir: str | os.PathLike[str]) -> None:
        self._folder = os.fspath(transform_output_dir)
        self._layer: Any = None

    def _metadata(self, folder: str) -> DatasetMetadata:
        return DatasetMetadata(load_schema_text(os.path.join(self._folder, folder, _SCHEMA)))

    @property
    def transform_savedmodel_dir(self) -> str:
        """The folder of the SavedModel."""
        return os.path.join(self._folder, self.TRANSFORM_FN_DIR)

    @property
    def transformed_metadata(self) -> DatasetMetadata:
        """The schema of the transformed features."""
        return self._metadata(self.TRANSFORMED_METADATA_DIR)

    @property
    def raw_metadata(self) -> DatasetMetadata:
        """The schema of the raw features."""
        return self._metadata(self.RAW_METADATA_DIR)

    @property
    def pre_transform_statistics_path(self) -> str:
        """The statistics of the raw features."""
        return os.path.join(self._folder, self.PRE_TRANSFORM_FEATURE_STATS_PATH)

    @property
    def post_transform_statistics_path(self) -> str:
        """The statistics of the transformed features."""
        return os.path.join(self._folder, self.POST_TRANSFORM_FEATURE_STATS_PATH)

    def transformed_feature_spec(self) -> dict[str, Any]:
        """How transformed Examples are parsed."""
        return schema_as_feature_spec(self.transformed_metadata.schema)[0]

    def transformed_domains(self) -> dict[str, Any]:
        """The domains of transformed features that have one."""
        return schema_as_feature_spec(self.transformed_metadata.schema)[1]

    def raw_feature_spec(self) -> dict[str, Any]:
        """How raw Examples are parsed."""
        return schema_as_feature_spec(self.raw_metadata.schema)[0]

    def raw_domains(self) -> dict[str, Any]:
        """The domains of raw features that have one."""
        return schema_as_feature_spec(self.raw_metadata.schema)[1]

    def num_buckets_for_transformed_feature(self, name: str) -> int:
        """The number of values that a feature can have which counts from 0.

        Args:
          name: The transformed feature.

        Raises:
          ValueError: If it has no such domain.
        """
        domain = self.transformed_domains().get(name)
        if domain is None:
            raise ValueError(f"Column {name} did not have a domain provided.")
        if domain.DESCRIPTOR.name != "IntDomain":
            raise ValueError(f"Column {name} has domain {domain}, expected an IntDomain")
        if domain.min != 0:
            raise ValueError(f"Column {name} has min value {domain.min}, should be 0")
        return int(domain.max) + 1

    # ------------------------------------------------------------------------------------ vocabularies

    def asset_files(self) -> list[str]:
        """The paths of all files that the graph reads."""
        folder = os.path.join(self.transform_savedmodel_dir, "assets")
        return (
            [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
            if os.path.isdir(folder)
            else []
        )

    def vocabulary_file_by_name(self, vocab_filename: str) -> str | None:
        """The path of a vocabulary's file, or None if there is none.

        Args:
          vocab_filename: The name that `vocabulary` was given.
        """
        folder = os.path.join(self.transform_savedmodel_dir, "assets")
        names = [sanitized_vocab_filename(vocab_filename)]
        names.append(names[0] + ".tfrecord.gz")
        asset_map = os.path.join(self._folder, self.TRANSFORMED_METADATA_DIR, self.ASSET_MAP)
        if os.path.exists(asset_map):
            with open(asset_map) as file:
                mapped = json.load(file).get(vocab_filename)
            names = ([mapped] if mapped else []) + names
        for name in names:
            path = os.path.join(folder, name)
            if os.path.exists(path):
                return path
        return None

    def vocabulary_by_name(self, vocab_filename: str) -> list[bytes]:
        """The entries of a vocabulary.

        Args:
          vocab_filename: The name that `vocabulary` was given.

        Raises:
          ValueError: If there is none of this name.
        """
        path = self.vocabulary_file_by_name(vocab_filename)
        if path is None:
            raise ValueError(f"Could not read vocabulary: {vocab_filename}, does not exist")
        if path.endswith(".tfrecord.gz"):
            return list(tf.python_io.tf_record_iterator(path, "GZIP"))
        with open(path, "rb") as file:
            return [line.rstrip(b"\n") for line in file]

    def vocabulary_size_by_name(self, vocab_filename: str) -> int:
        """The number of entries of a vocabulary.

        Args:
          vocab_filename: The name that `vocabulary` was given.

        Raises:
          ValueError: If there is none of this name.
        """
        if self.vocabulary_file_by_name(vocab_filename) is None:
            raise ValueError(f"Could not compute vocabulary size for {vocab_filename}, does not exist")
        return len(self.vocabulary_by_name(vocab_filename))

    # --------------------------------------------------------------------------------------- the graph

    def transform_raw_features(
        self, raw_features: Mapping[str, Any], drop_unused_features: bool = True
    ) -> dict[str, Any]:
        """Adds the transform graph to the default graph.

        Args:
          raw_features: Tensors by the names of raw features. Not all have to be given.
          drop_unused_features: Whether outputs that need a feature which is not given are left out.

        Returns:
          The transformed features, tensors by name.

        Raises:
          ValueError: If a feature is not one of the transform's.
        """
        return apply_saved_transform(self.transform_savedmodel_dir, raw_features, drop_unused_features)

    def transform_features_layer(self) -> Any:
        """The transform graph as a Keras layer of a dictionary of raw features."""
        if self._layer is None:
            self._layer = TransformFeaturesLayer(self)
        return self._layer

    def load_transform_graph(self) -> None:
        """Adds the transform graph to the default graph, with placeholders for all features."""
        self.transform_raw_features({}, drop_unused_features=False)


class TransformFeaturesLayer(tf.keras.layers.Layer):  # type: ignore[misc]
    """A Keras layer that transforms a dictionary of raw features.

    Args:
      tft_output: The output of a transform.
      **kwargs: Arguments of `tf.keras.layers.Layer`.
    """

    def __init__(self, tft_output: TFTransformOutput, **kwargs: Any) -> None:
        super().__init__(trainable=False, **kwargs)
        self._tft_output = tft_output

    def call(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Adds the transform graph.

        Args:
          inputs: Tensors by the names of raw features.
        """
        return self._tft_output.transform_raw_features(inputs)
