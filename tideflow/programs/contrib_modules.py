"""The modules below `tensorflow.contrib` that are not public, and where Tideflow keeps what is in each.

Programs, and tests more than they, import contrib's functions from the files that define them. A row is a
package of TensorFlow's, the places where its modules' names are looked up, in order, and the modules; the
packages above one that is listed are there too, and have what contrib shows under their name.
"""

from __future__ import annotations

_OPS = "python.ops"  # where most parts of contrib keep their functions
_WITHOUT_NAMES = {"quantization", "reduce_slice_ops"}  # parts whose own package shows nothing

# (a part of contrib, a package in it, places, modules). "." is the part's own public namespace.
_ROWS: list[tuple[str, str, str, str]] = [
    ("batching", _OPS, ". inner.contrib.batch_names", "batch_ops"),
    (
        "bayesflow",
        _OPS,
        "tf.contrib.bayesflow.monte_carlo tideflow.contrib.monte_carlo",
        "monte_carlo monte_carlo_impl",
    ),
    ("checkpoint", "python", ".", "containers python_state split_dependency visualize"),
    (
        "cluster_resolver",
        "python.training",
        ".",
        "cluster_resolver gce_cluster_resolver kubernetes_cluster_resolver slurm_cluster_resolver "
        "tfconfig_cluster_resolver",
    ),
    (
        "constrained_optimization",
        "python",
        ". tideflow.contrib.constrained_optimization inner.contrib.constraint_steps",
        "candidates constrained_minimization_problem constrained_optimizer external_regret_optimizer "
        "swap_regret_optimizer",
    ),
    ("copy_graph", "python.util", ".", "copy_elements"),
    ("crf", _OPS, ". tideflow.contrib.crf", "crf"),
    (
        "cudnn_rnn",
        "python.layers",
        ". tideflow.contrib.cudnn_rnn.layers inner.contrib.cudnn_names",
        "cudnn_rnn",
    ),
    ("cudnn_rnn", _OPS, ". tideflow.contrib.cudnn_rnn.converters inner.contrib.cudnn_names", "cudnn_rnn_ops"),
    (
        "data",
        _OPS,
        ". tf.data.experimental",
        "batching counter enumerate_ops error_ops get_single_element grouping interleave_ops iterator_ops "
        "parsing_ops prefetching_ops random_ops readers resampling scan_ops shuffle_ops sliding threadpool "
        "unique writers",
    ),
    (
        "distribute",
        "python",
        ". tideflow.distribute.mirrored",
        "collective_all_reduce_strategy mirrored_strategy monitor one_device_strategy "
        "parameter_server_strategy",
    ),
    (
        "distributions",
        _OPS,
        ". tf.distributions tideflow.contrib.distributions.tools inner.contrib.hidden_distributions "
        "inner.contrib.sample_shapes",
        "autoregressive batch_reshape binomial cauchy chi2 conditional_distribution "
        "conditional_transformed_distribution deterministic distribution_util estimator geometric gumbel "
        "half_normal independent inverse_gamma kumaraswamy logistic mixture mixture_same_family moving_stats "
        "mvn_diag mvn_diag_plus_low_rank mvn_full_covariance mvn_linear_operator mvn_tril negative_binomial "
        "normal_conjugate_posteriors onehot_categorical poisson poisson_lognormal quantized_distribution "
        "relaxed_bernoulli relaxed_onehot_categorical sample_stats seed_stream shape sinh_arcsinh "
        "statistical_testing test_util vector_diffeomixture vector_exponential_diag "
        "vector_exponential_linear_operator vector_laplace_diag vector_laplace_linear_operator "
        "vector_sinh_arcsinh_diag vector_student_t wishart",
    ),
    (
        "distributions",
        "python.ops.bijectors",
        "tf.contrib.distributions.bijectors",
        "absolute_value affine affine_linear_operator affine_scalar batch_normalization chain "
        "cholesky_outer_product conditional_bijector exp fill_triangular gumbel inline invert kumaraswamy "
        "masked_autoregressive matrix_inverse_tril ordered permute power_transform real_nvp reshape "
        "scale_tril sigmoid sinh_arcsinh softmax_centered softplus softsign square transform_diagonal "
        "weibull",
    ),
    (
        "eager",
        "python",
        ". tf.contrib.eager.metrics tideflow.contrib.eager.metrics",
        "datasets metrics metrics_impl network saver tfe",
    ),
    (
        "estimator",
        "python.estimator",
        ".",
        "boosted_trees dnn_with_layer_annotations early_stopping export exporter extenders head hooks "
        "logit_fns multi_head replicate_model_fn rnn saved_model_estimator",
    ),
    (
        "factorization",
        _OPS,
        ". inner.contrib.clustering_names inner.contrib.sparse_matrices "
        "tideflow.contrib.factorization.mixtures tideflow.contrib.factorization.matrix_estimator",
        "clustering_ops factorization_ops factorization_ops_test_utils gmm gmm_ops kmeans wals",
    ),
    ("feature_column", "python.feature_column", ". tf.feature_column", "sequence_feature_column"),
    (
        "framework",
        "python.framework",
        ". tf.contrib.slim",
        "checkpoint_utils experimental graph_util tensor_util",
    ),
    (
        "framework",
        _OPS,
        ". tf tideflow.contrib.framework.argument_scopes tideflow.ops.control_flow.debugging",
        "arg_scope audio_ops checkpoint_ops ops prettyprint_ops script_ops sort_ops variables",
    ),
    ("fused_conv", _OPS, ".", "fused_conv2d_bias_activation_op"),
    ("gan", "python", ".", "namedtuples train"),
    ("gan", "python.eval", "tf.contrib.gan.eval", ""),
    ("gan", "python.features", "tf.contrib.gan.features", ""),
    ("gan", "python.losses", "tf.contrib.gan.losses", ""),
    ("grid_rnn", _OPS, ".", "grid_rnn_cell"),
    ("hooks", "python.training", ".", "profiler_hook"),
    (
        "image",
        _OPS,
        ". inner.contrib.image_colors inner.contrib.edge_points tideflow.contrib.image.warping",
        "dense_image_warp distort_image_ops image_ops interpolate_spline "
        "single_image_random_dot_stereograms sparse_image_warp",
    ),
    ("input_pipeline", _OPS, ".", "input_pipeline_ops"),
    ("integrate", _OPS, ". tideflow.contrib.integrate", "odes"),
    (
        "kernel_methods",
        "python",
        ". tideflow.contrib.kernel_methods",
        "kernel_estimators losses",
    ),
    (
        "kernel_methods",
        "python.mappers",
        ". tideflow.contrib.kernel_methods",
        "dense_kernel_mapper random_fourier_features",
    ),
    (
        "layers",
        "python.layers",
        ". tideflow.contrib.layers.columns.scattered tideflow.contrib.layers.pools "
        "tideflow.contrib.layers.optimization inner.contrib.layer_names inner.contrib.flattening "
        "inner.contrib.column_steps "
        "tf.contrib.slim",
        "embedding_ops encoders feature_column feature_column_ops initializers layers normalization "
        "optimizers regularizers rev_block_lib summaries target_column utils",
    ),
    (
        "layers",
        _OPS,
        ". inner.contrib.sparse_ids tf.contrib.slim tideflow.contrib.layers.arrangement",
        "bucketization_op sparse_feature_cross_op sparse_ops",
    ),
    (
        "learn",
        "python.learn",
        ". tf.train",
        "basic_session_run_hooks evaluable experiment export_strategy graph_actions learn_runner "
        "learn_runner_lib metric_spec models monitored_session monitors session_run_hook "
        "summary_writer_cache trainable",
    ),
    (
        "learn",
        "python.learn.datasets",
        "tf.contrib.learn.datasets tf.contrib.learn.datasets.synthetic tideflow.contrib.learn.datasets",
        "base mnist synthetic text_datasets",
    ),
    (
        "learn",
        "python.learn.estimators",
        ". tideflow.contrib.learn.run_config tideflow.contrib.learn.modes tideflow.contrib.learn.head "
        "inner.contrib.iris_models",
        "_sklearn composable_model constants debug dnn dnn_linear_combined dynamic_rnn_estimator estimator "
        "estimator_test_utils head kmeans linear logistic_regressor metric_key model_fn prediction_key "
        "rnn_common run_config state_saving_rnn_estimator svm tensor_signature test_data",
    ),
    (
        "learn",
        "python.learn.learn_io",
        "tf.contrib.learn.io inner.contrib.installed_libraries",
        "dask_io data_feeder generator_io graph_io numpy_io pandas_io",
    ),
    ("learn", "python.learn.ops", "tf.contrib.learn.ops", "embeddings_ops losses_ops seq2seq_ops"),
    (
        "learn",
        "python.learn.preprocessing",
        "tf.contrib.learn.preprocessing",
        "categorical categorical_vocabulary text",
    ),
    (
        "learn",
        "python.learn.utils",
        "tf.contrib.learn.utils",
        "export gc input_fn_utils inspect_checkpoint saved_model_export_utils",
    ),
    ("legacy_seq2seq", _OPS, ". tf.contrib.rnn tideflow.contrib.rnn.wrappers", "seq2seq"),
    ("libsvm", _OPS, ".", "libsvm_ops"),
    ("linear_optimizer", "python", ". tideflow.contrib.learn.linear", "sdca_estimator sdca_optimizer"),
    (
        "linear_optimizer",
        _OPS,
        ". inner.contrib.sharded_tables",
        "sdca_ops sharded_mutable_dense_hashtable sparse_feature_column",
    ),
    ("lookup", "", ".", "lookup_ops"),
    ("losses", "python.losses", ".", "loss_ops"),
    (
        "losses",
        "python.metric_learning",
        "tf.contrib.losses.metric_learning tideflow.contrib.metric_learning inner.train.clustering_names "
        "inner.contrib.installed_libraries",
        "metric_loss_ops",
    ),
    ("memory_stats", _OPS, ".", "memory_stats_ops"),
    ("metrics", "python.metrics", ".", "classification"),
    (
        "metrics",
        _OPS,
        ". inner.train.metric_names",
        "confusion_matrix_ops histogram_ops metric_ops set_ops",
    ),
    ("mixed_precision", "python", ".", "loss_scale_manager loss_scale_optimizer"),
    (
        "model_pruning",
        "python",
        ". tideflow.contrib.model_pruning.training_loop tideflow.contrib.model_pruning.masks "
        "tideflow.contrib.model_pruning.blocks",
        "learning pruning pruning_utils strip_pruning_vars_lib",
    ),
    (
        "model_pruning",
        "python.layers",
        ". tideflow.contrib.model_pruning.layers tideflow.contrib.model_pruning.masks",
        "core_layers layers rnn_cells",
    ),
    ("nearest_neighbor", _OPS, ".", "nearest_neighbor_ops"),
    (
        "nn",
        _OPS,
        ". inner.contrib.forward_gradients",
        "alpha_dropout cross_entropy fwd_gradients sampling_ops scaled_softplus",
    ),
    (
        "opt",
        "python.training",
        ". inner.contrib.optimizer_names",
        "adam_gs_optimizer adamax addsign agn_optimizer drop_stale_gradient_optimizer "
        "elastic_average_optimizer external_optimizer ggt lars_optimizer lazy_adam_gs_optimizer "
        "lazy_adam_optimizer matrix_functions model_average_optimizer moving_average_optimizer "
        "multitask_optimizer_wrapper nadam_optimizer powersign reg_adagrad_optimizer shampoo sign_decay "
        "variable_clipping_optimizer weight_decay_optimizers",
    ),
    ("periodic_resample", _OPS, ".", "periodic_resample_op"),
    (
        "predictor",
        "",
        ". tideflow.contrib.predictor inner.tools.graph_tools",
        "contrib_estimator_predictor core_estimator_predictor predictor predictor_factories "
        "saved_model_predictor",
    ),
    ("proto", _OPS, ".", "decode_proto_op encode_proto_op"),
    ("quantization", "python", "gen", "array_ops math_ops nn_ops"),
    (
        "quantize",
        "python",
        ". tideflow.contrib.quantize.passes tideflow.contrib.quantize.graph_matcher "
        "tideflow.contrib.quantize.patterns inner.contrib.quantize_names",
        "common fold_batch_norms graph_matcher input_to_ops quant_ops quantize quantize_graph",
    ),
    ("reduce_slice_ops", _OPS, "tideflow.ops.math.slice_reductions", "reduce_slice_ops"),
    ("resampler", _OPS, ".", "resampler_ops"),
    ("rnn", "ops", ".", ""),
    ("rnn", "python.kernel_tests", "inner.testing.cell_benchmarks", "benchmarking"),
    ("rnn", "python.tools", "inner.contrib.checkpoint_conversion", "checkpoint_convert"),
    (
        "rnn",
        _OPS,
        ". tf.nn.rnn_cell inner.contrib.cell_names",
        "core_rnn core_rnn_cell core_rnn_cell_impl fused_rnn_cell gru_ops lstm_ops rnn rnn_cell",
    ),
    (
        "saved_model",
        "python.saved_model",
        ". inner.tools.graph_tools tideflow.io.saved_models",
        "keras_saved_model reader",
    ),
    (
        "seq2seq",
        _OPS,
        ".",
        "attention_wrapper basic_decoder beam_search_decoder beam_search_ops decoder helper loss sampler",
    ),
    ("slim", "python.slim", ".", "evaluation learning model_analyzer queues summaries"),
    (
        "slim",
        "python.slim.data",
        ".",
        "data_decoder data_provider dataset dataset_data_provider parallel_reader prefetch_queue test_utils "
        "tfexample_decoder",
    ),
    (
        "slim",
        "python.slim.nets",
        "tf.contrib.slim.nets",
        "alexnet inception inception_v1 inception_v2 inception_v3 overfeat resnet_utils resnet_v1 resnet_v2 "
        "vgg",
    ),
    ("solvers", _OPS, "tf.contrib.solvers.util", "lanczos least_squares linear_equations util"),
    ("sparsemax", _OPS, ".", "sparsemax sparsemax_loss"),
    (
        "specs",
        "python",
        ". tideflow.contrib.specs.composition tideflow.contrib.specs.evaluation",
        "params_ops specs specs_lib specs_ops summaries",
    ),
    ("summary", "", ".", "summary"),
    (
        "tensor_forest",
        "client",
        "tf.contrib.tensor_forest.random_forest tf.contrib.tensor_forest.eval_metrics "
        "tideflow.contrib.tensor_forest.eval_metrics inner.contrib.forest_names",
        "eval_metrics random_forest",
    ),
    (
        "tensor_forest",
        "python",
        ". tf.contrib.tensor_forest.tensor_forest tideflow.contrib.tensor_forest.graphs",
        "tensor_forest",
    ),
    (
        "tensor_forest",
        _OPS,
        "tf.contrib.tensor_forest.data_ops tf.contrib.tensor_forest.model_ops "
        "tf.contrib.tensor_forest.stats_ops tf.contrib.tensor_forest.tensor_forest_ops "
        "inner.contrib.forest_names",
        "data_ops model_ops stats_ops tensor_forest_ops",
    ),
    ("testing", "python.framework", ".", "fake_summary_writer util_test"),
    ("text", _OPS, ".", "skip_gram_ops"),
    (
        "timeseries",
        "python.timeseries",
        ". tideflow.contrib.timeseries.models tideflow.contrib.timeseries.autoregression "
        "tideflow.contrib.timeseries.states tideflow.contrib.timeseries.estimators "
        "tideflow.contrib.timeseries.keys tideflow.contrib.timeseries.saved_model_utils "
        "tideflow.contrib.timeseries.readers tideflow.contrib.timeseries.heads "
        "tideflow.contrib.timeseries.statistics tideflow.contrib.timeseries.matrices "
        "tideflow.contrib.timeseries.densities inner.contrib.series_math",
        "ar_model estimators feature_keys head input_pipeline math_utils model model_utils saved_model_utils "
        "state_management",
    ),
    (
        "tpu",
        "python.tpu",
        ". tf.tpu tf.estimator.tpu tideflow.contrib.tpu.replicas tideflow.contrib.tpu.topology "
        "tideflow.contrib.tpu.streaming",
        "async_checkpoint bfloat16 datasets device_assignment functional keras_support tpu tpu_config "
        "tpu_estimator topology tpu_context tpu_feed tpu_function tpu_optimizer tpu_sharding training_loop",
    ),
    ("tpu", _OPS, ".", "tpu_ops"),
    (
        "training",
        "python.training",
        ". tideflow.contrib.training.hyperparameters tideflow.contrib.training.hparam_pb2 "
        "inner.contrib.sampling_steps inner.contrib.sequence_names",
        "bucket_ops device_setter evaluation feeding_queue_runner hparam hparam_pb2 resample sampling_ops "
        "sequence_queueing_state_saver training tuner",
    ),
    (
        "labeled_tensor",
        _OPS,
        ". tideflow.contrib.labeled_tensor.layout tideflow.contrib.labeled_tensor.tensors "
        "inner.contrib.labeled_tensor_names",
        "core io_ops nn ops sugar",
    ),
    (
        "optimizer_v2",
        "",
        ". tideflow.contrib.optimizer_v2.base",
        "adadelta adagrad adam gradient_descent momentum optimizer_v2 optimizer_v2_symbols rmsprop",
    ),
    (
        "receptive_field",
        "python.util",
        ". tideflow.contrib.receptive_field inner.contrib.layer_windows",
        "graph_compute_order parse_layer_parameters receptive_field",
    ),
    ("receptive_field", "", ".", "receptive_field_api"),
    ("recurrent", "python", ".", "recurrent_api"),
    ("recurrent", _OPS, ". tideflow.contrib.recurrent", "functional_rnn recurrent"),
    ("util", "", ". tf", "loader"),
    *(
        (part, "ops", ".", "")  # with the functions of op types, gen_image_ops and others
        for part in (
            "image input_pipeline layers libsvm memory_stats reduce_slice_ops resampler seq2seq".split()
        )
    ),
]

# Single modules, where they are not what their package is.
MODULES: dict[str, str] = {
    "contrib.estimator.python.estimator.early_stopping": "tf.contrib.estimator tf.estimator.experimental "
    "inner.train.estimator_names",
    "contrib.keras": "tideflow.contrib.keras",
    "contrib.keras.api": "",
    "contrib.keras.api.keras": "tideflow.contrib.keras",
    "contrib.estimator.python.estimator.dnn_with_layer_annotations": "tideflow.contrib.estimator.annotations",
    "contrib.rnn.python.ops.rnn_cell": "tf.contrib.rnn tf.nn.rnn_cell tideflow.contrib.rnn.normalized "
    "tideflow.contrib.rnn.gated tideflow.contrib.rnn.turing",
    "contrib.layers.python.layers.feature_column": "tf.contrib.layers "
    "tideflow.contrib.layers.columns.base tideflow.contrib.layers.columns.vectors "
    "tideflow.contrib.layers.columns.categories tideflow.contrib.layers.columns.numbers "
    "inner.contrib.column_kinds",
    "contrib.layers.python.layers.summaries": "tf.contrib.layers tf.contrib.layers.summaries "
    "tideflow.contrib.layers.summaries",
    "contrib.layers.python.layers.target_column": "tf.contrib.layers tf.contrib.slim "
    "tideflow.contrib.layers.columns.targets tideflow.contrib.learn.modes",
    "contrib.layers.python.layers.utils": "tf.contrib.layers.utils tideflow.contrib.layers.utilities "
    "tf.contrib.layers",
    **{
        f"contrib.distributions.python.ops.{module}": "tideflow.contrib.distributions.vectors"
        for module in (
            "mvn_linear_operator",
            "vector_exponential_linear_operator",
            "vector_laplace_linear_operator",
        )
    },
    "contrib.distributions.python.ops.bijectors.masked_autoregressive": "tf.contrib.distributions.bijectors "
    "inner.contrib.mask_names",
    "contrib.distributions.python.ops.bijectors.weibull": "tideflow.contrib.distributions.bijectors."
    "elementwise",
    "contrib.distributions.python.ops.distribution_util": "tf.contrib.distributions tf.distributions "
    "tideflow.contrib.distributions.tools inner.math.distribution_names",
    "contrib.distributions.python.ops.statistical_testing": "inner.testing.mean_tests",
    "contrib.distributions.python.ops.test_util": "inner.testing.distribution_checks",
    "contrib.graph_editor.util": "tf.contrib.graph_editor.util tideflow.contrib.graph_editor.util "
    "inner.contrib.graph_editor_names",
    "contrib.labeled_tensor.python.ops.nn": "tf.contrib.labeled_tensor.nn",
    "contrib.learn.datasets.mnist": "tideflow.contrib.learn.digits",
    "contrib.learn.python.learn.io": "tf.contrib.learn.io",
    "contrib.learn.python.learn.datasets.base": "tf.contrib.learn.datasets.base tf.contrib.learn.datasets "
    "tideflow.contrib.learn.downloads "
    "tideflow.contrib.learn.tables tideflow.contrib.learn.digits tideflow.contrib.learn.datasets",
    "contrib.learn.python.learn.datasets.mnist": "tideflow.contrib.learn.digits",
    "contrib.learn.python.learn.estimators._sklearn": "inner.contrib.scikit_names",
    "contrib.learn.python.learn.estimators.composable_model": "inner.contrib.composable_models",
    "contrib.learn.python.learn.estimators.debug": "inner.contrib.debug_estimators",
    "contrib.learn.python.learn.estimators.dnn": "tf.contrib.learn tideflow.contrib.learn.dnn",
    "contrib.learn.python.learn.estimators.dnn_linear_combined": "tf.contrib.learn "
    "tideflow.contrib.learn.combined inner.contrib.estimator_names",
    "contrib.learn.python.learn.estimators.dynamic_rnn_estimator": "tideflow.contrib.learn.rnn "
    "tf.contrib.learn",
    "contrib.learn.python.learn.estimators.estimator": "tideflow.contrib.learn.estimator tf.contrib.learn "
    "inner.contrib.estimator_names",
    "contrib.learn.python.learn.estimators.head": "tf.contrib.learn.head tideflow.contrib.learn.head "
    "tideflow.contrib.learn.head_base tf.contrib.learn",
    "contrib.learn.python.learn.estimators.linear": "tf.contrib.learn tideflow.contrib.learn.linear",
    "contrib.learn.python.learn.estimators.metric_key": "tideflow.contrib.learn.modes",
    "contrib.learn.python.learn.estimators.rnn_common": "tideflow.contrib.learn.rnn",
    "contrib.learn.python.learn.estimators.run_config": "tideflow.contrib.learn.run_config tf.contrib.learn",
    "contrib.learn.python.learn.estimators.state_saving_rnn_estimator": "tideflow.contrib.learn."
    "state_saving_rnn tideflow.contrib.learn.rnn",
    "contrib.learn.python.learn.estimators.tensor_signature": "tideflow.contrib.learn.signatures",
    "contrib.learn.python.learn.experiment": "tf.contrib.learn inner.contrib.experiment_names",
    "contrib.learn.python.learn.graph_actions": "tf.contrib.learn.graph_actions "
    "tideflow.contrib.learn.graph_actions",
    "contrib.learn.python.learn.learn_io.data_feeder": "tideflow.contrib.learn.feeders "
    "inner.contrib.installed_libraries",
    "contrib.learn.python.learn.learn_runner": "tf.contrib.learn.learn_runner "
    "tideflow.contrib.learn.learn_runner",
    "contrib.learn.python.learn.models": "tf.contrib.learn.models",
    "contrib.learn.python.learn.monitors": "tf.contrib.learn.monitors tideflow.contrib.learn.monitors",
    "contrib.learn.python.learn.summary_writer_cache": "inner.train.program_names "
    "tf.contrib.learn.graph_actions tideflow.contrib.learn.graph_actions",
    "contrib.learn.python.learn.utils.export": "tideflow.contrib.learn.exports",
    "contrib.learn.python.learn.utils.gc": "tf.contrib.session_bundle.gc",
    "contrib.learn.python.learn.utils.inspect_checkpoint": "inner.tools.graph_tools",
    "contrib.learn.python.learn.utils.saved_model_export_utils": "inner.train.export_names "
    "tf.contrib.learn.utils",
    "contrib.opt.python.training.matrix_functions": "tideflow.contrib.opt.matrix_functions",
    "contrib.opt.python.training.sign_decay": "tideflow.contrib.opt.signs",
    "contrib.session_bundle.constants": "inner.contrib.bundle_names",
    "contrib.slim.nets.inception_v1": "tf.contrib.slim.nets.inception",
    "contrib.slim.nets.inception_v2": "tf.contrib.slim.nets.inception",
    "contrib.slim.nets.inception_v3": "tf.contrib.slim.nets.inception",
    "contrib.slim.python.slim.data.data_decoder": "tf.contrib.slim.data_decoder",
    "contrib.slim.python.slim.data.data_provider": "tf.contrib.slim.data_provider",
    "contrib.slim.python.slim.data.dataset": "tf.contrib.slim.dataset",
    "contrib.slim.python.slim.data.dataset_data_provider": "tf.contrib.slim.dataset_data_provider",
    "contrib.slim.python.slim.data.parallel_reader": "tf.contrib.slim.parallel_reader",
    "contrib.slim.python.slim.data.prefetch_queue": "tf.contrib.slim.prefetch_queue",
    "contrib.slim.python.slim.data.test_utils": "inner.contrib.image_records",
    "contrib.slim.python.slim.data.tfexample_decoder": "tf.contrib.slim.tfexample_decoder",
    **{
        f"contrib.slim.python.slim.nets.{net}": f"tf.contrib.slim.nets.{public} "
        "tideflow.contrib.slim.nets.plain"
        for net, public in (
            ("alexnet", "alexnet"),
            ("inception", "inception"),
            ("inception_v1", "inception"),
            ("inception_v2", "inception"),
            ("inception_v3", "inception"),
            ("overfeat", "overfeat"),
            ("resnet_utils", "resnet_utils"),
            ("resnet_v1", "resnet_v1"),
            ("resnet_v2", "resnet_v2"),
            ("vgg", "vgg"),
        )
    },
    "contrib.slim.python.slim.queues": "tf.contrib.slim.queues",
    "contrib.slim.python.slim.summaries": "tf.contrib.slim.summaries",
    "contrib.slim.python.slim.evaluation": "tf.contrib.slim.evaluation",
    "contrib.slim.python.slim.learning": "tf.contrib.slim.learning",
    "contrib.slim.python.slim.model_analyzer": "tf.contrib.slim.model_analyzer",
    "contrib.solvers.python.ops.lanczos": "tf.contrib.solvers.lanczos",
    "contrib.solvers.python.ops.least_squares": "tf.contrib.solvers.least_squares",
    "contrib.solvers.python.ops.linear_equations": "tf.contrib.solvers.linear_equations",
    "contrib.seq2seq.python.ops.attention_wrapper": "tf.contrib.seq2seq "
    "tideflow.contrib.seq2seq.mechanisms tideflow.contrib.seq2seq.attention_wrapper "
    "tideflow.contrib.seq2seq.layer_mechanisms",
    "contrib.seq2seq.python.ops.basic_decoder": "tf.contrib.seq2seq tideflow.contrib.seq2seq.layer_decoders",
    "contrib.seq2seq.python.ops.loss": "tf.contrib.seq2seq tideflow.contrib.seq2seq.losses",
    "contrib.seq2seq.python.ops.sampler": "tideflow.contrib.seq2seq.samplers "
    "tideflow.contrib.seq2seq.sampling",
    "contrib.seq2seq.python.ops.beam_search_decoder": "tf.contrib.seq2seq tideflow.contrib.seq2seq.beams "
    "tideflow.contrib.seq2seq.beam_search "
    "inner.contrib.beam_search_steps",
    "contrib.seq2seq.python.ops.decoder": "tf.contrib.seq2seq inner.graph.recurrent_names "
    "tideflow.contrib.seq2seq.decoder",
    "contrib.seq2seq.python.ops.helper": "tf.contrib.seq2seq tideflow.contrib.seq2seq.sampling "
    "inner.graph.recurrent_names",
}


def _packages() -> dict[str, tuple[str, str]]:
    """The rows by the package's path, with those packages that are only above another."""
    found: dict[str, tuple[str, str]] = {}
    for part, package, places, modules in _ROWS:
        public = "" if part in _WITHOUT_NAMES else f"tf.contrib.{part}"
        steps = package.split(".") if package else []
        for depth in range(part not in _WITHOUT_NAMES, len(steps)):
            found.setdefault(".".join(["contrib", part, *steps[:depth]]), (public, ""))
        looked_up = " ".join(public if place == "." else place for place in places.split())
        found[".".join(["contrib", part, *steps])] = (looked_up, modules)
    return found


PACKAGES = _packages()
