"""Random streams: generators with a state, stateless numbers, parameters by row."""

from kit import cases, names, product, raises


def _runs(tf, tensor, times=2):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [session.run(tensor) for _ in range(times)]


def _generator(tf, seed=1234):
    return tf.random.experimental.Generator.from_seed(seed, 1)


_FLOATS = ["float16", "bfloat16", "float32", "float64"]
_SHAPES = [[], [1], [7], [3, 4], [0, 2], [129]]


@cases(*product(["normal", "truncated_normal", "uniform"], _FLOATS, _SHAPES))
def generator_numbers(tf, np, name, dtype, shape):
    generator = _generator(tf)
    numbers = getattr(generator, name)(shape, dtype=getattr(tf, dtype))
    return [numbers, _runs(tf, [tf.cast(numbers, tf.float64)])]


@cases(*product(["int32", "int64", "uint32", "uint64"], _SHAPES))
def generator_whole_numbers(tf, np, dtype, shape):
    numbers = _generator(tf).uniform_full_int(shape, dtype=getattr(tf, dtype))
    return [numbers, _runs(tf, numbers)]


@cases(*product(["int32", "int64"], [(0, 10), (-5, 5), (3, 4), (-(2**31), 2**31 - 1)]))
def generator_bounded_numbers(tf, np, dtype, bounds):
    numbers = _generator(tf).uniform([3, 5], bounds[0], bounds[1], dtype=getattr(tf, dtype))
    return [numbers, _runs(tf, numbers)]


@cases({"scaled": (-2.0, 3.0), "unit": (0, None)})
def generator_bounds(tf, np, low, high):
    return _runs(tf, _generator(tf).uniform([6], low, high))


def generator_mean_and_deviation(tf, np):
    generator = _generator(tf)
    return _runs(tf, [generator.normal([4], 10.0, 0.5)]) + _runs(tf, generator.truncated_normal([4], -3, 2.0))


@cases(0, 5, -1, 2**64 + 3, 2**63, 2**200 + 1)
def generator_seeds(tf, np, seed):
    generator = _generator(tf, seed)
    return [
        tf.random.experimental.create_rng_state(seed, 1),
        _runs(tf, [generator.state, generator.key])[0],
        _runs(tf, generator.uniform([3])),
    ]


@cases({"short": [5], "pair": [5, 6], "whole": [5, 6, 7], "long": [5, 6, 7, 8], "unsigned": [2**64 - 1, 3]})
def generator_seed_vectors(tf, np, seed):
    state = tf.random.experimental.create_rng_state(seed, 1)
    return [
        state,
        tf.random.experimental.create_rng_state(seed, 2),
        _runs(tf, _generator(tf, seed).normal([3])),
    ]


def generator_constructors(tf, np):
    make = tf.random.experimental.Generator
    made = [
        make.from_state([5, 6, 7], 1),
        make.from_state(np.array([5, 6, 7]), 1),
        make.from_key_counter(7, [5, 6], 1),
        make.from_key_counter(-7, [2**63, 6], 1),
        make(state=[5, 6, 7], alg=1),
    ]
    copied = make(copy_from=made[0])
    return [[g.algorithm for g in made], _runs(tf, [g.normal([3]) for g in [*made, copied]])]


def generator_refusals(tf, np):
    make = tf.random.experimental.Generator
    generator = _generator(tf)
    return [
        raises(make),
        raises(make, state=[1, 2, 3]),
        raises(make, copy_from=generator, alg=1),
        raises(make.from_seed, 3, 7),
        raises(make.from_state, [1, 2], 1),
        raises(make.from_key_counter, 1, [1, 2, 3], 1),
        raises(make.from_key_counter, [1], [1, 2], 1),
        raises(generator.uniform, [3], dtype=tf.int32),
        raises(generator.reset, [1, 2]),
        raises(tf.random.experimental.create_rng_state, 5, 9),
        raises(lambda: _runs(tf, make.from_seed(5, 2).normal([2]))),
        raises(lambda: _runs(tf, generator.uniform([3], 5, 5, dtype=tf.int32))),
    ]


def generator_seeds_for_others(tf, np):
    seeds = _generator(tf).make_seeds(3)
    return [seeds, _runs(tf, seeds)]


def generator_names(tf, np):
    generator = _generator(tf)
    generator.normal([3])
    generator.uniform([3], name="mine")
    generator.uniform([3], 0, 5, tf.int32)
    generator.uniform_full_int([3])
    generator.truncated_normal([3])
    generator.binomial([3], [4.0], [0.5])
    generator.make_seeds(2)
    generator.skip(3)
    return names(tf)


@cases(*product([1, 3, 1000], [[5, 6, 7], [-1, 0, 0], [-1, -1, 4], [2**63 - 1, 2, 3]]))
def skipping(tf, np, delta, state):
    generator = tf.random.experimental.Generator.from_state(state, 1)
    skip = tf.raw_ops.RngSkip(resource=generator.state.handle, algorithm=1, delta=delta)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = []
        for _ in range(2):
            session.run(skip)
            found.append(session.run(generator.state))
        return found


_BINOMIALS = [
    ([10], 10.0, 0.3),
    ([10], 100.0, 0.3),
    ([10], 100.0, 0.7),
    ([20], 1000.0, 0.01),
    ([20], 1000.0, 0.009),
    ([5], 1e6, 0.5),
    ([4], 1e9, 1e-9),
    ([3, 4], [10.0, 100.0, 1000.0], [0.5, 0.2, 0.7]),
    ([2, 3], [30.0], [0.1, 0.2]),
    ([2, 3, 2], [30.0, 5.0], [0.9]),
    ([90], 20.0, 0.4),
    ([3], 10.0, [-0.1, 0.0, 1.0]),
    ([2], [0.0, -3.0], 0.5),
    ([3], 10.5, 0.25),
    ([0], 10.0, 0.5),
    ([4, 0], 10.0, 0.5),
]


@cases(*[(place, dtype) for place in range(len(_BINOMIALS)) for dtype in ("float32", "float64", "int64")])
def binomial(tf, np, place, dtype):
    shape, counts, probs = _BINOMIALS[place]
    numbers = _generator(tf).binomial(shape, np.float64(counts), np.float64(probs), getattr(tf, dtype))
    # One run: TensorFlow does not move the state on before the second.
    return [numbers, _runs(tf, numbers, 1)]


@cases("float16", "float32")
def binomial_of_types(tf, np, dtype):
    numbers = _generator(tf).binomial([6], np.array(40, dtype), np.array(0.3, dtype), tf.float32)
    return _runs(tf, numbers, 1)


def binomial_refusals(tf, np):
    generator = _generator(tf)
    return [
        raises(generator.binomial, [3], [[4.0]], 0.5),
        raises(lambda: _runs(tf, generator.binomial([3], np.float64([4.0, 5.0]), np.float64(0.5)))),
        raises(generator.binomial, [3], tf.constant(4.0), tf.constant(0.5, tf.float64)),
    ]


_TRUNCATED = [
    ([5], 0.0, 1.0, -2.0, 2.0),
    ([5], 1.0, 2.0, -2.0, 2.0),
    ([9], 0.0, 1.0, 0.5, 0.7),
    ([9], 0.0, 1.0, -0.2, 0.1),
    ([9], 0.0, 1.0, 2.0, float("inf")),
    ([9], 0.0, 1.0, float("-inf"), -3.0),
    ([9], 5.0, 3.0, float("-inf"), 6.0),
    ([9], 0.0, 1.0, 6.0, 20.0),
    ([2, 3], [0.0, 1.0], [1.0, 2.0], [-1.0, -1.0], [1.0, 5.0]),
    ([2, 3], [0.0], [1.0, 2.0], [-1.0], [1.0]),
    ([3, 7], [0.0, 1.0, 2.0], [1.0], [3.0], [100.0]),
    ([100], 0.0, 1.0, -1.0, 3.0),
    ([0], 0.0, 1.0, -1.0, 1.0),
]


@cases(*[(place, dtype) for place in range(len(_TRUNCATED)) for dtype in ("float16", "float32", "float64")])
def truncated_normal_by_row(tf, np, place, dtype):
    shape, means, stdevs, minvals, maxvals = _TRUNCATED[place]
    numbers = tf.raw_ops.ParameterizedTruncatedNormal(
        shape=shape,
        means=np.array(means, dtype),
        stdevs=np.array(stdevs, dtype),
        minvals=np.array(minvals, dtype),
        maxvals=np.array(maxvals, dtype),
        seed=3,
        seed2=4,
    )
    return [numbers, _runs(tf, numbers)]


@cases(
    {
        "deviation": ([5], 0.0, -1.0, -2.0, 2.0),
        "order": ([5], 0.0, 1.0, 2.0, -2.0),
        "infinite": ([5], 0.0, 1.0, float("-inf"), float("inf")),
        "rows": ([2, 3], [0.0, 1.0, 2.0], 1.0, -1.0, 1.0),
        "nan": ([5], 0.0, 1.0, float("nan"), 2.0),
    }
)
def truncated_normal_refusals(tf, np, shape, means, stdevs, minvals, maxvals):
    numbers = tf.raw_ops.ParameterizedTruncatedNormal(
        shape=shape, means=means, stdevs=stdevs, minvals=minvals, maxvals=maxvals, seed=3
    )
    return raises(_runs, tf, numbers)


_SEEDS = {"zero": [0, 0], "small": [1, 2], "large": [2**62 + 5, -7]}


@cases(
    *product(sorted(_SEEDS), ["stateless_normal", "stateless_uniform", "stateless_truncated_normal"], _FLOATS)
)
def stateless(tf, np, seed, name, dtype):
    make = getattr(tf.random, name)
    made = [make(shape, _SEEDS[seed], dtype=getattr(tf, dtype)) for shape in _SHAPES]
    return [made, _runs(tf, [tf.cast(x, tf.float64) for x in made], 1)]


@cases(*product(sorted(_SEEDS), ["int32", "int64"], [(0, 10), (-5, 5), (0, 2**31 - 1)]))
def stateless_integers(tf, np, seed, dtype, bounds):
    x = tf.random.stateless_uniform([3, 5], _SEEDS[seed], bounds[0], bounds[1], getattr(tf, dtype))
    return [x, _runs(tf, x, 1)]


@cases(*product(sorted(_SEEDS), ["stateless_multinomial", "stateless_categorical"], ["float32", "float64"]))
def stateless_classes(tf, np, seed, name, dtype):
    logits = np.log([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]]).astype(dtype)
    made = [getattr(tf.random, name)(logits, 11, _SEEDS[seed]), getattr(tf.random, name)(logits, 0, [1, 2])]
    return [made, _runs(tf, made, 1)]


def stateless_refusals(tf, np):
    return [
        raises(tf.random.stateless_normal, [3], [1]),
        raises(tf.random.stateless_normal, [3], 1),
        raises(tf.random.stateless_uniform, [3], [1, 2], dtype=tf.int32),
        raises(tf.random.stateless_categorical, [1.0, 2.0], 3, [1, 2]),
        raises(tf.random.stateless_normal, [3], [1.0, 2.0]),
    ]


@cases(*product([0.1, 0.5, 1.0, 2.5, 30.0], ["float16", "float32", "float64"]))
def gamma(tf, np, alpha, dtype):
    x = tf.random.gamma([5], alpha, dtype=getattr(tf, dtype), seed=11)
    return [x, _runs(tf, x)]


@cases([], [3], [2, 1])
def gamma_of_many(tf, np, shape):
    x = tf.random.gamma(shape, [[0.5, 1.0], [2.0, 30.0]], beta=[1.0, 4.0], seed=11)
    return [x, _runs(tf, x)]


@cases(*product([0.5, 9.0, 11.0, 300.0], ["float16", "float32", "float64", "int32", "int64"]))
def poisson(tf, np, rate, dtype):
    x = tf.random.poisson(rate, [7], dtype=getattr(tf, dtype), seed=11)
    return [x, _runs(tf, x)]


@cases([], [3], [2, 1])
def poisson_of_many(tf, np, shape):
    x = tf.random.poisson([[0.5, 1.0], [20.0, 30.0]], shape, seed=11)
    return [x, _runs(tf, x)]


@cases(*product([1, 5, 40], ["int32", "int64"], ["float16", "float32", "float64"]))
def categorical(tf, np, count, dtype, logits_dtype):
    logits = np.array([[0.0, 1.0, 2.0, -np.inf], [1.0, 1.0, 1.0, 1.0], [-5.0, 5.0, -5.0, 5.0]], logits_dtype)
    x = tf.random.categorical(logits, count, getattr(tf, dtype), seed=4)
    return [x, _runs(tf, x)]
