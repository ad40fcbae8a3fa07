"""The bases of TensorFlow's tests of Keras under strategies: their models, data and comparisons."""

import numpy as np
import pytest

import tideflow as tf
from tideflow.programs.inner.testing import keras_correctness as correctness
from tideflow.programs.inner.testing import keras_strategy_tests as shared

keras = tf.keras


@pytest.fixture(autouse=True)
def graph():
    keras.backend.clear_session()
    with tf.Graph().as_default(), tf.Session():
        yield
    keras.backend.clear_session()


class Learns(correctness.TestDistributionStrategyCorrectnessBase):
    def get_data(self):
        x = np.arange(128, dtype=np.float32).reshape(-1, 1) / 128
        return x, 2 * x, x[:64]

    def get_model(
        self,
        initial_weights=None,
        distribution=None,
        experimental_run_tf_function=None,
        input_shapes=None,
    ):
        with correctness.MaybeDistributionScope(distribution):
            model = keras.Sequential([keras.layers.Dense(1, input_shape=(1,))])
            if initial_weights:
                model.set_weights(initial_weights)
            model.compile(keras.optimizers.SGD(0.1), "mse", metrics=["mae"])
        return model

    def runTest(self):
        strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
        self.run_correctness_test(strategy, use_numpy=True, use_validation_data=False)
        self.run_correctness_test(strategy, use_numpy=False, use_validation_data=True)
        self.run_dynamic_lr_test(strategy)


def test_a_model_learns_the_same_with_a_strategy():
    Learns().debug()


def test_models_that_differ_fail():
    result = {"weights_1": [np.ones(2)], "eval_result_1": [1.0, 2.0]}
    other = {"weights_1": [np.ones(2)], "eval_result_1": [1.0, 3.0]}
    with pytest.raises(AssertionError, match="Fail to assert eval_result_1"):
        correctness.compare_results(result, other, tf.distribute.get_strategy(), Learns())
    first = {"eval_result_1": [1.0, 2.0]}, {"eval_result_1": [5.0, 2.0]}
    correctness.compare_results(*first, None, Learns(), partial_last_batch="eval")


def test_words_have_classes():
    x, y, predicted = correctness.TestDistributionStrategyEmbeddingModelCorrectnessBase().get_data(count=8)
    assert x.shape == (8, 10) and y.shape == (8, 1) and len(predicted) == 8


def test_models_and_data_fit():
    strategy = tf.distribute.get_strategy()
    model = shared.get_model()
    model.compile("sgd", "mse")
    assert len(model.fit(shared.get_dataset(strategy), steps_per_epoch=2, verbose=0).epoch) == 1
    assert model.predict(shared.get_predict_dataset(strategy), steps=1).shape == (10, 4)
    both = shared.simple_multi_inputs_multi_outputs_model()
    both.compile("sgd", "categorical_crossentropy")
    train, _ = shared.get_multi_inputs_multi_outputs_data()
    inputs, targets = ["input_a", "input_b"], ["output_c", "output_d"]
    assert len(both.train_on_batch([train[n] for n in inputs], [train[n] for n in targets])) == 3
    assert shared.get_sample_weights_model().predict(np.ones((2, 1))).tolist() == [[1.0], [1.0]]
    assert [t.shape.as_list() for t in shared.multi_input_output_model().outputs] == [[None, 7]] * 2
    assert shared.simple_sequential_model().output_shape == (None, 2)
    assert shared.simple_subclassed_model(3)(tf.ones([1, 2])).shape.as_list() == [1, 3]
    unknown = shared.convert_numpy_to_dataset_with_unknown_cardinality(np.ones((20, 3)), np.ones((20, 4)))
    assert model.evaluate(unknown, verbose=0) >= 0


def test_combinations_name_strategies():
    assert len(shared.all_strategy_combinations()) == 2 * (5 + 2)
    assert len(shared.all_strategy_combinations_minus_default()) == 2 * (4 + 2)
    assert len(shared.all_strategy_combinations_plus_run_distributed()) == 2 * 2 * 5 + 2 * 2
    assert len(shared.tpu_strategy_combinations_graph_only()) == 2
    assert len(shared.strategy_and_optimizer_combinations()) == 10 * 16 + 2 * 4 + 2 * 8
    assert len(correctness.all_strategy_and_input_config_combinations()) == 6 * 2 * 8
    assert len(correctness.test_combinations_for_embedding_model()) == 5 * 2 * 4 + 3 * 4
    assert len(correctness.test_combinations_with_tpu_strategies()) == 2 * 4
