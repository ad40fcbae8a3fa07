"""Graphs made of ONNX files: they compute what onnxruntime computes, node by node and for whole networks."""

from random import Random

import numpy as np
import pytest

import tideflow as tf

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

from tideflow.exchange.onnx_import import import_onnx  # noqa: E402

RNG = np.random.RandomState(0)


def f32(*shape):
    return RNG.uniform(-2, 2, shape).astype(np.float32)


def i64(*values):
    return np.array(values, np.int64)


def written(path, nodes, inputs, constants, outputs):
    """An ONNX file; the first axis of its inputs is open."""
    infos = [
        helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(array.dtype), [None, *array.shape[1:]] if array.ndim else []
        )
        for name, array in inputs.items()
    ]
    given = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    made = [helper.make_empty_tensor_value_info(name) for name in outputs]
    graph = helper.make_graph(nodes, "graph", infos, made, given)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.save(model, path)
    return path


def assert_same(path, inputs):
    session = onnxruntime.InferenceSession(path)
    wanted = session.run(None, inputs)
    with tf.Graph().as_default(), tf.Session() as ours:
        model = import_onnx(path)
        found = ours.run(list(model.outputs.values()), {model.inputs[k]: v for k, v in inputs.items()})
    for output, a, b in zip(session.get_outputs(), found, wanted, strict=True):
        assert a.shape == b.shape, output.name
        if b.dtype == object:
            assert [text.decode() for text in a.ravel()] == b.ravel().tolist(), output.name
            continue
        assert a.dtype == b.dtype, output.name
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5, err_msg=output.name)


X, IMAGE = f32(3, 4), f32(2, 4, 6, 6)
NO, SCALES = np.zeros(0, np.float32), np.array([1, 1, 1.7, 0.6], np.float32)
REGIONS = np.array([[0, 0, 0, 9, 7], [1, 2.4, 1, 6.5, 7], [1, 5, 5, 2, 2], [0, -3, 4, 40, 50]], np.float32)
LENGTHS, BOTH = np.array([3, 5], np.int32), {"hidden_size": 4, "direction": "bidirectional"}
ONE = (
    "Abs Atan Ceil Cos Elu Erf Exp Floor HardSigmoid HardSwish Identity LeakyRelu Neg Reciprocal Relu Round "
    "Selu Sigmoid Sign Sin Softplus Softsign Tan Tanh LogSoftmax Softmax Shape Size Flatten ReduceSum "
    "ReduceMean ReduceMax ReduceL2 ArgMax ArgMin Transpose Dropout ReduceLogSumExp Celu Mish ThresholdedRelu "
    "NonZero"
).split()
TWO = "Add Div Equal Greater GreaterOrEqual Less LessOrEqual Max Mean Min Mul Sub Sum".split()
# By operator: its inputs (the first is fed, the others are constants) and its attributes.
CASES = [
    ("MaxRoiPool", [IMAGE, REGIONS], {"pooled_shape": [2, 3], "spatial_scale": 0.5}),
    *((name, [X], {}) for name in ONE),
    *((name, [X, f32(4)], {}) for name in TWO),
    ("Div", [i64(7, -7, 8), i64(2, 2, -3)], {}),
    ("Mod", [i64(7, -7, 8), i64(2, 3, -3)], {}),
    ("Mod", [X, f32(4)], {"fmod": 1}),
    ("Pow", [np.abs(X), np.array(2, np.int64)], {}),
    ("Clip", [X, np.float32(-1), np.float32(0.5)], {}),
    ("PRelu", [X, f32(4)], {}),
    ("Cast", [X], {"to": TensorProto.INT64}),
    ("MatMul", [X, f32(4, 5)], {}),
    ("MatMul", [f32(2, 3, 4), f32(4, 5)], {}),
    ("MatMul", [f32(2, 3, 4), f32(2, 4, 5)], {}),
    ("MatMul", [X, f32(4)], {}),
    ("Gemm", [X, f32(5, 4), f32(5)], {"transB": 1, "alpha": 0.5, "beta": 2.0}),
    ("Einsum", [X, f32(4, 5)], {"equation": "ij,jk->ki"}),
    ("Conv", [IMAGE, f32(3, 4, 3, 3), f32(3)], {"pads": [1, 0, 2, 1], "strides": [2, 1]}),
    ("Conv", [IMAGE, f32(4, 2, 3, 3)], {"group": 2, "dilations": [2, 2]}),
    ("Conv", [IMAGE, f32(3, 4, 3, 3)], {"auto_pad": "SAME_UPPER", "strides": [2, 2]}),
    ("Conv", [f32(2, 4, 7), f32(3, 4, 3)], {}),
    ("MaxPool", [IMAGE], {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
    ("AveragePool", [IMAGE], {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}),
    ("AveragePool", [IMAGE], {"kernel_shape": [2, 2], "pads": [1, 1, 0, 0], "count_include_pad": 1}),
    ("GlobalAveragePool", [IMAGE], {}),
    ("GlobalMaxPool", [IMAGE], {}),
    ("BatchNormalization", [IMAGE, f32(4), f32(4), f32(4), np.abs(f32(4))], {}),
    ("InstanceNormalization", [IMAGE, f32(4), f32(4)], {}),
    ("LayerNormalization", [X, f32(4), f32(4)], {}),
    ("Reshape", [IMAGE, i64(0, -1, 3)], {}),
    ("Transpose", [IMAGE], {"perm": [0, 2, 3, 1]}),
    ("Squeeze", [f32(2, 1, 3), i64(1)], {}),
    ("Unsqueeze", [X, i64(0, -1)], {}),
    ("Concat", [X, f32(2, 4)], {"axis": 0}),
    ("Slice", [X, i64(1, -1), i64(1 << 40, -(1 << 40)), i64(0, 1), i64(1, -2)], {}),
    ("Gather", [X, i64(-1, 0)], {"axis": 1}),
    ("GatherND", [X, np.array([[0, 1], [2, 3]])], {}),
    ("ScatterND", [X, np.array([[1]]), f32(1, 4)], {}),
    ("Expand", [f32(3, 1), i64(1, 4)], {}),
    ("Tile", [X, i64(2, 1)], {}),
    ("Pad", [X, i64(0, 1, 2, 0), np.float32(7)], {}),
    ("Pad", [X, i64(0, 1, 0, 2)], {"mode": "reflect"}),
    ("CumSum", [X, np.array(1)], {"reverse": 1, "exclusive": 1}),
    ("OneHot", [i64(0, -1, 2), np.array(3), f32(2)], {}),
    ("Trilu", [X], {"upper": 0}),
    ("ReduceSum", [X, i64(0)], {"keepdims": 0}),
    ("ReduceLogSum", [np.abs(X), i64(1)], {}),
    ("Celu", [X], {"alpha": 0.5}),
    ("GatherElements", [X, np.array([[0, -1], [1, 1], [2, 0]])], {"axis": 1}),
    ("GatherElements", [X, np.array([[2, 0, 1, -1]])], {}),
    ("DepthToSpace", [IMAGE], {"blocksize": 2}),
    ("DepthToSpace", [IMAGE], {"blocksize": 2, "mode": "CRD"}),
    ("SpaceToDepth", [IMAGE], {"blocksize": 3}),
    ("QuantizeLinear", [X * 9, np.float32(0.1), np.uint8(128)], {}),
    ("QuantizeLinear", [X, np.abs(f32(4)) + 0.01, np.zeros(4, np.int8)], {"axis": 1}),
    ("DequantizeLinear", [i64(-5, 3, 100).astype(np.int8), np.float32(0.5), np.int8(3)], {}),
    ("ConvTranspose", [IMAGE, f32(4, 3, 3, 3), f32(3)], {"strides": [2, 2], "pads": [1, 0, 1, 2]}),
    (
        "ConvTranspose",
        [IMAGE, f32(4, 2, 3, 3)],
        {"group": 2, "dilations": [2, 1], "output_padding": [0, 1], "strides": [1, 2]},
    ),
    ("ConvTranspose", [IMAGE, f32(4, 1, 3, 3)], {"auto_pad": "SAME_LOWER", "strides": [2, 2]}),
    ("ConvTranspose", [f32(2, 4, 5), f32(4, 3, 4)], {"strides": [3], "output_shape": [14]}),
    ("Resize", [IMAGE, NO, SCALES], {"mode": "linear", "coordinate_transformation_mode": "align_corners"}),
    ("Resize", [IMAGE, NO, SCALES], {"mode": "linear", "antialias": 1}),
    ("Resize", [IMAGE, NO, SCALES], {"mode": "cubic", "exclude_outside": 1}),
    (
        "Resize",
        [IMAGE, NO, NO, i64(2, 4, 9, 5)],
        {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
    ),
    ("RNN", [f32(5, 2, 3), f32(1, 4, 3), f32(1, 4, 4)], {"hidden_size": 4, "direction": "reverse"}),
    ("GRU", [f32(5, 2, 3), f32(2, 12, 3), f32(2, 12, 4), f32(2, 24), LENGTHS], BOTH),
    ("GRU", [f32(5, 2, 3), f32(2, 12, 3), f32(2, 12, 4), f32(2, 24)], {**BOTH, "linear_before_reset": 1}),
    ("LSTM", [f32(5, 2, 3), f32(2, 16, 3), f32(2, 16, 4), f32(2, 32), LENGTHS], BOTH),
    (
        "LSTM",
        [
            f32(5, 2, 3),
            f32(1, 16, 3),
            f32(1, 16, 4),
            f32(1, 32),
            LENGTHS,
            f32(1, 2, 4),
            f32(1, 2, 4),
            f32(1, 12),
        ],
        {"hidden_size": 4, "clip": 0.7},
    ),
    ("GridSample", [IMAGE, f32(2, 3, 5, 2)], {"padding_mode": "reflection"}),
    ("GridSample", [IMAGE, f32(2, 3, 5, 2)], {"mode": "bicubic", "padding_mode": "border"}),
    ("MaxPool", [IMAGE], {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}),
    (
        "AveragePool",
        [IMAGE],
        {"kernel_shape": [3, 2], "strides": [2, 2], "ceil_mode": 1, "pads": [1, 1, 0, 0]},
    ),
    ("LRN", [IMAGE], {"size": 3, "alpha": 0.1}),
    ("ScatterElements", [X, np.array([[0, 1, 2, 0]]), f32(1, 4)], {"reduction": "mul"}),
    ("ScatterND", [X, np.array([[1], [1]]), f32(2, 4)], {"reduction": "max"}),
    ("Unique", [i64(3, 1, 3, 2)], {}),
    ("Pad", [X, i64(1, -1, 2, 3)], {"mode": "edge"}),
    ("Pad", [X, i64(0, 1, 2, -2)], {}),
    ("Einsum", [f32(2, 3, 3)], {"equation": "...ii->...i"}),
    ("DFT", [f32(2, 8, 1)], {"onesided": 1, "axis": 1}),
    ("DequantizeLinear", [np.arange(8, dtype=np.uint8).reshape(2, 4), f32(4)], {"axis": -1}),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("onnx")


@pytest.mark.parametrize(
    "name, arrays, attributes", CASES, ids=[f"{i}-{case[0]}" for i, case in enumerate(CASES)]
)
def test_an_operator(folder, name, arrays, attributes):
    names = [f"x{i}" for i in range(len(arrays))]
    node = helper.make_node(name, names, ["y"], name="node", **attributes)
    constants = {key: np.asarray(array) for key, array in zip(names[1:], arrays[1:])}
    if name == "Resize":  # empty inputs are those that are left out
        node.input[:] = [key if np.size(array) else "" for key, array in zip(names, arrays)]
    path = written(folder / "model.onnx", [node], {"x0": arrays[0]}, constants, ["y"])
    assert_same(path, {"x0": arrays[0]})


def test_several_outputs_and_conditions(folder):
    nodes = [
        helper.make_node("Split", ["x"], ["a", "b"], axis=1, num_outputs=2),
        helper.make_node("TopK", ["x", "k"], ["values", "places"]),
        helper.make_node("TopK", ["x", "k"], ["least", "at"], axis=0, largest=0),
        helper.make_node("Greater", ["a", "b"], ["larger"]),
        helper.make_node("Not", ["larger"], ["smaller"]),
        helper.make_node("Where", ["smaller", "a", "zero"], ["chosen"]),
        helper.make_node("Constant", [], ["shape"], value_ints=[2, 2]),
        helper.make_node("ConstantOfShape", ["shape"], ["zeros"]),
    ]
    constants = {"k": i64(2), "zero": np.float32(0)}
    outputs = ["a", "b", "values", "places", "least", "at", "chosen", "zeros"]
    path = written(folder / "model.onnx", nodes, {"x": X}, constants, outputs)
    assert_same(path, {"x": X})


def test_a_network_of_torch(folder):
    torch = pytest.importorskip("torch")
    pytest.importorskip("onnxscript")
    network = torch.nn.Sequential(
        torch.nn.Conv2d(4, 8, 3, padding=1),
        torch.nn.BatchNorm2d(8),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Flatten(),
        torch.nn.Linear(72, 16),
        torch.nn.GELU(),
        torch.nn.LayerNorm(16),
        torch.nn.Unflatten(1, (4, 4)),
        torch.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True),
    ).eval()
    path = folder / "torch.onnx"
    torch.onnx.export(
        network,
        (torch.tensor(IMAGE),),
        path,
        dynamo=True,
        verbose=False,
        dynamic_shapes=({0: torch.export.Dim("n")},),
    )
    assert_same(path, {onnxruntime.InferenceSession(path).get_inputs()[0].name: IMAGE})


def test_what_is_not_known_is_named(folder):
    nodes = [
        helper.make_node("ImageDecoder", ["x"], ["y"], name="here"),
        helper.make_node("Own", ["x"], ["z"], domain="mine", name="there"),
    ]
    path = written(folder / "model.onnx", nodes, {"x": X}, {}, ["y", "z"])
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match=r"ImageDecoder \(node 'here'\), Own \(node 'there'\)"):
            import_onnx(path)
        (folder / "text.onnx").write_text("hello")
        with pytest.raises(ValueError, match="is no ONNX model"):
            import_onnx(folder / "text.onnx")


def _damaged(folder, change):
    """A small model with one thing changed."""
    nodes = [
        helper.make_node("AveragePool", ["x"], ["y"], kernel_shape=[2, 2], strides=[3, 3]),
        helper.make_node("Add", ["y", "c"], ["z"]),
    ]
    image = np.ones([1, 1, 6, 6], np.float32)
    path = written(folder / "model.onnx", nodes, {"x": image}, {"c": np.ones([1], np.float32)}, ["z"])
    model = onnx.load(path)
    change(model.graph)
    onnx.save(model, path)
    return path


def _a_type_of_few_bits(graph):
    graph.initializer[0].CopyFrom(helper.make_tensor("c", onnx.TensorProto.FLOAT4E2M1, [2], [1.0, 2.0]))


def _a_giant_window(graph):
    graph.node[0].attribute[0].ints[0] = 1 << 40


@pytest.mark.parametrize(
    ("change", "said"), [(_a_type_of_few_bits, "are of type float4"), (_a_giant_window, "places")]
)
def test_what_a_damaged_file_has_is_named(folder, change, said):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=said):
        import_onnx(_damaged(folder, change))


def test_a_name_that_is_no_text_is_named(folder):
    path = _damaged(folder, lambda graph: None)
    content = path.read_bytes()
    path.write_bytes(content.replace(b"AveragePool", b"Average\xffool"))
    with tf.Graph().as_default(), pytest.raises(ValueError, match="names that are no text"):
        import_onnx(path)


def body(inputs, nodes, outputs):
    """A graph that is an attribute; its inputs have types, and their shapes are not known."""
    return helper.make_graph(
        nodes,
        "body",
        [
            helper.make_tensor_value_info(name, kind, [] if name in ("i", "going") else None)
            for name, kind in inputs.items()
        ],
        [helper.make_empty_tensor_value_info(name) for name in outputs],
    )


def test_conditions_and_loops(folder):
    """A condition, a loop that ends by its data with a growing variable, and a scan, with outer values."""
    then = body({}, [helper.make_node("Mul", ["x", "two"], ["t"])], ["t"])
    otherwise = body({}, [helper.make_node("Sub", ["x", "two"], ["e"])], ["e"])
    double = body(
        {
            "i": TensorProto.INT64,
            "going": TensorProto.BOOL,
            "value": TensorProto.FLOAT,
            "grown": TensorProto.FLOAT,
        },
        [
            helper.make_node("Mul", ["value", "two"], ["next"]),
            helper.make_node("ReduceSum", ["next"], ["sum"], keepdims=0),
            helper.make_node("Less", ["sum", "limit"], ["again"]),
            helper.make_node("Concat", ["grown", "next"], ["longer"], axis=0),
            helper.make_node("Identity", ["sum"], ["each"]),
        ],
        ["again", "next", "longer", "each"],
    )
    running = body(
        {"total": TensorProto.FLOAT, "row": TensorProto.FLOAT},
        [
            helper.make_node("Add", ["total", "row"], ["after"]),
            helper.make_node("Mul", ["after", "two"], ["out"]),
        ],
        ["after", "out"],
    )
    nodes = [
        helper.make_node("ReduceSum", ["x"], ["all"], keepdims=0),
        helper.make_node("Greater", ["all", "zero"], ["positive"]),
        helper.make_node("If", ["positive"], ["chosen"], then_branch=then, else_branch=otherwise),
        helper.make_node("Loop", ["most", "", "x", "x"], ["last", "rows", "sums"], body=double),
        helper.make_node("Scan", ["start", "x"], ["total", "scanned"], body=running, num_scan_inputs=1),
    ]
    constants = {
        "two": np.float32(2), "zero": np.float32(0), "limit": np.float32(100), "most": np.array(9, np.int64),
        "start": f32(4),
    }  # fmt: skip
    outputs = ["chosen", "last", "rows", "sums", "total", "scanned"]
    path = written(folder / "model.onnx", nodes, {"x": X}, constants, outputs)
    for rows in (np.abs(X), -np.abs(X[:2])):
        assert_same(path, {"x": rows})


def test_functions_of_the_model(folder):
    """Operators that a model defines itself, with attributes, which call each other."""
    scaled = helper.make_function(
        "mine",
        "Scaled",
        ["a"],
        ["b"],
        [
            helper.make_node("Constant", [], ["by"]),
            helper.make_node("Mul", ["a", "by"], ["b"]),
        ],
        [helper.make_opsetid("", 18)],
        ["factor"],
    )
    scaled.node[0].attribute.add(name="value_float", ref_attr_name="factor", type=onnx.AttributeProto.FLOAT)
    twice = helper.make_function(
        "mine",
        "Twice",
        ["a"],
        ["c"],
        [
            helper.make_node("Scaled", ["a"], ["b"], domain="mine", factor=3.0),
            helper.make_node("Scaled", ["b"], ["c"], domain="mine", factor=0.5),
        ],
        [helper.make_opsetid("", 18), helper.make_opsetid("mine", 1)],
    )
    path = written(
        folder / "model.onnx", [helper.make_node("Twice", ["x"], ["y"], domain="mine")], {"x": X}, {}, ["y"]
    )
    model = onnx.load(path)
    model.functions.extend([scaled, twice])
    model.opset_import.append(helper.make_opsetid("mine", 1))
    onnx.save(model, path)
    assert_same(path, {"x": X})


def damaged(contents, random):
    """The bytes of a file with a few of them changed, left out or doubled."""
    made = bytearray(contents)
    for _ in range(random.randint(1, 4)):
        at = random.randrange(len(made))
        how = random.randrange(3)
        if how == 0:
            made[at] = random.randrange(256)
        elif how == 1:
            del made[at : at + random.randint(1, 8)]
        else:
            made[at:at] = made[at : at + random.randint(1, 8)]
    return bytes(made)


def test_damaged_files_are_errors(folder):
    """Whatever stands in a file, it is imported, or refused with an error that says so."""
    random = Random(0)
    inner = body({}, [helper.make_node("Slice", ["x", "k", "k"], ["t"])], ["t"])
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], pads=[1, 1, 1, 1], strides=[2, 2]),
        helper.make_node("Reshape", ["a", "shape"], ["b"]),
        helper.make_node("TopK", ["b", "k"], ["values", "places"]),
        helper.make_node("If", ["flag"], ["c"], then_branch=inner, else_branch=inner),
        helper.make_node("Softmax", ["b"], ["d"], axis=1),
        helper.make_node("Resize", ["x", "", "scales"], ["e"]),
    ]
    constants = {
        "w": f32(2, 4, 3, 3), "shape": i64(0, -1), "k": i64(1), "flag": np.array(True),
        "scales": np.array([1, 1, 2, 2], np.float32),
    }  # fmt: skip
    path = written(folder / "model.onnx", nodes, {"x": IMAGE}, constants, ["values", "c", "d", "e"])
    contents, refused = path.read_bytes(), 0
    for _ in range(150):
        path.write_bytes(damaged(contents, random))
        with tf.Graph().as_default():
            try:
                import_onnx(path)
            except (ValueError, OSError) as error:
                assert str(error)
                refused += 1
    assert refused > 20


def test_nodes_out_of_order_and_without_inputs(folder):
    later = [helper.make_node("Relu", ["b"], ["y"], name="first"), helper.make_node("Relu", ["x"], ["b"])]
    bare = [helper.make_node("Gemm", [], ["y"], name="first")]
    calls_itself = helper.make_function(
        "mine", "Again", ["a"], ["b"], [helper.make_node("Again", ["a"], ["b"], domain="mine")],
        [helper.make_opsetid("mine", 1)],
    )  # fmt: skip
    for nodes, words in (
        (later, r"Relu \(node 'first'\): there is no value 'b' yet"),
        (bare, r"Gemm \(node 'first'\)"),
    ):
        path = written(folder / "model.onnx", nodes, {"x": X}, {}, ["y"])
        with tf.Graph().as_default(), pytest.raises(ValueError, match=words):
            import_onnx(path)
    path = written(
        folder / "model.onnx", [helper.make_node("Again", ["x"], ["y"], domain="mine")], {"x": X}, {}, ["y"]
    )
    model = onnx.load(path)
    model.functions.append(calls_itself)
    onnx.save(model, path)
    with tf.Graph().as_default(), pytest.raises(ValueError, match="without end"):
        import_onnx(path)


ML = "ai.onnx.ml"
TREE = {  # two trees: a test of the first column with two leaves, and a single leaf
    "nodes_treeids": [0, 0, 0, 1],
    "nodes_nodeids": [0, 1, 2, 0],
    "nodes_featureids": [0, 0, 0, 0],
    "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF", "LEAF"],
    "nodes_values": [0.1, 0.0, 0.0, 0.0],
    "nodes_truenodeids": [1, 0, 0, 0],
    "nodes_falsenodeids": [2, 0, 0, 0],
}
HOLES = np.where(X > 0, X, np.float32(np.nan))
CLASSICAL = [
    ("Scaler", X, ["y"], {"offset": [0.5, 0.0, 1.0, 2.0], "scale": [1.0, 2.0, 3.0, 4.0]}),
    ("Normalizer", X, ["y"], {"norm": "L2"}),
    ("Binarizer", X, ["y"], {"threshold": 0.3}),
    ("Imputer", HOLES, ["y"], {"imputed_value_floats": [1.0], "replaced_value_float": np.nan}),
    ("OneHotEncoder", i64(3, 1, 7), ["y"], {"cats_int64s": [1, 2, 3], "zeros": 1}),
    ("LabelEncoder", i64(3, 1, 7), ["y"], {"keys_int64s": [1, 3], "values_strings": ["a", "b"]}),
    ("LinearRegressor", X, ["y"], {"coefficients": [1.0, 2.0, 3.0, 4.0], "intercepts": [0.5]}),
    (
        "LinearClassifier",
        X,
        ["label", "scores"],
        {
            "coefficients": f32(12).tolist(), "intercepts": [0.1, 0.2, 0.3],
            "classlabels_strings": ["a", "b", "c"], "post_transform": "SOFTMAX",
        },
    ),
    (
        "SVMRegressor",
        X,
        ["y"],
        {
            "coefficients": [0.5, -1.0], "support_vectors": f32(8).tolist(), "n_supports": 2, "rho": [0.3],
            "kernel_type": "RBF", "kernel_params": [0.5, 0.0, 3.0],
        },
    ),
    (
        "TreeEnsembleClassifier",
        X,
        ["label", "scores"],
        {
            **TREE, "class_treeids": [0, 0, 1], "class_nodeids": [1, 2, 0], "class_ids": [0, 1, 2],
            "class_weights": [0.7, 0.8, 0.1], "classlabels_int64s": [5, 6, 7],
        },
    ),
    (
        "TreeEnsembleRegressor",
        X,
        ["y"],
        {
            **TREE, "target_treeids": [0, 0, 1], "target_nodeids": [1, 2, 0], "target_ids": [0, 0, 0],
            "target_weights": [1.0, 2.0, 0.5], "base_values": [10.0], "n_targets": 1,
            "aggregate_function": "AVERAGE",
        },
    ),
]  # fmt: skip


@pytest.mark.parametrize("name, array, outputs, attributes", CLASSICAL, ids=[case[0] for case in CLASSICAL])
def test_classical_models(folder, name, array, outputs, attributes):
    node = helper.make_node(name, ["x"], outputs, domain=ML, **attributes)
    path = written(folder / "model.onnx", [node], {"x": array}, {}, outputs)
    model = onnx.load(path)
    model.opset_import.append(helper.make_opsetid(ML, 3))
    onnx.save(model, path)
    assert_same(path, {"x": array})


def test_a_tree_that_goes_round_is_refused(folder):
    ring = {
        **TREE,
        "nodes_modes": ["BRANCH_LEQ", "BRANCH_LEQ", "LEAF", "LEAF"],
        "nodes_truenodeids": [1, 1, 0, 0],
    }
    ends = {"target_treeids": [1], "target_nodeids": [0], "target_ids": [0], "target_weights": [1.0]}
    node = helper.make_node("TreeEnsembleRegressor", ["x"], ["y"], domain=ML, **ring, **ends)
    path = written(folder / "model.onnx", [node], {"x": X}, {}, ["y"])
    with tf.Graph().as_default(), pytest.raises(ValueError, match="in a circle"):
        import_onnx(path)
