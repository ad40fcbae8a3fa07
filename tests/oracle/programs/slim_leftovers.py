"""Names of slim that its modules bring along: hashed embeddings, crosses, buckets, adaptive clipping."""

from kit import Close, cases, names, product, raises, run


def buckets(tf, np):
    slim = tf.contrib.slim
    return run(
        tf,
        [slim.bucketize(tf.constant([[-1.0, 0.5], [2.0, 7.0]]), [0.0, 2.0]), slim.bucketize([3, 4], [3.5])],
    )


@cases(*product([True, False], [None, 123]))
def crosses(tf, np, hashed, key):
    words = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], ["a", "b", "c"], [2, 2])
    numbers = tf.constant([[1, 2], [3, 4]])
    made = tf.contrib.slim.sparse_feature_cross([words, numbers], hashed, 1000 if hashed else 0, hash_key=key)
    return [run(tf, made), raises(lambda: tf.contrib.slim.sparse_feature_cross((words,)))]


@cases(1, 3)
def scattered(tf, np, parts):
    slim = tf.contrib.slim
    sizes = [(20 - i - 1) // parts + 1 for i in range(parts)]
    params = [tf.constant(np.random.RandomState(i).rand(n), tf.float32) for i, n in enumerate(sizes)]
    values = tf.constant([["a", "b"], ["c", "a"]])
    sparse = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], ["a", "b", "a"], [4, 2])
    lookup = slim.scattered_embedding_lookup
    made = [lookup(params, values, 3), lookup(params, tf.constant([5, 6]), 2, hash_key=7, name="named")]
    for combiner in ("sum", "mean", "sqrtn", None):
        made.append(slim.scattered_embedding_lookup_sparse(params, sparse, 3, combiner))
    made.append(slim.scattered_embedding_lookup_sparse(params, sparse, 3, "sum", default_value="z"))
    return [
        run(tf, made),
        [name for name, _ in names(tf) if "named" in name],
        raises(lambda: lookup(params, values, 0)),
        raises(lambda: lookup(params, values, None)),
        raises(lambda: lookup([params[0], params[0][:3]], values, 2)),
        raises(lambda: slim.scattered_embedding_lookup_sparse(params, values, 3)),
        raises(lambda: slim.scattered_embedding_lookup_sparse(params, sparse, 3, "other")),
    ]


@cases(*product([None, 0.5], [False, True]))
def adaptive_clipping(tf, np, greatest, with_step):
    step = tf.train.get_or_create_global_step()
    x = tf.placeholder(tf.float32, [])
    v = tf.get_variable("v", initializer=[1.0, 2.0])
    e = tf.get_variable("e", initializer=np.ones((3, 2), np.float32))
    loss = x * (tf.reduce_sum(v * v) + tf.reduce_sum(tf.gather(e, [0, 2])))
    clip = tf.contrib.slim.adaptive_clipping_fn(
        static_max_norm=greatest, global_step=step if with_step else None, report_summary=True, decay=0.5
    )
    train = tf.contrib.layers.optimize_loss(loss, step, 0.1, "SGD", clip_gradients=clip)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for value in (1.0, 1.1, 0.9, 50.0, 1.0):
            session.run(train, {x: value})
        return [[u.name for u in tf.global_variables()], Close(session.run(tf.global_variables()), 1e-4)]


def experimental(tf, np):
    @tf.contrib.slim.experimental
    def double(x):
        """Doubles."""
        return 2 * x

    return [double(3), double.__name__, double.__doc__.splitlines()[0]]


def eager_names(tf, np):
    tfe = tf.contrib.eager
    seen = []

    @tfe.run_all_tests_in_graph_and_eager_modes
    class Case(tf.test.TestCase):
        def setUp(self):
            seen.append("set up")

        def testBoth(self):
            seen.append(("both", tf.executing_eagerly()))
            self.assertAllClose(self.evaluate(tf.constant(2.0) * 3), 6.0)
            sparse = tf.SparseTensor([[0]], [1.0], [2])
            found = self.evaluate([sparse, {"v": tf.constant([1])}])
            seen.append([type(found[0]).__name__, found[0].values.tolist(), found[1]["v"].tolist()])
            with self.cached_session() as session:
                seen.append(int(session.run(tf.constant(4))))

        def testSkipEagerHere(self):
            seen.append(("graph", tf.executing_eagerly()))

    for name in ("testBoth", "testSkipEagerHere"):
        case = Case(name)
        case.setUp()
        getattr(case, name)()
    with tfe.execution_mode(tfe.ASYNC):
        tfe.async_wait()
    tfe.async_clear_error()
    return [
        seen,
        tfe.set_execution_mode(tfe.SYNC),
        raises(lambda: tfe.set_execution_mode("x")),
        raises(lambda: tfe.run_test_in_graph_and_eager_modes(Case)),
    ]
