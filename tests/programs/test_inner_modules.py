"""What libraries of TensorFlow 1's time take from its inner modules."""

import collections
import functools
import sys
import types

import numpy as np
import pytest

import tideflow as tf
from tideflow.feature_column.base import DenseColumn
from tideflow.graph.shape_inference_proto import CppShapeInferenceResult
from tideflow.platform import decorators
from tideflow.programs import old_messages, packed_messages
from tideflow.programs.finder import Facade
from tideflow.programs.inner.eager import monitoring
from tideflow.programs.inner.graph import composite_names, dtype_names, optimizer_names
from tideflow.programs.inner.keras.standalone_names import (
    is_dense_tensor_like,
    register_dense_tensor_like_type,
)
from tideflow.programs.inner.train.structure_coder import StructureCoder
from tideflow.programs.inner.train.summary_names import collect, summary_scope
from tideflow.programs.inner.util import documented_names, inspection
from tideflow.session.fetches import register_session_run_conversion_functions


def test_specs_of_functions_are_those_of_what_decorators_stand_around():
    assert inspection.getfullargspec(tf.cast) == inspection.getfullargspec(lambda x, dtype, name=None: 0)
    found = inspection.getargspec(tf.compat.v2.reduce_sum)
    assert found.args == ["input_tensor", "axis", "keepdims", "name"]
    assert found.defaults == (None, False, None)
    assert inspection.getargspec(functools.partial(lambda a, b, c=1: 0, 2)).args == ["b", "c"]
    with pytest.raises(ValueError, match="do not have default value"):
        inspection.getargspec(functools.partial(lambda a, b: 0, a=1))
    assert inspection.getcallargs(tf.cast, 1, tf.int32) == {"x": 1, "dtype": tf.int32, "name": None}


def test_modules_show_what_they_document(monkeypatch):
    module = types.ModuleType("documented", "Words.\n@@kept\n@@absent\n")
    module.kept, module.other, module.hidden, module._own = 1, 2, 3, 4
    monkeypatch.setitem(sys.modules, "documented", module)
    assert documented_names.make_all("documented") == ["kept"]
    documented_names.remove_undocumented("documented", ["other"])
    assert (module.kept, module.other, module._own) == (1, 2, 4) and not hasattr(module, "hidden")
    documented_names.reveal_undocumented("documented.hidden")
    assert module.hidden == 3
    with pytest.raises(LookupError, match="not a hidden symbol"):
        documented_names.reveal_undocumented("documented.nothing")


def test_metrics_have_a_cell_for_each_label():
    counter = monitoring.Counter("/test/counter", "Words.", "who")
    counter.get_cell("a").increase_by(3)
    assert [counter.get_cell(who).value() for who in "ab"] == [3, 0]
    with pytest.raises(tf.errors.AlreadyExistsError, match="same name already exists"):
        monitoring.BoolGauge("/test/counter", "Words.")
    with pytest.raises(ValueError, match="expects taking 1 labels"):
        counter.get_cell()
    sampler = monitoring.Sampler("/test/sampler", monitoring.ExponentialBuckets(1, 2, 3), "Words.")
    sampler.get_cell().add(3.0)
    assert sampler.get_cell().value() == [0, 0, 1, 0]


def test_bounds_belong_to_a_spec():
    BoundedTensorSpec = tf.contrib.framework.BoundedTensorSpec
    spec = BoundedTensorSpec([2, 3], tf.float32, 0, [1, 2, 3], name="q")
    assert spec == BoundedTensorSpec.from_spec(spec) and spec != tf.TensorSpec([2, 3], tf.float32, "q")
    assert BoundedTensorSpec.from_spec(tf.TensorSpec([1], tf.int32)).maximum == 2**31 - 1
    assert not spec.minimum.flags.writeable
    with pytest.raises(ValueError, match="maximum is not compatible with shape"):
        BoundedTensorSpec([2, 3], tf.float32, 0, [1, 2])


def test_structures_are_coded():
    Point = collections.namedtuple("Point", "x y")
    coder, point = StructureCoder(), Point(tf.float32, [tf.TensorShape([None, 2])])
    again = coder.decode_proto(coder.encode_structure(point))
    assert again.x == tf.float32 and again.y[0].as_list() == [None, 2]
    assert coder.can_encode({"a": 1}) and not coder.can_encode(object())


def test_classes_of_programs_stand_for_tensors():
    class Pair:
        name = dtype = property(lambda self: None)

        def __init__(self, tensor):
            self.tensor = tensor

    register_dense_tensor_like_type(Pair)
    assert is_dense_tensor_like(Pair(None)) and not is_dense_tensor_like(1)
    with pytest.raises(TypeError, match="does not define a `name` property"):
        register_dense_tensor_like_type(int)
    register_session_run_conversion_functions(Pair, lambda pair: ([pair.tensor], lambda values: values * 2))
    with tf.Session() as session:
        assert session.run(Pair(tf.constant(3))) == [3, 3]
    with pytest.raises(ValueError, match="already been registered"):
        register_session_run_conversion_functions(Pair, lambda pair: None)
    assert issubclass(tf.SparseTensor, composite_names.CompositeTensor)


def test_summaries_have_scopes_and_collections():
    with summary_scope("loss", family="train") as (tag, scope):
        assert (tag, scope) == ("train/train/loss", "train/loss/")
    collect("summary", None, ["mine"])
    assert tf.get_collection("mine") == ["summary"]


def test_columns_of_programs_are_columns():
    class Doubled(DenseColumn, collections.namedtuple("Doubled", "key")):
        name = property(lambda self: f"{self.key}_doubled")
        _parse_example_spec = property(lambda self: {self.key: tf.io.FixedLenFeature([1], tf.float32)})
        _variable_shape = property(lambda self: tf.TensorShape([1]))

        def _transform_feature(self, inputs):
            return inputs.get(self.key) * 2

        def _get_dense_tensor(self, inputs, weight_collections=None, trainable=None):
            return inputs.get(self)

        def get_dense_tensor(self, transformation_cache, state_manager):  # TensorFlow's second protocol
            raise AssertionError

    layer = tf.feature_column.input_layer({"x": tf.constant([[1.0], [4.0]])}, [Doubled("x")])
    with tf.Session() as session:
        assert session.run(layer).tolist() == [[2], [8]]
    assert list(tf.feature_column.make_parse_example_spec([Doubled("x")])) == ["x"]


OLD_MESSAGES = """
import sys
_b=sys.version_info[0]<3 and (lambda x:x) or (lambda x:x.encode('latin1'))
from google.protobuf import descriptor as _descriptor
DESCRIPTOR = _descriptor.FileDescriptor(
  name='old_test.proto', package='tideflow_old_test', syntax='proto3',
  serialized_pb=_b(%r)
)
_POINT = _descriptor.Descriptor(name='Point', full_name='tideflow_old_test.Point')
"""


def test_old_generated_messages_are_loaded(tmp_path, monkeypatch):
    from google.protobuf import descriptor_pb2

    file = descriptor_pb2.FileDescriptorProto(
        name="old_test.proto", package="tideflow_old_test", syntax="proto3"
    )
    message = file.message_type.add(name="Point")
    message.field.add(name="x", number=1, type=5, label=1)
    source = OLD_MESSAGES % file.SerializeToString().decode("latin1")
    (tmp_path / "old_test_pb2.py").write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    old_messages.install()
    import old_test_pb2

    point = old_test_pb2.Point(x=3)
    assert old_test_pb2.Point.FromString(point.SerializeToString()).x == 3


def test_messages_are_packed_under_the_names_of_tensorflow(monkeypatch):
    from google.protobuf import any_pb2, duration_pb2
    from google.protobuf.internal import well_known_types
    from tensorboard.compat.proto.meta_graph_pb2 import AssetFileDef, TensorInfo

    monkeypatch.setattr(well_known_types.Any, "Is", well_known_types.Any.Is)
    monkeypatch.setattr(well_known_types.Any, "Pack", well_known_types.Any.Pack)
    packed_messages.install()
    packed, asset = any_pb2.Any(), AssetFileDef(filename="words.txt")
    packed.Pack(asset)
    assert packed.type_url == "type.googleapis.com/tensorflow.AssetFileDef"
    found = AssetFileDef()
    assert packed.Unpack(found) and found == asset
    assert not packed.Unpack(TensorInfo())
    packed.Pack(duration_pb2.Duration(seconds=1))
    assert packed.type_url.endswith("google.protobuf.Duration")


def test_a_mesh_of_devices_knows_where_they_stand():
    from tideflow.contrib.tpu.topology import Topology

    places = np.array([[[0, 0], [0, 1]], [[1, 0], [1, 1]]])
    mesh = Topology(Topology(mesh_shape=[2, 2], device_coordinates=places).serialized())
    assert (mesh.num_tasks, mesh.num_tpus_per_task, mesh.mesh_rank) == (2, 2, 2)
    assert mesh.tpu_device_name_at_coordinates([1, 0], job="w") == "/job:w/task:1/device:TPU:0"
    assert mesh.cpu_device_name_at_coordinates([0, 1]) == "/task:0/device:CPU:0"
    with pytest.raises(ValueError, match="rank 3 int32 array"):
        Topology(mesh_shape=[2, 2], device_coordinates=places[0])


def test_lists_of_tensors_take_python_arguments():
    from tideflow.programs.inner.graph.list_names import empty_tensor_list, tensor_list_stack

    made = empty_tensor_list([None, 2], tf.float32)
    pushed = tf.raw_ops.TensorListPushBack(input_handle=made, tensor=tf.ones([3, 2]))
    with tf.Session() as session:
        assert session.run(tensor_list_stack(pushed, tf.float32)).shape == (1, 3, 2)
    assert empty_tensor_list(tf.TensorShape(None), tf.int32, 4).dtype == tf.variant


def test_the_second_form_of_a_symbol_is_that_of_compat_v2():
    from tideflow.programs.modules import look_up

    second = tf.compat.v2
    assert look_up("python.ops.nn_ops", "conv2d_v2") is second.nn.conv2d
    assert look_up("python.ops.math_ops", "argmax_v2") is second.math.argmax
    assert look_up("python.ops.check_ops", "assert_equal_v2") is second.assert_equal
    with pytest.raises(Exception, match="rellu_v2"):
        look_up("python.ops.nn_ops", "rellu_v2")


@pytest.mark.parametrize(
    ("module", "name", "ours"),
    [
        ("python.layers.convolutional", "Deconvolution2D", "layers.Conv2DTranspose"),
        ("python.layers.core", "fully_connected", "layers.dense"),
        ("python.keras.optimizer_v2.adam", "Adam", "keras.optimizers.Adam"),
        ("python.keras.optimizer_v2.optimizer_v2", "OptimizerV2", "keras.optimizers.Optimizer"),
        ("python.keras.layers.recurrent_v2", "LSTM", "compat.v2.keras.layers.LSTM"),
        ("contrib.optimizer_v2.adam", "AdamOptimizer", "contrib.optimizer_v2.AdamOptimizer"),
        ("contrib.labeled_tensor.python.ops.core", "LabeledTensor", "contrib.labeled_tensor.LabeledTensor"),
        ("contrib.labeled_tensor.python.ops.ops", "reduce_sum", "contrib.labeled_tensor.reduce_sum"),
        ("contrib.recurrent.python.ops.functional_rnn", "functional_rnn", "contrib.recurrent.functional_rnn"),
    ],
)
def test_inner_modules_have_what_is_public(module, name, ours):
    from tideflow.programs.modules import look_up

    assert look_up(module, name) is functools.reduce(getattr, ours.split("."), tf)


def test_counts_at_thresholds_have_short_names():
    from tideflow.programs.inner.train import metric_names

    values, updates = metric_names._confusion_matrix_at_thresholds(
        [True, False, False], [0.3, 0.8, 0.1], [0.2, 0.5], includes=("tp", "fp")
    )
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        sess.run(updates)
        found = sess.run(values)
    assert {name: list(counts) for name, counts in found.items()} == {"tp": [1, 0], "fp": [1, 1]}
    with pytest.raises(ValueError, match="Invalid key: tq"):
        metric_names._confusion_matrix_at_thresholds([True], [0.3], [0.2], includes=("tq",))


def test_conditions_that_are_variables_are_open():
    flag = tf.Variable(True)
    utils = tf.contrib.layers.utils
    assert [utils.constant_value(each) for each in (flag, 1, tf.constant(False))] == [None, True, False]
    with pytest.raises(TypeError, match="Python bool"):
        utils.constant_value("yes")
    with pytest.raises(TypeError, match="RefVariable"):
        tf.contrib.framework.smart_constant_value(flag)


def test_parts_of_recurrent_networks_that_decoders_are_made_of():
    decoder = Facade("tensorflow.contrib.seq2seq.python.ops.decoder")
    rnn = Facade("tensorflow.python.ops.rnn")
    x = tf.placeholder(tf.float32, [2, None, 3])
    assert decoder._transpose_batch_time(x).shape.as_list() == [None, 2, 3]
    zeros = decoder._create_zero_outputs((3, tf.TensorShape([])), (tf.float32, tf.int32), tf.constant(2))
    assert [(part.shape.as_list(), part.dtype) for part in zeros] == [([2, 3], tf.float32), ([2], tf.int32)]
    assert rnn._best_effort_input_batch_size([tf.ones([4, 5, 6])]) == 5
    assert rnn._infer_state_dtype(None, (tf.ones(1), tf.ones(2))) is tf.float32
    assert rnn._maybe_tensor_shape_from_tensor(tf.constant([2, 3])).as_list() == [2, 3]
    assert rnn._should_cache()


def test_contexts_and_what_is_compiled():
    util = Facade("tensorflow.python.ops.control_flow_util")
    inside, outside = [], tf.constant(1)

    def body(i):
        inside.append(i.op)
        return i + outside

    tf.while_loop(lambda i: i < 3, body, [0])
    graph = tf.get_default_graph()
    assert util.GetContainingXLAContext(inside[0]._control_flow_context) is None
    assert not util.IsInXLAContext(inside[0]) and not util.GraphOrParentsInXlaContext(graph)
    assert not util.EnableControlFlowV2(graph)
    assert util.GetWhileContext(inside[0]) is not None and util.GetWhileContext(tf.constant(1).op) is None
    enter = next(op for op in graph.get_operations() if op.type == "Enter" and op.get_attr("is_constant"))
    assert util.GetLoopConstantEnter(enter.outputs[0]) is enter


def test_an_optimized_graph_has_what_training_needs():
    with tf.Graph().as_default():
        x = tf.constant(1.0, name="x")
        tf.add_to_collection("train_op", tf.negative(x, name="needed"))
        tf.square(x, name="unused")
        found = optimizer_names.OptimizeGraph(tf.ConfigProto(), tf.train.export_meta_graph())
        assert sorted(node.name for node in found.node) == ["needed", "x"]
    with tf.Graph().as_default(), pytest.raises(ValueError, match="train_op"):
        optimizer_names.OptimizeGraph(tf.ConfigProto(), tf.train.export_meta_graph())


def test_data_of_handles_are_on_the_wire_as_tensorflow_has_them():
    data = CppShapeInferenceResult.HandleData(is_set=True)
    data.shape_and_type.add(dtype=1).shape.dim.add(size=2)
    message = CppShapeInferenceResult(handle_data=data)
    assert message.SerializeToString().hex() == "220c08011208" + "0a0412020802" + "1001"


def test_types_have_names_by_number():
    assert dtype_names._TYPE_TO_STRING[1] == "float32" and dtype_names._TYPE_TO_STRING[103] == "int32_ref"
    assert dtype_names._STRING_TO_TF["bool"] is dtype_names._INTERN_TABLE[10] is tf.bool


def _decorated(function, argspec=None):
    return decorators.make_decorator(function, lambda *args: function(*args), "noted", "", argspec)


def test_questions_are_asked_of_what_decorators_stand_around():
    def inner(a, b=2):
        return a

    plain = decorators.TFDecorator("noted", inner)
    assert inspection.getfullargspec(plain).args == ["a", "b"]
    assert inspection.isfunction(plain) and inspection.getsource(plain) == inspection.getsource(inner)
    assert inspection.isclass(decorators.TFDecorator("noted", dict))
    other = inspection.ArgSpec(["x", "y"], None, None, (1,))
    changed = _decorated(_decorated(inner), other)
    assert inspection.getargspec(changed) == other
    assert inspection.getfullargspec(changed).defaults == (1,)
    assert inspection.getcallargs(changed, 5) == {"x": 5, "y": 1}
    assert inspection.getcallargs(_decorated(inner), b=3, a=1) == {"a": 1, "b": 3}


def test_what_critical_sections_are_collected_under():
    module = Facade("tensorflow.python.ops.critical_section_ops")
    with tf.Graph().as_default() as graph:
        section = module.CriticalSection()
        section.execute(lambda: tf.constant(1.0))
        assert graph.get_collection(module.CRITICAL_SECTIONS) == [section]
        assert len(graph.get_collection(module.CRITICAL_SECTION_EXECUTIONS)) == 1


def test_sizes_by_the_inner_name():
    arrays = Facade("tensorflow.python.ops.array_ops")
    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run(arrays.size_internal([[1, 2]], optimize=False)) == 2


def test_arguments_have_the_names_of_the_inner_modules():
    tables, arrays = (Facade(f"tensorflow.python.ops.{name}_ops") for name in ("lookup", "array"))
    texts, network = (Facade(f"tensorflow.python.ops.{name}_ops") for name in ("string", "nn"))
    logs, start = (Facade(f"tensorflow.python.ops.{name}_ops") for name in ("logging", "init"))
    with tf.Graph().as_default() as graph, tf.Session() as session:
        places = tables.index_table_from_tensor(vocabulary_list=["a", "b"], num_oov_buckets=1)
        words = tables.index_to_string_table_from_tensor(vocabulary_list=["a", "b"], default_value="?")
        session.run(tf.tables_initializer())
        assert session.run(places.lookup(tf.constant(["b", "c"]))).tolist() == [1, 2]
        assert session.run(words.lookup(tf.constant([0, 5], tf.int64))).tolist() == [b"a", b"?"]
        with pytest.raises(ValueError, match="vocabulary_list must be specified"):
            tables.index_table_from_tensor(None)
        assert session.run(arrays.listdiff([1, 2], [1], out_idx=tf.int64).idx).dtype == np.int64
        assert session.run(texts.string_split_v2(source=["a b"])).values.tolist() == [b"a", b"b"]
        assert session.run(start.identity_initializer(2.0)([2, 2])).tolist() == [[2.0, 0.0], [0.0, 2.0]]
        logs.scalar_summary("loss", 1.0, collections=["kept"])
        assert len(graph.get_collection("kept")) == 1
        widened = network.dilation2d_v2(
            tf.ones([1, 3, 3, 1]), tf.ones([2, 2, 1]), [1] * 4, "SAME", "NHWC", [1] * 4
        )
        assert widened.shape.as_list() == [1, 3, 3, 1]
        with pytest.raises(ValueError, match="Data formats other than NHWC"):
            tf.compat.v2.nn.erosion2d(
                tf.ones([1, 3, 3, 1]), tf.ones([2, 2, 1]), [1] * 4, "SAME", "NCHW", [1] * 4
            )


def test_a_wrong_axis_to_squeeze_is_counted_from_the_front():
    with tf.Graph().as_default(), pytest.raises(ValueError, match=r"Can not squeeze dim\[1\], expected"):
        tf.squeeze([[1, 2]], -1)


def test_codes_versions_and_scopes_by_their_modules():
    codes, versions, compat, ops = (
        Facade(f"tensorflow.{name}")
        for name in (
            "core.lib.core.error_codes_pb2",
            "python.framework.versions",
            "python.util.compat",
            "python.framework.ops",
        )
    )
    assert codes.Code.Name(5) == "NOT_FOUND" and codes.NOT_FOUND in codes.Code.values()
    assert versions.__version__ == versions.VERSION
    assert compat.collections_abc.Sequence is collections.abc.Sequence
    names = ["s/s/w", "s///s/w", "^s/w", "loc:@s/w", "ss/w", "s"]
    assert [ops.strip_name_scope(name, "s") for name in names] == ["s/w", "s/w", "^w", "loc:@w", "ss/w", "s"]


def test_messages_go_to_the_log_and_to_an_event_file():
    module = Facade("tensorflow.python.training.tensorboard_logging")
    events = []
    try:
        with pytest.raises(RuntimeError, match="Must call set_summary_writer"):
            module.info("too early")
        module.set_summary_writer(types.SimpleNamespace(add_event=events.append))
        module.info("step %d", 1)
        module.error("step %d", 2)
        module.set_verbosity(module.DEBUG)
        module.debug("step %d", 3)
        assert [event.log_message.message for event in events] == ["step 2", "step 3"]
        assert module.get_verbosity() == "DEBUG"
        with pytest.raises(ValueError, match="not a valid tensorboard_logging level"):
            module.log("LOUD", "step")
    finally:
        module._clear_summary_writer()
        module.set_verbosity(module.WARN)
