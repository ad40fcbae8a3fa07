"""Analyzers and scaling of columns of every kind: odd numbers, narrow types, matrices, sparse, ragged."""

import math
import random

from transform_cases import NAMES, run_original, run_ours

RTOL, ATOL = 3e-6, 3e-6
ODD = (0.0, -0.0, 1.5, -2.0, math.inf, -math.inf, math.nan, 3e38, 1e-40, 7.25)
LARGE = (2**53 + 1, -(2**62), 7, 2**40, 0)
ROWS = 60
FUNCTIONS = {
    "extremes": """min(m) min(im) min(R(num)) min(C(x,'float64')) min(C(n,'int8')) max(const) max(big)
        max(cube,reduce_instance_dims=False) max(C(bit,'uint16'))""",
    "sums": """sum(m) sum(ints) sum(big) sum(x,reduce_instance_dims=False) sum(C(bit,'uint64')) size(x)
        size(im) size(odds) size(empty) size(C(bit,'uint8'))""",
    "moments": """mean(m) mean(ints) mean(empty) mean(odd) mean(cube,reduce_instance_dims=False)
        var(C(n,'int8')) mean(num,reduce_instance_dims=False) var(m,reduce_instance_dims=False)
        var(C(bit,'uint64')) covariance(m,tf.float64) covariance(C(im,'float32'),tf.float32)""",
    "tails": """tukey_location(odd) tukey_location(n,output_dtype=tf.float64) tukey_scale(const)
        tukey_scale(bit) tukey_scale(odd) tukey_h_params(n) tukey_h_params(const)""",
    "counts": """histogram(const,2) histogram(m,5) histogram(ints,categorical=True) count_per_key(n)
        count_per_key(R(tokens)) quantiles(n,4,0.01) quantiles(cube,4,0.01,reduce_instance_dims=False)
        quantiles(cube,4,0.01,weights=w,reduce_instance_dims=False)
        quantiles(num.values,4,0.01,weights=num_weights.values)""",
    "scaling": """scale_to_0_1(n) scale_to_0_1(odd) scale_to_0_1(C(bit,'uint32'))
        scale_to_0_1(x,elementwise=True) scale_by_min_max(C(n,'int32')) scale_by_min_max(const,-1,3)
        scale_by_min_max(num,elementwise=True) scale_to_z_score(m) scale_to_z_score(const)
        scale_to_z_score(im,elementwise=True) scale_to_z_score(n,output_dtype=tf.float64)""",
    "scaling_by_key": """scale_to_0_1_per_key(n,key) scale_to_0_1_per_key(num,key)
        scale_to_0_1_per_key(C(x,'float64'),key) scale_to_0_1_per_key(x,key,key_vocabulary_filename='')""",
}


def rows_of():
    chance = random.Random(5)
    return [_row(chance) for _ in range(ROWS)]


def _row(chance):
    several = range(chance.randrange(4))
    return {
        "x": chance.gauss(0, 3),
        "n": chance.randrange(-5, 15),
        "bit": chance.randrange(2),
        "big": chance.choice(LARGE),
        "odd": chance.choice(ODD),
        "const": 4.0,
        "w": chance.randrange(0, 9) / 4,
        "key": chance.choice("abcd"),
        "m": [chance.random(), chance.gauss(2, 1), -5 * chance.random()],
        "im": [chance.randrange(5), chance.randrange(-9, 9)],
        "cube": [chance.gauss(0, 1) for _ in range(4)],
        "num": [round(chance.gauss(0, 5), 2) for _ in several],
        "num_weights": [chance.randrange(1, 5) / 2 for _ in several],
        "ints": [chance.randrange(6) for _ in range(chance.randrange(5))],
        "odds": [chance.choice([math.nan, math.inf, 1.0, -3.0, 0.0]) for _ in range(chance.randrange(3))],
        "tokens": [chance.choice(NAMES) for _ in range(chance.randrange(6))],
        "empty": [],
    }


def features_of(tf):
    dense = {"x": tf.float32, "odd": tf.float32, "const": tf.float32, "w": tf.float32, "key": tf.string}
    dense.update(n=tf.int64, bit=tf.int64, big=tf.int64)
    features = {name: tf.io.FixedLenFeature([], dtype) for name, dtype in dense.items()}
    features["m"] = tf.io.FixedLenFeature([3], tf.float32)
    features["im"] = tf.io.FixedLenFeature([2], tf.int64)
    features["cube"] = tf.io.FixedLenFeature([2, 2], tf.float32)
    several = dict.fromkeys(("num", "num_weights", "odds", "empty"), tf.float32)
    for name, dtype in {**several, "ints": tf.int64, "tokens": tf.string}.items():
        features[name] = tf.io.VarLenFeature(dtype)
    return features


def _function(name, expressions):
    """A preprocessing function whose outputs are called what they were computed by."""

    def function(tf, tft, inputs):
        def in_every_row(value):
            value = value if value.dtype == tf.string else tf.cast(value, tf.float32)
            matrix = tf.tile(tf.reshape(value, [1, -1]), [tf.shape(inputs["x"])[0], 1])
            places = tf.where(tf.ones_like(matrix, tf.bool))
            return tf.SparseTensor(places, tf.reshape(matrix, [-1]), tf.cast(tf.shape(matrix), tf.int64))

        def cast(value, kind="float32"):
            return tf.cast(value, getattr(tf, kind))

        names = {each: getattr(tft, each) for each in dir(tft) if not each.startswith("_")}
        names.update(inputs, tf=tf, R=tf.RaggedTensor.from_sparse, C=cast)
        columns = {}
        for expression in expressions.split():
            found = eval(expression, names)
            if expression.startswith("scale"):
                columns[expression] = cast(found)
                continue
            for at, each in enumerate(found if isinstance(found, tuple) else [found]):
                columns[f"{expression}.{at}"] = in_every_row(each)
        return columns

    function.__name__ = name
    return function


def original(folder):
    functions = [_function(*each) for each in FUNCTIONS.items()]
    return run_original(folder, functions, rows_of, features_of)


def ours(folder, answers):
    functions = [_function(*each) for each in FUNCTIONS.items()]
    # L-moments are estimated block by block, so it is one here.
    return run_ours(folder, functions, [ROWS], rows_of, features_of)
