"""The search for the likeliest labels behind a sequence of class probabilities: beams of prefixes.

A prefix is a node of a tree: the prefix before it and one more label. The beams of a step are the likeliest
prefixes so far, each with the probability that its last step was a blank, or its last label. A step first
continues the beams, then grows every beam by every label, in order of likelihood, and keeps the best.

One rule is TensorFlow's own. A beam that newer ones have crowded out is put to rest when its parent, grown
later, finds it gone: it then does not grow in this step, although its children might have been likely enough.
`_put_to_rest` finds those, so that a narrow beam finds the same paths as TensorFlow's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_ROOT = -1


@dataclass
class Beams:
    """The beams of a step, likeliest first; `node` is their place in the tree."""

    node: np.ndarray
    label: np.ndarray
    total: np.ndarray
    by_blank: np.ndarray
    by_label: np.ndarray


class Tree:
    """Every prefix that was ever a beam: its parent's node and its last label."""

    def __init__(self) -> None:
        self.parents = [_ROOT]
        self.labels = [_ROOT]
        self._children: dict[tuple[int, int], int] = {}

    def child(self, node: int, label: int) -> int:
        """The node of a prefix and one more label."""
        found = self._children.setdefault((node, label), len(self.parents))
        if found == len(self.parents):
            self.parents.append(node)
            self.labels.append(label)
        return found

    def path(self, node: int, merge_repeated: bool) -> list[int]:
        """The labels of a prefix; of equal neighbours one, if merged."""
        labels: list[int] = []
        after = _ROOT
        while self.parents[node] != _ROOT:
            if not merge_repeated or self.labels[node] != after:
                labels.append(self.labels[node])
            node, after = self.parents[node], self.labels[node]
        return labels[::-1]


def search(logits: np.ndarray, beam_width: int) -> tuple[Tree, Beams]:
    """The beams after the last step of `logits` [steps, classes], whose last class is the blank."""
    one, zero = np.zeros(1, logits.dtype), np.full(1, -np.inf, logits.dtype)
    tree = Tree()
    beams = Beams(np.zeros(1, np.int64), np.full(1, _ROOT), one, one, zero)
    for row in logits:
        largest = row.max()
        beams = _step(tree, beams, row - (largest + np.log(np.exp(row - largest).sum())), beam_width)
    return tree, beams


def _step(tree: Tree, beams: Beams, log_probabilities: np.ndarray, beam_width: int) -> Beams:
    parent = _parents(tree, beams)
    going_on = _continued(beams, parent, log_probabilities)
    growth = _grown(beams, parent, log_probabilities)
    if growth.size > beam_width - len(beams.node):
        _put_to_rest(growth, going_on.total, beams.label, parent, beam_width)
    totals = np.concatenate([going_on.total, growth.ravel()])
    chosen = _largest(totals, beam_width)
    return _chosen(
        tree,
        beams,
        going_on,
        totals,
        chosen[(chosen < len(beams.node)) | (totals[chosen] > -np.inf)],
        growth.shape[1],
    )


def _parents(tree: Tree, beams: Beams) -> np.ndarray:
    """For each beam, which beam its parent is; -1 where that is none."""
    place = {node: i for i, node in enumerate(beams.node.tolist())}
    return np.array([place.get(tree.parents[node], -1) for node in beams.node.tolist()], np.int64)


def _continued(beams: Beams, parent: np.ndarray, log_probabilities: np.ndarray) -> Beams:
    """The beams after a step that made none longer: it was a blank, or a beam's own last label."""
    alive = (parent >= 0) & (beams.total[parent] > -np.inf)
    repeated = beams.label == beams.label[parent]
    from_parent = np.where(repeated, beams.by_blank[parent], beams.total[parent])
    before = np.where(alive, np.logaddexp(beams.by_label, from_parent), beams.by_label)
    by_label = np.where(beams.label == _ROOT, -np.inf, before + log_probabilities[beams.label])
    by_blank = beams.total + log_probabilities[-1]
    return Beams(beams.node, beams.label, np.logaddexp(by_blank, by_label), by_blank, by_label)


def _grown(beams: Beams, parent: np.ndarray, log_probabilities: np.ndarray) -> np.ndarray:
    """The probability of each beam with each label put behind it [beams, labels]; none if that is a beam."""
    growth = beams.total[:, None] + log_probabilities[:-1]
    labelled = np.flatnonzero(beams.label != _ROOT)
    last = beams.label[labelled]
    growth[labelled, last] = beams.by_blank[labelled] + log_probabilities[last]
    has_parent = np.flatnonzero(parent >= 0)
    growth[parent[has_parent], beams.label[has_parent]] = -np.inf
    return growth


def _put_to_rest(
    growth: np.ndarray, totals: np.ndarray, label: np.ndarray, parent: np.ndarray, beam_width: int
) -> None:
    """Removes the growth of beams that were crowded out when their parents, which come first, grew."""
    everyone = np.concatenate([totals, growth.ravel()])
    bar = np.partition(everyone, -beam_width)[-beam_width]
    suspects = np.flatnonzero((parent >= 0) & (parent < np.arange(len(parent))) & (totals < bar))
    width = growth.shape[1]
    flat = growth.ravel()
    for beam in sorted(suspects, key=lambda i: (parent[i], label[i])):
        grown_by_then = flat[: parent[beam] * width + label[beam]]
        better = np.count_nonzero(totals > totals[beam]) + np.count_nonzero(grown_by_then > totals[beam])
        if better >= beam_width:
            growth[beam] = -np.inf


def _largest(values: np.ndarray, count: int) -> np.ndarray:
    """The places of the `count` largest values, largest first."""
    places = np.argpartition(-values, count - 1)[:count] if len(values) > count else np.arange(len(values))
    return places[np.argsort(-values[places], kind="stable")]


def _chosen(
    tree: Tree, before: Beams, going_on: Beams, totals: np.ndarray, chosen: np.ndarray, width: int
) -> Beams:
    """The beams at these places: those that go on come first, then each one's growth."""
    old = len(before.node)
    is_new = chosen >= old
    source = np.where(is_new, (chosen - old) // width, chosen)
    grown = (chosen - old) % width
    node, label = before.node[source], np.where(is_new, grown, before.label[source])
    for i in np.flatnonzero(is_new).tolist():
        node[i] = tree.child(int(node[i]), int(label[i]))
    total = totals[chosen]
    by_blank = np.where(is_new, -np.inf, going_on.by_blank[source])
    return Beams(node, label, total, by_blank, np.where(is_new, total, going_on.by_label[source]))
