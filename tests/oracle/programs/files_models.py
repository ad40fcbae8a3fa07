"""Models that are exported and served: several signatures, vocabularies, frozen graphs."""

import os

from kit import cases, graph, names, raises
from supervised import folder_of_its_own, logged


def _vocabulary(folder):
    path = os.path.join(folder, "words.txt")
    with open(path, "w") as file:
        file.write("cat\ndog\nfish\n")
    return path


def _signatures(tf, np, folder):
    """Of words: their vectors, classes and scores; and of a sparse tensor."""
    words = tf.constant(_vocabulary(folder), name="vocabulary")
    s = tf.placeholder(tf.string, [None], name="s")
    ids = tf.contrib.lookup.index_table_from_file(words, num_oov_buckets=1).lookup(s)
    back = tf.contrib.lookup.index_to_string_table_from_file(words).lookup(ids)
    table = tf.get_variable("table", initializer=np.arange(8.0).reshape(4, 2).astype("f"))
    cut = tf.fixed_size_partitioner(2)
    more = tf.get_variable("more", [4, 2], initializer=tf.ones_initializer(), partitioner=cut)
    vectors = tf.nn.embedding_lookup(table, ids) + tf.nn.embedding_lookup(more, ids, "div")
    sparse = tf.sparse_placeholder(tf.float32, name="sparse")
    count = tf.Variable(0, collections=[tf.GraphKeys.LOCAL_VARIABLES], name="count")
    tf.assign_add(count, 1, name="counted")
    info, utils = tf.saved_model.utils.build_tensor_info, tf.saved_model.signature_def_utils
    score = tf.identity(tf.sparse_reduce_sum(sparse), name="score")
    return {
        "serving_default": utils.predict_signature_def({"s": s}, {"vec": tf.identity(vectors, name="vec")}),
        "classify": utils.classification_signature_def(s, back, tf.cast(ids, tf.float32)[:, None]),
        "regress": utils.regression_signature_def(s, tf.reduce_sum(vectors, 1)),
        "sparse": utils.build_signature_def({"in": info(sparse)}, {"out": info(score)}, "any"),
    }


def _started_by(tf, how):
    if how == "main_op":
        return dict(main_op=tf.saved_model.main_op.main_op())
    group = tf.group(tf.tables_initializer(), tf.local_variables_initializer())
    return {"legacy": dict(legacy_init_op=group), "nothing": {}}[how]


@cases("main_op", "legacy", "nothing")
def a_model_that_moves(tf, np, how):
    with folder_of_its_own() as folder:
        with tf.Graph().as_default(), tf.Session() as session:
            signatures = _signatures(tf, np, folder)
            session.run(tf.global_variables_initializer())
            builder = tf.saved_model.builder.SavedModelBuilder(folder + "/m")
            assets = tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS)
            tags = [tf.saved_model.tag_constants.SERVING, "cpu"]
            builder.add_meta_graph_and_variables(
                session, tags, signatures, assets_collection=assets, **_started_by(tf, how)
            )
            builder.add_meta_graph(["train"], {"t": signatures["sparse"]})
            builder.save()
        os.rename(folder + "/m", folder + "/moved")
        os.remove(folder + "/words.txt")
        with tf.Graph().as_default(), tf.Session() as session:
            message = tf.saved_model.loader.load(session, ["cpu", "serve"], folder + "/moved")
            feeds = {"s:0": ["dog", "cow"]}
            if how == "nothing":
                return raises(session.run, "vec:0", feeds)
            sparse = message.signature_def["sparse"].inputs["in"]
            parts = sparse.coo_sparse
            of_sparse = {
                parts.indices_tensor_name: [[0, 1]],
                parts.values_tensor_name: [3.0],
                parts.dense_shape_tensor_name: [2, 2],
            }
            return [
                session.run(["vec:0", "counted:0"], feeds),
                session.run("score:0", of_sparse),
                tf.saved_model.utils.get_tensor_from_tensor_info(sparse),
                [asset.filename for asset in message.asset_file_def],
                sorted(message.collection_def),
                graph(tf, ["T", "dtype", "shape"]),
            ]


def a_model_in_two_scopes(tf, np):
    with folder_of_its_own() as folder:
        with tf.Graph().as_default(), tf.Session() as session:
            x = tf.placeholder(tf.float32, [2], "x")
            v = tf.get_variable("v", initializer=[1.0, 2.0])
            session.run(v.initializer)
            tf.saved_model.simple_save(session, folder + "/m", {"x": x}, {"y": tf.multiply(x, v, name="y")})
        with tf.Session() as session:
            given = {"x:0": tf.constant([10.0, 20.0])}
            load = tf.saved_model.loader.load
            load(session, ["serve"], folder + "/m", import_scope="one", input_map=given)
            load(session, ["serve"], folder + "/m", import_scope="two")
            values = session.run(["one/y:0", "two/y:0"], {"two/x:0": [1.0, 1.0]})
            return [values, names(tf), tf.global_variables()]


@cases("none", "empty", "one")
def what_is_said(tf, np, assets):
    with folder_of_its_own() as folder, logged(tf, folder) as said:
        with tf.Graph().as_default(), tf.Session() as session:
            v = tf.get_variable("v", initializer=1.0)
            session.run(v.initializer)
            path = tf.constant(_vocabulary(folder))
            given = {"none": None, "empty": [], "one": [path]}[assets]
            builder = tf.saved_model.builder.SavedModelBuilder(folder + "/m")
            builder.add_meta_graph_and_variables(session, ["serve"], assets_collection=given)
            builder.add_meta_graph(["other"])
            builder.save()
        with tf.Graph().as_default(), tf.Session() as session:
            tf.saved_model.loader.load(session, ["serve"], folder + "/m")
        with tf.Graph().as_default(), tf.Session() as session:
            one, two = {"a": tf.constant(1)}, {"b": tf.constant(2)}
            tf.saved_model.simple_save(session, folder + "/plain", one, two)
        with tf.Graph().as_default(), tf.Session() as session:
            tf.saved_model.loader.load(session, ["serve"], folder + "/plain")
    return said


def _network(tf, x):
    training = tf.placeholder_with_default(False, [], name="training")
    x = tf.layers.conv2d(x, 3, 3, name="c", kernel_initializer=tf.constant_initializer(0.1))
    x = tf.nn.relu(tf.layers.batch_normalization(x, training=training, name="bn"))
    x = tf.layers.dropout(tf.layers.flatten(x), 0.5, training=training)
    x = tf.layers.dense(x, 2, name="d", kernel_initializer=tf.constant_initializer(0.01))
    return tf.nn.softmax(x, name="probs")


def _nodes(graph_def):
    return sorted((node.name, node.op, list(node.input)) for node in graph_def.node)


@cases(False, True)
def frozen(tf, np, resource):
    x = tf.placeholder(tf.float32, [None, 8, 8, 1], name="x")
    with tf.variable_scope("", use_resource=resource):
        y = _network(tf, x)
    image = np.linspace(0, 1, 128).reshape(2, 8, 8, 1).astype("f")
    whole = tf.get_default_graph().as_graph_def()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        wanted = session.run(y, {x: image})
        constant = tf.graph_util.convert_variables_to_constants(session, whole, ["probs"])
    serving = tf.graph_util.remove_training_nodes(constant)
    with folder_of_its_own() as folder:
        path = tf.train.write_graph(serving, folder, "g.pb", as_text=False)
        read = tf.GraphDef()
        with tf.gfile.GFile(path, "rb") as file:
            read.ParseFromString(file.read())
    with tf.Graph().as_default(), tf.Session() as session:
        (z,) = tf.import_graph_def(read, return_elements=["probs:0"])
        return [wanted, session.run(z, {"import/x:0": image}), _nodes(constant), _nodes(serving)]


def frozen_loops(tf, np):
    v = tf.get_variable("v", initializer=2.0)
    r = tf.get_variable("r", initializer=3.0, use_resource=True)
    n = tf.placeholder_with_default(3, [], name="n")
    _, y = tf.while_loop(lambda i, a: i < n, lambda i, a: [i + 1, a * v + r], [0, 1.0])
    y = tf.identity(tf.cond(y > 10.0, lambda: y + v, lambda: y - r), name="y")
    whole = tf.get_default_graph().as_graph_def()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        wanted = session.run(y)
        constant = tf.graph_util.convert_variables_to_constants(session, whole, ["y"])
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(constant, name="")
        return [wanted, session.run("y:0"), session.run("y:0", {"n:0": 1}), _nodes(constant)]
