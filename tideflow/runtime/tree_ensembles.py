"""Ensembles of decision trees: grown a layer at a time, and asked for the logits of examples.

The message of TensorFlow's checkpoints is the state. For predictions, each tree is also kept as arrays with
an element for each node, so that all examples go down a tree together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from google.protobuf.message import DecodeError

from tideflow.graph import errors
from tideflow.graph.boosted_trees_proto import DebugOutput, TreeEnsemble
from tideflow.interrupts import Lock

NO_PRUNING, PRE_PRUNING, POST_PRUNING = range(3)
DEFAULT_LEFT, DEFAULT_RIGHT = range(2)
INEQUALITY_DEFAULT_LEFT = b"INEQUALITY_DEFAULT_LEFT"
INEQUALITY_DEFAULT_RIGHT = b"INEQUALITY_DEFAULT_RIGHT"
EQUALITY_DEFAULT_RIGHT = b"EQUALITY_DEFAULT_RIGHT"
SPLIT_TYPES = (INEQUALITY_DEFAULT_LEFT, INEQUALITY_DEFAULT_RIGHT, EQUALITY_DEFAULT_RIGHT)
_TREE_WEIGHT = 1.0  # the learning rate is in the leaves
_LEAST_CENTERING = 0.01  # bias centering ends when a step changes the bias by less, relative to it


class Split(NamedTuple):
    """How a leaf is to become a split: the best that was found."""

    gain: float
    feature: int
    dimension: int
    threshold: int
    left: np.ndarray  # the change of the logits in the left leaf
    right: np.ndarray
    kind: bytes = INEQUALITY_DEFAULT_LEFT


class Features(NamedTuple):
    """The buckets of a batch of examples: a row for each dimension of each feature."""

    rows: np.ndarray
    first_row: np.ndarray  # by feature: the first of its rows
    width: np.ndarray  # dimensions of each feature

    @property
    def batch(self) -> int:
        return int(self.rows.shape[1])


def features_of(columns: list[np.ndarray]) -> Features:
    """Puts features together, each a vector or a matrix with a row for each example."""
    batch = len(columns[0])
    if any(len(column) != batch for column in columns):
        raise errors.invalid_argument(
            f"all bucketized_features must have one size, but have {[len(column) for column in columns]}"
        )
    matrices = [column.reshape(batch, -1) if batch else column.reshape(0, 1) for column in columns]
    width = np.array([matrix.shape[1] for matrix in matrices])
    first = np.r_[0, np.cumsum(width)[:-1]]
    return Features(np.ascontiguousarray(np.concatenate(matrices, 1).T), first, width)


def _split_of(node: Any) -> Any:
    """The part of a node that says how it is split, or None for a leaf."""
    kind = node.WhichOneof("node")
    return getattr(node, kind) if kind in ("bucketized_split", "categorical_split") else None


def _logits_of(leaf: Any) -> list[float]:
    return list(leaf.vector.value) if leaf.HasField("vector") else [leaf.scalar]


def _set_logits(leaf: Any, logits: np.ndarray) -> None:
    if len(logits) == 1:
        leaf.scalar = logits[0] + 0.0  # -0.0 is 0.0, which is not written
    else:
        leaf.vector.value.extend(logits.tolist())


def _value(node: Any) -> list[float]:
    """The logits of a node; of a split, those that it had as a leaf."""
    if node.WhichOneof("node") == "leaf":
        return _logits_of(node.leaf)
    return _logits_of(node.metadata.original_leaf) if node.metadata.HasField("original_leaf") else []


class _Nodes:
    """The nodes of a tree as arrays, and what became of those that were pruned. It does not change."""

    def __init__(self, tree: Any, metadata: Any, logits_dimension: int) -> None:
        count = len(tree.nodes)
        self.is_leaf = np.ones(count, bool)
        self.is_equality = np.zeros(count, bool)
        self.feature, self.dimension, self.threshold, self.left, self.right = np.zeros((5, count), np.int64)
        self.logits = np.zeros((count, logits_dimension), np.float32)
        for i, node in enumerate(tree.nodes):
            values = _value(node)[:logits_dimension]
            self.logits[i, : len(values)] = values
            kind = node.WhichOneof("node")
            split = _split_of(node)
            if split is None:
                if kind != "leaf":
                    raise errors.invalid_argument(f"Node type {kind} not supported.")
                continue
            self.is_leaf[i] = False
            self.is_equality[i] = kind == "categorical_split"
            self.threshold[i] = split.value if self.is_equality[i] else split.threshold
            self.feature[i], self.dimension[i] = split.feature_id, split.dimension_id
            self.left[i], self.right[i] = split.left_id, split.right_id
        moved = metadata.post_pruned_nodes_meta if metadata is not None and metadata.is_finalized else ()
        self.place = np.array([update.new_node_id for update in moved] or range(count))
        self.change = np.zeros((len(self.place), logits_dimension), np.float32)
        for row, update in zip(self.change, moved, strict=False):
            row[: len(update.logit_change)] = update.logit_change[:logits_dimension]
        if not 0 <= self.place.min() <= self.place.max() < count:
            raise errors.invalid_argument("Nodes of a tree were pruned into nodes that are not there")

    def next(self, nodes: np.ndarray, features: Features, examples: np.ndarray) -> np.ndarray:
        """The children to which examples go from split nodes."""
        feature, dimension = self.feature[nodes], self.dimension[nodes]
        is_known = (feature >= 0) & (feature < len(features.width)) & (dimension >= 0)
        if not (is_known.all() and (dimension < features.width[feature]).all()):
            raise errors.invalid_argument(
                f"The ensemble splits by a feature or dimension that is not among the {len(features.width)} "
                "bucketized_features"
            )
        buckets = features.rows[features.first_row[feature] + dimension, examples]
        goes_left = np.where(
            self.is_equality[nodes], buckets == self.threshold[nodes], buckets <= self.threshold[nodes]
        )
        following: np.ndarray = np.where(goes_left, self.left[nodes], self.right[nodes])
        return following

    def resumed(self, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where examples are that were in some nodes before pruning, and how to correct their logits.

        The old logits are taken off, since those of the leaf are added again.
        """
        if len(nodes) and nodes.max() >= len(self.place):
            raise errors.invalid_argument(f"cached_node_ids of a tree must be below {len(self.place)}")
        places = self.place[nodes]
        return places, self.change[nodes] - self.logits[places]

    def leaves(self, nodes: np.ndarray, features: Features, examples: np.ndarray) -> np.ndarray:
        """The leaves in which examples end that begin at some nodes."""
        nodes = nodes.copy()
        going = np.flatnonzero(~self.is_leaf[nodes])
        while len(going):
            nodes[going] = self.next(nodes[going], features, examples[going])
            going = going[~self.is_leaf[nodes[going]]]
        return nodes


def _parsed(serialized: bytes) -> Any:
    """The message. An ensemble in which an example could lose its way is refused."""
    message = TreeEnsemble()
    try:
        message.ParseFromString(serialized)
    except DecodeError as error:
        raise errors.invalid_argument("Unable to parse tree ensemble proto.") from error
    for number, tree in enumerate(message.trees):
        count = len(tree.nodes)
        splits = ((i, _split_of(node)) for i, node in enumerate(tree.nodes))
        in_order = all(
            i < split.left_id < count and i < split.right_id < count
            for i, split in splits
            if split is not None
        )
        if not count or not in_order or number >= len(message.tree_weights):
            raise errors.invalid_argument(
                f"Unable to parse tree ensemble proto: tree {number} lacks nodes or a weight, or children "
                "of a node are not behind it."
            )
    return message


class Ensemble:
    """A tree ensemble that steps share."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lock = Lock()
        self.initialized = False

    def create(self, stamp: int, serialized: bytes) -> None:
        """Fills the ensemble, unless that was done already."""
        message = _parsed(serialized)
        with self.lock:
            if not self.initialized:
                self._replace(stamp, message)

    def load(self, stamp: int, serialized: bytes) -> None:
        """Replaces the ensemble."""
        message = _parsed(serialized)
        with self.lock:
            self._replace(stamp, message)

    def _replace(self, stamp: int, message: Any) -> None:
        self._message, self.stamp, self.initialized = message, stamp, True
        self._tables: dict[tuple[int, int], _Nodes] = {}

    def serialized(self) -> tuple[int, bytes]:
        """The stamp, and the ensemble as checkpoints keep it."""
        with self.lock:
            return self.stamp, self._message.SerializeToString()

    @property
    def num_trees(self) -> int:
        return len(self._message.trees)

    def _metadata(self, tree: int) -> Any:
        if tree >= len(self._message.tree_metadata):
            raise errors.invalid_argument(f"The ensemble has no metadata of tree {tree}")
        return self._message.tree_metadata[tree]

    def states(self) -> tuple[int, int, int, int, list[int]]:
        """Stamp, trees, finished trees, layers that were tried, and the nodes of the last layer."""
        with self.lock:
            trees, growing = self.num_trees, self._message.growing_metadata
            finished = trees - (trees > 0 and not self._metadata(trees - 1).is_finalized)
            last_layer = [growing.last_layer_node_start, max(1, growing.last_layer_node_end)]
            return self.stamp, trees, finished, growing.num_layers_attempted, last_layer

    # ------------------------------------------------------------------------------------------- growing

    def _add_tree(self, logits: np.ndarray) -> None:
        leaf = self._message.trees.add().nodes.add().leaf
        leaf.SetInParent()
        _set_logits(leaf, logits)
        self._message.tree_weights.append(_TREE_WEIGHT)
        self._message.tree_metadata.add()

    def center_bias(self, logits: float) -> bool:
        """Adds to the bias, which is the root of the first tree; whether to go on with centering."""
        with self.lock:
            self.stamp += 1
            if not self.num_trees:
                self._add_tree(np.array([logits], np.float32))
                return True
            root = self._message.trees[0].nodes[0]
            if root.WhichOneof("node") != "leaf":
                raise errors.invalid_argument("The bias can be centered only before the first tree is grown")
            bias = np.float32(root.leaf.scalar)
            with np.errstate(divide="ignore", invalid="ignore"):
                go_on = bool(abs(np.float32(logits) / bias) > np.float32(_LEAST_CENTERING))
            root.leaf.scalar = bias + np.float32(logits)
            self._tables.clear()
            return go_on

    def grow(self, splits: dict[int, Split], logits_dimension: int, max_depth: int, pruning: int) -> None:
        """Splits leaves of the last tree; one that has all its layers is finished, and the next one begun."""
        with self.lock:
            self._check_splits(splits)
            self.stamp += 1
            self._count_attempt()
            if not self.num_trees:
                self._add_tree(np.zeros(logits_dimension, np.float32))
            if pruning == PRE_PRUNING:
                splits = {node: split for node, split in splits.items() if not split.gain < 0}
            if not splits:
                return
            number = self.num_trees - 1
            tree, metadata = self._message.trees[number], self._metadata(number)
            start = len(tree.nodes)
            for node, split in sorted(splits.items()):
                _split_leaf(tree, node, split, logits_dimension)
            metadata.num_layers_grown += 1
            layer = start, len(tree.nodes)
            if metadata.num_layers_grown >= max_depth:
                layer = 0, 1
                metadata.is_finalized = True
                if pruning == POST_PRUNING:
                    _prune(tree, metadata, logits_dimension)
                self._add_tree(np.zeros(logits_dimension, np.float32))
            growing = self._message.growing_metadata
            growing.last_layer_node_start, growing.last_layer_node_end = layer
            self._tables = {key: table for key, table in self._tables.items() if key[0] < number}

    def _check_splits(self, splits: dict[int, Split]) -> None:
        nodes: Sequence[Any] = self._message.trees[-1].nodes if self.num_trees else [None]
        for node in splits:
            if not 0 <= node < len(nodes) or (nodes[node] and nodes[node].WhichOneof("node") != "leaf"):
                raise errors.invalid_argument(f"Node {node} is not a leaf of the tree that grows")

    def _count_attempt(self) -> None:
        growing, trees = self._message.growing_metadata, self.num_trees
        growing.num_layers_attempted += 1
        is_first_layer = not trees or (
            len(self._message.trees[-1].nodes) == 1 and (trees == 1 or self._metadata(trees - 2).is_finalized)
        )
        growing.num_trees_attempted += is_first_layer

    # ---------------------------------------------------------------------------------------- predicting

    def _nodes(self, logits_dimension: int) -> tuple[list[_Nodes], np.ndarray]:
        """The nodes of all trees, and the weights of the trees."""
        with self.lock:
            known, metadata = self._tables, self._message.tree_metadata
            for number, tree in enumerate(self._message.trees):
                if (number, logits_dimension) not in known:
                    of_tree = metadata[number] if number < len(metadata) else None
                    known[number, logits_dimension] = _Nodes(tree, of_tree, logits_dimension)
            tables = [known[number, logits_dimension] for number in range(self.num_trees)]
            return tables, np.array(self._message.tree_weights[: len(tables)], np.float32)

    def predict(self, features: Features, logits_dimension: int) -> np.ndarray:
        """The logits of examples: the weighted sum over all trees."""
        logits = np.zeros((features.batch, logits_dimension), np.float32)
        everyone, roots = np.arange(features.batch), np.zeros(features.batch, np.int64)
        for table, weight in zip(*self._nodes(logits_dimension), strict=True):
            logits += weight * table.logits[table.leaves(roots, features, everyone)]
        return logits

    def training_predict(
        self, cached_trees: np.ndarray, cached_nodes: np.ndarray, features: Features, logits_dimension: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """By how much the logits changed since an example was in a node of a tree, and where it is now."""
        partial = np.zeros((features.batch, logits_dimension), np.float32)
        nodes = np.zeros(features.batch, np.int64)
        tables, weights = self._nodes(logits_dimension)
        last = len(tables) - 1
        if last < 0:
            return partial, cached_trees, nodes
        if features.batch and not 0 <= cached_trees.min() <= cached_trees.max() <= last:
            raise errors.invalid_argument(f"cached_tree_ids must be in [0, {last}]")
        for tree in range(cached_trees.min(initial=last), last + 1):
            table = tables[tree]
            here = np.flatnonzero(cached_trees <= tree)
            start, logits = np.zeros(len(here), np.int64), np.zeros((len(here), logits_dimension), np.float32)
            resumed = np.flatnonzero((cached_trees[here] == tree) & (cached_nodes[here] >= 0))
            start[resumed], logits[resumed] = table.resumed(cached_nodes[here[resumed]])
            nodes[here] = table.leaves(start, features, here)
            partial[here] += weights[tree] * (logits + table.logits[nodes[here]])
        return partial, np.full_like(cached_trees, last), nodes

    def debug_outputs(self, features: Features) -> list[bytes]:
        """For each example the features by which it was split, and its logits before and after each split."""
        tables, weights = self._nodes(1)
        if not tables:
            raise errors.invalid_argument("An empty ensemble has no decision paths to show")
        return [
            _path(features, example, tables, weights).SerializeToString() for example in range(features.batch)
        ]


def _path(features: Features, example: int, tables: list[_Nodes], weights: np.ndarray) -> Any:
    output, finished = DebugOutput(), np.float32(0)
    logit = weights[0] * tables[0].logits[0, 0]
    output.logits_path.append(logit)
    for number, (table, weight) in enumerate(zip(tables, weights, strict=True)):
        node = np.zeros(1, np.int64)
        while not table.is_leaf[node[0]]:
            output.feature_ids.append(int(table.feature[node[0]]))
            node = table.next(node, features, np.array([example]))
            logit = weight * table.logits[node[0], 0]
            output.logits_path.append(logit + finished)
        if number == 0 or node[0] > 0:
            finished += logit
    return output


def _split_leaf(tree: Any, number: int, split: Split, logits_dimension: int) -> None:
    """Makes a leaf a split with two leaves."""
    left, right = len(tree.nodes), len(tree.nodes) + 1
    leaves = tree.nodes.add().leaf, tree.nodes.add().leaf
    node = tree.nodes[number]
    before = np.zeros(logits_dimension, np.float32)
    known = np.array(_logits_of(node.leaf)[:logits_dimension], np.float32)
    before[: len(known)] = known
    has_value = bool(node.leaf.scalar) if logits_dimension == 1 else node.leaf.HasField("vector")
    if number or has_value:
        node.metadata.original_leaf.CopyFrom(node.leaf)
    node.metadata.gain = split.gain + 0.0
    for leaf, change in zip(leaves, (split.left, split.right), strict=True):
        leaf.SetInParent()
        _set_logits(leaf, before + change)
    is_equality = split.kind == EQUALITY_DEFAULT_RIGHT
    made = node.categorical_split if is_equality else node.bucketized_split
    made.feature_id, made.dimension_id, made.left_id, made.right_id = (
        split.feature,
        split.dimension,
        left,
        right,
    )
    if is_equality:
        made.value = split.threshold
    else:
        made.threshold = split.threshold
        made.default_direction = DEFAULT_RIGHT if split.kind == INEQUALITY_DEFAULT_RIGHT else DEFAULT_LEFT


def _prune(tree: Any, metadata: Any, logits_dimension: int) -> None:
    """Makes splits leaves again that have a negative gain and only leaves below them, from the bottom up.

    The metadata say what became of each node, for examples that are remembered to be in it.
    """
    nodes, none = tree.nodes, np.zeros(logits_dimension, np.float32)
    parents: dict[int, tuple[int, np.ndarray]] = {}  # by removed node; the change of the logits too
    for number in reversed(range(len(nodes))):  # children come after their parents
        node, split = nodes[number], _split_of(nodes[number])
        if split is None or not node.metadata.gain < 0:
            continue
        children = split.left_id, split.right_id
        if any(nodes[child].WhichOneof("node") != "leaf" for child in children):
            continue
        value = np.array(_value(node), np.float32) if node.metadata.HasField("original_leaf") else none
        for child in children:
            parents[child] = number, value - np.array(_value(nodes[child]), np.float32)
        node.leaf.CopyFrom(node.metadata.original_leaf)
        node.ClearField("metadata")
    if not parents:
        return
    kept = [number for number in range(len(nodes)) if number not in parents]
    places = {number: place for place, number in enumerate(kept)}
    for number in range(len(nodes)):
        survivor, change = number, none
        while survivor in parents:
            survivor, step = parents[survivor]
            change = change + step
        metadata.post_pruned_nodes_meta.add(new_node_id=places[survivor], logit_change=change.tolist())
    for number in sorted(parents, reverse=True):
        del nodes[number]
    for node in nodes:
        split = _split_of(node)
        if split is not None:
            split.left_id, split.right_id = places[split.left_id], places[split.right_id]
