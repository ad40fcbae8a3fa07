"""What TensorFlow's own unit tests take from its inner modules."""

import unittest
from unittest import mock

import pytest

import tideflow as tf
from tideflow.contrib.learn import experiment
from tideflow.eager.context import eager_mode
from tideflow.platform import decorators, deprecation, logging
from tideflow.programs import modules
from tideflow.programs.finder import Facade
from tideflow.programs.inner.data import transformation_names as dataset_names
from tideflow.programs.inner.data import utilities as dataset_utilities
from tideflow.programs.inner.graph import default_stacks, ragged_utilities, session_names, shape_functions
from tideflow.programs.inner.keras import layer_lists
from tideflow.programs.inner.testing import dataset_testing, saver_testing, test_utilities
from tideflow.programs.inner.train import saveable_names
from tideflow.programs.inner.util import version_names
from tideflow.summary import plugin_assets
from tideflow.train import monitored_session, moving_averages
from tideflow.variables import behavior
from tideflow.variables.global_step import increment_global_step


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


@pytest.fixture
def warnings(monkeypatch):
    said = []
    monkeypatch.setattr(logging, "warning", lambda *args: said.append(args))
    monkeypatch.setattr(deprecation, "_PRINTED_WARNING", {})
    return said


def test_deprecated_functions_say_so_once_and_in_their_documentation(warnings):
    @deprecation.deprecated("2016-07-04", "Do this.")
    def old():
        """Does.

        Returns:
          One.
        """
        return 1

    assert [old(), old()] == [1, 1] and len(warnings) == 1
    assert warnings[0][-2:] == ("after 2016-07-04", "Do this.")
    assert old.__doc__.startswith("Does. (deprecated)\n\nWarning: THIS FUNCTION IS DEPRECATED.")
    with deprecation.silence():
        deprecation.deprecated(None, "Do that.")(lambda: 0)()
    assert len(warnings) == 1


@pytest.mark.parametrize(("date", "words"), [("04-07-2016", "Do."), ("", "Do."), ("2016-07-04", "")])
def test_dates_and_instructions_of_what_is_deprecated_are_checked(date, words):
    for decorator in (
        lambda: deprecation.deprecated(date, words),
        lambda: deprecation.deprecated_args(date, words, "x"),
        lambda: deprecation.deprecated_arg_values(date, words, x=1),
    ):
        with pytest.raises(ValueError, match="YYYY-MM-DD" if words else "instructions"):
            decorator()


def test_deprecated_arguments_and_values_and_names_warn(warnings):
    @deprecation.deprecated_args(None, "Do.", ("a", None), "rest")
    def one(a=None, *rest):
        return a

    @deprecation.deprecated_arg_values(None, "Do.", b=True)
    def two(b=True):
        return b

    one(None)
    assert not warnings
    one(1, 2)
    two(False)
    two()
    assert [said[4] for said in warnings] == ["a", "rest", "b"]
    with pytest.raises(ValueError, match=r"not present.*\['missing'\]"):
        deprecation.deprecated_args(None, "Do.", "missing")(lambda x: x)
    with pytest.raises(ValueError, match="@property appears before @deprecated"):
        deprecation.deprecated(None, "Do.")(property(lambda self: 1))
    alias = deprecation.deprecated_alias("old.Case", "unittest.TestCase", unittest.TestCase)
    assert isinstance(alias(), unittest.TestCase) and warnings[-1][-2:] == ("old.Case", "unittest.TestCase")


def test_decorators_are_seen_and_what_is_inside_is_changed():
    def inner(x):
        return x

    def outer(x):
        return outer.__wrapped__(x) + 1

    decorators.make_decorator(inner, outer, "plus", "Adds.")
    (found,), target = decorators.unwrap(outer)
    assert (found.decorator_name, outer.__doc__, outer.__name__, target) == ("plus", "Adds.", "inner", inner)
    assert decorators.rewrap(outer, inner, lambda x: 10 * x)(2) == 21
    assert decorators.unwrap(inner) == ([], inner) and decorators.rewrap(inner, inner, outer) is outer


def test_shape_functions_and_device_attributes():
    x = tf.placeholder(tf.float32, [2, None])
    assert shape_functions.RegisterShape("Any")(shape_functions.unknown_shape)(x.op)[0].ndims is None
    assert shape_functions.unchanged_shape_with_rank(2)(tf.identity(x).op)[0].as_list() == [2, None]
    device = session_names._DeviceAttributes("/job:worker/task:3/cpu:1", "CPU", 1, 2)
    assert repr(device) == "_DeviceAttributes(/job:worker/task:3/device:CPU:1, CPU, 1, 2)"


def test_sessions_end_in_the_order_of_their_beginning():
    stack = default_stacks._default_session_stack
    assert stack.get_default() is None and stack.is_cleared()
    outer, inner = tf.Session().as_default(), tf.Session().as_default()
    outer.__enter__()
    inner.__enter__()
    with pytest.raises(AssertionError, match="Nesting violated"):
        outer.__exit__(None, None, None)
    stack.reset()
    assert stack.stack == []


def test_plugins_write_their_assets_with_the_graph(tmp_path):
    class Asset(plugin_assets.PluginAsset):
        plugin_name = "example"

        def assets(self):
            return {"a.txt": "words"}

    asset = plugin_assets.get_plugin_asset(Asset)
    assert plugin_assets.get_all_plugin_assets() == [asset]
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        writer.add_graph(tf.get_default_graph())
    assert (tmp_path / "plugins" / "example" / "a.txt").read_text() == "words"
    with pytest.raises(ValueError, match="collision"):
        plugin_assets.get_plugin_asset(type("Other", (Asset,), {"__init__": lambda self: None}))


def test_datasets_are_compared():
    class Case(dataset_testing.DatasetTestBase):
        def runTest(self):
            self.assertDatasetProduces(tf.data.Dataset.range(2), [0, 1])
            self.assertDatasetsEqual(tf.data.Dataset.range(2), tf.data.Dataset.range(2))
            with self.assertRaises(AssertionError):
                self.assertDatasetProduces(tf.data.Dataset.range(2), [0, 2])
            with self.assertRaises(tf.errors.OutOfRangeError):
                self.assertDatasetProduces(tf.data.Dataset.range(2), [0, 1, 2])

    result = unittest.TestResult()
    Case().run(result)
    assert result.testsRun == 1 and not result.errors and not result.failures


def test_objects_that_save_themselves(tmp_path):
    table = saver_testing.CheckpointedOp("table")
    insert, saver = table.insert("k", 3.0), tf.train.Saver({"table": table.saveable})
    with tf.Session() as session:
        session.run(insert)
        saver.save(session, str(tmp_path / "model"))
    with tf.Session() as session:
        saver.restore(session, str(tmp_path / "model"))
        assert session.run([table.keys(), table.values()])[0].tolist() == [b"k"]


def test_the_global_step_is_counted_up():
    with pytest.raises(ValueError, match="should be created"):
        increment_global_step(1)
    step = tf.train.create_global_step()
    counted = increment_global_step(2)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(counted)
        assert session.run(step) == 2


def _elements(dataset, count):
    iterator = tf.data.make_initializable_iterator(dataset)
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer)
        return [session.run(element) for _ in range(count)]


def test_datasets_wait_and_have_threads_of_their_own_and_name_files(tmp_path):
    numbers = tf.data.Dataset.range(3).apply(dataset_names.sleep(10))
    pool = dataset_names.PrivateThreadPool(2, display_name="pool")
    assert _elements(dataset_names.override_threadpool(numbers, pool), 3) == [0, 1, 2]
    for name in ("b.txt", "a.txt", "c.log"):
        (tmp_path / name).touch()
    files = dataset_names.MatchingFilesDataset([str(tmp_path / "*.txt")])
    assert [path.decode()[-5:] for path in _elements(files, 2)] == ["a.txt", "b.txt"]


def test_arguments_of_datasets_are_tensors():
    given = [
        dataset_utilities.optional_param_to_tensor("x", None, 5),
        dataset_utilities.partial_shape_to_tensor([None, 3]),
    ]
    tf.set_random_seed(0)
    given += dataset_utilities.get_seed(0)
    with tf.Session() as session:
        found = [value.tolist() for value in session.run(given)]
    assert found == [5, [-1, 3], 0, 2**31 - 1]
    with pytest.raises(TypeError, match="the element type was int32"):
        dataset_utilities.partial_shape_to_tensor(tf.constant([1]))
    zipped = tf.data.Dataset.zip((tf.data.Dataset.range(1), tf.data.Dataset.range(2)))
    found = [op.type for op in dataset_utilities.obtain_all_variant_tensor_ops(zipped)]
    assert found == ["ZipDataset", "RangeDataset", "RangeDataset"]


def test_rows_are_repeated_and_compared():
    letters, splits = tf.constant(["a", "b", "c"]), tf.constant([0, 2, 3])
    repeated = ragged_utilities.repeat_ranges(letters, splits, tf.constant([2, 1]))
    with tf.Session() as session:
        assert session.run(repeated).tolist() == [b"a", b"b", b"a", b"b", b"c"]
        assert session.run(ragged_utilities.lengths_to_splits(tf.constant([2, 1]))).tolist() == [0, 2, 3]
    with pytest.raises(ValueError, match="identical ragged splits"):
        ragged_utilities.assert_splits_match([[splits], []])


def test_layers_and_saveables_are_listed():
    one, other = tf.keras.layers.Dense(2), tf.keras.layers.Dense(2)
    for layer in (one, other):
        layer.build((None, 2))
    other.trainable = False
    assert layer_lists.filter_empty_layer_containers([one, tf.keras.Sequential([other]), one])[0] is one
    assert len(layer_lists.gather_trainable_weights(True, [one, other], [])) == 2
    assert len(layer_lists.gather_non_trainable_weights(False, [one, other], [])) == 4
    assert saveable_names.set_cpu0("/job:ps/device:GPU:2") == "/job:ps/device:CPU:0"
    variable = tf.get_variable("v", [2])
    assert [s.name for s in saveable_names.validate_and_slice_inputs([variable])] == ["v"]


def test_averages_are_weighted():
    value, weight = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    average = moving_averages.weighted_moving_average(value, 0.5, weight)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = [session.run(average, {value: v, weight: w}) for v, w in ((1, 2), (3, 1))]
    assert found == [1.0, 2.0]
    assert [v.op.name for v in tf.global_variables()] == [
        "WeightedMovingAvg/value_x_weight",
        "WeightedMovingAvg/weight",
    ]


def test_a_mock_on_an_inner_module_is_what_is_called():
    real, training = monitored_session.MonitoredTrainingSession, Facade("tensorflow.python.training.training")
    for _ in range(2):
        with mock.patch.object(training, "MonitoredTrainingSession") as mocked:
            assert monitored_session.MonitoredTrainingSession is mocked
        assert monitored_session.MonitoredTrainingSession is real
        assert training.MonitoredTrainingSession is real
    with mock.patch.object(Facade("tensorflow.train"), "MonitoredTrainingSession"):
        assert monitored_session.MonitoredTrainingSession is real


def test_a_mock_reaches_the_modules_that_have_imported_what_it_replaces():
    server_lib = Facade("tensorflow.python.training.server_lib")
    real = experiment.Server
    with mock.patch.object(server_lib, "Server") as mocked:
        assert experiment.Server is mocked and server_lib.Server is mocked
        assert tf.train.Server is real  # the public name is another place
    assert experiment.Server is real


def test_packages_show_the_modules_below_them():
    learn, estimators = "contrib.learn.python.learn", "contrib.learn.python.learn.estimators"
    assert modules.module_named(learn, "estimator") == f"{estimators}.estimator"
    assert modules.module_named(f"{estimators}.dnn", "head") == f"{estimators}.head"  # beside it
    assert modules.module_named(f"{learn}.graph_actions", "coordinator") == "python.training.coordinator"
    assert modules.module_named("contrib.learn", "estimator") is None


def test_messages_of_checkpoints_have_a_module():
    state = Facade("tensorflow.python.training.checkpoint_state_pb2").CheckpointState()
    state.model_checkpoint_path = "model.ckpt-5"
    assert type(state).FromString(state.SerializeToString()).model_checkpoint_path == "model.ckpt-5"


@pytest.mark.parametrize("second", [False, True])
def test_tests_of_one_version_run_where_programs_behave_as_with_it(monkeypatch, second):
    monkeypatch.setattr(behavior._Chosen, "v2_behavior", second)
    ran = []

    class Case(unittest.TestCase):
        @test_utilities.run_v1_only("of the first")
        def test_first(self):
            ran.append("first")

        @test_utilities.run_v2_only
        def test_second(self):
            ran.append("second")

        @test_utilities.run_deprecated_v1
        def test_graphs(self):
            ran.append(tf.executing_eagerly())

    with eager_mode():
        unittest.TestSuite(map(Case, ("test_first", "test_second", "test_graphs"))).run(unittest.TestResult())
    assert ran == (["second", False] if second else ["first", True])
    assert version_names.enabled() is second
