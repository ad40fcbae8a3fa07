"""The registry of gradients that libraries look into, replace parts of, and put back."""

import pytest

import tideflow as tf
from tideflow.autodiff import registry
from tideflow.programs.inner.graph.gradient_registry import GradientRegistry


@pytest.fixture
def gradients():
    found = GradientRegistry()
    before = dict(registry._registered)
    yield found
    registry._registered.clear()
    registry._registered.update(before)


def _gradient():
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.constant([-1.0, 2.0])
        return sess.run(tf.gradients(tf.nn.relu(x), x)[0]).tolist()


def test_a_gradient_that_is_replaced_takes_effect_until_it_is_put_back(gradients):
    own = gradients._registry["Relu"]["type"]
    gradients._registry["Relu"]["type"] = lambda op, grad: grad * 5.0
    assert _gradient() == [5.0, 5.0]
    gradients._registry["Relu"]["type"] = own
    assert _gradient() == [0.0, 1.0]
    assert "Relu" not in registry._registered  # as if it had never been replaced


def test_what_programs_register_can_be_taken_away(gradients):
    gradients.register(lambda op, grad: grad, "OfATest")
    assert "OfATest" in gradients.list()
    with pytest.raises(KeyError, match="Registering two gradient with name 'OfATest'"):
        gradients.register(None, "OfATest")
    del gradients._registry["OfATest"]
    with pytest.raises(LookupError, match="has no entry for: OfATest"):
        gradients.lookup("OfATest")
    with pytest.raises(KeyError):
        del gradients._registry["Relu"]  # an op type keeps its own


def test_a_copy_stays_as_it_was_and_may_replace_everything(gradients):
    saved = gradients._registry.copy()
    gradients._registry["OfATest"] = {"type": None}
    assert "OfATest" not in saved and len(gradients._registry) == len(saved) + 1
    gradients._registry = saved
    assert set(gradients._registry) == set(saved)


def test_operations_without_gradients_have_none(gradients):
    assert gradients.lookup("Shape") is None
    gradients._registry["Relu"]["type"] = None
    with tf.Graph().as_default():
        x = tf.constant([1.0])
        assert tf.gradients(tf.nn.relu(x), x) == [None]
