"""SavedModels and MetaGraphs: what is written and read back, signatures, contexts, and what is refused."""

import os
import shutil

from kit import GraphNodes, cases, graph, raises
from saved_files import Folder, message_text


def _without_places(graph_def):
    """A graph without the constants and names that say where files were when it was made."""
    result = type(graph_def)()
    result.CopyFrom(graph_def)
    for node in result.node:
        if "value" in node.attr and node.attr["dtype"].type == 7:
            del node.attr["value"]
        if "shared_name" in node.attr and b"/" in node.attr["shared_name"].s:
            del node.attr["shared_name"]
    return result


def _described(message, attrs=None):
    """What a MetaGraphDef says, its collections of messages by their number only."""
    collections = {}
    for key, collection in message.collection_def.items():
        kind = collection.WhichOneof("kind")
        values = getattr(collection, kind).value
        if kind == "any_list":
            values = [(v.type_url, v.value) for v in values]
        elif kind == "bytes_list":
            values = len(values)
        else:
            values = list(values)
        collections[key] = (kind, values)
    return {
        "collections": collections,
        "nodes": GraphNodes(_without_places(message.graph_def), attrs),
        "tags": list(message.meta_info_def.tags),
        "stripped": message.meta_info_def.stripped_default_attrs,
        "ops": [op.name for op in message.meta_info_def.stripped_op_list.op],
        "saver": message_text(message.saver_def),
        "signatures": {k: _sorted_signature(v) for k, v in message.signature_def.items()},
    }


def _sorted_signature(signature):
    return [
        signature.method_name,
        sorted((k, message_text(v)) for k, v in signature.inputs.items()),
        sorted((k, message_text(v)) for k, v in signature.outputs.items()),
    ]


def _model(tf, np, resource=False):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.get_variable("w", initializer=np.arange(6, dtype=np.float32).reshape(3, 2), use_resource=resource)
    with tf.device("/cpu:0"):
        b = tf.get_variable("b", initializer=np.float32([0.5, -0.5]), use_resource=resource)
    tf.get_variable("local", initializer=np.float32(3), collections=[tf.GraphKeys.LOCAL_VARIABLES])
    return x, tf.identity(tf.matmul(x, w) + b, name="y")


def _simple(tf, np, path, resource=False):
    with tf.Graph().as_default(), tf.Session() as sess:
        x, y = _model(tf, np, resource)
        sess.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(sess, path, {"in": x}, {"out": y})


@cases(False, True)
def simple_save(tf, np, resource):
    with Folder() as folder:
        _simple(tf, np, folder("m"), resource)
        with tf.Graph().as_default() as g, tf.Session() as sess:
            message = tf.saved_model.load(sess, [tf.saved_model.SERVING], folder("m"))
            signature = message.signature_def["serving_default"]
            x, y = signature.inputs["in"].name, signature.outputs["out"].name
            return {
                "files": folder.files(),
                "message": _described(message),
                "values": sess.run([y, g.get_collection("trainable_variables")[0]], {x: np.ones([2, 3])}),
                "collections": sorted(g.get_all_collection_keys()),
                "found": tf.saved_model.loader.maybe_saved_model_directory(folder("m")),
                "absent": tf.saved_model.contains_saved_model(folder("none")),
            }


@cases({"binary": (False, True, False), "text": (True, False, True)})
def builder(tf, np, as_text, strip, clear):
    """Two graphs over one set of variables, with assets, a main op and a table that reads one."""
    with Folder() as folder:
        source = folder.file("words", "a\nb\nc\n")
        os.mkdir(folder("other"))
        same, other = folder.file("other/words", "a\nb\nc\n"), folder.file("other/text", "t")
        b = tf.saved_model.builder.SavedModelBuilder(folder("m"))
        with tf.Graph().as_default(), tf.Session() as sess:
            x, y = _model(tf, np)
            paths = [tf.constant(p, name=n) for p, n in ((source, "p"), (same, "q"), (other, "r"))]
            table = tf.contrib.lookup.index_table_from_file(source)
            found = tf.identity(table.lookup(tf.constant(["b", "z"])), name="found")
            sess.run(tf.global_variables_initializer())
            b.add_meta_graph_and_variables(
                sess,
                ["serve", "gpu"],
                {"s": tf.saved_model.predict_signature_def({"x": x}, {"y": y, "found": found})},
                assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS) + paths,
                main_op=tf.tables_initializer(),
                clear_devices=clear,
                strip_default_attrs=strip,
            )
            again = raises(b.add_meta_graph_and_variables, sess, ["x"])
        with tf.Graph().as_default(), tf.Session() as sess:
            x, y = _model(tf, np)
            z = tf.multiply(y, 2.0, name="z")
            b.add_meta_graph(["train"], {"t": tf.saved_model.predict_signature_def({"x": x}, {"z": z})})
        path = b.save(as_text=as_text)
        shutil.rmtree(folder("other"))
        os.remove(source)
        results = [folder.shown(path), folder.files(), again]
        for tags, fetches in ((["gpu", "serve"], ["y:0", "found:0", "p:0"]), (["train"], ["z:0"])):
            for scope in (None, "in"):
                with tf.Graph().as_default() as g, tf.Session() as sess:
                    message = tf.saved_model.loader.load(sess, tags, folder("m"), import_scope=scope)
                    prefix = scope + "/" if scope else ""
                    feeds = {prefix + "x:0": np.ones([1, 3])}
                    values = [sess.run(prefix + f, feeds) for f in fetches if f != "p:0"]
                    # TensorFlow writes defaults, and the scope, into the message that it reads.
                    described = _described(message, ["T", "dtype", "shape", "_class", "_output_shapes"])
                    del described["saver"]
                    results += [values, described, sorted(g.get_all_collection_keys())]
        return results


def builder_errors(tf, np):
    with Folder() as folder:
        _simple(tf, np, folder("m"))
        build = tf.saved_model.Builder
        x, y = _model(tf, np)
        b = build(folder("n"))
        signature = tf.saved_model.predict_signature_def({"x": x}, {"y": y})
        nameless = type(signature)()
        nameless.inputs["x"].dtype = 1
        typeless = type(signature)()
        typeless.outputs["x"].name = "x"
        reserved = {"__saved_model_init_op": signature}
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())

            def add(**keywords):
                return raises(b.add_meta_graph_and_variables, sess, ["serve"], **keywords)

            return [
                raises(build, folder("m")),
                raises(b.add_meta_graph, ["serve"]),
                add(signature_def_map={"s": nameless}),
                add(signature_def_map={"s": typeless}),
                add(signature_def_map=reserved),
                add(signature_def_map={"__saved_model_train_op": signature}),
                add(assets_collection=["name"]),
                add(assets_collection=[x]),
                add(assets_collection=[tf.constant(3)]),
                add(assets_collection=[tf.constant(["a", "b"])]),
                add(assets_collection=[tf.constant("")]),
                add(assets_collection=[tf.constant(folder("absent"))]),
                add(main_op=y),
                add(main_op=tf.no_op()),
                add(main_op=tf.no_op()),
            ]


def load_errors(tf, np):
    with Folder() as folder:
        _simple(tf, np, folder("m"))
        os.mkdir(folder("junk"))
        folder.file("junk/saved_model.pb", "no message at all")
        os.mkdir(folder("text"))
        folder.file("text/saved_model.pbtxt", "no message at all")
        shutil.copytree(folder("m"), folder("bare"))
        shutil.rmtree(folder("bare/variables"))
        with tf.Session() as sess:

            def load(name, tags=("serve",)):
                return raises(tf.saved_model.load, sess, list(tags), folder(name))

            return [
                load("m", ["train"]),
                load("m", []),
                load("none"),
                load("junk").types,
                load("text").types,
                load("bare"),
            ]


def signatures(tf, np):
    sm = tf.saved_model
    text, number = tf.placeholder(tf.string, [None]), tf.placeholder(tf.float32, [None, 2])
    whole = tf.placeholder(tf.int32, [])
    sparse = tf.sparse.placeholder(tf.float32, [3, 4])
    made = [
        sm.regression_signature_def(text, number),
        sm.classification_signature_def(text, text, number),
        sm.classification_signature_def(text, None, number),
        sm.classification_signature_def(text, text, None),
        sm.predict_signature_def({"a": number, "s": sparse}, {"b": whole}),
        sm.build_signature_def(),
        sm.build_signature_def({"a": sm.build_tensor_info(number)}, method_name="m"),
    ]
    bad_output = sm.classification_signature_def(text, text, number)
    bad_output.outputs["more"].dtype = 1
    bad_input = sm.regression_signature_def(text, number)
    bad_input.inputs["inputs"].dtype = 1
    return [
        [_sorted_signature(s) for s in made],
        [sm.is_valid_signature(s) for s in made + [bad_output, bad_input, None]],
        raises(sm.regression_signature_def, None, number),
        raises(sm.regression_signature_def, 3, number),
        raises(sm.regression_signature_def, number, number),
        raises(sm.regression_signature_def, text, None),
        raises(sm.regression_signature_def, text, whole),
        raises(sm.classification_signature_def, None, text, number),
        raises(sm.classification_signature_def, 3, text, number),
        raises(sm.classification_signature_def, text, None, None),
        raises(sm.classification_signature_def, number, text, None),
        raises(sm.classification_signature_def, text, number, None),
        raises(sm.classification_signature_def, text, None, text),
        raises(sm.predict_signature_def, {}, {"b": whole}),
        raises(sm.predict_signature_def, {"b": whole}, None),
    ]


def tensor_infos(tf, np):
    sm = tf.saved_model
    values = {
        "dense": tf.placeholder(tf.int8, [None, 3]),
        "unknown": tf.placeholder(tf.complex64),
        "variable": tf.get_variable("v", [2], use_resource=True),
        "sparse": tf.sparse.placeholder(tf.string, [2, None]),
    }
    infos = {k: sm.build_tensor_info(v) for k, v in values.items()}
    ragged = sm.build_tensor_info(tf.ragged.constant([[[1, 2], [3]], []], name="rag"))
    slices = sm.build_tensor_info(tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]), tf.constant([3])))
    back = {k: sm.get_tensor_from_tensor_info(i) for k, i in infos.items() if k != "variable"}
    empty = type(ragged)()
    missing = type(ragged)(name="nowhere:0")
    with tf.name_scope("scope"):
        tf.placeholder(tf.int8, name="Placeholder")
    return [
        {k: message_text(v) for k, v in infos.items()},
        message_text(ragged),
        message_text(slices),
        back,
        sm.get_tensor_from_tensor_info(infos["dense"], tf.get_default_graph(), "scope"),
        raises(sm.get_tensor_from_tensor_info, empty),
        raises(sm.get_tensor_from_tensor_info, missing),
        raises(sm.build_tensor_info, 3),
    ]


def main_ops(tf, np):
    tf.get_variable("v", [2])
    tf.get_variable("l", [2], collections=["local_variables"])
    first = tf.saved_model.main_op.main_op()
    restore = tf.no_op(name="restore")
    second = tf.saved_model.main_op_with_restore(restore)
    return [first, second, graph(tf)]


# ------------------------------------------------------------------------------------- metagraphs


def _varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def _fields(data):
    """The fields of a message on the wire: numbers and bytes, by field."""
    at, found = 0, {}
    while at < len(data):
        tag, at = _varint(data, at)
        value, at = _varint(data, at)
        if tag & 7 == 2:
            value, at = data[at : at + value], at + value
        found.setdefault(tag >> 3, []).append(value)
    return found


def _context(data, is_loop):
    """A CondContextDef or WhileContextDef, with those inside of it."""
    fields = _fields(data)
    values = [_fields(v) for v in fields.pop(9 if is_loop else 5, [])]
    nested = [_fields(v) for v in fields.pop(12 if is_loop else 6, [])]
    return {
        "fields": {str(k): v for k, v in fields.items()},
        "values": [sorted({name.split(b":")[0] for name in v.get(1, [])}) for v in values],
        "external": [sorted(e[1][0] + b" " + e[2][0] for e in map(_fields, v.get(2, []))) for v in values],
        "nested": [_context(v, key == 2) for n in nested for key in n for v in n[key]],
    }


def _contexts(message):
    return {
        key: [_context(v, key == "while_context") for v in message.collection_def[key].bytes_list.value]
        for key in ("cond_context", "while_context")
        if key in message.collection_def
    }


def _loop(tf, x):
    return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x + 1.0), (0, x), name="loop")[1]


def _loop_in_loop(tf, x):
    def body(i, a):
        inner = tf.while_loop(lambda j, b: j < 2, lambda j, b: (j + 1, b * a * x), (0, a), name="inner")[1]
        return i + 1, inner

    return tf.while_loop(
        lambda i, a: i < 2, body, (0, x), name="outer", maximum_iterations=5, parallel_iterations=3
    )[1]


def _cond(tf, x):
    return tf.cond(x > 0.0, lambda: x * x, lambda: -x)


def _cond_in_cond(tf, x):
    y = x + 1.0
    return tf.cond(x > 0.0, lambda: tf.cond(y > 1.2, lambda: x * y, lambda: y), lambda: x)


def _cond_in_loop(tf, x):
    def body(i, a):
        return i + 1, tf.cond(i > 1, lambda: a * x, lambda: a + x * a)

    return tf.while_loop(lambda i, a: i < 4, body, (0, x))[1]


def _loop_in_cond(tf, x):
    return tf.cond(x > 0.0, lambda: _loop(tf, x), lambda: x)


def _sequence(tf, x):
    cell = tf.nn.rnn_cell.BasicRNNCell(2)
    inputs = tf.reshape(tf.stack([x, x * x, x + 1.0, x]), [1, 4, 1])
    w = tf.ones_initializer()
    with tf.variable_scope("s", initializer=w):
        return tf.reduce_sum(tf.nn.dynamic_rnn(cell, inputs, dtype=tf.float32)[0])


_FLOWS = (_loop, _loop_in_loop, _cond, _cond_in_cond, _cond_in_loop, _loop_in_cond, _sequence)


@cases({f.__name__[1:]: f for f in _FLOWS})
def contexts(tf, np, build):
    """What is exported of conditionals and loops, and gradients of what is imported."""
    x = tf.placeholder(tf.float32, [], name="x")
    tf.identity(build(tf, x), name="y")
    message = tf.train.export_meta_graph()
    found = [_contexts(message)]
    for scope in (None, "in"):
        with tf.Graph().as_default() as g, tf.Session() as sess:
            tf.train.import_meta_graph(message, import_scope=scope)
            prefix = scope + "/" if scope else ""
            x, y = (g.get_tensor_by_name(prefix + n) for n in ("x:0", "y:0"))
            slope = tf.gradients(y, x)[0]
            sess.run(tf.global_variables_initializer())
            found += [sess.run([y, slope], {x: v}) for v in (0.5, -0.5)]
            found += [graph(tf), _contexts(tf.train.export_meta_graph())]
    return found


def contexts_in_a_scope(tf, np):
    x = tf.placeholder(tf.float32, [], name="x")
    with tf.name_scope("part"):
        y = tf.identity(_loop(tf, tf.identity(x, name="x")), name="y")
    tf.identity(y, name="z")
    message = tf.train.export_meta_graph(export_scope="part")
    with tf.Graph().as_default() as g, tf.Session() as sess:
        x = tf.placeholder(tf.float32, [], name="other")
        unbound = raises(tf.train.import_meta_graph, message, import_scope="a")
        wrong = raises(tf.train.import_meta_graph, message, input_map={"x": x})
        for scope in ("a", "b"):
            tf.train.import_meta_graph(message, import_scope=scope, input_map={"$unbound_inputs_x": x})
        ys = [g.get_tensor_by_name(s + "/y:0") for s in "ab"]
        slopes = tf.gradients(ys, x)
        return [
            _contexts(message),
            sorted(message.collection_def),
            list(message.collection_def["unbound_inputs"].bytes_list.value),
            unbound,
            wrong,
            sess.run([ys, slopes], {x: 0.5}),
            graph(tf),
        ]


def scoped_variables(tf, np):
    """A scope with variables, an optimizer and queues of its own, imported twice."""
    with tf.name_scope("inputs"):
        x = tf.placeholder(tf.float32, [None, 2], name="x")
    with tf.variable_scope("net"):
        w = tf.get_variable("w", initializer=np.float32([[1.0], [2.0]]), use_resource=False)
        r = tf.get_variable("r", initializer=np.float32([3.0]), use_resource=True)
        with tf.colocate_with(w.op):
            tf.add(w, 1.0, name="beside")
        y = tf.add(tf.matmul(x, w), r, name="y")
    tf.add_to_collection("outs", y)
    tf.add_to_collection("outs", x)
    message = tf.train.export_meta_graph(export_scope="net", clear_devices=True)
    results = [_described(message)]
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 2])
        for scope in ("a", "a"):
            mapped = {name.decode(): x for name in message.collection_def["unbound_inputs"].bytes_list.value}
            saver = tf.train.import_meta_graph(message, import_scope=scope, input_map=mapped)
            results.append(None if saver is None else message_text(saver.as_saver_def()))
        sess.run(tf.global_variables_initializer())
        results += [
            [(v.name, v.trainable) for v in tf.global_variables()],
            [t.name for t in tf.get_collection("outs")],
            [sess.run(t, {x: [[1, 1]]}) for t in tf.get_collection("outs")],
            graph(tf),
        ]
    return results


def under_a_name_scope(tf, np):
    with tf.Graph().as_default():
        v = tf.get_variable("v", initializer=np.float32(2))
        tf.identity(v, name="y")
        tf.train.Saver()
        message = tf.train.Saver().export_meta_graph(clear_extraneous_savers=True)
    results = [_described(message)]
    for scope in (None, "in"):
        with tf.Graph().as_default(), tf.name_scope("outer"):
            saver = tf.train.import_meta_graph(message, import_scope=scope)
            results += [
                None
                if scope
                else message_text(saver.as_saver_def()),  # TensorFlow adds the outer scope twice
                [v.name for v in tf.global_variables()],
                [v is w for v, w in zip(tf.global_variables(), tf.trainable_variables())],
                graph(tf),
            ]
    return results


def collections(tf, np):
    c = tf.constant(1.0, name="c")
    v = tf.get_variable("v", [2])
    saver = tf.train.Saver()
    for key, items in {
        "mixed": [1, "a"],
        "mixed_names": [c, 3],
        "flags": [True, False],
        "objects": [object()],
        "empty": [],
        "nothing": [None],
        "bytes": [b"x", "y"],
        "dicts": [{"a": 1}],
        "savers": [saver],
        "variables_too": [v],
        3: ["keyed by a number"],
    }.items():
        for item in items:
            tf.add_to_collection(key, item)
    whole = tf.train.export_meta_graph()
    part = tf.train.export_meta_graph(collection_list=["bytes", "empty", "variables"])
    results = [_described(whole), _described(part)]
    for scope in (None, "in"):
        with tf.Graph().as_default():
            tf.train.import_meta_graph(whole, import_scope=scope)
            results += [
                tf.get_collection("flags"),
                tf.get_collection("bytes"),
                [s.as_saver_def().save_tensor_name for s in tf.get_collection("savers")],
                [t.name for t in tf.get_collection("variables_too")],
            ]
    with tf.Graph().as_default():
        tf.train.import_meta_graph(whole, restore_collections_predicate=lambda key: key == "bytes")
        results.append(sorted(tf.get_default_graph().get_all_collection_keys()))
    return results


# ------------------------------------------------------------------------------------- graph_util


def _net(tf, np, resource):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.get_variable("w", initializer=np.ones([3, 2], np.float32), use_resource=resource)
    e = tf.get_variable("e", initializer=np.ones([4, 2], np.float32), use_resource=resource)
    with tf.colocate_with(tf.constant([1.0, 2.0], name="beside").op):
        b = tf.identity(tf.nn.embedding_lookup(e, [1]), name="b")
    looped = tf.while_loop(
        lambda i, a: i < 2, lambda i, a: (i + 1, a + tf.matmul(x, w)), (0, tf.matmul(x, w))
    )[1]
    with tf.control_dependencies([tf.check_numerics(looped, "bad", name="checked")]):
        inner = tf.identity(looped)
    y = tf.identity(tf.identity(inner) + b, name="y")
    tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(y))
    return y


@cases(False, True)
def sub_graphs(tf, np, resource):
    _net(tf, np, resource)
    whole = tf.get_default_graph().as_graph_def()
    util = tf.graph_util
    return [
        GraphNodes(util.extract_sub_graph(whole, ["y"])),
        sorted(n.name for n in util.extract_sub_graph(whole, ["w", "GradientDescent"]).node),
        GraphNodes(util.remove_training_nodes(util.extract_sub_graph(whole, ["y"]))),
        GraphNodes(util.remove_training_nodes(util.extract_sub_graph(whole, ["y"]), ["y", "checked"])),
        raises(util.extract_sub_graph, whole, ["none"]),
        raises(util.extract_sub_graph, whole, "y"),
        raises(util.extract_sub_graph, 3, ["y"]),
        {op.name: util.must_run_on_cpu(op) for op in tf.get_default_graph().get_operations()},
        {n.name: util.must_run_on_cpu(n, pin_variables_on_cpu=True) for n in whole.node},
        util.tensor_shape_from_node_def_name(tf.get_default_graph(), "y"),
        util.tensor_shape_from_node_def_name(tf.get_default_graph(), "w:0"),
        raises(util.tensor_shape_from_node_def_name, tf.get_default_graph(), "none"),
    ]


@cases(False, True)
def frozen_graphs(tf, np, resource):
    y = _net(tf, np, resource)
    whole = tf.get_default_graph().as_graph_def()
    freeze = tf.graph_util.convert_variables_to_constants
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        expected = sess.run(y, {"x:0": np.ones([1, 3])})
        frozen = freeze(sess, whole, ["y"])
        results = [GraphNodes(frozen), raises(freeze, sess, whole, ["none"])]
        if not resource:  # TensorFlow takes away the reads of variables that are to stay
            results.append(GraphNodes(freeze(sess, whole, ["y"], variable_names_whitelist=["w"])))
            results.append(GraphNodes(freeze(sess, whole, ["y"], variable_names_blacklist=["w"])))
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.import_graph_def(frozen, name="")
        return results + [expected, sess.run("y:0", {"x:0": np.ones([1, 3])})]
