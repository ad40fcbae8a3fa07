"""Feeds and fetches at their edges: keys that stand for several tensors, odd values, odd structures."""

import collections
import types

import numpy as np
import pytest
import torch

import tideflow as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


@pytest.fixture
def session(graph):
    with tf.Session() as s:
        yield s


# ------------------------------------------------------------------------------------------ keys


def test_tuples_of_tensors_are_keys(session):
    x, y, z = (tf.placeholder(tf.float32, []) for _ in range(3))
    made = x + 10.0 * y + 100.0 * z
    assert session.run(made, {(x, y): (1.0, 2.0), z: 3.0}) == 321.0
    assert session.run(made, {(x, (y, z)): [1.0, (2.0, 3.0)]}) == 321.0
    State = collections.namedtuple("State", "c h")
    assert session.run(x - y, {State(x, y): State(5.0, 2.0)}) == 3.0


def test_sparse_placeholders_are_keys(session):
    x = tf.sparse_placeholder(tf.float32)
    value = tf.SparseTensorValue([[0, 1], [1, 0]], [2.0, 3.0], [2, 2])
    for given in (value, ([[0, 1], [1, 0]], [2.0, 3.0], [2, 2])):
        found = session.run(x, {x: given})
        assert found.values.tolist() == [2.0, 3.0] and found.dense_shape.tolist() == [2, 2]
    found = session.run(tf.reduce_sum(x.values), {(x,): (value,)})
    assert found == 5.0


def test_indexed_slices_are_keys(session):
    rows = tf.IndexedSlices(tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.int32, [None]))
    found = session.run(rows, {rows: (np.ones((1, 2), np.float32), [3])})
    assert found.indices.tolist() == [3] and found.dense_shape is None


@pytest.mark.parametrize(
    ("value", "kind"), [(([[0, 1]], [2.0]), ValueError), (3.0, TypeError), (None, TypeError)]
)
def test_sparse_values_need_all_parts(session, value, kind):
    x = tf.sparse_placeholder(tf.float32)
    with pytest.raises(kind, match="each of its parts"):
        session.run(x.values, {x: value})


@pytest.mark.parametrize("value", [(1.0,), (1.0, 2.0, 3.0), 1.0])
def test_tuples_need_a_value_for_each_key(session, value):
    x, y = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    with pytest.raises(ValueError, match="a value for each"):
        session.run(x + y, {(x, y): value})


def test_steps_with_such_keys_are_compiled_once(session):
    x = tf.sparse_placeholder(tf.float32)
    y = tf.placeholder(tf.float32, [])
    made = tf.reduce_sum(x.values) * y
    compiled = []
    compile = session._executor.compile
    session._executor.compile = lambda *args: compiled.append(args) or compile(*args)
    for k in range(3):
        value = tf.SparseTensorValue([[0, 1]], [float(k)], [2, 2])
        assert session.run(made, {x: value, y: 2.0}) == 2.0 * k
        assert session.run(made, {(x, y): (value, 3.0)}) == 3.0 * k
    assert len(compiled) == 2


def test_names_and_variables_are_keys(session):
    x = tf.placeholder(tf.float32, [], "x")
    v = tf.Variable(1.0)
    assert session.run(x + 1.0, {"x:0": 1.0}) == 2.0
    assert session.run([v * 2.0, v.read_value()], {v: 5.0}) == [10.0, 5.0]


def test_the_last_of_two_values_for_one_tensor_counts(session):
    x = tf.placeholder(tf.float32, [], "x")
    assert session.run(x + 1.0, {x: 1.0, "x:0": 5.0}) == 6.0


@pytest.mark.parametrize("key", [3, None, "x", "nothing:0", ()])
def test_what_is_no_key(session, key):
    tf.placeholder(tf.float32, [], "x")
    with pytest.raises((TypeError, ValueError)):
        session.run(tf.constant(1.0), {key: 1.0})


def test_operations_and_unfeedable_tensors_are_no_keys(session, graph):
    x, c = tf.placeholder(tf.float32, []), tf.constant(1.0)
    with pytest.raises(TypeError, match="Operation"):
        session.run(x + 1.0, {x.op: 1.0})
    graph.prevent_feeding(c)
    with pytest.raises(ValueError, match="may not be fed"):
        session.run(c + 1.0, {c: 1.0})


def test_handles_are_not_fed(session):
    v = tf.Variable(1.0, use_resource=True)
    with pytest.raises(TypeError, match="resource may not be fed"):
        session.run(v.read_value(), {v.handle: 1.0})


def test_feed_dict_is_a_dictionary(session):
    x = tf.placeholder(tf.float32, [])
    with pytest.raises(TypeError, match="must be a dictionary"):
        session.run(x + 1.0, [(x, 1.0)])
    mapping = types.MappingProxyType({x: 1.0})
    for _ in range(2):
        assert session.run(x + 1.0, mapping) == 2.0


# ------------------------------------------------------------------------------------------ values


@pytest.mark.parametrize(
    ("dtype", "value", "wanted"),
    [
        (tf.bool, [0, 1, 2], [False, True, True]),
        (tf.int32, [1.7, -2.2], [1, -2]),
        (tf.float32, [], []),
        (tf.float32, [True, 2, 3.5], [1.0, 2.0, 3.5]),
        (tf.float64, range(3), [0.0, 1.0, 2.0]),
        (tf.complex64, [1, 2j], [1, 2j]),
        (tf.string, ["é", b"b"], ["é".encode(), b"b"]),
        (tf.string, np.array(["ab", "c"]), [b"ab", b"c"]),
        (tf.float16, np.float32([1.5]), [1.5]),
        (tf.bfloat16, [1.5, 2.5], [1.5, 2.5]),
        (tf.uint8, np.arange(3), [0, 1, 2]),
        (tf.float32, torch.arange(3), [0.0, 1.0, 2.0]),
    ],
)
def test_values_are_converted_to_the_tensors_type(session, dtype, value, wanted):
    x = tf.placeholder(dtype, [None])
    found = session.run(tf.identity(x), {x: value})
    assert found.dtype == np.dtype(dtype.as_numpy_dtype)
    assert found.tolist() == wanted


@pytest.mark.parametrize("value", [[[1.0], [1.0, 2.0]], ["a"], object()])
def test_values_that_are_no_arrays_of_the_type(session, value):
    x = tf.placeholder(tf.float32, None, "x")
    with pytest.raises((TypeError, ValueError), match="x:0"):
        session.run(tf.identity(x), {x: value})


def test_a_numpy_scalar_and_an_array_of_rank_zero(session):
    x = tf.placeholder(tf.float32, [])
    y = x * 2.0
    for value in (np.float64(2.0), np.array(2.0), np.array(2, np.int64), 2, True + True):
        assert session.run(y, {x: value}) == 4.0


def test_masked_and_subclassed_arrays(session):
    x = tf.placeholder(tf.float32, [2])
    y = x * 2.0
    for value in (np.ma.array([1.0, 2.0]), np.rec.array(np.float32([1, 2])), memoryview(np.float32([1, 2]))):
        assert session.run(y, {x: value}).tolist() == [2.0, 4.0]


def test_strided_and_transposed_arrays(session):
    x = tf.placeholder(tf.float32, [None, None])
    y = x * 2.0
    base = np.arange(24, dtype=np.float32).reshape(4, 6)
    for view in (base.T, base[::2, ::3], base[::-1], base[:, ::-2], np.broadcast_to(base[:1], (3, 6))):
        np.testing.assert_array_equal(session.run(y, {x: view}), view * 2)


def test_empty_arrays(session):
    x = tf.placeholder(tf.float32, [None, 3])
    assert session.run(tf.reduce_sum(x * 2.0, 0), {x: np.zeros((0, 3))}).tolist() == [0.0, 0.0, 0.0]


def test_shapes_are_checked_on_every_run(session):
    x = tf.placeholder(tf.float32, [None, 2])
    y = x + 1.0
    session.run(y, {x: np.ones((3, 2))})
    for bad in (np.ones((3, 3)), np.ones(2), 1.0, None):
        with pytest.raises(ValueError, match="Cannot feed value of shape"):
            session.run(y, {x: bad})
    assert session.run(y, {x: np.ones((1, 2))}).tolist() == [[2.0, 2.0]]


# ------------------------------------------------------------------------------------------ fetches


def test_kinds_of_dictionaries_are_kept(session):
    c = tf.constant(1.0)
    default = collections.defaultdict(list, a=c)
    found = session.run([default, collections.OrderedDict(b=c, a=c)])
    assert type(found[0]) is collections.defaultdict and dict(found[0]) == {"a": 1.0}
    assert type(found[1]) is collections.OrderedDict and list(found[1]) == ["b", "a"]


def test_empty_structures(session):
    tf.constant(1.0)
    assert session.run({"a": (), "b": [], "c": {}}) == {"a": (), "b": [], "c": {}}


def test_one_tensor_twice(session):
    c = tf.constant([1.0]) * 2.0
    a, b = session.run([c, c])
    assert a.tolist() == b.tolist() == [2.0]


def test_names_of_operations_and_tensors(session):
    tf.constant(1.0, name="a")
    assert session.run("a") is None
    assert session.run({"t": "a:0", "o": "a"}) == {"t": 1.0, "o": None}


def test_variables_of_both_kinds(session):
    v, w = tf.Variable(1.0, use_resource=True), tf.Variable(2.0)
    session.run(tf.global_variables_initializer())
    assert session.run((v, [w], v.op)) == (1.0, [2.0], None)


def test_a_set_is_no_structure(session):
    with pytest.raises(TypeError, match="set"):
        session.run({tf.constant(1.0)})


def test_what_is_inside_a_branch_is_not_fetched(session):
    pred = tf.placeholder(tf.bool, [])
    inside = []

    def branch():
        inside.append(tf.constant(1.0) + 1.0)
        return inside[0]

    tf.cond(pred, branch, lambda: tf.constant(2.0))
    with pytest.raises(ValueError, match="not fetchable"):
        session.run(inside[0], {pred: True})


def test_a_fetch_that_is_fed_is_a_copy(session):
    x = tf.placeholder(tf.float32, [2])
    value = np.float32([1, 2])
    found = session.run(x, {x: value})
    value[:] = 9
    assert found.tolist() == [1.0, 2.0]


def test_metadata_alone_does_not_compile_anew(session):
    c = tf.constant(1.0) + 1.0
    session.run(c)
    before = dict(session._steps.steps)
    assert session.run(c, run_metadata=tf.RunMetadata()) == 2.0
    assert session._steps.steps == before


def test_the_warning_of_a_growing_graph_points_at_the_users_run(session):
    x = tf.constant(1.0)
    with pytest.warns(UserWarning, match="graph has grown") as caught:
        for _ in range(7):
            session.run(-x)
    assert caught[0].filename == __file__


# ------------------------------------------------------------------------------------------ pieces of a step


def test_sparse_feeds_of_a_partial_run(session):
    x, y = tf.sparse_placeholder(tf.float32), tf.placeholder(tf.float32, [])
    first = tf.reduce_sum(x.values)
    second = first * y
    handle = session.partial_run_setup([first, second], [x, y])
    value = tf.SparseTensorValue([[0, 1], [1, 0]], [2.0, 3.0], [2, 2])
    assert session.partial_run(handle, first, {x: value}) == 5.0
    assert session.partial_run(handle, second, {y: 2.0}) == 10.0


@pytest.mark.parametrize("use_resource", [False, True])
def test_variables_in_several_pieces(session, use_resource):
    v = tf.Variable(1.0, use_resource=use_resource)
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    first = v.assign_add(a) + 0.0
    with tf.control_dependencies([first]):
        second = v.assign_add(b) * 1.0
    session.run(v.initializer)
    handle = session.partial_run_setup([first, second], [a, b])
    assert session.partial_run(handle, first, {a: 2.0}) == 3.0
    assert session.partial_run(handle, second, {b: 10.0}) == 13.0
    assert session.run(v) == 13.0


def test_a_finished_partial_run_is_over(session):
    a = tf.placeholder(tf.float32, [])
    y = a * 2.0
    handle = session.partial_run_setup([y], [a])
    assert session.partial_run(handle, y, {a: 2.0}) == 4.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="partial run"):
        session.partial_run(handle, y, {a: 2.0})
    with pytest.raises(tf.errors.InvalidArgumentError):
        session.partial_run("nonsense", y, {a: 2.0})


def test_a_piece_with_nothing_new_to_fetch(session):
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    x, y = a * 2.0, b * 3.0
    handle = session.partial_run_setup([x, y], [a, b])
    assert session.partial_run(handle, x, {a: 2.0, b: 1.0}) == 4.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="already been fetched"):
        session.partial_run(handle, x)
    assert session.partial_run(handle, y) == 3.0
