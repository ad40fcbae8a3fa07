"""Tree ensembles: grown in a graph and eagerly, kept in files, asked for logits; misfits are refused."""

import subprocess
import sys

import numpy as np
import pytest

import tideflow as tf
from tideflow.graph.boosted_trees_proto import TreeEnsemble

raw = tf.raw_ops
FEATURES = [[0, 1, 2, 3], [3, 0, 2, 1]]


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def on(handle, name, **inputs):
    return getattr(raw, f"BoostedTrees{name}")(tree_ensemble_handle=handle, **inputs)


def made(session, serialized=b""):
    handle = raw.BoostedTreesEnsembleResourceHandleOp()
    session.run(on(handle, "CreateEnsemble", stamp_token=np.int64(0), tree_ensemble_serialized=serialized))
    return handle


def candidates(rows, logits=1):
    """The inputs of an update by one list of rows: feature, dimension, node, gain, threshold, left, right."""
    features, dimensions, nodes, gains, thresholds, left, right = zip(*rows, strict=True)
    kinds = ["INEQUALITY_DEFAULT_LEFT"] * len(rows)
    columns = {"dimension_ids": dimensions, "node_ids": nodes, "gains": np.float32(gains)}
    columns |= {"thresholds": thresholds, "split_types": kinds}
    columns |= {"left_node_contribs": np.float32(left), "right_node_contribs": np.float32(right)}
    lists = {name: [column] for name, column in columns.items()}
    return {**lists, "feature_ids": [features], "logits_dimension": logits}


def grow(session, handle, rows, logits=1, max_depth=2, pruning=0):
    update = on(
        handle,
        "UpdateEnsembleV2",
        **candidates(rows, logits),
        max_depth=max_depth,
        learning_rate=1.0,
        pruning_mode=pruning,
    )
    session.run(update)


def predicted(session, handle, features=FEATURES, logits=1):
    return session.run(on(handle, "Predict", bucketized_features=features, logits_dimension=logits)).tolist()


def test_several_logits_and_dimensions(session):
    handle = made(session)
    grow(session, handle, [(0, 0, 0, 0.5, 1, [1, 2], [3, 4])], logits=2)
    features = [tf.placeholder_with_default(np.int32([[0, 3], [1, 0], [2, 3], [3, 1]]), None)]
    assert predicted(session, handle, features, 2) == [[1, 2], [1, 2], [3, 4], [3, 4]]
    grow(session, handle, [(0, 1, 1, 0.5, 2, [1, 1], [0, 0]), (0, 1, 2, 1.0, 1, [2, 2], [0, 0])], logits=2)
    assert predicted(session, handle, features, 2) == [[1, 2], [2, 3], [3, 4], [5, 6]]
    found = session.run(
        on(
            handle,
            "TrainingPredict",
            cached_tree_ids=[0, 0, 1, 0],
            cached_node_ids=[1, -1, 0, 2],
            bucketized_features=features,
            logits_dimension=2,
        )
    )
    assert found.partial_logits.tolist() == [[0, 0], [2, 3], [0, 0], [2, 2]]
    assert found.tree_ids.tolist() == [1] * 4 and found.node_ids.tolist() == [0] * 4


def test_a_whole_tree_may_be_pruned(session):
    handle = made(session)
    grow(session, handle, [(0, 0, 0, -0.5, 1, [1], [3])], pruning=2)
    grow(session, handle, [(1, 0, 1, -0.5, 1, [1], [3]), (1, 0, 2, -1.0, 1, [1], [3])], pruning=2)
    assert predicted(session, handle) == [[0]] * 4
    found = session.run(
        on(
            handle,
            "TrainingPredict",
            cached_tree_ids=[0] * 4,
            cached_node_ids=[3, 4, 5, 6],
            bucketized_features=FEATURES,
            logits_dimension=1,
        )
    )
    assert found.partial_logits.tolist() == [[-2], [-4], [-4], [-6]]
    states = session.run(on(handle, "GetEnsembleStates"))
    assert (states.num_trees, states.num_finalized_trees, states.num_attempted_layers) == (2, 1, 2)
    assert states.last_layer_nodes_range.tolist() == [0, 1] and states.stamp_token == 2


def test_an_ensemble_is_read_back(session):
    handle = made(session)
    grow(session, handle, [(1, 0, 0, 0.5, 1, [1], [3])])
    stamp, serialized = session.run(on(handle, "SerializeEnsemble"))
    other = made(session)
    session.run(on(other, "DeserializeEnsemble", stamp_token=stamp, tree_ensemble_serialized=serialized))
    assert predicted(session, other) == predicted(session, handle) == [[3], [1], [3], [1]]


def test_eagerly():
    program = """
import numpy as np
import tideflow as tf
tf.enable_eager_execution()
raw = tf.raw_ops
handle = raw.BoostedTreesEnsembleResourceHandleOp()
raw.BoostedTreesCreateEnsemble(tree_ensemble_handle=handle, stamp_token=0, tree_ensemble_serialized="")
raw.BoostedTreesCenterBias(
    tree_ensemble_handle=handle, mean_gradients=[[1.0]], mean_hessians=[[2.0]], l1=0.0, l2=0.0)
logits = raw.BoostedTreesPredict(
    tree_ensemble_handle=handle, bucketized_features=[[1, 2]], logits_dimension=1)
print(logits.numpy().tolist())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[[-0.5], [-0.5]]", done.stderr


def _cycle():
    ensemble = TreeEnsemble(tree_weights=[1.0])
    ensemble.trees.add().nodes.add().bucketized_split.feature_id = 0
    return ensemble.SerializeToString()


@pytest.mark.parametrize("serialized", [b"xyz", _cycle(), TreeEnsemble(trees=[{}]).SerializeToString()])
def test_a_message_that_is_no_ensemble_is_refused(session, serialized):
    with pytest.raises(tf.errors.InvalidArgumentError, match="Unable to parse tree ensemble proto"):
        made(session, serialized)


def _one_split():
    ensemble = TreeEnsemble(tree_weights=[1.0], tree_metadata=[{}])
    nodes = ensemble.trees.add().nodes
    nodes.add().bucketized_split.feature_id = 5
    nodes[0].bucketized_split.left_id, nodes[0].bucketized_split.right_id = 1, 2
    for logit in (1.0, 2.0):
        nodes.add().leaf.scalar = logit
    return ensemble.SerializeToString()


CACHE = {"cached_tree_ids": [0, 0], "cached_node_ids": [0, 0]}
BAD = {
    "a feature that is not there": ("Predict", {}, "is not among the 1 bucketized_features"),
    "features of two sizes": ("Predict", {"bucketized_features": [[1, 2], [3]]}, "must have one size"),
    "no logits": ("Predict", {"logits_dimension": 0}, "logits_dimension must be positive"),
    "a cached tree": ("TrainingPredict", {**CACHE, "cached_tree_ids": [0, 1]}, "cached_tree_ids must be in"),
    "a cached node": ("TrainingPredict", {**CACHE, "cached_node_ids": [0, 3]}, "must be below 3"),
    "a cache of another size": ("TrainingPredict", {**CACHE, "cached_node_ids": [0]}, "for each of 2"),
    "two logits explained": ("ExampleDebugOutputs", {"logits_dimension": 2}, "one dimensional outputs"),
}


@pytest.mark.parametrize("case", BAD)
def test_examples_that_do_not_fit_are_refused(session, case):
    name, inputs, message = BAD[case]
    given = {"bucketized_features": [[1, 2]], "logits_dimension": 1, **inputs}
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(on(made(session, _one_split()), name, **given))


@pytest.mark.parametrize("node", [-1, 0, 3])
def test_only_leaves_are_split(session, node):
    handle = made(session, _one_split())
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"Node {node} is not a leaf"):
        grow(session, handle, [(0, 0, node, 1.0, 1, [1], [2])])


def test_candidates_must_be_of_one_number(session):
    handle = made(session)
    inputs = candidates([(0, 0, 0, 1.0, 1, [1], [2])])
    rest = {"max_depth": 1, "learning_rate": 1.0, "pruning_mode": 0}
    for name, bad, message in [
        ("gains", [np.zeros(2, "f")], "must come with one gain"),
        ("left_node_contribs", [np.zeros((2, 1), "f")], "must have a row for each of 1"),
        ("split_types", [["SIDEWAYS"]], "split_types must be of"),
        ("logits_dimension", 3, "There must be 3 contributions"),
    ]:
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            session.run(on(handle, "UpdateEnsembleV2", **{**inputs, name: bad}, **rest))
