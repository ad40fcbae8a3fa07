"""tf.keras's parts by name and by configuration: activations, initializers, regularizers, constraints,
losses, metrics, optimizers, schedules; what each computes, and how it is written down and made again.
"""

from kit import Close, cases, normal, product, raises


def _one(np, *shape):
    return normal(np, *shape).astype(np.float32)


def _value(tf, x):
    return tf.keras.backend.eval(x)


def _plain(config):
    """A configuration without what only one engine could write."""
    return {
        key: Close(float(value), 1e-6) if isinstance(value, float) else value for key, value in config.items()
    }


_ACTIVATIONS = [
    "elu",
    "exponential",
    "hard_sigmoid",
    "linear",
    "relu",
    "selu",
    "sigmoid",
    "softmax",
    "softplus",
    "softsign",
    "tanh",
]


@cases(*_ACTIVATIONS)
def activations(tf, np, name):
    a, x = tf.keras.activations, tf.constant(_one(np, 3, 4) * 3)
    found = a.get(name)
    again = a.deserialize(a.serialize(found))
    return _value(tf, found(x)), a.serialize(found), again is found, found.__name__


_MORE_ACTIVATIONS = {
    "relu": lambda a, x: a.relu(x, alpha=0.2, max_value=2.0, threshold=0.5),
    "relu six": lambda a, x: a.relu(x, max_value=6),
    "elu": lambda a, x: a.elu(x, alpha=0.3),
    "softmax": lambda a, x: a.softmax(x, axis=0),
    "none": lambda a, x: a.get(None)(x),
    "callable": lambda a, x: a.get(abs)(x),
}


@cases({name: name for name in _MORE_ACTIVATIONS})
def activations_with_arguments(tf, np, name):
    return _value(tf, _MORE_ACTIVATIONS[name](tf.keras.activations, tf.constant(_one(np, 3, 4) * 3)))


def activations_refused(tf, np):
    a = tf.keras.activations
    return [
        raises(a.get, "nothing"),
        raises(a.get, 3),
        raises(a.softmax, tf.ones((3,))),
        raises(a.deserialize, "nothing"),
        a.deserialize("mine", custom_objects={"mine": len}) is len,
    ]


_INITIALIZERS = {
    "zeros": {},
    "ones": {},
    "constant": {"value": 0.5},
    "random_normal": {"mean": 1.0, "stddev": 0.1, "seed": 3},
    "random_uniform": {"minval": -1.0, "maxval": 2.0, "seed": 3},
    "truncated_normal": {"mean": 1.0, "stddev": 0.1, "seed": 3},
    "RandomNormal": {"seed": 3},
    "RandomUniform": {"minval": 0.0, "maxval": 1.0, "seed": 3},
    "TruncatedNormal": {"mean": -1.0, "seed": 3},
    "VarianceScaling": {"scale": 2.0, "mode": "fan_avg", "distribution": "uniform", "seed": 3},
    "orthogonal": {"gain": 2.0, "seed": 3},
    "identity": {"gain": 2.0},
    "lecun_normal": {"seed": 3},
    "lecun_uniform": {"seed": 3},
    "glorot_normal": {"seed": 3},
    "glorot_uniform": {"seed": 3},
    "he_normal": {"seed": 3},
    "he_uniform": {"seed": 3},
}


@cases({name: name for name in _INITIALIZERS})
def initializers(tf, np, name):
    i = tf.keras.initializers
    made = getattr(i, name)(**_INITIALIZERS[name])
    written = i.serialize(made)
    again = i.deserialize(written)
    by_name = i.get(name)
    shape = (4, 4) if name in ("identity", "orthogonal") else (2, 3, 4)
    values = (
        [made(shape), again(shape), again(shape, dtype=tf.float64)] if name != "identity" else [made(shape)]
    )
    config = {key: value for key, value in written["config"].items() if not hasattr(value, "as_numpy_dtype")}
    return [
        [Close(_value(tf, v), 1e-5, 1e-6) for v in values],
        type(made).__name__,
        type(by_name).__name__,
        written["class_name"],
        _plain(config),
    ]


def initializers_by_everything(tf, np):
    i = tf.keras.initializers

    class Mine(i.Initializer):
        def __init__(self, by=2.0):
            self.by = by

        def __call__(self, shape, dtype=None, partition_info=None):
            return tf.ones(shape, dtype or tf.float32) * self.by

        def get_config(self):
            return {"by": self.by}

    with tf.keras.utils.custom_object_scope({"Mine": Mine}):
        named = i.get({"class_name": "Mine", "config": {"by": 3.0}})
    made = [
        i.get("uniform"),
        i.get("normal"),
        i.get("one"),
        i.get(None),
        i.get(Mine(4.0)),
        i.get("glorot_uniform"),
    ]
    return [
        [type(x).__name__ for x in made],
        _value(tf, named((2,))),
        i.serialize(Mine(1.0)),
        raises(i.get, "nothing"),
        raises(i.get, 3),
        raises(i.deserialize, {"class_name": "Mine", "config": {}}),
    ]


_REGULARIZERS = {
    "l1": lambda r: r.l1(0.1),
    "l2": lambda r: r.l2(l=0.2),
    "both": lambda r: r.l1_l2(l1=0.1, l2=0.3),
    "class": lambda r: r.L1L2(l2=0.3),
    "none": lambda r: r.L1L2(),
    "by name": lambda r: r.get("l1_l2"),
    "l2 by name": lambda r: r.get("l2"),
    "by config": lambda r: r.get({"class_name": "L1L2", "config": {"l1": 0.5, "l2": 0.25}}),
    "deserialized": lambda r: r.deserialize(r.serialize(r.l1_l2(0.125, 0.5))),
}


@cases({name: name for name in _REGULARIZERS})
def regularizers(tf, np, name):
    r = tf.keras.regularizers
    made = _REGULARIZERS[name](r)
    written = r.serialize(made)
    return _value(tf, made(tf.constant(_one(np, 3, 4)))), written["class_name"], _plain(written["config"])


def regularizers_refused(tf, np):
    r = tf.keras.regularizers
    return [raises(r.get, "nothing"), raises(r.get, 3), r.get(None), r.get(len) is len]


_CONSTRAINTS = {
    "max": lambda c: c.MaxNorm(max_value=1.0),
    "max by axis": lambda c: c.max_norm(0.5, axis=1),
    "max of axes": lambda c: c.MaxNorm(0.5, axis=[0, 1]),
    "non negative": lambda c: c.NonNeg(),
    "unit": lambda c: c.UnitNorm(),
    "unit by axis": lambda c: c.unit_norm(axis=1),
    "min max": lambda c: c.MinMaxNorm(min_value=0.5, max_value=0.75, rate=0.5),
    "min max by axis": lambda c: c.min_max_norm(0.25, 0.5, axis=1),
    "by name": lambda c: c.get("max_norm"),
    "non negative by name": lambda c: c.get("non_neg"),
    "by config": lambda c: c.get(
        {"class_name": "MinMaxNorm", "config": {"min_value": 0.1, "max_value": 0.2}}
    ),
    "deserialized": lambda c: c.deserialize(c.serialize(c.UnitNorm(axis=1))),
}


@cases({name: name for name in _CONSTRAINTS})
def constraints(tf, np, name):
    c = tf.keras.constraints
    made = _CONSTRAINTS[name](c)
    written = c.serialize(made)
    return _value(tf, made(tf.constant(_one(np, 3, 4)))), written["class_name"], _plain(written["config"])


@cases("radial_constraint", "RadialConstraint")
def radial(tf, np, name):
    c = tf.keras.constraints
    made = getattr(c, name)()
    return (
        [
            _value(tf, made(tf.constant(_one(np, *shape))))
            for shape in ((5, 5, 2, 2), (4, 4, 1, 2), (3, 3, 2, 1))
        ],
        raises(made, tf.ones((3, 3))),
        c.serialize(made),
    )


def constraints_refused(tf, np):
    c = tf.keras.constraints

    class Mine(c.Constraint):
        def __call__(self, w):
            return w * 2.0

    return [
        raises(c.get, "nothing"),
        raises(c.get, 3),
        c.get(None),
        c.get(len) is len,
        c.serialize(Mine()),
        _value(tf, c.deserialize({"class_name": "Mine", "config": {}}, {"Mine": Mine})(tf.ones(2))),
    ]


_LOSS_FUNCTIONS = [
    "mean_squared_error",
    "mean_absolute_error",
    "mean_absolute_percentage_error",
    "mean_squared_logarithmic_error",
    "squared_hinge",
    "hinge",
    "categorical_hinge",
    "logcosh",
    "categorical_crossentropy",
    "binary_crossentropy",
    "kullback_leibler_divergence",
    "poisson",
    "cosine_similarity",
    "cosine_proximity",
    "mse",
    "MSE",
    "mae",
    "MAE",
    "mape",
    "MAPE",
    "msle",
    "MSLE",
    "kld",
    "KLD",
]


def _distributions(np):
    y = np.eye(4, dtype=np.float32)[[0, 3, 1]]
    p = np.abs(_one(np, 3, 4)) + 0.1
    return y, p / p.sum(-1, keepdims=True)


@cases(*_LOSS_FUNCTIONS)
def loss_functions(tf, np, name):
    y, p = _distributions(np)
    l, m = tf.keras.losses, tf.keras.metrics
    found = getattr(l, name) if hasattr(l, name) else l.get(name)
    return [
        _value(tf, found(tf.constant(y), tf.constant(p))),
        _value(tf, found(y, tf.constant(p))),
        found.__name__,
        hasattr(l, name),
        hasattr(m, name),
        l.serialize(l.get(name)) if hasattr(l, name) else None,
    ]


_LOSSES = {
    "binary": lambda l: l.BinaryCrossentropy(),
    "binary smoothed": lambda l: l.BinaryCrossentropy(from_logits=True, label_smoothing=0.2, name="b"),
    "categorical": lambda l: l.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1),
    "categorical hinge": lambda l: l.CategoricalHinge(),
    "cosine": lambda l: l.CosineSimilarity(axis=-1),
    "hinge": lambda l: l.Hinge(reduction="sum"),
    "huber": lambda l: l.Huber(delta=0.3, reduction="none", name="h"),
    "kld": lambda l: l.KLDivergence(),
    "logcosh": lambda l: l.LogCosh(),
    "mae": lambda l: l.MeanAbsoluteError(),
    "mape": lambda l: l.MeanAbsolutePercentageError(),
    "mse": lambda l: l.MeanSquaredError(reduction="sum_over_batch_size"),
    "msle": lambda l: l.MeanSquaredLogarithmicError(),
    "poisson": lambda l: l.Poisson(reduction="auto"),
    "squared hinge": lambda l: l.SquaredHinge(reduction="none"),
}


@cases(*product(sorted(_LOSSES), ["plain", "rows", "number", "columns"]))
def losses(tf, np, name, weights):
    y, p = _distributions(np)
    weight = {
        "plain": None,
        "rows": np.array([0.5, 0.0, 2.0], np.float32),
        "number": 0.25,
        "columns": np.array([[0.5], [1.0], [2.0]], np.float32),
    }[weights]
    loss = _LOSSES[name](tf.keras.losses)
    found = loss(tf.constant(y), tf.constant(p), sample_weight=weight)
    config = loss.get_config()
    again = type(loss).from_config(config)
    return [
        Close(_value(tf, found), 1e-5, 1e-6),
        found.shape,
        _plain(config),
        loss.name,
        loss.reduction,
        Close(_value(tf, again(y, p)), 1e-5, 1e-6),
    ]


@cases("columns", "flat")
def sparse_losses(tf, np, kind):
    _, p = _distributions(np)
    y = np.array([0, 3, 1]) if kind == "flat" else np.array([[0], [3], [1]])
    l = tf.keras.losses
    made = [
        l.SparseCategoricalCrossentropy(from_logits=f, reduction=r)
        for f in (True, False)
        for r in ("sum", "none")
    ]
    found = [loss(y, tf.constant(p)) for loss in made]
    found += [l.sparse_categorical_crossentropy(y, tf.constant(p), from_logits=True, axis=-1)]
    return [_value(tf, x) for x in found], [loss.get_config() for loss in made]


def losses_refused(tf, np):
    l = tf.keras.losses

    class Mine(l.Loss):
        def call(self, y_true, y_pred):
            return tf.abs(y_true - y_pred)

    mine = Mine(reduction="sum", name="mine")
    return [
        raises(l.get, "nothing"),
        raises(l.get, 3),
        l.get(None),
        raises(l.MeanSquaredError, reduction="mean"),
        raises(l.MeanSquaredError(), tf.ones((2, 3)), tf.ones((3, 2))),
        raises(l.CategoricalCrossentropy(), tf.ones((2, 3)), tf.ones((2, 2))),
        _value(tf, mine(tf.ones((2, 2)), tf.zeros((2, 2)))),
        mine.get_config(),
        type(l.deserialize({"class_name": "MeanSquaredError", "config": {}})).__name__,
        l.deserialize("mine", custom_objects={"mine": len}) is len,
    ]


_METRIC_FUNCTIONS = {
    "binary_accuracy": {"threshold": 0.2},
    "categorical_accuracy": {},
    "top_k_categorical_accuracy": {"k": 2},
}


@cases({name: name for name in _METRIC_FUNCTIONS})
def metric_functions(tf, np, name):
    y, p = _distributions(np)
    m = tf.keras.metrics
    found = getattr(m, name)(tf.constant(y), tf.constant(p), **_METRIC_FUNCTIONS[name])
    plain = getattr(m, name)(tf.constant(y), tf.constant(p))
    return _value(tf, found), _value(tf, plain), m.serialize(m.get(name))


@cases("columns", "flat")
def sparse_metric_functions(tf, np, kind):
    _, p = _distributions(np)
    y = np.array([0, 3, 1]) if kind == "flat" else np.array([[0], [3], [1]])
    m = tf.keras.metrics
    return [
        _value(tf, m.sparse_categorical_accuracy(tf.constant(y, tf.float32), tf.constant(p))),
        _value(tf, m.sparse_top_k_categorical_accuracy(tf.constant(y), tf.constant(p), k=2)),
    ]


_METRICS = {
    "Accuracy": {},
    "AUC": {"num_thresholds": 5, "curve": "PR", "summation_method": "majoring"},
    "AUC given": {"thresholds": [0.1, 0.4, 0.6], "name": "area"},
    "BinaryAccuracy": {"threshold": 0.3, "name": "b", "dtype": "float64"},
    "BinaryCrossentropy": {"from_logits": True, "label_smoothing": 0.1},
    "CategoricalAccuracy": {"dtype": "float64"},
    "CategoricalCrossentropy": {"from_logits": True, "label_smoothing": 0.1},
    "CategoricalHinge": {},
    "CosineSimilarity": {"axis": -1},
    "FalseNegatives": {"thresholds": [0.1, 0.3]},
    "FalsePositives": {"thresholds": 0.2},
    "Hinge": {},
    "KLDivergence": {},
    "LogCoshError": {},
    "Mean": {},
    "MeanAbsoluteError": {"dtype": "float64"},
    "MeanAbsolutePercentageError": {},
    "MeanSquaredError": {"name": "error"},
    "MeanSquaredLogarithmicError": {},
    "Poisson": {},
    "Precision": {"thresholds": [0.2, 0.3], "class_id": 1},
    "Precision top": {"top_k": 2, "class_id": 0},
    "Recall": {"top_k": 2},
    "Recall of class": {"class_id": 3, "thresholds": 0.1},
    "RootMeanSquaredError": {"dtype": "float64"},
    "SensitivityAtSpecificity": {"specificity": 0.4, "num_thresholds": 5},
    "SpecificityAtSensitivity": {"sensitivity": 0.4, "num_thresholds": 5},
    "SquaredHinge": {},
    "Sum": {},
    "TopKCategoricalAccuracy": {"k": 2},
    "TrueNegatives": {"thresholds": [0.1, 0.3]},
    "TruePositives": {"thresholds": [0.1, 0.3]},
    "MeanTensor": {"name": "tensor"},
}


@cases({name: name for name in _METRICS})
def metrics(tf, np, name):
    m, k = tf.keras.metrics, tf.keras.backend
    metric = getattr(m, name.split()[0])(**_METRICS[name])
    y, p = _distributions(np)
    weights = None if "class_id" in _METRICS[name] else np.array([[0.5], [1.0], [2.0]], np.float32)
    values = name in ("Mean", "Sum", "MeanTensor")
    updates = [metric.update_state(p) if values else metric.update_state(y, p)]
    if name != "MeanTensor":
        updates.append(
            metric.update_state(p, sample_weight=weights)
            if values
            else metric.update_state(y, p[::-1].copy(), weights)
        )
    result, session, found = metric.result(), k.get_session(), []
    for update in updates:
        session.run(update)
        found.append(session.run(result))
    metric.reset_states()
    found.append(session.run(result))
    config = {key: value for key, value in metric.get_config().items() if key != "thresholds"}
    weights = [(v.name, v.dtype.name, v.shape) for v in metric.variables]
    written = m.serialize(metric)
    return [
        Close(found, 2e-5, 1e-6),
        _plain(config),
        weights,
        metric.dtype,
        metric.stateful,
        written["class_name"],
    ]


def metrics_of_classes(tf, np):
    m, k = tf.keras.metrics, tf.keras.backend
    iou = m.MeanIoU(num_classes=3, name="iou", dtype=tf.float32)
    relative = m.MeanRelativeError(normalizer=[1.0, 2.0, 4.0])
    sparse = m.SparseCategoricalCrossentropy(from_logits=True, axis=-1)
    top = m.SparseTopKCategoricalAccuracy(k=2, name="top")
    plain = m.SparseCategoricalAccuracy()
    logits = tf.constant(_one(np, 3, 4))
    updates = [
        iou.update_state(
            tf.constant([0, 1, 2, 2]), tf.constant([0, 2, 2, 1]), tf.constant([1.0, 0.5, 0.25, 1.0])
        ),
        relative.update_state(tf.constant([1.0, 3.0, 2.0]), tf.constant([2.0, 2.0, 2.0])),
        sparse.update_state(tf.constant([0, 1, 3]), logits, sample_weight=tf.constant([1.0, 2.0, 0.5])),
        top.update_state(tf.constant([0, 1, 3]), logits),
        plain.update_state(tf.constant([[0.0], [1.0], [3.0]]), logits),
    ]
    made = [iou, relative, sparse, top, plain]
    results, session = [metric.result() for metric in made], k.get_session()
    session.run(updates)
    config = [{key: value for key, value in x.get_config().items() if key != "normalizer"} for x in made]
    return session.run(results), config, [[v.name for v in x.variables] for x in made]


def a_metric_of_the_program(tf, np):
    m, k = tf.keras.metrics, tf.keras.backend

    class Positives(m.Metric):
        def __init__(self, name="positives", **kwargs):
            super().__init__(name=name, **kwargs)
            self.total = self.add_weight(
                "total", shape=(), initializer="zeros", aggregation=tf.VariableAggregation.SUM
            )

        def update_state(self, y_true, y_pred, sample_weight=None):
            return self.total.assign_add(tf.reduce_sum(tf.cast(y_pred > 0, self.dtype)))

        def result(self):
            return tf.identity(self.total)

    metric = Positives(dtype=tf.float64)
    called = metric(tf.ones(3), tf.constant([1.0, -1.0, 2.0]))
    session = k.get_session()
    values = [session.run(called), session.run(called)]
    k.set_value(metric.total, 7.0)
    return [
        values,
        session.run(metric.result()),
        [v.name for v in metric.weights],
        metric.get_config(),
        m.serialize(metric),
        raises(m.get, "nothing"),
        raises(m.get, 3),
        raises(m.deserialize, {"class_name": "Positives", "config": {}}),
        type(m.deserialize({"class_name": "Positives", "config": {}}, {"Positives": Positives})).__name__,
        raises(m.Metric),
    ]


_OPTIMIZERS = {
    "SGD": {"learning_rate": 0.5, "momentum": 0.9, "nesterov": True},
    "RMSprop": {"learning_rate": 0.1, "rho": 0.8, "momentum": 0.5, "epsilon": 1e-3, "centered": True},
    "Adagrad": {"learning_rate": 0.1, "initial_accumulator_value": 0.5, "epsilon": 1e-2},
    "Adadelta": {"learning_rate": 0.5, "rho": 0.8, "epsilon": 1e-3},
    "Adam": {"learning_rate": 0.1, "beta_1": 0.8, "beta_2": 0.95, "epsilon": 1e-3, "amsgrad": True},
    "Adamax": {"learning_rate": 0.1, "beta_1": 0.8, "beta_2": 0.95, "epsilon": 1e-3},
    "Nadam": {"learning_rate": 0.1, "beta_1": 0.8, "beta_2": 0.95, "epsilon": 1e-3},
    "Ftrl": {
        "learning_rate": 0.1,
        "learning_rate_power": -0.7,
        "initial_accumulator_value": 0.2,
        "l1_regularization_strength": 0.01,
        "l2_regularization_strength": 0.02,
        "l2_shrinkage_regularization_strength": 0.03,
    },
}


@cases(*product(sorted(_OPTIMIZERS), ["dense", "rows", "decayed", "clipped", "deserialized"]))
def optimizers(tf, np, name, how):
    k, o = tf.keras.backend, tf.keras.optimizers
    options = dict(_OPTIMIZERS[name])
    options.update({"decayed": {"decay": 0.1}, "clipped": {"clipnorm": 0.5}}.get(how, {}))
    optimizer = getattr(o, name)(**options)
    if how == "deserialized":
        optimizer = o.deserialize(o.serialize(optimizer))
    v = k.variable(_one(np, 4, 2), name="v")
    loss = tf.reduce_sum((tf.gather(v, [1, 3, 1]) if how == "rows" else v) ** 2)
    update = optimizer.get_updates(loss, [v])
    session = k.get_session()
    for _ in range(3):
        session.run(update)
    config = {key: v for key, v in optimizer.get_config().items() if not hasattr(v, "dtype")}
    weights = optimizer.get_weights()
    return [
        Close(k.get_value(v), 1e-5, 1e-6),
        [w.name for w in optimizer.weights],
        [Close(w, 1e-4, 1e-6) for w in weights],
        {key: Close(float(v), 1e-6) if isinstance(v, float) else v for key, v in config.items()},
    ]


def optimizers_by_everything(tf, np):
    o = tf.keras.optimizers
    sgd = o.get("sgd")
    sgd.lr = 0.5
    return [
        [type(o.get(name)).__name__ for name in ("adam", "RMSprop", "NADAM", "ftrl", "adamax")],
        type(o.get({"class_name": "Adam", "config": {"learning_rate": 0.5}})).__name__,
        type(o.get(tf.train.AdamOptimizer())).__name__,
        raises(o.get, "nothing"),
        raises(o.get, 3),
        raises(o.SGD, bad=3),
        raises(o.SGD, clipnorm=-1.0),
        raises(o.SGD, momentum=3),
        raises(o.deserialize, {"class_name": "Nothing", "config": {}}),
        Close(float(tf.keras.backend.get_value(sgd.lr)), 1e-6),
        o.serialize(o.Adam(lr=0.25))["config"]["learning_rate"],
    ]


_SCHEDULES = {
    "ExponentialDecay": dict(initial_learning_rate=1.0, decay_steps=3, decay_rate=0.5, staircase=True),
    "ExponentialDecay smooth": dict(initial_learning_rate=1.0, decay_steps=3, decay_rate=0.5, name="e"),
    "InverseTimeDecay": dict(initial_learning_rate=1.0, decay_steps=3, decay_rate=0.5),
    "InverseTimeDecay stairs": dict(initial_learning_rate=1.0, decay_steps=3, decay_rate=0.5, staircase=True),
    "PiecewiseConstantDecay": dict(boundaries=[2, 5], values=[1.0, 0.5, 0.1]),
    "PolynomialDecay": dict(initial_learning_rate=1.0, decay_steps=4, end_learning_rate=0.1, power=2.0),
    "PolynomialDecay cycle": dict(initial_learning_rate=1.0, decay_steps=4, cycle=True, name="p"),
    "CosineDecay": dict(initial_learning_rate=1.0, decay_steps=5, alpha=0.1),
    "CosineDecayRestarts": dict(
        initial_learning_rate=1.0, first_decay_steps=3, t_mul=1.5, m_mul=0.5, alpha=0.1
    ),
    "LinearCosineDecay": dict(initial_learning_rate=1.0, decay_steps=5, num_periods=0.7, alpha=0.1, beta=0.2),
}


@cases({name: name for name in _SCHEDULES})
def schedules(tf, np, name):
    s, e = tf.keras.optimizers.schedules, tf.keras.experimental
    kind = name.split()[0]
    schedule = getattr(e if "Cosine" in kind else s, kind)(**_SCHEDULES[name])
    written = s.serialize(schedule) if "Cosine" not in kind else None
    again = s.deserialize(written) if written else schedule
    rates = [schedule(step) for step in (0, 1, 3, 7)] + [
        again(tf.constant(4)),
        again(tf.constant(5, tf.int64)),
    ]
    v, k = tf.keras.backend.variable([1.0]), tf.keras.backend
    optimizer = tf.keras.optimizers.SGD(schedule)
    update = optimizer.get_updates(v, [v])
    session = k.get_session()
    for _ in range(4):
        session.run(update)
    return [
        [Close(_value(tf, tf.convert_to_tensor(rate)), 1e-5, 1e-6) for rate in rates],
        schedule.get_config(),
        written,
        Close(k.get_value(v), 1e-5),
        optimizer.get_config(),
    ]


def noisy_schedule(tf, np):
    schedule = tf.keras.experimental.NoisyLinearCosineDecay(
        1.0, decay_steps=5, initial_variance=0.0, variance_decay=0.5, num_periods=0.7, alpha=0.1, beta=0.2
    )
    return _value(tf, schedule(3)), schedule.get_config()


def a_schedule_of_the_program(tf, np):
    class Half(tf.keras.optimizers.schedules.LearningRateSchedule):
        def __init__(self, half=True):
            self.half = half

        def __call__(self, step):
            return 1.0 / (tf.cast(step, tf.float32) + 1.0)

        def get_config(self):
            return {"half": self.half}

    optimizer = tf.keras.optimizers.Adam(Half())
    config = optimizer.get_config()
    again = tf.keras.optimizers.schedules.deserialize(config["learning_rate"], {"Half": Half})
    return config["learning_rate"], _value(tf, again(3)), raises(lambda: setattr(optimizer, "lr", 0.5))
