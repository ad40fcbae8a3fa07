"""tf.Module: what it finds among its attributes."""

import pytest

import tideflow as tf


class Dense(tf.Module):
    def __init__(self, name=None):
        super().__init__(name)
        self.w = tf.Variable([1.0], name="w")
        self.b = tf.Variable([0.0], name="b", trainable=False)

    @tf.Module.with_name_scope
    def __call__(self, x):
        return tf.identity(x * self.w, name="out")


class BigModel(tf.Module):
    def __init__(self):
        super().__init__()
        self.layers = [Dense(), {"z": Dense("last"), "a": (Dense(),)}]
        self.scale = tf.Variable(2.0, name="scale")
        self.again = self.layers[0]


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def test_variables_and_modules_are_found_in_any_nesting():
    model = BigModel()
    first, nested = model.layers
    assert model.name == "big_model"
    assert model.submodules == (first, nested["a"][0], nested["z"])
    owners = [first, nested["a"][0], nested["z"]]
    assert model.variables == (model.scale, *[v for dense in owners for v in (dense.b, dense.w)])
    assert model.trainable_variables == (model.scale, *[dense.w for dense in owners])


def test_methods_stand_in_the_modules_scope():
    dense = Dense("d")
    assert dense(3.0).name == "d/out:0"
    with dense.name_scope:
        assert tf.constant(1.0, name="c").name == "d/c:0"


def test_names_are_identifiers():
    with pytest.raises(ValueError, match="not a valid module name"):
        tf.Module("a b")


def test_layers_are_modules():
    layer = tf.layers.Dense(3)
    layer(tf.keras.Input((4,)))  # only what comes from an Input has a place in a graph of layers
    assert isinstance(layer, tf.Module) and layer.submodules == ()
    assert layer.input_mask is None and layer.get_output_mask_at(0) is None
    assert [v.op.name for v in layer.variables] == ["dense/kernel", "dense/bias"]


def test_values_of_further_kinds_are_found_with_their_paths():
    model = tf.Module("m")
    model.rates = {"b": [0.5], "a": 2.0}
    model.inner = tf.Module("n")
    model.inner.rate = 3.0
    found = model._flatten(predicate=lambda value: isinstance(value, float), with_path=True)
    assert list(found) == [(("rates", "a"), 2.0), (("rates", "b", 0), 0.5), (("inner", "rate"), 3.0)]
    assert 3.0 not in list(model._flatten(recursive=False))
    backwards = model._flatten(predicate=lambda value: isinstance(value, float), attribute_traversal_key=len)
    assert list(backwards) == [2.0, 0.5, 3.0]
