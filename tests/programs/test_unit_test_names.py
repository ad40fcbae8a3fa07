"""What TensorFlow's own unit tests take from inside Keras and eager mode."""

import numpy as np
import pytest
from google.protobuf import text_format

import tideflow as tf
from tideflow.eager.context import eager_mode
from tideflow.eager.tensor import EagerTensor
from tideflow.functions.lifting import UnliftableError
from tideflow.programs.finder import Facade
from tideflow.programs.inner.eager import context_names as eager_names
from tideflow.programs.inner.graph import graph_names
from tideflow.programs.inner.keras import backend_names as keras_backend_names
from tideflow.programs.inner.keras import engine_names as keras_engine_names
from tideflow.programs.inner.keras import training_names as keras_training_names
from tideflow.programs.inner.keras import utility_names as keras_utility_names
from tideflow.programs.inner.testing import keras_testing, test_op_names


def test_modules_have_the_names_that_tests_import():
    asked = {
        "keras.engine.training_utils": "should_run_validation standardize_weights",
        "keras.engine.base_layer_utils": "v2_dtype_behavior_enabled is_in_keras_graph",
        "keras.utils.losses_utils": "ReductionV2 compute_weighted_loss",
        "keras.losses": "LossFunctionWrapper",
        "keras.metrics": "MeanMetricWrapper SumOverBatchSize clone_metric",
        "keras.engine.base_layer": "AddLoss TensorFlowOpLayer KerasHistory",
        "eager.context": "context VirtualDeviceConfiguration ensure_initialized",
        "eager.core": "_NotOkStatusException _status_to_exception",
        "eager.function": "ConcreteFunction defun_with_attributes",
        "eager.def_function": "run_functions_eagerly Function",
        "framework.config": "set_optimizer_jit",
    }
    for module, names in asked.items():
        facade = Facade(f"tensorflow.python.{module}")
        for name in names.split():
            assert not isinstance(getattr(facade, name), Facade), (module, name)


def test_ops_run_by_name():
    with eager_mode():
        values = tf.constant([1, 2]), tf.constant([3]), tf.constant(0)
        (joined,) = eager_names.execute(b"ConcatV2", 1, values, ("N", 2, "T", 3, "Tidx", 3), None)
        assert joined.numpy().tolist() == [1, 2, 3]
        with pytest.raises(TypeError, match="other than 'EagerTensor'"):
            eager_names.execute("Neg", 1, [5], ("T", 3), None)
        with pytest.raises(tf.errors.NotFoundError):
            eager_names.execute("Nope", 1, [], (), None)
        sizes = eager_names.TFE_Py_TensorShapeSlice([joined, tf.ones([2, 1])], 0)
        assert sizes.numpy().tolist() == [3, 2]
        with pytest.raises(IndexError, match="Slice dimension"):
            eager_names.TFE_Py_TensorShapeSlice([joined], 1)


def test_tensors_are_made_of_values():
    assert EagerTensor(2**33, device="").dtype == tf.int64
    assert EagerTensor(np.array([3.0], np.float32), device="", dtype=2).dtype == tf.float64
    with pytest.raises(TypeError, match=r"argument 'device' \(pos 2\)"):
        EagerTensor(1)
    with pytest.raises(TypeError, match="Expecting a DataType value"):
        EagerTensor(1, device="", dtype="1")
    with pytest.raises(TypeError, match="Invalid dtype argument value"):
        EagerTensor(1, device="", dtype=12345)


def test_vector_products_may_be_asked_for_twice():
    with eager_mode():
        value, product = eager_names.make_vjp(lambda a, b: a * b)(tf.constant(3.0), tf.constant(4.0))
        assert value.numpy() == 12 and [x.numpy() for x in product(tf.constant(2.0))] == [8, 6]
        assert [x.numpy() for x in product()] == [4, 3]


def test_values_of_arguments_cannot_be_lifted_out_of_a_function():
    made = []

    @tf.function
    def scaled(x):
        if not made:
            made.append(tf.Variable(2.0 * x))
        return made[0] * x

    with tf.Graph().as_default(), pytest.raises(UnliftableError, match=r"transitively.* mul .* x"):
        scaled(tf.constant(3.0))


def test_layers_of_a_decorated_function_have_types_of_version_two():
    make = keras_testing.enable_v2_dtype_behavior(lambda: tf.keras.layers.Dense(1))
    assert make().dtype == "float32" and tf.keras.layers.Dense(1).dtype is None
    assert not keras_engine_names.v2_dtype_behavior_enabled()


def test_names_of_eager_layers_start_again_with_a_new_session():
    for _ in range(2):
        with eager_mode():
            assert tf.keras.layers.Dense(1).name == "dense"
        tf.keras.backend.clear_session()


def test_small_helpers():
    code = keras_utility_names.func_dump(lambda x, y=2: x + y)
    assert keras_utility_names.func_load(code)(1) == 3
    assert keras_utility_names.make_batches(5, 2) == [(0, 2), (2, 4), (4, 5)]
    with pytest.raises(ValueError, match="Only expected following keys"):
        keras_utility_names.check_for_unexpected_keys("loss", {"a": 1}, ["b"])
    assert [keras_training_names.should_run_validation(2, epoch) for epoch in range(2)] == [False, True]
    assert keras_backend_names.is_placeholder(tf.placeholder(tf.float32))
    with pytest.raises(ValueError, match="Unexpectedly found an instance"):
        keras_backend_names.is_keras_tensor(0)


def test_operations_that_were_removed_stand_in_old_graphs_only():
    test_op_names.register_all()
    old = text_format.Parse("node { name: 'A' op: 'Old' } versions { producer: 7 }", tf.GraphDef())
    with tf.Graph().as_default() as graph:
        assert tf.import_graph_def(old, return_elements=["A"])[0].type == "Old"
        assert graph.graph_def_versions.producer == 7
    old.versions.producer = 8
    with tf.Graph().as_default() as graph:
        with pytest.raises(tf.errors.UnimplementedError, match="has been removed in version 8"):
            tf.import_graph_def(old)
        assert graph.graph_def_versions.producer > 8 and not graph.get_operations()


def test_kernels_have_the_labels_of_their_block():
    with tf.Graph().as_default() as graph, tf.Session() as session:
        with graph._kernel_label_map({"KernelLabel": "other"}):
            labelled = test_op_names.kernel_label()
        assert session.run([labelled, test_op_names.kernel_label()]) == [
            b"My label is: other",
            b"My label is: default",
        ]


def test_operations_are_made_of_node_defs():
    with tf.Graph().as_default() as graph:
        one = tf.constant(1)
        made = tf.Operation(graph_names._NodeDef("Identity", "same"), graph, [one], control_inputs=[one])
        assert made is graph.get_operation_by_name("same") and made.outputs[0].dtype == tf.int32
        assert made._input_types == [tf.int32] and one.op._control_outputs == [made]
        with pytest.raises(TypeError, match="node_def needs to be a NodeDef"):
            tf.Operation("Identity", graph)


def test_assertions_in_functions_are_made_in_the_step():
    class Case(tf.test.TestCase):
        def runTest(self):
            pass

    @tf.contrib.eager.defun
    def checked(x):
        Case().assertAllEqual(x, [1, 2])
        return x

    with eager_mode():
        assert checked(tf.constant([1, 2])).numpy().tolist() == [1, 2]
        with pytest.raises(tf.errors.OpError, match="not equal"):
            checked(tf.constant([1, 3]))
