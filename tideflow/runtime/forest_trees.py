"""Decision trees of random forests: examples go down, leaves count labels or keep means."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from google.protobuf.message import DecodeError

from tideflow.graph import errors
from tideflow.graph.forest_proto import ENUMS, MatchingValuesTest, Model, TensorForestParams, TreePath
from tideflow.interrupts import Lock
from tideflow.runtime.forest_data import CATEGORICAL, Examples, Targets

LESS_OR_EQUAL, LESS_THAN, MATCHES = range(3)
_MATCHING = "type.googleapis.com/tensorflow.decision_trees.MatchingValuesTest"
_SPARSE = ENUMS["LeafModelType"]["MODEL_SPARSE_CLASSIFICATION"]
_SPARSE_OR_DENSE = ENUMS["LeafModelType"]["MODEL_SPARSE_OR_DENSE_CLASSIFICATION"]


def parse_params(serialized: str | bytes) -> Any:
    """The parameters of a forest; an attribute whose bytes are text comes as text."""
    serialized = serialized.encode() if isinstance(serialized, str) else serialized
    return parsed(TensorForestParams, serialized, "params")


def parsed(message: Any, serialized: bytes, what: str) -> Any:
    """A message that was serialized."""
    try:
        return message.FromString(serialized)
    except DecodeError as error:
        raise errors.invalid_argument(f"Unable to parse {what}.") from error


class Split(NamedTuple):
    """A test of a feature: examples that pass it go left."""

    feature: int
    threshold: float
    kind: int

    @classmethod
    def by(cls, feature: int, value: float, kind: int, inequality: int) -> Split:
        """The test that a value of a feature suggests."""
        return cls(feature, value, MATCHES if kind == CATEGORICAL else inequality)

    @classmethod
    def of_message(cls, node: Any) -> Split:
        """The test of a BinaryNode."""
        if node.HasField("inequality_left_child_test"):
            test = node.inequality_left_child_test
            return cls(int(test.feature_id.id.value), test.threshold.float_value, test.type)
        matching = MatchingValuesTest.FromString(node.custom_left_child_test.value)
        return cls(int(matching.feature_id.id.value), matching.value[0].float_value, MATCHES)

    def fill(self, node: Any) -> None:
        """Writes the test to a BinaryNode."""
        if self.kind == MATCHES:
            test = MatchingValuesTest()
            test.value.add().float_value = self.threshold
            test.feature_id.id.value = str(self.feature)
            node.custom_left_child_test.type_url = _MATCHING
            node.custom_left_child_test.value = test.SerializeToString()
        else:
            inequality = node.inequality_left_child_test
            inequality.feature_id.id.value = str(self.feature)
            inequality.threshold.float_value = self.threshold
            inequality.type = self.kind


def go_left(values: np.ndarray, thresholds: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    """Which values pass the tests."""
    return np.where(
        kinds == MATCHES,
        values == thresholds,
        np.where(kinds == LESS_THAN, values < thresholds, values <= thresholds),
    )


class DecisionTree:
    """One tree of a forest: nodes are splits with two children, or leaves with a number for each output."""

    def __init__(self, name: str):
        self.name = name
        self.lock = Lock()
        self.destroy()

    def destroy(self) -> None:
        """Forgets the tree."""
        self.initialized = False
        self._splits: list[Split | None] = []
        self._children: list[tuple[int, int]] = []
        self.leaves: list[np.ndarray] = []
        self._leaf_type = 0
        self._arrays: tuple[np.ndarray, ...] | None = None

    def missing(self) -> Exception:
        """The error of a tree that was not made."""
        return errors.not_found(
            f"Resource localhost/{self.name}/N10tensorflow12tensorforest20DecisionTreeResourceE "
            "does not exist."
        )

    @property
    def size(self) -> int:
        """The number of nodes."""
        return len(self._splits)

    def load(self, serialized: bytes, params: Any) -> None:
        """Takes a tree that was serialized; an empty one is a single leaf."""
        nodes = parsed(Model, serialized, "tree  config").decision_tree.nodes
        self.destroy()
        self.initialized = True
        self._leaf_type = params.leaf_type
        for node in nodes:
            binary = node.binary_node
            if node.HasField("binary_node"):
                self._splits.append(Split.of_message(binary))
                self._children.append((binary.left_child_id.value, binary.right_child_id.value))
            else:
                self._splits.append(None)
                self._children.append((0, 0))
            self.leaves.append(_numbers(node.leaf, params.num_outputs))
        if not nodes:
            self._add_leaf(np.zeros(params.num_outputs, np.float32))

    def serialized(self) -> bytes:
        """The tree as TensorFlow's checkpoints keep it."""
        model = Model()
        for number in range(self.size):
            self._fill(model.decision_tree.nodes.add(), number)
        return bytes(model.SerializeToString())

    def _fill(self, node: Any, number: int) -> None:
        if number:
            node.node_id.value = number
        split = self._splits[number]
        if split is None:
            _fill_leaf(node.leaf, self.leaves[number], self._leaf_type)
            return
        left, right = self._children[number]
        node.binary_node.left_child_id.value, node.binary_node.right_child_id.value = left, right
        split.fill(node.binary_node)

    def _add_leaf(self, numbers: np.ndarray) -> int:
        self._splits.append(None)
        self._children.append((0, 0))
        self.leaves.append(numbers)
        self._arrays = None
        return self.size - 1

    def split(self, number: int, split: Split, left: np.ndarray, right: np.ndarray) -> tuple[int, int]:
        """Makes a leaf a split with two new leaves, whose numbers are returned."""
        children = self._add_leaf(left), self._add_leaf(right)
        self._splits[number], self._children[number] = split, children
        return children

    def leaves_of(self, examples: Examples, visited: list[np.ndarray] | None = None) -> np.ndarray:
        """The leaf that each example comes to; all examples go down together."""
        if self._arrays is None:
            splits = [split or Split(0, 0.0, LESS_OR_EQUAL) for split in self._splits]
            features, thresholds, kinds = (np.array(column) for column in zip(*splits, strict=True))
            is_split = np.array([split is not None for split in self._splits])
            self._arrays = features, thresholds.astype(np.float32), kinds, np.array(self._children), is_split
        features, thresholds, kinds, children, is_split = self._arrays
        at = np.zeros(examples.count, np.int64)
        going = np.arange(examples.count)
        while len(going := going[is_split[at[going]]]):
            if visited is not None:
                visited.append(at.copy())
            nodes = at[going]
            values = examples.at(going, features[nodes])
            left = go_left(values, thresholds[nodes], kinds[nodes])
            at[going] = children[nodes, np.where(left, 0, 1)]
        return at

    def predictions(self, examples: Examples, is_regression: bool) -> np.ndarray:
        """What the leaves of examples say: means, or shares of the classes."""
        leaves = self.leaves_of(examples)
        found = np.stack([self.leaves[leaf] for leaf in leaves]) if len(leaves) else np.zeros((0, 0))
        found = found.reshape(len(leaves), len(self.leaves[0]))
        sums = found.sum(1, keepdims=True)
        return found if is_regression else np.where(sums > 0, found / np.where(sums > 0, sums, 1), found)

    def paths(self, examples: Examples) -> list[bytes]:
        """The nodes that each example goes through, as messages."""
        visited: list[np.ndarray] = []
        leaves = self.leaves_of(examples, visited)
        made = []
        for example, leaf in enumerate(leaves):
            path = TreePath()
            for number in dict.fromkeys([int(nodes[example]) for nodes in visited] + [int(leaf)]):
                self._fill(path.nodes_visited.add(), number)
            made.append(path.SerializeToString())
        return made

    def count_labels(self, leaves: np.ndarray, targets: Targets) -> None:
        """Adds examples to the counts of the leaves that they came to."""
        labels = targets.classes(np.arange(len(leaves)), len(self.leaves[0]))
        for leaf, label, weight in zip(leaves.tolist(), labels.tolist(), targets.weights, strict=True):
            self.leaves[leaf][label] += weight

    def feature_counts(self, count: int) -> np.ndarray:
        """How many splits are by each feature."""
        features = [split.feature for split in self._splits if split is not None and split.feature < count]
        return np.bincount(np.array(features, np.int64), minlength=count).astype(np.int32)


def _numbers(leaf: Any, count: int) -> np.ndarray:
    numbers = np.zeros(count, np.float32)
    if leaf.HasField("sparse_vector"):
        for entry in leaf.sparse_vector.sparse_value:
            numbers[entry.key] = entry.value.float_value
    elif leaf.vector.value:
        numbers[:] = [value.float_value for value in leaf.vector.value]
    return numbers


def _fill_leaf(leaf: Any, numbers: np.ndarray, leaf_type: int) -> None:
    seen = np.flatnonzero(numbers)
    if leaf_type == _SPARSE or (leaf_type == _SPARSE_OR_DENSE and len(seen) < len(numbers) / 2):
        leaf.sparse_vector.SetInParent()
        for place in seen:
            entry = leaf.sparse_vector.sparse_value.add(key=int(place))
            entry.value.float_value = numbers[place]
    else:
        for number in numbers:
            leaf.vector.value.add().float_value = number
