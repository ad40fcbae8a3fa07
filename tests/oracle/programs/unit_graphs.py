"""Graphs as TensorFlow's unit tests of operations and imports build and refuse them."""

import importlib

from google.protobuf import text_format
from kit import raises


def _module(tf, name):
    """An inner module; under Tideflow, what stands for it."""
    if tf.__name__ == "tideflow":
        from tideflow.programs.finder import Facade

        return Facade(f"tensorflow.python.{name}")
    return importlib.import_module(f"tensorflow.python.{name}")


def operations_of_node_defs(tf, np):
    ops = _module(tf, "framework.ops")
    graph, node = tf.get_default_graph(), ops._NodeDef
    _module(tf, "framework.test_ops")
    one = tf.constant(1, name="one")
    made = tf.Operation(node("Identity", "same"), graph, [one], [tf.int32], control_inputs=[one])
    return [
        made.outputs,
        made.name,
        made.control_inputs == [one.op],
        made._input_types,
        list(made._output_types),
        [op.name for op in one.op._control_outputs],
        raises(tf.Operation, 3, graph),
        raises(tf.Operation, node("NoOp", "a b"), graph),
        raises(tf.Operation, node("NoOp", "a"), 3),
        raises(tf.Operation, node("Identity", "a"), graph, [3]),
    ]


def _graph_def(tf, text, producer=27):
    message = tf.GraphDef()
    text_format.Merge(f"versions {{ producer: {producer} }}\n{text}", message)
    return message


def imports_that_are_refused(tf, np):
    def refused(text, producer=27, **arguments):
        with tf.Graph().as_default():
            return raises(tf.import_graph_def, _graph_def(tf, text, producer), **arguments)

    group = "attr { key: '_class' value { list { s: 'loc:@B' } } }"
    shape = "attr { key: '_output_shapes' value { list { shape { dim { size: 2 } } } } }"
    placeholder = "attr { key: 'dtype' value { type: DT_INT32 } }"
    of_one = "attr { key: 'shape' value { shape { dim { size: 1 } } } }"
    return [
        refused(f"node {{ name: 'A' op: 'NoOp' {group} }}"),
        refused(f"node {{ name: 'A' op: 'Placeholder' {placeholder} {of_one} {shape} }}"),
        refused("", input_map={"a:0": 1}, name=""),
    ]


def devices_of_imported_groups(tf, np):
    text = "node { name: 'A' op: 'NoOp' } node { name: 'B' op: 'NoOp' "
    text += "attr { key: '_class' value { list { s: 'loc:@A' } } } }"
    with tf.device(lambda op: "/device:A:0" if op.name.endswith("A") else "/device:B:0"):
        both = tf.import_graph_def(_graph_def(tf, text), return_elements=["A", "B"], name="in")
    return [(op.device, op.colocation_groups()) for op in both]


def labels_of_kernels(tf, np):
    test_ops, graph = _module(tf, "framework.test_ops"), tf.get_default_graph()
    made = []
    for label in ("overload_1", "overload_2", ""):
        with graph._kernel_label_map({"KernelLabel": label}):
            made.append(test_ops.kernel_label())
    with tf.Session() as session:
        return session.run(made)


def resources_that_nobody_makes(tf, np):
    test_ops = _module(tf, "framework.test_ops")
    handle = test_ops.stub_resource_handle_op(container="a", shared_name="b")
    with tf.Session() as session:
        before = session.run(test_ops.resource_initialized_op(handle))
        unmade = raises(session.run, test_ops.resource_using_op(handle))
        session.run(test_ops.resource_create_op(handle))
        return [before, unmade, session.run(test_ops.resource_initialized_op(handle))]


def values_that_become_no_tensors(tf, np):
    ops = _module(tf, "framework.ops")

    class Always2:
        pass

    tf.register_tensor_conversion_function(
        Always2, lambda value, dtype=None, name=None, as_ref=False: tf.constant(2.0)
    )
    first, scope = tf.constant(1), tf.get_default_graph()
    with tf.Graph().as_default():
        other = tf.constant(2)
    return [
        raises(tf.convert_to_tensor, Always2(), preferred_dtype=tf.int32),
        raises(tf.convert_to_tensor, (1, (2, 3))),
        raises(tf.convert_to_tensor, [1, [2, 3]], tf.int32),
        raises(tf.convert_to_tensor, tf.TensorShape(None)),
        raises(tf.convert_to_tensor, tf.Dimension(None)),
        raises(lambda: tf.name_scope("s", values=[first, other]).__enter__()),
        raises(lambda: scope._attr_scope(3).__enter__()),
        ops.convert_n_to_tensor_or_indexed_slices([1, None])[1:],
        raises(ops.internal_convert_to_tensor_or_indexed_slices, first, dtype=tf.float32),
        raises(ops.register_proto_function, "variables"),
    ]


def imports_beside_what_a_graph_has(tf, np):
    node = "node {{ name: '{}' op: 'NoOp' device: '{}' attr {{ key: '_class' value {{ list {{ {} }} }} }} }}"
    groups = ["a", "b", "c"]
    text = node.format("c", "/device:CPU:0", "s: 'loc:@a' s: 'loc:@b'") + node.format("a", "", "s: 'loc:@a'")
    text += node.format("b", "/device:GPU:1", "s: 'own'")
    with tf.name_scope("a"):
        pass
    with tf.name_scope("b"):
        tf.no_op()
    found = []
    for name in ("", "", "in"):
        made = tf.import_graph_def(_graph_def(tf, text), return_elements=groups, name=name)
        found += [(op.name, op.device, op.colocation_groups()) for op in made]
    return found


def a_loop_imported_into_a_branch(tf, np):
    with tf.Graph().as_default() as graph:
        counted = tf.while_loop(lambda i: i < 10, lambda i: i + 1, [0])
    pred = tf.placeholder(tf.bool)

    def imported():
        return tf.import_graph_def(graph.as_graph_def(), return_elements=[counted.name])[0]

    out = tf.cond(pred, imported, lambda: tf.constant(1))
    with tf.Session() as session:
        return [session.run(out, {pred: value}) for value in (True, False)]


def scopes_that_end_too_early(tf, np):
    x = tf.constant(1.0)
    both = tf.add(x, x, name="both")
    outer = tf.device("/cpu:0")
    outer.__enter__()
    with tf.device("/cpu:1"):
        refused = raises(outer.__exit__, None, None, None)
    with tf.Graph().as_default() as other:
        values = [tf.no_op(), tf.Variable(1.0), tf.SparseTensor([[0]], [1.0], [2])]
    entered = []
    for value in values:
        with tf.name_scope("s", values=[value]):
            entered.append(tf.get_default_graph() is other)
    return [[op.name for op in x.consumers()], both, refused, entered]


def modules_and_decorators(tf, np):
    inspect, decorator = _module(tf, "util.tf_inspect"), _module(tf, "util.tf_decorator")

    def inner(a, b=2, *rest, **options):
        return a

    def outer(*args):
        return inner(*args)

    model = tf.Module("m")
    model.rates = {"b": [0.5], "a": 2.0}
    model.inner = tf.Module("n")
    model.inner.rate = 3.0
    spec = inspect.ArgSpec(["x", "y"], None, None, (1,))
    made = decorator.make_decorator(inner, outer, "noted", "", spec)
    return [
        list(model._flatten(predicate=lambda value: isinstance(value, float), with_path=True)),
        list(model._flatten(recursive=False, predicate=lambda value: isinstance(value, float))),
        list(inspect.getargspec(inner)),
        list(inspect.getargspec(made)),
        list(inspect.getfullargspec(made)),
        inspect.getcallargs(made, 5),
        inspect.getcallargs(inner, 5, b=7),
        [inspect.isfunction(decorator.TFDecorator("n", each)) for each in (inner, tf.Module, 3)],
        inspect.isclass(decorator.TFDecorator("n", tf.Module)),
    ]
