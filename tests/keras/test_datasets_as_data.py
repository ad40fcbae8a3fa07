"""Datasets and generators as the data of a model: how many batches they have, and what is refused."""

import numpy as np
import pytest

import tideflow as tf

keras = tf.keras
X, Y = np.ones((10, 3), np.float32), np.ones((10, 1), np.float32)


@pytest.fixture(autouse=True)
def graph():
    keras.backend.clear_session()
    with tf.Graph().as_default(), tf.Session():
        yield
    keras.backend.clear_session()


def network():
    model = keras.Sequential([keras.layers.Dense(1, input_shape=(3,))])
    model.compile("sgd", "mse")
    return model


def batches():
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(2)


def generated():
    while True:
        yield X, Y


class Steps(keras.callbacks.Callback):
    def on_train_begin(self, logs=None):
        self.steps = self.params["steps"]


def test_a_dataset_says_how_many_batches_it_has_where_that_is_known():
    callback = Steps()
    network().fit(batches(), epochs=2, verbose=0, callbacks=[callback])
    assert callback.steps == 5
    network().fit(batches().filter(lambda x, y: True), verbose=0, callbacks=[callback])
    assert callback.steps is None


def test_an_endless_dataset_needs_a_number_of_steps():
    model, endless = network(), batches().repeat()
    asked = [
        (lambda: model.fit(endless), "steps_per_epoch"),
        (lambda: model.fit(batches(), validation_data=endless), "validation_steps"),
        (lambda: model.evaluate(endless), "steps"),
        (lambda: model.predict(endless), "steps"),
    ]
    for call, name in asked:
        with pytest.raises(ValueError, match=f"infinitely repeating dataset, you must specify the `{name}`"):
            call()
    assert model.predict(endless, steps=6).shape == (12, 1)


def test_a_generator_needs_a_number_of_steps():
    model = network()
    asked = [
        (lambda: model.fit(generated()), "via the `steps_per_epoch`"),
        (lambda: model.fit_generator(generated()), "via the `steps_per_epoch`"),
        (lambda: model.evaluate_generator(generated()), "via the `steps`"),
        (lambda: model.predict(generated()), "via the `steps`"),
        (
            lambda: model.fit_generator(generated(), steps_per_epoch=1, validation_data=generated()),
            "the `validation_steps`",
        ),
    ]
    for call, words in asked:
        with pytest.raises(ValueError, match=f"Please specify.*{words} argument"):
            call()


def test_batches_have_their_true_values_weights_and_sizes():
    model, weights = network(), np.ones(10)
    refused = {
        "should not specify a target": lambda: model.fit(batches(), Y),
        "`sample_weight` argument is not supported when input": lambda: model.evaluate(
            batches(), sample_weight=weights
        ),
        "`validation_split` argument is not supported when input": lambda: model.fit(
            batches(), validation_split=0.5
        ),
        "`batch_size` argument must not be specified": lambda: model.fit(batches(), batch_size=2),
        "`y` argument is not supported when data isa generator": lambda: model.fit(generated(), Y),
        "`sample_weight` argument is not supported when data isa": lambda: model.fit(
            generated(), sample_weight=weights, steps_per_epoch=1
        ),
        "you cannot use `validation_split`": lambda: model.fit(generated(), validation_split=0.5),
    }
    for words, call in refused.items():
        with pytest.raises(ValueError, match=words):
            call()


def test_tensors_of_the_graph_need_a_number_of_steps():
    model, tensor = network(), tf.constant(X)
    for call, name in (
        (lambda: model.fit(tensor, tf.constant(Y), batch_size=2), "steps_per_epoch"),
        (lambda: model.predict(tensor), "steps"),
    ):
        with pytest.raises(
            ValueError, match=f"data tensors as input to a model, you should specify the `{name}`"
        ):
            call()
    assert model.predict(tensor, steps=1).shape == (10, 1)


def test_numbers_are_no_data():
    with pytest.raises(ValueError, match="Expected an array data type but received an integer: 1"):
        network().train_on_batch(1, Y)
