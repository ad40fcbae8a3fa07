"""Forests: trees and statistics behind handles, random integers, parameters by depth, files, refusals."""

import numpy as np
import pytest

import tideflow as tf
from tideflow.graph.forest_proto import Model, TensorForestParams
from tideflow.ops.forests import arrays, statistics, trees
from tideflow.runtime.forest_data import Examples, InputSpec, RandomIntegers, of_depth
from tideflow.train.resource_registry import initialize_resources, shared_resources

forests = tf.contrib.tensor_forest


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


@pytest.fixture
def session(graph):
    with tf.Session() as session:
        yield session


def params(**options):
    given = {"num_trees": 1, "num_classes": 2, "num_features": 2, "base_random_seed": 1}
    given |= {"split_after_samples": 10, "num_splits_to_consider": 6}
    return forests.tensor_forest.ForestHParams(**given | options).fill()


def points(count=60):
    chance = np.random.default_rng(0)
    data = chance.normal(size=(count, 2)).astype(np.float32)
    return data, (data[:, 0] > 0).astype(np.float32)


def trained(session, options, data, labels, steps=20):
    forest = forests.tensor_forest.RandomForestGraphs(options)
    step = forest.training_graph(data, labels)
    session.run([tf.global_variables_initializer(), initialize_resources(shared_resources())])
    for _ in range(steps):
        session.run(step)
    return forest


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"model_name": "sparse_then_dense"},
        {"model_name": "all_sparse", "num_classes": 5},
        {"split_pruning_name": "quarter"},
        {"split_pruning_name": "hoeffding", "prune_every_samples": 5},
        {"collate_examples": True},
    ],
)
def test_a_forest_tells_two_classes_apart(session, options):
    data, labels = points()
    forest = trained(session, params(**options), data, labels)
    found, paths, _ = session.run(forest.inference_graph(data))
    assert (found.argmax(1) == labels).mean() > 0.9
    assert found.sum(1) == pytest.approx(np.ones(60), abs=1e-6)
    assert paths.shape == (0, 1)
    assert session.run(forest.average_size()) >= 3
    assert session.run(forest.feature_importances())[0] > 0.2


@pytest.mark.parametrize("finish", ["bootstrap", "hoeffding"])
def test_leaves_may_finish_early(session, finish, tmp_path):
    (tmp_path / "params").write_text("min_split_samples { constant_value: 5 }")
    options = params(
        split_finish_name=finish,
        split_after_samples=100_000,
        early_finish_check_every_samples=20,
        num_splits_to_consider=2,
        dominate_fraction=0.2,
        param_file=str(tmp_path / "params"),
    )
    forest = trained(session, options, *points(), steps=20)
    assert session.run(forest.average_size()) >= 3


def test_leaves_that_may_finish_early_say_what_is_missing(session):
    with pytest.raises(tf.errors.InvalidArgumentError, match="min_split_samples required for early-finish"):
        trained(session, params(split_finish_name="bootstrap"), *points())


def test_a_regression_has_means_in_its_leaves(session):
    data, labels = points()
    options = params(num_classes=1, regression=True)
    forest = trained(session, options, data, 5 * labels + 1)
    found, _, _ = session.run(forest.inference_graph(data))
    assert np.abs(found[:, 0] - (5 * labels + 1)).mean() < 0.5


def test_weights_count(session):
    data, labels = points()
    forest = forests.tensor_forest.RandomForestGraphs(params(split_after_samples=1000))
    step = forest.training_graph(data, labels, input_weights=tf.constant(1.0 + 9 * labels))
    session.run([tf.global_variables_initializer(), initialize_resources(shared_resources())])
    session.run(step)
    share = 10 * labels.sum() / (60 + 9 * labels.sum())
    assert session.run(forest.inference_graph(data[:1]))[0][0, 1] == pytest.approx(share)


def test_each_tree_may_see_a_part_of_examples_and_features(session):
    data, labels = points()
    options = params(num_trees=3, num_features=4, bagging_fraction=0.5, feature_bagging_fraction=0.5)
    forest = trained(session, options, np.concatenate([data, data], 1), labels)
    assert session.run(forest.average_size()) > 1
    sparse = tf.SparseTensor([[0, 0]], [1.0], [1, 2])
    for refused in (params(bagging_fraction=0.5), params(feature_bagging_fraction=0.5)):
        with (
            tf.variable_scope(None, "other"),
            pytest.raises(NotImplementedError, match="agging not supported"),
        ):
            forests.tensor_forest.RandomForestGraphs(refused).training_graph(sparse, tf.zeros([1]))


def test_trees_are_what_checkpoints_of_tensorflow_have(session):
    forest = trained(session, params(), *points())
    model = Model.FromString(session.run(trees.serialize_tree_op(forest.variables[0].tree)))
    root, left = model.decision_tree.nodes[:2]
    assert root.binary_node.left_child_id.value == 1 and root.binary_node.right_child_id.value == 2
    assert root.binary_node.inequality_left_child_test.feature_id.id.value in ("0", "1")
    assert left.node_id.value == 1
    config = model.SerializeToString()
    with tf.variable_scope("again"):
        same = forests.tensor_forest.RandomForestGraphs(params(), tree_configs=[config], training=False)
    session.run(initialize_resources(shared_resources()[-1:]))
    data, _ = points(7)
    first, second = (session.run(f.inference_graph(data)[0]) for f in (forest, same))
    np.testing.assert_array_equal(first, second)


def test_what_is_not_there_or_wrong_is_refused(session):
    options = params()
    forest = forests.tensor_forest.RandomForestGraphs(options)
    tree, stats = forest.variables[0].tree, forest.variables[0].stats
    with pytest.raises(tf.errors.NotFoundError, match="DecisionTreeResourceE does not exist"):
        session.run(forest.average_size())
    with pytest.raises(tf.errors.NotFoundError, match="FertileStatsResourceE does not exist"):
        session.run(statistics.serialize_stats_op(stats, params=options.serialized_params_proto))
    for op, handle in ((trees.create_tree_op, tree), (statistics.create_stats_op, stats)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Unable to parse"):
            session.run(op(handle, b"\xff\xff", params=options.serialized_params_proto))
    session.run(initialize_resources(shared_resources()))
    with pytest.raises(tf.errors.InvalidArgumentError, match="labels must be from 0 to 1"):
        session.run(forest.training_graph(np.zeros((1, 2), np.float32), [2.0]))
    with pytest.raises(tf.errors.UnimplementedError, match="FinalizeTreeOp is disabled"):
        session.run(forests.stats_ops.finalize_tree(tree, stats, params=options.serialized_params_proto))
    with pytest.raises(tf.errors.InvalidArgumentError, match="within the shape"):
        variable = tf.Variable(tf.zeros([2, 2]))
        session.run(variable.initializer)
        session.run(arrays.scatter_add_ndim_op(variable, [[0, 2]], [1.0]))


def test_random_integers_are_those_of_tensorflow():
    numbers = RandomIntegers(42)
    assert [numbers.below(7) for _ in range(12)] == [1, 1, 4, 2, 0, 6, 5, 1, 3, 5, 1, 6]
    assert {RandomIntegers(0).below(4) for _ in range(100)} == {0, 1, 2, 3}


def test_parameters_depend_on_the_depth():
    def at(text, depth):
        message = TensorForestParams().split_after_samples
        forests.tensor_forest.parse_number_or_string_to_proto(message, text)
        return of_depth(message, depth)

    assert at(7, 3) == 7 and at("12", 3) == 12
    linear = "linear { slope: 2 y_intercept: 1 min_val: 3 max_val: 8 }"
    assert [at(linear, depth) for depth in (0, 2, 9)] == [3, 5, 8]
    assert at("exponential { bias: 1 base: 2 multiplier: 3 depth_multiplier: 1 }", 2) == 13
    assert [at("threshold { on_value: 5 off_value: 9 threshold: 2 }", depth) for depth in (1, 2)] == [9, 5]


def test_examples_are_dense_and_sparse():
    spec = InputSpec.parse(
        b"dense_features_size: 2 dense: [{name: a original_type: 0 size: 1}{name: b "
        b"original_type: 1 size: 1}] sparse: [{name: s original_type: 1 size: -1}]"
    )
    assert spec == InputSpec([0, 1], 1)
    dense = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
    sparse = np.array([[1, 0], [1, 5]]), np.array([7.0, 8.0], np.float32), np.array([2, 6])
    examples = Examples(dense, *sparse, spec)
    found = examples.at(np.array([0, 1, 0, 1, 1, 1]), np.array([0, 1, 2, 2, 7, 99]))
    assert found.tolist() == [1, 4, 0, 7, 8, 0]
