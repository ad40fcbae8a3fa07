"""TensorFlow's inner modules of feature columns: two protocols, layers, and columns as plain values."""

import pytest

import tideflow as tf
from tideflow.feature_column import serialization
from tideflow.programs.inner.train import column_names as fc


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def values(fetches):
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return session.run(fetches)


def test_columns_of_either_protocol_are_asked_in_both():
    price = tf.feature_column.numeric_column("price")
    buckets = tf.feature_column.bucketized_column(price, [0.0])
    inputs = fc._LazyBuilder({"price": [[-1.0], [2.0]]})
    first, second = (
        buckets._get_dense_tensor(inputs),
        buckets.get_dense_tensor(fc.Inputs(inputs._features), None),
    )
    assert values([first, second])[0].tolist() == values(second).tolist() == [[[1, 0]], [[0, 1]]]
    assert buckets._num_buckets == 2 and buckets._variable_shape == [1, 2] and buckets.parents == [price]
    assert isinstance(buckets, fc._CategoricalColumn) and buckets._is_v2_column


class Counted(fc.FeatureColumn):
    """A column of the second protocol, which is no tuple."""

    made = 0
    name = "counted"
    parse_example_spec = property(lambda self: {})

    def transform_feature(self, transformation_cache, state_manager):
        self.made += 1
        return transformation_cache.get("a", state_manager)


def test_a_column_is_made_once_and_what_is_none_is_refused():
    cache, column = fc.FeatureTransformationCache({"a": [[2.0]]}), Counted()
    assert cache.get(column, None) is cache.get(column, None) and column.made == 1
    with pytest.raises(ValueError, match="bbb is not in features dictionary"):
        cache.get("bbb", None)
    with pytest.raises(TypeError, match='"str" or "FeatureColumn"'):
        cache.get(1.5, None)
    with pytest.raises(TypeError, match='"str" or "_FeatureColumn"'):
        fc._LazyBuilder({}).get(1.5)

    class Neither(fc.FeatureColumn):
        name = "neither"

    with pytest.raises(TypeError, match="neither _transform_feature nor transform_feature"):
        cache.get(Neither(), None)


class Variables(fc.StateManager):
    """Keeps the variables of columns, as layers do."""

    def __init__(self):
        super().__init__()
        self.made = {}

    def create_variable(self, feature_column, name, shape, **settings):
        settings.pop("use_resource")
        self.made[feature_column, name] = tf.get_variable(name, shape, **settings)

    def get_variable(self, feature_column, name):
        return self.made[feature_column, name]


def test_embeddings_have_their_tables_from_a_state_manager():
    ids = tf.feature_column.categorical_column_with_identity("a", 3)
    column = tf.feature_column.embedding_column(ids, 2, initializer=tf.ones_initializer())
    state = Variables()
    column.create_state(state)
    tensor = column.get_dense_tensor(fc.FeatureTransformationCache({"a": [[0], [2]]}), state)
    assert values(tensor).tolist() == [[1, 1], [1, 1]]
    assert [v.name for v in tf.global_variables()] == ["embedding_weights:0"]
    state.add_resource(column, "table", 7)
    assert state.has_resource(column, "table") and state.get_resource(column, "table") == 7
    with pytest.raises(ValueError, match="Resource does not exist"):
        state.get_resource(column, "other")


def test_linear_models_are_objects_with_a_bias():
    columns = [
        tf.feature_column.numeric_column("p"),
        tf.feature_column.categorical_column_with_identity("q", 3),
    ]
    features = {"p": tf.constant([[1.0]]), "q": tf.constant([[1]])}
    first = fc._LinearModel(columns, units=2, name="first")
    assert values(first(features)).tolist() == [[0, 0]] and first.bias.name == "first/bias_weights:0"
    assert [v.name for v in first.cols_to_vars()[columns[1]]] == ["first/q/weights:0"]
    second = fc.LinearModel(columns, units=2, name="second")
    assert second(features).shape == [1, 2] and second.bias.name == "second/bias_weights:0"
    with pytest.raises(ValueError, match="must be a FeatureColumn"):
        fc.LinearModel(["p"])


def test_an_input_layer_uses_its_variables_again():
    ids = tf.feature_column.categorical_column_with_identity("a", 3)
    layer = fc.InputLayer([tf.feature_column.embedding_column(ids, 2)])
    one, other = layer({"a": [[0]]}), layer({"a": [[0]]})
    assert values([one, other])[0].shape == (1, 2) and len(layer.variables) == len(tf.global_variables()) == 1


def test_shared_tables_are_for_layers():
    columns = [tf.feature_column.categorical_column_with_identity(key, 3) for key in "xy"]
    shared = fc.shared_embedding_columns_v2(columns, 2)
    tf.keras.layers.DenseFeatures(shared)({"x": tf.constant([[0]]), "y": tf.constant([[1]])})
    assert [v.name for v in tf.global_variables()] == ["x_y_shared_embedding:0"]
    with pytest.raises(ValueError, match="not supported in `linear_model` or `input_layer`"):
        tf.feature_column.input_layer({"x": [[0]]}, shared[:1])
    assert tf.compat.v2.feature_column.shared_embeddings is fc.shared_embedding_columns_v2


def test_columns_are_written_as_plain_values_and_read_again():
    price = tf.feature_column.numeric_column("price")
    crossed = tf.feature_column.crossed_column(["a", tf.feature_column.bucketized_column(price, [0, 1])], 10)
    written = serialization.serialize_feature_columns([crossed, price])
    assert written[1]["config"]["dtype"] == "float32"
    read = serialization.deserialize_feature_columns(written)
    assert read == [crossed, price] and read[0].keys[1].source_column is read[1]
    with pytest.raises(ValueError, match="Unknown feature_column_v2: Nope"):
        serialization.deserialize_feature_column({"class_name": "Nope", "config": {}})
    with pytest.raises(ValueError, match="Invalid config"):
        fc.NumericColumn._from_config({"key": "a"})
