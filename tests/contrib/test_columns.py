"""The old feature columns: each against what it says, on one small batch."""

import numpy as np
import pytest

import tideflow as tf
from tideflow.programs.inner.contrib import column_kinds

layers = tf.contrib.layers


def _evaluate(fetches):
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return session.run(fetches)


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


def _features():
    return {
        "word": tf.constant([["red"], ["blue"], [""]]),
        "size": tf.constant([[0.5], [1.5], [9.0]]),
    }


def test_a_dense_feature_of_words_lacks_the_empty_one():
    column = layers.sparse_column_with_keys("word", ["red", "green", "blue"])
    ids = _evaluate(layers.transform_features(_features(), [column])[column])
    assert ids.indices.tolist() == [[0, 0], [1, 0]]
    assert ids.values.tolist() == [0, 2]


def test_columns_stand_side_by_side_in_the_order_of_their_keys():
    size = layers.real_valued_column("size", normalizer=lambda x: x * 2.0)
    buckets = layers.bucketized_column(layers.real_valued_column("size"), [1.0, 2.0])
    color = layers.one_hot_column(layers.sparse_column_with_keys("word", ["red", "blue"]))
    made = layers.input_from_feature_columns(_features(), {size, buckets, color})
    # _BucketizedColumn, _OneHotColumn, _RealValuedColumn
    assert _evaluate(made).tolist() == [
        [1, 0, 0, 1, 0, 1],
        [0, 1, 0, 0, 1, 3],
        [0, 0, 1, 0, 0, 18],
    ]


def test_a_linear_model_learns_from_columns():
    color = layers.sparse_column_with_keys("word", ["red", "blue"])
    size = layers.real_valued_column("size")
    cross = layers.crossed_column([color, layers.bucketized_column(size, [1.0])], 50)
    made, variables, bias = layers.weighted_sum_from_feature_columns(_features(), [color, size, cross], 1)
    loss = tf.losses.mean_squared_error([[1.0], [2.0], [3.0]], made)
    train = tf.train.AdagradOptimizer(0.5).minimize(loss)
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        first = session.run(loss)
        for _ in range(50):
            session.run(train)
        assert session.run(loss) < first / 20
    assert set(variables) == {color, size, cross}
    assert bias.op.name == "weighted_sum_from_feature_columns/bias_weight"


def test_shared_tables_are_made_once_and_checked():
    first = layers.sparse_column_with_hash_bucket("word", 4)
    other = layers.sparse_column_with_hash_bucket("name", 4)
    columns = layers.shared_embedding_columns([first, other], 3, shared_embedding_name="words")
    features = {**_features(), "name": tf.constant([["red"], ["x"], ["y"]])}
    made = layers.input_from_feature_columns(features, columns)
    (table,) = tf.global_variables()
    assert table.shape == [4, 3]
    rows = _evaluate(made)
    np.testing.assert_array_equal(rows[0, :3], rows[0, 3:])
    wide = layers.shared_embedding_columns([first, other], 5, shared_embedding_name="words")
    with pytest.raises(ValueError, match="already exists, but its shape does not match"):
        layers.input_from_feature_columns(features, wide)


def test_a_partitioned_table_of_embeddings():
    column = layers.embedding_column(layers.sparse_column_with_hash_bucket("word", 10), 3)
    with tf.variable_scope("net", partitioner=tf.fixed_size_partitioner(2)):
        made = layers.input_from_feature_columns(_features(), [column])
    assert [v.shape.as_list() for v in tf.global_variables()] == [[5, 3], [5, 3]]
    assert _evaluate(made).shape == (3, 3)
    assert (_evaluate(made)[2] == 0).all()  # no word, no vector


def test_a_column_of_a_series():
    class Doubled:
        def required_base_features(self):
            return {"size": tf.FixedLenFeature([1], tf.float32)}

        def build(self, tensors):
            return tensors["size"] * 2.0

    column = layers.feature_column.DataFrameColumn("doubled", Doubled())
    assert layers.create_feature_spec_for_parsing([column]) == Doubled().required_base_features()
    assert _evaluate(layers.input_from_feature_columns(_features(), [column])).tolist() == [[1], [3], [18]]


def test_errors_name_the_column():
    word = layers.sparse_column_with_hash_bucket("word", 4)
    with pytest.raises(
        ValueError, match=r"(?s)Error creating input layer for column: word.*not supported in DNN"
    ):
        layers.input_from_feature_columns(_features(), [word])
    with pytest.raises(ValueError, match="Duplicate feature column key found for column: size"):
        layers.check_feature_columns([layers.real_valued_column("size"), layers.real_valued_column("size")])
    with pytest.raises(ValueError, match="features dictionary doesn't contain key"):
        crossed = layers.crossed_column([word, layers.sparse_column_with_hash_bucket("other", 4)], 9)
        layers.transform_features(_features(), [crossed])


def test_columns_have_the_steps_that_programs_call():
    sparse = layers.sparse_column_with_integerized_feature("word", 7)
    found = sparse._wide_embedding_lookup_arguments(None)
    assert (found.vocab_size, found.combiner, found.weight_tensor) == (7, "sum", None)
    real = layers.real_valued_column("age", dimension=2)
    ages = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    assert real._to_dnn_input_layer(ages).shape.as_list() == [2, 2]
    assert real._to_dnn_input_layer(ages[:, None], output_rank=3).shape.as_list() == [2, 1, 2]
    assert real._to_dense_tensor(ages).shape.as_list() == [2, 2]
    with pytest.raises(NotImplementedError, match="No wide embedding lookup arguments"):
        real._wide_embedding_lookup_arguments(ages)


def test_kinds_of_columns_are_known_by_their_names_in_tensorflow():
    sparse = layers.sparse_column_with_hash_bucket("word", 7)
    assert isinstance(sparse, column_kinds._SparseColumnHashed) and isinstance(
        sparse, column_kinds._SparseColumn
    )
    assert isinstance(layers.embedding_column(sparse, 2), column_kinds._EmbeddingColumn)
    real = layers.real_valued_column("age", default_value=1.0)
    assert isinstance(real, column_kinds._FeatureColumn)
    spec = column_kinds._create_sequence_feature_spec_for_parsing([sparse, real])
    assert spec["age"].allow_missing and isinstance(spec["word"], tf.VarLenFeature)
    number = layers.real_valued_column("age")
    for allowed in (False, True):
        made = column_kinds._create_sequence_feature_spec_for_parsing(
            [number], allow_missing_by_default=allowed
        )
        assert made["age"].allow_missing is allowed
