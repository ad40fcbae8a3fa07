"""tf.contrib.distributions.bijectors: there and back, volumes, shapes, checks."""

from kit import Close, cases, product, raises, run


def _make(tf, np, kind, **keywords):
    b = tf.contrib.distributions.bijectors
    f = np.float32
    return {
        "AbsoluteValue": lambda: b.AbsoluteValue(**keywords),
        "AffineScalar": lambda: b.AffineScalar(shift=f(1.0), scale=f([2.0, -3.0, 0.5]), **keywords),
        "AffineScalarNone": lambda: b.AffineScalar(**keywords),
        "PowerTransform": lambda: b.PowerTransform(0.3, **keywords),
        "Exp": lambda: b.Exp(**keywords),
        "Gumbel": lambda: b.Gumbel(0.3, 2.0, **keywords),
        "Kumaraswamy": lambda: b.Kumaraswamy(2.0, 0.5, **keywords),
        "Sigmoid": lambda: b.Sigmoid(**keywords),
        "SinhArcsinh": lambda: b.SinhArcsinh(0.2, 1.3, **keywords),
        "Softplus": lambda: b.Softplus(**keywords),
        "SoftplusHinge": lambda: b.Softplus(hinge_softness=0.5, **keywords),
        "Softsign": lambda: b.Softsign(**keywords),
        "Square": lambda: b.Square(**keywords),
        "Identity": lambda: b.Identity(**keywords),
        "Invert": lambda: b.Invert(b.Exp(), **keywords),
        "Chain": lambda: b.Chain([b.Exp(), b.AffineScalar(f(1.0), f(2.0))], **keywords),
        "ChainNone": lambda: b.Chain([], **keywords),
        "ChainOfRanks": lambda: b.Chain(
            [b.SoftmaxCentered(), b.Affine(scale_diag=f([1.0, 2.0, 3.0]))], **keywords
        ),
        "Inline": lambda: b.Inline(
            forward_fn=tf.exp,
            inverse_fn=tf.log,
            inverse_log_det_jacobian_fn=lambda y: -tf.log(y),
            forward_min_event_ndims=0,
            **keywords,
        ),
        "Affine": lambda: b.Affine(f([1.0, 2.0, 3.0]), scale_diag=f([1.0, 2.0, 3.0]), **keywords),
        "AffineMultiple": lambda: b.Affine(f([1.0, 2.0, 3.0]), scale_identity_multiplier=f(2.0), **keywords),
        "AffineNone": lambda: b.Affine(**keywords),
        "AffineTriL": lambda: b.Affine(
            scale_tril=f([[1.0, 0.0, 0.0], [0.5, 2.0, 0.0], [1.0, -1.0, 3.0]]),
            scale_identity_multiplier=f(0.5),
            **keywords,
        ),
        "AffineLowRank": lambda: b.Affine(
            f([1.0, 2.0, 3.0]),
            scale_diag=f([1.0, 2.0, 3.0]),
            scale_perturb_factor=f([[1.0], [0.5], [0.1]]),
            scale_perturb_diag=f([0.5]),
            **keywords,
        ),
        "AffineBatch": lambda: b.Affine(scale_diag=f([[1.0, 2.0, 3.0], [0.5, 0.5, 0.5]]), **keywords),
        "AffineOperator": lambda: b.AffineLinearOperator(
            f([1.0, 2.0, 3.0]), tf.linalg.LinearOperatorDiag(f([1.0, 2.0, 3.0])), **keywords
        ),
        "AffineOperatorNone": lambda: b.AffineLinearOperator(**keywords),
        "Permute": lambda: b.Permute([2, 0, 1], **keywords),
        "Ordered": lambda: b.Ordered(**keywords),
        "SoftmaxCentered": lambda: b.SoftmaxCentered(**keywords),
        "Reshape": lambda: b.Reshape([3, 1], [3], **keywords),
        "FillTriangular": lambda: b.FillTriangular(**keywords),
        "ScaleTriL": lambda: b.ScaleTriL(**keywords),
        "ScaleTriLExp": lambda: b.ScaleTriL(b.Exp(), diag_shift=None, **keywords),
        "CholeskyOuterProduct": lambda: b.CholeskyOuterProduct(**keywords),
        "MatrixInverseTriL": lambda: b.MatrixInverseTriL(**keywords),
        "TransformDiagonal": lambda: b.TransformDiagonal(b.Exp(), **keywords),
        "RealNVP": lambda: b.RealNVP(
            1, lambda x, n: (tf.tile(x, [1, n]), tf.tile(0.1 * x, [1, n])), **keywords
        ),
        "RealNVPShift": lambda: b.RealNVP(1, lambda x, n: (tf.tile(x, [1, n]), None), **keywords),
        "Flow": lambda: b.MaskedAutoregressiveFlow(
            lambda x: (tf.cumsum(x, -1, exclusive=True), 0.1 * tf.cumsum(x, -1, exclusive=True)), **keywords
        ),
        "FlowUnrolled": lambda: b.MaskedAutoregressiveFlow(
            lambda x: (tf.cumsum(x, -1, exclusive=True), None), unroll_loop=True, **keywords
        ),
        "BatchNormalization": lambda: b.BatchNormalization(**keywords),
        "BatchNormalizationAtRest": lambda: b.BatchNormalization(training=False, **keywords),
    }[kind]()


_SIGNED = [[0.5, -1.0, 2.0], [0.0, 3.0, -0.2]]
_POSITIVE = [[0.5, 1.0, 2.0], [0.1, 3.0, 0.2]]
_SHARES = [[0.5, 0.1, 0.4], [0.2, 0.3, 0.9]]
_SIMPLEX = [[0.5, 0.1, 0.4], [0.2, 0.3, 0.5]]
_TRIANGLES = [[[1.0, 0.0], [0.5, 2.0]], [[0.3, 0.0], [-1.0, 1.5]]]
_SQUARES = [[[2.0, 0.5], [0.5, 2.0]], [[1.0, 0.1], [0.1, 1.5]]]

# What goes there, what comes back, and the ranks of their events.
_ELEMENTWISE = {
    "AffineScalar": (_SIGNED, _SIGNED),
    "AffineScalarNone": (_SIGNED, _SIGNED),
    "PowerTransform": (_POSITIVE, _POSITIVE),
    "Exp": (_SIGNED, _POSITIVE),
    "Gumbel": (_SIGNED, _SHARES),
    "Kumaraswamy": (_SHARES, _SHARES),
    "Sigmoid": (_SIGNED, _SHARES),
    "SinhArcsinh": (_SIGNED, _SIGNED),
    "Softplus": (_SIGNED, _POSITIVE),
    "SoftplusHinge": (_SIGNED, _POSITIVE),
    "Softsign": (_SIGNED, _SHARES),
    "Square": (_POSITIVE, _POSITIVE),
    "Identity": (_SIGNED, _SIGNED),
    "Invert": (_POSITIVE, _SIGNED),
    "Chain": (_SIGNED, _POSITIVE),
    "ChainNone": (_SIGNED, _SIGNED),
    "Inline": (_SIGNED, _POSITIVE),
}
_VECTORS = {
    "ChainOfRanks": (_SIGNED, [[0.5, 0.1, 0.2, 0.2], [0.2, 0.3, 0.4, 0.1]], 1, 1),
    "Affine": (_SIGNED, _SIGNED, 1, 1),
    "AffineMultiple": (_SIGNED, _SIGNED, 1, 1),
    "AffineNone": (_SIGNED, _SIGNED, 1, 1),
    "AffineTriL": (_SIGNED, _SIGNED, 1, 1),
    "AffineLowRank": (_SIGNED, _SIGNED, 1, 1),
    "AffineBatch": (_SIGNED, _SIGNED, 1, 1),
    "AffineOperator": (_SIGNED, _SIGNED, 1, 1),
    "AffineOperatorNone": (_SIGNED, _SIGNED, 1, 1),
    "Permute": (_SIGNED, _SIGNED, 1, 1),
    "Ordered": ([[0.5, 1.0, 2.0], [-1.0, 3.0, 3.5]], _SIGNED, 1, 1),
    "SoftmaxCentered": (_SIGNED, _SIMPLEX, 1, 1),
    "Reshape": (_SIGNED, [[[0.5], [1.0], [2.0]]], 1, 2),
    "FillTriangular": (_SIGNED, _TRIANGLES, 1, 2),
    "ScaleTriL": (_SIGNED, _TRIANGLES, 1, 2),
    "ScaleTriLExp": (_SIGNED, _TRIANGLES, 1, 2),
    "CholeskyOuterProduct": (_TRIANGLES, _SQUARES, 2, 2),
    "MatrixInverseTriL": (_TRIANGLES, _TRIANGLES, 2, 2),
    "TransformDiagonal": (_TRIANGLES, _TRIANGLES, 2, 2),
    "RealNVP": (_SIGNED, _SIGNED, 1, 1),
    "RealNVPShift": (_SIGNED, _SIGNED, 1, 1),
    "Flow": (_SIGNED, _SIGNED, 1, 1),
    "FlowUnrolled": (_SIGNED, _SIGNED, 1, 1),
    "BatchNormalization": (_SIGNED, _SIGNED, 1, 1),
    "BatchNormalizationAtRest": (_SIGNED, _SIGNED, 1, 1),
}
_ALL = dict({kind: pair + (0, 0) for kind, pair in _ELEMENTWISE.items()}, **_VECTORS)


def _close(tf, tensors, feeds=None):
    return Close(run(tf, tensors, feeds), 2e-4, 2e-5)


# TensorFlow's graph optimizer loses a minus before these log-determinants.
_LOSES_SIGN = ["Flow", "BatchNormalization", "BatchNormalizationAtRest"]


@cases(*sorted(_ALL))
def there_and_back(tf, np, kind):
    x, y, x_rank, y_rank = _ALL[kind]
    x, y = tf.constant(np.float32(x)), tf.constant(np.float32(y))
    b = _make(tf, np, kind)
    made = [
        b.forward(x),
        b.inverse(y),
        b.inverse_log_det_jacobian(y, event_ndims=y_rank),
    ]
    if kind not in _LOSES_SIGN:
        made.append(b.forward_log_det_jacobian(x, event_ndims=x_rank))
    facts = [b.name, b.is_constant_jacobian, b.forward_min_event_ndims, b.inverse_min_event_ndims]
    return [[t.shape for t in made], facts, b.validate_args, b.dtype, _close(tf, made)]


@cases(*sorted(set(_ALL) - {"BatchNormalization", "BatchNormalizationAtRest"}))
def kept(tf, np, kind):
    """What was computed is not computed again."""
    x, y, _, y_rank = _ALL[kind]
    b = _make(tf, np, kind)
    x = tf.constant(np.float32(x))
    image = b.forward(x)
    y = tf.constant(np.float32(y))
    back = b.inverse(y)
    log_det = b.inverse_log_det_jacobian(y, event_ndims=y_rank)
    return [
        b.forward(x) is image,
        b.inverse(image) is x,
        b.forward(back) is y,
        b.inverse_log_det_jacobian(y, event_ndims=y_rank) is log_det,
        _close(tf, b.inverse_log_det_jacobian(image, event_ndims=y_rank)),
    ]


@cases(*sorted(_ELEMENTWISE))
def larger_events(tf, np, kind):
    x, y = (tf.constant(np.float32(each)) for each in _ELEMENTWISE[kind])
    b = _make(tf, np, kind)
    made = [b.forward_log_det_jacobian(x, event_ndims=rank) for rank in (1, 2)]
    made += [b.inverse_log_det_jacobian(y, event_ndims=rank) for rank in (1, 2)]
    return [[t.shape for t in made], _close(tf, made)]


_SIZES = {"FillTriangular": [3], "ScaleTriL": [3], "Reshape": [3]}
_SHAPED = [
    "Exp",
    "Chain",
    "ChainOfRanks",
    "Ordered",
    "SoftmaxCentered",
    "Reshape",
    "FillTriangular",
    "ScaleTriL",
]
_SHAPED += ["Invert", "Inline", "Permute"]


@cases(*_SHAPED)
def shapes(tf, np, kind):
    b = _make(tf, np, kind)
    sizes = [3]
    out = {"FillTriangular": [2, 2], "ScaleTriL": [2, 2], "Reshape": [3, 1], "ChainOfRanks": [4]}.get(
        kind, [3]
    )
    return [
        b.forward_event_shape(sizes),
        b.inverse_event_shape(tf.TensorShape(out)),
        run(tf, [b.forward_event_shape_tensor(sizes), b.inverse_event_shape_tensor(out)]),
    ]


@cases("Exp", "Affine", "AffineTriL", "SoftmaxCentered", "FillTriangular", "Chain", "ChainOfRanks", "Ordered")
def unknown_shapes(tf, np, kind):
    x, _, rank, _ = _ALL[kind]
    held = tf.placeholder(tf.float32)
    b = _make(tf, np, kind)
    made = [b.forward(held), b.forward_log_det_jacobian(held, event_ndims=rank)]
    made.append(b.inverse(made[0] + 0.0))
    return _close(tf, made, {held: np.float32(x)})


def both_values(tf, np):
    b = tf.contrib.distributions.bijectors.AbsoluteValue()
    made = [
        b.forward([-1.0, 2.0]),
        b.inverse([1.0, 2.0]),
        b.inverse_log_det_jacobian([1.0, 2.0], event_ndims=1),
    ]
    return [_close(tf, made), raises(b.forward_log_det_jacobian, [1.0], event_ndims=0)]


_CHECKED = {
    "absolute": ("AbsoluteValue", "inverse", -1.0),
    "power": ("PowerTransform", "forward", -10.0),
    "exp": ("Exp", "inverse", -1.0),
    "gumbel_low": ("Gumbel", "inverse", -1.0),
    "gumbel_high": ("Gumbel", "inverse", 2.0),
    "kumaraswamy": ("Kumaraswamy", "forward", 2.0),
    "softsign": ("Softsign", "inverse", 1.5),
    "square": ("Square", "forward", -1.5),
    "ordered": ("Ordered", "forward", [2.0, 1.0, 3.0]),
    "inverse_tril": ("MatrixInverseTriL", "forward", [[1.0, 1.0], [0.0, 1.0]]),
}


@cases(_CHECKED)
def checks(tf, np, kind, way, value):
    b = _make(tf, np, kind, validate_args=True)
    return raises(lambda: run(tf, getattr(b, way)(tf.placeholder_with_default(value, np.shape(value)))))


def wrong_arguments(tf, np):
    b = tf.contrib.distributions.bijectors
    exp = b.Exp()
    return [
        raises(exp.forward_log_det_jacobian, 1.0, event_ndims=-1),
        raises(exp.forward_log_det_jacobian, 1.0, event_ndims=[1]),
        raises(exp.inverse_log_det_jacobian, 1.0, event_ndims=0.5),
        raises(b.PowerTransform, -1.0),
        raises(b.Inline, forward_fn=tf.exp),
        raises(b.Inline(forward_fn=tf.exp, forward_min_event_ndims=0).inverse, 1.0),
        raises(b.Inline, forward_min_event_ndims=-1),
        raises(b.Inline, forward_min_event_ndims=0.5),
        raises(b.Invert, b.AbsoluteValue()),
        raises(b.Chain, [b.AbsoluteValue()]),
        raises(b.Permute, [0, 2]),
        raises(b.Permute, [0.0, 1.0]),
        raises(b.Affine, scale_perturb_diag=[1.0]),
        raises(b.Affine([1.0, 2.0]).forward, np.float64([1.0, 2.0])),
        raises(b.AffineLinearOperator, scale=tf.constant(1.0)),
        raises(b.Reshape([2, 2], [4]).forward, [1.0, 2.0]),
        raises(b.RealNVP, 0, None),
        raises(b.RealNVP(3, lambda x, n: (x, None)).forward, [[1.0, 2.0]]),
        raises(b.BatchNormalization, tf.layers.BatchNormalization(renorm=True)),
        raises(b.FillTriangular().forward_event_shape, [4]),
        raises(b.SoftmaxCentered().inverse_event_shape, tf.TensorShape([1])),
    ]


@cases(*product([True, False], [True, False]))
def masked_networks(tf, np, shift_only, exclusive):
    b = tf.contrib.distributions.bijectors
    tf.set_random_seed(3)
    x = tf.constant(np.float32([[0.1, 0.2, 0.3], [0.5, -1.0, 2.0]]))
    weights = {"kernel_initializer": tf.constant_initializer(0.3)}
    network = b.masked_autoregressive_default_template([6], shift_only=shift_only, **weights)
    flow = b.MaskedAutoregressiveFlow(network)
    dense = b.masked_dense(x, 6, num_blocks=3, exclusive=exclusive, name="mine", **weights)
    made = [dense, flow.forward(x), flow.inverse(x), flow.inverse_log_det_jacobian(x, event_ndims=1)]
    return [[v.name for v in tf.trainable_variables()], [t.shape for t in made], _close(tf, made)]


def couplings(tf, np):
    b = tf.contrib.distributions.bijectors
    tf.set_random_seed(3)
    x = tf.constant(np.float32([[0.1, 0.2, 0.3], [0.5, -1.0, 2.0]]))
    nvp = b.RealNVP(2, b.real_nvp_default_template([4]))
    made = [nvp.forward(x), nvp.inverse(x), nvp.inverse_log_det_jacobian(x, event_ndims=1)]
    return [[v.name for v in tf.trainable_variables()], [t.shape for t in made], _close(tf, made)]
