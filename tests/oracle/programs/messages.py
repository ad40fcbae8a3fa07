"""What is said of mistakes outside of single ops: in sessions, graphs, scopes, files, inputs, training.

Types of errors and TensorFlow's fixed phrases are compared.
"""

import os
import tempfile

from kit import cases, raises

_NOWHERE = os.path.join(tempfile.gettempdir(), "there-is-no-such-file")


def _step(tf, fetches, feeds=None, first=()):
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), *first])
        session.run(fetches, feeds)


# ---------------------------------------------------------------------------------- sessions


def _partial(tf, *steps):
    """The last of some calls on a partial run of x + 1 and (x + 1) * y."""
    x, y = tf.placeholder(tf.float32, [], "x"), tf.placeholder(tf.float32, [], "y")
    z = tf.placeholder(tf.float32, [], "z")
    first = tf.add(x, 1.0, name="first")
    second = tf.multiply(first, y, name="second")
    with tf.Session() as session:
        handle = session.partial_run_setup([first, second], [x, y])
        names = {"first": first, "second": second}
        feeds = {"x": x, "y": y, "z": z}
        for fetch, fed in steps:
            session.partial_run(handle, names[fetch], {feeds[key]: 2.0 for key in fed})


def _closed(tf, np):
    session = tf.Session()
    session.close()
    session.run(tf.constant(1.0))


def _of_two_graphs(tf, np):
    with tf.Graph().as_default():
        other = tf.constant(1.0, name="other")
    tf.constant(2.0)
    with tf.Session() as session:
        session.run(other)


def _feed(tf, np, value, shape=(3,), dtype=None):
    x = tf.placeholder(dtype or tf.float32, shape, "x")
    _step(tf, x + 1 if dtype is None else x, {x: value})


def _timed_out(tf, np):
    queue = tf.FIFOQueue(3, tf.float32)
    taken = queue.dequeue()
    with tf.Session() as session:
        session.run(taken, options=tf.RunOptions(timeout_in_ms=50))


_SESSIONS = {
    "fed twice": lambda tf, np: _partial(tf, ("first", "x"), ("second", "xy")),
    "fetched twice": lambda tf, np: _partial(tf, ("first", "x"), ("first", "y")),
    "not in setup": lambda tf, np: _partial(tf, ("first", "z")),
    "second without its feed": lambda tf, np: _partial(tf, ("second", "x")),
    "closed": _closed,
    "other graph": _of_two_graphs,
    "no feed": lambda tf, np: _step(tf, tf.placeholder(tf.float32, [None, 2], "x") + 1.0),
    "no feed, no shape": lambda tf, np: _step(tf, tf.placeholder(tf.int32, name="x") + 1),
    "shape of feed": lambda tf, np: _feed(tf, np, [1.0, 2.0]),
    "rank of feed": lambda tf, np: _feed(tf, np, np.ones((3, 1))),
    "text for a number": lambda tf, np: _feed(tf, np, ["a", "b", "c"]),
    "tensor as feed": lambda tf, np: _feed(tf, np, tf.constant([1.0, 2.0, 3.0])),
    "number too large": lambda tf, np: _feed(tf, np, 2**40, (), tf.int32),
    "ragged feed": lambda tf, np: _feed(tf, np, [[1.0], [1.0, 2.0]], None),
    "feed of nothing": lambda tf, np: _step(tf, tf.constant(1.0), {"nothing:0": 1.0}),
    "feed of an op": lambda tf, np: _step(tf, tf.constant(1.0), {tf.no_op(): 1.0}),
    "feed of a number": lambda tf, np: _step(tf, tf.constant(1.0), {3: 1.0}),
    "feed of a bad name": lambda tf, np: _step(tf, tf.constant(1.0), {"x": 1.0}),
    "fetch of None": lambda tf, np: _step(tf, None),
    "fetch of a number": lambda tf, np: _step(tf, 3),
    "fetch in a list": lambda tf, np: _step(tf, [tf.constant(1.0), None]),
    "fetch of nothing": lambda tf, np: _step(tf, "nothing:0"),
    "fetch of no op": lambda tf, np: _step(tf, "nothing"),
    "fetch of an output too many": lambda tf, np: _step(tf, tf.constant(1.0, name="c").name[:-1] + "1"),
    "uninitialized": lambda tf, np: tf.Session().run(tf.Variable(1.0, name="v")),
    "uninitialized resource": lambda tf, np: tf.Session().run(
        tf.Variable(1.0, name="v", use_resource=True).read_value()
    ),
    "unfeedable": lambda tf, np: _unfeedable(tf),
    "empty graph": lambda tf, np: tf.Session(graph=tf.Graph()).run("x:0"),
    "timed out": _timed_out,
    "feed_dict of a list": lambda tf, np: tf.Session().run(tf.constant(1.0), [1.0]),
    "eval without session": lambda tf, np: tf.constant(1.0).eval(),
    "run without session": lambda tf, np: tf.no_op().run(),
    "bad config": lambda tf, np: tf.Session(config=3),
    "bad target": lambda tf, np: tf.Session(target=3),
    "bad graph": lambda tf, np: tf.Session(graph=3),
    "bad callable": lambda tf, np: tf.Session().make_callable(3),
    "options of a wrong type": lambda tf, np: tf.Session().run(tf.constant(1.0), options=3),
    "no device": lambda tf, np: _on_no_device(tf),
    "bad device": lambda tf, np: _on_bad_device(tf),
}


def _unfeedable(tf):
    x = tf.constant(1.0)
    tf.get_default_graph().prevent_feeding(x)
    _step(tf, x, {x: 1.0})


def _on_no_device(tf):
    with tf.device("/device:GPU:7"):
        x = tf.constant(1.0, name="x")
    _step(tf, x)


def _on_bad_device(tf):
    with tf.device("nonsense:::"):
        return tf.constant(1.0)


@cases(*_SESSIONS)
def sessions(tf, np, key):
    return raises(_SESSIONS[key], tf, np)


# ---------------------------------------------------------------------------------- graphs and contexts


def _from_branch(tf, np):
    inside = []

    def branch():
        inside.append(tf.constant(1.0, name="inside") + 1.0)
        return inside[0]

    tf.cond(tf.constant(True), branch, lambda: tf.constant(2.0))
    return inside[0] * 2.0


def _from_loop(tf, np):
    inside = []

    def body(i):
        inside.append(i * 2)
        return i + 1

    tf.while_loop(lambda i: i < 3, body, [0])
    return tf.add(inside[0], 1, name="after")


def _from_other_branch(tf, np):
    inside = []

    def branch():
        inside.append(tf.constant(1.0) + 1.0)
        return inside[0]

    return tf.cond(tf.constant(True), branch, lambda: inside[0] * 3.0)


def _from_other_loop(tf, np):
    inside = []

    def body(i):
        inside.append(i * 2)
        return i + 1

    tf.while_loop(lambda i: i < 3, body, [0])
    return tf.while_loop(lambda i: i < 3, lambda i: i + inside[0], [0])


def _changed_shape(tf, np):
    return tf.while_loop(lambda x: True, lambda x: tf.concat([x, x], 0), [tf.zeros([2])])


def _two_graphs(tf, np):
    with tf.Graph().as_default():
        other = tf.constant(1.0, name="other")
    return tf.add(tf.constant(1.0), other)


def _finalized(tf, np):
    tf.get_default_graph().finalize()
    return tf.constant(1.0)


_GRAPHS = {
    "from a branch": _from_branch,
    "from a loop": _from_loop,
    "from the other branch": _from_other_branch,
    "from another loop": _from_other_loop,
    "shape of a loop variable": _changed_shape,
    "number of loop variables": lambda tf, np: tf.while_loop(lambda i: i < 3, lambda i: [i, i], [0]),
    "type of a loop variable": lambda tf, np: tf.while_loop(lambda i: True, lambda i: i * 2.5, [0]),
    "no loop variables": lambda tf, np: tf.while_loop(lambda: True, lambda: [], []),
    "cond not callable": lambda tf, np: tf.while_loop(3, lambda i: i, [0]),
    "body not callable": lambda tf, np: tf.while_loop(lambda i: True, 3, [0]),
    "types of branches": lambda tf, np: tf.cond(tf.constant(True), lambda: 1.0, lambda: 1),
    "number of branches' results": lambda tf, np: tf.cond(tf.constant(True), lambda: 1, lambda: [1, 2]),
    "structure of branches": lambda tf, np: tf.cond(tf.constant(True), lambda: [1, 2], lambda: [1]),
    "branch without result": lambda tf, np: tf.cond(tf.constant(True), lambda: None, lambda: 1),
    "branches not callable": lambda tf, np: tf.cond(tf.constant(True), 1, 2),
    "python predicate": lambda tf, np: tf.cond(1, lambda: 1, lambda: 2),
    "two graphs": _two_graphs,
    "finalized": _finalized,
    "name": lambda tf, np: tf.constant(1.0, name="a b"),
    "scope": lambda tf, np: tf.name_scope("a b").__enter__(),
    "no such op": lambda tf, np: tf.get_default_graph().get_operation_by_name("nothing"),
    "no such tensor": lambda tf, np: tf.get_default_graph().get_tensor_by_name("nothing:0"),
    "name of an op for a tensor": lambda tf, np: tf.get_default_graph().get_tensor_by_name("nothing"),
    "name of a tensor for an op": lambda tf, np: tf.get_default_graph().get_operation_by_name("nothing:0"),
    "iterated": lambda tf, np: list(tf.placeholder(tf.float32, [2])),
    "as bool": lambda tf, np: bool(tf.constant(True)),
    "length": lambda tf, np: len(tf.constant([1.0])),
    "dimension as int": lambda tf, np: int(tf.Dimension(None)),
    "shape as list": lambda tf, np: tf.TensorShape(None).as_list(),
    "shapes merged": lambda tf, np: tf.TensorShape([2]).merge_with([3]),
    "shape compatible": lambda tf, np: tf.TensorShape([2]).assert_is_compatible_with([3]),
    "shape rank": lambda tf, np: tf.TensorShape([2]).with_rank(3),
    "shape rank at least": lambda tf, np: tf.TensorShape([2]).with_rank_at_least(3),
    "shape defined": lambda tf, np: tf.TensorShape([None]).assert_is_fully_defined(),
    "dimension negative": lambda tf, np: tf.Dimension(-1),
    "dimensions merged": lambda tf, np: tf.Dimension(2).merge_with(3),
    "set_shape": lambda tf, np: tf.placeholder(tf.float32, [2]).set_shape([3]),
    "constant shape": lambda tf, np: tf.constant([1, 2, 3], shape=[2]),
    "constant type": lambda tf, np: tf.constant("a", tf.float32),
    "constant None": lambda tf, np: tf.constant(None),
    "constant ragged": lambda tf, np: tf.constant([[1], [1, 2]]),
    "constant mixed": lambda tf, np: tf.constant([1, "a"]),
    "convert type": lambda tf, np: tf.convert_to_tensor(tf.constant(1.0), tf.int32),
    "as_dtype": lambda tf, np: tf.as_dtype("nothing"),
    "no gradient": lambda tf, np: tf.gradients(tf.raw_ops.Fingerprint(data=["a"], method=["farmhash64"]), []),
    "no gradient of an op": lambda tf, np: _no_gradient(tf),
    "gradients of a string": lambda tf, np: tf.gradients("a", tf.constant(1.0)),
    "grad_ys": lambda tf, np: tf.gradients(tf.constant(1.0), tf.constant(1.0), [1.0, 2.0]),
    "import of nothing": lambda tf, np: tf.import_graph_def(3),
    "import of an unknown op": lambda tf, np: _import_unknown(tf),
    "import without an input": lambda tf, np: _import_unbound(tf),
    "import map": lambda tf, np: tf.import_graph_def(tf.GraphDef(), {"x:0": tf.constant(1.0)}),
    "import return": lambda tf, np: tf.import_graph_def(tf.GraphDef(), return_elements=["x:0"]),
    "control input": lambda tf, np: tf.control_dependencies([3]).__enter__(),
    "collection": lambda tf, np: tf.get_default_graph().get_collection_ref(3).append(1),
    "device": lambda tf, np: tf.device("/job:a:b").__enter__() and tf.constant(1.0),
    "registered gradient": lambda tf, np: _registered_twice(tf),
    "py_func raises": lambda tf, np: _step(tf, tf.py_func(_raise_value_error, [], tf.float32)),
    "py_func raises KeyError": lambda tf, np: _step(tf, tf.py_func(lambda: {}["key"], [], tf.float32)),
    "py_func returns too few": lambda tf, np: _step(tf, tf.py_func(lambda: 1.0, [], [tf.float64] * 2)),
}


def _raise_value_error():
    raise ValueError("told so")


def _no_gradient(tf):
    @tf.RegisterGradient("PhrasesNone")
    def _(op, grad):
        raise LookupError("none")

    x = tf.constant([1.0, 2.0])
    return tf.gradients(tf.nn.in_top_k([[1.0, 2.0]], [1], 1), x), tf.gradients(
        tf.raw_ops.IgammaGradA(a=x, x=x), x
    )


def _import_unknown(tf):
    definition = tf.GraphDef()
    definition.node.add(name="x", op="NoSuchOpAnywhere")
    tf.import_graph_def(definition)


def _import_unbound(tf):
    definition = tf.GraphDef()
    node = definition.node.add(name="x", op="Neg")
    node.input.append("nothing")
    node.attr["T"].type = 1
    tf.import_graph_def(definition)


def _registered_twice(tf):
    tf.RegisterGradient("PhrasesTwice")(lambda op, grad: grad)
    tf.RegisterGradient("PhrasesTwice")(lambda op, grad: grad)


@cases(*_GRAPHS)
def graphs(tf, np, key):
    return raises(_GRAPHS[key], tf, np)


# ---------------------------------------------------------------------------------- variables and files


def _twice(tf, np, reuse=None, again=None, **keywords):
    with tf.variable_scope("s"):
        tf.get_variable("v", [2], **keywords)
    with tf.variable_scope("s", reuse=reuse):
        tf.get_variable("v", **(again or {"shape": [2]}))


def _missing_variable(tf, np):
    with tf.variable_scope("s", reuse=True):
        tf.get_variable("v", [2])


def _restored(tf, np, make, path=None):
    """Saves a variable v of shape [2], then restores what `make` makes in another graph."""
    folder = tempfile.mkdtemp()
    with tf.Graph().as_default(), tf.Session() as session:
        tf.Variable([1.0, 2.0], name="v")
        session.run(tf.global_variables_initializer())
        saved = tf.train.Saver().save(session, os.path.join(folder, "model"))
    with tf.Graph().as_default(), tf.Session() as session:
        make()
        tf.train.Saver().restore(session, path or saved)


def _damaged_checkpoint(tf, np):
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "model")
    for end in (".index", ".data-00000-of-00001"):
        with open(path + end, "wb") as stream:
            stream.write(b"no checkpoint at all" * 9)
    tf.train.NewCheckpointReader(path)


_VARIABLES = {
    "exists": _twice,
    "does not exist": _missing_variable,
    "other shape": lambda tf, np: _twice(tf, np, True, {"shape": [3]}),
    "other type": lambda tf, np: _twice(tf, np, True, {"shape": [2], "dtype": tf.float64}),
    "no shape": lambda tf, np: tf.get_variable("v"),
    "unknown shape": lambda tf, np: tf.get_variable("v", [None, 2]),
    "initializer and shape": lambda tf, np: tf.get_variable("v", [2], initializer=tf.constant([1.0])),
    "initializer of unknown shape": lambda tf, np: tf.Variable(tf.placeholder(tf.float32)),
    "initializer None": lambda tf, np: tf.Variable(None),
    "initializer with no shape in a loop": lambda tf, np: tf.while_loop(
        lambda i: i < 2, lambda i: i + tf.Variable(tf.constant(1) * i), [0]
    ),
    "scope reuse": lambda tf, np: tf.variable_scope("s", reuse=3).__enter__(),
    "scope None": lambda tf, np: tf.variable_scope(None).__enter__(),
    "assign of another shape": lambda tf, np: tf.assign(tf.Variable([1.0, 2.0]), [1.0]),
    "assign in a step": lambda tf, np: _step(
        tf, tf.assign(tf.Variable([1.0, 2.0], name="v"), tf.py_func(lambda: np.ones(3, "f"), [], tf.float32))
    ),
    "assign to a resource": lambda tf, np: tf.Variable([1.0, 2.0], use_resource=True).assign([1.0]),
    "partitions": lambda tf, np: tf.get_variable("v", [4], partitioner=lambda shape, dtype: [5]),
    "regularizer": lambda tf, np: tf.get_variable("v", [4], regularizer=3),
    "nothing to save": lambda tf, np: tf.train.Saver(),
    "key not found": lambda tf, np: _restored(tf, np, lambda: tf.Variable([1.0, 2.0], name="w")),
    "shape not restored": lambda tf, np: _restored(tf, np, lambda: tf.Variable([1.0], name="v")),
    "type not restored": lambda tf, np: _restored(tf, np, lambda: tf.Variable([1, 2], name="v")),
    "no checkpoint": lambda tf, np: _restored(tf, np, lambda: tf.Variable(1.0), _NOWHERE),
    "no path": lambda tf, np: tf.train.Saver([tf.Variable(1.0)]).restore(tf.Session(), None),
    "save nowhere": lambda tf, np: _step_saved(tf, "/nothing/here/model"),
    "reader of nothing": lambda tf, np: tf.train.NewCheckpointReader(_NOWHERE),
    "reader of a missing tensor": lambda tf, np: _reader(tf).get_tensor("nothing"),
    "damaged": _damaged_checkpoint,
    "same name twice": lambda tf, np: tf.train.Saver({"a": 3}),
    "init from checkpoint": lambda tf, np: tf.train.init_from_checkpoint(_NOWHERE, {"a": "b"}),
    "read a file": lambda tf, np: _step(tf, tf.read_file("/nothing/here")),
    "saved model": lambda tf, np: tf.saved_model.loader.load(tf.Session(), ["serve"], "/nothing/here"),
    "saved model tags": lambda tf, np: _load_saved_model(tf),
    "meta graph": lambda tf, np: tf.train.import_meta_graph("/nothing/here.meta"),
    "gfile": lambda tf, np: tf.gfile.GFile("/nothing/here").read(),
    "listdir": lambda tf, np: tf.gfile.ListDirectory("/nothing/here"),
    "remove": lambda tf, np: tf.gfile.Remove("/nothing/here"),
    "records": lambda tf, np: list(tf.python_io.tf_record_iterator("/nothing/here")),
    "events": lambda tf, np: list(tf.train.summary_iterator("/nothing/here")),
}


def _step_saved(tf, path):
    saver = tf.train.Saver([tf.Variable(1.0)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        saver.save(session, path)


def _reader(tf):
    path = os.path.join(tempfile.mkdtemp(), "model")
    _step_saved(tf, path)
    return tf.train.NewCheckpointReader(path)


def _load_saved_model(tf):
    path = os.path.join(tempfile.mkdtemp(), "export")
    builder = tf.saved_model.builder.SavedModelBuilder(path)
    with tf.Session() as session:
        tf.Variable(1.0)
        session.run(tf.global_variables_initializer())
        builder.add_meta_graph_and_variables(session, ["serve"])
    builder.save()
    tf.saved_model.loader.load(tf.Session(graph=tf.Graph()), ["train"], path)


@cases(*_VARIABLES)
def variables(tf, np, key):
    return raises(_VARIABLES[key], tf, np)


# ---------------------------------------------------------------------------------- inputs


def _emptied(tf, make=None, closed=True, count=1, many=False, up_to=False):
    queue = make(tf) if make else tf.FIFOQueue(3, tf.float32, shapes=[[]], name="q")
    taken = queue.dequeue_up_to(count) if up_to else queue.dequeue_many(count) if many else queue.dequeue()
    with tf.Session() as session:
        session.run(queue.enqueue(1.0))
        session.run(queue.dequeue())
        if closed:
            session.run(queue.close())
        session.run(taken)


def _enqueued_after_close(tf):
    queue = tf.FIFOQueue(3, tf.float32, name="q")
    with tf.Session() as session:
        session.run(queue.close())
        session.run(queue.enqueue(1.0))


def _iterated(tf, dataset, times, initialize=True):
    iterator = dataset.make_initializable_iterator()
    following = iterator.get_next()
    with tf.Session() as session:
        if initialize:
            session.run(iterator.initializer)
        for _ in range(times):
            session.run(following)


def _table(tf, initialize=True, keys=("a", "b"), values=(1, 2)):
    table = tf.contrib.lookup.HashTable(
        tf.contrib.lookup.KeyValueTensorInitializer(list(keys), tf.constant(list(values), tf.int64)), -1
    )
    with tf.Session() as session:
        if initialize:
            session.run(tf.tables_initializer())
        session.run(table.lookup(tf.constant(["a"])))


def _vocabulary(tf, lines, **keywords):
    path = os.path.join(tempfile.mkdtemp(), "words")
    with open(path, "w") as stream:
        stream.write("\n".join(lines) + "\n")
    table = tf.contrib.lookup.index_table_from_file(path, **keywords)
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        session.run(table.lookup(tf.constant(["a"])))


def _parsed(tf, features, **given):
    example = tf.train.Example()
    for key, values in given.items():
        if isinstance(values[0], int):
            example.features.feature[key].int64_list.value.extend(values)
        else:
            example.features.feature[key].float_list.value.extend(values)
    _step(tf, tf.parse_example([example.SerializeToString()], features))


_INPUTS = {
    "queue empty": lambda tf, np: _emptied(tf),
    "queue too small": lambda tf, np: _emptied(tf, count=2, many=True),
    "queue up to": lambda tf, np: _emptied(tf, count=2, up_to=True),
    "random queue empty": lambda tf, np: _emptied(
        tf, lambda tf: tf.RandomShuffleQueue(3, 0, tf.float32, shapes=[[]], name="q")
    ),
    "queue closed": lambda tf, np: _enqueued_after_close(tf),
    "queue without shapes": lambda tf, np: tf.FIFOQueue(3, tf.float32).dequeue_many(2),
    "queue of another shape": lambda tf, np: tf.FIFOQueue(3, tf.float32, shapes=[[2]]).enqueue([1.0]),
    "queues of other types": lambda tf, np: tf.QueueBase.from_list(
        0, [tf.FIFOQueue(3, tf.float32), tf.FIFOQueue(3, tf.int32)]
    ),
    "end of sequence": lambda tf, np: _iterated(tf, tf.data.Dataset.range(2), 3),
    "not initialized": lambda tf, np: _iterated(tf, tf.data.Dataset.range(2), 1, False),
    "slices of a scalar": lambda tf, np: tf.data.Dataset.from_tensor_slices(1.0),
    "slices of two lengths": lambda tf, np: tf.data.Dataset.from_tensor_slices(([1, 2], [1, 2, 3])),
    "batch of none": lambda tf, np: _iterated(tf, tf.data.Dataset.range(2).batch(0), 1),
    "batch of two shapes": lambda tf, np: _iterated(
        tf,
        tf.data.Dataset.range(3).map(lambda x: tf.fill([x], x)).batch(2),
        1,
    ),
    "filter of numbers": lambda tf, np: tf.data.Dataset.range(2).filter(lambda x: x),
    "flat_map to numbers": lambda tf, np: tf.data.Dataset.range(2).flat_map(lambda x: x),
    "zip of numbers": lambda tf, np: tf.data.Dataset.zip([1, 2]),
    "concatenated types": lambda tf, np: tf.data.Dataset.range(2).concatenate(
        tf.data.Dataset.from_tensors(1.0)
    ),
    "reduced to another type": lambda tf, np: tf.data.Dataset.range(2).reduce(0.5, lambda a, b: b),
    "map with an error": lambda tf, np: _iterated(
        tf,
        tf.data.Dataset.range(2).map(lambda x: tf.check_numerics(1.0 / tf.cast(x, tf.float32), "inverse")),
        1,
    ),
    "shuffle of none": lambda tf, np: _iterated(tf, tf.data.Dataset.range(2).shuffle(0), 1),
    "window of none": lambda tf, np: _iterated(tf, tf.data.Dataset.range(2).window(0), 1),
    "shard": lambda tf, np: _iterated(tf, tf.data.Dataset.range(2).shard(2, 3), 1),
    "padded batch": lambda tf, np: _iterated(
        tf, tf.data.Dataset.range(5).map(lambda x: tf.fill([x + 3], x)).padded_batch(2, [2]), 1
    ),
    "records missing": lambda tf, np: _iterated(tf, tf.data.TFRecordDataset("/nothing/here"), 1),
    "lines missing": lambda tf, np: _iterated(tf, tf.data.TextLineDataset("/nothing/here"), 1),
    "generator of wrong type": lambda tf, np: _iterated(
        tf, tf.data.Dataset.from_generator(lambda: iter(["a"]), tf.int32), 1
    ),
    "generator of wrong shape": lambda tf, np: _iterated(
        tf, tf.data.Dataset.from_generator(lambda: iter([[1, 2]]), tf.int32, [3]), 1
    ),
    "generator raises": lambda tf, np: _iterated(
        tf, tf.data.Dataset.from_generator(lambda: iter([{}["key"]]), tf.int32), 1
    ),
    "one-shot with a capture": lambda tf, np: tf.data.Dataset.from_tensors(
        tf.placeholder(tf.float32, [])
    ).make_one_shot_iterator(),
    "iterator of other types": lambda tf, np: tf.data.Iterator.from_structure(tf.int32).make_initializer(
        tf.data.Dataset.range(2)
    ),
    "table not initialized": lambda tf, np: _table(tf, False),
    "key twice": lambda tf, np: _table(tf, keys=("a", "a")),
    "keys and values": lambda tf, np: _table(tf, values=(1, 2, 3)),
    "vocabulary missing": lambda tf, np: _step(
        tf,
        tf.tables_initializer() if tf.contrib.lookup.index_table_from_file("/nothing/here") else None,
    ),
    "vocabulary word twice": lambda tf, np: _vocabulary(tf, ["a", "b", "a"]),
    "vocabulary too small": lambda tf, np: _vocabulary(tf, ["a", "b"], vocab_size=4),
    "vocabulary without a name": lambda tf, np: tf.contrib.lookup.index_table_from_file(None),
    "lookup of numbers": lambda tf, np: tf.contrib.lookup.index_table_from_tensor(["a"]).lookup(
        tf.constant([1])
    ),
    "not an example": lambda tf, np: _step(
        tf, tf.parse_example(["nonsense"], {"x": tf.FixedLenFeature([], tf.float32)})
    ),
    "not a single example": lambda tf, np: _step(
        tf, tf.parse_single_example("nonsense", {"x": tf.FixedLenFeature([], tf.float32)})
    ),
    "feature missing": lambda tf, np: _parsed(tf, {"x": tf.FixedLenFeature([], tf.float32)}, y=[1.0]),
    "feature of another type": lambda tf, np: _parsed(tf, {"x": tf.FixedLenFeature([], tf.float32)}, x=[1]),
    "feature of another size": lambda tf, np: _parsed(
        tf, {"x": tf.FixedLenFeature([2], tf.float32)}, x=[1.0]
    ),
    "feature of no shape": lambda tf, np: _parsed(tf, {"x": tf.FixedLenFeature([None], tf.float32)}, x=[1.0]),
    "no features": lambda tf, np: tf.parse_example(["a"], {}),
    "sequence example": lambda tf, np: _step(
        tf,
        tf.parse_single_sequence_example(
            "nonsense", sequence_features={"x": tf.FixedLenSequenceFeature([], tf.float32)}
        ),
    ),
    "csv number": lambda tf, np: _step(tf, tf.decode_csv(["a,b"], [[1], [2.0]])),
    "csv float": lambda tf, np: _step(tf, tf.decode_csv(["1,b"], [[1], [2.0]])),
    "csv too few": lambda tf, np: _step(tf, tf.decode_csv(["1"], [[1], [2.0]])),
    "csv required": lambda tf, np: _step(tf, tf.decode_csv(["1,"], [[1], tf.constant([], tf.float32)])),
    "csv quotes": lambda tf, np: _step(tf, tf.decode_csv(['1,"b'], [[1], ["b"]])),
    "decode_raw": lambda tf, np: _step(tf, tf.decode_raw(["abc"], tf.int32)),
    "json example": lambda tf, np: _step(tf, tf.decode_json_example("nonsense")),
    "base64": lambda tf, np: _step(tf, tf.decode_base64("%%%")),
    "compressed": lambda tf, np: _step(tf, tf.io.decode_compressed("abc", "GZIP")),
    "number": lambda tf, np: _step(tf, tf.string_to_number("abc")),
    "png": lambda tf, np: _step(tf, tf.image.decode_png("nonsense")),
    "jpeg": lambda tf, np: _step(tf, tf.image.decode_jpeg("nonsense")),
    "gif": lambda tf, np: _step(tf, tf.image.decode_gif("nonsense")),
    "image": lambda tf, np: _step(tf, tf.image.decode_image("nonsense")),
    "tensor": lambda tf, np: _step(tf, tf.parse_tensor("nonsense", tf.float32)),
    "tensor of another type": lambda tf, np: _step(
        tf, tf.parse_tensor(tf.serialize_tensor(tf.constant(1.0)), tf.int32)
    ),
    "wav": lambda tf, np: _step(tf, tf.audio.decode_wav("nonsense")),
}


@cases(*_INPUTS)
def inputs(tf, np, key):
    return raises(_INPUTS[key], tf, np)


# ---------------------------------------------------------------------------------- checks, training, layers


def _optimizer(tf, loss=None, **keywords):
    v = tf.Variable(1.0)
    return tf.train.GradientDescentOptimizer(0.1).minimize(v * 2.0 if loss is None else loss(v), **keywords)


def _rnn(tf, x, **keywords):
    cell = tf.nn.rnn_cell.BasicLSTMCell(3)
    return tf.nn.dynamic_rnn(cell, x, **keywords)


def _array(tf, size=2, **keywords):
    return tf.TensorArray(tf.float32, size, **keywords)


_LIBRARIES = {
    "assertion": lambda tf, np: _step(tf, tf.Assert(tf.constant(False), ["because", tf.constant([1, 2])])),
    "assertion in Python": lambda tf, np: tf.Assert(False, ["because"]),
    "assert_equal": lambda tf, np: tf.assert_equal(1, 2),
    "assert_equal later": lambda tf, np: _step(tf, tf.assert_equal(tf.py_func(lambda: 1, [], tf.int64), 2)),
    "assert_equal told": lambda tf, np: tf.assert_equal(1, 2, message="told"),
    "assert_positive": lambda tf, np: tf.assert_positive([-1.0]),
    "assert_positive later": lambda tf, np: _step(
        tf, tf.assert_positive(tf.py_func(lambda: np.float32([-1]), [], tf.float32))
    ),
    "assert_less": lambda tf, np: tf.assert_less(2.0, 1.0),
    "assert_rank": lambda tf, np: tf.assert_rank([1.0], 2),
    "assert_rank later": lambda tf, np: _step(
        tf, tf.assert_rank(tf.py_func(lambda: np.float32([1]), [], tf.float32), 2)
    ),
    "assert_rank_in": lambda tf, np: tf.assert_rank_in([1.0], [2, 3]),
    "assert_rank_at_least": lambda tf, np: tf.assert_rank_at_least([1.0], 2),
    "assert_type": lambda tf, np: tf.assert_type(tf.constant(1.0), tf.int32),
    "assert_integer": lambda tf, np: tf.assert_integer(tf.constant(1.0)),
    "assert_scalar": lambda tf, np: tf.assert_scalar([1.0]),
    "assert_same_float_dtype": lambda tf, np: tf.assert_same_float_dtype(
        [tf.constant(1.0), tf.constant(1.0, tf.float64)]
    ),
    "check_numerics nan": lambda tf, np: _step(tf, tf.check_numerics([np.nan], "told")),
    "check_numerics inf": lambda tf, np: _step(tf, tf.check_numerics([np.inf], "told")),
    "check_numerics both": lambda tf, np: _step(tf, tf.check_numerics([np.inf, np.nan], "told")),
    "verify_tensor_all_finite": lambda tf, np: _step(tf, tf.verify_tensor_all_finite([np.nan], "told")),
    "division": lambda tf, np: _step(tf, tf.constant(1) // tf.py_func(lambda: np.int32(0), [], tf.int32)),
    "no gradients": lambda tf, np: _optimizer(tf, lambda v: tf.constant(1.0)),
    "no variables": lambda tf, np: tf.train.GradientDescentOptimizer(0.1).minimize(tf.constant(1.0)),
    "integer loss": lambda tf, np: _optimizer(tf, lambda v: tf.constant(1)),
    "gate": lambda tf, np: _optimizer(tf, gate_gradients=7),
    "empty var_list": lambda tf, np: _optimizer(tf, var_list=[]),
    "var_list of tensors": lambda tf, np: _optimizer(tf, var_list=[tf.constant(1.0)]),
    "no gradients applied": lambda tf, np: tf.train.GradientDescentOptimizer(0.1).apply_gradients([]),
    "gradients of None": lambda tf, np: tf.train.GradientDescentOptimizer(0.1).apply_gradients(
        [(None, tf.Variable(1.0))]
    ),
    "global norm of a number": lambda tf, np: tf.global_norm(3),
    "clip_by_global_norm of a number": lambda tf, np: tf.clip_by_global_norm(3, 1.0),
    "two global steps": lambda tf, np: [
        tf.train.create_global_step(),
        tf.train.create_global_step(),
    ],
    "dense rank": lambda tf, np: tf.layers.dense(tf.constant(1.0), 3),
    "dense unknown": lambda tf, np: tf.layers.dense(tf.placeholder(tf.float32, [2, None]), 3),
    "dense of integers": lambda tf, np: tf.layers.dense(tf.constant([[1]]), 3),
    "conv2d rank": lambda tf, np: tf.layers.conv2d(tf.zeros([2, 3, 4]), 3, 2),
    "conv2d unknown": lambda tf, np: tf.layers.conv2d(tf.placeholder(tf.float32, [2, 3, 4, None]), 3, 2),
    "conv2d kernel": lambda tf, np: tf.layers.conv2d(tf.zeros([2, 3, 4, 1]), 3, [2, 2, 2]),
    "conv2d padding": lambda tf, np: tf.layers.conv2d(tf.zeros([2, 3, 4, 1]), 3, 2, padding="other"),
    "conv2d too large": lambda tf, np: tf.layers.conv2d(tf.zeros([2, 3, 4, 1]), 3, 9),
    "layer reused on another size": lambda tf, np: _reused_layer(tf),
    "batch norm axis": lambda tf, np: tf.layers.batch_normalization(tf.zeros([2, 3]), axis=5),
    "flatten of a scalar": lambda tf, np: tf.layers.flatten(tf.constant(1.0)),
    "dropout rate": lambda tf, np: tf.nn.dropout(tf.zeros([2]), rate=1.5),
    "dropout keep_prob": lambda tf, np: tf.nn.dropout(tf.zeros([2]), keep_prob=1.5),
    "dropout of integers": lambda tf, np: tf.nn.dropout(tf.zeros([2], tf.int32), rate=0.5),
    "loss of None": lambda tf, np: tf.losses.mean_squared_error(None, tf.zeros([2])),
    "loss shapes": lambda tf, np: tf.losses.mean_squared_error(tf.zeros([3]), tf.zeros([2])),
    "loss weights": lambda tf, np: tf.losses.mean_squared_error(
        tf.zeros([2, 3]), tf.zeros([2, 3]), tf.zeros([2, 2])
    ),
    "loss weights' rank": lambda tf, np: tf.losses.mean_squared_error(
        tf.zeros([2, 3]), tf.zeros([2, 3]), tf.zeros([2])
    ),
    "loss reduction": lambda tf, np: tf.losses.mean_squared_error(
        tf.zeros([2]), tf.zeros([2]), reduction="other"
    ),
    "cross entropy without names": lambda tf, np: tf.nn.softmax_cross_entropy_with_logits(
        tf.zeros([2]), tf.zeros([2])
    ),
    "cross entropy shapes": lambda tf, np: tf.nn.sigmoid_cross_entropy_with_logits(
        labels=tf.zeros([2]), logits=tf.zeros([3])
    ),
    "sparse cross entropy ranks": lambda tf, np: tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=tf.zeros([2, 3], tf.int32), logits=tf.zeros([2, 3])
    ),
    "sparse cross entropy scalars": lambda tf, np: tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=0, logits=1.0
    ),
    "sparse cross entropy label": lambda tf, np: _step(
        tf,
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[5], logits=[[1.0, 2.0]]),
    ),
    "metric shapes": lambda tf, np: tf.metrics.accuracy(tf.zeros([3]), tf.zeros([2])),
    "embedding of none": lambda tf, np: tf.nn.embedding_lookup([], [1]),
    "embedding of another": lambda tf, np: tf.nn.embedding_lookup(None, [1]),
    "embedding strategy": lambda tf, np: tf.nn.embedding_lookup(
        [tf.zeros([2, 2]), tf.zeros([2, 2])], [1], partition_strategy="other"
    ),
    "embedding index": lambda tf, np: _step(tf, tf.nn.embedding_lookup(tf.zeros([2, 2]), [5])),
    "rnn cell": lambda tf, np: tf.nn.dynamic_rnn(3, tf.zeros([2, 3, 4]), dtype=tf.float32),
    "rnn without dtype": lambda tf, np: _rnn(tf, tf.zeros([2, 3, 4])),
    "rnn rank": lambda tf, np: _rnn(tf, tf.zeros([2, 3]), dtype=tf.float32),
    "rnn depth": lambda tf, np: _rnn(tf, tf.placeholder(tf.float32, [2, 3, None]), dtype=tf.float32),
    "rnn lengths": lambda tf, np: _rnn(
        tf, tf.zeros([2, 3, 4]), sequence_length=tf.zeros([2, 2], tf.int32), dtype=tf.float32
    ),
    "rnn count of lengths": lambda tf, np: _step(
        tf, _rnn(tf, tf.zeros([2, 3, 4]), sequence_length=tf.constant([1, 2, 3]), dtype=tf.float32)
    ),
    "rnn inputs": lambda tf, np: tf.nn.static_rnn(tf.nn.rnn_cell.GRUCell(2), tf.zeros([2, 3])),
    "rnn no inputs": lambda tf, np: tf.nn.static_rnn(tf.nn.rnn_cell.GRUCell(2), [], dtype=tf.float32),
    "array written twice": lambda tf, np: _step(tf, _array(tf).write(0, 1.0).write(0, 2.0).stack()),
    "array index": lambda tf, np: _step(tf, _array(tf).write(5, 1.0).stack()),
    "array read": lambda tf, np: _step(tf, _array(tf).read(0)),
    "array read twice": lambda tf, np: _read_twice(tf),
    "array shapes": lambda tf, np: _step(
        tf, _array(tf, infer_shape=False).write(0, [1.0]).write(1, [1.0, 2.0]).stack()
    ),
    "array inferred shape": lambda tf, np: _array(tf).write(0, [1.0]).write(1, [1.0, 2.0]),
    "array split": lambda tf, np: _step(tf, _array(tf).split(tf.zeros([4]), [1, 2]).stack()),
    "map_fn of different lengths": lambda tf, np: _step(
        tf, tf.map_fn(lambda x: x[0] + x[1], (tf.zeros([2]), tf.zeros([3])), dtype=tf.float32)
    ),
    "map_fn of a scalar": lambda tf, np: tf.map_fn(lambda x: x, tf.constant(1.0)),
    "map_fn of another structure": lambda tf, np: tf.map_fn(lambda x: (x, x), tf.zeros([2])),
    "scan not callable": lambda tf, np: tf.scan(3, tf.zeros([2])),
    "foldl not callable": lambda tf, np: tf.foldl(3, tf.zeros([2])),
    "nest": lambda tf, np: tf.contrib.framework.nest.assert_same_structure([1, 2], [1]),
    "nest types": lambda tf, np: tf.contrib.framework.nest.assert_same_structure([1, 2], (1, 2)),
    "moments axis": lambda tf, np: tf.nn.moments(tf.zeros([2]), [3]),
    "summary name": lambda tf, np: _step(tf, tf.summary.scalar("s", tf.zeros([2]))),
    "histogram nan": lambda tf, np: _step(tf, tf.summary.histogram("h", [np.nan])),
    "image rank": lambda tf, np: tf.image.resize_images(tf.zeros([2, 3]), [2, 2]),
    "image size": lambda tf, np: tf.image.resize_images(tf.zeros([2, 3, 1]), [2, 2, 2]),
    "crop too large": lambda tf, np: _step(tf, tf.random_crop(tf.zeros([2, 2]), [3, 3])),
    "crop to box": lambda tf, np: tf.image.crop_to_bounding_box(tf.zeros([2, 3, 1]), 0, 0, 9, 9),
    "pad to box": lambda tf, np: tf.image.pad_to_bounding_box(tf.zeros([2, 3, 1]), 0, 0, 1, 1),
    "rgb": lambda tf, np: tf.image.rgb_to_grayscale(tf.zeros([2, 3, 2])),
    "cholesky": lambda tf, np: _step(tf, tf.cholesky([[1.0, 2.0], [3.0, -4.0]])),
    "inverse": lambda tf, np: _step(tf, tf.matrix_inverse([[1.0, 1.0], [1.0, 1.0]])),
    "solve": lambda tf, np: _step(tf, tf.matrix_solve([[1.0, 1.0], [1.0, 1.0]], [[1.0], [1.0]])),
    "sparse order": lambda tf, np: _step(
        tf, tf.sparse_tensor_to_dense(tf.SparseTensor([[1], [0]], [1.0, 2.0], [2]))
    ),
    "sparse twice": lambda tf, np: _step(
        tf, tf.sparse_tensor_to_dense(tf.SparseTensor([[1], [1]], [1.0, 2.0], [2]))
    ),
    "sparse outside": lambda tf, np: _step(tf, tf.sparse_tensor_to_dense(tf.SparseTensor([[5]], [1.0], [2]))),
    "sparse reshape": lambda tf, np: _step(
        tf,
        tf.sparse_reshape(
            tf.SparseTensor([[1]], [1.0], tf.py_func(lambda: np.int64([2]), [], tf.int64)), [3]
        ).values,
    ),
    "einsum": lambda tf, np: tf.einsum("ij,jk->il", tf.zeros([2, 2]), tf.zeros([2, 2])),
    "einsum sizes": lambda tf, np: tf.einsum("ij,jk->ik", tf.zeros([2, 2]), tf.zeros([3, 2])),
    "boolean_mask": lambda tf, np: tf.boolean_mask(tf.zeros([3]), [True, False]),
    "boolean_mask rank": lambda tf, np: tf.boolean_mask(tf.zeros([3]), True),
    "unstack": lambda tf, np: tf.unstack(tf.placeholder(tf.float32)),
    "split": lambda tf, np: tf.split(tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int32, [None])),
    "distribution": lambda tf, np: tf.distributions.Normal(0.0, tf.zeros([2])).log_prob("a"),
    "supervisor": lambda tf, np: tf.train.Supervisor(logdir=3),
    "queue runner": lambda tf, np: tf.train.QueueRunner(None, []),
    "batch of a scalar": lambda tf, np: tf.train.batch([tf.placeholder(tf.float32)], 2),
    "string_input_producer": lambda tf, np: tf.train.string_input_producer([]),
    "flags": lambda tf, np: tf.flags.FLAGS.nothing_of_the_kind,
    "regularizer scale": lambda tf, np: tf.contrib.layers.l2_regularizer(-1.0),
    "piecewise": lambda tf, np: tf.train.piecewise_constant(tf.constant(1), [1, 2], [0.1]),
    "exponential decay": lambda tf, np: tf.train.exponential_decay(0.1, None, 10, 0.9),
    "moving average": lambda tf, np: tf.train.ExponentialMovingAverage(0.9).apply([tf.constant(1)]),
    "numpy bool": lambda tf, np: tf.where(np.array([True])) + 0.5,
}


def _reused_layer(tf):
    layer = tf.layers.Dense(3)
    layer(tf.zeros([2, 4]))
    return layer(tf.zeros([2, 5]))


def _read_twice(tf):
    array = _array(tf).write(0, 1.0)
    first = array.read(0)
    with tf.control_dependencies([first]):
        _step(tf, [first, array.read(0)])


@cases(*_LIBRARIES)
def libraries(tf, np, key):
    return raises(_LIBRARIES[key], tf, np)
