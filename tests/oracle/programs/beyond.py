"""Vocabulary beyond the engine's first: segments, stateless randomness, sorting and the like."""

from kit import cases, differentiated, normal, product, run

_MADE = {
    "unique": lambda tf: tf.unique([4, 1, 4, 2, 1]),
    "unique_with_counts": lambda tf: tf.unique_with_counts([4, 1, 4, 2, 1]),
    "setdiff1d": lambda tf: tf.setdiff1d([1, 2, 3, 4], [2, 4]),
    "bincount": lambda tf: tf.bincount([1, 1, 3]),
    "sort": lambda tf: tf.sort([3.0, 1.0, 2.0], direction="DESCENDING"),
    "argsort": lambda tf: tf.argsort([3.0, 1.0, 2.0]),
    "searchsorted": lambda tf: tf.searchsorted([1.0, 3.0, 5.0], [0.0, 3.0, 9.0], side="right"),
    "confusion_matrix": lambda tf: tf.confusion_matrix([1, 2, 1], [1, 1, 0], 3),
    "matrix_band_part": lambda tf: tf.matrix_band_part(tf.ones([3, 4]), 1, 0),
    "invert_permutation": lambda tf: tf.invert_permutation([2, 0, 1]),
    "diag": lambda tf: tf.diag([1, 2, 3]),
    "diag_part": lambda tf: tf.diag_part([[1, 2], [3, 4]]),
    "matrix_diag": lambda tf: tf.matrix_diag([[1.0, 2.0], [3.0, 4.0]]),
    "matrix_diag_part": lambda tf: tf.matrix_diag_part([[[1.0, 2.0], [3.0, 4.0]]]),
}


@cases(*_MADE)
def made(tf, np, key):
    return run(tf, _MADE[key](tf))


@cases("random_crop", "random_gamma", "random_poisson")
def other_draws_have_the_right_shape(tf, np, name):
    made = {
        "random_crop": lambda: tf.random_crop(tf.constant(np.arange(20).reshape(4, 5)), [2, 3], seed=1),
        "random_gamma": lambda: tf.random_gamma([4], [1.0, 2.0], seed=1),
        "random_poisson": lambda: tf.random_poisson([1.0, 5.0], [4], seed=1),
    }[name]()
    return [made.shape, made.dtype, run(tf, made).shape]


def random_crop_values(tf, np):
    with tf.Session() as session:
        crop = tf.random_crop(tf.constant(np.arange(20).reshape(4, 5)), [2, 3], seed=1)
        return [session.run(crop) for _ in range(3)]


@cases(
    *product(
        ["stateless_uniform", "stateless_normal", "stateless_truncated_normal"],
        [(1, 2), (0, 0), (123456789, -5)],
    )
)
def stateless(tf, np, name, seed):
    draw = getattr(tf.random, name)
    return run(
        tf, [draw([3, 4], list(seed)), draw([3, 4], list(seed), dtype=tf.float64), draw([], list(seed))]
    )


def stateless_integers_and_multinomial(tf, np):
    uniform = tf.random.stateless_uniform([6], [3, 4], 0, 100, tf.int32)
    return run(tf, [uniform, tf.random.stateless_multinomial([[0.1, 0.5]], 6, [1, 2])])


def reverse_sequence(tf, np):
    x = normal(np, 2, 4, 2)
    return differentiated(tf, np, lambda x: tf.reverse_sequence(x, [2, 3], seq_axis=1, batch_axis=0), x)


@cases("segment_sum", "segment_mean", "segment_max", "segment_min", "segment_prod")
def segments(tf, np, name):
    if name == "segment_prod":
        return run(tf, tf.segment_prod(tf.constant([1.0, 2.0, 3.0]), [0, 0, 1]))
    return differentiated(tf, np, lambda x: getattr(tf, name)(x, [0, 0, 1, 3]), normal(np, 4, 2))


@cases(
    "unsorted_segment_sum",
    "unsorted_segment_max",
    "unsorted_segment_min",
    "unsorted_segment_prod",
    "unsorted_segment_mean",
)
def unsorted_segments(tf, np, name):
    return differentiated(tf, np, lambda x: getattr(tf, name)(x, [1, 0, 1, -1], 3), normal(np, 4, 2))


def dynamic_partition_and_stitch(tf, np):
    x = np.arange(8.0).reshape(4, 2)
    parts = differentiated(tf, np, lambda x: tf.dynamic_partition(x, [0, 1, 0, 2], 3), x)
    stitched = differentiated(tf, np, lambda a, b: tf.dynamic_stitch([[0, 2], [1]], [a, b]), x[:2], x[2:3])
    return [parts, stitched]


def depth_and_space(tf, np):
    x = normal(np, 1, 4, 4, 2)
    return [
        differentiated(tf, np, lambda x: tf.space_to_depth(x, 2), x),
        differentiated(tf, np, lambda x: tf.depth_to_space(x, 2), normal(np, 1, 2, 2, 8)),
    ]


def parallel_stack(tf, np):
    return run(tf, tf.parallel_stack([tf.constant([1, 2]), tf.constant([3, 4])]))


@cases("ij,jk->ik", "bij,bjk->bik", "ij,j->i", "ij->ji", "ij,ij->", "abc,cd->abd")
def einsum(tf, np, equation):
    sizes = dict(a=2, b=2, c=3, d=4, i=2, j=3, k=4)
    terms = equation.split("->")[0].split(",")
    arrays = [normal(np, *[sizes[c] for c in t]) for t in terms]
    return differentiated(tf, np, lambda *xs: tf.einsum(equation, *xs), *arrays)


@cases(*product(["float32", "float64"], [0, 1], [False, True], [False, True]))
def cumulative_logsumexp(tf, np, dtype, axis, exclusive, reverse):
    build = tf.math.cumulative_logsumexp
    return differentiated(
        tf, np, lambda x: build(x, axis, exclusive, reverse), normal(np, 2, 3).astype(dtype)
    )
