"""Imports of TensorFlow that Tideflow answers."""

import importlib
import pydoc
import subprocess
import sys

import pytest

import tideflow
from tideflow.graph.scopes import get_default_graph
from tideflow.programs import finder, modules


@pytest.fixture(autouse=True)
def answered(monkeypatch):
    """The finder for one test: what it brought in goes with it."""
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    finder.install()
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] in finder.ROOTS]:
        del sys.modules[name]


@pytest.mark.parametrize(
    "line, name, path",
    [
        ("import tensorflow as tf", "tf.nn.relu", "nn.relu"),
        ("import tensorflow as tf", "tf.compat.v1.train.AdamOptimizer", "train.AdamOptimizer"),
        ("import tensorflow.compat.v1 as tf", "tf.matmul", "matmul"),
        ("from tensorflow.compat import v1 as tf", "tf.layers.dense", "layers.dense"),
        ("from tensorflow import nn", "nn.relu", "nn.relu"),
        ("from tensorflow.python.framework import ops", "ops.convert_to_tensor", "convert_to_tensor"),
        ("from tensorflow.python.framework import ops", "ops.RegisterGradient", "RegisterGradient"),
        ("from tensorflow.python.estimator import estimator", "estimator.Estimator", "estimator.Estimator"),
        ("import tensorflow_estimator as te", "te.estimator.RunConfig", "estimator.RunConfig"),
        (
            "from tensorflow_estimator.python.estimator.canned import linear",
            "linear.LinearClassifier",
            "estimator.LinearClassifier",
        ),
        ("from tensorflow.python.framework import dtypes", "dtypes.float32", "float32"),
        ("from tensorflow.python.framework import tensor_shape", "tensor_shape.TensorShape", "TensorShape"),
        (
            "from tensorflow.python.framework import tensor_util",
            "tensor_util.constant_value",
            "get_static_value",
        ),
        ("from tensorflow.python.framework import constant_op", "constant_op.constant_v1", "constant"),
        ("from tensorflow.python.framework.errors import OpError", "OpError", "errors.OpError"),
        ("from tensorflow.python.ops import array_ops", "array_ops.concat", "concat"),
        ("from tensorflow.python.ops import math_ops", "math_ops.reduce_sum", "reduce_sum"),
        ("from tensorflow.python.ops import nn_ops", "nn_ops.softmax", "nn.softmax"),
        ("from tensorflow.python.ops import init_ops", "init_ops.zeros_initializer", "zeros_initializer"),
        ("from tensorflow.python.ops import variable_scope as vs", "vs.get_variable", "get_variable"),
        ("from tensorflow.python.ops import control_flow_ops", "control_flow_ops.group", "group"),
        ("from tensorflow.python.ops.losses import losses", "losses.huber_loss", "losses.huber_loss"),
        ("from tensorflow.python.platform import gfile", "gfile.GFile", "gfile.GFile"),
        ("from tensorflow.python.platform import test", "test.TestCase", "test.TestCase"),
        ("from tensorflow.python.platform import tf_logging", "tf_logging.info", "logging.info"),
        ("from tensorflow.python.client import session", "session.Session", "Session"),
        (
            "from tensorflow.python.profiler import model_analyzer",
            "model_analyzer.profile",
            "profiler.profile",
        ),
        (
            "from tensorflow.contrib.tensorboard.plugins import projector",
            "projector.ProjectorConfig",
            "contrib.tensorboard.plugins.projector.ProjectorConfig",
        ),
        (
            "from tensorflow.core.profiler import tfprof_log_pb2",
            "tfprof_log_pb2.OpLogProto",
            "profiler.OpLogProto",
        ),
        ("from tensorflow.python.training import adam", "adam.AdamOptimizer", "train.AdamOptimizer"),
        (
            "from tensorflow.python.training import session_run_hook as hooks",
            "hooks.SessionRunHook",
            "train.SessionRunHook",
        ),
        (
            "from tensorflow.python.training import basic_session_run_hooks as hooks",
            "hooks.SecondOrStepTimer",
            "train.SecondOrStepTimer",
        ),
        (
            "from tensorflow.python.training import monitored_session as ms",
            "ms.MonitoredSession",
            "train.MonitoredSession",
        ),
        (
            "from tensorflow.python.training.session_manager import SessionManager as SM",
            "SM",
            "train.SessionManager",
        ),
        ("from tensorflow.python.training import supervisor as sv", "sv.Supervisor", "train.Supervisor"),
        (
            "from tensorflow.python.training.summary_io import SummaryWriterCache as Cache",
            "Cache",
            "summary.FileWriterCache",
        ),
        (
            "from tensorflow.contrib.slim.nets import resnet_v1",
            "resnet_v1.resnet_v1_50",
            "contrib.slim.nets.resnet_v1.resnet_v1_50",
        ),
        (
            "from tensorflow.contrib.slim.python.slim.nets.inception_v3 import inception_v3",
            "inception_v3",
            "contrib.slim.nets.inception.inception_v3",
        ),
        (
            "from tensorflow.contrib.slim.python.slim.data import dataset_data_provider",
            "dataset_data_provider.DatasetDataProvider",
            "contrib.slim.dataset_data_provider.DatasetDataProvider",
        ),
        ("from tensorflow.contrib.crf.python.ops import crf", "crf.crf_decode", "contrib.crf.crf_decode"),
        (
            "from tensorflow.contrib.legacy_seq2seq.python.ops import seq2seq",
            "seq2seq.sequence_loss",
            "contrib.legacy_seq2seq.sequence_loss",
        ),
        (
            "from tensorflow.contrib.slim.python.slim import learning",
            "learning.train",
            "contrib.slim.learning.train",
        ),
        (
            "from tensorflow.contrib.training.python.training import evaluation",
            "evaluation.evaluate_once",
            "contrib.training.evaluate_once",
        ),
        ("from tensorflow.python.util import nest", "nest.flatten", "nest.flatten"),
        ("from tensorflow.python.util import compat", "compat.as_bytes", "compat.as_bytes"),
        ("import tensorflow.contrib as contrib", "contrib.layers.conv2d", "contrib.layers.conv2d"),
        (
            "from tensorflow.contrib.distributions.python.ops import bijectors",
            "bijectors.Chain",
            "contrib.distributions.bijectors.Chain",
        ),
        (
            "from tensorflow.contrib.distributions.python.ops.mvn_diag import MultivariateNormalDiag",
            "MultivariateNormalDiag",
            "contrib.distributions.MultivariateNormalDiag",
        ),
        (
            "from tensorflow.python.ops.distributions import transformed_distribution",
            "transformed_distribution.TransformedDistribution",
            "contrib.distributions.TransformedDistribution",
        ),
        (
            "from tensorflow.contrib.learn.python.learn.preprocessing import text",
            "text.VocabularyProcessor",
            "contrib.learn.preprocessing.VocabularyProcessor",
        ),
        (
            "from tensorflow.contrib.learn.python.learn.datasets import base",
            "base.load_csv_with_header",
            "contrib.learn.datasets.base.load_csv_with_header",
        ),
        ("import tensorflow.contrib.slim as slim", "slim.conv2d", "contrib.layers.conv2d"),
        ("from tensorflow.contrib import slim", "slim.arg_scope", "contrib.framework.arg_scope"),
        (
            "from tensorflow.contrib.layers.python.layers import layers",
            "layers.dropout",
            "contrib.layers.dropout",
        ),
        (
            "from tensorflow.contrib.layers.python.layers.initializers import xavier_initializer",
            "xavier_initializer",
            "contrib.layers.xavier_initializer",
        ),
        (
            "from tensorflow.contrib.data.python.ops.batching import map_and_batch",
            "map_and_batch",
            "contrib.data.map_and_batch",
        ),
        (
            "from tensorflow.contrib.framework.python.ops import arg_scope",
            "arg_scope",
            "contrib.framework.arg_scope",
        ),
        (
            "from tensorflow.contrib.training.python.training import hparam",
            "hparam.HParams",
            "contrib.training.HParams",
        ),
    ],
)
def test_programs_find_what_they_import(line, name, path):
    space = {}
    exec(line, space)
    found = eval(name, space)
    assert found is modules.look_up(*_split(path))


def _split(path):
    space, _, name = path.rpartition(".")
    return space, name


def test_every_module_of_the_table_can_be_imported():
    inner = [
        f"{package}.{name}" for package, (_, names) in modules.PACKAGES.items() for name in names.split()
    ]
    known = list(filter(modules.is_module, [*modules.PACKAGES, *modules.MODULES, *inner]))
    assert len(known) > 250
    for module in known:
        assert dir(importlib.import_module(f"tensorflow.{module}".rstrip(".")))


def test_a_namespace_of_rooms_that_are_not_loaded_is_there():
    program = (
        "from tideflow.programs import finder\n"
        "finder.install()\n"
        "import tensorflow.python.distribute\n"
        "from tensorflow.python.distribute.cluster_resolver import TFConfigClusterResolver"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr


def test_messages_are_tensorboards():
    from tensorflow.core.framework import graph_pb2
    from tensorflow.core.protobuf.config_pb2 import ConfigProto

    assert graph_pb2.GraphDef is tideflow.GraphDef and ConfigProto is tideflow.ConfigProto


def test_generated_functions_take_attributes_by_position():
    from tensorflow.python.ops import gen_array_ops, gen_math_ops

    with tideflow.Graph().as_default():
        assert gen_math_ops.mat_mul([[1.0, 2.0]], [[3.0, 4.0]], False, True, "m").name == "m:0"
        assert gen_array_ops.concat_v2([[1], [2]], 0).shape.as_list() == [2]
        with pytest.raises(TypeError, match="mat_mul"):
            gen_math_ops.mat_mul(1, 2, 3, 4, 5, 6)


def test_the_version_is_tensorflows():
    import tensorflow as tf

    assert tf.__version__ == tf.VERSION == "1.15.5"
    assert tf.get_default_graph() is get_default_graph()
    assert "placeholder" in dir(tf) and "placeholder" in tf.__all__
    assert not hasattr(tf, "runtime") and not hasattr(tf, "export")


def test_a_missing_symbol_is_named_with_its_nearest_and_the_line():
    import tensorflow as tf
    from tensorflow.python.ops import math_ops

    with pytest.raises(
        AttributeError,
        match=r"'reduce_summ', asked for at .*test_finder.py:\d+\. .* not have it either\. The near.*tf.red",
    ):
        _ = tf.reduce_summ
    with pytest.raises(AttributeError, match=r"The nearest that exists: tf\.multiply\."):
        _ = tf.mul
    with pytest.raises(AttributeError, match=r"tensorflow\.python\.ops\.math_ops\.reduce_sum"):
        _ = math_ops.reduce_sim
    with pytest.raises(AttributeError, match=r"TensorFlow 1\.15 has it, Tideflow does not"):
        _ = tf.contrib.summary.create_db_writer
    with pytest.raises(ImportError, match=r"tensorflow.placholder', asked for at .*tf\.placeholder"):
        from tensorflow import placholder  # noqa: F401
    with pytest.raises(ImportError, match=r"tensorflow\.python\.ops\.array_ops"):
        from tensorflow.python.ops import aray_ops  # noqa: F401
    with pytest.raises(ModuleNotFoundError, match=r"tensorflow.compat.v2.contrib"):
        import tensorflow.compat.v2.contrib  # noqa: F401
    with pytest.raises(
        ModuleNotFoundError, match=r"contrib\.nothing', asked for at .*test_finder\.py:\d+\. "
    ):
        from tensorflow.contrib.nothing.python.inner import module  # noqa: F401


@pytest.mark.parametrize(
    "path, said",
    [
        ("keras.layers.Nothing", "does not have it either"),
        ("estimator.experimental.call_logit_fn", "TensorFlow 1.15 has it, Tideflow does not"),
        ("estimator.DNNClassifier", "TensorFlow 1.15 has it, Tideflow does not"),
        ("distribute.MirroredStrategy", "TensorFlow 1.15 has it, Tideflow does not"),
        ("contrib.summary.create_db_writer", "TensorFlow 1.15 has it, Tideflow does not"),
        ("contrib.verbs", "does not have it either"),
        ("python_io.nothing", "does not have it either"),
        ("contrib.keras.layers.nothing", "Nothing that exists is near"),
        ("contrib.keras.layers", "Programs that import tensorflow.contrib.keras.layers find it"),
        ("python.ops.nothing_of_the_kind", "Nothing that exists is near"),
        ("python.ops.math_ops", "Programs that import tensorflow.python.ops.math_ops find it"),
        ("mul", "does not have it either. The nearest that exists: tf.multiply."),
    ],
)
def test_who_has_a_name_is_said(path, said):
    assert said in modules.why_not(*_split(path))


def test_python_adds_no_suggestion_of_its_own():
    import traceback

    import tensorflow as tf

    with pytest.raises(AttributeError) as caught:
        _ = tf.nn.rellu
    shown = "".join(traceback.format_exception(caught.value))
    assert shown.endswith("tf.nn.crelu.\n") and "Did you mean" not in shown


def test_switches_that_programs_set_reach_what_they_switch():
    from tensorflow.python.util import deprecation

    from tideflow.platform import deprecation as ours

    before = ours._PRINT_DEPRECATION_WARNINGS
    deprecation._PRINT_DEPRECATION_WARNINGS = False
    assert ours._PRINT_DEPRECATION_WARNINGS is False
    deprecation._PRINT_DEPRECATION_WARNINGS = before


def test_utilities():
    from tensorflow.python.framework import op_def_registry
    from tensorflow.python.util import lazy_loader, tf_decorator, tf_inspect
    from tensorflow.python.util.tf_export import tf_export

    @tf_export("here", v1=["there"])
    def function(a, *, b=1):
        return a

    assert function(3) == 3 and tf_inspect.getfullargspec(function).args == ["a"]
    wrapped = tf_decorator.make_decorator(function, lambda *args, **kwargs: function(*args, **kwargs))
    assert wrapped.__name__ == "function" and tf_decorator.unwrap(wrapped)[1] is function
    space = {}
    space["j"] = lazy_loader.LazyLoader("j", space, "json")
    assert space["j"].dumps([1]) == "[1]" and space["j"].__class__.__name__ == "module"
    assert op_def_registry.get_registered_ops()["MatMul"].name == "MatMul"


def test_devices_and_timelines():
    import json

    from tensorflow.python.client import device_lib, timeline

    assert device_lib.list_local_devices()[0].device_type == "CPU"
    tf = tideflow
    with tf.Graph().as_default(), tf.Session() as session:
        metadata = tf.RunMetadata()
        x = tf.placeholder(tf.float32, [2], name="x")
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        session.run(tf.exp(x) * 2.0, {x: [1.0, 2.0]}, options, metadata)
    trace = json.loads(timeline.Timeline(metadata.step_stats).generate_chrome_trace_format(show_memory=True))
    kinds = {event["ph"] for event in trace["traceEvents"]}
    assert {"M", "X"} <= kinds
    assert "Mul" in {event["name"] for event in trace["traceEvents"]}


def test_nothing_is_answered_unasked():
    code = "import sys, tideflow; sys.exit(any('Finder' == type(f).__name__ for f in sys.meta_path))"
    assert subprocess.run([sys.executable, "-c", code], timeout=120).returncode == 0


def test_modules_have_the_modules_that_they_import():
    from tensorflow.contrib.framework.python.ops import variables
    from tensorflow.python.framework import ops
    from tensorflow.python.ops import rnn, rnn_cell_impl
    from tensorflow.python.ops.rnn import rnn_cell_impl as as_imported

    assert as_imported is rnn_cell_impl and rnn.ops is ops and rnn.vs.get_variable is tideflow.get_variable
    assert variables.resource_variable_ops.ResourceVariable is rnn.resource_variable_ops.ResourceVariable
    assert modules.module_named("", "rnn_cell_impl") is None


def test_everything_that_an_inner_module_shows_can_be_imported():
    space = {}
    exec("from tensorflow.contrib.framework.python.ops.arg_scope import *", space)
    assert space["arg_scope"] is tideflow.contrib.framework.arg_scope and "app" not in space


def test_names_inside_modules_of_operations():
    from tensorflow.python.framework.constant_op import _tensor_shape_tensor_conversion_function
    from tensorflow.python.ops.array_ops import shape_internal
    from tensorflow.python.ops.rnn_cell_impl import _concat

    with tideflow.Graph().as_default():
        x = tideflow.placeholder(tideflow.float32, [None, 2])
        assert shape_internal(tideflow.zeros([2]), optimize=False).op.type == "Shape"
        assert x._shape_tuple() == (None, 2) and tideflow.placeholder(tideflow.int32)._shape_tuple() is None
        sizes = _tensor_shape_tensor_conversion_function(tideflow.TensorShape([2, 3]))
        assert sizes.op.name == "shape_as_tensor" and sizes.dtype == tideflow.int32
        with pytest.raises(ValueError, match="Cannot convert a partially known TensorShape to a Tensor"):
            _tensor_shape_tensor_conversion_function(x.shape)
        assert _concat(x.shape[0], 3, static=True) == [None, 3]
        assert tideflow.Session().run(_concat(tideflow.constant(4), [2, 3])).tolist() == [4, 2, 3]


def test_shapes_by_rank():
    from tensorflow.python.framework import tensor_shape

    assert tensor_shape.scalar().as_list() == [] and tensor_shape.vector(3).as_list() == [3]
    assert tensor_shape.matrix(2, None).as_list() == [2, None]
    assert tensor_shape.unknown_shape(ndims=2).as_list() == [None, None]
    assert tensor_shape.unknown_shape().ndims is None
    with pytest.raises(TypeError, match="Unknown argument"):
        tensor_shape.unknown_shape(rank=1, ndims=2)


def test_files_by_their_old_functions(tmp_path):
    from tensorflow.python.lib.io import file_io

    folder = str(tmp_path / "a" / "b")
    file_io.recursive_create_dir(folder)
    first, second = f"{folder}/first", f"{folder}/second"
    file_io.write_string_to_file(first, "text")
    assert file_io.read_file_to_string(first) == "text"
    assert file_io.read_file_to_string(first, binary_mode=True) == b"text"
    file_io.atomic_write_string_to_file(second, "text")
    assert file_io.filecmp(first, second) and file_io.file_crc32(first) == "0x3b8ba7c7"
    with pytest.raises(tideflow.errors.AlreadyExistsError):
        file_io.atomic_write_string_to_file(second, "other", overwrite=False)
    assert sorted(file_io.list_directory(folder)) == ["first", "second"]
    assert file_io.get_matching_files(f"{folder}/f*") == [first]
    file_io.delete_file(first)
    assert file_io.is_directory(folder) and not file_io.file_exists(first)
    assert file_io.FileIO(second, "r").read() == "text" and file_io.stat(second).length == 4


def test_sizes_around_convolutions():
    from tensorflow.python.keras.utils import conv_utils, tf_utils
    from tensorflow.python.layers import utils

    paddings = ("same", "valid", "full", "causal")
    assert [utils.conv_output_length(10, 3, padding, 2, 2) for padding in paddings] == [5, 3, 7, 5]
    assert [utils.conv_input_length(4, 3, padding, 2) for padding in paddings[:3]] == [7, 9, 5]
    assert [utils.deconv_output_length(4, 3, padding, 2) for padding in paddings[:3]] == [8, 9, 5]
    assert conv_utils.deconv_output_length(4, 3, "valid", output_padding=1, stride=2) == 10
    assert conv_utils.conv_output_length(None, 3, "same", 1) is None
    assert conv_utils.convert_data_format("channels_first", 4) == "NCHW"
    assert conv_utils.normalize_tuple(2, 3, "k") == (2, 2, 2) and utils.normalize_padding("SAME") == "same"
    with pytest.raises(ValueError, match=r"The `k` argument must be a tuple of 2 integers\. Received: 1\.5"):
        conv_utils.normalize_tuple(1.5, 2, "k")
    assert conv_utils.convert_kernel([[[1]], [[2]]]).tolist() == [[[2]], [[1]]]

    class Layer:
        @tf_utils.shape_type_conversion
        def output_shape(self, shape):
            assert shape in ((None, 3), [(1,), (2,)])
            return shape

    assert Layer().output_shape(tideflow.TensorShape([None, 3])).as_list() == [None, 3]
    assert [each.as_list() for each in Layer().output_shape([(1,), (2,)])] == [[1], [2]]
    assert tf_utils.constant_value(tideflow.constant(True)) is True


def test_symbols_are_located_by_their_dotted_names():
    """Libraries find layers and optimizers by name with pydoc, which imports each part of it."""
    assert pydoc.locate("tensorflow.nn.rnn_cell.LSTMCell") is tideflow.nn.rnn_cell.LSTMCell
    assert pydoc.locate("tensorflow.relu") is None


def test_a_symbol_is_no_module():
    with pytest.raises(ModuleNotFoundError, match=r"tensorflow\.nn has a symbol of that name") as caught:
        importlib.import_module("tensorflow.nn.relu")
    assert caught.value.name == "tensorflow.nn.relu"
