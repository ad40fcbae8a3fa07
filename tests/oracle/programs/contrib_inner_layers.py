"""What contrib's inner modules of layers, images and columns have beside the public names."""

import importlib

from kit import names, raises, run


def _module(tf, name):
    if tf.__name__ == "tideflow":
        from tideflow.programs import finder

        finder.install()
    return importlib.import_module("tensorflow.contrib." + name)


def sparse_ids(tf, np):
    m = _module(tf, "layers.python.ops.sparse_ops")
    out = []
    for x in ([[0, 3], [5, 0]], np.array([[0.0, 1.5], [0, 0]], np.float32), np.array([["", "a"], ["b", ""]])):
        a = m.dense_to_sparse_tensor(tf.constant(x))
        b = m.dense_to_sparse_tensor(tf.placeholder_with_default(tf.constant(x), None), ignore_value=None)
        out += [a, b, run(tf, a), run(tf, b)]
    ind = [[[0, 0, 1, 0], [0, 0, 0, 0]], [[1, 0, 1, 1], [0, 0, 1, 0]]]
    for dt in (tf.int64, tf.int32):
        c = m.indicators_to_sparse_ids(tf.constant(ind), dtype=dt)
        out.append(run(tf, c))
    out.append(run(tf, m.indicators_to_sparse_ids(tf.constant([[b"x", "", b"y"]]), ignore_value="x")))
    sp = tf.SparseTensor([[0, 0], [2, 0], [2, 1], [2, 2]], [0, 1, 2, 3], [4, 3])
    out += [
        run(tf, m.sparse_row_envelope(sp)),
        run(tf, m.sparse_row_envelope(sp, 1, 0)),
        raises(m.sparse_row_envelope, sp, 1, 1),
        raises(m.sparse_row_envelope, sp, "a", 1),
        raises(m.indicators_to_sparse_ids, tf.constant(ind), dtype=tf.float32),
        names(tf),
    ]
    return out


def poincare(tf, np):
    m = _module(tf, "layers.python.layers.layers")
    x = tf.constant(np.random.RandomState(0).normal(size=[3, 4]).astype(np.float32) * 0.6)
    return [
        run(tf, m.poincare_normalize(x)),
        run(tf, m.poincare_normalize(x, 0, 1e-2)),
        names(tf),
        [m.DATA_FORMAT_NCHW, m.DATA_FORMAT_NDHWC],
    ]


def hsv(tf, np):
    m = _module(tf, "image.python.ops.distort_image_ops")
    x = np.random.RandomState(0).uniform(size=[2, 4, 4, 3]).astype(np.float32)
    u = (x * 255).astype(np.uint8)
    tf.set_random_seed(3)
    return [
        run(
            tf,
            [
                m.adjust_hsv_in_yiq(x, 0.3, 1.2, 0.7),
                m.adjust_hsv_in_yiq(x),
                m.adjust_hsv_in_yiq(u, 0.2, 0.5, 1.0),
                m.adjust_hsv_in_yiq(x[0], -1.0),
            ],
        ),
        run(tf, m.random_hsv_in_yiq(x, 0.3, 0.5, 1.5, 0.2, 0.8, seed=4)),
        [
            raises(m.random_hsv_in_yiq, x, *a)
            for a in ((-1,), (0, -1), (0, 1, 1, -1), (0, 2, 1), (0, 1, 1, 2, 1))
        ],
        names(tf),
    ]


def hsv_errors(tf, np):
    m = _module(tf, "image.python.ops.distort_image_ops")
    p = tf.placeholder_with_default(np.zeros([2, 4, 4], np.float32), None)
    return [
        raises(m.adjust_hsv_in_yiq, np.zeros([2, 3], np.float32)),
        raises(lambda: run(tf, m.adjust_hsv_in_yiq(p))),
        raises(lambda: run(tf, m.adjust_hsv_in_yiq(np.zeros([2, 4, 3], np.float32), [0.0]))),
        m.adjust_hsv_in_yiq(tf.placeholder(tf.float32)),
    ]


def fwd(tf, np):
    m = _module(tf, "nn.python.ops.fwd_gradients")
    x = tf.constant([1.0, 2.0, 3.0])
    y = tf.constant(2.0)
    a = [x * y, tf.reduce_sum(x * x)]
    return [
        run(tf, m.fwd_gradients(a, [x, y])),
        run(tf, m.fwd_gradients(a, [x, y], grad_xs=[tf.constant([1.0, 0.0, 0.0]), tf.constant(0.0)])),
        run(tf, m.fwd_gradients([tf.gather(x, [0, 1])], [x], assert_unused=True)),
        names(tf),
    ]


def labeled(tf, np):
    lt = tf.contrib.labeled_tensor
    c = _module(tf, "labeled_tensor.python.ops.core")
    n = _module(tf, "labeled_tensor.python.ops.nn")
    t = lt.LabeledTensor(tf.constant([[1.0, -2.0], [3.0, 4.0]]), ["x", ("y", ["a", "b"])])
    ax = [lt.Axis("x", 2), lt.Axis("x", ["a"])]
    return [
        run(
            tf,
            [
                f(t).tensor
                for f in (
                    c.abs_function,
                    c.round_function,
                    n.relu,
                    n.relu6,
                    n.elu,
                    n.softplus,
                    n.softmax,
                    n.log_softmax,
                )
            ],
        ),
        str(c.concat_axes(ax)),
        str(c.concat_axes([lt.Axis("x", ["a"]), lt.Axis("x", ["b"])])),
        str(c.concat_axes([lt.Axis("x", None), ax[0]])),
        raises(c.concat_axes, []),
        raises(c.concat_axes, [1]),
        raises(c.concat_axes, [lt.Axis("y", 1), ax[0]]),
        run(tf, c.pow_function(t, t).tensor),
        str(c.slice_function(t, {"x": 1}).axes),
    ]


def gen_ops(tf, np):
    g = lambda n: _module(tf, "" + n)
    x = tf.constant(np.arange(12.0).reshape(1, 3, 4, 1), tf.float32)
    return [
        run(
            tf,
            g("image.ops.gen_image_ops").image_projective_transform(
                x, tf.constant([[1.0, 0, 1, 0, 1, 0, 0, 0]]), interpolation="NEAREST"
            ),
        ),
        run(
            tf,
            g("factorization.python.ops.gen_factorization_ops").masked_matmul(
                tf.ones([2, 3]), tf.ones([3, 2]), tf.constant([[0, 1], [1, 0]], tf.int64), False, False
            ),
        ),
        run(
            tf,
            g("seq2seq.ops.gen_beam_search_ops").gather_tree(
                tf.constant([[[1, 2]], [[3, 4]]]),
                tf.constant([[[0, 0]], [[1, 0]]]),
                tf.constant([2]),
                tf.constant(9),
            ),
        ),
        run(tf, g("resampler.ops.gen_resampler_ops").resampler(x, tf.constant([[[1.0, 1.0]]]))),
    ]


def transformer(tf, np):
    L = tf.contrib.layers
    m = _module(tf, "layers.python.layers.feature_column_ops")
    a = L.real_valued_column("price")
    b = L.bucketized_column(a, [0.0, 10.0, 100.0])
    h = L.sparse_column_with_hash_bucket("w", 10)
    x = L.crossed_column([h, b], 10)
    f = {"price": tf.constant([[-1.0], [110.0]]), "w": tf.SparseTensor([[0, 0], [1, 0]], ["a", "b"], [2, 1])}
    t = m._Transformer(f)
    o = [t.transform(b), t.transform(h), t.transform(x)]
    return [
        run(tf, o),
        sorted(str(k)[:20] for k in f),
        t.transform(b) is o[0],
        run(tf, t.transform(a)),
        raises(lambda: t.transform(L.real_valued_column("zz"))),
        [z.values if hasattr(z, "values") else z for z in o],
    ]


def bilinear(tf, np):
    m = _module(tf, "image.python.ops.dense_image_warp")
    g = tf.constant(np.arange(24.0).reshape(2, 3, 4, 1), tf.float32)
    q = tf.constant([[[0.0, 0.0], [1.0, 0.5], [1.5, 1.0], [5.0, -1.0]]] * 2)
    return [
        run(tf, m._interpolate_bilinear(g, q)),
        run(tf, m._interpolate_bilinear(g, q, indexing="xy")),
        raises(m._interpolate_bilinear, g, q, indexing="zz"),
        raises(m._interpolate_bilinear, g[:, :1], q),
        raises(m._interpolate_bilinear, g[0], q),
        raises(m._interpolate_bilinear, g, q[0]),
    ]


def sampled(tf, np):
    m = _module(tf, "layers.python.layers.embedding_ops")
    p = [tf.constant(np.arange(5.0), tf.float32), tf.constant(np.arange(5.0) + 10, tf.float32)]
    v = tf.constant(["foo", "bar"])
    f = m._sampled_scattered_embedding_lookup
    g = m._sampled_scattered_embedding_lookup_sparse
    sp = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], ["a", "b", "c"], [2, 2])
    k = tf.constant([[0, 1], [2, 2]])
    kk = tf.constant([[1, 2, 3], [4, 5, 6]])
    return [
        run(
            tf,
            [
                f(p, v, dimension=3),
                f(p, v, sampled_candidates=k),
                f(p[:1], tf.constant([["a"], ["b"]]), dimension=2),
                g(p, sp, dimension=4),
                g(p, sp, sampled_candidates=kk),
                g(p, sp, dimension=4, with_sign_hash=True),
                f(p, v, dimension=3, hash_key=9),
                m.scattered_embedding_lookup(p, v, 3),
            ],
        ),
        raises(f, p, v),
        raises(f, p, v, dimension=0),
        raises(lambda: run(tf, f(p, v, sampled_candidates=tf.constant([[1, 2]])))),
        raises(g, p, v, dimension=3),
        raises(g, p, sp),
        raises(f, [tf.zeros([2]), tf.zeros([4])], v, 2),
    ]
