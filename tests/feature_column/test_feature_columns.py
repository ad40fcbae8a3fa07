"""Feature columns in models: trained, shared, and from files of records to predictions."""

import numpy as np
import pytest

import tideflow as tf

fc = tf.feature_column


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def started() -> tf.Session:
    session = tf.Session()
    session.run([tf.global_variables_initializer(), tf.tables_initializer()])
    return session


def test_a_linear_model_learns():
    rng = np.random.default_rng(0)
    words = rng.choice(["a", "b", "c"], 60)
    numbers = rng.normal(size=60).astype(np.float32)
    wanted = 2.0 * numbers + np.where(words == "a", 1.0, np.where(words == "b", -1.0, 0.5))
    features = {"word": tf.constant(words[:, None].tolist()), "number": tf.constant(numbers[:, None])}
    columns = [
        fc.numeric_column("number"),
        fc.categorical_column_with_vocabulary_list("word", ["a", "b", "c"]),
    ]
    predicted = fc.linear_model(features, columns)[:, 0]
    loss = tf.reduce_mean(tf.square(predicted - wanted.astype(np.float32)))
    train = tf.train.AdamOptimizer(0.1).minimize(loss)
    with started() as session:
        for _ in range(300):
            session.run(train)
        assert session.run(loss) < 1e-3


def test_embeddings_are_trained_where_ids_occur():
    column = fc.embedding_column(fc.categorical_column_with_identity("id", 4), 3)
    layer = fc.input_layer({"id": tf.constant([[1], [3], [1]])}, [column])
    (table,) = tf.trainable_variables()
    train = tf.train.GradientDescentOptimizer(1.0).minimize(tf.reduce_sum(layer))
    with started() as session:
        before = session.run(table)
        session.run(train)
        change = session.run(table) - before
    np.testing.assert_allclose(change, np.outer([0, -2, 0, -1], np.ones(3)), atol=1e-6)


def test_columns_share_what_they_have_in_common():
    calls = []

    def normalizer(x):
        calls.append(x)
        return x * 2.0

    number = fc.numeric_column("x", normalizer_fn=normalizer)
    fc.input_layer({"x": tf.constant([[1.0], [5.0]])}, [number, fc.bucketized_column(number, [3.0])])
    assert len(calls) == 1


def test_features_come_from_examples():
    columns = [
        fc.numeric_column("x", 2),
        fc.indicator_column(fc.categorical_column_with_hash_bucket("w", 3)),
    ]

    def example(x, w):
        message = tf.train.Example()
        message.features.feature["x"].float_list.value.extend(x)
        message.features.feature["w"].bytes_list.value.extend(w)
        return message.SerializeToString()

    serialized = [example([1.0, 2.0], [b"a"]), example([3.0, 4.0], [])]
    layer = fc.input_layer(tf.parse_example(serialized, fc.make_parse_example_spec(columns)), columns)
    with started() as session:
        found = session.run(layer)
    assert found.shape == (2, 5)
    assert found[0, :3].sum() == 1
    assert found[1, :3].sum() == 0
    assert found[:, 3:].tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_equal_settings_are_one_column_unless_they_are_of_another_kind():
    ids = fc.categorical_column_with_identity("x", 3)
    assert fc.indicator_column(ids) == fc.indicator_column(ids)
    assert fc.indicator_column(ids) != fc.sequence_categorical_column_with_identity("x", 3)
    assert len({fc.numeric_column("x"), fc.numeric_column("x")}) == 1


def test_an_id_out_of_range_names_the_column():
    column = fc.indicator_column(fc.categorical_column_with_identity("shelf", 3))
    layer = fc.input_layer({"shelf": tf.placeholder_with_default([[7]], [1, 1])}, [column])
    with started() as session, pytest.raises(tf.errors.InvalidArgumentError) as caught:
        session.run(layer)
    assert 'Bucket index for categorical column "shelf" exceeds number of buckets' in str(caught.value)


def test_sequences_have_their_own_lengths():
    words = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], ["a", "b", "a"], [4, 2])
    column = fc.sequence_categorical_column_with_vocabulary_list("w", ["a", "b"])
    tensor, lengths = tf.contrib.feature_column.sequence_input_layer(
        {"w": words}, [fc.indicator_column(column)]
    )
    with started() as session:
        values, counts = session.run([tensor, lengths])
    assert counts.tolist() == [2, 0, 1, 0]
    assert values.tolist() == [[[1, 0], [0, 1]], [[0, 0], [0, 0]], [[1, 0], [0, 0]], [[0, 0], [0, 0]]]
