"""State: no update is lost or torn, bad input changes nothing, and what was read stays as it was."""

import threading

import numpy as np
import pytest
import torch

import tideflow as tf
from tideflow.graph.op import definition
from tideflow.ops.helpers.variables import same_shape

KINDS = pytest.mark.parametrize("use_resource", [False, True], ids=["reference", "resource"])


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def raw(op_type, **arguments):
    return definition(op_type).raw(**arguments)


def started(*variables):
    session = tf.Session()
    session.run([variable.initializer for variable in variables])
    return session


def in_threads(work, count=4):
    failures = []

    def guarded():
        try:
            work()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures


# ------------------------------------------------------------------------------------------ many at once


@KINDS
def test_no_update_is_lost(use_resource):
    v = tf.Variable(np.zeros([3, 2]), use_resource=use_resource)
    steps = [v.assign_add(np.ones([3, 2])).op, tf.scatter_add(v, [1, 1], np.ones([2, 2])).op]
    with started(v) as sess:
        in_threads(lambda: [sess.run(steps) for _ in range(200)])
        np.testing.assert_array_equal(sess.run(v), [[800, 800], [2400, 2400], [800, 800]])


@KINDS
def test_no_read_sees_half_an_update(use_resource):
    v = tf.Variable(np.zeros(200_000, np.float32), use_resource=use_resource)
    add, value = v.assign_add(np.ones(200_000, np.float32)), tf.identity(v)
    with started(v) as sess:

        def work():
            for _ in range(30):
                sess.run(add)
                seen = sess.run(value)
                assert seen.min() == seen.max()

        in_threads(work, 3)
        assert sess.run(v)[0] == 90


@KINDS
def test_a_counter_gives_every_number_once(use_resource):
    v = tf.Variable(0, use_resource=use_resource)
    count, seen = v.count_up_to(300), []

    def work():
        with pytest.raises(tf.errors.OutOfRangeError, match="Reached limit of 300"):
            while True:
                seen.append(sess.run(count))

    with started(v) as sess:
        in_threads(work)
        assert sess.run(v) == 300
    assert sorted(seen) == list(range(300))


# ------------------------------------------------------------------------------------------ values stay


@KINDS
def test_fetched_and_fed_arrays_are_not_state(use_resource):
    v = tf.Variable(np.zeros(3), use_resource=use_resource)
    fed = tf.placeholder(tf.float64, [3])
    assign, add = v.assign(fed), v.assign_add(np.ones(3))
    with started(v) as sess:
        array = np.arange(3.0)
        fetched = sess.run(assign, {fed: array})
        array += 100
        sess.run(add)
        np.testing.assert_array_equal(fetched, [0, 1, 2])
        fetched[:] = -1
        np.testing.assert_array_equal(sess.run(v), [1, 2, 3])


def test_a_read_keeps_its_value_while_the_variable_changes():
    v = tf.Variable([1.0, 2.0], use_resource=True)
    before = v.read_value()
    with tf.control_dependencies([before]):
        change = v.assign_add([1.0, 1.0], read_value=False)
    with tf.control_dependencies([change]):
        after = v.read_value()
    with started(v) as sess:
        results = sess.run([before, after])
    np.testing.assert_array_equal(results, [[1, 2], [2, 3]])


def test_reference_ops_chain():
    v = tf.Variable([1.0, 2.0])
    doubled = tf.assign_add(tf.assign(v, [5.0, 6.0]), [5.0, 6.0])
    with tf.Session() as sess:
        np.testing.assert_array_equal(sess.run(doubled), [10, 12])
        np.testing.assert_array_equal(sess.run(v), [10, 12])


# ------------------------------------------------------------------------------------------ bad input

SCATTERS = ("update", "add", "sub", "mul", "div", "min", "max", "nd_update", "nd_add", "nd_sub")


def scattered(start, use_resource, kind, index):
    """A variable, and sevens put into its first row and into one of another index."""
    v = tf.Variable(start, use_resource=use_resource)
    indices = [[0], [index]] if kind.startswith("nd_") else [0, index]
    return v, getattr(tf, f"scatter_{kind}")(v, indices, np.full([2, 2], 7, np.float32))


@KINDS
@pytest.mark.parametrize("kind", SCATTERS)
@pytest.mark.parametrize("bad", [3, -1])
def test_a_bad_index_changes_nothing(use_resource, kind, bad):
    start = np.arange(6, dtype=np.float32).reshape(3, 2) + 1
    with tf.device("/cpu:0"):
        v, scatter = scattered(start, use_resource, kind, bad)
    with started(v) as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match=rf"indices\[1\] = \[?{bad}"):
            sess.run(scatter)
        np.testing.assert_array_equal(sess.run(v), start)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="indices are not looked at on a GPU")
@KINDS
@pytest.mark.parametrize("kind", SCATTERS)
@pytest.mark.parametrize("bad", [3, -1])
def test_a_bad_index_is_left_out_on_a_gpu(use_resource, kind, bad):
    start = np.arange(6, dtype=np.float32).reshape(3, 2) + 1
    with tf.device("/gpu:0"):
        v, scatter = scattered(start, use_resource, kind, bad)
        w, alone = scattered(start, use_resource, kind, 1)
        rows, slices = tf.gather(v, [0, bad]), tf.gather_nd(v, [[0, 0], [bad, 1]])
    with started(v, w) as sess:
        assert sess.run([rows, slices])[0].tolist() == [[1, 2], [0, 0]]
        assert sess.run(slices).tolist() == [1, 0]
        sess.run([scatter, alone])
        found, expected = sess.run([v, w])
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1:], start[1:])


@KINDS
@pytest.mark.parametrize("kind", SCATTERS)
def test_updates_of_the_wrong_shape_change_nothing(use_resource, kind):
    v = tf.Variable(np.zeros([3, 2], np.float32), use_resource=use_resource)
    indices = [[0], [1]] if kind.startswith("nd_") else [0, 1]
    updates = tf.placeholder(tf.float32)
    scatter = getattr(tf, f"scatter_{kind}")(v, indices, updates)
    with started(v) as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match="updates"):
            sess.run(scatter, {updates: np.ones([3, 2])})
        np.testing.assert_array_equal(sess.run(v), np.zeros([3, 2]))
    with pytest.raises(ValueError, match="must be equal, but are"):
        getattr(tf, f"scatter_{kind}")(v, indices, np.ones([3, 2], np.float32))


@KINDS
def test_addition_does_not_broadcast(use_resource):
    v = tf.Variable(np.zeros([3, 2], np.float32), use_resource=use_resource)
    delta = tf.placeholder(tf.float32)
    add = v.assign_add(delta)
    with started(v) as sess:
        for shape in ([], [2], [1, 2]):
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[3,2\]"):
                sess.run(add, {delta: np.ones(shape)})
        np.testing.assert_array_equal(sess.run(v), np.zeros([3, 2]))
    with pytest.raises(ValueError, match="Dimension 1 in both shapes must be equal, but are 2 and 3"):
        v.assign_add(np.zeros([3, 3], np.float32))


def test_assign_keeps_the_shape_unless_told_otherwise():
    v = tf.Variable([1.0, 2.0])
    value = tf.placeholder(tf.float32)
    checked, free = tf.assign(v, value), tf.assign(v, value, validate_shape=False)
    with started(v) as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"lhs shape= \[2\] rhs shape= \[3\]"):
            sess.run(checked, {value: [1, 2, 3]})
        np.testing.assert_array_equal(sess.run(v), [1, 2])
        np.testing.assert_array_equal(sess.run(free, {value: [1, 2, 3]}), [1, 2, 3])


def test_resource_variables_refuse_what_the_graph_knows_to_be_wrong():
    v = tf.Variable(np.zeros([3, 2], np.float32), use_resource=True)
    with pytest.raises(ValueError, match="incompatible"):
        v.assign(np.zeros([2, 2], np.float32))
    with pytest.raises(ValueError, match="wrong dtype"):
        raw("AssignVariableOp", resource=v.handle, value=np.zeros([3, 2], np.int32))


@KINDS
def test_uninitialized_variables_say_so(use_resource):
    v = tf.Variable([1.0], name="lonely", use_resource=use_resource)
    updates = [v.assign_add([1.0]), tf.scatter_add(v, [0], [1.0]), tf.scatter_nd_sub(v, [[0]], [1.0])]
    not_read = tf.errors.NotFoundError if use_resource else tf.errors.FailedPreconditionError
    wanted = [(v, tf.errors.FailedPreconditionError), *[(update, not_read) for update in updates]]
    with tf.Session() as sess:
        for step, kind in wanted:
            with pytest.raises(kind, match=r"(un|not )initialized") as caught:
                sess.run(step)
            assert "lonely" in str(caught.value) and __file__ in str(caught.value)
        assert not sess.run(tf.is_variable_initialized(v))
        sess.run(v.initializer)
        assert sess.run(tf.is_variable_initialized(v))


# ------------------------------------------------------------------------------------------ scatter


@KINDS
@pytest.mark.parametrize("rows", [10, 5000])
def test_the_last_of_several_updates_wins(use_resource, rows):
    v = tf.Variable(np.zeros([4, 20], np.float32), use_resource=use_resource)
    at = np.arange(rows) % 3
    updates = np.repeat(np.arange(rows, dtype=np.float32)[:, None], 20, 1)
    with started(v) as sess:
        found = sess.run(tf.scatter_update(v, at, updates))
    last = [max(i for i in range(rows) if i % 3 == row) for row in range(3)]
    np.testing.assert_array_equal(found, np.repeat(np.array([*last, 0], np.float32)[:, None], 20, 1))


@KINDS
def test_repeated_products_and_quotients_apply_in_turn(use_resource):
    v = tf.Variable([100, 7, 9], use_resource=use_resource)
    with started(v) as sess:
        np.testing.assert_array_equal(sess.run(tf.scatter_div(v, [0, 1, 0, 0], [3, 2, -2, 4])), [-4, 3, 9])
        np.testing.assert_array_equal(sess.run(tf.scatter_mul(v, [2, 2, 1], [2, 3, 5])), [-4, 15, 54])
        np.testing.assert_array_equal(sess.run(tf.scatter_max(v, [0, 0, 1], [1, 2, 3])), [2, 15, 54])


@KINDS
@pytest.mark.parametrize("dtype", [tf.uint16, tf.int8, tf.half, tf.bfloat16, tf.complex64])
def test_narrow_and_unsigned_types(use_resource, dtype):
    v = tf.Variable(tf.cast([6, 5], dtype), use_resource=use_resource)
    two = tf.cast([2], dtype)
    with started(v) as sess:
        sess.run(tf.scatter_add(v, [0], two))
        sess.run(tf.scatter_div(v, [0], two))
        sess.run(v.assign_sub(tf.cast([1, 1], dtype)))
        assert [int(np.real(x)) for x in sess.run(v)] == [3, 4]


def test_unsigned_sums_wrap_around():
    v = tf.Variable(np.array([65535, 1], np.uint16))
    with started(v) as sess:
        np.testing.assert_array_equal(sess.run(v.assign_add(np.array([2, 2], np.uint16))), [1, 3])


@KINDS
def test_strings(use_resource):
    v = tf.Variable([["a", "b"], ["c", "d"]], use_resource=use_resource)
    with started(v) as sess:
        sess.run(tf.scatter_update(v, [1], [["x", "y"]]))
        sess.run(tf.scatter_nd_update(v, [[0, 1]], ["z"]))
        assert sess.run(v).tolist() == [[b"a", b"z"], [b"x", b"y"]]
        assert sess.run(tf.gather(v, [1, 0])).tolist() == [[b"x", b"y"], [b"a", b"z"]]
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[0\] = 2"):
            sess.run(tf.scatter_update(v, [2], [["x", "y"]]))


def test_a_variable_whose_memory_is_transposed():
    v = tf.Variable(np.zeros([2, 3], np.float32))
    turned = tf.transpose(tf.constant(np.arange(6, dtype=np.float32).reshape(3, 2)))
    add = tf.scatter_nd_add(tf.assign(v, turned), [[0, 1], [1, 2]], [10.0, 20.0])
    with tf.Session() as sess:
        np.testing.assert_array_equal(sess.run(add), [[0, 12, 4], [1, 3, 25]])


# ------------------------------------------------------------------------------------------ containers


def _bare(name, dtype=tf.float32, **where):
    return raw("VariableV2", shape=[], dtype=dtype, name=name, **where)


def test_variables_are_shared_by_name_within_a_container():
    one, two = _bare("one", shared_name="s"), _bare("two", shared_name="s")
    other = _bare("other", shared_name="s", container="elsewhere")
    with tf.Session() as sess:
        sess.run(tf.assign(one, 3.0))
        assert sess.run(two) == 3.0
        with pytest.raises(tf.errors.FailedPreconditionError):
            sess.run(other)
        with pytest.raises(tf.errors.InvalidArgumentError, match="holds float32"):
            sess.run(_bare("third", tf.int32, shared_name="s"))


def test_container_scope_and_sessions_keep_state_apart():
    with tf.container("c"):
        v = tf.Variable(1.0, name="v")
    assert v.op.get_attr("container") == b"c"
    with started(v) as sess, tf.Session() as other:
        assert sess.run(v) == 1.0
        with pytest.raises(tf.errors.FailedPreconditionError):
            other.run(v)


def test_temporary_variables_end_with_their_step():
    scratch = raw("TemporaryVariable", shape=[2], dtype=tf.float32, var_name="t")
    filled = tf.assign_add(tf.assign(scratch, [1.0, 2.0]), [1.0, 1.0])
    value = raw("DestroyTemporaryVariable", ref=filled, var_name="t")
    with tf.Session() as sess:
        for _ in range(2):
            np.testing.assert_array_equal(sess.run(value), [2, 3])


def test_a_temporary_variable_is_destroyed_once_and_by_its_name():
    scratch = tf.assign(raw("TemporaryVariable", shape=[2], dtype=tf.float32), [1.0, 2.0])
    first = raw("DestroyTemporaryVariable", ref=scratch, var_name="TemporaryVariable")
    with tf.control_dependencies([first]):
        second = raw("DestroyTemporaryVariable", ref=scratch, var_name="TemporaryVariable")
    with tf.Session() as sess:
        np.testing.assert_array_equal(sess.run(first), [1, 2])
        with pytest.raises(tf.errors.NotFoundError, match="Resource TemporaryVariable does not exist"):
            sess.run(second)
        with pytest.raises(tf.errors.NotFoundError, match="is called TemporaryVariable"):
            sess.run(raw("DestroyTemporaryVariable", ref=scratch, var_name="another"))


def test_destroyed_resources_are_gone():
    v = tf.Variable([1.0], use_resource=True)
    with started(v) as sess:
        sess.run(raw("DestroyResourceOp", resource=v.handle))
        with pytest.raises(tf.errors.FailedPreconditionError):
            sess.run(v)
        with pytest.raises(tf.errors.NotFoundError):
            sess.run(raw("DestroyResourceOp", resource=v.handle, ignore_lookup_error=False))


# ------------------------------------------------------------------------------------------ handles know


def test_handles_carry_the_shape_of_their_variable(graph):
    v = tf.Variable(np.zeros([4, 3], np.float32), use_resource=True)
    passed_on = tf.identity(v.handle)
    assert raw("ReadVariableOp", resource=passed_on, dtype=tf.float32).shape.as_list() == [4, 3]
    assert tf.gather(v, [[1, 2]]).shape.as_list() == [1, 2, 3]
    with tf.Graph().as_default() as imported:
        tf.import_graph_def(graph.as_graph_def(), name="")
    assert imported.get_tensor_by_name("Variable/Read/ReadVariableOp:0").shape.as_list() == [4, 3]


def test_gradient_of_a_gather_is_sparse():
    v = tf.Variable(np.arange(8, dtype=np.float32).reshape(4, 2), use_resource=True)
    rows = tf.gather(v, [[3, 0], [3, 3]])
    (slices,) = tf.gradients(tf.reduce_sum(rows * rows), [v])
    assert isinstance(slices, tf.IndexedSlices)
    with started(v) as sess:
        found = sess.run(slices)
    np.testing.assert_array_equal(found.indices, [3, 0, 3, 3])
    np.testing.assert_array_equal(found.values, [[12, 14], [0, 2], [12, 14], [12, 14]])
    np.testing.assert_array_equal(found.dense_shape, [4, 2])


def test_same_shape_names_the_axis():
    with pytest.raises(ValueError, match=r"Dimension 1 .* are 2 and 5. Shapes are \[\?,2\] and \[3,5\]"):
        same_shape(tf.TensorShape([None, 2]), tf.TensorShape([3, 5]))
    assert same_shape(tf.TensorShape([None, 2]), tf.TensorShape([3, None])).as_list() == [
        3,
        2,
    ]


def test_the_older_op_of_a_variable():
    """A scalar shape stood for a shape that is not known."""
    with tf.Graph().as_default(), tf.Session() as session:
        ref = tf.raw_ops.Variable(shape=[], dtype=tf.float32)
        assert ref.shape.ndims is None
        session.run(tf.raw_ops.Assign(ref=ref, value=[1.0, 2.0], validate_shape=False))
        assert session.run(tf.identity(ref)).tolist() == [1.0, 2.0]
        assert tf.raw_ops.Variable(shape=[2], dtype=tf.float32).shape.as_list() == [2]
