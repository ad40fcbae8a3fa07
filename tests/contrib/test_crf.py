"""contrib.crf: laws of linear chains, against sums and maxima over all sequences."""

import itertools

import numpy as np
import pytest

import tideflow as tf

crf = tf.contrib.crf
TAGS = 3


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def potentials(time):
    random = np.random.RandomState(time)
    return random.normal(size=(time, TAGS)), random.normal(size=(TAGS, TAGS))


def score(tags, unary, transitions):
    pairs = itertools.pairwise(tags)
    return sum(unary[t, tag] for t, tag in enumerate(tags)) + sum(transitions[pair] for pair in pairs)


def every_score(unary, transitions):
    return {
        tags: score(tags, unary, transitions) for tags in itertools.product(range(TAGS), repeat=len(unary))
    }


def run(fetches):
    with tf.Session() as session:
        return session.run(fetches)


@pytest.mark.parametrize("time", [1, 2, 4])
def test_probabilities_of_all_sequences_add_up_to_one(time):
    unary, transitions = potentials(time)
    scores = every_score(unary, transitions)
    norm = crf.crf_log_norm(
        tf.constant(unary[None], tf.float32), tf.constant([time]), tf.constant(transitions, tf.float32)
    )
    np.testing.assert_allclose(run(norm), [np.log(np.sum(np.exp(list(scores.values()))))], rtol=1e-5)


@pytest.mark.parametrize("time", [1, 2, 4])
def test_decoding_finds_the_best_sequence(time):
    unary, transitions = potentials(time)
    scores = every_score(unary, transitions)
    best = max(scores, key=scores.get)
    tags, value = run(
        crf.crf_decode(
            tf.constant(unary[None], tf.float32), tf.constant(transitions, tf.float32), tf.constant([time])
        )
    )
    assert tuple(tags[0]) == best
    np.testing.assert_allclose(value, [scores[best]], rtol=1e-5)
    outside, same = crf.viterbi_decode(unary, transitions)
    assert tuple(outside) == best and same == pytest.approx(scores[best])


def test_a_score_counts_the_given_length_only():
    unary, transitions = potentials(4)
    tags = np.array([[1, 0, 2, 1], [2, 2, 0, 0]])
    inputs = tf.constant(np.stack([unary, unary]), tf.float32)
    found = crf.crf_sequence_score(
        inputs, tf.constant(tags, tf.int32), tf.constant([2, 0]), tf.constant(transitions, tf.float32)
    )
    np.testing.assert_allclose(run(found), [score((1, 0), unary, transitions), 0.0], rtol=1e-5, atol=1e-6)


def test_transitions_are_a_variable_unless_given():
    likelihood, transitions = crf.crf_log_likelihood(
        tf.zeros([2, 4, TAGS]), tf.zeros([2, 4], tf.int32), tf.constant([4, 3])
    )
    assert transitions.op.name == "transitions" and transitions.shape == [TAGS, TAGS]
    assert likelihood.shape == [2]


def test_a_condition_of_constants_is_known():
    assert tf.contrib.framework.smart_constant_value(tf.equal(3, 1)) is False
    assert tf.contrib.framework.smart_constant_value(tf.less(tf.constant(2) + 1, 4)) is True
    assert tf.contrib.framework.smart_constant_value(tf.placeholder(tf.bool, [])) is None
