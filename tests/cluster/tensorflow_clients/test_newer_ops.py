"""Op types of newer TensorFlows, written as those of 1.15."""

import numpy as np
import pytest

import tideflow as tf
from tideflow.cluster.tensorflow_clients.newer_ops import rewrite_newer_ops
from tideflow.graph.tensor_proto import make_tensor_proto


def _constant(graph_def, name, value):
    node = graph_def.node.add(name=name, op="Const")
    proto = make_tensor_proto(value)
    node.attr["value"].tensor.CopyFrom(proto)
    node.attr["dtype"].type = proto.dtype


def _node(graph_def, op):
    (found,) = (node for node in graph_def.node if node.op == op)
    return found


def _run(graph_def, *names):
    """What a session says of a graph that was rewritten."""
    rewrite_newer_ops(graph_def)
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.import_graph_def(graph_def, name="")
        elements = [graph.as_graph_element(name) for name in names]
        return [session.run(element) for element in elements]


def _next_of(dataset):
    iterator = tf.data.make_initializable_iterator(dataset)
    return iterator.initializer.name, [tensor.name for tensor in tf.nest.flatten(iterator.get_next())]


def test_rows_of_csv_files(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("1,a\n2,b\n")
    with tf.Graph().as_default() as graph:
        init, (number, text) = _next_of(tf.data.experimental.CsvDataset(str(path), [tf.int32, tf.string]))
    graph_def = graph.as_graph_def()
    node = _node(graph_def, "CSVDataset")
    node.op = "CSVDatasetV2"
    node.input.append("excluded")
    _constant(graph_def, "excluded", np.zeros(0, np.int64))
    assert _run(graph_def, init, number, text) == [None, 1, b"b"]


def test_columns_that_are_excluded_have_no_older_form(tmp_path):
    with tf.Graph().as_default() as graph:
        _next_of(tf.data.experimental.CsvDataset("rows.csv", [tf.int32]))
    graph_def = graph.as_graph_def()
    node = _node(graph_def, "CSVDataset")
    node.op = "CSVDatasetV2"
    node.input.append("excluded")
    _constant(graph_def, "excluded", np.array([1]))
    with pytest.raises(tf.errors.NotFoundError, match="Op type not registered 'CSVDatasetV2'"):
        _run(graph_def)


def test_examples_that_a_dataset_parses():
    example = tf.train.Example()
    example.features.feature["x"].int64_list.value.append(5)
    with tf.Graph().as_default() as graph:
        parse = tf.data.experimental.parse_example_dataset({"x": tf.FixedLenFeature([], tf.int64)})
        rows = tf.data.Dataset.from_tensors([example.SerializeToString()]).apply(parse)
        init, (x,) = _next_of(rows)
    graph_def = graph.as_graph_def()
    node = next(node for node in graph_def.node if node.op.endswith("ParseExampleDataset"))
    node.op = "ParseExampleDatasetV2"
    node.attr.pop("sloppy", None)
    node.attr["deterministic"].s = b"default"
    for key in ("ragged_keys", "ragged_value_types", "ragged_split_types"):
        node.attr[key].list.SetInParent()
    _, values = _run(graph_def, init, x)
    np.testing.assert_array_equal(values, [5])


@pytest.mark.parametrize("separator", [b"_X_", b"-"])
def test_crosses_of_strings(separator):
    with tf.Graph().as_default() as graph:
        crossed = tf.sparse.cross([tf.constant([["a"]]), tf.constant([["b"]])])
    graph_def = graph.as_graph_def()
    node = _node(graph_def, "SparseCross")
    node.op = "SparseCrossV2"
    for key in ("hashed_output", "num_buckets", "hash_key", "out_type", "internal_type"):
        del node.attr[key]
    node.input.append("separator")
    _constant(graph_def, "separator", separator)
    if separator == b"_X_":
        assert _run(graph_def, crossed.values.name)[0].tolist() == [b"a_X_b"]
    else:
        with pytest.raises(tf.errors.NotFoundError, match="SparseCrossV2"):
            _run(graph_def)


@pytest.mark.parametrize("segment_type", [tf.int32, tf.int64])
@pytest.mark.parametrize("kind", ["Sum", "Mean", "SqrtN"])
def test_gradients_of_segments_of_rows(kind, segment_type):
    function = {
        "Sum": tf.sparse_segment_sum,
        "Mean": tf.sparse_segment_mean,
        "SqrtN": tf.sparse_segment_sqrt_n,
    }
    rows, segments = [4, 1, 4, 0], [0, 0, 1, 2]
    given = np.arange(6, dtype=np.float32).reshape(3, 2) + 1
    with tf.Graph().as_default() as graph, tf.Session() as session:
        data = tf.zeros([6, 2])
        y = function[kind](data, tf.constant(rows), tf.constant(segments))
        wanted = session.run(tf.gradients(y, data, tf.constant(given))[0])
    graph_def = tf.GraphDef(versions=graph.graph_def_versions)
    for name, value in (
        ("grad", given),
        ("rows", np.int64(rows)),
        ("segments", segment_type.as_numpy_dtype(segments)),
    ):
        _constant(graph_def, name, value)
    _constant(graph_def, "size", np.int32(6))
    node = graph_def.node.add(name="n", op=f"SparseSegment{kind}GradV2")
    node.input.extend(["grad", "rows", "segments", "size"])
    node.attr["T"].type, node.attr["Tidx"].type = tf.float32.as_datatype_enum, tf.int64.as_datatype_enum
    node.attr["Tsegmentids"].type = segment_type.as_datatype_enum
    values, indices = _run(graph_def, "n:0", "n:1")
    found = np.zeros([6, 2], np.float32)
    found[indices] = values
    assert sorted(indices) == [0, 1, 4]
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
