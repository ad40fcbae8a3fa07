"""Preprocessing functions: phases, the output's files, and the same graph in training and serving."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import tideflow as tf
import tideflow.pipeline.transform as tft
from tideflow.graph import errors
from tideflow.pipeline.data.examples import serialize_examples
from tideflow.pipeline.data.faults import Faults
from tideflow.pipeline.data.sources import Blocks, find_sources
from tideflow.pipeline.transform.feature_specs import schema_as_feature_spec, schema_from_feature_spec
from tideflow.pipeline.transform.run import analyze_and_transform

SPEC = {
    "fare": tf.io.FixedLenFeature([], tf.float32),
    "company": tf.io.FixedLenFeature([], tf.string),
    "words": tf.io.VarLenFeature(tf.string),
    "tip": tf.io.FixedLenFeature([], tf.int64),
}


def rows(count=60, seed=0):
    random = np.random.RandomState(seed)
    fare = random.gamma(2.0, 5.0, count).astype(np.float32)
    company = random.choice([b"ann", b"bob", b"cy d", b"\xff\xfe"], count, p=[0.5, 0.25, 0.15, 0.1])
    words = [list(random.choice([b"a", b"b", b""], random.randint(4))) for _ in range(count)]
    columns = {
        "fare": pa.array([[x] for x in fare], pa.list_(pa.float32())),
        "company": pa.array([[x] for x in company], pa.list_(pa.binary())),
        "words": pa.array([w or None for w in words], pa.list_(pa.binary())),
        "tip": pa.array([[int(x)] for x in random.randint(2, size=count)], pa.list_(pa.int64())),
    }
    return pa.RecordBatch.from_arrays(list(columns.values()), list(columns))


def preprocessing_fn(inputs):
    z = tft.scale_to_z_score(inputs["fare"])
    return {
        "z": z,
        "scaled": tft.scale_to_0_1(z * z),  # an analyzer of an analyzer's result
        "company": tft.compute_and_apply_vocabulary(
            inputs["company"], vocab_filename="companies", num_oov_buckets=1
        ),
        "words": tft.compute_and_apply_vocabulary(inputs["words"]),
        "tip": inputs["tip"],
    }


@pytest.fixture
def output(tmp_path):
    return tft.analyze_data([Blocks([rows()])], SPEC, preprocessing_fn, tmp_path / "out", workers=1)


def test_results_do_not_depend_on_blocks_nor_on_processes(tmp_path):
    block = rows()
    parts = [
        Blocks([block.slice(0, 1), block.slice(1, 9)]),
        Blocks([block.slice(10)]),
        Blocks([block.slice(60)]),
    ]
    outputs = [
        tft.analyze_data([Blocks([block])], SPEC, preprocessing_fn, tmp_path / "one", workers=1),
        tft.analyze_data(parts, SPEC, preprocessing_fn, tmp_path / "many", workers=1),
    ]
    blocks = [tft.transform_blocks(each)(block) for each in outputs]
    assert blocks[0].equals(blocks[1])
    assert outputs[0].vocabulary_by_name("companies") == outputs[1].vocabulary_by_name("companies")


def test_the_output_says_what_it_is(output, tmp_path):
    assert output.vocabulary_by_name("companies") == [b"ann", b"bob", b"cy d", b"\xff\xfe"]
    assert output.vocabulary_size_by_name("companies") == 4
    assert output.num_buckets_for_transformed_feature("company") == 5
    with pytest.raises(ValueError, match="has min value -1, should be 0"):
        output.num_buckets_for_transformed_feature("words")
    with pytest.raises(ValueError, match="Column z did not have a domain provided"):
        output.num_buckets_for_transformed_feature("z")
    with pytest.raises(ValueError, match="Could not read vocabulary: nobody, does not exist"):
        output.vocabulary_by_name("nobody")
    assert output.transformed_feature_spec()["words"] == tf.io.VarLenFeature(tf.int64)
    assert output.raw_feature_spec() == SPEC
    asset_map = json.loads((tmp_path / "out/transformed_metadata/asset_map").read_text())
    assert asset_map["companies"] == "companies"


def test_training_and_serving_run_the_same_graph_bitwise(output, tmp_path):
    block = rows(seed=1)
    written = tmp_path / "examples"
    splits = {"train": [Blocks([rows()])], "eval": [Blocks([block])]}
    analyze_and_transform(splits, SPEC, preprocessing_fn, tmp_path / "again", written, workers=1)
    (source,) = find_sources(written / "Split-eval")
    (trained,) = source.blocks(Faults())
    with tf.Graph().as_default(), tf.Session() as session:
        serialized = tf.placeholder(tf.string, [None])
        raw = {name: spec for name, spec in SPEC.items() if name != "tip"}
        served = output.transform_raw_features(tf.io.parse_example(serialized, raw))
        session.run(tf.tables_initializer())
        values = session.run(served, {serialized: serialize_examples(block)})
    assert set(served) == {"z", "scaled", "company", "words"}  # `tip` needs what was not given
    for name in ("z", "scaled", "company"):
        expected = trained.column(name).flatten().to_numpy()
        assert expected.tobytes() == values[name].tobytes()
    assert trained.column("words").flatten().to_pylist() == values["words"].values.tolist()


def test_the_same_transform_is_the_same_bytes(output, tmp_path):
    tft.analyze_data([Blocks([rows()])], SPEC, preprocessing_fn, tmp_path / "again", workers=1)
    written = [f"{folder}/transform_fn/saved_model.pb" for folder in (tmp_path / "out", tmp_path / "again")]
    first, second = (Path(path).read_bytes() for path in written)
    assert first == second and b"/transform-" not in first


def test_the_graph_is_part_of_a_model_and_a_layer(output):
    with tf.Graph().as_default(), tf.Session() as session:
        output.load_transform_graph()
        layer = output.transform_features_layer()
        features = layer({"fare": tf.constant([1.0, 2.0])})
        assert set(features) == {"z", "scaled"}
        assert session.run(features["z"]).shape == (2,)
        with pytest.raises(ValueError, match="Unexpected inputs to transform"):
            output.transform_raw_features({"other": tf.constant([1.0])})


def test_schemas_and_feature_specs():
    spec = {
        "matrix": tf.io.FixedLenFeature([2, 3], tf.int64),
        "some": tf.io.VarLenFeature(tf.float32),
        "sparse": tf.io.SparseFeature("index", "value", tf.string, 10, True),
    }
    schema = schema_from_feature_spec(spec)
    assert schema_as_feature_spec(schema)[0] == spec
    with pytest.raises(ValueError, match="must have default_value=None"):
        schema_from_feature_spec({"x": tf.io.FixedLenFeature([], tf.int64, 3)})


def test_refusals(tmp_path):
    def analyzed(function, block=None):
        return tft.analyze_data([Blocks([block or rows()])], SPEC, function, tmp_path / "none", workers=1)

    with pytest.raises(RuntimeError, match="inside of a preprocessing_fn"):
        tft.mean(tf.constant([1.0]))
    with pytest.raises(ValueError, match="must have rank at least 1"):
        analyzed(lambda inputs: {"mean": tft.mean(inputs["fare"])})
    with pytest.raises(ValueError, match="had invalid dtype"):
        analyzed(lambda inputs: {"x": tf.cast(inputs["fare"], tf.float64)})
    with pytest.raises(ValueError, match="Two analyzers write a file with the name same"):
        analyzed(
            lambda inputs: {
                name: tft.compute_and_apply_vocabulary(inputs[name], vocab_filename="same")
                for name in ("company", "words")
            }
        )
    with pytest.raises(TypeError, match="tensor must be a Tensor, got SparseTensor"):
        analyzed(lambda inputs: {"x": tft.quantiles(inputs["words"], 2, 0.1)})
    with pytest.raises(TypeError, match="Cannot find maximum value of"):
        analyzed(lambda inputs: {"x": inputs["fare"] + tft.min(inputs["words"])})
    with pytest.raises(ValueError, match="made variables"):
        analyzed(lambda inputs: {"x": inputs["fare"] * tf.get_variable("v", [])})
    broken = rows().set_column(0, "fare", pa.array([[1.0, 2.0]] * 60, pa.list_(pa.float32())))
    with pytest.raises(errors.InvalidArgumentError, match="Number of float32 values != expected"):
        analyzed(preprocessing_fn, broken)
    broken = rows().set_column(0, "fare", pa.array([[b"x"]] * 60, pa.list_(pa.binary())))
    with pytest.raises(errors.InvalidArgumentError, match="Data types don't match"):
        analyzed(preprocessing_fn, broken)


def test_an_empty_span_has_a_transform(tmp_path):
    output = tft.analyze_data([Blocks([rows(0)])], SPEC, preprocessing_fn, tmp_path / "out", workers=1)
    assert output.vocabulary_size_by_name("companies") == 1  # a word that no text has
    transformed = tft.transform_blocks(output)(rows(3))
    assert transformed.column("company").to_pylist() == [[1]] * 3


def test_a_matrix_has_as_many_directions_as_columns(tmp_path):
    def function(inputs):
        matrix = tf.stack([inputs["fare"], tf.cast(inputs["tip"], tf.float32)], 1)
        return {"turned": tf.matmul(matrix, tft.pca(matrix, 5, tf.float32))}

    output = tft.analyze_data([Blocks([rows()])], SPEC, function, tmp_path / "out", workers=1)
    assert len(tft.transform_blocks(output)(rows(3)).column("turned")[0]) == 2


def test_what_needs_which_input():
    assert tft.get_analyze_input_columns(preprocessing_fn, SPEC) == ["fare", "company", "words"]
    assert tft.get_transform_input_columns(preprocessing_fn, SPEC) == list(SPEC)
