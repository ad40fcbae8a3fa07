"""Models as files of other systems: they compute what the session computes, for batches of any size."""

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.utils.cpp_extension import include_paths, library_paths

import tideflow as tf
from tideflow.exchange import models
from tideflow.exchange.exporting import export_model, traced
from tideflow.exchange.step_module import CannotExport

PROGRAM = Path(__file__).parents[2] / "examples" / "export" / "predict.cpp"


def perceptron():
    x = tf.placeholder(tf.float32, [None, 6], name="x")
    hidden = tf.layers.dense(x, 8, tf.nn.relu)
    return {"x": x}, {"scores": tf.nn.softmax(tf.layers.dense(hidden, 3)), "best": tf.argmax(hidden, 1)}


def convolutions():
    x = tf.placeholder(tf.float32, [None, 64])
    image = tf.reshape(x, [-1, 8, 8, 1])
    maps = tf.layers.conv2d(image, 4, 3, activation=tf.nn.relu, padding="same")
    maps = tf.layers.batch_normalization(tf.layers.max_pooling2d(maps, 2, 2))
    return {"x": x}, {"y": tf.layers.dense(tf.layers.flatten(maps), 5)}


def recurrent():
    x = tf.placeholder(tf.float32, [None, 4, 3])
    outputs, (state, _) = tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(2), x, dtype=tf.float32)
    return {"x": x}, {"outputs": outputs, "state": state}


def sequences():
    """Of any length, each with one of its own: arrays of a size that only a run knows."""
    x, lengths = tf.placeholder(tf.float32, [None, None, 3]), tf.placeholder(tf.int32, [None])
    cell = tf.nn.rnn_cell.LSTMCell(2)
    outputs, (_, state) = tf.nn.dynamic_rnn(cell, x, sequence_length=lengths, dtype=tf.float32)
    sums = tf.map_fn(lambda row: tf.reduce_sum(row) * 2, x)
    return {"x": x, "lengths": lengths}, {"outputs": outputs, "state": state, "sums": sums}


def embedded_words():
    words = tf.placeholder(tf.int32, [None, None])
    vectors = tf.nn.embedding_lookup(tf.get_variable("table", [20, 4]), words)
    count = tf.shape(words)[0]
    padding = tf.tile(tf.zeros([1, 2]), [count, 1]) / tf.to_float(count)
    return {"words": words}, {"y": tf.concat([tf.reduce_mean(vectors, 1), padding], 1)}


def conditions():
    """A condition with two outputs and another inside, and a Merge that says which side it took."""
    x = tf.placeholder(tf.float32, [None, 3])
    w = tf.get_variable("w", [3, 3])
    is_large = tf.reduce_sum(x) > 6  # of seven rows, not of one

    def large():
        product = tf.matmul(x, w)
        shown = product * tf.to_float(is_large)
        return tf.cond(tf.reduce_mean(product) > 0, lambda: shown, lambda: x + 1), tf.shape(product)[0]

    y, size = tf.cond(is_large, large, lambda: (tf.reshape(x - 1, tf.shape(x)), tf.shape(x)[1]))
    sides = tf.raw_ops.Switch(data=y, pred=is_large)
    _, which = tf.raw_ops.Merge(inputs=[tf.identity(side) for side in sides])
    return {"x": x}, {"y": y, "size": size, "which": which}


def loops():
    """A loop with another inside, and one under a condition."""
    x = tf.placeholder(tf.float32, [None, 3])
    w = tf.get_variable("w", [3])

    def body(i, total):
        step = tf.while_loop(lambda v: tf.reduce_sum(v) < tf.to_float(i), lambda v: v + 1, [w])
        return i + 1, total + step

    count, total = tf.while_loop(lambda i, total: tf.reduce_sum(total) < 100, body, [0, x])
    doubled = tf.cond(
        tf.reduce_sum(x) > 6,
        lambda: tf.while_loop(lambda v: tf.reduce_sum(v) < 20, lambda v: v * 2, [x]),
        lambda: x,
    )
    return {"x": x}, {"count": count, "total": total, "doubled": doubled}


def arrays_of(inputs, batch, rng):
    """Inputs of a batch of that size."""
    made = {}
    for name, tensor in inputs.items():
        sizes = [batch] + [5 if size is None else size for size in tensor.shape.as_list()[1:]]
        integers = tensor.dtype.is_integer
        made[name] = rng.randint(0, 20, sizes).astype("i4") if integers else rng.rand(*sizes).astype("f4")
    return made


def cases(build):
    """The model, and for two sizes of batches its inputs and what the session makes of them."""
    rng = np.random.RandomState(0)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        inputs, outputs = build()
        session.run(tf.global_variables_initializer())
        found = []
        for batch in (1, 7):
            arrays = arrays_of(inputs, batch, rng)
            found.append((arrays, session.run(outputs, {inputs[name]: arrays[name] for name in inputs})))
        return models.of_session(session, inputs, outputs), found


def assert_same(outputs, wanted):
    for found, (name, array) in zip(outputs, wanted.items(), strict=True):
        np.testing.assert_allclose(np.asarray(found), array, rtol=1e-5, atol=1e-6, err_msg=name)


@pytest.mark.parametrize(
    "build", [perceptron, convolutions, recurrent, sequences, embedded_words, conditions, loops]
)
def test_to_torch_and_onnx(build, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    model, found = cases(build)
    export_model(model, tmp_path / "model.pt2", "torch")
    program = torch.export.load(tmp_path / "model.pt2").module()
    export_model(model, tmp_path / "model.onnx", "onnx")
    onnx = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    assert [each.name for each in onnx.get_outputs()] == list(model.outputs)
    for arrays, wanted in found:
        assert_same(program(*map(torch.tensor, arrays.values())), wanted)
        assert_same(onnx.run(list(model.outputs), arrays), wanted)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.onnx", "model.pt2"]


def test_strings_among_the_outputs_go_to_onnx(tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        best, names = tf.argmax(x, 1), tf.constant(["red", "gr\u00fcn", "blue"])
        every = tf.tile(names[None], [tf.shape(x)[0], 1])
        kind = tf.where(x[:, 0] > 0, tf.gather(names, best), tf.fill(tf.shape(best), "none"))
        outputs = {"kind": kind, "every": every, "digits": tf.as_string(best)[:, None], "best": best}
        export_model(models.of_session(session, {"x": x}, outputs), tmp_path / "model.onnx", "onnx")
        loaded = onnxruntime.InferenceSession(tmp_path / "model.onnx")
        for rows in (np.eye(3, dtype=np.float32) - 0.5, np.ones([1, 3], np.float32)):
            found = loaded.run(list(outputs), {"x": rows})
            for a, b in zip(found, session.run(list(outputs.values()), {x: rows}), strict=True):
                texts = [text.decode() for text in b.ravel()] if b.dtype == object else b.ravel().tolist()
                assert a.shape == b.shape and a.ravel().tolist() == texts
        lower = models.of_session(session, {"x": x}, {"y": tf.strings.lower(kind, name="lower")})
        with pytest.raises(CannotExport, match=r"StringLower 'lower', made at .*: it takes or makes strings"):
            export_model(lower, tmp_path / "lower.onnx", "onnx")


def test_what_cannot_be_exported_is_named_with_its_line(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None], name="x")
        y = tf.py_func(np.sin, [x], tf.float32, name="sine")
        y.set_shape([None])
        z = tf.strings.as_string(y, name="text")
        model = models.of_session(session, {"x": x}, {"z": z})
        with pytest.raises(CannotExport) as caught:
            export_model(model, tmp_path / "model.pt2", "torch")
    text = str(caught.value)
    assert "PyFunc 'sine', made at" in text and "AsString 'text', made at" in text
    assert "test_exporting.py" in text
    assert not list(tmp_path.iterdir())


def test_what_an_exporter_of_pytorch_refuses_is_named_too(tmp_path):
    pytest.importorskip("onnxscript")
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [], name="x")
        unused = tf.placeholder(tf.int32, [None])
        y = tf.math.bessel_i0e(x, name="bessel")
        model = models.of_session(session, {"x": x, "unused": unused}, {"y": y})
        with pytest.raises(
            CannotExport, match=r"BesselI0e 'bessel', made at .*test_exporting.py:\d+: PyTorch's"
        ):
            export_model(model, tmp_path / "model.onnx", "onnx")
        program = traced(model, {}).module()
        np.testing.assert_allclose(program(torch.tensor(0.5), torch.tensor([1]))[0], session.run(y, {x: 0.5}))
    assert not list(tmp_path.iterdir())


def test_control_flow_that_no_other_system_has_is_named(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        is_large = tf.reduce_sum(x) > 6
        sizes = tf.cond(is_large, lambda: x, lambda: x[0], name="sizes")
        side, _ = tf.raw_ops.Switch(data=x, pred=is_large, name="side")
        grows = tf.while_loop(
            lambda v: tf.reduce_sum(v) < 50,
            lambda v: tf.concat([v, v], 0),
            [x],
            shape_invariants=[tf.TensorShape([None, 3])],
            name="grows",
        )
        listed = tf.TensorArray(tf.float32, 0, dynamic_size=True, name="list")
        _, listed = tf.while_loop(
            lambda v, _: v < tf.reduce_sum(x), lambda v, a: (v + 1, a.write(0, v)), [0.0, listed]
        )
        for fetch, text in (
            (sizes, "Merge 'sizes/Merge', made at .*: its branches do not give one kind of tensor"),
            (side, "Switch 'side', made at .*: it joins other things"),
            (
                grows,
                "LoopCond 'grows/LoopCond', made at .*: an iteration gives its variables other",
            ),
            (
                listed.stack(),
                "TensorArrayV3 'list', made at .*: its TensorArray grows: give it a size",
            ),
        ):
            with pytest.raises(CannotExport, match=text):
                export_model(models.of_session(session, {"x": x}, {"y": fetch}), tmp_path / "y.pt2", "torch")


def test_sizes_can_be_fixed_and_must_fit(tmp_path):
    model, _ = cases(perceptron)
    export_model(model, tmp_path / "model.pt2", "torch", {"x": [4, 6]})
    nodes = torch.export.load(tmp_path / "model.pt2").graph.find_nodes(op="placeholder")
    assert nodes[-1].meta["val"].shape == (4, 6)
    with pytest.raises(ValueError, match="incompatible"):
        export_model(model, tmp_path / "other.pt2", "torch", {"x": [4, 5]})
    with pytest.raises(ValueError, match="has no input"):
        export_model(model, tmp_path / "other.pt2", "torch", {"y": [4, 6]})
    with pytest.raises(ValueError, match="no target 'caffe'"):
        export_model(model, tmp_path / "other.pt2", "caffe")


@pytest.mark.slow(reason="g++ reads PyTorch's headers")
@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")
def test_a_program_in_c_plus_plus_runs_a_model_without_python(tmp_path):
    model, _ = cases(perceptron)
    export_model(model, tmp_path / "model.pt2", "aot")
    loaded = torch._inductor.aoti_load_package(str(tmp_path / "model.pt2"))
    numbers = torch.arange(120.0) / 100
    for strided in (numbers.view(6, 20).t(), numbers.view(10, 12)[:, ::2], numbers.view(10, 12)[::3, 5:11]):
        assert not strided.is_contiguous()
        for found, dense in zip(loaded(strided), loaded(strided.contiguous()), strict=True):
            torch.testing.assert_close(found, dense)
    wanted = [number for output in loaded(torch.ones(2, 6)) for number in output.flatten().tolist()]
    command = [
        "g++",
        "-std=c++20",
        "-O0",
        PROGRAM,
        "-o",
        tmp_path / "predict",
        *compile_flags(),
        *link_flags(),
    ]
    subprocess.run(command, check=True, timeout=280)
    done = subprocess.run(
        [tmp_path / "predict", tmp_path / "model.pt2", "2", "6"],
        env={"LD_LIBRARY_PATH": ":".join(library_paths()), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    np.testing.assert_allclose([float(word) for word in done.stdout.split()], wanted, rtol=1e-4)


def compile_flags():
    abi = int(torch.compiled_with_cxx11_abi())
    return [*(f"-I{path}" for path in include_paths()), f"-D_GLIBCXX_USE_CXX11_ABI={abi}"]


def link_flags():
    return [*(f"-L{path}" for path in library_paths()), "-ltorch", "-ltorch_cpu", "-lc10"]
