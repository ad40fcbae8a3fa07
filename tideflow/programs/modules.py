"""TensorFlow's modules, as programs import them, and where Tideflow keeps what is in each.

A module is a path below `tensorflow` ("python.ops.array_ops") and the places where its names are looked up,
in order: public namespaces ("tf", "tf.nn"), or modules of Python ("tideflow.graph.scopes"). TensorFlow's
inner modules hold, by and large, what its public namespace shows, so most of them are the public namespace
under another name.
"""

from __future__ import annotations

import difflib
import functools
import importlib
import importlib.util
import re
from collections.abc import Callable
from typing import Any

from tideflow.graph.op import definitions
from tideflow.graph.wrappers import python_function, python_name
from tideflow.programs import namespace
from tideflow.programs.namespace import Missing
from tideflow.programs.specification import is_in_tensorflow, op_attributes, op_types

# Packages: where their modules' names are looked up, and the modules.
_PACKAGES: dict[str, tuple[str, str]] = {
    "python": ("tf", ""),
    "python.client": ("tf", "session timeline device_lib"),
    "python.data": ("tf.data", ""),
    "python.data.ops": ("tf.data tf.data.experimental", "dataset_ops iterator_ops readers"),
    "python.debug": ("tideflow.programs.debugger", ""),
    "python.debug.lib": ("tideflow.programs.debugger", "debug_data debug_utils"),
    "python.debug.wrappers": (
        "tideflow.programs.debugger",
        "dumping_wrapper framework hooks local_cli_wrapper",
    ),
    "python.distribute": ("tf.distribute", ""),
    "python.distribute.cluster_resolver": (
        "tf.distribute.cluster_resolver",
        "cluster_resolver gce_cluster_resolver kubernetes_cluster_resolver slurm_cluster_resolver "
        "tfconfig_cluster_resolver",
    ),
    "python.eager": ("tf", "context"),
    "python.estimator": (
        "tf.estimator tf.estimator.experimental tideflow.estimator.run_config",
        "early_stopping estimator estimator_lib exporter extenders mode_keys model_fn run_config training "
        "util",
    ),
    "python.estimator.canned": (
        "tf.estimator tf.estimator.experimental tideflow.estimator.heads.keys",
        "baseline dnn dnn_linear_combined linear metric_keys parsing_utils prediction_keys",
    ),
    "python.estimator.export": (
        "tf.estimator.export tf.estimator.experimental",
        "export export_lib export_output",
    ),
    "python.estimator.head": (
        "tf.estimator",
        "base_head binary_class_head multi_class_head multi_head multi_label_head regression_head",
    ),
    "python.estimator.hooks": (
        "tf.estimator tf.estimator.experimental",
        "basic_session_run_hooks hooks session_run_hook",
    ),
    "python.estimator.inputs": ("tf.estimator.inputs", "inputs numpy_io pandas_io"),
    "python.estimator.tpu": ("tf.estimator.tpu", "tpu_config tpu_estimator"),
    "python.feature_column": (
        "tf.feature_column",
        "feature_column feature_column_lib feature_column_v2",
    ),
    "python.framework": (
        "tf tf.errors tf.graph_util tf.dtypes tf.train",
        "common_shapes composite_tensor constant_op device dtypes errors errors_impl function "
        "graph_io graph_util graph_util_impl importer indexed_slices load_library meta_graph "
        "op_def_registry ops random_seed smart_cond sparse_tensor tensor_shape tensor_spec "
        "tensor_util test_util type_spec versions",
    ),
    "python.keras.utils": ("tf.keras.utils tideflow.programs.keras_names", "tf_utils"),
    "python.layers": ("tf.layers", "base convolutional core layers normalization pooling utils"),
    "python.lib": ("tf", ""),
    "python.lib.io": ("tf.io tf.gfile tf.python_io", "file_io python_io tf_record"),
    "python.ops": (
        "tf tf.nn tf.math tf.linalg tf.image tf.strings tf.io tf.sparse tf.random tf.initializers "
        "tf.debugging",
        "array_grad array_ops batch_ops bitwise_ops candidate_sampling_ops check_ops clip_ops collective_ops "
        "nccl_ops cond_v2 confusion_matrix control_flow_ops control_flow_util critical_section_ops ctc_ops "
        "custom_gradient data_flow_ops embedding_ops functional_ops gradient_checker gradients "
        "gradients_impl gradients_util histogram_ops image_ops image_ops_impl init_ops init_ops_v2 "
        "inplace_ops io_ops linalg_ops list_ops logging_ops lookup_ops manip_ops map_fn math_grad math_ops "
        "metrics metrics_impl nn nn_grad nn_impl nn_ops numerics parsing_ops partitioned_variables ragged "
        "random_ops resource_variable_ops rnn rnn_cell rnn_cell_impl script_ops sdca_ops session_ops sets "
        "sets_impl signal sparse_ops special_math_ops spectral_ops standard_ops state_ops "
        "stateless_random_ops string_ops summary_op_util template tensor_array_ops training_ops "
        "variable_scope variables weights_broadcast_ops",
    ),
    "python.ops.distributions": (
        "tf.distributions",
        "bernoulli beta categorical dirichlet dirichlet_multinomial distribution distributions "
        "exponential gamma kullback_leibler laplace multinomial normal student_t uniform util bijector "
        "bijector_impl identity_bijector transformed_distribution",
    ),
    "python.ops.linalg": ("tf.linalg", "linalg linalg_impl linear_operator"),
    "python.ops.losses": ("tf.losses", "losses losses_impl util"),
    "python.ops.signal": (
        "tf.signal",
        "dct_ops fft_ops mel_ops mfcc_ops reconstruction_ops shape_ops signal spectral_ops window_ops",
    ),
    "python.platform": (
        "tf.app tf.test tf.sysconfig tf.resource_loader",
        "app benchmark flags gfile googletest resource_loader sysconfig test tf_logging",
    ),
    "python.saved_model": (
        "tf.saved_model tf.saved_model.builder tf.saved_model.main_op tideflow.saved_model.loader "
        "tideflow.saved_model.constants",
        "builder builder_impl constants loader loader_impl main_op main_op_impl signature_constants "
        "signature_def_utils signature_def_utils_impl simple_save tag_constants utils utils_impl",
    ),
    "python.summary": ("tf.summary tf.train", "summary summary_iterator"),
    "python.summary.writer": ("tf.summary", "writer writer_cache event_file_writer"),
    "python.training": (
        "tf.train tf",
        "adadelta adagrad adagrad_da adam basic_loops basic_session_run_hooks checkpoint_management "
        "checkpoint_ops checkpoint_utils coordinator device_setter ftrl gradient_descent input "
        "evaluation learning_rate_decay momentum monitored_session moving_averages optimizer "
        "proximal_adagrad proximal_gradient_descent queue_runner queue_runner_impl rmsprop saver server_lib "
        "session_manager session_run_hook slot_creator supervisor sync_replicas_optimizer training "
        "training_ops training_util warm_starting_util",
    ),
    "python.training.tracking": (
        "tf.train tf.train.experimental tideflow.train.checkpoint tideflow.train.object_saver "
        "tideflow.variables.trackable",
        "base python_state tracking util",
    ),
    "python.util": (
        "tf tf.compat tf.nest",
        "compat deprecation function_utils lazy_loader nest tf_contextlib tf_decorator tf_export "
        "tf_inspect tf_should_use",
    ),
    "contrib.crf.python": ("tf.contrib.crf", ""),
    "contrib.crf.python.ops": ("tf.contrib.crf", "crf"),
    "contrib.estimator.python": ("tf.contrib.estimator", ""),
    "contrib.estimator.python.estimator": (
        "tf.contrib.estimator",
        "early_stopping export extenders head hooks logit_fns multi_head",
    ),
    "contrib.factorization.python": ("tf.contrib.factorization", ""),
    "contrib.factorization.python.ops": (
        "tf.contrib.factorization",
        "clustering_ops factorization_ops gmm_ops",
    ),
    "contrib.framework.python": ("tf.contrib.framework", ""),
    "contrib.framework.python.framework": (
        "tf.contrib.framework",
        "checkpoint_utils experimental graph_util tensor_util",
    ),
    "contrib.framework.python.ops": ("tf.contrib.framework", "arg_scope ops variables"),
    "contrib.distributions.python": ("tf.contrib.distributions", ""),
    "contrib.distributions.python.ops": (
        "tf.contrib.distributions",
        "autoregressive batch_reshape binomial cauchy chi2 conditional_distribution "
        "conditional_transformed_distribution deterministic distribution_util geometric half_normal "
        "independent inverse_gamma kumaraswamy logistic mixture mixture_same_family moving_stats mvn_diag "
        "mvn_diag_plus_low_rank mvn_full_covariance mvn_linear_operator mvn_tril negative_binomial "
        "normal_conjugate_posteriors onehot_categorical poisson poisson_lognormal quantized_distribution "
        "relaxed_bernoulli relaxed_onehot_categorical sample_stats seed_stream sinh_arcsinh "
        "vector_diffeomixture vector_exponential_diag vector_laplace_diag vector_sinh_arcsinh_diag wishart",
    ),
    "contrib.distributions.python.ops.bijectors": (
        "tf.contrib.distributions.bijectors",
        "absolute_value affine affine_linear_operator affine_scalar batch_normalization chain "
        "cholesky_outer_product conditional_bijector exp fill_triangular gumbel inline invert kumaraswamy "
        "masked_autoregressive matrix_inverse_tril ordered permute power_transform real_nvp reshape "
        "scale_tril sigmoid sinh_arcsinh softmax_centered softplus softsign square transform_diagonal",
    ),
    "contrib.gan.python": ("tf.contrib.gan", "namedtuples train"),
    "contrib.gan.python.eval": ("tf.contrib.gan.eval", ""),
    "contrib.gan.python.features": ("tf.contrib.gan.features", ""),
    "contrib.gan.python.losses": ("tf.contrib.gan.losses", ""),
    "contrib.image.python": ("tf.contrib.image", ""),
    "contrib.image.python.ops": (
        "tf.contrib.image",
        "dense_image_warp image_ops interpolate_spline sparse_image_warp",
    ),
    "contrib.layers.python": ("tf.contrib.layers", ""),
    "contrib.layers.python.layers": (
        "tf.contrib.layers",
        "embedding_ops encoders feature_column feature_column_ops initializers layers normalization "
        "optimizers regularizers summaries target_column utils",
    ),
    "contrib.layers.python.ops": ("tf.contrib.layers", "sparse_ops"),
    "contrib.learn.python": ("tf.contrib.learn", ""),
    "contrib.learn.python.learn": (
        "tf.contrib.learn",
        "evaluable experiment export_strategy metric_spec trainable",
    ),
    "contrib.learn.python.learn.datasets": ("tf.contrib.learn.datasets", "base mnist"),
    "contrib.learn.python.learn.estimators": (
        "tf.contrib.learn",
        "constants dnn dnn_linear_combined dynamic_rnn_estimator estimator head kmeans linear "
        "logistic_regressor metric_key model_fn prediction_key rnn_common run_config",
    ),
    "contrib.learn.python.learn.learn_io": (
        "tf.contrib.learn.io",
        "dask_io data_feeder generator_io graph_io numpy_io pandas_io",
    ),
    "contrib.learn.python.learn.ops": ("tf.contrib.learn.ops", "embeddings_ops losses_ops seq2seq_ops"),
    "contrib.learn.python.learn.utils": (
        "tf.contrib.learn.utils",
        "export input_fn_utils saved_model_export_utils",
    ),
    "contrib.learn.python.learn.preprocessing": (
        "tf.contrib.learn.preprocessing",
        "categorical categorical_vocabulary text",
    ),
    "contrib.legacy_seq2seq.python": ("tf.contrib.legacy_seq2seq", ""),
    "contrib.legacy_seq2seq.python.ops": ("tf.contrib.legacy_seq2seq", "seq2seq"),
    "contrib.losses.python": ("tf.contrib.losses", ""),
    "contrib.losses.python.losses": ("tf.contrib.losses", "loss_ops"),
    "contrib.memory_stats.python": ("tf.contrib.memory_stats", ""),
    "contrib.memory_stats.python.ops": ("tf.contrib.memory_stats", "memory_stats_ops"),
    "contrib.metrics.python": ("tf.contrib.metrics", ""),
    "contrib.metrics.python.metrics": ("tf.contrib.metrics", "classification"),
    "contrib.metrics.python.ops": (
        "tf.contrib.metrics",
        "confusion_matrix_ops histogram_ops metric_ops set_ops",
    ),
    "contrib.opt.python": ("tf.contrib.opt", ""),
    "contrib.opt.python.training": (
        "tf.contrib.opt",
        "adam_gs_optimizer adamax addsign agn_optimizer drop_stale_gradient_optimizer "
        "elastic_average_optimizer external_optimizer ggt lars_optimizer lazy_adam_gs_optimizer "
        "lazy_adam_optimizer matrix_functions model_average_optimizer moving_average_optimizer "
        "multitask_optimizer_wrapper nadam_optimizer powersign reg_adagrad_optimizer shampoo sign_decay "
        "variable_clipping_optimizer weight_decay_optimizers",
    ),
    "contrib.periodic_resample.python": ("tf.contrib.periodic_resample", ""),
    "contrib.periodic_resample.python.ops": ("tf.contrib.periodic_resample", "periodic_resample_op"),
    "contrib.resampler.python": ("tf.contrib.resampler", ""),
    "contrib.resampler.python.ops": ("tf.contrib.resampler", "resampler_ops"),
    "contrib.rnn.python": ("tf.contrib.rnn", ""),
    "contrib.rnn.python.ops": (
        "tf.contrib.rnn",
        "core_rnn core_rnn_cell core_rnn_cell_impl lstm_ops rnn rnn_cell",
    ),
    "contrib.rnn.ops": ("tf.contrib.rnn", ""),
    "contrib.seq2seq.python": ("tf.contrib.seq2seq", ""),
    "contrib.seq2seq.python.ops": (
        "tf.contrib.seq2seq",
        "attention_wrapper basic_decoder beam_search_decoder beam_search_ops decoder helper loss",
    ),
    "contrib.slim.python": ("tf.contrib.slim", ""),
    "contrib.slim.python.slim": (
        "tf.contrib.slim",
        "evaluation learning model_analyzer queues summaries",
    ),
    "contrib.slim.python.slim.data": (
        "tf.contrib.slim",
        "data_decoder data_provider dataset dataset_data_provider parallel_reader prefetch_queue "
        "tfexample_decoder",
    ),
    "contrib.slim.python.slim.nets": (
        "tf.contrib.slim.nets",
        "alexnet inception inception_v1 inception_v2 inception_v3 overfeat resnet_utils resnet_v1 resnet_v2 "
        "vgg",
    ),
    "contrib.tpu.python": ("tf.contrib.tpu", ""),
    "contrib.tpu.python.tpu": ("tf.contrib.tpu", "tpu_config tpu_estimator"),
    "contrib.training.python": ("tf.contrib.training", ""),
    "contrib.training.python.training": (
        "tf.contrib.training",
        "device_setter evaluation hparam sequence_queueing_state_saver training",
    ),
    "contrib.lookup": ("tf.contrib.lookup", "lookup_ops"),
    "examples": ("", ""),
    "examples.tutorials": ("", ""),
    "examples.tutorials.mnist": ("", "input_data"),
}

# Single modules, where they are not what their package is.
_MODULES: dict[str, str] = {
    "": "tf",
    "compat": "tf.compat",
    "compat.v1": "tf",
    "contrib.distributions.python.ops.mvn_linear_operator": "tideflow.contrib.distributions.vectors",
    "contrib.learn.datasets.mnist": "tideflow.contrib.learn.digits",
    "contrib.learn.python.learn.datasets.base": "tideflow.contrib.learn.tables tideflow.contrib.learn.digits",
    "contrib.learn.python.learn.datasets.mnist": "tideflow.contrib.learn.digits",
    "contrib.learn.python.learn.estimators.estimator": "tideflow.contrib.learn.estimator tf.contrib.learn",
    "contrib.learn.python.learn.estimators.head": "tf.contrib.learn.head",
    "contrib.learn.python.learn.estimators.metric_key": "tideflow.contrib.learn.modes",
    "contrib.learn.python.learn.estimators.rnn_common": "tideflow.contrib.learn.rnn",
    "contrib.learn.python.learn.estimators.run_config": "tideflow.contrib.learn.run_config tf.contrib.learn",
    "contrib.learn.python.learn.learn_io.data_feeder": "tideflow.contrib.learn.feeders",
    "contrib.learn.python.learn.utils.export": "tideflow.contrib.learn.exports",
    "contrib.learn.python.learn.utils.gc": "tf.contrib.session_bundle.gc",
    "contrib.opt.python.training.matrix_functions": "tideflow.contrib.opt.matrix_functions",
    "contrib.opt.python.training.sign_decay": "tideflow.contrib.opt.signs",
    "contrib.slim.nets.inception_v1": "tf.contrib.slim.nets.inception",
    "contrib.slim.nets.inception_v2": "tf.contrib.slim.nets.inception",
    "contrib.slim.nets.inception_v3": "tf.contrib.slim.nets.inception",
    "contrib.slim.python.slim.data.data_decoder": "tf.contrib.slim.data_decoder",
    "contrib.slim.python.slim.data.data_provider": "tf.contrib.slim.data_provider",
    "contrib.slim.python.slim.data.dataset": "tf.contrib.slim.dataset",
    "contrib.slim.python.slim.data.dataset_data_provider": "tf.contrib.slim.dataset_data_provider",
    "contrib.slim.python.slim.data.parallel_reader": "tf.contrib.slim.parallel_reader",
    "contrib.slim.python.slim.data.prefetch_queue": "tf.contrib.slim.prefetch_queue",
    "contrib.slim.python.slim.data.tfexample_decoder": "tf.contrib.slim.tfexample_decoder",
    "contrib.slim.python.slim.nets.alexnet": "tf.contrib.slim.nets.alexnet",
    "contrib.slim.python.slim.nets.inception": "tf.contrib.slim.nets.inception",
    "contrib.slim.python.slim.nets.inception_v1": "tf.contrib.slim.nets.inception",
    "contrib.slim.python.slim.nets.inception_v2": "tf.contrib.slim.nets.inception",
    "contrib.slim.python.slim.nets.inception_v3": "tf.contrib.slim.nets.inception",
    "contrib.slim.python.slim.nets.overfeat": "tf.contrib.slim.nets.overfeat",
    "contrib.slim.python.slim.nets.resnet_utils": "tf.contrib.slim.nets.resnet_utils",
    "contrib.slim.python.slim.nets.resnet_v1": "tf.contrib.slim.nets.resnet_v1",
    "contrib.slim.python.slim.nets.resnet_v2": "tf.contrib.slim.nets.resnet_v2",
    "contrib.slim.python.slim.nets.vgg": "tf.contrib.slim.nets.vgg",
    "contrib.slim.python.slim.queues": "tf.contrib.slim.queues",
    "contrib.slim.python.slim.summaries": "tf.contrib.slim.summaries",
    "contrib.slim.python.slim.evaluation": "tf.contrib.slim.evaluation",
    "contrib.slim.python.slim.learning": "tf.contrib.slim.learning",
    "contrib.slim.python.slim.model_analyzer": "tf.contrib.slim.model_analyzer",
    "contrib.seq2seq.python.ops.attention_wrapper": "tf.contrib.seq2seq "
    "tideflow.contrib.seq2seq.mechanisms tideflow.contrib.seq2seq.attention_wrapper",
    "contrib.seq2seq.python.ops.beam_search_decoder": "tf.contrib.seq2seq tideflow.contrib.seq2seq.beams",
    "contrib.seq2seq.python.ops.helper": "tf.contrib.seq2seq tideflow.contrib.seq2seq.sampling",
    "examples.tutorials.mnist": "tideflow.contrib.learn.digits",
    "examples.tutorials.mnist.input_data": "tideflow.contrib.learn.digits",
    "python.client.device_lib": "tideflow.platform.device_lib",
    "python.client.timeline": "tideflow.session.timeline",
    "python.framework.errors": "tf.errors",
    "python.ops.collective_ops": "tideflow.ops.distributed.collectives",
    "python.ops.nccl_ops": "tideflow.ops.distributed.nccl",
    "python.framework.errors_impl": "tf.errors",
    "python.framework.dtypes": "tf.dtypes tf tideflow.graph.dtypes",
    "python.framework.device": "tf tideflow.graph.device",
    "python.framework.function": "tideflow.ops.control_flow.defun tf",
    "python.framework.graph_util": "tf.graph_util",
    "python.framework.op_def_registry": "tideflow.programs.utilities",
    "python.eager.context": "tf tideflow.eager.context",
    "python.framework.ops": "tideflow.graph.scopes tideflow.graph.convert tideflow.graph.operation "
    "tideflow.autodiff.registry tideflow.graph.composite tideflow.profiler.flops tf "
    "tideflow.programs.keras_names",
    "python.framework.random_seed": "tf.random tf",
    "python.framework.smart_cond": "tf.contrib.framework",
    "python.framework.tensor_shape": "tf tideflow.graph.shapes",
    "python.framework.tensor_util": "tf tf.contrib.util tf.contrib.framework tideflow.graph.tensor_proto "
    "tideflow.graph.partial tideflow.programs.tensor_utilities",
    "python.framework.test_util": "tf.test tideflow.platform.testing tf",
    "python.layers.base": "tf.layers tideflow.layers.base",
    "python.layers.utils": "tideflow.layers.shapes tf.contrib.framework",
    "python.lib.io.file_io": "tideflow.platform.gfile tf.gfile tf.io.gfile",
    "python.ops.control_flow_ops": "tf tideflow.ops.control_flow.conditionals "
    "tideflow.ops.control_flow.switches tideflow.ops.control_flow.grouping",
    "python.ops.data_flow_ops": "tf tideflow.queues.base tideflow.queues.barriers tideflow.queues.staging "
    "tideflow.queues.record_input",
    "python.ops.distributions.bijector": "tf.contrib.distributions.bijectors",
    "python.ops.distributions.bijector_impl": "tf.contrib.distributions.bijectors",
    "python.ops.distributions.identity_bijector": "tf.contrib.distributions.bijectors",
    "python.ops.distributions.transformed_distribution": "tf.contrib.distributions",
    "python.ops.distributions.util": "tf.contrib.distributions",
    "python.ops.gradient_checker": "tf.test",
    "python.ops.init_ops": "tf tf.initializers tideflow.variables.initializers",
    "python.ops.linalg_ops": "tf tf.linalg",
    "python.ops.losses.util": "tf.losses",
    "python.ops.lookup_ops": "tf.contrib.lookup tf.lookup tf",
    "python.ops.math_ops": "tf.math tf",
    "python.ops.metrics": "tf.metrics",
    "python.ops.metrics_impl": "tf.metrics",
    "python.ops.nn": "tf.nn",
    "python.ops.nn_impl": "tf.nn",
    "python.ops.nn_ops": "tf.nn",
    "python.ops.partitioned_variables": "tf tideflow.variables.partitioners",
    "python.ops.resource_variable_ops": "tideflow.variables.resource tf",
    "python.ops.rnn": "tf.nn tideflow.rnn.loops",
    "python.ops.rnn_cell": "tf.nn.rnn_cell",
    "python.ops.rnn_cell_impl": "tf.nn.rnn_cell tideflow.rnn.cells tideflow.rnn.wrappers",
    "python.ops.sets": "tf.sets",
    "python.ops.summary_ops_v2": "tf.contrib.summary",
    "python.ops.sets_impl": "tf.sets",
    "python.ops.variable_scope": "tf tideflow.variables.variable_scope",
    "python.ops.variables": "tf tideflow.variables.base tideflow.variables.partitioned",
    "python.platform.flags": "tideflow.platform.flags",
    "python.platform.gfile": "tf.gfile",
    "python.platform.tf_logging": "tf.logging",
    "python.platform.googletest": "tf.test",
    "python.profiler": "tf.profiler",
    "python.profiler.model_analyzer": "tf.profiler tideflow.profiler.profiling",
    "python.profiler.option_builder": "tf.profiler",
    "python.profiler.profiler": "tf.profiler",
    "python.profiler.tfprof_logger": "tf.profiler tideflow.profiler.options",
    "python.pywrap_tensorflow": "tf.pywrap_tensorflow tf.train",
    "python.tools": "",
    "python.tools.freeze_graph": "tideflow.programs.tools",
    "python.tools.inspect_checkpoint": "tideflow.programs.tools",
    "python.tools.saved_model_utils": "tideflow.programs.tools",
    "python.tools.strip_unused_lib": "tideflow.programs.tools",
    "python.ops.resources": "tideflow.train.resource_registry",
    "python.training.basic_session_run_hooks": "tf.train tideflow.train.step_hooks "
    "tideflow.train.hook_timers tideflow.programs.inner_names",
    "python.training.device_setter": "tf.train tideflow.cluster.device_setter",
    "python.training.evaluation": "tideflow.train.evaluation tideflow.programs.inner_names",
    "python.training.moving_averages": "tf.train tideflow.train.moving_averages",
    "python.training.optimizer": "tf.train tideflow.train.optimizer",
    "python.training.supervisor": "tf.train tideflow.train.supervisor",
    "python.training.slot_creator": "tideflow.train.slot_creator",
    "python.training.summary_io": "tideflow.programs.inner_names tf.train",
    "python.training.training_util": "tf.train tideflow.programs.inner_names",
    "python.util.compat": "tf.compat",
    "python.util.nest": "tf.contrib.framework.nest tf.nest",
    "user_ops": "tf.user_ops",
    "core": "",
    "core.framework": "",
    "core.protobuf": "",
    "core.util": "",
    "core.protobuf.control_flow_pb2": "tideflow.graph.control_flow_proto",
    "core.protobuf.queue_runner_pb2": "tideflow.graph.queue_runner_proto",
    "core.protobuf.saved_model_pb2": "tideflow.io.saved_models",
    "core.example": "",
    "core.profiler": "",
    "core.profiler.tfprof_log_pb2": "tideflow.profiler.protos",
    "core.profiler.tfprof_output_pb2": "tideflow.profiler.protos",
    "core.example.example_pb2": "tf.train",
    "core.example.feature_pb2": "tf.train",
    "python.util.deprecation": "tideflow.platform.deprecation",
    "python.util.function_utils": "tideflow.programs.utilities",
    "python.util.lazy_loader": "tideflow.programs.utilities",
    "python.keras.backend": "tf.keras.backend tideflow.programs.keras_names",
    "python.util.tf_contextlib": "contextlib",
    "python.util.tf_decorator": "tideflow.programs.utilities",
    "python.util.tf_export": "tideflow.programs.utilities",
    "python.util.tf_inspect": "inspect",
    "python.util.tf_should_use": "tideflow.programs.utilities",
}

_ROWS = "read it with its own client, and give what that yields to tf.data.Dataset.from_generator."
_REFUSED = {
    "compat.v2": "Tideflow is TensorFlow 1's graphs and sessions, tensorflow.compat.v1; it has nothing of "
    "TensorFlow 2.",
    "contrib.bigtable": f"Tideflow has no client of Cloud Bigtable: {_ROWS}",
    "contrib.cloud": f"Tideflow has no client of Google's cloud. A table of BigQuery: {_ROWS} Files of "
    "Cloud Storage: copy or mount them, and give their paths.",
    "contrib.ffmpeg": "Tideflow calls no ffmpeg: decode WAV files with tf.audio.decode_wav, and others "
    "before the program, or in tf.py_func.",
    "contrib.hadoop": f"Tideflow has no reader of Hadoop's sequence files: {_ROWS}",
    "contrib.ignite": f"Tideflow has no client of Apache Ignite: {_ROWS}",
    "contrib.kafka": f"Tideflow has no client of Apache Kafka: {_ROWS}",
    "contrib.kinesis": f"Tideflow has no client of Amazon Kinesis: {_ROWS}",
    "contrib.meta_graph_transform": "Tideflow does not transform the graphs of SavedModels: change the "
    "graph with tf.graph_util or tf.contrib.graph_editor, and save that.",
    "contrib.remote_fused_graph": "Tideflow runs on CPUs and GPUs, and gives no part of a graph to a DSP: "
    "run the graph as it is.",
    "contrib.rpc": "Tideflow's operations call no RPC services: call yours in tf.py_func, and run steps on "
    "other machines with tf.train.Server.",
    "contrib.stat_summarizer": "Tideflow's steps are summed up by tf.profiler and by tf.RunMetadata.",
    "contrib.tensorrt": "Tideflow uses no TensorRT: its own compiler makes hot steps faster "
    "(TIDEFLOW_COMPILE, tf.xla.experimental.jit_scope).",
    "contrib.tpu.profiler": "There are no TPUs here to profile: use tf.profiler, or tf.RunMetadata.",
}


@functools.cache
def places(module: str) -> tuple[str, ...] | None:
    """Where the names of a module are looked up; None where TensorFlow, or Tideflow, has no such module."""
    listed = _listed(module.removeprefix("compat.v1."))
    there = tuple(
        place for place in listed or () if not place.startswith("tf.") or namespace.is_namespace(place[3:])
    )
    return None if listed is None or listed and not there else there


def _listed(module: str) -> tuple[str, ...] | None:
    package, _, name = module.rpartition(".")
    if module in _MODULES:
        return tuple(_MODULES[module].split())
    if module in _PACKAGES:
        return tuple(_PACKAGES[module][0].split())
    if _has_module(package, name):
        return tuple(_PACKAGES[package][0].split())
    if re.fullmatch(r"python\.ops\.gen_\w+", module):
        return ("gen",)
    if re.fullmatch(r"core\.(framework|protobuf|util)\.\w+_pb2", module):
        message = f"tensorboard.compat.proto.{name}"
        return (message,) if _importable(message) else None
    public = module.removeprefix("python.")
    return (f"tf.{public}",) if namespace.is_namespace(public) else None


def _has_module(package: str, name: str) -> bool:
    return package in _PACKAGES and name in _PACKAGES[package][1].split()


def _importable(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def look_up(module: str, name: str) -> Any:
    """What a module of TensorFlow has under a name; Missing where it has nothing, or only another module."""
    if module.startswith("python.") and _has_module(module, name):
        raise Missing(name)  # python.ops.variable_scope is the module, not the function of that name
    for place in places(module) or ():
        try:
            return _in_place(place, name)
        except Missing:
            continue
    raise Missing(f"{module}.{name}" if module else name)


def _in_place(place: str, name: str) -> Any:
    if place == "gen":
        if name not in _generated():
            raise Missing(name)
        return _generated()[name]
    if place == "tf" or place.startswith("tf."):
        return namespace.symbol(place[3:], name)
    try:
        return getattr(importlib.import_module(place), name)
    except AttributeError:
        raise Missing(name) from None


def pass_on(module: str, name: str, value: Any) -> None:
    """Sets what a program sets on a module of TensorFlow's on the one of ours that has such a thing."""
    for place in places(module) or ():
        ours = importlib.import_module(place) if place.startswith("tideflow.") else None
        if ours is not None and name in vars(ours) and not name.startswith("__"):
            setattr(ours, name, value)


def names(module: str) -> list[str]:
    """What a module of TensorFlow has, as far as Tideflow has it."""
    found: set[str] = set()
    for place in places(module) or ():
        if place == "gen":
            found.update(_generated())
        elif place == "tf" or place.startswith("tf."):
            found.update(namespace.names(place[3:]))
        else:
            found.update(vars(importlib.import_module(place)))
    package = _PACKAGES.get(module, ("", ""))[1].split()
    return sorted(name for name in found.union(package) if not name.startswith("_"))


def is_module(path: str) -> bool:
    """Whether `tensorflow.<path>` can be imported."""
    return path not in _REFUSED and places(path) is not None


def why_not(module: str, name: str) -> str:
    """What to say to a program that asks a module for something that is not there."""
    path = f"{module}.{name}" if module else name
    for refused, sentence in _REFUSED.items():
        if path == refused or path.startswith(f"{refused}."):
            return sentence
    near = _nearest(module, name, path)
    remarks = [
        _whose(path.removeprefix("compat.v1.")),
        f"The nearest that exists: {', '.join(near)}." if near else "",
    ]
    return " ".join(filter(None, remarks)) or "Nothing that exists is near to it."


def _whose(path: str) -> str:
    """Whether TensorFlow has what Tideflow does not, as far as that is known."""
    if is_module(path):
        return f"Programs that import tensorflow.{path} find it when `tideflow run` runs them."
    if is_in_tensorflow(path):
        return "TensorFlow 1.15 has it, Tideflow does not."
    unknown = _INNER.intersection(path.split(".")) or path.startswith(_UNLISTED)
    return "" if unknown else "TensorFlow 1.15 does not have it either."


_INNER = {"python", "core", "examples"}  # below these, modules that are not public: no list has their names
_UNLISTED = ("contrib.keras.", "contrib.quantization.")  # copies of something else


def _nearest(module: str, name: str, path: str) -> list[str]:
    if module in ("", "compat.v1") or namespace.is_namespace(module):
        public = path.removeprefix("compat.v1.")
        return [f"tf.{found}" for found in namespace.nearest(public)]
    alike = difflib.get_close_matches(name, names(module), 3)
    return [f"tensorflow.{module}.{found}" for found in alike]


@functools.cache
def _generated() -> dict[str, Callable]:
    """Every op type's function, by name: what TensorFlow's modules gen_… hold."""
    public = {name: op for name, op in definitions().items() if name in op_types()}
    return {python_name(name): python_function(op, op_attributes(name)) for name, op in public.items()}
