"""Savers and meta graphs as programs used them: what is written, said, and read without the code."""

import os

from kit import cases, graph, product, raises
from supervised import folder_of_its_own, logged


def _listing(folder):
    return sorted(os.listdir(folder))


def _names(paths):
    return [os.path.basename(path) for path in paths]


def _zeroed(variable):
    return variable.assign(variable * 0)


@cases("list", "parts", "named", "named parts", "set", "tuple")
def what_is_saved(tf, np, kind):
    a = tf.get_variable("a", initializer=[1.0, 2.0])
    b = tf.get_variable("b", initializer=[[3, 4]], use_resource=True)
    p = tf.get_variable("p", [6, 2], initializer=tf.ones_initializer(), partitioner=_in_three(tf))
    chosen = {
        "list": [a, p],
        "parts": list(p),
        "named": {"x/a": a, "y": p},
        "named parts": {"x": list(p), "q": b},
        "set": {a},
        "tuple": (a, b),
    }[kind]
    saver = tf.train.Saver(chosen)
    with folder_of_its_own() as folder, tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = saver.save(session, folder + "/m", global_step=7)
        session.run([_zeroed(v) for v in [a, b] + list(p)])
        saver.restore(session, path)
        values = session.run([a, b] + list(p))
        return [os.path.basename(path), tf.train.list_variables(path), values, graph(tf), _listing(folder)]


def _in_three(tf):
    return tf.fixed_size_partitioner(3)


@cases(*product(["Momentum", "Adam", "RMSProp", "Ftrl"], [False, True]))
def slots(tf, np, which, in_parts):
    with tf.variable_scope("net", partitioner=tf.fixed_size_partitioner(2) if in_parts else None):
        w = tf.get_variable("w", [4, 3], initializer=tf.ones_initializer())
    loss = tf.reduce_sum(tf.square(tf.convert_to_tensor(w)))
    make = getattr(tf.train, which + "Optimizer")
    optimizer = make(0.1, momentum=0.9) if which == "Momentum" else make(0.1)
    step = tf.train.get_or_create_global_step()
    train = optimizer.minimize(loss, global_step=step)
    saver = tf.train.Saver()
    with folder_of_its_own() as folder, tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        path = saver.save(session, folder + "/m", step)
        kept = session.run(tf.global_variables())
        session.run(train)
        saver.restore(session, path)
        same = [bool((x == y).all()) for x, y in zip(kept, session.run(tf.global_variables()))]
        return [os.path.basename(path), tf.train.list_variables(path), same]


def named_and_numbered(tf, np):
    v = tf.get_variable("v", initializer=[1.0])
    with folder_of_its_own() as folder, tf.Session() as session:
        session.run(v.initializer)
        saver = tf.train.Saver(max_to_keep=3, name="mine", pad_step_number=True, filename="foo")
        first = saver.save(session, folder + "/m", 5, "last", "mg", strip_default_attrs=True)
        found = [tf.train.latest_checkpoint(folder), tf.train.latest_checkpoint(folder, "last")]
        second = saver.save(session, folder + "/m", 6, write_state=False, write_meta_graph=False)
        with open(folder + "/last") as file:
            state = file.read().replace(folder, "FOLDER")
        return [
            _names([first, second, found[1]]),
            found[0],
            _names(saver.last_checkpoints),
            state,
            raises(saver.save, session, folder + "/m", "a"),
            raises(saver.save, session, folder + "/not/there/m"),
            _names([saver.save(session, folder + "/new/m")]),
            _listing(folder),
        ]


def saved_again_and_taken_over(tf, np):
    """A checkpoint that is written twice has the same files; a second saver goes on where the first was."""
    v = tf.get_variable("v", initializer=[1.0])
    with folder_of_its_own() as folder, tf.Session() as session:
        session.run(v.initializer)
        saver = tf.train.Saver(max_to_keep=3)
        kept = []
        for step in (1, 2, 3, 2, 4):
            session.run(v.assign([step]))
            saver.save(session, folder + "/m", step)
            kept.append(_names(saver.last_checkpoints))
        other = tf.train.Saver(max_to_keep=2)
        other.recover_last_checkpoints(saver.last_checkpoints)
        other.save(session, folder + "/m", 9)
        kept.append(_names(other.last_checkpoints))
        state = tf.train.get_checkpoint_state(folder)
        return [
            kept,
            _listing(folder),
            tf.train.load_variable(folder + "/m-2", "v"),
            _names(state.all_model_checkpoint_paths),
        ]


def _network(tf):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    y = tf.placeholder(tf.int64, [None], name="y")
    hidden = tf.layers.dense(x, 4, tf.nn.relu, name="h", kernel_initializer=tf.constant_initializer(0.3))
    logits = tf.layers.dense(hidden, 2, name="logits", kernel_initializer=tf.constant_initializer(0.2))
    loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
    step = tf.train.get_or_create_global_step()
    train = tf.train.AdamOptimizer(0.01).minimize(loss, step, name="train")
    tf.metrics.accuracy(y, tf.argmax(logits, 1, name="pred"))
    tf.summary.scalar("loss", loss)
    tf.summary.histogram("h", hidden)
    collections = {
        "things": [logits, train],
        "numbers": [3, 4],
        "floats": [3.5],
        "bytes": [b"a"],
        "text": ["b"],
    }
    for key in sorted(collections):
        for value in collections[key]:
            tf.add_to_collection(key, value)
    return train


def without_the_code(tf, np):
    feeds = {"x:0": np.float32([[1, 2, 3], [0, 1, 1]]), "y:0": [0, 1]}
    with folder_of_its_own() as folder:
        train = _network(tf)
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            for _ in range(3):
                session.run(train, feeds)
            path = tf.train.Saver().save(session, folder + "/m", 3)
        with tf.Graph().as_default() as again, tf.Session() as session:
            saver = tf.train.import_meta_graph(path + ".meta")
            saver.restore(session, tf.train.latest_checkpoint(folder))
            session.run(tf.local_variables_initializer())
            logits = again.get_tensor_by_name("logits/BiasAdd:0")
            before = session.run([logits, "pred:0", "global_step:0"], feeds)
            session.run(again.get_operation_by_name("train"), feeds)
            variables = tf.global_variables()
            return [
                before,
                session.run("logits/kernel:0"),
                sorted(map(str, again.get_all_collection_keys())),
                [tf.get_collection(key) for key in ("things", "numbers", "floats", "bytes", "text")],
                [tf.get_collection(key) for key in ("train_op", "losses", "metric_variables", "summaries")],
                [(v.name, v.initial_value.name, v.trainable) for v in variables],
                tf.train.get_global_step(),
                _names([saver.save(session, folder + "/n", tf.train.get_global_step())]),
                graph(tf),
            ]


def loops_and_queues_without_the_code(tf, np):
    with folder_of_its_own() as folder:
        key = tf.train.string_input_producer(["a", "b", "c"], 2, shuffle=False, name="in").dequeue()
        v = tf.get_variable("v", initializer=2.0)

        def body(i, total):
            return i + 1, tf.cond(total > 20.0, lambda: total + v, lambda: total * 2.0)

        _, total = tf.while_loop(lambda i, total: i < 5, body, [0, v])
        slope = tf.gradients(tf.identity(total, name="total"), v)[0]
        tf.identity(tf.train.batch([key], 2, allow_smaller_final_batch=True), name="batch")
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            path = tf.train.Saver().save(session, folder + "/m")
            before = session.run([total, slope])
        with tf.Graph().as_default() as again, tf.Session() as session:
            tf.train.import_meta_graph(path + ".meta").restore(session, path)
            session.run(tf.local_variables_initializer())
            coordinator = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(session, coordinator)
            batches = [session.run("batch:0") for _ in range(3)]
            end = raises(session.run, "batch:0")
            coordinator.request_stop()
            coordinator.join(threads)
            new_slope = tf.gradients(again.get_tensor_by_name("total:0"), tf.global_variables())[0]
            return [before, session.run(["total:0", new_slope]), batches, end, graph(tf)]


def a_scope_of_a_graph(tf, np):
    x = tf.placeholder(tf.float32, [2], name="x")
    with tf.variable_scope("net"):
        w = tf.get_variable("w", initializer=[1.0, 2.0])
        tf.add_to_collection("outs", tf.multiply(x, w, name="y"))
    message = tf.train.export_meta_graph(export_scope="net", clear_devices=True)
    nodes = [node.name for node in message.graph_def.node]
    with tf.Graph().as_default(), tf.Session() as session:
        unbound = raises(tf.train.import_meta_graph, message, import_scope="new")
        given = {"$unbound_inputs_x": tf.constant([5.0, 6.0])}
        tf.train.import_meta_graph(message, import_scope="n2", input_map=given)
        session.run(tf.global_variables_initializer())
        value = session.run("n2/y:0")
        return [sorted(message.collection_def), nodes, unbound, value, tf.get_collection("outs")]


def what_is_said(tf, np):
    with folder_of_its_own() as folder, logged(tf, folder) as said:
        v = tf.get_variable("v", initializer=[1.0])
        with tf.Session() as session:
            session.run(v.initializer)
            saver = tf.train.Saver()
            path = saver.save(session, folder + "/m", 1)
            saver.restore(session, path)
        tf.train.update_checkpoint_state(folder, folder + "/other", [path])
        tf.add_to_collection("odd", object)
        tf.train.export_meta_graph()
        with open(folder + "/checkpoint", "w") as file:
            file.write("nonsense {")
        tf.train.latest_checkpoint(folder)
        tf.train.update_checkpoint_state(folder, folder + "/gone")
        tf.train.latest_checkpoint(folder)
        list(tf.train.checkpoints_iterator(folder, timeout=0))
        with tf.Graph().as_default():
            tf.constant(1)
            tf.train.import_meta_graph(tf.train.export_meta_graph())
    return [line for line in said if "ParseError" not in line[1]]
