"""Names, scopes, control dependencies, collections and elements of a graph."""

import threading

import pytest

import tideflow as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def test_names_are_unique_within_their_scope():
    assert tf.constant(1, name="a").name == "a:0"
    assert tf.constant(1, name="a").name == "a_1:0"
    assert tf.constant(1, name="A").name == "A_2:0"  # case does not make a name different
    assert tf.constant(1, name="a_1").name == "a_1_1:0"
    with tf.name_scope("s"):
        assert tf.constant(1, name="a").name == "s/a:0"
    with tf.name_scope("s"):
        assert tf.constant(1, name="a").name == "s_1/a:0"
    with tf.name_scope("s/"):
        assert tf.constant(1, name="a").name == "s/a_1:0"


def test_name_scope_none_and_empty_go_back_to_the_top(graph):
    with graph.name_scope("outer"):
        for top in ("", None):
            with graph.name_scope(top) as scope:
                assert scope == ""
                assert tf.constant(1, name=f"x{top}").op.name == f"x{top}"


def test_name_scope_takes_the_default_name_where_none_is_given():
    with tf.name_scope(None, "default") as scope:
        assert scope == "default/"
    with pytest.raises(ValueError, match="At least one of name"), tf.name_scope(None, None, [tf.constant(1)]):
        pass


@pytest.mark.parametrize("name", ["a b", "_a", "-a", "a*"])
def test_names_that_are_not_valid_are_refused(name):
    with pytest.raises(ValueError, match="not a valid"):
        tf.constant(1, name=name)


def test_control_dependencies_nest_and_can_be_forgotten():
    a, b = tf.constant(1), tf.constant(2)
    with tf.control_dependencies([a]):
        c = tf.identity(b)
        with tf.control_dependencies([b]):
            d = tf.constant(3)
            with tf.control_dependencies(None):
                e = tf.constant(4)
        f = tf.identity(c)  # c waits for a already
    assert c.op.control_inputs == [a.op]
    assert d.op.control_inputs == [a.op, b.op]
    assert e.op.control_inputs == []
    assert f.op.control_inputs == []


def test_devices_merge_from_the_inside_out():
    with tf.device("/job:ps"), tf.device("/device:CPU:1"):
        a = tf.constant(1)
        with tf.device(None):
            b = tf.constant(2)
        with tf.device("/cpu:0"):
            c = tf.constant(3)
    assert (a.device, b.device, c.device) == ("/job:ps/device:CPU:1", "", "/job:ps/device:CPU:0")


def test_device_functions_see_the_operation():
    with tf.device(lambda op: "/gpu:0" if op.type == "Identity" else "/cpu:0"):
        a = tf.identity(1.0)
    assert a.device == "/device:GPU:0"
    assert a.op.inputs[0].device == "/device:CPU:0"


def test_colocation_takes_the_other_ops_device_and_group():
    with tf.device("/cpu:1"):
        a = tf.constant(1, name="a")
    with tf.device("/gpu:0"), tf.colocate_with(a):
        b = tf.constant(2)
    assert b.device == "/device:CPU:1"
    assert b.op.colocation_groups() == [b"loc:@a"]
    assert a.op.colocation_groups() == [b"loc:@a"]


def test_elements_by_name(graph):
    a = tf.constant(1, name="a")
    assert graph.get_tensor_by_name("a:0") is a
    assert graph.get_operation_by_name("a") is a.op
    assert graph.as_graph_element(a) is a
    with pytest.raises(KeyError, match="does not exist"):
        graph.get_tensor_by_name("b:0")
    with pytest.raises(KeyError, match="only has 1 outputs"):
        graph.get_tensor_by_name("a:1")
    with pytest.raises(ValueError, match="Perhaps you meant"):
        graph.get_tensor_by_name("a")
    with pytest.raises(ValueError, match="not an element of this graph"):
        tf.Graph().as_graph_element(a)
    with pytest.raises(TypeError, match="Can not convert a int"):
        graph.as_graph_element(3)


def test_a_missing_name_suggests_the_nearest(graph):
    tf.constant(1, name="weights")
    with pytest.raises(KeyError, match="Did you mean 'weights'"):
        graph.get_operation_by_name("weihts")


def test_collections_filter_by_scope():
    with tf.name_scope("one"):
        a = tf.constant(1)
    b = tf.constant(2)
    tf.add_to_collection("k", a)
    tf.add_to_collection("k", b)
    assert tf.get_collection("k") == [a, b]
    assert tf.get_collection("k", scope="one") == [a]
    tf.get_collection_ref("k").clear()
    assert tf.get_collection("k") == []


def test_a_finalized_graph_refuses_new_operations(graph):
    graph.finalize()
    with pytest.raises(RuntimeError, match="finalized"):
        tf.constant(1)


def test_scopes_belong_to_their_thread(graph):
    names = []

    def build():
        with graph.as_default():
            names.append(tf.constant(1, name="x").op.name)

    with tf.name_scope("main"):
        thread = threading.Thread(target=build)
        thread.start()
        thread.join()
    assert names == ["x"]


def test_inputs_of_two_graphs_are_refused():
    a = tf.constant(1.0)
    with tf.Graph().as_default():
        b = tf.constant(1.0)
        with pytest.raises(ValueError, match="same graph"):
            tf.identity_n([b, a])


def test_operations_remember_the_users_line():
    op = tf.constant(1).op
    assert op.user_line.startswith(__file__)
    assert op.traceback[-1][2] == "test_operations_remember_the_users_line"


def test_seeds_follow_the_graphs_and_the_ops():
    assert tf.get_seed(None) == (None, None)
    assert tf.get_seed(7) == (87654321, 7)
    tf.set_random_seed(3)
    assert tf.get_seed(None) == (3, 0)
    tf.constant(1)
    assert tf.get_seed(None) == (3, 1)
    assert tf.get_seed(5) == (3, 5)


def test_tensors_are_neither_booleans_nor_iterable():
    x = tf.placeholder(tf.float32)
    with pytest.raises(TypeError, match="Python `bool`"):
        bool(x)
    with pytest.raises(TypeError, match="iterating over"):
        iter(x)
    assert x == x and x != tf.placeholder(tf.float32)
    assert len({x, x}) == 1


def in_a_thread(graph, function):
    found = []

    def work():
        with graph.as_default():
            found.append(function())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return found[0]


def test_a_thread_begins_in_the_scopes_of_the_first_one(graph):
    c = tf.constant(1.0, name="c")
    with tf.device("/cpu:0"), tf.control_dependencies([c]), tf.name_scope("s"):
        op = in_a_thread(graph, lambda: tf.constant(2.0, name="d").op)
    assert (op.name, op.device, op.control_inputs) == ("d", "/device:CPU:0", [c.op])
    assert in_a_thread(graph, lambda: tf.constant(2.0).device) == ""


def test_after_the_switch_threads_begin_where_it_was(graph):
    graph.switch_to_thread_local()
    with tf.device("/cpu:0"):
        assert tf.constant(1.0).device == "/device:CPU:0"
        assert in_a_thread(graph, lambda: tf.constant(1.0).device) == ""


def test_kernel_labels_and_original_operations(graph):
    with graph._kernel_label_map({"Identity": "special"}):
        labelled = tf.identity(1.0).op
    assert labelled.get_attr("_kernel") == b"special"
    with graph._original_op(labelled):
        assert tf.identity(1.0).op._original_op is labelled
    x = tf.constant(2.0)
    square = tf.square(x)
    assert tf.gradients(square, x)[0].op._original_op is square.op
    assert graph._nodes_by_name[labelled.name] is labelled


@pytest.mark.parametrize("name", ["/", "//", "/a", "a\\b"])
def test_scope_names_that_are_refused(name):
    with pytest.raises(ValueError, match="not a valid scope name"), tf.name_scope(name):
        pass


def test_a_graph_says_what_it_is():
    graph = tf.Graph()
    assert repr(graph) == f"<Graph at {id(graph):#x}: 0 operations>"
    with graph.as_default():
        tf.constant(1.0)
    assert repr(graph).endswith(": 1 operation>")
    with graph.as_default():
        tf.add_n([tf.constant(1.0), tf.constant(2.0)])
    shown = graph._repr_html_()
    assert (
        "4 operations" in shown and "<td>Const</td><td>3</td>" in shown and "<td>AddN</td><td>1</td>" in shown
    )
    assert f"&lt;Graph at {id(graph):#x}" in shown and "more type" not in shown


def test_a_notebook_shows_the_commonest_types():
    with tf.Graph().as_default() as graph:
        x = tf.constant(1.0)
        for function in (
            "abs acos acosh asin asinh atan atanh ceil cos cosh erf erfc exp expm1 floor lgamma log log1p "
            "negative reciprocal rint round rsqrt sigmoid sign sin sinh sqrt square tan tanh"
        ).split():
            getattr(tf.math, function)(x)
    assert "<p>and 12 more types</p>" in graph._repr_html_()


def test_consumers_are_told_once_for_each_input(graph):
    x = tf.constant(1.0)
    both = tf.add(x, x)
    assert x.consumers() == [both.op, both.op]


def test_a_device_scope_that_ends_before_one_inside_of_it(graph):
    outer = graph.device("/cpu:0")
    outer.__enter__()
    with graph.device("/cpu:1"), pytest.raises(RuntimeError, match="without proper scope nesting"):
        outer.__exit__(None, None, None)


@pytest.mark.parametrize("kind", ["operation", "variable", "sparse"])
def test_a_name_scope_enters_the_graph_of_its_values(graph, kind):
    made = {
        "operation": lambda: tf.no_op(),
        "variable": lambda: tf.Variable(1.0),
        "sparse": lambda: tf.SparseTensor([[0]], [1.0], [2]),
    }[kind]
    with tf.Graph().as_default() as other:
        value = made()
    with tf.name_scope("s", values=[value]):
        assert tf.get_default_graph() is other
    assert tf.get_default_graph() is graph


def test_operations_and_tensors_show_their_parts_by_the_names_inside_tensorflow():
    x, first = tf.constant(1.0), tf.no_op()
    with tf.control_dependencies([first]):
        y = tf.identity(x)
    assert y._op is y.op and y.op._graph is tf.get_default_graph()
    assert y.op._inputs == [x] and y.op._outputs == [y] and y.op._control_inputs == [first]
