"""SavedModels that lie: a right error each, no path out of the directory, nothing restored by halves."""

import random

import pytest

import tideflow as tf
from tests.saved_model.models import answer
from tideflow.io import saved_models

ERRORS = (tf.errors.OpError, OSError, ValueError, TypeError, KeyError, RuntimeError)


@pytest.fixture
def changed(model):
    """Loads the model after a change to its graph."""

    def load(change):
        message = saved_models.read_saved_model(model)
        change(message.meta_graphs[0])
        saved_models.write_saved_model(message, model, as_text=False)
        return answer(model)

    return load


def _node(graph, name):
    return next(node for node in graph.graph_def.node if node.name == name)


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/../../b", "..", "", "a\\..\\..\\b", "a\0b"])
def test_assets_stay_in_their_directory(name, changed):
    def climb(graph):
        graph.asset_file_def.add(filename=name).tensor_info.name = "x:0"

    with pytest.raises(tf.errors.InvalidArgumentError, match="outside of its directory"):
        changed(climb)


def test_a_missing_checkpoint_is_named(model):
    for file in (model / "variables").iterdir():
        if file.suffix == ".index":
            file.unlink()
    with pytest.raises(ValueError, match=r"not a valid checkpoint: .*variables/variables"):
        answer(model)
    for file in (model / "variables").iterdir():
        file.unlink()
    (model / "variables").rmdir()
    with pytest.raises(tf.errors.NotFoundError, match=r"variables; No such file or directory"):
        answer(model)


def test_a_corrupt_checkpoint_restores_nothing(model):
    data = next(file for file in (model / "variables").iterdir() if ".data-" in file.name)
    data.write_bytes(bytes(byte ^ 255 for byte in data.read_bytes()))
    with tf.Graph().as_default(), tf.Session() as sess:
        with pytest.raises(tf.errors.DataLossError):
            tf.saved_model.load(sess, ["serve"], str(model))
        assert not any(sess.run([tf.is_variable_initialized(v) for v in tf.global_variables()]))


def test_unknown_ops_are_named(changed):
    def rename(graph):
        _node(graph, "y").op = "NoSuchOp"

    with pytest.raises(tf.errors.NotFoundError, match="Op type not registered 'NoSuchOp'"):
        changed(rename)


def test_a_few_bytes_do_not_ask_for_terabytes(changed, model):
    before = answer(model)

    def grow(graph):
        node = graph.graph_def.node.add(name="big", op="Const")
        node.attr["dtype"].type = node.attr["value"].tensor.dtype = 1
        node.attr["value"].tensor.float_val.append(1)
        node.attr["value"].tensor.tensor_shape.dim.add(size=1 << 50)

    assert changed(grow) == before  # no step needs the constant
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.saved_model.load(sess, ["serve"], str(model))
        with pytest.raises(tf.errors.ResourceExhaustedError, match="OOM when allocating tensor with shape"):
            sess.run("big:0")


@pytest.mark.parametrize("key", ["variables", "cond_context", "while_context", "queue_runners", "savers"])
def test_collections_of_garbage_are_data_loss(key, changed):
    def spoil(graph):
        graph.collection_def[key].bytes_list.value.append(b"\xff\xff\xff")

    with pytest.raises(tf.errors.DataLossError, match=f"The collection '{key}' has an item that is no"):
        changed(spoil)


def test_assets_of_garbage_are_data_loss(changed):
    def spoil(graph):
        graph.collection_def["saved_model_assets"].any_list.value.add(value=b"\xff\xff\xff")

    with pytest.raises(tf.errors.DataLossError, match="no AssetFileDef"):
        changed(spoil)


def test_an_init_op_that_is_not_there_is_not_found(changed):
    key = "__saved_model_init_op"

    def name_it(graph):
        graph.signature_def[key].outputs[key].name = "nowhere"

    with pytest.raises(tf.errors.NotFoundError, match=f"The {key} could not be found in the graph"):
        changed(name_it)


def test_two_main_ops_are_one_too_many(changed):
    def add(graph):
        graph.collection_def["saved_model_main_op"].node_list.value.extend(["y", "x"])

    with pytest.raises(RuntimeError, match="exactly one SavedModel init op"):
        changed(add)


@pytest.mark.parametrize("call", ["F", "PartitionedCall"])
def test_functions_that_call_themselves_end(call, changed):
    def recurse(graph):
        function = graph.graph_def.library.function.add()
        function.signature.name = "F"
        function.signature.input_arg.add(name="a", type=1)
        function.signature.output_arg.add(name="b", type=1)
        inner = function.node_def.add(name="c", op=call, input=["a"])
        function.ret["b"] = "c:b:0" if call == "F" else "c:output:0"
        outer = graph.graph_def.node.add(name="call", op=call, input=["b"])
        if call != "F":
            for node in (inner, outer):
                node.attr["f"].func.name = "F"
                node.attr["Tin"].list.type.append(1)
                node.attr["Tout"].list.type.append(1)
        outer.input[0] = "b/read"
        graph.collection_def["saved_model_main_op"].node_list.value.append("call")

    with pytest.raises(tf.errors.InvalidArgumentError, match="calls itself"):
        changed(recurse)


def test_files_that_are_cut_short_or_lie_about_lengths_are_refused(model):
    path = model / "saved_model.pb"
    whole = path.read_bytes()
    for data in (whole[:-3], b"\x12\xff\xff\xff\xff\x07" + whole, b"\xff" * 40, b"not a model"):
        path.write_bytes(data)
        with pytest.raises(OSError, match=r"Cannot parse file .*saved_model.pb"):
            answer(model)


def test_no_change_of_a_byte_does_worse_than_an_error(model):
    path = model / "saved_model.pb"
    whole = path.read_bytes()
    chance = random.Random(7)
    for _ in range(60):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        path.write_bytes(bytes(data))
        try:
            answer(model)
        except ERRORS:
            pass
