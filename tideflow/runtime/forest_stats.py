"""What the leaves of a growing tree know of the splits that they consider, and when they are split."""

from __future__ import annotations

import heapq
import math
from typing import Any

import numpy as np

from tideflow.graph import errors
from tideflow.graph.forest_proto import ENUMS, FertileStats
from tideflow.interrupts import Lock
from tideflow.runtime.forest_data import Examples, RandomIntegers, Targets, of_depth
from tideflow.runtime.forest_trees import MATCHES, Split, go_left, parsed

_PRUNING, _FINISHING = ENUMS["SplitPruningStrategyType"], ENUMS["SplitFinishStrategyType"]
_PRUNED = {
    _PRUNING["SPLIT_PRUNE_HALF"]: 0.5,
    _PRUNING["SPLIT_PRUNE_QUARTER"]: 0.25,
    _PRUNING["SPLIT_PRUNE_10_PERCENT"]: 0.1,
}
_BOOTSTRAPS = 50


class Candidates:
    """The splits that one leaf considers, and what is known of each side."""

    def __init__(self, node: int, depth: int, params: Any):
        self.node, self.depth, self._params = node, depth, params
        self._wanted = int(of_depth(params.num_splits_to_consider, depth))
        self._split_after = of_depth(params.split_after_samples, depth)
        self._least = of_depth(params.min_split_samples, depth)
        self._prune_every = of_depth(params.pruning_type.prune_every_samples, depth)
        self._check_every = of_depth(params.finish_type.check_every_steps, depth)
        self._dominate = of_depth(params.dominate_fraction, depth)
        if self._may_finish_early and not params.HasField("min_split_samples"):
            raise errors.invalid_argument(
                "dominate_fraction and min_split_samples required for early-finish strategy."
            )
        self.splits: list[Split] = []
        # What examples are counted by. As in TensorFlow, a threshold that moves does so for the tree alone.
        self._tests: list[Split] = []
        self._half_made: dict[int, int] = {}  # splits whose threshold waits for a class but this
        self._prunings = self._checks = 1
        self._finished_early = False
        self.weight_sum = 0.0
        size = params.num_outputs
        self.left = np.zeros((0, size), np.float32)  # counts of classes, or sums of outputs
        self.total = np.zeros(size, np.float32)
        # Of regressions alone: squares, and the weight on the left.
        self.left_squares, self.total_squares = self.left.copy(), self.total.copy()
        self.left_weights = np.zeros(0, np.float32)

    @property
    def needs_splits(self) -> bool:
        """Whether splits are still to be found, before examples count."""
        return self.weight_sum == 0 and (len(self.splits) < self._wanted or bool(self._half_made))

    @property
    def is_finished(self) -> bool:
        """Whether enough is known for a split."""
        enough = self.weight_sum >= self._split_after
        if self._params.is_regression:
            return enough
        return bool(enough and np.count_nonzero(self.total) > 1) or self._finished_early

    @property
    def _is_watched(self) -> bool:
        """Whether splits are pruned, or the leaf may finish early, so that examples come one by one."""
        is_pruned = self._params.pruning_type.type != _PRUNING["SPLIT_PRUNE_NONE"]
        return (is_pruned or self._may_finish_early) and not self._params.is_regression

    @property
    def _may_finish_early(self) -> bool:
        return bool(self._params.finish_type.type != _FINISHING["SPLIT_FINISH_BASIC"])

    def add_split(self, example: int, examples: Examples, targets: Targets, numbers: RandomIntegers) -> None:
        """Considers one more split, by a feature of an example."""
        split = Split.by(*examples.any_feature(example, numbers), self._params.inequality_test_type)
        is_new = len(self.splits) < self._wanted
        if is_new:
            self._append(split)
        if self._params.initialize_average_splits and not self._params.is_regression:
            (label,) = targets.classes(np.array([example]), self._params.num_outputs).tolist()
            if is_new and split.kind != MATCHES:
                self._half_made[len(self.splits) - 1] = label
            self._move_thresholds(example, label, examples)

    def _append(self, split: Split) -> None:
        self.splits.append(split)
        self._tests.append(split)
        self.left = np.concatenate([self.left, np.zeros_like(self.left, shape=(1, self.left.shape[1]))])
        self.left_squares = np.concatenate([self.left_squares, np.zeros_like(self.left[:1])])
        self.left_weights = np.append(self.left_weights, np.float32(0))

    def _move_thresholds(self, example: int, label: int, examples: Examples) -> None:
        """A threshold becomes the mean of the values of two examples, of different classes."""
        for place, first in list(self._half_made.items()):
            if first != label:
                split = self.splits[place]
                value = float(examples.at(np.array([example]), np.array([split.feature]))[0])
                self.splits[place] = split._replace(threshold=(split.threshold + value) / 2)
                del self._half_made[place]

    def add(self, which: np.ndarray, examples: Examples, targets: Targets) -> int | None:
        """Counts examples, on the side that each split sends them to: the one with which enough is known."""
        if not self._is_watched:
            return self._count(which, examples, targets)
        finished = None
        for example in which:
            self._count(np.array([example]), examples, targets)
            if not self.is_finished:
                self._check_finish()
                self._check_prune()
            if finished is None and self.is_finished:
                finished = int(example)
        return finished

    def _count(self, which: np.ndarray, examples: Examples, targets: Targets) -> int | None:
        weights = targets.weights[which]
        if self._params.is_regression:
            outputs = targets.labels[which]
        else:
            outputs = np.eye(len(self.total), dtype=np.float32)[targets.classes(which, len(self.total))]
        weighted = outputs * weights[:, None]
        is_enough = self.weight_sum + np.cumsum(weights) >= self._split_after
        if not self._params.is_regression:
            is_enough &= np.count_nonzero(self.total + np.cumsum(weighted, axis=0), axis=1) > 1
        if self.splits:
            features, thresholds, kinds = (np.array(column) for column in zip(*self._tests, strict=True))
            values = examples.at(which[None, :], features[:, None])
            is_left = go_left(values, thresholds.astype(np.float32)[:, None], kinds[:, None])
            is_left = is_left.astype(np.float32)
            self.left += is_left @ weighted
            self.left_squares += is_left @ (weighted * outputs)
            self.left_weights += is_left @ weights
        self.total += weighted.sum(0)
        self.total_squares += (weighted * outputs).sum(0)
        self.weight_sum += float(weights.sum())
        return int(which[np.argmax(is_enough)]) if is_enough.any() else None

    # ------------------------------------------------------------------------------------ scores of splits

    def _scores(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The score of each split, less is better, and the weights of its sides."""
        right = self.total - self.left
        if not self._params.is_regression:
            sums = self.left.sum(1), right.sum(1)
            return _gini(self.left) + _gini(right), *sums
        weights = self.left_weights, np.float32(self.weight_sum) - self.left_weights
        with np.errstate(divide="ignore", invalid="ignore"):
            score = _variance(self.left, self.left_squares, weights[0])
            score += _variance(right, self.total_squares - self.left_squares, weights[1])
        return score, *weights

    def best(self) -> tuple[Split, np.ndarray, np.ndarray] | None:
        """The best split that has examples on both sides, and what its leaves start with."""
        if not self.splits:
            return None
        score, left_weight, right_weight = self._scores()
        useful = (left_weight > 0) & (right_weight > 0)
        if not useful.any():
            return None
        place = int(np.argmin(np.where(useful, score, np.inf)))
        left, right = self.left[place].copy(), self.total - self.left[place]
        if self._params.is_regression:
            left, right = left / left_weight[place], right / right_weight[place]
        return self.splits[place], left, right

    # ------------------------------------------------------------------------------- before enough is known

    def _check_prune(self) -> None:
        kind = self._params.pruning_type.type
        too_soon = self.weight_sum < self._prunings * self._prune_every
        if kind == _PRUNING["SPLIT_PRUNE_NONE"] or too_soon:
            return
        self._prunings += 1
        score = self._scores()[0]
        if kind == _PRUNING["SPLIT_PRUNE_HOEFFDING"]:
            reach = self.weight_sum * (1.0 - 1.0 / len(self.total)) * self._bound()
            kept = score - score.min() <= reach
        else:
            kept = np.ones(len(score), bool)
            kept[_worst(score, int(len(score) * _PRUNED[kind]))] = False
        self._keep(np.flatnonzero(kept))

    def _keep(self, places: np.ndarray) -> None:
        self.splits = [self.splits[place] for place in places]
        self._tests = [self._tests[place] for place in places]
        self.left, self.left_squares = self.left[places], self.left_squares[places]
        self.left_weights = self.left_weights[places]

    def _bound(self) -> float:
        """How far a mean may be off, by Hoeffding's inequality."""
        return math.sqrt(0.5 * math.log(1.0 / (1.0 - self._dominate)) / self.weight_sum)

    def _check_finish(self) -> None:
        kind = self._params.finish_type.type
        too_soon = self.weight_sum < self._least or self.weight_sum < self._checks * self._check_every
        if not self._may_finish_early or too_soon or len(self.splits) < 2:
            return
        self._checks += 1
        score = self._scores()[0]
        best, second = np.argsort(score, kind="stable")[:2]
        if kind == _FINISHING["SPLIT_FINISH_DOMINATE_HOEFFDING"]:
            reach = 0.25 * len(self.total) * self.weight_sum * self._bound()
            self._finished_early = bool(score[second] - score[best] > reach)
        else:
            self._finished_early = bool(self._bootstrapped(best).max() <= self._bootstrapped(second).min())

    def _bootstrapped(self, place: int) -> np.ndarray:
        """Scores that a split would have had, had its examples been drawn again."""
        counts = np.stack([self.left[place], self.total - self.left[place]]).astype(np.float64)
        generator = np.random.default_rng(self.node)
        drawn = generator.multinomial(int(self.weight_sum), counts.reshape(-1) / counts.sum(), _BOOTSTRAPS)
        sides = drawn.reshape(_BOOTSTRAPS, 2, -1).astype(np.float32)
        scores: np.ndarray = _gini(sides[:, 0]) + _gini(sides[:, 1])
        return scores

    # ------------------------------------------------------------------------------------------- messages

    def fill(self, slot: Any) -> None:
        """Writes what is known to a FertileSlot."""
        slot.node_id, slot.depth = self.node, self.depth
        self._fill_stats(slot.post_init_leaf_stats, self.total, self.total_squares, self.weight_sum)
        for place, split in enumerate(self.splits):
            candidate = slot.candidates.add()
            split.fill(candidate.split)
            numbers = self.left[place], self.left_squares[place], self.left_weights[place]
            self._fill_stats(candidate.left_stats, *numbers)

    def _fill_stats(self, stats: Any, numbers: np.ndarray, squares: np.ndarray, weight: float) -> None:
        is_regression = self._params.is_regression
        vector = stats.regression.mean_output if is_regression else stats.classification.dense_counts
        for number in numbers:
            vector.value.add().float_value = number
        if is_regression:
            for number in squares:
                stats.regression.mean_output_squares.value.add().float_value = number
        if is_regression or numbers is self.total:
            stats.weight_sum = weight

    def load(self, slot: Any) -> None:
        """Takes what a FertileSlot says."""
        self.total, self.total_squares = self._loaded(slot.post_init_leaf_stats)
        self.weight_sum = slot.post_init_leaf_stats.weight_sum
        for place, candidate in enumerate(slot.candidates):
            self._append(Split.of_message(candidate.split))
            self.left[place], self.left_squares[place] = self._loaded(candidate.left_stats)
            self.left_weights[place] = candidate.left_stats.weight_sum
        self._prunings += int(self.weight_sum // self._prune_every) if self._prune_every else 0
        self._checks += int(self.weight_sum // self._check_every) if self._check_every else 0

    def _loaded(self, stats: Any) -> tuple[np.ndarray, np.ndarray]:
        numbers, squares = np.zeros((2, len(self.total)), np.float32)
        if self._params.is_regression:
            numbers[:] = [value.float_value for value in stats.regression.mean_output.value]
            squares[:] = [value.float_value for value in stats.regression.mean_output_squares.value]
        elif stats.classification.HasField("sparse_counts"):
            for entry in stats.classification.sparse_counts.sparse_value:
                numbers[entry.key] = entry.value.float_value
        else:
            numbers[:] = [value.float_value for value in stats.classification.dense_counts.value]
        return numbers, squares


def _worst(scores: np.ndarray, count: int) -> list[int]:
    """The places of the largest scores. Of equal ones the first stay in, as in TensorFlow's heap."""
    heap: list[tuple[float, int]] = []
    for place, score in enumerate(scores.tolist() if count else ()):
        if len(heap) < count:
            heapq.heappush(heap, (score, place))
        elif heap[0][0] < score:
            heapq.heapreplace(heap, (score, place))
    return [place for _, place in heap]


def _gini(counts: np.ndarray) -> np.ndarray:
    """Gini impurity times the number of examples, as if each class had been seen once more."""
    sums, squares = counts.sum(-1), np.square(counts).sum(-1)
    smoothed = sums + counts.shape[-1]
    impurity: np.ndarray = sums * (1.0 - (squares + 2 * sums + counts.shape[-1]) / np.square(smoothed))
    return impurity


def _variance(sums: np.ndarray, squares: np.ndarray, weights: np.ndarray) -> np.ndarray:
    means = sums / weights[:, None]
    found: np.ndarray = (squares / weights[:, None] - np.square(means)).sum(-1)
    return found


class LeafStatistics:
    """What all leaves of a growing tree know."""

    def __init__(self, name: str):
        self.name = name
        self.lock = Lock()
        self.destroy()

    def destroy(self) -> None:
        """Forgets everything."""
        self.initialized = False
        self._slots: dict[int, Candidates] = {}

    def missing(self) -> Exception:
        """The error of statistics that were not made."""
        return errors.not_found(
            f"Resource localhost/{self.name}/N10tensorflow12tensorforest20FertileStatsResourceE "
            "does not exist."
        )

    def load(self, serialized: bytes, params: Any) -> None:
        """Takes statistics that were serialized; without any, the root starts."""
        slots = parsed(FertileStats, serialized, "stats config").node_to_slot
        self.destroy()
        self.initialized = True
        for slot in slots:
            self.start(slot.node_id, slot.depth, params)
            self._slots[slot.node_id].load(slot)
        if not slots:
            self.start(0, 0, params)

    def serialized(self, params: Any) -> bytes:
        """The statistics as TensorFlow's checkpoints keep them: only where the parameters ask for it."""
        message = FertileStats()
        if params.checkpoint_stats:
            for slot in self._slots.values():
                slot.fill(message.node_to_slot.add())
        return bytes(message.SerializeToString())

    def start(self, node: int, depth: int, params: Any) -> None:
        """A new leaf, of which nothing is known."""
        self._slots[node] = Candidates(node, depth, params)

    def add(
        self, leaves: np.ndarray, examples: Examples, targets: Targets, numbers: RandomIntegers
    ) -> list[int]:
        """Adds examples to what their leaves know: the leaves that can be split now.

        A leaf's first examples are what it finds splits by; the others count. Random numbers are drawn in the
        order of the examples, whatever leaves they came to.
        """
        counted: dict[int, list[int]] = {}
        for example, leaf in enumerate(leaves.tolist()):
            if leaf not in self._slots:
                raise errors.internal(f"Nothing is known of node {leaf}: it is no leaf of the growing tree")
            if leaf not in counted and self._slots[leaf].needs_splits:
                self._slots[leaf].add_split(example, examples, targets, numbers)
            else:
                counted.setdefault(leaf, []).append(example)
        finished = {}
        for leaf, which in counted.items():
            last = self._slots[leaf].add(np.array(which), examples, targets)
            if last is not None:
                finished[leaf] = last
        # Nodes get their numbers in this order: TensorFlow's hash set has the last one first.
        return sorted(finished, key=finished.__getitem__, reverse=True)

    def grow(self, tree: Any, finished: list[int], params: Any) -> None:
        """Splits leaves by their best splits, while the tree may have more nodes."""
        for leaf in finished:
            if tree.size >= params.max_nodes:
                return
            slot = self._slots[leaf]
            best = slot.best()
            if best is None:  # all splits are useless; others are looked for
                self.start(leaf, slot.depth, params)
                continue
            children = tree.split(leaf, *best)
            del self._slots[leaf]
            for child in children:
                self.start(child, slot.depth + 1, params)
