"""What contrib's inner modules of training, pruning and learn have beside the public names."""

import importlib

from kit import Close, cases, names, raises, run


def _module(tf, name):
    if tf.__name__ == "tideflow":
        from tideflow.programs import finder

        finder.install()
    return importlib.import_module("tensorflow.contrib." + name)


def _variables(tf):
    return [(v.op.name, v.shape, v.dtype.name) for v in tf.global_variables()]


def hparam_proto(tf, np):
    m = _module(tf, "training.python.training.hparam_pb2")
    H = tf.contrib.training.HParams
    h = H(a=1, b=2.0, c="x", d=True, e=[1, 2], f=[1.5], g=["p", "q"], h=[True, False])
    p = h.to_proto()
    q = H(hparam_def=p)
    r = H.from_proto(p)
    d = m.HParamDef()
    d.hparam["z"].int64_value = 4
    return [
        sorted((k, str(v)) for k, v in q.values().items()),
        len(p.SerializeToString()),
        m.HParamDef.FromString(p.SerializeToString()) == p,
        H(hparam_def=d).z,
        raises(lambda: H(hparam_def=d, x=2)),
        type(q.c).__name__,
        type(q.a).__name__,
        str(r.values() == q.values()),
        raises(lambda: H(x=lambda: 1).to_proto()),
        _module(tf, "training.python.training.hparam").PARAM_RE.match("a[1]=3,b=[1,2]").groupdict(),
    ]


def pruning_utils(tf, np):
    m = _module(tf, "model_pruning.python.pruning_utils")
    v = tf.get_variable("w", [4, 6])
    p = tf.get_variable("p", [6, 4], partitioner=tf.variable_axis_size_partitioner(32))
    a = m.weight_mask_variable(v, "s")
    t = m.weight_threshold_variable(v, "s")
    x = tf.constant(np.arange(24.0).reshape(4, 6))
    r = [
        run(tf, m.kronecker_product(x[:2, :2] * tf.ones([2, 2], tf.float64), tf.ones([2, 3], tf.float64))),
        run(tf, m.expand_tensor(x, [2, 3])),
        run(tf, m.expand_tensor(x, [1, 1])),
        [
            run(tf, m.factorized_pool(x, [2, 3], k, [2, 3], pad))
            for k in ("MAX", "AVG")
            for pad in ("SAME", "VALID")
        ],
        int(m.determine_partitioned_axis(p)),
        raises(m.expand_tensor, x[0], [1, 1]),
        raises(m.expand_tensor, x, [1]),
        raises(m.factorized_pool, x[0], [1, 1], "MAX", [1, 1], "SAME"),
    ]
    up = m.partitioned_variable_assign(p, tf.ones([6, 4]))
    va = m.variable_assign(v, tf.ones([4, 6]))
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        s.run([up, va])
        vals = s.run([p.as_tensor(), v])
    return [r, a, t, up.name, va.name, vals, _variables(tf)]


def learn_signatures(tf, np):
    m = _module(tf, "learn.python.learn.estimators.tensor_signature")
    a = tf.placeholder(tf.int32, [None, 3])
    b = tf.sparse_placeholder(tf.float64)
    s = m.create_signatures({"a": a, "b": b})
    p = m.create_placeholders_from_signatures(s)
    return [
        str(s["a"].shape),
        s["b"].is_sparse,
        m.tensors_compatible({"a": tf.placeholder(tf.int32, [4, 3]), "b": b}, s),
        m.tensors_compatible({"a": tf.placeholder(tf.int32, [4, 4]), "b": b}, s),
        m.tensors_compatible(a, s),
        m.tensors_compatible(None, None),
        m.create_signatures(None),
        p["a"],
        m.TensorSignature(a).dtype.name,
        m.create_signatures(a) == m.TensorSignature(tf.placeholder(tf.int32, [None, 3])),
        [x for x in [m.create_example_parser_from_signatures(s, tf.placeholder(tf.string, [None]))["a"]]],
    ]


@cases("c", "r")
def debug_estimators(tf, np, k):
    m = _module(tf, "learn.python.learn.estimators.debug")
    fn = lambda: (
        {"x": tf.constant([[1.0], [2.0], [3.0]])},
        tf.constant([[1], [0], [1]]) if k == "c" else tf.constant([[1.0], [2.0], [6.0]]),
    )
    e = (
        m.DebugClassifier(config=tf.contrib.learn.RunConfig(tf_random_seed=1))
        if k == "c"
        else m.DebugRegressor(config=tf.contrib.learn.RunConfig(tf_random_seed=1))
    )
    e.fit(input_fn=fn, steps=60)
    r = e.evaluate(input_fn=fn, steps=1)
    if k == "c":
        return [
            Close(r["loss"], 1e-3),
            [np.asarray(x) for x in e.predict_classes(input_fn=lambda: fn()[0])],
            [Close(np.asarray(x), 1e-3) for x in e.predict_proba(input_fn=lambda: fn()[0])],
        ]
    return [
        Close(r["loss"], 1e-3),
        [Close(np.asarray(x), 1e-3) for x in e.predict_scores(input_fn=lambda: fn()[0])],
    ]


def rnn_common(tf, np):
    m = _module(tf, "learn.python.learn.estimators.rnn_common")
    d = _module(tf, "learn.python.learn.estimators.dynamic_rnn_estimator")
    c = m.construct_rnn_cell([3, 4], "lstm", [0.5, 0.6, 0.7])
    c1 = m.construct_rnn_cell(3)
    a = np.arange(24.0).reshape(2, 3, 4).astype(np.float32)
    lab = np.arange(6.0).reshape(2, 3)
    x, y = m.mask_activations_and_labels(tf.constant(a), tf.constant(lab), tf.constant([2, 1]))
    z = m.select_last_activations(tf.constant(a), tf.constant([2, 3]))
    st = d.state_tuple_to_dict((tf.ones([2, 3]), (tf.zeros([2, 4]), tf.ones([2, 1]))))
    act, fin = d.construct_rnn(None, tf.constant(a), c1, 2)
    return [
        type(c).__name__,
        type(c1).__name__,
        run(tf, [x, y, z]),
        sorted((k, v.name) for k, v in st.items()),
        act,
        fin,
        _variables(tf),
        raises(m.construct_rnn_cell, 3, "foo"),
        raises(m.apply_dropout, [c1], [0.1]),
        m.RNNKeys.STATE_PREFIX,
        names(tf)[-40:],
    ]


def sampling(tf, np):
    m = _module(tf, "training.python.training.sampling_ops")
    P = lambda *a: tf.constant(a)
    o = [
        run(tf, m._calculate_acceptance_probabilities(P(0.5, 0.3, 0.2), P(0.2, 0.3, 0.5))),
        raises(lambda: run(tf, m._calculate_acceptance_probabilities(P(0.0, 1.0), P(0.5, 0.5)))),
        raises(m._estimate_data_distribution, tf.constant([1]), 2, 0),
    ]
    d = m._estimate_data_distribution(tf.constant([1, 0, 1, 1]), 3)
    e = m._estimate_data_distribution(tf.constant([1, 0, 1, 1]), 3, smoothing_constant=1)
    o.append(run(tf, [d, e]))
    v, l, p = m._verify_input([tf.zeros([2])], tf.constant([0, 1]), [P(0.5, 0.5)])
    o += [
        run(tf, [v[0], l, p[0]]),
        raises(
            m._verify_input,
            [tf.zeros([2])],
            tf.constant([0, 1]),
            [
                P(0.5, 0.5),
                P(
                    1.0,
                ),
            ],
        ),
        raises(m._verify_input, [tf.zeros([3])], tf.constant([0, 1]), [P(0.5, 0.5)]),
        raises(lambda: run(tf, m._verify_input([tf.zeros([2])], tf.constant([0, 1]), [P(0.5, 0.6)])[2])),
        raises(lambda: run(tf, m._verify_input([tf.zeros([2])], tf.constant([0, 2]), [P(0.5, 0.5)])[1])),
        raises(m._verify_input, [tf.zeros([2])], tf.constant([0, 1]), [tf.placeholder(tf.float32, [None])]),
    ]
    return o


def constraints(tf, np):
    e = _module(tf, "constrained_optimization.python.external_regret_optimizer")
    s = _module(tf, "constrained_optimization.python.swap_regret_optimizer")
    r = np.random.RandomState(0)
    A = r.uniform(size=[3, 3])
    A /= A.sum(0)
    o = [
        run(tf, e._project_multipliers_wrt_euclidean_norm(tf.constant(x), 1.0))
        for x in ([0.1, 0.2, 0.3], [0.8, 0.9, -0.3], [-1.0, -2.0, 3.0])
    ]
    o += [
        run(tf, s._maximal_eigenvector_power_method(tf.constant(A, tf.float32))),
        run(
            tf,
            s._project_stochastic_matrix_wrt_euclidean_norm(tf.constant(r.normal(size=[3, 3]), tf.float32)),
        ),
        run(
            tf,
            s._project_log_stochastic_matrix_wrt_kl_divergence(
                tf.constant(r.normal(size=[3, 3]), tf.float32)
            ),
        ),
    ]
    o += [
        raises(e._project_multipliers_wrt_euclidean_norm, tf.zeros([2, 2]), 1.0),
        raises(e._project_multipliers_wrt_euclidean_norm, tf.placeholder(tf.float32, [None]), 1.0),
        raises(s._maximal_eigenvector_power_method, tf.zeros([2, 3])),
        raises(s._maximal_eigenvector_power_method, tf.zeros([2])),
        raises(s._maximal_eigenvector_power_method, tf.zeros([2, 2]), epsilon=0.0),
        raises(s._maximal_eigenvector_power_method, tf.zeros([2, 2]), maximum_iterations=0),
        raises(s._project_stochastic_matrix_wrt_euclidean_norm, tf.placeholder(tf.float32, [None, None])),
        raises(s._project_stochastic_matrix_wrt_euclidean_norm, tf.zeros([2, 3])),
        raises(s._project_log_stochastic_matrix_wrt_kl_divergence, tf.zeros([2, 3])),
        raises(s._project_log_stochastic_matrix_wrt_kl_divergence, tf.zeros([3])),
    ]
    return o


def masks(tf, np):
    m = _module(tf, "distributions.python.ops.bijectors.masked_autoregressive")
    return [
        m._gen_mask(3, 3, 3),
        m._gen_mask(3, 3, 6, m.MASK_INCLUSIVE),
        m._gen_mask(2, 4, 2, mask_type="exclusive", dtype=tf.float64),
        m.MASK_EXCLUSIVE,
    ]


def convert(tf, np):
    import tempfile

    m = _module(tf, "rnn.python.tools.checkpoint_convert")
    d = tempfile.mkdtemp()
    for n in ("a/lstm_cell/weights", "gru_cell/gates/biases", "other", "attention_decoder/Linear/Matrix"):
        tf.get_variable(n, [2])
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        tf.train.Saver().save(s, d + "/old")
    v, c = m.convert_names(d + "/old", d + "/new")
    m.convert_names(d + "/old", d + "/new1", write_v1_checkpoint=True)
    return [
        sorted(m.RNN_NAME_REPLACEMENTS.items()),
        sorted((k, x.op.name) for k, x in v.items()),
        sorted(c.items()),
        tf.train.list_variables(d + "/new"),
        tf.train.list_variables(d + "/new1"),
    ]


def model_fns(tf, np):
    d = _module(tf, "learn.python.learn.estimators.dnn")
    e = _module(tf, "learn.python.learn.experiment")
    h = _module(tf, "learn.python.learn.estimators.head")

    class Holder:
        x = 1

    o = Holder()
    with e._new_attr_context(o, "x"):
        o.x = 2
        seen = o.x
    L = tf.contrib.layers
    col = L.real_valued_column("a")
    f = {"a": tf.constant([[1.0], [2.0]])}
    y = tf.constant([[1], [0]])
    r = d._dnn_model_fn(
        f,
        y,
        tf.contrib.learn.ModeKeys.TRAIN,
        {
            "head": h.multi_class_head(2),
            "hidden_units": [3],
            "feature_columns": [col],
            "optimizer": "SGD",
            "activation_fn": tf.nn.relu,
            "dropout": None,
            "gradient_clip_norm": None,
            "embedding_lr_multipliers": None,
            "input_layer_min_slice_size": None,
        },
    )
    return [seen, o.x, r.loss, sorted(r.predictions), _variables(tf)]
