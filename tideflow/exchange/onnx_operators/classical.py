"""The operators of `ai.onnx.ml`: linear models, trees, and what prepares their inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import numpy_helper

import tideflow as tf
from tideflow.exchange.onnx_operators.registry import ML, Given, operator

# ---------------------------------------------------------------------------- columns


@operator("Scaler", domain=ML)
def _scaler(given: Given) -> Any:
    x = tf.cast(given.inputs[0], tf.float32)
    return (x - _floats(given, "offset", [0.0])) * _floats(given, "scale", [1.0])


def _floats(given: Given, name: str, default: Sequence[float] = ()) -> np.ndarray:
    """An attribute of numbers, which later versions keep as a tensor to have them in double precision."""
    tensor = given.attribute(f"{name}_as_tensor")
    if tensor is not None:
        return numpy_helper.to_array(tensor)
    return np.array(given.attribute(name, default), np.float32)


@operator("Normalizer", domain=ML)
def _normalizer(given: Given) -> Any:
    x, kind = tf.cast(given.inputs[0], tf.float32), given.attribute("norm", "MAX")
    if kind == "L2":
        norm = tf.sqrt(tf.reduce_sum(x * x, -1, keepdims=True))
    else:
        norm = (tf.reduce_max if kind == "MAX" else tf.reduce_sum)(tf.abs(x), -1, keepdims=True)
    return tf.where_v2(tf.equal(norm, 0), x, x / norm)


@operator("Binarizer", domain=ML)
def _binarizer(given: Given) -> Any:
    x = given.inputs[0]
    return tf.cast(x > tf.cast(given.attribute("threshold", 0.0), x.dtype), x.dtype)


@operator("Imputer", domain=ML)
def _imputer(given: Given) -> Any:
    x = given.inputs[0]
    kind = "float" if x.dtype.is_floating else "int64"
    values = tf.constant(given.attribute(f"imputed_value_{kind}s"), x.dtype)
    replaced = given.attribute(f"replaced_value_{kind}", 0)
    missing = tf.is_nan(x) if replaced != replaced else tf.equal(x, tf.cast(replaced, x.dtype))
    return tf.where_v2(missing, values, x)


@operator("ArrayFeatureExtractor", domain=ML)
def _extract(given: Given) -> Any:
    x, places = given.inputs
    made = tf.gather(x, tf.reshape(places, [-1]), axis=-1)
    return made[None] if given.rank() == 1 else made


@operator("FeatureVectorizer", domain=ML)
def _join(given: Given) -> Any:
    columns = [tf.cast(tf.reshape(x, [tf.shape(x)[0], -1]), tf.float32) for x in given.inputs]
    sizes = given.attribute("inputdimensions", [None] * len(columns))
    return tf.concat([column[:, :size] for column, size in zip(columns, sizes, strict=True)], 1)


# ---------------------------------------------------------------------------- categories


@operator("OneHotEncoder", domain=ML)
def _one_hot(given: Given) -> Any:
    x = given.inputs[0]
    categories: Any = given.texts("cats_strings") or list(given.attribute("cats_int64s", ()))
    values = (
        tf.constant(categories, x.dtype)
        if x.dtype == tf.string
        else tf.cast(tf.constant(categories), x.dtype)
    )
    return tf.cast(tf.equal(x[..., None], values), tf.float32)


@operator("LabelEncoder", domain=ML)
def _label_encoder(given: Given) -> Any:
    if "classes_strings" in given.attributes:  # before version 2: strings to their places, or back
        names = given.texts("classes_strings")
        if given.inputs[0].dtype == tf.string:
            return _translated(
                given.inputs[0], names, np.arange(len(names)), given.attribute("default_int64", -1)
            )
        return _translated(
            given.inputs[0], np.arange(len(names)), names, given.attribute("default_string", "_Unused")
        )
    keys, values = _mapped(given, "keys"), _mapped(given, "values")
    defaults = {tf.string: "_Unused", tf.int64: -1, tf.float32: 0.0}
    target = tf.convert_to_tensor(values).dtype
    name = {tf.string: "default_string", tf.int64: "default_int64", tf.float32: "default_float"}.get(
        target, ""
    )
    tensor = given.attribute("default_tensor")
    default = (
        numpy_helper.to_array(tensor).reshape([])
        if tensor is not None
        else given.attribute(name, defaults.get(target, 0))
    )
    return _translated(given.inputs[0], keys, values, default)


def _mapped(given: Given, what: str) -> Any:
    """Keys or values, in the attribute of their type."""
    for kind, dtype in (("int64s", np.int64), ("floats", np.float32)):
        if f"{what}_{kind}" in given.attributes:
            return np.array(given.attribute(f"{what}_{kind}"), dtype)
    if f"{what}_strings" in given.attributes:
        return given.texts(f"{what}_strings")
    return numpy_helper.to_array(given.attribute(f"{what}_tensor"))


def _translated(x: Any, keys: Any, values: Any, default: Any) -> Any:
    """The value of each key; equal keys are compared in their own type."""
    values = tf.constant(values)
    same = tf.equal(x[..., None], tf.constant(keys, x.dtype))
    if x.dtype.is_floating:
        same |= tf.is_nan(x)[..., None] & tf.is_nan(tf.constant(keys, x.dtype))
    found = tf.gather(values, tf.argmax(tf.cast(same, tf.int32), -1))
    return tf.where_v2(tf.reduce_any(same, -1), found, tf.constant(default, values.dtype))


@operator("CategoryMapper", domain=ML)
def _category_mapper(given: Given) -> Any:
    names, numbers = given.texts("cats_strings"), np.array(given.attribute("cats_int64s"), np.int64)
    if given.inputs[0].dtype == tf.string:
        return _translated(given.inputs[0], names, numbers, given.attribute("default_int64", -1))
    return _translated(given.inputs[0], numbers, names, given.attribute("default_string", "_Unused"))


@operator("ZipMap", domain=ML)
def _zip_map(given: Given) -> Any:
    """A row for each map, with its values in the order of the classes: graphs have no maps."""
    return given.inputs[0]


# ---------------------------------------------------------------------------- linear models


def _finished(given: Given, scores: Any) -> Any:
    kind = given.attribute("post_transform", "NONE")
    if kind == "LOGISTIC":
        return tf.sigmoid(scores)
    if kind == "SOFTMAX":
        return tf.nn.softmax(scores)
    if kind == "SOFTMAX_ZERO":
        weights = tf.where_v2(
            tf.equal(scores, 0), 0.0, tf.exp(scores - tf.reduce_max(scores, -1, keepdims=True))
        )
        return weights / tf.reduce_sum(weights, -1, keepdims=True)
    if kind == "PROBIT":
        return tf.distributions.Normal(0.0, 1.0).quantile(scores)
    return scores


@operator("LinearRegressor", domain=ML)
def _linear_regressor(given: Given) -> Any:
    targets = given.attribute("targets", 1)
    weights = np.array(given.attribute("coefficients"), np.float32).reshape(targets, -1)
    offsets = np.array(given.attribute("intercepts", [0.0] * targets), np.float32)
    return _finished(
        given, tf.matmul(tf.cast(given.inputs[0], tf.float32), weights, transpose_b=True) + offsets
    )


@operator("LinearClassifier", domain=ML)
def _linear_classifier(given: Given) -> Any:
    labels = _labels(given)
    offsets = np.array(given.attribute("intercepts", ()), np.float32)
    rows = max(1, offsets.size)
    weights = np.array(given.attribute("coefficients"), np.float32).reshape(rows, -1)
    scores = tf.matmul(tf.cast(given.inputs[0], tf.float32), weights, transpose_b=True)
    scores = scores + offsets if offsets.size else scores
    if rows == 1 and len(labels) == 2:
        return _of_two(given, scores, labels, 0.0)
    chosen = tf.gather(tf.constant(labels), tf.argmax(scores, 1))
    return chosen, _finished(given, scores)


def _labels(given: Given) -> Any:
    for name in ("classlabels_strings", "class_labels_strings"):
        if name in given.attributes:
            return given.texts(name)
    found = given.attribute("classlabels_ints", given.attribute("classlabels_int64s"))
    if found is None:
        raise ValueError("it has no labels")
    return np.array(found, np.int64)


def _of_two(given: Given, scores: Any, labels: Any, middle: float) -> tuple[Any, Any]:
    """One score says which of two classes it is."""
    second = scores[:, 0] > middle
    chosen = tf.gather(tf.constant(labels), tf.cast(second, tf.int32))
    if given.attribute("post_transform", "NONE") == "NONE":
        first = 1 - scores if middle else -scores
        return chosen, tf.concat([first, scores], 1)
    return chosen, _finished(given, tf.concat([-scores, scores], 1))


@operator("SVMRegressor", domain=ML)
def _svm_regressor(given: Given) -> Any:
    x = tf.cast(given.inputs[0], tf.float32)
    count = given.attribute("n_supports", 0)
    weights = np.array(given.attribute("coefficients"), np.float32)
    offset = np.array(given.attribute("rho", [0.0]), np.float32)
    if count:
        vectors = np.array(given.attribute("support_vectors"), np.float32).reshape(count, -1)
        similar = _kernel(given, x, vectors)
    else:
        similar = x
    made = tf.matmul(similar, weights.reshape(-1, 1)) + offset[0]
    return tf.cast(made > 0, tf.float32) * 2 - 1 if given.attribute("one_class", 0) else made


def _kernel(given: Given, x: Any, vectors: np.ndarray) -> Any:
    """How alike each row is to each support vector."""
    kind = given.attribute("kernel_type", "LINEAR")
    gamma, offset, degree = (*given.attribute("kernel_params", ()), 0.0, 0.0, 0.0)[:3]
    if kind == "RBF":
        distance = tf.reduce_sum(tf.square(x[:, None] - vectors), -1)
        return tf.exp(-gamma * distance)
    products = tf.matmul(x, vectors, transpose_b=True)
    if kind == "POLY":
        return (gamma * products + offset) ** degree
    return tf.tanh(gamma * products + offset) if kind == "SIGMOID" else products


# ---------------------------------------------------------------------------- trees

_TESTS = {
    "BRANCH_LEQ": tf.less_equal,
    "BRANCH_LT": tf.less,
    "BRANCH_GTE": tf.greater_equal,
    "BRANCH_GT": tf.greater,
    "BRANCH_EQ": tf.equal,
    "BRANCH_NEQ": tf.not_equal,
}


class _Forest:
    """The nodes of all trees in arrays: where each goes on, and the weights of the leaves."""

    def __init__(self, given: Given, of: str, columns: int):
        self.modes = given.texts("nodes_modes")
        trees, ids = given.attribute("nodes_treeids"), given.attribute("nodes_nodeids")
        place = {key: i for i, key in enumerate(zip(trees, ids, strict=True))}
        self.features = np.array(given.attribute("nodes_featureids"), np.int32)
        self.limits = _floats(given, "nodes_values")
        missing = given.attribute("nodes_missing_value_tracks_true", ())
        self.missing = np.array(missing, bool) if len(missing) else np.zeros(len(ids), bool)
        self.nexts = [
            self._nexts(given.attribute(f"nodes_{side}nodeids"), trees, place) for side in ("false", "true")
        ]
        inner = [i for i, mode in enumerate(self.modes) if mode != "LEAF"]
        children = {int(each[i]) for each in self.nexts for i in inner}
        self.roots = np.array([i for i in range(len(ids)) if i not in children], np.int32)
        if len(self.roots) != len(set(trees)):
            raise ValueError("a tree has more or fewer beginnings than one: its nodes go round in a circle")
        self.depth = self._depth(inner)
        self.weights = np.zeros([len(ids), columns], self.limits.dtype)
        weights = _floats(given, f"{of}_weights")
        owners = zip(given.attribute(f"{of}_treeids"), given.attribute(f"{of}_nodeids"), strict=True)
        for owner, column, weight in zip(owners, given.attribute(f"{of}_ids"), weights, strict=True):
            self.weights[place[owner], column] += weight

    def _nexts(
        self, ids: Sequence[int], trees: Sequence[int], place: dict[tuple[int, int], int]
    ) -> np.ndarray:
        """A leaf goes on at itself."""
        found = [
            i if mode == "LEAF" else place[tree, node]
            for i, (mode, tree, node) in enumerate(zip(self.modes, trees, ids, strict=True))
        ]
        return np.array(found, np.int32)

    def _depth(self, inner: Sequence[int]) -> int:
        """After how many steps every path is at a leaf.

        Raises:
          ValueError: If some path never is.
        """
        at, depth = set(self.roots.tolist()), 0
        inside = set(inner)
        while at := {int(each[i]) for i in at & inside for each in self.nexts}:
            depth += 1
            if depth > len(self.modes):
                raise ValueError("the nodes of a tree go round in a circle")
        return depth

    def leaves(self, x: Any) -> Any:
        """The weights of the leaves that each row comes to, [rows, trees, columns]."""
        at = tf.tile(tf.constant(self.roots)[None], tf.stack([tf.shape(x)[0], 1]))
        kinds = sorted(set(self.modes) - {"LEAF"})
        if unknown := set(kinds) - set(_TESTS):
            raise ValueError(f"modes {sorted(unknown)} are not known")
        for _ in range(self.depth):
            value = tf.gather(x, tf.gather(self.features, at), batch_dims=1, axis=1)
            limit = tf.cast(tf.gather(self.limits, at), x.dtype)
            holds = None
            for kind in kinds:
                one = _TESTS[kind](value, limit)
                mine = tf.gather(np.array([mode == kind for mode in self.modes]), at)
                holds = one if holds is None else tf.where(mine, one, holds)
            if self.missing.any():
                holds |= tf.is_nan(value) & tf.gather(self.missing, at)
            at = tf.where(holds, tf.gather(self.nexts[1], at), tf.gather(self.nexts[0], at))
        return tf.gather(self.weights, at)


@operator("TreeEnsembleRegressor", domain=ML)
def _tree_regressor(given: Given) -> Any:
    targets = given.attribute("n_targets", 1)
    leaves = _Forest(given, "target", targets).leaves(_numbers(given.inputs[0]))
    how = given.attribute("aggregate_function", "SUM")
    joined = {"SUM": tf.reduce_sum, "AVERAGE": tf.reduce_mean, "MIN": tf.reduce_min, "MAX": tf.reduce_max}[
        how
    ]
    made = tf.cast(joined(leaves, 1), tf.float32)
    base = _floats(given, "base_values").astype(np.float32)
    return _finished(given, made + base if base.size else made)


def _numbers(x: Any) -> Any:
    return x if x.dtype.is_floating else tf.cast(x, tf.float32)


@operator("TreeEnsembleClassifier", domain=ML)
def _tree_classifier(given: Given) -> Any:
    labels = _labels(given)
    forest = _Forest(given, "class", len(labels))
    scores = tf.cast(tf.reduce_sum(forest.leaves(_numbers(given.inputs[0])), 1), tf.float32)
    base = _floats(given, "base_values").astype(np.float32)
    used = sorted(set(given.attribute("class_ids")))
    if len(labels) == 2 and len(used) == 1:
        score = scores[:, used[0]][:, None] + (base[-1:] if base.size else 0.0)
        return _of_two(given, score, labels, 0.5 if (forest.weights >= 0).all() else 0.0)
    scores = scores + base if base.size else scores
    return tf.gather(tf.constant(labels), tf.argmax(scores, 1)), _finished(given, scores)
