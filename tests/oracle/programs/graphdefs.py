"""GraphDefs: what is exported, what an import does, and what it refuses."""

from kit import GraphNodes, cases, graph, names, raises, run


def _model(tf):
    """A small graph with a feed, a variable, a multi-output op and a control edge."""
    x = tf.placeholder(tf.float32, [None, 3], "x")
    w = tf.Variable([[1.0], [2.0], [3.0]], name="w")
    y = tf.matmul(x, w, name="y")
    parts = tf.split(x, 3, axis=1, name="parts")
    with tf.control_dependencies([y]):
        tf.add(parts[0], parts[2], name="sum")
    tf.global_variables_initializer()
    return tf.get_default_graph().as_graph_def()


def _exported(tf):
    with tf.Graph().as_default():
        return _model(tf)


def exported_graph(tf, np):
    return GraphNodes(_model(tf))


def round_trip_through_bytes(tf, np):
    definition = _exported(tf)
    again = tf.GraphDef()
    again.ParseFromString(definition.SerializeToString())
    tf.import_graph_def(again, name="")
    return graph(tf)


def round_trip_through_text(tf, np):
    from google.protobuf import text_format

    definition = tf.GraphDef()
    text_format.Merge(str(_exported(tf)), definition)
    tf.import_graph_def(definition, name="")
    return graph(tf)


def import_under_a_prefix(tf, np):
    tf.import_graph_def(_exported(tf))
    return graph(tf)


def import_returns_elements(tf, np):
    found = tf.import_graph_def(_exported(tf), return_elements=["y", "y:0", "parts:1", "sum"], name="p")
    return [found, tf.import_graph_def(_exported(tf))]


def import_runs(tf, np):
    init, x, y, total = tf.import_graph_def(_exported(tf), return_elements=["init", "x:0", "y:0", "sum:0"])
    with tf.Session() as session:
        session.run(init)
        return session.run([y, total], {x: np.arange(6.0).reshape(2, 3)})


def import_with_input_map(tf, np):
    x = tf.constant([[1.0, 2.0, 3.0]], name="mine")
    found = tf.import_graph_def(_exported(tf), {"x:0": x}, ["parts:2", "x"], name="m")
    return [run(tf, found[0]), found, graph(tf)]


def input_map_by_operation_name_and_output(tf, np):
    one = tf.constant([[10.0]], name="one")
    found = tf.import_graph_def(_exported(tf), {"x": tf.ones([1, 3]), "parts:2": one}, ["sum:0"])
    return [found[0].op, graph(tf, [])]


def input_map_mistakes(tf, np):
    definition = _exported(tf)
    return {
        "unused key": raises(tf.import_graph_def, definition, {"nothing:0": tf.constant(1.0)}),
        "wrong dtype": raises(tf.import_graph_def, definition, {"x:0": tf.constant([[1]])}),
        "not a dictionary": raises(tf.import_graph_def, definition, [1]),
        "bad key": raises(tf.import_graph_def, definition, {3: tf.constant(1.0)}),
        "prefix lost": raises(tf.import_graph_def, definition, {"x:0": 1.0}, name=""),
    }


def return_elements_mistakes(tf, np):
    definition = _exported(tf)
    return {
        "no such op": raises(tf.import_graph_def, definition, return_elements=["nothing"]),
        "no such output": raises(tf.import_graph_def, definition, return_elements=["y:5"]),
        "not names": raises(tf.import_graph_def, definition, return_elements=[3]),
    }


def import_inside_scopes_devices_and_controls(tf, np):
    with tf.Graph().as_default() as g:
        with tf.device("/cpu:0"):
            a = tf.constant(1.0, name="a")
        tf.identity(a, name="b")
    with tf.device("/job:worker"), tf.name_scope("s"), tf.control_dependencies([tf.no_op(name="before")]):
        tf.import_graph_def(g.as_graph_def(), name="in")
    return graph(tf)


def import_inside_colocation(tf, np):
    with tf.Graph().as_default() as g:
        tf.constant(1.0, name="a")
    with tf.device("/gpu:0"):
        anchor = tf.constant(0.0, name="anchor")
    with tf.colocate_with(anchor):
        tf.import_graph_def(g.as_graph_def(), name="in")
    return graph(tf)


def import_of_a_name_that_is_taken(tf, np):
    tf.constant(1.0, name="x")
    tf.import_graph_def(_exported(tf), name="")
    return names(tf)


def import_prefix_that_is_taken(tf, np):
    tf.constant(1.0, name="p/x")
    tf.import_graph_def(_exported(tf), name="p")
    return names(tf)


def colocation_classes_are_prefixed(tf, np):
    with tf.Graph().as_default() as g:
        a = tf.constant(1.0, name="a")
        with tf.colocate_with(a):
            tf.constant(2.0, name="b")
    tf.import_graph_def(g.as_graph_def(), name="p")
    return graph(tf)


def import_as_a_meta_graph_of_nothing(tf, np):
    return [tf.import_graph_def(tf.GraphDef()), names(tf)]


_NODES = {
    "unknown op type": 'node { name: "a" op: "NoSuchOpAnywhere" }',
    "no op type": 'node { name: "a" }',
    "no name": 'node { op: "NoOp" }',
    "missing attribute": 'node { name: "a" op: "Placeholder" }',
    "missing type": 'node { name: "a" op: "Identity" input: "b" } node { name: "b" op: "NoOp" }',
    "missing input node": """
        node { name: "a" op: "Neg" input: "b" attr { key: "T" value { type: DT_FLOAT } } }""",
    "missing control node": 'node { name: "a" op: "NoOp" input: "^b" }',
    "same name twice": 'node { name: "a" op: "NoOp" } node { name: "a" op: "NoOp" }',
    "bad name": 'node { name: "a b" op: "NoOp" }',
    "too many inputs": 'node { name: "a" op: "NoOp" } node { name: "b" op: "NoOp" input: "a" }',
    "control before data": """
        node { name: "p" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
        node { name: "n" op: "Neg" input: "^p" input: "p" attr { key: "T" value { type: DT_FLOAT } } }""",
    "unknown attribute": 'node { name: "a" op: "NoOp" attr { key: "what" value { i: 1 } } }',
    "attribute of a wrong kind": 'node { name: "a" op: "Placeholder" attr { key: "dtype" value { i: 1 } } }',
    "type not allowed": """
        node { name: "p" op: "Placeholder" attr { key: "dtype" value { type: DT_STRING } } }
        node { name: "n" op: "Neg" input: "p" attr { key: "T" value { type: DT_STRING } } }""",
    "types disagree": """
        node { name: "p" op: "Placeholder" attr { key: "dtype" value { type: DT_INT32 } } }
        node { name: "n" op: "Neg" input: "p" attr { key: "T" value { type: DT_FLOAT } } }""",
    "no such output": """
        node { name: "p" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
        node { name: "n" op: "Neg" input: "p:1" attr { key: "T" value { type: DT_FLOAT } } }""",
    "cycle": """
        node { name: "a" op: "Neg" input: "b" attr { key: "T" value { type: DT_FLOAT } } }
        node { name: "b" op: "Neg" input: "a" attr { key: "T" value { type: DT_FLOAT } } }""",
    "bad shapes": """
        node { name: "p" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
               attr { key: "shape" value { shape { dim { size: 2 } dim { size: 3 } } } } }
        node { name: "m" op: "MatMul" input: "p" input: "p" attr { key: "T" value { type: DT_FLOAT } } }""",
    "too few inputs": """
        node { name: "p" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
        node { name: "m" op: "MatMul" input: "p" attr { key: "T" value { type: DT_FLOAT } } }""",
}


def _parsed(tf, text):
    from google.protobuf import text_format

    definition = tf.GraphDef()
    text_format.Merge(text, definition)
    definition.versions.producer = 134
    return definition


@cases({key: (text,) for key, text in _NODES.items()})
def malformed(tf, np, text):
    before = tf.constant(1.0, name="kept")
    error = raises(tf.import_graph_def, _parsed(tf, text), name="imported")
    return [error, names(tf), run(tf, before)]


def wrong_types_of_arguments(tf, np):
    return [
        raises(tf.import_graph_def, "text"),
        raises(tf.import_graph_def, 3),
        raises(tf.import_graph_def, None),
    ]


def default_attributes_are_filled_in(tf, np):
    text = """
        node { name: "a" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
        node { name: "m" op: "MatMul" input: "a" input: "a" attr { key: "T" value { type: DT_FLOAT } } }
        node { name: "v" op: "VariableV2" attr { key: "dtype" value { type: DT_FLOAT } }
               attr { key: "shape" value { shape { dim { size: 2 } } } } }
        node { name: "b" op: "BiasAdd" input: "m" input: "v" attr { key: "T" value { type: DT_FLOAT } } }"""
    tf.import_graph_def(_parsed(tf, text), name="")
    return graph(tf)


def nodes_in_any_order(tf, np):
    text = """
        node { name: "late" op: "Neg" input: "early" attr { key: "T" value { type: DT_FLOAT } } }
        node { name: "early" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }"""
    y = tf.import_graph_def(_parsed(tf, text), return_elements=["late:0"], name="")[0]
    return [run(tf, y, {"early:0": 3.0}), graph(tf)]


def underscore_attributes_are_kept(tf, np):
    text = 'node { name: "a" op: "NoOp" attr { key: "_mine" value { s: "kept" } } }'
    tf.import_graph_def(_parsed(tf, text), name="")
    return graph(tf)


def old_graphs_without_version(tf, np):
    text = 'node { name: "a" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }'
    definition = _parsed(tf, text)
    definition.ClearField("versions")
    return tf.import_graph_def(definition, return_elements=["a:0"])[0]


def graph_from_the_future(tf, np):
    definition = _parsed(tf, 'node { name: "a" op: "NoOp" }')
    definition.versions.min_consumer = 100000
    return raises(tf.import_graph_def, definition)


def tensors_written_in_every_way(tf, np):
    text = """
        node { name: "filled" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "value"
          value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 2 } dim { size: 2 } }
                           float_val: 1.5 } } } }
        node { name: "part" op: "Const" attr { key: "dtype" value { type: DT_INT32 } } attr { key: "value"
          value { tensor { dtype: DT_INT32 tensor_shape { dim { size: 4 } } int_val: 1 int_val: 2 } } } }
        node { name: "bytes" op: "Const" attr { key: "dtype" value { type: DT_INT64 } } attr { key: "value"
          value { tensor { dtype: DT_INT64 tensor_shape { dim { size: 1 } }
                           tensor_content: "\\005\\000\\000\\000\\000\\000\\000\\000" } } } }
        node { name: "half" op: "Const" attr { key: "dtype" value { type: DT_HALF } } attr { key: "value"
          value { tensor { dtype: DT_HALF tensor_shape { } half_val: 15360 } } } }
        node { name: "text" op: "Const" attr { key: "dtype" value { type: DT_STRING } } attr { key: "value"
          value { tensor { dtype: DT_STRING tensor_shape { dim { size: 2 } }
                           string_val: "a" string_val: "b" } } } }
        node { name: "flags" op: "Const" attr { key: "dtype" value { type: DT_BOOL } } attr { key: "value"
          value { tensor { dtype: DT_BOOL tensor_shape { dim { size: 2 } }
                           bool_val: true bool_val: false } } } }
        node { name: "complex" op: "Const" attr { key: "dtype" value { type: DT_COMPLEX64 } }
          attr { key: "value" value { tensor { dtype: DT_COMPLEX64 tensor_shape { }
                                               scomplex_val: 1 scomplex_val: 2 } } } }
        node { name: "empty" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "value"
          value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 0 } dim { size: 3 } } } } } }"""
    tf.import_graph_def(_parsed(tf, text), name="")
    keys = ["filled:0", "part:0", "bytes:0", "half:0", "text:0", "flags:0", "complex:0", "empty:0"]
    return run(tf, keys)


@cases(
    "float16",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "bool",
    "complex64",
    "complex128",
)
def tensor_protos(tf, np, dtype):
    values = np.array([[1, 0, 3], [4, 5, 1]]).astype(dtype)
    proto = tf.make_tensor_proto(values)
    return [tf.make_ndarray(proto), tf.as_dtype(proto.dtype), [d.size for d in proto.tensor_shape.dim]]


def tensor_protos_of_python_values(tf, np):
    made = [tf.make_tensor_proto(v) for v in (1, 1.5, True, "a", [1, 2], [[1.0]], ["x", "yz"], [])]
    filled = tf.make_tensor_proto(7, tf.float32, [2, 2])
    return [tf.make_ndarray(p) for p in made + [filled]]


def tensor_proto_mistakes(tf, np):
    return [
        raises(tf.make_tensor_proto, [1, 2, 3], shape=[2]),
        raises(tf.make_tensor_proto, 1.5, tf.int32),
        raises(tf.make_tensor_proto, "a", tf.float32),
        raises(tf.make_tensor_proto, None),
        raises(tf.make_tensor_proto, [[1], [2, 3]]),
    ]


def extract_sub_graph(tf, np):
    definition = _exported(tf)
    return GraphNodes(tf.graph_util.extract_sub_graph(definition, ["y"]))


def constants_from_variables(tf, np):
    x = tf.placeholder(tf.float32, [None, 2], "x")
    w = tf.get_variable("w", initializer=[[1.0], [2.0]])
    tf.matmul(x, w, name="y")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        frozen = tf.graph_util.convert_variables_to_constants(
            session, tf.get_default_graph().as_graph_def(), ["y"]
        )
    return GraphNodes(frozen)
