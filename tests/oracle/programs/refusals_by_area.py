"""What unit tests of public functions look at when they refuse: errors of whole areas, by type and words."""

from kit import raises


def _caught(calls):
    return {key: raises(call) for key, call in calls.items()}


def _steps(tf, calls):
    """The error of each step, in a graph of its own."""

    def step(make):
        def call():
            with tf.Graph().as_default(), tf.Session() as session:
                made = make()
                session.run(
                    [
                        tf.global_variables_initializer(),
                        tf.local_variables_initializer(),
                        tf.tables_initializer(),
                    ]
                )
                session.run(made)

        return call

    return {key: raises(step(make)) for key, make in calls.items()}


def ragged_refusals(tf, np):
    rt = tf.ragged.constant([[1, 2], [3]])
    return _caught(
        {
            "bool": lambda: bool(rt),
            "values": lambda: tf.RaggedTensor.from_row_splits(1, [0, 1]),
            "splits": lambda: tf.RaggedTensor.from_row_splits([1], []),
            "lengths": lambda: tf.RaggedTensor.from_row_lengths([1], 3),
            "nrows": lambda: tf.RaggedTensor.from_value_rowids([1], [0], nrows=-1),
            "small": lambda: tf.RaggedTensor.from_value_rowids([1], [4], nrows=2),
            "types": lambda: tf.RaggedTensor.from_row_splits([1], np.array([0, 1], np.float32)),
            "nested": lambda: tf.RaggedTensor.from_nested_row_splits([1], tf.constant([0, 1])),
            "constructor": lambda: tf.RaggedTensor([1], [0, 1]),
            "index": lambda: rt[0, 0, 0],
            "negative axis": lambda: rt.bounding_shape(axis=-3),
            "mixed": lambda: tf.ragged.constant([[1], 2]),
            "rank": lambda: tf.ragged.constant([[1]], ragged_rank=3),
            "string": lambda: tf.ragged.constant([["a"], [1]]),
            "range": lambda: tf.ragged.range([1, 2], [[3]]),
            "stack": lambda: tf.ragged.stack([rt, tf.constant(1)]),
            "mask": lambda: tf.ragged.boolean_mask(rt, [True, False, True]),
            "convert": lambda: tf.convert_to_tensor(rt),
            "iter": lambda: list(rt),
            "from_tensor": lambda: tf.RaggedTensor.from_tensor([1, 2]),
            "both": lambda: tf.RaggedTensor.from_tensor([[1]], lengths=[1], padding=0),
            "sparse": lambda: tf.RaggedTensor.from_sparse(tf.SparseTensor([[0]], [1], [2])),
        }
    )


def ragged_text(tf, np):
    rt = tf.ragged.constant([[1, 2], [3]])
    value = tf.ragged.constant_value([[1, 2], [3]])
    return [str(rt), repr(rt), str(value), repr(value), value.to_list(), value.shape, value.ragged_rank]


def ragged_slices(tf, np):
    rt = tf.ragged.constant([[1, 2, 3], [], [4], [5, 6]])
    deep = tf.ragged.constant([[[1, 2], [3]], [], [[4, 5, 6]]])
    taken = [
        rt[0],
        rt[-1],
        rt[1:3],
        rt[:, 1:],
        rt[:, :-1],
        rt[::2],
        rt[2, 0],
        rt[:, -2:],
        rt[..., 1:],
        rt[tf.newaxis],
        rt[:, tf.newaxis],
        deep[0, 1],
        deep[:, :1],
        deep[:, :, 1:],
        deep[2, 0, 1],
        deep[..., ::2],
        deep[0],
    ]
    with tf.Session() as s:
        found = s.run(taken)
    return [f.to_list() if hasattr(f, "to_list") else f for f in found]


def variable_scope_refusals(tf, np):
    tf.get_variable("v", [2])

    def reused():
        with tf.variable_scope("", reuse=True):
            tf.get_variable("v", [3])

    def missing():
        with tf.variable_scope("s", reuse=True):
            tf.get_variable("w", [3])

    def typed():
        with tf.variable_scope("", reuse=True):
            tf.get_variable("v", [2], tf.int32)

    def no_name():
        with tf.variable_scope(None):
            pass

    def bad_reuse():
        with tf.variable_scope("a", reuse=3):
            tf.get_variable("x", [1])

    def default_reuse():
        with tf.variable_scope(None, "d", reuse=True):
            pass

    return _caught(
        {
            "again": lambda: tf.get_variable("v", [2]),
            "reused": reused,
            "missing": missing,
            "typed": typed,
            "no name": no_name,
            "scope": lambda: tf.variable_scope(3).__enter__(),
            "bad reuse": bad_reuse,
            "default": default_reuse,
            "shape": lambda: tf.get_variable("x", [None, 2]),
            "no shape": lambda: tf.get_variable("y"),
            "constant": lambda: tf.get_variable("z", [2], initializer=tf.constant([1.0])),
            "init": lambda: tf.get_variable("q", [2], initializer="zeros"),
            "empty": lambda: tf.get_variable("", [2]),
            "partition": lambda: tf.get_variable("p", [4], partitioner=lambda **k: [2, 2]),
            "partition0": lambda: tf.get_variable("p0", [4], partitioner=lambda **k: [0]),
            "partition none": lambda: tf.get_variable("p1", [4], partitioner=lambda **k: None),
            "partition two": lambda: tf.get_variable("p2", [4, 4], partitioner=lambda **k: [2, 2]),
            "int": lambda: tf.get_variable("i", [2], tf.string),
            "regularizer": lambda: tf.get_variable("r", [2], regularizer=3),
            "slash": lambda: tf.get_variable("/a", [2]),
            "trainable": lambda: tf.get_variable(
                "t", [2], trainable=True, synchronization=tf.VariableSynchronization.ON_READ
            ),
        }
    )


def variable_refusals(tf, np):
    v = tf.Variable([1.0, 2.0])
    r = tf.Variable([1.0, 2.0], use_resource=True)
    return _caught(
        {
            "bool": lambda: bool(v),
            "iterate": lambda: list(v),
            "none": lambda: tf.Variable(),
            "shape": lambda: v.assign([1.0, 2.0, 3.0]),
            "resource shape": lambda: r.assign([1.0, 2.0, 3.0]),
            "type": lambda: v.assign(tf.constant([1, 2])),
            "resource type": lambda: r.assign(tf.constant([1, 2])),
            "unknown": lambda: tf.Variable(tf.placeholder(tf.float32, None)),
            "callable": lambda: tf.Variable(lambda: 3, dtype=tf.string),
            "def": lambda: tf.Variable(1.0, variable_def=v.to_proto()),
            "collections": lambda: tf.Variable(1.0, collections="abc"),
            "constraint": lambda: tf.Variable(1.0, constraint=3),
            "in cond": lambda: tf.cond(
                tf.constant(True), lambda: tf.Variable(1.0) + 0, lambda: tf.constant(2.0)
            ),
            "in loop": lambda: tf.while_loop(
                lambda i: i < 3, lambda i: i + tf.Variable(tf.cast(i, tf.int32)), [0]
            ),
            "scatter": lambda: v.scatter_sub(3),
            "load": lambda: v.load([1.0]),
            "eval": lambda: v.eval(),
            "set shape": lambda: v.set_shape([3]),
            "repr": lambda: len(v),
        }
    )


def tensor_array_refusals(tf, np):
    def read_twice():
        ta = tf.TensorArray(tf.float32, 2).unstack([1.0, 2.0])
        with tf.Session() as s:
            s.run([ta.read(0), ta.read(0)])

    def run_it(make):
        def call():
            with tf.Session() as s:
                s.run(make())

        return call

    ta = lambda **k: tf.TensorArray(tf.float32, **k)
    return _caught(
        {
            "read twice": read_twice,
            "unwritten": run_it(lambda: ta(size=2).read(0)),
            "bounds": run_it(lambda: ta(size=2).write(5, 1.0).flow),
            "negative": run_it(lambda: ta(size=2).write(-1, 1.0).flow),
            "read bounds": run_it(lambda: ta(size=2).unstack([1.0, 2.0]).read(7)),
            "twice": run_it(lambda: ta(size=2).write(0, 1.0).write(0, 2.0).flow),
            "type": lambda: ta(size=2).write(0, 1),
            "dtype": run_it(lambda: ta(size=2).write(0, tf.constant("a")).flow),
            "shapes": run_it(
                lambda: ta(size=2, infer_shape=False).write(0, [1.0]).write(1, [1.0, 2.0]).stack()
            ),
            "inferred": lambda: ta(size=2).write(0, [1.0]).write(1, [1.0, 2.0]),
            "element": lambda: ta(size=2, element_shape=[3]).write(0, [1.0]),
            "stack empty": run_it(lambda: ta(size=0, infer_shape=False).stack()),
            "concat empty": run_it(lambda: ta(size=0).concat()),
            "concat scalars": run_it(lambda: ta(size=2).unstack([1.0, 2.0]).concat()),
            "split": run_it(lambda: ta(size=2).split([1.0, 2.0, 3.0], [1, 1]).flow),
            "split count": run_it(lambda: ta(size=3).split([1.0, 2.0, 3.0], [1, 2]).flow),
            "split scalar": run_it(lambda: ta(size=2).split(1.0, [1, 1]).flow),
            "unstack": run_it(lambda: ta(size=3).unstack([1.0, 2.0]).flow),
            "unstack scalar": lambda: ta(size=1).unstack(1.0),
            "gather": run_it(lambda: ta(size=2).unstack([1.0, 2.0]).gather([0, 9])),
            "scatter": run_it(lambda: ta(size=2).scatter([0, 9], [1.0, 2.0]).flow),
            "scatter count": run_it(lambda: ta(size=2).scatter([0], [1.0, 2.0]).flow),
            "handle": lambda: tf.TensorArray(tf.float32, 2, handle=tf.constant("a"), tensor_array_name="x"),
            "size none": lambda: tf.TensorArray(tf.float32),
            "size matrix": lambda: run_it(lambda: tf.TensorArray(tf.float32, [2]).flow)(),
            "closed": run_it(lambda: _closed(tf)),
        }
    )


def _closed(tf):
    ta = tf.TensorArray(tf.float32, 2, clear_after_read=False).unstack([1.0, 2.0])
    with tf.control_dependencies([ta.close()]):
        return ta.read(0) + 0


def control_flow_refusals(tf, np):
    x = tf.constant(1.0)
    p = tf.placeholder(tf.float32)

    def leak():
        outs = []
        tf.cond(x > 0, lambda: outs.append(x + 1) or outs[0], lambda: x)
        return outs[0] + x

    def leaked_run():
        outs = []
        tf.cond(p > 0, lambda: outs.append(p + 1) or outs[0], lambda: p)
        with tf.Session() as s:
            s.run(outs[0], {p: 1.0})

    def while_leak():
        outs = []
        tf.while_loop(lambda i: i < 3, lambda i: outs.append(i + 1) or outs[0], [0])
        with tf.Session() as s:
            s.run(outs[0])

    return _caught(
        {
            "pred": lambda: tf.cond(1, lambda: x, lambda: x),
            "pred bool": lambda: tf.cond(True, lambda: x, lambda: x),
            "pred shape": lambda: tf.cond(tf.constant([True, False]), lambda: x, lambda: x),
            "no fn": lambda: tf.cond(x > 0, x, lambda: x),
            "no fn2": lambda: tf.cond(x > 0, lambda: x, x),
            "none": lambda: tf.cond(x > 0, lambda: None, lambda: x),
            "types": lambda: tf.cond(x > 0, lambda: x, lambda: tf.constant(1)),
            "count": lambda: tf.cond(x > 0, lambda: [x, x], lambda: [x]),
            "structure": lambda: tf.cond(x > 0, lambda: [x], lambda: (x,)),
            "dict": lambda: tf.cond(x > 0, lambda: {"a": x}, lambda: {"b": x}),
            "leak": leaked_run,
            "while leak": while_leak,
            "loop vars": lambda: tf.while_loop(lambda i: i < 3, lambda i: i, []),
            "loop cond": lambda: tf.while_loop(3, lambda i: i, [0]),
            "loop body": lambda: tf.while_loop(lambda i: i < 3, 3, [0]),
            "loop none": lambda: tf.while_loop(lambda i: i < 3, lambda i: None, [0]),
            "loop count": lambda: tf.while_loop(lambda i, j: i < 3, lambda i, j: [i], [0, 1]),
            "loop shape": lambda: tf.while_loop(
                lambda i, j: i < 3, lambda i, j: [i, tf.concat([j, j], 0)], [0, [1]]
            ),
            "loop pred": lambda: tf.while_loop(lambda i: i, lambda i: i + 1, [0]),
            "loop invariants": lambda: tf.while_loop(
                lambda i: i < 3, lambda i: i + 1, [0], shape_invariants=[]
            ),
            "loop invariant": lambda: tf.while_loop(
                lambda i: i[0] < 3, lambda i: i + 1, [[0, 1]], shape_invariants=[tf.TensorShape([3])]
            ),
            "parallel": lambda: tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0], parallel_iterations=0),
            "parallel type": lambda: tf.while_loop(
                lambda i: i < 3, lambda i: i + 1, [0], parallel_iterations="a"
            ),
            "structure loop": lambda: tf.while_loop(lambda i: i[0] < 3, lambda i: {"a": i[0]}, [(0, 1)]),
            "case list": lambda: tf.case(3),
            "case pairs": lambda: tf.case([x]),
            "case pred": lambda: tf.case([(x, lambda: x)]),
            "case fn": lambda: tf.case([(x > 0, x)]),
            "case default": lambda: tf.case([(x > 0, lambda: x)], default=3),
            "case dict": lambda: tf.case({x > 0: lambda: x}),
            "case strict": lambda: tf.case(
                [(x > 0, lambda: x), (x > 0.5, lambda: x)], exclusive=True, strict=True
            ),
            "switch fn": lambda: tf.switch_case(tf.constant(0), [3]),
            "switch index": lambda: tf.switch_case(x, [lambda: x]),
            "group": lambda: tf.group(3),
            "group dict": lambda: tf.group({"a": 3}),
            "tuple": lambda: tf.tuple([]),
            "tuple none": lambda: tf.tuple([None]),
            "tuple control": lambda: tf.tuple([x], control_inputs=[3]),
            "deps": lambda: tf.control_dependencies([3]).__enter__(),
            "identity_n": lambda: tf.identity_n([]),
            "fold": lambda: tf.foldl(3, [1.0]),
            "map": lambda: tf.map_fn(3, [1.0]),
            "map scalar": lambda: tf.map_fn(lambda a: a, 1.0),
            "map dtype": lambda: tf.map_fn(lambda a: (a, a), [1.0]),
            "scan": lambda: tf.scan(3, [1.0]),
        }
    )


def graph_refusals(tf, np):
    g = tf.get_default_graph()
    a = tf.constant(1, name="a")

    def finalized():
        with tf.Graph().as_default() as other:
            other.finalize()
            tf.constant(1)

    def other_graph():
        with tf.Graph().as_default():
            return tf.identity(a)

    def scope(name):
        with g.name_scope(name):
            return tf.constant(1).name

    def import_(text, **keys):
        from google.protobuf import text_format

        tf.import_graph_def(text_format.Parse(text, tf.GraphDef()), **keys)

    return _caught(
        {
            "finalized": finalized,
            "other": other_graph,
            "element": lambda: g.as_graph_element("b"),
            "element:0": lambda: g.as_graph_element("b:0"),
            "output": lambda: g.as_graph_element("a:3"),
            "element type": lambda: g.as_graph_element(3),
            "kind": lambda: g.as_graph_element("a:0", allow_tensor=False),
            "kind2": lambda: g.as_graph_element("a", allow_operation=False),
            "none": lambda: g.as_graph_element("a", allow_operation=False, allow_tensor=False),
            "tensor": lambda: g.get_tensor_by_name("a"),
            "tensor int": lambda: g.get_tensor_by_name(3),
            "op": lambda: g.get_operation_by_name("zzz"),
            "op tensor": lambda: g.get_operation_by_name("a:0"),
            "op int": lambda: g.get_operation_by_name(3),
            "colon": lambda: g.get_tensor_by_name("a:b"),
            "scope": lambda: scope("a b"),
            "scope2": lambda: scope("_x"),
            "seed": lambda: tf.set_random_seed("a"),
            "device": lambda: g.device("/job:x/q").__enter__() or tf.constant(1),
            "override": lambda: g.gradient_override_map({1: 2}).__enter__(),
            "override type": lambda: g.gradient_override_map("a").__enter__(),
            "gradient": lambda: _gradient_override(tf),
            "collection": lambda: tf.add_to_collections(3, 1),
            "import empty": lambda: tf.import_graph_def(3),
            "import none": lambda: tf.import_graph_def(None),
            "import op": lambda: import_("node { name: 'A' op: 'NoSuchOp' }"),
            "import input": lambda: import_(
                "node { name: 'A' op: 'Identity' input: 'B' attr { key: 'T' value { type: DT_FLOAT } } }"
            ),
            "import map": lambda: import_("node { name: 'A' op: 'NoOp' }", input_map={"B:0": a}),
            "import map type": lambda: import_("node { name: 'A' op: 'NoOp' }", input_map=[a]),
            "import return": lambda: import_("node { name: 'A' op: 'NoOp' }", return_elements=["B"]),
            "import return0": lambda: import_("node { name: 'A' op: 'NoOp' }", return_elements=["A:0"]),
            "import return type": lambda: import_("node { name: 'A' op: 'NoOp' }", return_elements=[3]),
            "import name": lambda: import_("node { name: 'A' op: 'NoOp' }", name="a b"),
            "import dup": lambda: import_("node { name: 'A' op: 'NoOp' } node { name: 'A' op: 'NoOp' }"),
            "import bad": lambda: import_("node { name: 'A b' op: 'NoOp' }"),
            "import version": lambda: import_("versions { producer: 3 min_consumer: 10000 }"),
            "prefix": lambda: import_("node { name: 'A' op: 'NoOp' }", name="a/"),
        }
    )


def _gradient_override(tf):
    with tf.get_default_graph().gradient_override_map({"Square": "NotThere"}):
        y = tf.square(tf.constant(1.0))
    return tf.gradients(y, y.op.inputs[0])


def gradients_refusals(tf, np):
    x = tf.constant(1.0)
    i = tf.constant(1)
    v = tf.Variable(1.0)
    return _caught(
        {
            "integers": lambda: tf.gradients(i * 2, i),
            "count": lambda: tf.gradients([x * 2], x, grad_ys=[x, x]),
            "method": lambda: tf.gradients(x * 2, x, aggregation_method=99),
            "unconnected": lambda: tf.gradients(x * 2, v, unconnected_gradients="bad"),
            "hessian": lambda: tf.hessians(tf.constant([[1.0]]) * 2, tf.constant([[1.0]])),
            "missing": lambda: tf.gradients(
                tf.nn.fractional_max_pool(tf.ones([1, 4, 4, 1]), [1.0, 1.5, 1.5, 1.0])[0], x
            ),
            "minimize": lambda: tf.train.GradientDescentOptimizer(0.1).minimize(x),
            "minimize int": lambda: tf.train.GradientDescentOptimizer(0.1).minimize(tf.cast(v, tf.int32)),
            "apply": lambda: tf.train.GradientDescentOptimizer(0.1).apply_gradients([]),
            "apply none": lambda: tf.train.GradientDescentOptimizer(0.1).apply_gradients([(None, v)]),
            "apply type": lambda: tf.train.GradientDescentOptimizer(0.1).apply_gradients([("a", v)]),
            "apply var": lambda: tf.train.GradientDescentOptimizer(0.1).apply_gradients([(x, x)]),
            "compute": lambda: tf.train.GradientDescentOptimizer(0.1).compute_gradients(
                v * 2, var_list=[x * 2]
            ),
            "gate": lambda: tf.train.GradientDescentOptimizer(0.1).compute_gradients(v * 2, gate_gradients=9),
            "slots": lambda: tf.train.AdamOptimizer().get_slot(v, "zzz"),
            "name": lambda: tf.train.GradientDescentOptimizer(0.1, name=""),
        }
    )


def dataset_refusals(tf, np):
    D = tf.data.Dataset
    d = D.range(4)
    nxt = lambda ds: tf.data.make_one_shot_iterator(ds).get_next()
    return dict(
        _caught(
            {
                "batch": lambda: D.range(3).batch("a"),
                "zip": lambda: D.zip([d, d]),
                "zip type": lambda: D.zip(3),
                "concat types": lambda: d.concatenate(D.from_tensors(1.0)),
                "concat structure": lambda: d.concatenate(D.from_tensors((1, 2))),
                "filter": lambda: d.filter(lambda x: x),
                "flat_map": lambda: d.flat_map(lambda x: x),
                "interleave": lambda: d.interleave(lambda x: x, 2),
                "generator": lambda: D.from_generator(3, tf.int32),
                "generator args": lambda: D.from_generator(lambda: [1], tf.int32, args=3),
                "slices": lambda: D.from_tensor_slices(1),
                "slices sizes": lambda: D.from_tensor_slices(([1, 2], [1, 2, 3])),
                "sparse": lambda: D.from_sparse_tensor_slices([1]),
                "padded": lambda: D.from_tensors([1]).padded_batch(2, [2, 2]),
                "padded shape": lambda: D.from_tensors([1, 2, 3]).padded_batch(2, [2]),
                "padded value": lambda: D.from_tensors([1]).padded_batch(2, [None], "a"),
                "padded values": lambda: D.from_tensors([1]).padded_batch(2, [None], (1, 2)),
                "reduce": lambda: d.reduce(0.0, lambda s, x: x),
                "map none": lambda: d.map(lambda x: None),
                "map object": lambda: d.map(lambda x: object()),
                "options": lambda: d.with_options(3),
                "prefetch": lambda: d.prefetch(-7),
                "range": lambda: D.range(),
                "range4": lambda: D.range(1, 2, 3, 4),
                "shard": lambda: d.shard(0, 0),
                "shard index": lambda: d.shard(2, 5),
                "shard negative": lambda: d.shard(2, -1),
                "window": lambda: d.window(0),
                "iterator structure": lambda: tf.data.Iterator.from_structure(
                    tf.int64, tf.TensorShape([])
                ).make_initializer(D.from_tensors(1.0)),
                "iterator shape": lambda: tf.data.Iterator.from_structure(
                    tf.int64, tf.TensorShape([2])
                ).make_initializer(d),
                "apply": lambda: d.apply(lambda x: 3),
                "from tensors": lambda: D.from_tensors([]),
                "cache": lambda: d.cache(3),
                "bool": lambda: bool(d) or 1 / 0,
                "iter": lambda: iter(d),
                "len": lambda: len(d),
                "bad name": lambda: tf.data.Iterator.from_string_handle(3, tf.int64),
            }
        ),
        **_steps(
            tf,
            {
                "s end": lambda: [nxt(D.range(0))],
                "s batch zero": lambda: nxt(D.range(4).batch(0)),
                "s repeat": lambda: nxt(D.range(4).repeat(0)),
                "s batch shapes": lambda: nxt(
                    D.from_generator(lambda: iter([[1], [1, 2]]), tf.int32).batch(2)
                ),
                "s padded": lambda: nxt(
                    D.from_generator(lambda: iter([[1], [1, 2, 3]]), tf.int32, [None]).padded_batch(2, [2])
                ),
                "s map": lambda: nxt(
                    D.range(4).map(lambda x: tf.check_numerics(tf.cast(x, tf.float32) / 0.0, "oh"))
                ),
                "s generator type": lambda: nxt(D.from_generator(lambda: iter(["a"]), tf.int32)),
                "s generator shape": lambda: nxt(D.from_generator(lambda: iter([[1, 2]]), tf.int32, [3])),
                "s generator structure": lambda: nxt(
                    D.from_generator(lambda: iter([(1, 2)]), (tf.int32, tf.int32, tf.int32))
                ),
                "s generator raises": lambda: nxt(D.from_generator(lambda: (1 / 0 for _ in [1]), tf.int32)),
                "s shuffle": lambda: nxt(D.range(4).shuffle(0)),
                "s window": lambda: nxt(D.range(4).window(2, -1).flat_map(lambda w: w)),
                "s shard": lambda: nxt(D.range(4).shard(tf.constant(0, tf.int64), 0)),
                "s prefetch": lambda: nxt(D.range(4).prefetch(tf.constant(-3, tf.int64))),
                "s skip": lambda: nxt(D.range(4).skip(9)),
                "s file": lambda: nxt(tf.data.TextLineDataset("/nope")),
                "s record": lambda: nxt(tf.data.TFRecordDataset("/nope")),
                "s fixed": lambda: nxt(tf.data.FixedLengthRecordDataset("/nope", 0)),
                "s listing": lambda: nxt(D.list_files("/nope/*")),
                "s single": lambda: tf.data.experimental.get_single_element(D.range(4)),
                "s single none": lambda: tf.data.experimental.get_single_element(D.range(0)),
                "s uninitialized": lambda: tf.data.make_initializable_iterator(D.range(4)).get_next(),
                "s interleave": lambda: nxt(D.range(4).interleave(lambda x: D.range(x), 0)),
                "s cycle": lambda: nxt(D.range(4).interleave(lambda x: D.range(x), 1, 0)),
                "s parallel": lambda: nxt(D.range(4).map(lambda x: x, num_parallel_calls=0)),
                "s range": lambda: nxt(D.range(0, 5, 0)),
                "s reduce": lambda: D.range(0).reduce(np.int64(7), lambda s, x: s + x) // 0,
                "s unbatch": lambda: nxt(D.from_tensors(([1, 2], [1, 2, 3])).unbatch()),
                "s bucket": lambda: nxt(
                    D.from_tensors([1, 2]).apply(
                        tf.data.experimental.bucket_by_sequence_length(lambda x: tf.size(x), [1], [1])
                    )
                ),
                "s csv": lambda: nxt(tf.data.experimental.CsvDataset("/nope", [tf.int32])),
                "s choose": lambda: nxt(
                    tf.data.experimental.choose_from_datasets(
                        [D.range(4), D.range(4)], D.from_tensors(np.int64(7))
                    )
                ),
            },
        ),
    )


def lookup_uninitialized(tf, np):
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1]), -1)
    other = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1]), -1)
    with tf.Session() as s:
        before = raises(s.run, table.lookup(tf.constant(["a"])))
        s.run(table.initializer)
        s.run(table.initializer)
        return [
            before,
            s.run(table.lookup(tf.constant([["a"], ["z"]]))),
            raises(s.run, other.size()),
            [op.type for op in tf.get_default_graph().get_operations()],
        ]


def lookup_steps(tf, np):
    init = tf.lookup.KeyValueTensorInitializer
    dense = lambda **k: tf.contrib.lookup.MutableDenseHashTable(
        tf.int64, tf.int64, -1, **dict(dict(empty_key=5, deleted_key=6), **k)
    )
    return _steps(
        tf,
        {
            "no file": lambda: tf.lookup.StaticHashTable(
                tf.lookup.TextFileInitializer(
                    "/nope", tf.string, 0, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER
                ),
                -1,
            ).size(),
            "duplicate": lambda: tf.lookup.StaticHashTable(init(["a", "a"], [1, 2]), -1).size(),
            "default shape": lambda: tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, [1, 2]).insert(
                ["a"], [[1, 2, 3]]
            ),
            "same": lambda: dense(deleted_key=5).size(),
            "empty": lambda: dense().insert([5], [1]),
            "deleted": lambda: dense().insert([6], [1]),
            "lookup": lambda: dense().lookup([5]),
            "remove": lambda: dense().erase([6]) if hasattr(dense(), "erase") else dense().remove([6]),
            "buckets": lambda: dense(initial_num_buckets=12).size(),
        },
    )


def queue_refusals(tf, np):
    q = lambda **k: tf.FIFOQueue(4, tf.float32, **k)
    return dict(
        _caught(
            {
                "types": lambda: tf.FIFOQueue(4, tf.float32).enqueue([1.0, 2.0]),
                "value": lambda: q().enqueue("a"),
                "shape": lambda: q(shapes=[[2]]).enqueue([1.0]),
                "many": lambda: q(shapes=[[]]).enqueue_many(1.0),
                "names": lambda: q(names=["a"]).enqueue([1.0]),
                "no names": lambda: q().enqueue({"a": 1.0}),
                "keys": lambda: q(names=["a"]).enqueue({"b": 1.0}),
                "names count": lambda: q(names=["a", "b"]),
                "shapes count": lambda: q(shapes=[[], []]),
                "dequeue many": lambda: q().dequeue_many(2),
                "random": lambda: tf.RandomShuffleQueue(4, 5, tf.float32).size(),
                "padding": lambda: tf.PaddingFIFOQueue(4, tf.float32, None),
                "padding shape": lambda: tf.PaddingFIFOQueue(4, tf.float32, shapes=[tf.TensorShape(None)]),
                "select": lambda: tf.QueueBase.from_list(0, [q(), tf.FIFOQueue(4, tf.int32)]),
                "select none": lambda: tf.QueueBase.from_list(0, []),
                "select type": lambda: tf.QueueBase.from_list(0, [3]),
                "runner": lambda: tf.train.QueueRunner(queue=q(), enqueue_ops=[]),
                "runner none": lambda: tf.train.QueueRunner(),
                "runner both": lambda: tf.train.QueueRunner(q(), [], queue_runner_def=3),
                "batch": lambda: tf.train.batch([1.0], -1),
                "batch none": lambda: tf.train.batch([tf.placeholder(tf.float32)], 2),
                "shuffle": lambda: tf.train.shuffle_batch([1.0], 2, 3, 9),
                "producer": lambda: tf.train.input_producer(1.0),
                "slice": lambda: tf.train.slice_input_producer([]),
                "string": lambda: tf.train.string_input_producer([]),
            }
        ),
        **_steps(
            tf,
            {
                "s capacity": lambda: tf.FIFOQueue(-2, tf.float32).size(),
                "s fifo shape": lambda: q(shapes=[[2]]).enqueue(tf.placeholder_with_default([1.0], None)),
                "s closed": lambda: _after_close(tf, q(), lambda x: x.enqueue(1.0)),
                "s closed out": lambda: _after_close(tf, q(), lambda x: x.dequeue()),
                "s closed many": lambda: _after_close(tf, q(shapes=[[]]), lambda x: x.dequeue_many(2)),
                "s many": lambda: q(shapes=[[]]).dequeue_many(-1),
                "s unshaped": lambda: q().dequeue_up_to(2),
            },
        ),
    )


def layers_refusals(tf, np):
    x = lambda *s: tf.placeholder(tf.float32, list(s))
    return _caught(
        {
            "dense last": lambda: tf.layers.dense(x(2, None), 3),
            "dense rank": lambda: tf.layers.dense(tf.placeholder(tf.float32), 3),
            "dense scalar": lambda: tf.layers.dense(x(4), 3),
            "dense int": lambda: tf.layers.dense(tf.constant([[1, 2]]), 3),
            "conv rank": lambda: tf.layers.conv2d(x(2, 3, 4), 3, 3),
            "conv channels": lambda: tf.layers.conv2d(x(2, 3, 4, None), 3, 3),
            "conv padding": lambda: tf.layers.conv2d(x(2, 3, 4, 2), 3, 3, padding="a"),
            "conv format": lambda: tf.layers.conv2d(x(2, 3, 4, 2), 3, 3, data_format="a"),
            "conv strides": lambda: tf.layers.conv2d(x(2, 3, 4, 2), 3, 3, strides=(1, 2, 3)),
            "conv strides none": lambda: tf.layers.conv2d(x(2, 3, 4, 2), 3, 3, strides=None),
            "conv kernel": lambda: tf.layers.conv2d(x(2, 3, 4, 2), 3, (1, 2, 3)),
            "conv kernel none": lambda: tf.layers.conv2d(x(2, 3, 4, 2), 3, None),
            "conv both": lambda: tf.layers.conv2d(x(2, 3, 4, 2), 3, 3, strides=2, dilation_rate=2),
            "conv big": lambda: tf.layers.conv2d(x(2, 3, 4, 2), 3, 9),
            "transpose rank": lambda: tf.layers.conv2d_transpose(x(2, 3, 4), 3, 3),
            "pool": lambda: tf.layers.max_pooling2d(x(2, 3, 4), 3, 3),
            "pool strides": lambda: tf.layers.max_pooling2d(x(2, 3, 4, 1), 3, (1, 2, 3)),
            "pool strides none": lambda: tf.layers.max_pooling2d(x(2, 3, 4, 1), 3, None),
            "pool size": lambda: tf.layers.max_pooling2d(x(2, 3, 4, 1), (1, 2, 3), 2),
            "pool format": lambda: tf.layers.max_pooling2d(x(2, 3, 4, 1), 2, 2, data_format="x"),
            "norm": lambda: tf.layers.batch_normalization(tf.placeholder(tf.float32)),
            "norm axis": lambda: tf.layers.batch_normalization(x(2, 3), axis=5),
            "norm virtual": lambda: tf.layers.batch_normalization(x(4, 3), virtual_batch_size=2, renorm=True),
            "renorm": lambda: tf.layers.batch_normalization(x(4, 3), renorm=True, renorm_clipping={"a": 1}),
            "dropout": lambda: tf.layers.dropout(x(4, 3), rate=2.0, training=True),
            "flatten": lambda: tf.layers.flatten(tf.constant(1.0)),
            "regularizer": lambda: tf.layers.dense(x(2, 3), 3, kernel_regularizer="l3"),
            "activation": lambda: tf.layers.dense(x(2, 3), 3, activation="no"),
            "separable": lambda: tf.layers.separable_conv2d(x(2, 5, 5), 3, 3),
            "reuse": lambda: tf.layers.dense(x(2, 3), 3, reuse=True, name="not_there"),
            "kwargs": lambda: tf.layers.Dense(3, zzz=1),
            "input": lambda: tf.layers.Dense(3).input,
            "count": lambda: tf.layers.Dense(3).count_params(),
            "output shape": lambda: tf.layers.Dense(3).compute_output_shape([2, None]),
            "two": lambda: _two_inputs(tf),
            "again": lambda: _other_depth(tf),
        }
    )


def _two_inputs(tf):
    layer = tf.layers.Dense(3)
    layer(tf.ones([2, 3])), layer(tf.ones([4, 3]))
    return layer.input


def _other_depth(tf):
    layer = tf.layers.Dense(3)
    return layer(tf.ones([2, 3])), layer(tf.ones([2, 4]))


def losses_and_metrics_refusals(tf, np):
    x = tf.constant([[1.0, 2.0]])
    names = [
        "absolute_difference",
        "log_loss",
        "mean_squared_error",
        "huber_loss",
        "hinge_loss",
        "mean_pairwise_squared_error",
    ]
    made = {}
    for name in names:
        f = getattr(tf.losses, name)
        made[name + " none"] = lambda f=f: f(None, x)
        made[name + " shape"] = lambda f=f: f(x, tf.ones([1, 3]))
        made[name + " weights"] = lambda f=f: f(x, x, weights=tf.ones([3]))
        made[name + " weights none"] = lambda f=f: f(x, x, weights=None)
        made[name + " reduction"] = lambda f=f: f(x, x, reduction="a")
    for name in [
        "accuracy",
        "mean_absolute_error",
        "precision",
        "recall",
        "auc",
        "mean_iou",
        "mean_per_class_accuracy",
    ]:
        f = getattr(tf.metrics, name)
        more = (3,) if name in ("mean_iou", "mean_per_class_accuracy") else ()
        made["m %s shape" % name] = lambda f=f, more=more: f(x, tf.ones([1, 3]), *more)
        made["m %s collection" % name] = lambda f=f, more=more: f(x > 1, x > 1, *more, metrics_collections=3)
    made.update(
        {
            "cosine": lambda: tf.losses.cosine_distance(x, x),
            "cosine shape": lambda: tf.losses.cosine_distance(x, tf.ones([1, 3]), axis=1),
            "sparse softmax": lambda: tf.losses.sparse_softmax_cross_entropy(tf.constant([1, 2, 3]), x),
            "sparse softmax weights": lambda: tf.losses.sparse_softmax_cross_entropy(
                [0], x, weights=tf.ones([2])
            ),
            "softmax shape": lambda: tf.losses.softmax_cross_entropy(tf.ones([1, 3]), x),
            "sigmoid shape": lambda: tf.losses.sigmoid_cross_entropy(tf.ones([1, 3]), x),
            "compute none": lambda: tf.losses.compute_weighted_loss(None),
            "percentage": lambda: tf.metrics.percentage_below(x, None),
            "sensitivity": lambda: tf.metrics.sensitivity_at_specificity(x > 1, x, 3.0),
            "specificity": lambda: tf.metrics.specificity_at_sensitivity(x > 1, x, -1.0),
            "auc curve": lambda: tf.metrics.auc(x > 1, x, curve="a"),
            "auc thresholds": lambda: tf.metrics.auc(x > 1, x, num_thresholds=1),
            "at k": lambda: tf.metrics.precision_at_k(tf.constant([[1]], tf.int64), x, 0),
            "at k class": lambda: tf.metrics.recall_at_k(tf.constant([[1]], tf.int64), x, 1, class_id=-1),
        }
    )
    return _caught(made)


def loss_and_metric_steps(tf, np):
    p = lambda v: tf.placeholder_with_default(np.array(v, np.float32), None)
    return _steps(
        tf,
        {
            "weights": lambda: tf.losses.absolute_difference(
                p([[1.0, 2]]), p([[1.0, 2]]), weights=p([1, 2, 3])
            ),
            "weights rank": lambda: tf.losses.mean_squared_error(
                p([[1.0, 2]]), p([[1.0, 2]]), weights=p([[1, 2], [3, 4]])
            ),
            "metric weights": lambda: tf.metrics.mean(p([[1.0, 2]]), weights=p([1, 2, 3])),
            "sparse": lambda: tf.losses.sparse_softmax_cross_entropy(
                tf.placeholder_with_default([5], None), p([[1.0, 2]])
            ),
            "confusion": lambda: tf.confusion_matrix([1, 7], [1, 2], num_classes=3),
            "confusion neg": lambda: tf.confusion_matrix([1, -7], [1, 2]),
            "top k": lambda: tf.nn.in_top_k([[1.0, 2.0]], [5], 1),
        },
    )


def _after_close(tf, q, then):
    with tf.control_dependencies([q.close()]):
        return then(q)
