"""CTC against its definition: the sum over every alignment, the best of every labelling."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tideflow as tf
from tideflow.ops.nn.ctc_beam_search import search

STEPS, CLASSES = 5, 4
BLANK = CLASSES - 1


@pytest.fixture(autouse=True)
def own_graph():
    with tf.Graph().as_default():
        yield


def logits_of(seed: int, steps: int = STEPS, classes: int = CLASSES) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(steps, classes))


def probabilities(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def labels_of(path: tuple, merge: bool) -> tuple:
    """What a path of classes spells."""
    kept = [c for i, c in enumerate(path) if not (merge and i and c == path[i - 1])]
    return tuple(c for c in kept if c != BLANK)


def likelihoods(logits: np.ndarray, merge: bool) -> dict[tuple, float]:
    """The probability of every labelling, over all paths."""
    found: dict[tuple, float] = {}
    y = probabilities(logits)
    for path in itertools.product(range(CLASSES), repeat=len(y)):
        spelled = labels_of(path, merge)
        found[spelled] = found.get(spelled, 0.0) + np.prod([y[t, c] for t, c in enumerate(path)])
    return found


def sparse(rows: list[list[int]]) -> tf.SparseTensor:
    places = [[i, j] for i, row in enumerate(rows) for j in range(len(row))]
    values = [label for row in rows for label in row]
    return tf.SparseTensor(np.array(places, np.int64), np.array(values, np.int32), [len(rows), STEPS])


@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize("labels", [[0], [0, 1], [1, 1], [2, 0, 2], [0, 0, 0]])
def test_loss_is_the_sum_over_alignments(labels, merge):
    logits = logits_of(1)
    loss = tf.nn.ctc_loss(sparse([labels]), logits[:, None], [STEPS], ctc_merge_repeated=merge)
    with tf.Session() as session:
        found = session.run(loss)[0]
    assert found == pytest.approx(-np.log(likelihoods(logits, merge)[tuple(labels)]))


@pytest.mark.parametrize("merge", [True, False])
def test_each_sequence_has_its_own_length(merge):
    logits = np.stack([logits_of(1), logits_of(2)], 1)
    loss = tf.nn.ctc_loss(sparse([[0, 1], [2]]), logits, [STEPS, 3], ctc_merge_repeated=merge)
    with tf.Session() as session:
        found = session.run(loss)
    wanted = [likelihoods(logits[:, 0], merge)[0, 1], likelihoods(logits[:3, 1], merge)[2,]]
    np.testing.assert_allclose(found, -np.log(wanted), rtol=1e-6)


def test_a_row_of_nulls_is_a_row_without_labels():
    logits = logits_of(3)
    with tf.Session() as session:
        found = session.run(tf.nn.ctc_loss(sparse([[BLANK]]), logits[:, None], [STEPS]))[0]
    assert found == pytest.approx(-np.log(probabilities(logits)[:, BLANK]).sum())


def test_dense_labels_that_cannot_fit_have_no_likelihood():
    logits = tf.constant(logits_of(4, 3)[:, None])
    loss = tf.nn.ctc_loss_v2([[1, 2, 1, 2]], logits, [4], [3])
    with tf.Session() as session:
        assert session.run(loss) == [np.inf]


def test_a_wide_search_finds_the_likeliest_labels():
    for seed in range(5):
        logits = logits_of(seed)
        tree, beams = search(logits, 1000)
        best = sorted(likelihoods(logits, True).items(), key=lambda item: -item[1])
        for (labels, likelihood), node, total in zip(best[:10], beams.node, beams.total, strict=False):
            assert tuple(tree.path(node, False)) == labels
            assert total == pytest.approx(np.log(likelihood))


def test_the_searched_paths_may_be_merged():
    logits = np.full((5, 3), -9.0)
    logits[[0, 1, 2, 3, 4], [0, 2, 0, 1, 1]] = 9.0
    spelled = {}
    for merge in (False, True):
        (decoded,), _ = tf.nn.ctc_beam_search_decoder(logits[:, None], [5], merge_repeated=merge)
        with tf.Session() as session:
            spelled[merge] = session.run(decoded.values).tolist()
    assert spelled == {False: [0, 0, 1], True: [0, 1]}


def test_greedy_decoding_with_another_blank():
    logits = np.full((4, 3), -1.0)
    logits[range(4), [1, 0, 1, 2]] = 2.0
    found = tf.raw_ops.CTCGreedyDecoder(
        inputs=logits[:, None], sequence_length=[4], merge_repeated=True, blank_index=0
    )
    with tf.Session() as session:
        assert session.run(found.decoded_values).tolist() == [1, 1, 2]
