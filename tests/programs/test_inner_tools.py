"""Inner modules of training, SavedModels, tools and distribution, as unit tests and programs use them."""

import contextlib
import io

import numpy as np
import pytest
from google.protobuf import text_format

import tideflow as tf
from tideflow.programs.finder import Facade
from tideflow.programs.inner.data import device_iterators, option_names, sparse_elements
from tideflow.programs.inner.tools import graph_tools, inference_graphs, saved_model_commands
from tideflow.programs.inner.train import (
    checkpoint_names,
    cluster_tasks,
    device_names,
    model_exports,
    signature_names,
    tracking_names,
    warm_start_names,
    worker_tasks,
)
from tideflow.train.monitored_session import _WrappedSession


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def test_batch_normalizations_are_multiplied_into_weights():
    x = tf.constant(np.random.rand(1, 4, 4, 2).astype(np.float32))
    made = tf.nn.conv2d(x, tf.constant(np.random.rand(2, 2, 2, 3).astype(np.float32)), [1] * 4, "SAME")
    scale, offset, mean, variance = (tf.constant(np.random.rand(3).astype(np.float32)) for _ in range(4))
    tf.raw_ops.FusedBatchNorm(
        x=made, scale=scale, offset=offset, mean=mean, variance=variance, is_training=False, name="out"
    )
    folded = inference_graphs.fold_batch_norms(tf.get_default_graph().as_graph_def())
    assert [node.op for node in folded.node] == ["Const", "Const", "Conv2D", "Const", "BiasAdd"]
    with tf.Session() as session:
        expected = session.run("out:0")
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(folded, name="")
        np.testing.assert_allclose(session.run("out:0"), expected, rtol=1e-4)


def test_resizing_and_padding_become_one_convolution():
    x = tf.image.resize_bilinear(tf.ones([1, 4, 4, 2]), [8, 8])
    x = tf.pad(x, [[0, 0], [2, 2], [2, 2], [0, 0]], mode="REFLECT")
    tf.nn.conv2d(x, tf.ones([1, 1, 2, 2]), [1] * 4, "VALID", name="out")
    fused = inference_graphs.fuse_resize_and_conv(tf.get_default_graph().as_graph_def(), ["out"])
    assert fused.node[-1].op == "FusedResizeAndPadConv2D" and fused.node[-1].name == "out"
    with pytest.raises(ValueError, match="not found"):
        inference_graphs.ensure_graph_is_valid(
            tf.GraphDef(node=[tf.NodeDef(name="a", op="NoOp", input=["b"])])
        )


def command(*arguments):
    with contextlib.redirect_stdout(io.StringIO()) as shown:
        args = saved_model_commands.create_parser().parse_args(arguments)
        args.func(args)
    return shown.getvalue()


def test_saved_models_are_shown_and_run_by_commands(tmp_path):
    model = str(tmp_path / "model")
    x = tf.placeholder(tf.float32, [None], "x")
    variable = tf.Variable(3.0)
    with tf.Session() as session:
        session.run(variable.initializer)
        tf.saved_model.simple_save(session, model, {"x": x}, {"y": x * variable})
    assert "inputs['x'] tensor_info" in command("show", "--dir", model, "--all")
    running = ("run", "--dir", model, "--tag_set", "serve", "--signature_def", "serving_default")
    assert "[3. 6.]" in command(*running, "--input_exprs", "x=np.arange(1, 3)", "--outdir", str(tmp_path))
    assert np.load(tmp_path / "y.npy").tolist() == [3, 6]
    with pytest.raises(RuntimeError, match="already exists"):
        command(*running, "--inputs", f"x={tmp_path}/y.npy", "--outdir", str(tmp_path))
    with pytest.raises(ValueError, match='"z" is not a valid input key'):
        command(*running, "--input_exprs", "z=1")
    assert "does not contain blacklisted ops" in command("scan", "--dir", model)
    examples = saved_model_commands.preprocess_input_examples_arg_string('i=[{"a": [1], "b": ["x"]}]')
    assert tf.train.Example.FromString(examples["i"][0]).features.feature["b"].bytes_list.value == [b"x"]


def test_signatures_and_outputs_of_each_mode():
    x, loss = tf.placeholder(tf.float32, name="x"), tf.constant(1.0)
    made = model_exports.export_outputs_for_mode("eval", loss=loss, metrics={"m": (loss, loss)})
    assert sorted(made["eval"].metrics) == ["metrics/m/update_op", "metrics/m/value"]
    found = model_exports.build_all_signature_defs(x, made, serving_only=False)
    assert found["eval"].method_name == signature_names.SUPERVISED_EVAL_METHOD_NAME
    assert model_exports.SIGNATURE_KEY_MAP["test"] == model_exports.SIGNATURE_KEY_MAP["eval"] == "eval"
    with pytest.raises(ValueError, match="Multiple keys/values found for test mode"):
        model_exports.ModeKeyMap(test=1, eval=2)
    assert signature_names.op_signature_def(x.op, "k").outputs["k"].name == "x"


def test_a_matrix_starts_with_the_words_of_a_checkpoint(tmp_path):
    (tmp_path / "old").write_text("a\nb\n")
    (tmp_path / "new").write_text("b\nc\n")
    prefix = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        matrix = tf.get_variable("w", initializer=[[1.0, 2.0], [3.0, 4.0]])
        session.run(matrix.initializer)
        tf.train.Saver().save(session, prefix)
    matrix = tf.get_variable("w", [2, 2])
    warm_start_names._warm_start_var_with_vocab(
        matrix, str(tmp_path / "new"), 2, prefix, str(tmp_path / "old"), initializer=tf.zeros_initializer()
    )
    with tf.Session() as session:
        session.run(matrix.initializer)
        assert session.run(matrix).tolist() == [[3, 4], [0, 0]]
    with pytest.raises(TypeError, match="var MUST be one of the following"):
        warm_start_names._get_var_info(3)
    with pytest.raises(tf.errors.NotFoundError):
        checkpoint_names.object_graph_key_mapping(prefix)
    assert checkpoint_names.meta_graph_filename("a-?????-of-00002") == "a.meta"


def test_objects_are_saved_without_a_counter(tmp_path):
    root = tf.contrib.eager.Checkpoint(v=tf.Variable(2.0))
    saver = tracking_names.TrackableSaver(tracking_names.ObjectGraphView(root))
    with tf.Session() as session:
        session.run(tracking_names.gather_initializers(root))
        path = saver.save(str(tmp_path / "ck"), checkpoint_number=3, session=session)
        assert path.endswith("ck-3")
        session.run(root.v.assign(9.0))
        saver.restore(path).assert_consumed().run_restore_ops(session)
        assert session.run(root.v) == 2


def test_elements_are_dealt_out_to_devices():
    config = tf.ConfigProto(device_count={"CPU": 3})
    made = device_iterators.MultiDeviceIterator(tf.data.Dataset.range(4), ["/cpu:1", "/cpu:2"])
    following = made.get_next()
    with tf.Session(config=config) as session:
        for _ in range(2):
            session.run(made.initializer)
            assert [session.run(following) for _ in range(2)] == [[0, 1], [2, 3]]
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(following)


def test_names_of_devices_are_made_complete():
    with tf.device("/gpu:0"), tf.device("/job:a"):
        assert device_names.resolve("/cpu:0") == "/job:a/replica:0/task:0/device:CPU:0"
        assert device_names.current() == "/job:a/device:GPU:0"
    assert device_names.get_host_for_device("/job:w/task:2/device:GPU:3") == "/job:w/task:2/device:CPU:0"


def test_sparse_elements_are_variants_and_back():
    sparse = tf.SparseTensor([[0, 1]], [5], [2, 2])
    stored = sparse_elements.serialize_sparse_tensors((sparse, tf.constant(1)))
    assert [part.dtype for part in stored] == [tf.variant, tf.int32]
    classes = sparse_elements.get_classes((sparse, tf.constant(1)))
    shapes = (tf.TensorShape([2, 2]), tf.TensorShape([]))
    back = sparse_elements.deserialize_sparse_tensors(stored, (tf.int32, tf.int32), shapes, classes)
    with tf.Session() as session:
        assert session.run(back[0].values).tolist() == [5]
    assert sparse_elements.any_sparse(classes)


def test_options_are_merged_unless_they_disagree():
    class Options(option_names.OptionsBase):
        x = option_names.create_option("x", int, "The x.", default_factory=lambda: 5)

    one, other = Options(), Options()
    one.x = 7
    assert option_names.merge_options(one, other).x == 7 and one != other
    other.x = 9
    with pytest.raises(ValueError, match="Cannot merge incompatible values"):
        option_names.merge_options(one, other)
    with pytest.raises(TypeError, match='Property "x" must be of type'):
        one.x = "x"
    with pytest.raises(AttributeError, match="Cannot set the property y"):
        one.y = 1


CLUSTER = {"chief": ["a:1"], "worker": ["b:1", "c:1"], "ps": ["d:1"]}


def test_tasks_know_what_they_are_in_a_cluster():
    assert cluster_tasks.id_in_cluster(CLUSTER, "worker", 1) == 2
    assert cluster_tasks.collective_leader(CLUSTER, "worker", 1) == "/job:chief/replica:0/task:0"
    assert not cluster_tasks.is_chief(CLUSTER, "worker", 0)
    with pytest.raises(ValueError, match="exceeds the maximum id of worker"):
        cluster_tasks.is_chief(CLUSTER, "worker", 2)
    context = worker_tasks._WorkerContext(None, tf.train.ClusterSpec(CLUSTER), "worker", 1)
    with context:
        assert context.master_target == "grpc://c:1" and cluster_tasks.has_worker_context()
        assert cluster_tasks.is_chief() is False
        with pytest.raises(ValueError, match="cannot run distribute coordinator in a `worker_fn`"):
            context.__enter__()


def test_a_worker_function_is_run_here_without_a_cluster(tmp_path):
    def train(strategy):
        tf.train.create_global_step()
        with tf.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path)) as session:
            ran.append(session.run(tf.train.get_global_step()))

    ran = []
    worker_tasks.run_distribute_coordinator(train, tf.distribute.OneDeviceStrategy("/cpu:0"))
    assert ran == [0] and tf.train.latest_checkpoint(str(tmp_path))


def test_a_wrapped_session_stops_when_it_says_so_or_is_closed():
    class StopsSecond(_WrappedSession):
        left = 1

        def _check_stop(self):
            self.left -= 1
            return self.left < 0

    with tf.Session() as session:
        outer = _WrappedSession(StopsSecond(session))
        assert outer.graph is session.graph
        assert [outer.should_stop(), outer.should_stop()] == [False, True]
        closed = _WrappedSession(session)
        assert closed.run(tf.constant(1)) == 1 and not closed.should_stop()
        closed.close()
        closed.close()
        assert closed.should_stop()


def test_nests_expand_composite_tensors():
    sparse, ragged = tf.SparseTensor([[0]], [1], [3]), tf.ragged.constant([[[1, 2], [3]]])
    leaves = tf.nest.flatten([sparse, ragged], expand_composites=True)
    assert len(leaves) == 6 and all(isinstance(leaf, tf.Tensor) for leaf in leaves)
    packed = tf.nest.pack_sequence_as([sparse, ragged], leaves, expand_composites=True)
    assert [type(each) for each in packed] == [tf.SparseTensor, tf.RaggedTensor]
    with pytest.raises(TypeError, match="Entire first structure:"):
        tf.nest.assert_same_structure([sparse], [ragged], expand_composites=True)
    other = tf.SparseTensor([[0]], [1.0], [3])
    with pytest.raises(ValueError, match="Incompatible CompositeTensor TypeSpecs"):
        tf.nest.assert_same_structure([sparse], [other], expand_composites=True)


def test_files_of_graphs_lose_what_is_not_used(tmp_path, capsys):
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2], name="x")
        tf.add(tf.identity(x, name="given"), 1.0, name="out")
        tf.no_op(name="unused")
    before, after = str(tmp_path / "before.pb"), str(tmp_path / "after.pbtxt")
    tf.io.write_graph(graph, str(tmp_path), "before.pb", as_text=False)
    kind = tf.float32.as_datatype_enum
    assert graph_tools.strip_unused_from_files(before, True, after, False, "given", "out", kind) is None
    left = text_format.Parse((tmp_path / "after.pbtxt").read_text(), tf.GraphDef())
    kinds = {"given": "Placeholder", "out/y": "Const", "out": "Add"}
    assert {node.name: node.op for node in left.node} == kinds
    assert graph_tools.strip_unused_from_files("/nowhere", True, after, True, "x", "out", kind) == -1
    assert graph_tools.strip_unused_from_files(before, True, after, True, "x", "", kind) == -1
    assert "3 ops in the final graph" in capsys.readouterr().out


def test_models_are_loaded_as_objects_by_the_module_of_that_name():
    load, builder = (Facade(f"tensorflow.python.saved_model.{name}") for name in ("load", "builder"))
    assert load.load is tf.saved_model.load_v2
    assert builder._SavedModelBuilder is tf.saved_model.Builder
