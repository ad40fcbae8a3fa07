"""What programs and unit tests import from contrib's inner modules beside its public names."""

import functools
import importlib
import unittest

import numpy as np
import pytest
from absl.testing import parameterized

import tideflow as tf
from tideflow.contrib import integrate
from tideflow.contrib.factorization import matrix_estimator as wals_estimator
from tideflow.contrib.tensor_forest import eval_metrics
from tideflow.programs import modules
from tideflow.programs.inner.contrib import (
    checkpoint_conversion,
    debug_estimators,
    flattening,
    graph_editor_names,
    hidden_distributions,
    image_colors,
    layer_windows,
    sample_shapes,
    sampling_steps,
    scikit_names,
    sequence_names,
    sharded_tables,
    sparse_ids,
)
from tideflow.programs.inner.testing import cell_benchmarks, distribution_combinations, strategy_combinations


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def value(fetches, feeds=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feeds)


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("opt.python.training.elastic_average_optimizer", "LOCAL_VARIABLE_NAME"),
        ("layers.python.layers.layers", "poincare_normalize"),
        ("layers.python.layers.embedding_ops", "_sampled_scattered_embedding_lookup_sparse"),
        ("seq2seq.python.ops.sampler", "GreedyEmbeddingSampler"),
        ("seq2seq.python.ops.beam_search_decoder", "_beam_search_step"),
        ("factorization.python.ops.gen_factorization_ops", "wals_compute_partial_lhs_and_rhs"),
        ("tensor_forest.python.ops.gen_model_ops", "tree_size"),
        ("labeled_tensor.python.ops.nn", "relu"),
        ("training.python.training.hparam_pb2", "HParamDef"),
        ("session_bundle.constants", "SIGNATURES_KEY"),
        ("learn.python.learn.estimators.dnn_linear_combined", "_dnn_linear_combined_model_fn"),
        ("cudnn_rnn.python.ops.cudnn_rnn_ops", "check_direction"),
        ("layers.python.layers.layers", "_inner_flatten"),
        ("training.python.training.sequence_queueing_state_saver", "_padding"),
        ("distributions.python.ops.shape", "_DistributionShape"),
        ("distributions.python.ops.gumbel", "_Gumbel"),
        ("distributions.python.ops.vector_student_t", "_VectorStudentT"),
        ("image.python.ops.sparse_image_warp", "_get_boundary_locations"),
        ("opt.python.training.weight_decay_optimizers", "ShampooWOptimizer"),
        ("quantize.python.quantize_graph", "_check_for_training_ops"),
        ("batching.python.ops.batch_ops", "batch_function_v1"),
        ("learn.python.learn.estimators.test_data", "iris_input_logistic_fn"),
        ("factorization.python.ops.factorization_ops_test_utils", "INPUT_MATRIX"),
        ("slim.python.slim.data.test_utils", "create_tfrecord_files"),
        ("seq2seq.python.ops.attention_wrapper", "BahdanauAttentionV2"),
        ("reduce_slice_ops.python.ops.reduce_slice_ops", "reduce_slice_sum"),
        ("reduce_slice_ops.ops.gen_reduce_slice_ops", "reduce_slice_max"),
        ("receptive_field.receptive_field_api", "compute_receptive_field_from_graph_def"),
        ("recurrent.python.recurrent_api", "functional_rnn"),
        ("quantization.python.array_ops", "quantized_concat"),
        ("rnn.python.kernel_tests.benchmarking", "seconds_per_run"),
        ("tensor_forest.client.eval_metrics", "_accuracy"),
        ("linear_optimizer.python.ops.sharded_mutable_dense_hashtable", "ShardedMutableDenseHashTable"),
        ("tpu.python.tpu.datasets", "StreamingFilesDataset"),
        ("learn.python.learn.datasets.base", "maybe_download"),
        ("learn.python.learn.estimators._sklearn", "NotFittedError"),
    ],
)
def test_inner_modules_have_their_names(module, name):
    assert modules.is_module(f"contrib.{module}")
    assert modules.look_up(f"contrib.{module}", name) is not None


def test_parts_without_names_of_their_own_are_packages():
    for part in ("quantization", "reduce_slice_ops"):
        assert modules.is_module(f"contrib.{part}")
        assert modules.is_module(f"contrib.{part}.python")


def test_stand_ins_of_scikit_learn_divide_and_score():
    rows, squares = np.arange(8), np.arange(8) ** 2
    train, test, train_squares, _ = scikit_names.train_test_split(
        rows, squares, test_size=0.25, random_state=1
    )
    assert sorted([*train, *test]) == list(rows) and len(test) == 2
    np.testing.assert_array_equal(train**2, train_squares)
    assert scikit_names.accuracy_score(rows, np.where(rows < 4, rows, 0)) == 0.5
    assert scikit_names.mean_squared_error(rows[:, None], rows + 2) == 4


def test_forests_count_targets_among_the_first_predictions():
    likely = tf.constant([[0.1, 0.2, 0.6, 0.3], [0.1, 0.05, 0.7, 0.15], [0.7, 0.1, 0.2, 0.0]])
    targets = tf.constant([[2], [3], [3]])
    updates = [eval_metrics._top_k_generator(k)(likely, targets)[1] for k in (1, 2, 4)]
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        np.testing.assert_allclose(session.run(updates), [1 / 3, 2 / 3, 1.0], rtol=1e-6)


def test_keys_are_shared_between_tables():
    make = sharded_tables.ShardedMutableDenseHashTable
    for shards in (1, 3):
        table = make(tf.int64, tf.float32, [-1.0, 0.0], empty_key=0, deleted_key=-2, num_shards=shards)
        keys = tf.constant([11, 12, 14], tf.int64)
        insert = table.insert(keys, tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
        found = table.lookup(tf.constant([14, 15, 11], tf.int64))
        assert len(table.table_shards) == shards and found.shape.as_list() == [3, 2]
        with tf.Session() as session:
            session.run(insert)
            np.testing.assert_array_equal(session.run(found), [[5.0, 6.0], [-1.0, 0.0], [1.0, 2.0]])
            assert session.run(table.size()) == 3
            exported, _ = session.run(table.export_sharded())
            assert sorted(key for part in exported for key in part if key > 0) == [11, 12, 14]
    with pytest.raises(TypeError, match="Signature mismatch"):
        table.lookup(tf.constant([1]))
    with pytest.raises(ValueError, match="Key shape must be fully defined"):
        table.lookup(tf.placeholder(tf.int64, [None]))
    with pytest.raises(ValueError, match="Expected a vector or matrix for keys"):
        table.lookup(tf.constant(1, tf.int64))


def test_choices_are_those_of_all_keys():
    assert list(cell_benchmarks.dict_product({"a": [1, 2], "b": [3]})) == [{"a": 1, "b": 3}, {"a": 2, "b": 3}]
    with cell_benchmarks.device(), tf.Session() as session:
        assert cell_benchmarks.seconds_per_run(tf.constant(1), session, num_runs=1) > 0


def test_steps_of_equation_solvers():
    y = lambda x: x**4 - 2 * x**2 + 5
    slope = lambda x: 4 * x**3 - 4 * x
    coefficients = integrate._interp_fit(y(0.0), y(10.0), y(5.0), slope(0.0), slope(10.0), 10.0)
    at = functools.partial(integrate._interp_evaluate, coefficients, 0.0, 10.0)
    np.testing.assert_allclose(value([at(0.0), at(3.0)]), [y(0.0), y(3.0)], rtol=1e-5)
    with pytest.raises(tf.errors.InvalidArgumentError, match="invalid interpolation"):
        value(at(11.0))
    sizes = [integrate._optimal_step_size(tf.constant(1.0), tf.constant(ratio)) for ratio in (0.0, 1.0, 1e6)]
    np.testing.assert_allclose(value(sizes), [10.0, 0.9, 0.2], rtol=1e-6)


def test_layer_parameters_are_those_of_the_node(graph):
    image = tf.placeholder(tf.float32, [1, None, None, 1])
    tf.contrib.slim.conv2d(image, 1, [5, 3], stride=4, scope="conv", padding="VALID")
    nodes = layer_windows.parse_graph_nodes(graph.as_graph_def())
    assert layer_windows.get_layer_params(nodes["conv/Conv2D"], nodes) == (3, 5, 4, 4, 0, 0, 0, 0)
    unknown = nodes["conv/weights/Assign"]
    assert layer_windows.get_layer_params(unknown, nodes, force=True) == (None,) * 8
    with pytest.raises(ValueError, match="Unknown layer for operation 'conv/weights/Assign'"):
        layer_windows.get_layer_params(unknown, nodes)


def test_names_of_other_op_types_are_missing():
    with pytest.raises(modules.Missing):
        modules.look_up("contrib.image.ops.gen_image_ops", "no_such_op")


def test_zeros_are_left_out_of_sparse_tensors():
    made = value(sparse_ids.dense_to_sparse_tensor([[0, 3], [5, 0]]))
    assert made.indices.tolist() == [[0, 1], [1, 0]] and made.values.tolist() == [3, 5]


def test_indicators_move_to_the_start_of_their_row():
    made = value(sparse_ids.indicators_to_sparse_ids([[0, 1, 0, 1], [0, 0, 0, 0]]))
    assert made.values.tolist() == [1, 3] and made.dense_shape.tolist() == [2, 2]


def test_a_row_without_elements_ends_at_its_start():
    rows = tf.SparseTensor([[0, 0], [2, 2]], [1, 1], [3, 3])
    assert value(sparse_ids.sparse_row_envelope(rows)).tolist() == [1, 0, 3]
    with pytest.raises(ValueError, match="Row and column can not be the same axis"):
        sparse_ids.sparse_row_envelope(rows, 1, 1)


def test_gray_stays_gray_however_colours_turn():
    gray = np.full([1, 2, 2, 3], 0.5, np.float32)
    np.testing.assert_allclose(value(image_colors.adjust_hsv_in_yiq(gray, 1.0, 0.3)), gray, atol=1e-3)
    with pytest.raises(ValueError, match="lower_value must be < upper_value"):
        image_colors.random_hsv_in_yiq(gray, lower_value=2)


def test_acceptance_is_one_for_the_class_that_is_wanted_most():
    rates = sampling_steps._calculate_acceptance_probabilities(
        tf.constant([0.5, 0.5]), tf.constant([0.2, 0.8])
    )
    np.testing.assert_allclose(value(rates), [0.25, 1.0])


def test_a_graph_is_searched_for_the_same_element(graph):
    with tf.name_scope("new"):
        there = tf.constant(1, name="a")
    here = tf.constant(1, name="a")
    assert graph_editor_names.find_corresponding_elem(here, graph, dst_scope="new") is there
    with pytest.raises(ValueError, match="does not start with"):
        graph_editor_names.find_corresponding_elem(here, graph, src_scope="old")


def test_old_checkpoints_of_cells_get_new_names(tmp_path):
    tf.get_variable("rnn/lstm_cell/weights", initializer=[1.0, 2.0])
    tf.get_variable("other", initializer=3.0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, str(tmp_path / "old"))
    _, changed = checkpoint_conversion.convert_names(str(tmp_path / "old"), str(tmp_path / "new"))
    assert changed == {"rnn/lstm_cell/weights": "rnn/lstm_cell/kernel"}
    assert tf.train.load_variable(str(tmp_path / "new"), "rnn/lstm_cell/kernel").tolist() == [1.0, 2.0]


def test_a_debug_model_wants_features():
    with pytest.raises(ValueError, match="Features cannot be empty"):
        debug_estimators.debug_model_fn({}, None, "train", {"head": None})


def test_a_combination_hands_the_strategy_to_the_test():
    got = []

    class Tests(parameterized.TestCase):
        @distribution_combinations.generate(
            distribution_combinations.combine(
                distribution=[
                    strategy_combinations.one_device_strategy,
                    strategy_combinations.tpu_strategy,
                ],
                mode=["graph"],
            )
        )
        def test_it(self, distribution):
            got.append(distribution)

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Tests).run(result)
    assert [strategy.num_replicas_in_sync for strategy in got] == [1] and not result.errors
    assert [reason.strip(" -") for _, reason in result.skipped] == [
        "Test requires a TPU, but it's not available."
    ]


def test_hyperparameters_are_messages_and_back():
    given = tf.contrib.training.HParams(a=1, b=2.5, c="x", d=True, e=[1, 2], f=["p"])
    message = given.to_proto()
    assert tf.contrib.training.HParams.from_proto(message).values() == given.values()
    with pytest.raises(ValueError, match="mutually exclusive"):
        tf.contrib.training.HParams(hparam_def=message, a=2)


def test_importing_a_module_finds_what_is_listed():
    from tideflow.programs import finder

    finder.install()
    tool = importlib.import_module("tensorflow.contrib.rnn.python.tools.checkpoint_convert")
    assert tool.RNN_NAME_REPLACEMENTS["gru_cell/gates/weights"] == "gru_cell/gates/kernel"


def test_sweeps_are_prepared_once_each():
    flags = [tf.Variable(False) for _ in range(4)]
    prepare, train, switch, init = (tf.assign(flag, True) for flag in flags)
    is_row, is_done = tf.Variable(True), tf.Variable(False)
    hook = wals_estimator._SweepHook(is_row, is_done, init, [prepare], [], train, train, switch)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        arguments = hook.before_run(tf.train.SessionRunContext(None, session))
        assert arguments.fetches == [train]
        assert session.run(flags) == [True, False, False, True]
        session.run(tf.assign(is_done, True))
        hook.before_run(tf.train.SessionRunContext(None, session))
        assert session.run(flags) == [True, False, True, True]


def test_sparse_context_is_in_the_first_step_of_each_piece():
    contexts = {"sparse": tf.SparseTensor([[0], [2]], [5, 6], [3]), "dense": tf.constant(1)}
    sequences = {"steps": tf.zeros([4, 2])}
    sequence_names._move_sparse_tensor_out_context(contexts, sequences, 2)
    assert list(contexts) == ["dense"]
    found = value(sequences["_context_in_seq_sparse"])
    assert found.indices.tolist() == [[0, 0], [0, 2], [2, 0], [2, 2]]
    assert found.dense_shape.tolist() == [4, 3]


def test_the_axes_of_samples_batch_and_event():
    x = tf.constant(np.arange(24.0).reshape(4, 3, 2))
    for batch, event in ((0, 0), (1, 1), (2, 1)):
        for counts in ((batch, event), tuple(tf.placeholder_with_default(n, []) for n in (batch, event))):
            shape = sample_shapes._DistributionShape(*counts, validate_args=True)
            matrices, samples = shape.make_batch_of_event_sample_matrices(x)
            again = shape.undo_make_batch_of_event_sample_matrices(matrices, samples)
            dims = value([again, *shape.get_dims(x)])
            assert np.array_equal(dims[0], np.arange(24.0).reshape(4, 3, 2))
            assert np.concatenate(dims[1:]).tolist() == [0, 1, 2]
            assert [len(part) for part in dims[2:]] == [batch, event]
    with pytest.raises(ValueError, match=r"expected batch_ndims\(2\) \+ event_ndims\(2\) <= ndims\(3\)"):
        sample_shapes._DistributionShape(2, 2).get_sample_ndims(x)


def test_hidden_distributions_have_densities():
    gumbel = hidden_distributions._Gumbel(0.0, 1.0)
    student = hidden_distributions._VectorStudentT(df=3.0, loc=[0.0, 0.0], scale_diag=[1.0, 2.0])
    alone = tf.distributions.StudentT(3.0, 0.0, 1.0)
    found = value([gumbel.prob(0.0), gumbel.cdf(0.0), student.prob([0.0, 0.0]), alone.prob(0.0)])
    assert found[:2] == pytest.approx([np.exp(-1.0)] * 2)
    assert found[2] == pytest.approx(found[3] ** 2 / 2)


def test_the_last_axes_are_made_one():
    x = tf.placeholder(tf.float32, [2, None, 4, 5])
    assert flattening._inner_flatten(x, 3).shape.as_list() == [2, None, 20]
    sparse = flattening._inner_flatten(tf.SparseTensor([[1, 2, 3]], [1.0], [2, 3, 4]), 2)
    assert value(sparse).indices.tolist() == [[1, 11]]
    with pytest.raises(ValueError, match="inputs has rank less than new_rank"):
        flattening._inner_flatten(x, 5)
