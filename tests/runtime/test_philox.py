"""The random streams and distributions. The golden values are TensorFlow 1.15.5's, on one x86-64 CPU."""

import zlib
from concurrent.futures import ThreadPoolExecutor

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tideflow.runtime import distributions
from tideflow.runtime.philox import CHUNK, RESERVED_PER_OUTPUT, Philox, Stream

SEEDS = 42, 7
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
LOGITS = np.array(
    [
        [0.0, 1.0, 2.0, -1.0],
        [np.inf, -np.inf, np.nan, 0.0],
        [-np.inf, -np.inf, -np.inf, -np.inf],
        [3.0, 3.0, 3.0, 3.0],
    ],
    np.float32,
)


def assert_golden(actual, expected, dtype):
    """Equal to the bit; in double precision to two units in the last place, for the C library's functions."""
    expected = np.array(expected, dtype).reshape(actual.shape)
    assert actual.dtype == expected.dtype
    if dtype == np.float64:
        np.testing.assert_array_max_ulp(actual, expected, 2)
    else:
        np.testing.assert_array_equal(actual, expected)


# The generator


def known_block(words):
    """A counter or a key, from its words as the authors of Philox print them."""
    return sum(int(word, 16) << 32 * i for i, word in enumerate(words.split()))


@pytest.mark.parametrize(
    ("counter", "key", "block"),
    [
        ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
    ],
)
def test_the_answers_its_authors_published(counter, key, block):
    words = Philox(known_block(key), known_block(counter)).words(0, 1)
    assert [f"{word:08x}" for word in words[0]] == block.split()


@pytest.mark.parametrize("counter", [2**32 - 2, 2**64 - 2, 2**96 - 2, 2**128 - 2])
def test_the_counter_carries_into_its_next_word(counter):
    together = Philox(5, counter).words(0, 4)
    apart = [Philox(5, (counter + i) % 2**128).words(0, 1)[0] for i in range(4)]
    np.testing.assert_array_equal(together, apart)


def test_blocks_at_any_distance():
    generator = Philox.from_seeds(*SEEDS)
    offsets = np.array([7, 0, 7, 300], np.uint64)
    np.testing.assert_array_equal(generator.blocks(offsets), generator.words(0, 301)[offsets])
    np.testing.assert_array_equal(generator.skip(290).words(4, 7), generator.words(0, 301)[294:])


def test_negative_seeds_are_their_64_bits():
    assert Philox.from_seeds(-1, -2) == Philox.from_seeds(2**64 - 1, 2**64 - 2)
    assert Philox.stateless(-1, -2) == Philox.stateless(2**64 - 1, 2**64 - 2)


def test_a_stream_moves_on_and_a_stateless_generator_does_not():
    start = Philox.from_seeds(*SEEDS)
    stream = Stream(*SEEDS)
    assert stream.reserve_outputs(10) == start
    assert stream.reserve_blocks(3) == start.skip(10 * RESERVED_PER_OUTPUT)
    assert stream.reserve_outputs(0) == stream.reserve_outputs(1) == start.skip(10 * RESERVED_PER_OUTPUT + 3)
    assert start.reserve_outputs(10) == start


def test_threads_never_get_the_same_part_of_a_stream():
    stream = Stream(*SEEDS)
    with ThreadPoolExecutor(8) as pool:
        parts = list(pool.map(lambda _: stream.reserve_blocks(3).counter, range(1000)))
    start = Philox.from_seeds(*SEEDS).counter
    assert sorted(parts) == [start + 3 * i for i in range(1000)]


def test_without_seeds_no_two_streams_are_alike():
    assert Stream().reserve_blocks(0) != Stream(0, 0).reserve_blocks(0)
    assert Stream(0, 1).reserve_blocks(0) == Stream(0, 1).reserve_blocks(0)


# Values: two runs of one op for a stateful one, one run for a stateless one

UNIFORM = [
    (
        np.float16,
        [0.79296875, 0.19921875, 0.5517578125, 0.2060546875, 0.3125],
        [0.8681640625, 0.11328125, 0.642578125],
        [0.689453125, 0.890625, 0.48828125],
    ),
    (
        BFLOAT16,
        [0.34375, 0.59375, 0.4140625, 0.6484375, 0.5],
        [0.9453125, 0.90625, 0.140625],
        [0.515625, 0.125, 0.90625],
    ),
    (
        np.float32,
        [0.8627676963806152, 0.6567625999450684, 0.9905458688735962, 0.9031013250350952, 0.7336807250976562],
        [0.06553566455841064, 0.1508927345275879, 0.4699270725250244],
        [0.6123888492584229, 0.9290637969970703, 0.8335556983947754],
    ),
    (
        np.float64,
        [0.9021424253597159, 0.9243672693206022, 0.8694461586329445, 0.8732768765016898, 0.8116292357541852],
        [0.5242862592467903, 0.7594170149871942, 0.9744983329991259],
        [0.8991112912615087, 0.6684463502781846, 0.038930266145283055],
    ),
]

NORMAL = [
    (
        np.float16,
        [-0.45263671875, -0.30029296875, -0.078857421875, 0.113037109375, 0.53955078125],
        [1.896484375, 1.361328125, 0.5615234375],
        [-0.427001953125, 0.8935546875, -0.5703125],
    ),
    (
        BFLOAT16,
        [-0.453125, -0.30078125, -0.07861328125, 0.11328125, 0.5390625],
        [1.8984375, 1.359375, 0.5625],
        [-0.427734375, 0.89453125, -0.5703125],
    ),
    (
        np.float32,
        [
            -0.4527415633201599,
            -0.3004075288772583,
            -0.07882861793041229,
            0.11306749284267426,
            0.539332389831543,
        ],
        [1.8963923454284668, 1.3616231679916382, 0.56142657995224],
        [-0.4269304573535919, 0.8935916423797607, -0.5701664090156555],
    ),
    (
        np.float64,
        [
            -0.20764251101661857,
            0.40354718604348067,
            -0.37805809073269625,
            0.3699592121764591,
            -0.5074662822323086,
        ],
        [-1.1344244867861066, 0.06720103338668566, -0.20594542581692596],
        [-0.4019564249626464, -0.2261148994708879, -1.2679816127009627],
    ),
]

TRUNCATED_NORMAL = [
    (
        np.float16,
        [-0.45263671875, -0.30029296875, -0.078857421875, 0.113037109375, -1.46484375, 1.0751953125],
        [0.71435546875, -1.0107421875, -0.379150390625],
        [-0.427001953125, 0.8935546875, -0.5703125, -0.197509765625, -0.83544921875],
    ),
    (
        BFLOAT16,
        [-0.453125, -0.30078125, -0.07861328125, 0.11328125, -1.46875, 1.078125],
        [0.71484375, -1.0078125, -0.37890625],
        [-0.427734375, 0.89453125, -0.5703125, -0.197265625, -0.8359375],
    ),
    (
        np.float32,
        [-0.4527415633201599, -0.3004075288772583, -0.07882861793041229, 0.11306749284267426]
        + [-1.4650040864944458, 1.0752620697021484],
        [0.7145650386810303, -1.0102697610855103, -0.37903061509132385],
        [-0.4269304573535919, 0.8935916423797607, -0.5701664090156555, -0.19753429293632507]
        + [-0.8352667093276978],
    ),
    (
        np.float64,
        [-0.20764251101661857, 0.40354718604348067, -1.2929919425062262, -0.11919838962386561]
        + [-1.052260730714152, -0.38138120630609396],
        [0.38348430935031663, -0.7134267062428283, 1.4372974963914693],
        [-0.4019564249626464, -0.2261148994708879, -0.8685748775346954, -0.08134208485710075]
        + [0.7610062172128446],
    ),
]


@pytest.mark.parametrize(
    ("sample", "dtype", "first", "second", "stateless"),
    [(distributions.uniform, *case) for case in UNIFORM]
    + [(distributions.standard_normal, *case) for case in NORMAL]
    + [(distributions.truncated_normal, *case) for case in TRUNCATED_NORMAL],
)
def test_floating_values(sample, dtype, first, second, stateless):
    stream = Stream(*SEEDS)
    assert_golden(sample(stream, [len(first)], dtype), first, dtype)
    assert sample(stream, [4, 0], dtype).shape == (4, 0)
    assert_golden(sample(stream, [1, len(second)], dtype), second, dtype)
    assert_golden(sample(Philox.stateless(*SEEDS), [len(stateless)], dtype), stateless, dtype)


@pytest.mark.parametrize(
    ("dtype", "first", "second", "whole_range", "stateless"),
    [
        (
            np.int32,
            [116, 808, 359, 673, 202],
            [409, 798, 376],
            [-403804372, 1700008140, -327235019],
            [500, 340, 154],
        ),
        (
            np.int64,
            [594, 747, 550, 21, 774],
            [207, 492, 951],
            [7301479365977468716, -3065938887483405771, -2301513583833519808],
            [60, 808, 551],
        ),
    ],
)
def test_integers(dtype, first, second, whole_range, stateless):
    stream = Stream(*SEEDS)
    assert_golden(distributions.uniform_int(stream, [5], -10, 1000, dtype), first, dtype)
    assert_golden(distributions.uniform_int(stream, [3], -10, 1000, dtype), second, dtype)
    limits = np.iinfo(dtype)
    values = distributions.uniform_int(Stream(*SEEDS), [3], limits.min, limits.max, dtype)
    assert_golden(values, whole_range, dtype)
    values = distributions.uniform_int(Philox.stateless(*SEEDS), [3], -10, 1000, dtype)
    assert_golden(values, stateless, dtype)


def test_integers_from_an_empty_range():
    stream = Stream(*SEEDS)
    with pytest.raises(ValueError, match="Need minval < maxval, got 3 >= 3"):
        distributions.uniform_int(stream, [2], 3, 3)
    assert distributions.uniform_int(stream, [0], 3, 3).shape == (0,)


@pytest.mark.parametrize(
    ("sample", "checksum"),
    [
        (lambda stream, shape: distributions.uniform(stream, shape, np.float32), 514388999),
        (lambda stream, shape: distributions.uniform(stream, shape, np.float64), 3959939238),
        (lambda stream, shape: distributions.standard_normal(stream, shape, np.float32), 1710639025),
        (lambda stream, shape: distributions.truncated_normal(stream, shape, np.float32), 2387226544),
        (lambda stream, shape: distributions.truncated_normal(stream, shape, np.float16), 214868642),
        (lambda stream, shape: distributions.uniform_int(stream, shape, -10, 1000, np.int32), 104968460),
        (lambda stream, shape: distributions.uniform_int(stream, shape, -10, 1000, np.int64), 2115015960),
        (lambda stream, shape: distributions.permutation(stream, shape[0]), 1199893183),
        (lambda stream, shape: distributions.poisson(stream, shape, np.float32(12.5)), 3128215079),
    ],
)
def test_large_arrays_to_the_last_bit(sample, checksum):
    size = 100_003
    assert size > 2 * 4 * CHUNK
    assert zlib.crc32(sample(Stream(*SEEDS), [size]).tobytes()) == checksum


def test_normal_numbers_are_normal():
    values = distributions.standard_normal(Stream(*SEEDS), [200_000], np.float64)
    assert abs(values.mean()) < 0.01
    assert abs(values.std() - 1) < 0.01


def test_permutations():
    stream = Stream(*SEEDS)
    assert distributions.permutation(stream, 10).tolist() == [6, 0, 7, 3, 4, 8, 2, 1, 5, 9]
    assert distributions.permutation(stream, 5).tolist() == [4, 1, 3, 2, 0]
    assert distributions.permutation(stream, 1).tolist() == [0]
    assert distributions.permutation(stream, 0).tolist() == []
    assert distributions.permutation(stream, 4).tolist() == [1, 3, 2, 0]


@given(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=60))
def test_exchanges_all_at_once_are_exchanges_one_by_one(words):
    size = len(words) + 1
    targets = [i + word % (size - i) for i, word in enumerate(words)]
    entries = list(range(size))
    for i, target in enumerate(targets):
        entries[i], entries[target] = entries[target], entries[i]
    assert distributions._apply_exchanges(np.array(targets)).tolist() == entries


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_multinomial(dtype):
    stream = Stream(*SEEDS)
    no_class = [4] * 5
    first = [[2] * 5, [3] * 5, no_class, [1, 0, 1, 2, 1]]
    assert_golden(distributions.multinomial(stream, LOGITS, 5, dtype), first, dtype)
    assert_golden(
        distributions.multinomial(stream, LOGITS, 2, dtype), [[2, 2], [3, 3], [4, 4], [0, 2]], dtype
    )
    stateless = [[2, 2, 0, 2, 1], [3] * 5, no_class, [2, 1, 0, 3, 0]]
    assert_golden(distributions.multinomial(Philox.stateless(*SEEDS), LOGITS, 5, dtype), stateless, dtype)


def test_multinomial_of_many_rows_and_classes_is_that_of_each_row():
    logits = np.random.default_rng(0).normal(size=(50, 5000)).astype(np.float32)
    together = distributions.multinomial(Philox.from_seeds(*SEEDS), logits, 6)
    uniforms = distributions.uniform(Philox.from_seeds(*SEEDS), [50, 6], np.float64)
    for row, samples, numbers in zip(logits.astype(np.float64), together, uniforms):
        cumulative = np.cumsum(np.exp(row - row.max()))
        np.testing.assert_array_equal(samples, np.searchsorted(cumulative, numbers * cumulative[-1], "right"))


def test_multinomial_without_rows_samples_or_classes():
    stream = Stream(*SEEDS)
    assert distributions.multinomial(stream, np.zeros((0, 3)), 2).shape == (0, 2)
    assert distributions.multinomial(stream, np.zeros((2, 3)), 0).shape == (2, 0)
    assert stream.reserve_blocks(0) == Philox.from_seeds(*SEEDS)
    with pytest.raises(ValueError, match="num_classes should be positive, got 0"):
        distributions.multinomial(stream, np.zeros((2, 0)), 1)
    with pytest.raises(ValueError, match="num_samples should be non-negative, got -1"):
        distributions.multinomial(stream, np.zeros((2, 3)), -1)


@pytest.mark.parametrize(
    ("dtype", "first", "second"),
    [
        (
            np.float16,
            [0.89111328125, 0.08978271484375, 2.873046875, 0.0280914306640625, 2.056640625, 2.96484375]
            + [0.46875, 1.4248046875, 6.22265625],
            [0.03741455078125, 2.3359375, 3.90625],
        ),
        (
            np.float32,
            [0.8908860087394714, 0.08978046476840973, 2.8734612464904785, 0.02807122841477394]
            + [2.056995391845703, 2.9650747776031494, 0.46872788667678833, 1.4246902465820312]
            + [6.222031116485596],
            [0.03739427402615547, 2.3365862369537354, 3.9065732955932617],
        ),
    ],
)
def test_gamma(dtype, first, second):
    stream = Stream(*SEEDS)
    alpha = np.array([0.3, 1.0, 4.5], dtype)
    assert_golden(distributions.gamma(stream, [3], alpha), first, dtype)
    assert distributions.gamma(stream, [0], alpha).shape == (0, 3)
    assert_golden(distributions.gamma(stream, [1], alpha), second, dtype)


def test_gamma_in_double_precision():
    values = distributions.gamma(Stream(*SEEDS), [3, 1], np.array([0.3, 1.0, 4.5]))
    expected = [0.8908859859564104, 0.08978046796779235, 2.873461170927306]
    expected += [0.02807122523093003, 2.056995310034846, 2.965074741824385]
    expected += [0.4687278734455313, 1.4246901969247832, 6.222031250279729]
    np.testing.assert_allclose(values.ravel(), expected, rtol=1e-14)
    assert values.shape == (3, 1, 3)


def test_gamma_too_small_for_the_dtype_is_zero():
    values = distributions.gamma(Stream(*SEEDS), [8], np.float32([0.001]))
    assert_golden(values, [0, 0, 0, 0, 0, 4.374187644040628e-12, 0, 0], np.float32)


def test_gamma_of_a_negative_alpha_is_nan():
    assert np.isnan(distributions.gamma(Stream(*SEEDS), [5], np.float32([-1.0]))).all()


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float16, np.float32, np.float64])
def test_poisson(dtype):
    stream = Stream(*SEEDS)
    rate = np.float32([0.5, 9.0, 10.0, 500.0])
    first = [4, 7, 9, 483, 1, 15, 12, 535, 0, 13, 15, 515]
    np.testing.assert_array_equal(distributions.poisson(stream, [3], rate, dtype).ravel(), first)
    second = distributions.poisson(stream, [1], rate, dtype)
    np.testing.assert_array_equal(second, [[2, 6, 12, 498]])
    assert second.dtype == dtype


def test_poisson_of_rates_without_meaning_comes_to_an_end():
    rate = np.array([-1.0, 0.0, np.inf, np.nan, 1e6])
    values = distributions.poisson(Stream(*SEEDS), [2], rate, np.float16)
    np.testing.assert_array_equal(values, [[0, 0, np.nan, np.nan, np.nan]] * 2)
