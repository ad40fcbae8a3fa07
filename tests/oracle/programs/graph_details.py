"""Graphs as libraries use them: what is imported where, versions, threads, copies, names inside of Graph."""

import copy
import threading

from kit import cases, raises


def _exported(tf):
    with tf.Graph().as_default():
        x, v = tf.placeholder(tf.float32, [], name="x"), tf.Variable(2.0, name="v")
        tf.multiply(x, v, name="y")
        return tf.train.export_meta_graph()


def a_meta_graph_into_another_graph(tf, np):
    meta_graph, graph = _exported(tf), tf.Graph()
    saver = tf.train.import_meta_graph(meta_graph, graph=graph, import_scope="s")
    with graph.as_default():
        known = [v.name for v in tf.global_variables()]
    here = tf.get_default_graph().get_operations()
    return [saver is None, len(here), sorted(op.name for op in graph.get_operations()), known]


def collections_of_a_meta_graph_are_chosen(tf, np):
    meta_graph = _exported(tf)
    tf.train.import_meta_graph(meta_graph, restore_collections_predicate=lambda key: key == "variables")
    return [[v.name for v in tf.global_variables()], tf.trainable_variables()]


@cases(
    (134, 0, ()),
    (21, 12, (1,)),
    (-1, 0, ()),
    (234, 0, ()),
    (134, 135, ()),
    (134, 0, (134,)),
    (134, 0, (135,)),
)
def versions_of_graph_defs(tf, np, producer, min_consumer, bad_consumers):
    with tf.Graph().as_default() as graph:
        tf.constant(1.0)
    graph_def = graph.as_graph_def()
    graph_def.versions.producer, graph_def.versions.min_consumer = producer, min_consumer
    graph_def.versions.bad_consumers.extend(bad_consumers)
    failure = raises(tf.import_graph_def, graph_def)
    versions = tf.get_default_graph().graph_def_versions
    return [failure, versions.producer, versions.min_consumer, list(versions.bad_consumers)]


def copies_of_variables(tf, np):
    reference, resource = tf.Variable(1.0), tf.get_variable("w", initializer=2.0, use_resource=True)
    return [
        raises(copy.deepcopy, reference),
        raises(copy.deepcopy, resource),
        raises(copy.deepcopy, {"a": [resource]}),
        copy.copy(resource).name,
    ]


@cases("/", "//", "a//b", "/a", "a b", "_a", "a\\b", "a/")
def names_of_scopes(tf, np, name):
    def scoped():
        with tf.name_scope(name) as scope:
            return [scope, tf.constant(1.0).name]

    failure = raises(scoped)
    return scoped() if failure == "no error" else failure


def _in_a_thread(function):
    found = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


@cases("device", "control", "colocation", "name", "variable scope")
def scopes_in_another_thread(tf, np, kind):
    graph = tf.get_default_graph()
    c = tf.constant(1.0, name="c")
    scope = {
        "device": lambda: tf.device("/cpu:0"),
        "control": lambda: tf.control_dependencies([c]),
        "colocation": lambda: graph.colocate_with(c),
        "name": lambda: tf.name_scope("a"),
        "variable scope": lambda: tf.variable_scope("a"),
    }[kind]

    def build():
        with graph.as_default():
            op = tf.constant(1.0).op
            return [op.name, op.device, [o.name for o in op.control_inputs], op.colocation_groups()]

    with scope():
        inside = _in_a_thread(build)
    return [inside, _in_a_thread(build)]


def graphs_belong_to_threads(tf, np):
    graph = tf.Graph()
    with graph.as_default():
        other = _in_a_thread(lambda: tf.get_default_graph() is graph)
    graph.switch_to_thread_local()

    def build():
        with graph.as_default():
            return tf.constant(1.0).device

    with graph.as_default(), tf.device("/cpu:0"):
        return [other, _in_a_thread(build), build()]


def names_inside_of_a_graph(tf, np):
    graph = tf.get_default_graph()
    with graph._kernel_label_map({"Identity": "special"}):
        labelled = tf.identity(1.0).op
    with graph._attr_scope({"_x": type(labelled.node_def.attr["T"])(s=b"q")}):
        marked = tf.identity(1.0).op
    with graph._original_op(labelled):
        derived = tf.identity(1.0).op
    return [
        labelled.get_attr("_kernel"),
        raises(marked.get_attr, "_kernel"),
        marked.get_attr("_x"),
        derived._original_op.name,
        graph._get_control_flow_context(),
        sorted(graph._nodes_by_name),
        graph._version,
        graph._building_function,
        graph._is_function("f"),
    ]


def one_graph_is_built_and_run_by_several_threads(tf, np):
    graph = tf.get_default_graph()
    x, v = tf.placeholder(tf.float32, []), tf.Variable(1.0)
    found, failures = [], []
    with tf.Session() as session:
        session.run(v.initializer)

        def work(k):
            try:
                with graph.as_default():
                    for i in range(8):
                        found.append((k, i, float(session.run(x * float(k) + float(i) + v, {x: 2.0}))))
            except Exception as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return [sorted(found), len(failures)]


@cases("none", "tree", "accumulate")
def places_of_summed_gradients(tf, np, method):
    with tf.device("/cpu:0"):
        x = tf.constant([1.0, 2.0], name="x")
    methods = {
        "none": None,
        "tree": tf.AggregationMethod.EXPERIMENTAL_TREE,
        "accumulate": tf.AggregationMethod.EXPERIMENTAL_ACCUMULATE_N,
    }
    found = []
    for colocate in (False, True):
        y = [tf.square(x), tf.exp(x), tf.sin(x)]
        total = tf.gradients(y, x, colocate_gradients_with_ops=colocate, aggregation_method=methods[method])[
            0
        ].op
        found.append([total.type, total.device, total.colocation_groups(), [i.device for i in total.inputs]])
    return found
