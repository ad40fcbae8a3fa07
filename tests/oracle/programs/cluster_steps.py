"""Steps over the tasks of a cluster: what crosses from one to another, control flow, state, errors."""

from kit import cases, product, raises
from local_tasks import fresh, on


def dtypes_cross(tf, np):
    target = fresh(tf)
    values = {}
    for i, d in enumerate(
        [
            tf.float16,
            tf.bfloat16,
            tf.float32,
            tf.float64,
            tf.int8,
            tf.uint8,
            tf.int16,
            tf.uint16,
            tf.int32,
            tf.int64,
            tf.uint32,
            tf.uint64,
            tf.complex64,
            tf.complex128,
            tf.bool,
        ]
    ):
        with tf.device(on("ps", i % 2)):
            x = (
                tf.constant([[0, 1], [1, 0]], dtype=d)
                if d not in (tf.bool, tf.bfloat16, tf.uint16, tf.uint32, tf.uint64)
                else tf.cast(tf.constant([[0, 1], [1, 0]]), d)
            )
            x = tf.placeholder_with_default(x, [None, 2])
        with tf.device(on("worker", 1)):
            values[d.name] = tf.identity(x)
    with tf.device(on("ps")):
        s = tf.placeholder_with_default([b"", b"a\0b", "é".encode(), b"x" * 100000], [None])
    with tf.device(on("worker", 1)):
        values["strings"] = tf.string_join([s, s])
    with tf.device(on("ps")):
        q = tf.quantize(tf.placeholder_with_default([0.0, 1.0], [2]), 0.0, 1.0, tf.quint8)
        e = tf.placeholder_with_default(np.zeros((0, 3), np.float32), [None, 3])
    with tf.device(on("worker")):
        values["quint8"] = tf.dequantize(*q)
        values["empty"] = e + 1
    with tf.Session(target) as session:
        return session.run(values)


def sparse_crosses(tf, np):
    target = fresh(tf)
    with tf.device(on("ps")):
        sp = tf.sparse_placeholder(tf.float32, name="sp")
        sp2 = tf.SparseTensor(sp.indices, sp.values * 2, sp.dense_shape)
    with tf.device(on("worker", 1)):
        dense = tf.sparse_tensor_to_dense(sp2)
        many = tf.sparse_add(sp2, sp2)
    with tf.Session(target) as session:
        v = tf.SparseTensorValue([[0, 1], [2, 0]], [1.0, 2.0], [3, 2])
        return session.run([dense, many], {sp: v})


def variant_crosses(tf, np):
    target = fresh(tf)
    with tf.device(on("ps")):
        l = tf.raw_ops.TensorListFromTensor(
            tensor=tf.constant([[1.0, 2], [3, 4]]), element_shape=tf.constant([2])
        )
        sp = tf.raw_ops.SerializeSparse(
            sparse_indices=np.array([[0, 1]], np.int64),
            sparse_values=[1.0],
            sparse_shape=np.array([2, 2], np.int64),
            out_type=tf.variant,
        )
    with tf.device(on("worker", 1)):
        stacked = tf.raw_ops.TensorListStack(
            input_handle=l, element_shape=tf.constant([2]), element_dtype=tf.float32, num_elements=-1
        )
        back = tf.raw_ops.DeserializeSparse(serialized_sparse=sp, dtype=tf.float32)
    with tf.Session(target) as session:
        return session.run([stacked, back])


def more_variants(tf, np):
    target = fresh(tf)
    x = tf.placeholder_with_default([1.0, 2.0, 3.0], [None])
    with tf.device(on("ps")):
        shape = tf.constant([], tf.int32)
        l = tf.raw_ops.TensorListReserve(element_shape=shape, num_elements=3, element_dtype=tf.float32)
        l = tf.raw_ops.TensorListSetItem(input_handle=l, index=1, item=x[1])
        names = tf.raw_ops.TensorListFromTensor(tensor=tf.as_string(x), element_shape=shape)
        nested = tf.raw_ops.TensorListPushBack(
            input_handle=tf.raw_ops.EmptyTensorList(
                element_shape=shape, max_num_elements=4, element_dtype=tf.variant
            ),
            tensor=names,
        )
    with tf.device(on("worker", 1)):
        item = tf.raw_ops.TensorListGetItem(
            input_handle=l, index=0, element_shape=shape, element_dtype=tf.float32
        )
        set_ = tf.raw_ops.TensorListGetItem(
            input_handle=l, index=1, element_shape=shape, element_dtype=tf.float32
        )
        n = tf.raw_ops.TensorListLength(input_handle=l)
        texts = tf.raw_ops.TensorListStack(
            input_handle=names, element_shape=shape, element_dtype=tf.string, num_elements=-1
        )
        inner = tf.raw_ops.TensorListPopBack(
            input_handle=nested, element_shape=shape, element_dtype=tf.variant
        )[1]
        again = tf.raw_ops.TensorListStack(
            input_handle=inner, element_shape=shape, element_dtype=tf.string, num_elements=-1
        )
    with tf.Session(target) as s:
        return s.run([item, set_, n, texts, again])


def lists_in_loops(tf, np):
    target = fresh(tf)
    shape = tf.constant([], tf.int32)
    with tf.device(on("ps")):
        start = tf.raw_ops.EmptyTensorList(element_shape=shape, max_num_elements=-1, element_dtype=tf.float32)

        def body(i, l):
            with tf.device(on("worker", 1)):
                l = tf.raw_ops.TensorListPushBack(input_handle=l, tensor=tf.cast(i, tf.float32))
            return i + 1, l

        _, l = tf.while_loop(lambda i, l: i < 4, body, [0, start])
    with tf.device(on("ps", 1)):
        out = tf.raw_ops.TensorListStack(
            input_handle=l, element_shape=shape, element_dtype=tf.float32, num_elements=-1
        )
    with tf.Session(target) as s:
        return s.run(out)


def resource_from_another_task(tf, np):
    """A handle made on ps, used on worker with a forced device."""
    target = fresh(tf)
    with tf.device(on("ps", 1)):
        h = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[], shared_name="hh")
        a = tf.raw_ops.AssignVariableOp(resource=h, value=3.0)
    with tf.device(on("worker", 1)):
        r = tf.raw_ops.ReadVariableOp(resource=h, dtype=tf.float32)
    with tf.Session(target) as session:
        session.run(a)
        return session.run(r)


def while_over_tasks(tf, np):
    target = fresh(tf)
    with tf.device(on("ps")):
        w = tf.get_variable("w", initializer=[[1.0, 0.5], [0.25, 1.0]])
    x = tf.placeholder(tf.float32, [None, 2])

    def body(i, y):
        with tf.device(on("worker", 1)):
            y = tf.matmul(y, w)
        with tf.device(on("ps", 1)):
            y = tf.tanh(y)
        return i + 1, y

    _, y = tf.while_loop(
        lambda i, y: i < 4, body, [0, x], shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 2])]
    )
    g = tf.gradients(y, [w, x])
    with tf.Session(target) as session:
        session.run(w.initializer)
        return session.run([y] + g, {x: [[1.0, 2.0]]})


def nested_control_flow(tf, np):
    target = fresh(tf)
    x = tf.placeholder(tf.int32, [])

    def body(i, t):
        with tf.device(on("worker", 1)):
            t = tf.cond(
                tf.equal(i % 2, 0),
                lambda: t + i,
                lambda: tf.while_loop(lambda j, s: j < i, lambda j, s: (j + 1, s * 2), [0, t])[1],
            )
        return i + 1, t

    with tf.device(on("ps")):
        r = tf.while_loop(lambda i, t: i < x, body, [0, 1])
    with tf.Session(target) as session:
        return [session.run(r, {x: n}) for n in (0, 1, 5)]


def cond_over_tasks(tf, np):
    target = fresh(tf)
    p = tf.placeholder(tf.bool, [])
    with tf.device(on("ps")):
        v = tf.get_variable("v", initializer=1.0)

    def yes():
        with tf.device(on("worker", 1)):
            return tf.assign_add(v, 1.0) * 10

    def no():
        with tf.device(on("ps", 1)):
            return tf.constant(-1.0)

    r = tf.cond(p, yes, no)
    with tf.Session(target) as session:
        session.run(v.initializer)
        return [session.run(r, {p: b}) for b in (True, False, True)] + [session.run(v)]


def tensor_array_elsewhere(tf, np):
    target = fresh(tf)
    with tf.device(on("worker", 1)):
        ta = tf.TensorArray(tf.float32, 2, colocate_with_first_write_call=False)
    with tf.device(on("ps")):
        ta = ta.write(0, 1.0).write(1, 2.0)
        s = ta.stack()
    with tf.Session(target) as session:
        return [
            session.run(s),
            [(o.name, o.device) for o in tf.get_default_graph().get_operations() if "TensorArray" in o.type],
        ]


def cond_v2(tf, np):
    target = fresh(tf)
    tf.compat.v1.enable_control_flow_v2()
    try:
        with tf.device(on("ps")):
            v = tf.get_variable("v", initializer=2.0, use_resource=True)
        x = tf.placeholder(tf.float32, [])
        with tf.device(on("worker", 1)):
            y = tf.cond(x > 0, lambda: x * 2, lambda: x - 1)
            _, w = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), [0, 1.0])
            g = tf.gradients(w, x)
        with tf.device(on("ps", 1)):
            z = y + w
        with tf.Session(target) as s:
            s.run(v.initializer)
            return [s.run([y, z, g], {x: b}) for b in (2.0, -3.0)]
    finally:
        tf.compat.v1.disable_control_flow_v2()


def feed_in_the_middle(tf, np):
    target = fresh(tf)
    with tf.device(on("ps")):
        a = tf.constant(1.0) + tf.random_uniform([])
        b = a * 2
    with tf.device(on("worker", 1)):
        c = b + 1
        d = a + c
    with tf.Session(target) as s:
        return [
            s.run([c, d], {a: 5.0}),
            s.run([c, d], {a: 5.0, b: 1.0}),
            s.run([b, c], {b: 1.0}),
            s.run(a, {a: 3.0}),
        ]


def callables(tf, np):
    target = fresh(tf)
    with tf.device(on("ps")):
        v = tf.get_variable("v", initializer=1.0)
    with tf.device(on("worker", 1)):
        x = tf.placeholder(tf.float32, [])
        y = v * x
    with tf.Session(target) as session:
        session.run(v.initializer)
        f = session.make_callable([y, v], feed_list=[x])
        m = tf.RunMetadata()
        g = session.make_callable(y, [x], accept_options=True)
        t = session.make_callable(v.assign_add(1.0).op)
        r = [
            f(2.0),
            t(),
            f(3.0),
            g(4.0, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=m),
        ]
        return r


def timeouts(tf, np):
    target = fresh(tf)
    r = []
    for job in ("ps", "worker"):
        with tf.device(on(job, 1)):
            q = tf.FIFOQueue(1, tf.float32)
            got = q.dequeue()
        with tf.device(on("ps")):
            after = got + 1
        with tf.Session(target) as session:
            r.append(raises(session.run, after, options=tf.RunOptions(timeout_in_ms=200)))
            session.run(q.enqueue(1.0))
            r.append(session.run(after))
    with tf.Session(target, config=tf.ConfigProto(operation_timeout_in_ms=200)) as session:
        r.append(raises(session.run, after))
    return r


def failures(tf, np):
    target = fresh(tf)
    with tf.device(on("ps", 1)):
        x = tf.placeholder(tf.float32, name="x")
        bad = tf.check_numerics(x, "not good", name="bad")
        m = tf.matmul(x, x, name="m")
        sq = tf.FIFOQueue(1, tf.float32, name="sq")
        v = tf.Variable(1.0, name="vv")
        a = tf.Assert(tf.less(x, 1), ["it is", x], name="as")
        d = tf.decode_raw("abc", tf.int32, name="dr")
        g = tf.gather([1.0, 2.0], tf.cast(x, tf.int32), name="ga")
    with tf.device(on("worker", 1)):
        y = bad + 1
        z = m + 1
        w = v + 1
        with tf.control_dependencies([a]):
            aa = tf.no_op()
        ga = g * 2
    with tf.Session(target) as session:
        r = [
            raises(session.run, y, {x: float("nan")}),
            raises(session.run, z, {x: [[1.0, 2.0]]}),
            raises(session.run, w),
            raises(session.run, aa, {x: 2.0}),
            raises(session.run, d),
            raises(session.run, ga, {x: 7.0}),
            raises(session.run, y),
        ]
        try:
            session.run(y, {x: float("nan")})
        except tf.errors.InvalidArgumentError as e:
            r += [e.op.name, e.node_def.name, e.error_code, "not good" in e.message]
        session.run(sq.close())
        r.append(raises(session.run, sq.dequeue()))
        r.append(session.run(y, {x: 1.0}))
        return r


def graph_grows(tf, np):
    target = fresh(tf)
    with tf.device(on("ps")):
        v = tf.Variable(1.0)
    with tf.Session(target) as s:
        s.run(v.initializer)
        r = []
        for i in range(3):
            with tf.device(on("worker", i % 2)):
                v = v + 1.0
            r.append(s.run(v))
        return r


def random_is_the_same(tf, np):
    target = fresh(tf)
    tf.set_random_seed(3)
    with tf.device(on("ps")):
        a = tf.random_normal([3], seed=5)
    with tf.device(on("worker", 1)):
        b = a + tf.random_uniform([3])
    with tf.Session(target) as s:
        return [s.run([a, b]), s.run([a, b])]


def accumulators(tf, np):
    target = fresh(tf)
    with tf.device(on("ps")):
        a = tf.ConditionalAccumulator(tf.float32, [2], shared_name="acc")
        sa = tf.SparseConditionalAccumulator(tf.float32, [4, 2], shared_name="sacc")
    with tf.device(on("worker", 1)):
        ap = a.apply_grad([1.0, 2.0], 0)
        t = a.take_grad(2)
        sap = sa.apply_indexed_slices_grad(tf.IndexedSlices([[1.0, 1.0]], [2], [4, 2]))
        st = sa.take_indexed_slices_grad(1)
    with tf.Session(target) as s:
        s.run(ap)
        s.run(ap)
        s.run(sap)
        return [
            s.run(a.num_accumulated()),
            s.run(t),
            s.run(st.values),
            raises(s.run, t, options=tf.RunOptions(timeout_in_ms=100)),
        ]


def tables(tf, np):
    target = fresh(tf)
    with tf.device(on("ps", 1)):
        t = tf.contrib.lookup.HashTable(tf.contrib.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
        mt = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1)
    with tf.device(on("worker", 1)):
        y = t.lookup(tf.constant(["b", "c"]))
        ins = mt.insert(tf.constant(["x"]), tf.constant([5], tf.int64))
        z = mt.lookup(tf.constant(["x", "y"]))
    with tf.Session(target) as s:
        r = [raises(s.run, y)]
        s.run(tf.tables_initializer())
        s.run(ins)
        return r + s.run([y, z])


def staging(tf, np):
    target = fresh(tf)
    with tf.device(on("worker", 1)):
        area = tf.contrib.staging.StagingArea([tf.float32], shapes=[[]])
        put = area.put([tf.constant(4.0)])
        get = area.get()
    with tf.Session(target) as s:
        s.run(put)
        return s.run([get, area.size()])


def barriers(tf, np):
    target = fresh(tf)
    with tf.device(on("ps")):
        b = tf.raw_ops.Barrier(component_types=[tf.float32], shapes=[[]], shared_name="b")
        ins = tf.raw_ops.BarrierInsertMany(
            handle=b, keys=[b"k1", b"k2"], values=[1.0, 2.0], component_index=0
        )
        take = tf.raw_ops.BarrierTakeMany(handle=b, num_elements=2, component_types=[tf.float32])
    with tf.Session(target) as s:
        s.run(ins)
        return s.run(take)


def critical_and_assign_race(tf, np):
    target = fresh(tf)
    with tf.device(on("ps")):
        v = tf.Variable(0, use_resource=True)
        cs = tf.CriticalSection()
    with tf.device(on("worker", 1)):
        r = cs.execute(lambda: v.assign_add(1, read_value=True) + 0)
    with tf.Session(target) as s:
        s.run(v.initializer)
        return [s.run(r) for _ in range(3)]


def datasets(tf, np):
    target = fresh(tf)
    with tf.device(on("worker", 1)):
        ds = tf.data.Dataset.range(5).map(lambda x: x * 2).batch(2)
        it = tf.data.make_one_shot_iterator(ds).get_next()
    with tf.device(on("ps")):
        ini = tf.data.make_initializable_iterator(tf.data.Dataset.from_tensor_slices([1.0, 2.0]).repeat(2))
        n = ini.get_next()
    with tf.device(on("worker")):
        y = it + 1
        z = n * 3
    with tf.Session(target) as s:
        r = [s.run(y), s.run(y), s.run(y), raises(s.run, y), raises(s.run, z)]
        s.run(ini.initializer)
        return r + [s.run(z) for _ in range(4)] + [raises(s.run, z)]


def reinitializable(tf, np):
    target = fresh(tf)
    with tf.device(on("ps", 1)):
        x, y = tf.data.Dataset.range(3), tf.data.Dataset.range(5, 7)
        it = tf.data.Iterator.from_structure(tf.int64, tf.TensorShape([]))
        i1, i2, n = it.make_initializer(x), it.make_initializer(y), it.get_next()
    out = []
    with tf.Session(target) as s:
        for i in (i1, i2):
            s.run(i)
            while True:
                try:
                    out.append(s.run(n))
                except tf.errors.OutOfRangeError:
                    break
    return out


def feedable_iterators(tf, np):
    target = fresh(tf)
    with tf.device(on("worker", 1)):
        one = tf.data.make_one_shot_iterator(tf.data.Dataset.range(3))
        two = tf.data.make_initializable_iterator(tf.data.Dataset.range(10, 13))
        h1, h2 = one.string_handle(), two.string_handle()
        h = tf.placeholder(tf.string, [])
        it = tf.data.Iterator.from_string_handle(h, tf.int64, tf.TensorShape([]))
        n = it.get_next()
    with tf.device(on("ps")):
        y = n * 100
    with tf.Session(target) as s:
        a, b = s.run([h1, h2])
        s.run(two.initializer)
        return [s.run(y, {h: a}), s.run(y, {h: b}), s.run(y, {h: a}), s.run(y, {h: b}), type(a).__name__]


def generators(tf, np):
    target = fresh(tf)
    with tf.device(on("worker", 0)):
        ds = tf.data.Dataset.from_generator(lambda: iter([1, 2, 3]), tf.int64, [])
        n = tf.data.make_one_shot_iterator(
            ds.map(lambda x: tf.py_func(lambda v: v * 2, [x], tf.int64))
        ).get_next()
    with tf.Session(target) as s:
        return [s.run(n) for _ in range(3)] + [raises(s.run, n)]


def summaries(tf, np):
    target = fresh(tf)
    with tf.device(on("ps")):
        v = tf.Variable(2.0, name="v")
    with tf.device(on("worker", 1)):
        tf.summary.scalar("s", v)
        tf.summary.histogram("h", v * [1.0, 2.0])
    m = tf.summary.merge_all()
    with tf.Session(target) as s:
        s.run(v.initializer)
        got = tf.Summary.FromString(s.run(m))
        return sorted([(x.tag, x.simple_value) for x in got.value])


def printed(tf, np):
    target = fresh(tf)
    with tf.device(on("ps")):
        x = tf.Print(tf.constant(1.0), ["hello"])
        p = tf.print("there", x)
        t = tf.timestamp()
    with tf.device(on("worker", 1)):
        with tf.control_dependencies([p]):
            y = x + 1
    with tf.Session(target) as s:
        return [s.run(y), s.run(t) > 1e9]


def large_and_many(tf, np):
    target = fresh(tf)
    n = 300000
    with tf.device(on("ps")):
        v = tf.Variable(tf.zeros([n]))
        parts = [tf.fill([7, i % 5], float(i)) for i in range(200)]
    with tf.device(on("worker", 1)):
        s_ = tf.reduce_sum(v + 1)
        total = tf.add_n([tf.reduce_sum(p) for p in parts])
    feed = tf.placeholder(tf.float32, [n])
    with tf.device(on("ps")):
        up = v.assign_add(feed)
    with tf.Session(target) as s:
        s.run(v.initializer)
        a = np.ones(n, np.float32)
        s.run(up, {feed: a})
        a[:] = 5
        return [s.run(s_), s.run(total), s.run(v)[:3], s.run(up, {feed: a})[-1]]


def fetched_arrays_are_ours(tf, np):
    target = fresh(tf)
    with tf.device(on("worker", 0)):
        v = tf.Variable(np.zeros(4, np.float32))
        add = v.assign_add(np.ones(4, np.float32))
    with tf.Session(target) as s:
        s.run(v.initializer)
        a = s.run(v)
        s.run(add)
        before = a.copy()
        try:
            a[:] = 9
            writable = True
        except ValueError:
            writable = False
        return [before, s.run(v), writable]


def session_handles(tf, np):
    target = fresh(tf)
    with tf.device(on("ps")):
        a = tf.constant([1.0, 2.0]) * 2
        h = tf.get_session_handle(a)
    with tf.Session(target) as s:
        return raises(s.run, h)


def partial_run(tf, np):
    target = fresh(tf)
    with tf.device(on("ps")):
        a = tf.placeholder(tf.float32, [])
        b = tf.placeholder(tf.float32, [])
        c = a * 2
    with tf.device(on("worker", 1)):
        d = c + b
    with tf.Session(target) as session:
        h = session.partial_run_setup([c, d], [a, b])
        r = [session.partial_run(h, c, {a: 3.0}), session.partial_run(h, d, {b: 1.0})]
        r.append(raises(session.partial_run, h, d, {b: 1.0}))
        return r


@cases(*product([False, True], ["worker", "ps"], [False, True]))
def references_are_read_after_writes(tf, np, conditional, job, resource):
    target = fresh(tf)
    with tf.device(on("ps")):
        center = tf.get_variable("center", initializer=0.0, use_resource=resource)
    with tf.device(on("worker")):
        mine = tf.get_variable("mine", initializer=0.0, use_resource=resource)
        count = tf.Variable(0)

    def meet():
        with tf.control_dependencies([tf.assign_add(center, 5.0)]):
            return tf.group(tf.assign(mine, center.read_value()))

    with tf.device(on(job)):
        with tf.control_dependencies([tf.assign_add(count, 1)]):
            is_time = tf.equal(tf.mod(count.read_value(), 2), 0)
        with tf.control_dependencies([tf.assign_add(mine, 1.0), is_time]):
            train = tf.cond(is_time, meet, tf.no_op) if conditional else meet()
    found = []
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        for _ in range(4):
            session.run(train)
            found.append(session.run([mine, center, count]))
    return found


def a_reference_is_read_after_a_conditional_write(tf, np):
    target = fresh(tf)
    with tf.device(on("ps")):
        v = tf.Variable(1.0, use_resource=False)
        writes = tf.placeholder(tf.bool, [])
        written = tf.cond(writes, lambda: tf.assign_add(v, 5.0), lambda: tf.constant(0.0))
    with tf.device(on("worker")), tf.control_dependencies([written]):
        read = v.read_value() + 0.0
    with tf.Session(target) as session:
        session.run(v.initializer)
        return [session.run(read, {writes: choice}) for choice in (True, False, True)]
