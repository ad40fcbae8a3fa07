"""What TensorFlow's tests of Keras and estimators take from inner modules: copies, data, results of
batches, names.
"""

import numpy as np
import pytest

import tideflow as tf
from tideflow.programs.inner.keras import aggregators as keras_aggregators
from tideflow.programs.inner.keras import convolution_names, distribution_names
from tideflow.programs.inner.keras import data_adapters as keras_data_adapters
from tideflow.programs.inner.keras import layer_names as keras_layer_names
from tideflow.programs.inner.keras import metric_names as keras_metric_names
from tideflow.programs.inner.keras import model_names as keras_model_names
from tideflow.programs.inner.keras import saving_names as keras_saving_names
from tideflow.programs.inner.keras import small_names as keras_inner_names
from tideflow.programs.inner.keras import training_names as keras_training_names
from tideflow.programs.inner.testing import keras_test_models
from tideflow.programs.inner.train import estimator_names

X, Y = np.ones((4, 3), "float32"), np.ones((4, 2), "float32")


@pytest.fixture(autouse=True)
def graph():
    tf.keras.backend.clear_session()
    with tf.Graph().as_default(), tf.Session() as session:
        tf.keras.backend.set_session(session)
        yield
    tf.keras.backend.clear_session()


def compiled():
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,), kernel_initializer="ones")])
    model.compile("sgd", "mse", metrics=["mae"])
    return model


def test_models_are_copied_and_compiled():
    model, steps = compiled(), tf.keras.backend.variable(7, dtype="int64")
    copy = keras_model_names.clone_and_build_model(model, optimizer_iterations=steps)
    copy.train_on_batch(X, Y)
    assert tf.keras.backend.get_value(copy.optimizer.iterations) == 8
    other = keras_model_names.clone_and_build_model(model, optimizer_config={"lr": 0.5, "name": "SGD"})
    assert tf.keras.backend.get_value(other.optimizer.lr) == 0.5
    model.optimizer = None
    with pytest.raises(ValueError, match="has not been compiled"):
        keras_model_names.clone_and_build_model(model)


def test_subclasses_are_reset_in_place_and_restored():
    model = keras_test_models.SimpleTestModel(use_bn=True, use_dp=True, num_classes=2)
    model.compile("sgd", "mse")
    model.train_on_batch(X, Y)
    layer = model.dense1
    with pytest.raises(ValueError, match="in_place_reset"):
        keras_model_names.clone_and_build_model(model)
    inputs = tf.keras.backend.placeholder((None, 3))
    copy = keras_model_names.clone_and_build_model(model, inputs, in_place_reset=True)
    copy.train_on_batch(X, Y)
    assert copy is model and model.dense1 is not layer
    keras_model_names.in_place_subclassed_model_state_restoration(model)
    assert model.dense1 is layer and model.train_on_batch(X, Y) > 0


def test_models_are_described():
    model = compiled()
    said = keras_model_names.model_metadata(model)
    assert (said["keras_version"], said["model_config"]["class_name"]) == ("2.2.4-tf", "Sequential")
    assert "optimizer" in keras_model_names.compile_args_from_training_config(said["training_config"])
    assert set(keras_model_names.extract_model_metrics(model)) == {"mean_absolute_error"}
    traced = keras_model_names.trace_model_call(model).get_concrete_function()
    assert list(traced.structured_outputs) == ["dense"]
    with pytest.raises(ValueError, match="input shapes have not been set"):
        keras_model_names.trace_model_call(keras_test_models.SimpleTestModel())


def test_results_of_batches_are_put_together():
    means = keras_aggregators.MetricsAggregator(False, num_samples=6)
    means.create([0.0, 0.0])
    means.aggregate([1.0, 2.0], 0, 4)
    means.aggregate([4.0, 3.0], 4, 6)
    means.finalize()
    assert means.results == [2.0, 3.0]
    outputs = keras_aggregators.OutputsAggregator(False, num_samples=5, batch_size=3)
    outputs.create([np.ones((3, 2)), {"a": np.ones(3)}])
    outputs.aggregate([np.ones((3, 2)), {"a": np.ones(3)}], 0, 3)
    outputs.aggregate([np.zeros((2, 2)), {"a": np.zeros(2)}], 3, 5)
    outputs.finalize()
    assert outputs.results[0][:, 0].tolist() == outputs.results[1]["a"].tolist() == [1, 1, 1, 0, 0]
    joined = keras_aggregators.ConcatAggregator(2)
    with pytest.raises(ValueError, match="Mismatch between expected batch size"):
        joined.aggregate(np.ones((3,)))
    large = keras_aggregators.SliceAggregator(3, 2)
    large.create(np.ones((2, 2**14)))
    large.aggregate(np.ones((2, 2**14)), 0, 2)
    large.aggregate(np.ones((3, 2**14)), 2, 3)  # copied by another thread, whose error is raised at the end
    with pytest.raises(ValueError, match="broadcast"):
        large.finalize()


def test_data_are_adapted_to_datasets():
    choose = keras_data_adapters.select_data_adapter
    kinds = [X, [1, 2], tf.data.Dataset.range(2), (x for x in [X]), tf.SparseTensor([[0, 0]], [1.0], [1, 1])]
    assert [choose(each, None).__name__ for each in kinds] == [
        "TensorLikeDataAdapter",
        "ListsOfScalarsDataAdapter",
        "DatasetAdapter",
        "GeneratorDataAdapter",
        "CompositeTensorDataAdapter",
    ]
    adapter = keras_data_adapters.TensorLikeDataAdapter(np.arange(5.0), batch_size=2, epochs=1)
    batch = tf.data.make_one_shot_iterator(adapter.get_dataset()).get_next()
    values = [tf.keras.backend.get_session().run(batch)[0].tolist() for _ in range(3)]
    assert values == [[0, 1], [2, 3], [4]] and adapter.partial_batch_size() == 1
    with pytest.raises(ValueError, match="is not supported when using dataset"):
        keras_data_adapters.DatasetAdapter(tf.data.Dataset.range(2), y=X)


def test_weights_of_local_layers_are_masked():
    mask = convolution_names.conv_kernel_mask((3,), 2, 1, "valid")
    assert mask.astype(int).tolist() == [[1, 0], [1, 1], [0, 1]]
    pairs = sorted(convolution_names.conv_kernel_idxs((3,), (2,), (1,), "valid", 1, 1, "channels_last"))
    assert pairs == [(0, 0), (0, 1), (1, 1), (1, 2)]
    assert keras_layer_names.get_locallyconnected_mask((3,), 2, 1, "valid", "channels_first").shape == (
        1,
        3,
        1,
        2,
    )


def test_cells_of_a_confusion_matrix_are_counted():
    cells = keras_metric_names.ConfusionMatrix
    right = tf.keras.backend.variable([0.0])
    update = keras_metric_names.update_confusion_matrix_variables(
        {cells.TRUE_POSITIVES: right}, tf.constant([1.0, 1.0]), tf.constant([0.9, 0.1]), [0.5]
    )
    tf.keras.backend.get_session().run(update)
    assert tf.keras.backend.get_value(right).tolist() == [1.0]
    with pytest.raises(ValueError, match="Please provide at least one valid"):
        keras_metric_names.update_confusion_matrix_variables({"tp": right}, right, right, [0.5])


def test_arguments_of_training_are_checked():
    names = keras_training_names
    assert names.ModelInputs({"b": X, "a": X}).get_input_names() == ["a", "b"]
    assert [str(t.shape) for t in names.ModelInputs([X]).get_symbolic_inputs()] == ["(?, 3)"]
    assert names.check_num_samples([X], 2) == 4
    with pytest.raises(ValueError, match="`steps_per_epoch`"):
        names.check_steps_argument(None, None, "steps_per_epoch")
    with pytest.raises(ValueError, match="one entry per model outputs"):
        names.prepare_loss_functions(["mse"], ["a", "b"])
    wrapped = keras_inner_names.convert_inner_node_data({"x": ["dense", 0, 0]}, wrap=True)
    assert keras_inner_names.convert_inner_node_data(wrapped) == {"x": ["dense", 0, 0]}


def test_models_go_through_files(tmp_path):
    model = compiled()
    keras_saving_names.save_model_to_hdf5(model, str(tmp_path / "m.h5"))
    assert (
        keras_saving_names.load_model_from_hdf5(str(tmp_path / "m.h5")).predict(X).tolist()
        == [[3.0, 3.0]] * 4
    )


def test_heads_tell_their_losses_and_optimizers_are_found_by_name():
    head = estimator_names._regression_head(label_dimension=1)
    loss = head.create_loss({}, "eval", tf.constant([[1.0], [2.0]]), tf.constant([[0.0], [0.0]]))
    values = tf.keras.backend.get_session().run([loss.training_loss, loss.unreduced_loss])
    assert values[0] == 5.0 and values[1].tolist() == [[1.0], [4.0]]
    with pytest.raises(ValueError, match="learning_rate must be specified"):
        estimator_names.get_optimizer_instance("Adagrad")


def test_what_is_no_operation_is_told_a_device():
    class Captured:
        device = None

        def _set_device_from_string(self, device):
            self.device = device

    with tf.device("/cpu:0"):
        captured = Captured()
        tf.get_default_graph()._apply_device_functions(captured)
    assert captured.device == "/device:CPU:0"


def test_steps_and_batches_of_a_strategy():
    default = tf.distribute.get_strategy()
    numbers = distribution_names.get_input_params
    assert numbers(default, 64, None, None) == (2, 32)
    assert numbers(default, 20, None, None) == (1, 20)
    assert numbers(default, 63, 3, None) == (3, 21)
    assert numbers(default, 64, 5, 3) == (5, 3)
    assert numbers(default, 70, None, 32, mode="train") == (3, 32)
    with pytest.raises(ValueError, match="not divisible by batch size"):
        numbers(default, 70, None, 32)
    with pytest.raises(ValueError, match="not divisible by steps"):
        numbers(default, 63, 2, None)
    with pytest.raises(ValueError, match="less than samples required"):
        numbers(default, 64, 10, 13)


def test_tensors_of_replicas_are_alike():
    strategy = tf.distribute.get_strategy()
    check = distribution_names.validate_distributed_dataset_inputs
    x = tf.zeros([2, 3])
    assert check(strategy, [x], None) == ([x], None, None)
    with pytest.raises(ValueError, match="should be tensors"):
        check(strategy, [3], None)
    with pytest.raises(ValueError, match="shapes do not match"):
        distribution_names.validate_all_tensor_shapes(x, [x, tf.zeros([2])])
    with pytest.raises(ValueError, match="dtypes do not match"):
        distribution_names.validate_all_tensor_types(x, [x, tf.zeros([2, 3], tf.int32)])
