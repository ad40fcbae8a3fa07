"""Random ops: TensorFlow's numbers where there is a seed, sound distributions where there is none."""

import numpy as np
import pytest

import tideflow as tf


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


def runs(fetches, times=2):
    with tf.Session() as session:
        return [session.run(fetches) for _ in range(times)]


def run(fetches):
    return runs(fetches, 1)[0]


LOG_SHARES = np.log([[0.1, 0.2, 0.7]]).astype(np.float32)

# What TensorFlow 1.15 gives in two runs of one session.
SEEDED = {
    "uniform": (
        lambda: tf.random_uniform([3], seed=1),
        [[0.23903739, 0.92039955, 0.05051243], [0.85147619, 0.28712368, 0.79762769]],
    ),
    "normal": (
        lambda: tf.random_normal([3], seed=1),
        [[-0.81131822, 1.48459876, 0.06532937], [0.55171245, -0.13107552, -0.04481386]],
    ),
    "truncated normal": (
        lambda: tf.truncated_normal([3], seed=1),
        [[-0.81131822, 1.48459876, 0.06532937], [0.55171245, -0.13107552, -0.04481386]],
    ),
    "integers": (
        lambda: tf.random_uniform([4], 0, 100, tf.int32, seed=1),
        [[27, 59, 93, 22], [31, 58, 29, 43]],
    ),
    "shuffle": (
        lambda: tf.random_shuffle(tf.range(6), seed=1),
        [[3, 5, 0, 4, 1, 2], [5, 4, 2, 0, 3, 1]],
    ),
    "multinomial": (
        lambda: tf.multinomial(LOG_SHARES, 6, seed=1),
        [[[2, 2, 2, 2, 1, 1]], [[1, 1, 2, 2, 2, 2]]],
    ),
    "poisson": (
        lambda: tf.random_poisson([3.0], [4], seed=1),
        [[[5], [4], [7], [7]], [[3], [4], [2], [4]]],
    ),
    "crop": (
        lambda: tf.random_crop(np.arange(20).reshape(4, 5), [2, 2], seed=1),
        [[[10, 11], [15, 16]], [[7, 8], [12, 13]]],
    ),
}

STATELESS = {
    "uniform": (lambda: tf.random.stateless_uniform([3], [1, 2]), [0.84406042, 0.19204533, 0.99622321]),
    "normal": (lambda: tf.random.stateless_normal([3], [1, 2]), [0.54411012, 0.20738031, 0.07356432]),
    "truncated normal": (
        lambda: tf.random.stateless_truncated_normal([3], [1, 2]),
        [0.54411012, 0.20738031, 0.07356432],
    ),
    "integers": (lambda: tf.random.stateless_uniform([3], [1, 2], 0, 100, tf.int64), [44, 78, 67]),
    "categories": (lambda: tf.random.stateless_categorical(LOG_SHARES, 6, [1, 2]), [[2, 2, 1, 2, 2, 2]]),
    "multinomial": (lambda: tf.random.stateless_multinomial(LOG_SHARES, 6, [1, 2]), [[2, 2, 1, 2, 2, 2]]),
}


@pytest.mark.parametrize("key", SEEDED)
def test_seeded_numbers_are_tensorflows(key):
    make, expected = SEEDED[key]
    np.testing.assert_allclose(runs(make()), expected, 1e-6)


@pytest.mark.parametrize("key", STATELESS)
def test_stateless_numbers_are_tensorflows_and_stay(key):
    make, expected = STATELESS[key]
    np.testing.assert_allclose(runs(make()), [expected, expected], 1e-6)


def test_the_seed_of_a_stateless_op_may_be_fed():
    seed = tf.placeholder(tf.int32, [2])
    x = tf.random.stateless_uniform([3], seed)
    with tf.Session() as session:
        first, other = session.run(x, {seed: [1, 2]}), session.run(x, {seed: [2, 1]})
    np.testing.assert_allclose(first, STATELESS["uniform"][1], 1e-6)
    assert (first != other).all()


# -------------------------------------------------------------------------------- streams


def test_each_session_starts_the_stream_anew():
    x = tf.random_uniform([3], seed=9)
    np.testing.assert_array_equal(runs(x), runs(x))


def test_one_step_draws_once():
    x = tf.random_uniform([3], seed=9)
    a, b = run([x, tf.identity(x)])
    np.testing.assert_array_equal(a, b)


def test_two_ops_with_one_seed_give_the_same_and_are_not_merged():
    a, b = tf.random_uniform([3], seed=9), tf.random_uniform([3], seed=9)
    with tf.Session() as session:
        first, second = session.run([a, b])
        np.testing.assert_array_equal(first, second)
        later = session.run([a, a])
        assert (later[0] != first).all()
        np.testing.assert_array_equal(later[0], session.run(b))


def test_the_stream_goes_on_through_different_steps():
    x = tf.random_uniform([3], seed=9)
    y = x + 0.0
    with tf.Session() as session:
        seen = [session.run(x), session.run(y), session.run([x, y])[0]]
    np.testing.assert_array_equal(seen, runs(x, 3))


def test_graph_seed():
    def build():
        tf.set_random_seed(7)
        return [tf.random_uniform([2]), tf.random_uniform([2]), tf.random_normal([2])]

    seen = []
    for _ in range(2):
        with tf.Graph().as_default():
            seen.append(run(build()))
    np.testing.assert_array_equal(seen[0], seen[1])
    assert (seen[0][0] != seen[0][1]).all()


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.random_uniform([8]),
        lambda: tf.random_normal([8]),
        lambda: tf.truncated_normal([8]),
        lambda: tf.random_uniform([8], 0, 10**6, tf.int32),
        lambda: tf.random_shuffle(tf.range(100)),
        lambda: tf.random_gamma([8], 2.0),
        lambda: tf.random.categorical(np.zeros([1, 1000]), 8),
        lambda: tf.random_poisson(10.0**6, [8]),
    ],
)
def test_unseeded_numbers_are_new_in_every_step(make):
    """So none of these was folded into a constant either."""
    a, b = runs(make())
    assert not np.array_equal(a, b)


# ------------------------------------------------------------------------------ distributions without a seed


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_unseeded_uniform_and_normal(dtype):
    makers = (tf.random_uniform, tf.random_normal, tf.truncated_normal)
    u, n, t = run([tf.cast(make([20000], dtype=dtype), tf.float64) for make in makers])
    assert (u >= 0).all() and (u < 1).all() and abs(u.mean() - 0.5) < 0.02
    assert abs(n.mean()) < 0.05 and abs(n.std() - 1) < 0.05
    assert (np.abs(t) <= 2).all() and abs(t.std() - 0.8796) < 0.03


def test_unseeded_integers():
    small = tf.random_uniform([2000], -3, 4, tf.int64)
    whole = tf.random_uniform([2000], tf.int64.min, tf.int64.max, tf.int64)
    a, b = run([small, whole])
    assert set(a) == set(range(-3, 4))
    assert b.min() < -(2**62) and b.max() > 2**62


def test_unseeded_classes_follow_their_shares():
    logits = np.array([[0.0, -np.inf, np.log(3.0)], [-np.inf, 5.0, -np.inf]])
    classes = run(tf.multinomial(logits, 8000))
    assert abs((classes[0] == 2).mean() - 0.75) < 0.03
    assert not (classes[0] == 1).any()
    assert (classes[1] == 1).all()


def test_unseeded_gamma_and_poisson():
    g = run(tf.random_gamma([8000], [0.5, 4.0], beta=2.0))
    np.testing.assert_allclose(g.mean(0), [0.25, 2.0], 0.1)
    p = run(tf.random_poisson([0.0, 2.0, 50.0, -1.0, np.inf], [8000]))
    np.testing.assert_allclose(p.mean(0), [0.0, 2.0, 50.0, 0.0, np.nan], 0.1)


def test_unseeded_shuffle_moves_whole_rows():
    x = np.arange(200).reshape(100, 2)
    shuffled = run(tf.random_shuffle(x))
    np.testing.assert_array_equal(np.sort(shuffled[:, 0]), x[:, 0])
    np.testing.assert_array_equal(shuffled[:, 1], shuffled[:, 0] + 1)
    assert sorted(run(tf.random_shuffle([b"a", b"b", b"c"]))) == [b"a", b"b", b"c"]


# -------------------------------------------------------------------------------- gradients, graphs, mistakes


def test_gamma_has_a_gradient():
    alpha = tf.constant([0.5, 2.0, 30.0])
    x = tf.random_gamma([4000], alpha, seed=3)
    # The mean of a gamma number is alpha, so its derivative by alpha is 1 on average.
    np.testing.assert_allclose(run(tf.gradients(tf.reduce_mean(x, 0), alpha)[0]), 1.0, 0.1)


def test_no_gradient_goes_through_the_others():
    x = tf.constant(2.0)
    (slope,) = tf.gradients(tf.random_uniform([3], 0.0, x, seed=1), x)
    np.testing.assert_allclose(run(slope), np.sum(SEEDED["uniform"][1][0]), 1e-5)
    with pytest.raises(LookupError, match="RandomShuffle"):
        tf.gradients(tf.random_shuffle(tf.ones([3]) * x), x)


def test_names():
    tf.random_uniform([2], -1.0, 1.0)
    names = [(op.name, op.type) for op in tf.get_default_graph().get_operations()]
    assert names == [
        ("random_uniform/shape", "Const"),
        ("random_uniform/min", "Const"),
        ("random_uniform/max", "Const"),
        ("random_uniform/RandomUniform", "RandomUniform"),
        ("random_uniform/sub", "Sub"),
        ("random_uniform/mul", "Mul"),
        ("random_uniform", "Add"),
    ]


def test_shapes_known_and_unknown():
    size = tf.placeholder(tf.int32, [])
    assert tf.random_normal([size, 3]).shape.as_list() == [None, 3]
    assert tf.random_normal(tf.placeholder(tf.int32, [2])).shape.as_list() == [None, None]
    assert tf.random_normal([]).shape.as_list() == []
    assert tf.random_gamma([2], [1.0, 2.0, 3.0]).shape.as_list() == [2, 3]
    assert tf.multinomial(tf.placeholder(tf.float32, [None, 4]), size).shape.as_list() == [None, None]


def fed(value):
    return tf.placeholder_with_default(value, None)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: tf.random_uniform([2], dtype=tf.int32), ValueError, "Must specify maxval"),
        (lambda: tf.random_uniform([2], dtype=tf.string), ValueError, "Invalid dtype"),
        (lambda: tf.random_normal([2], dtype=tf.int32), TypeError, "int32"),
        (lambda: tf.random_uniform(3), ValueError, "Shape must be rank 1 but is rank 0"),
        (lambda: tf.random_uniform([-2]), ValueError, "Invalid value"),
        (lambda: tf.random_uniform([-1]), tf.errors.InvalidArgumentError, "Dimension -1 must be >= 0"),
        (lambda: tf.random_uniform([2], 5, 5, tf.int32), tf.errors.InvalidArgumentError, "minval < maxval"),
        (
            lambda: tf.random_uniform([2], 5, 5, tf.int32, seed=1),
            tf.errors.InvalidArgumentError,
            "minval < maxval",
        ),
        (lambda: tf.multinomial([[1.0]], -3), ValueError, "must be non-negative but is -3"),
        (lambda: tf.multinomial([[1.0]], fed(-3)), tf.errors.InvalidArgumentError, "nonnegative, got -3"),
        (lambda: tf.multinomial(fed([1.0]), 3), tf.errors.InvalidArgumentError, "should be a matrix"),
        (
            lambda: tf.multinomial(np.zeros([2, 0]), 3),
            tf.errors.InvalidArgumentError,
            "num_classes should be positive",
        ),
        (lambda: tf.random.stateless_uniform([3], [1, 2, 3]), ValueError, "Dimension must be 2 but is 3"),
        (lambda: tf.random.stateless_uniform([3], fed([1])), tf.errors.InvalidArgumentError, r"shape \[2\]"),
        (
            lambda: tf.random_crop(np.zeros([4, 5]), [5, 2]),
            tf.errors.InvalidArgumentError,
            "Need value.shape >= size",
        ),
    ],
)
def test_mistakes(make, error, message):
    with pytest.raises(error, match=message):
        run(make())
