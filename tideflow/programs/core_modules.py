"""TensorFlow's modules of graphs, operations, layers and training, and where Tideflow keeps what is in each.

Tables of other parts stand beside this one; `modules.py` says how they are read.
"""

from __future__ import annotations

from tideflow.programs import contrib_modules, keras_modules, library_modules

# Packages: where their modules' names are looked up, and the modules.
PACKAGES: dict[str, tuple[str, str]] = {
    "python": ("tf", ""),
    "python.client": ("tf", "client_lib session timeline device_lib"),
    "python.compat": ("tf.compat tf", "compat v2_compat"),
    "python.autograph": ("tf.autograph tf.autograph.experimental", "converters core impl pyct"),
    "python.autograph.converters": ("", "break_statements continue_statements return_statements"),
    "python.autograph.core": ("tideflow.autograph.status", "ag_ctx converter naming"),
    "python.autograph.pyct": (
        "inner.util.syntax_trees",
        "anno common_transformers compiler inspect_utils parser qual_names templates transformer",
    ),
    "python.autograph.pyct.common_transformers": ("", "anf"),
    "python.autograph.impl": ("tf.autograph tf.autograph.experimental", "api"),
    "python.eager": (
        "tf tf.contrib.eager tf.test",
        "backprop cancellation context core def_function execute execution_callbacks executor forwardprop "
        "function graph_only_ops imperative_grad lift_to_graph memory_tests monitoring profiler "
        "profiler_client remote tape test wrap_function",
    ),
    "python.estimator": (
        "tf.estimator tf.estimator.experimental tideflow.estimator.run_config inner.train.estimator_names",
        "early_stopping estimator estimator_lib exporter extenders gc keras mode_keys model_fn run_config "
        "tools training util",
    ),
    "python.estimator.canned": (
        "tf.estimator tf.estimator.experimental tideflow.estimator.heads.keys inner.train.estimator_names",
        "baseline boosted_trees boosted_trees_utils dnn dnn_linear_combined head kmeans linear "
        "linear_optimizer metric_keys optimizers parsing_utils prediction_keys rnn saved_model_estimator "
        "timeseries",
    ),
    "python.estimator.canned.linear_optimizer": ("", "python"),
    "python.estimator.canned.linear_optimizer.python": ("", "utils"),
    "python.estimator.canned.linear_optimizer.python.utils": (
        "inner.train.estimator_names",
        "sdca_ops sharded_mutable_dense_hashtable",
    ),
    "python.estimator.canned.timeseries": (
        "tf.contrib.timeseries tideflow.contrib.timeseries.keys tideflow.contrib.timeseries.heads "
        "tideflow.contrib.timeseries.models tideflow.contrib.timeseries.statistics "
        "tideflow.contrib.timeseries.states tideflow.contrib.timeseries.saved_model_utils "
        "tideflow.contrib.timeseries.autoregression",
        "ar_model estimators feature_keys head math_utils model model_utils saved_model_utils "
        "state_management",
    ),
    "python.estimator.export": (
        "tf.estimator.export tf.estimator.experimental inner.train.estimator_names",
        "export export_lib export_output",
    ),
    "python.estimator.head": (
        "tf.estimator inner.train.estimator_names",
        "base_head binary_class_head head_utils multi_class_head multi_head multi_label_head "
        "regression_head sequential_head",
    ),
    "python.estimator.hooks": (
        "tf.estimator tf.estimator.experimental inner.train.estimator_names",
        "basic_session_run_hooks fake_summary_writer hooks session_run_hook",
    ),
    "python.estimator.inputs": ("tf.estimator.inputs", "inputs numpy_io pandas_io queues"),
    "python.estimator.inputs.queues": (
        "tideflow.estimator.inputs.feeding",
        "feeding_functions feeding_queue_runner",
    ),
    "python.estimator.tpu": ("tf.estimator.tpu", "tpu_config tpu_estimator"),
    "python.framework": (
        "tf tf.errors tf.graph_util tf.dtypes tf.train",
        "combinations common_shapes composite_tensor composite_tensor_utils config constant_op device "
        "device_spec dtypes errors errors_impl test_combinations "
        "framework_lib func_graph function function_def_to_graph graph_io graph_to_function_def graph_util "
        "graph_util_impl importer indexed_slices load_library meta_graph op_def_registry ops random_seed "
        "registry smart_cond sparse_tensor subscribe tensor_conversion_registry tensor_like tensor_shape "
        "tensor_spec tensor_util test_util traceable_stack type_spec versions",
    ),
    "python.keras.distribute": (
        "inner.keras.distribution_names",
        "distribute_strategy_test distributed_training_utils keras_correctness_test_base",
    ),
    "python.keras.engine": (
        "tf.keras tf.keras.layers tf.keras.models",
        "base_layer base_layer_utils input_layer input_spec network node sequential training training_utils",
    ),
    "python.keras.layers": (
        "tf.keras.layers tideflow.keras.layers.cells",
        "advanced_activations convolutional convolutional_recurrent core cudnn_recurrent dense_attention "
        "embeddings local merge noise normalization pooling recurrent serialization wrappers",
    ),
    "python.keras.mixed_precision": ("tf.keras.mixed_precision", ""),
    "python.keras.mixed_precision.experimental": (
        "tf.keras.mixed_precision.experimental",
        "loss_scale_optimizer policy",
    ),
    "python.keras.optimizers": (
        "tf.keras.optimizers inner.keras.layer_names",
        "adadelta_v2 adagrad_v2 adam_v2 adamax_v2 ftrl gradient_descent_v2 nadam_v2 optimizer_v2 rmsprop_v2",
    ),
    "python.keras.optimizer_v2": (
        "tf.keras.optimizers tf.keras.optimizers.schedules",
        "adadelta adagrad adam adamax ftrl gradient_descent learning_rate_schedule nadam optimizer_v2 "
        "rmsprop",
    ),
    "python.keras.saving": (
        "tf.keras.models inner.keras.saving_names",
        "hdf5_format model_config save",
    ),
    "python.keras.utils": (
        "tf.keras.utils inner.keras.standalone_names",
        "conv_utils data_utils generic_utils io_utils layer_utils losses_utils multi_gpu_utils np_utils "
        "tf_utils vis_utils",
    ),
    "python.layers": (
        "tf.layers inner.keras.layer_aliases",
        "base convolutional core layers normalization pooling utils",
    ),
    "python.lib": ("tf", ""),
    "python.lib.io": ("tf.io tf.gfile tf.python_io", "file_io python_io tf_record"),
    "python.ops": (
        "tf tf.nn tf.math tf.linalg tf.image tf.strings tf.io tf.sparse tf.random tf.initializers "
        "tf.debugging inner.graph.second_forms",
        "array_grad array_ops batch_ops bitwise_ops boosted_trees_ops candidate_sampling_ops check_ops "
        "clip_ops clustering_ops collective_ops cond_v2 confusion_matrix control_flow_grad "
        "control_flow_ops control_flow_util control_flow_util_v2 control_flow_v2_toggles "
        "critical_section_ops ctc_ops custom_gradient data_flow_grad data_flow_ops default_gradient "
        "embedding_ops functional_ops gradient_checker gradient_checker_v2 gradients gradients_impl "
        "gradients_util histogram_ops image_grad image_ops image_ops_impl init_ops init_ops_v2 "
        "initializers_ns inplace_ops io_ops linalg_grad linalg_ops linalg_ops_impl list_ops logging_ops "
        "lookup_ops manip_grad manip_ops map_fn math_grad math_ops metrics metrics_impl nccl_ops nn "
        "nn_grad nn_impl nn_ops numerics optional_grad parallel_for parsing_ops partitioned_variables "
        "proto_ops ragged random_grad random_ops resource_variable_ops rnn rnn_cell rnn_cell_impl "
        "rnn_cell_wrapper_impl rnn_grad script_ops sdca_ops session_ops sets sets_impl signal sort_ops "
        "sparse_grad sparse_ops special_math_ops spectral_ops standard_ops state_grad state_ops "
        "stateful_random_ops stateless_random_ops string_ops summary_op_util template tensor_array_grad "
        "tensor_array_ops training_ops unconnected_gradients variable_scope variables "
        "weights_broadcast_ops while_v2",
    ),
    "python.ops.distributions": (
        "tf.distributions",
        "bernoulli beta categorical dirichlet dirichlet_multinomial distribution distributions "
        "exponential gamma kullback_leibler laplace multinomial normal student_t uniform util bijector "
        "bijector_impl identity_bijector special_math transformed_distribution",
    ),
    "python.ops.linalg": (
        "tf.linalg",
        "linalg linalg_impl linear_operator linear_operator_addition linear_operator_adjoint "
        "linear_operator_algebra linear_operator_block_diag linear_operator_circulant "
        "linear_operator_composition linear_operator_diag linear_operator_full_matrix "
        "linear_operator_householder linear_operator_identity linear_operator_inversion "
        "linear_operator_kronecker linear_operator_low_rank_update linear_operator_lower_triangular "
        "linear_operator_toeplitz linear_operator_util linear_operator_zeros",
    ),
    "python.ops.losses": ("tf.losses", "loss_reduction losses losses_impl util"),
    "python.ops.parallel_for": ("tf", "control_flow_ops gradients"),
    "python.ops.ragged": (
        "tf.ragged tf.strings tf tideflow.ragged.tensor tideflow.ragged.conversion tideflow.ragged.arrays",
        "ragged_array_ops ragged_batch_gather_ops ragged_concat_ops ragged_conversion_ops "
        "ragged_factory_ops ragged_functional_ops ragged_gather_ops ragged_map_ops ragged_math_ops "
        "ragged_dispatch ragged_getitem ragged_operators ragged_squeeze_op ragged_string_ops ragged_tensor "
        "ragged_tensor_value ragged_where_op segment_id_ops",
    ),
    "python.ops.signal": (
        "tf.signal",
        "dct_ops fft_ops mel_ops mfcc_ops reconstruction_ops shape_ops signal spectral_ops window_ops",
    ),
    "python.platform": (
        "tf.app tf.test tf.sysconfig tf.resource_loader",
        "app benchmark build_info control_imports flags gfile googletest remote_utils resource_loader "
        "self_check sysconfig test tf_logging",
    ),
    "python.saved_model": (
        "tf.saved_model tf.saved_model.builder tf.saved_model.main_op tideflow.saved_model.loader "
        "tideflow.saved_model.constants",
        "builder builder_impl constants load loader loader_impl main_op main_op_impl nested_structure_coder "
        "revived_types save saved_model signature_constants signature_def_utils signature_def_utils_impl "
        "simple_save tag_constants utils utils_impl",
    ),
    "python.saved_model.model_utils": (
        "tf.estimator.export tf.estimator",
        "export_output export_utils mode_keys",
    ),
    "python.summary": ("tf.summary tf.train", "plugin_asset summary summary_iterator"),
    "python.summary.writer": ("tf.summary", "writer writer_cache event_file_writer"),
    "python.training": (
        "tf.train tf",
        "adadelta adagrad adagrad_da adam basic_loops basic_session_run_hooks checkpoint_management "
        "checkpoint_ops checkpoint_utils coordinator device_setter ftrl gradient_descent input "
        "evaluation learning_rate_decay momentum monitored_session moving_averages optimizer "
        "proximal_adagrad proximal_gradient_descent queue_runner queue_runner_impl rmsprop saver "
        "saver_test_utils server_lib session_manager session_run_hook slot_creator supervisor "
        "sync_replicas_optimizer training training_ops training_util warm_starting_util",
    ),
    "python.tpu": (
        "tf.contrib.tpu tf.tpu tf.estimator.tpu tideflow.contrib.tpu.replicas tideflow.contrib.tpu.topology "
        "tideflow.contrib.tpu.streaming",
        "async_checkpoint bfloat16 datasets device_assignment functional ops topology tpu tpu_config "
        "tpu_context tpu_estimator tpu_feed tpu_function tpu_optimizer tpu_sharding training_loop",
    ),
    "python.tpu.ops": ("tf.contrib.tpu tf.tpu", "tpu_ops"),
    "python.training.experimental": (
        "tf.train.experimental",
        "loss_scale loss_scale_optimizer mixed_precision",
    ),
    "python.training.tracking": (
        "tf.train tf.train.experimental tideflow.train.checkpoint tideflow.train.object_saver "
        "tideflow.variables.trackable tideflow.variables.assets inner.train.tracking_names "
        "inner.train.checkpoint_names",
        "base data_structures graph_view python_state tracking util",
    ),
    "python.util": (
        "tf tf.compat tf.nest",
        "all_util compat compat_internal decorator_utils deprecation dispatch example_parser_configuration "
        "function_utils is_in_graph_mode keyword_args lazy_loader lock_util memory nest object_identity "
        "protobuf serialization tf_contextlib tf_decorator tf_export tf_inspect tf_should_use tf_stack",
    ),
    "python.util.protobuf": ("", "compare"),
    **contrib_modules.PACKAGES,
    **library_modules.PACKAGES,
    "examples": ("", ""),
    "examples.tutorials": ("", ""),
    "examples.tutorials.mnist": ("", "input_data"),
}

# Single modules, where they are not what their package is.
MODULES: dict[str, str] = {
    "": "tf",
    "compat": "tf.compat",
    "compat.v1": "tf",
    "compat.v2.compat.v1": "tf",
    **contrib_modules.MODULES,
    **library_modules.MODULES,
    **keras_modules.MODULES,
    "examples.tutorials.mnist": "tideflow.contrib.learn.digits",
    "examples.tutorials.mnist.input_data": "tideflow.contrib.learn.digits",
    "python.client.device_lib": "tideflow.platform.device_lib",
    "python.client.session": "tf tideflow.session.fetches tideflow.session.session inner.graph.session_names",
    "python.client.timeline": "tideflow.session.timeline",
    "python.framework.errors": "tf.errors tideflow.graph.errors",
    "python.ops.array_ops": "inner.graph.operation_names tf inner.graph.second_forms",
    "python.ops.clustering_ops": "tf.contrib.factorization gen",
    "python.ops.collective_ops": "tideflow.ops.distributed.collectives",
    "python.ops.nccl_ops": "tideflow.ops.distributed.nccl",
    "python.framework.errors_impl": "tf.errors tideflow.graph.errors inner.graph.error_names",
    "python.framework.constant_op": "inner.graph.plain_second_forms tf inner.graph.operation_names "
    "inner.graph.tensor_utilities",
    "python.framework.config": "tf.config tf.config.experimental tf.config.optimizer tf.config.threading",
    "python.framework.combinations": "inner.testing.mode_combinations",
    "python.framework.test_combinations": "inner.testing.test_combinations",
    "python.framework.composite_tensor": "inner.graph.composite_names",
    "python.framework.composite_tensor_utils": "inner.graph.composite_utilities",
    "python.framework.tensor_spec": "tf tf.contrib.framework",
    "python.framework.type_spec": "tf tideflow.graph.type_spec",
    "python.framework.cpp_shape_inference_pb2": "tideflow.graph.shape_inference_proto",
    "python.framework.dtypes": "tf.dtypes tf tideflow.graph.dtypes inner.graph.dtype_names",
    "python.framework.device": "tf tideflow.graph.device",
    "python.framework.function": "tideflow.functions.defun inner.graph.function_names tf",
    "python.framework.graph_to_function_def": "inner.graph.function_names",
    "python.ops.sparse_ops": "inner.graph.sparse_names tf tf.sparse inner.graph.second_forms",
    "python.framework.meta_graph": "inner.graph.meta_graph_names tf.train",
    "python.framework.common_shapes": "inner.graph.shape_functions tf",
    "python.framework.function_def_to_graph": "inner.graph.function_names",
    "python.framework.func_graph": "tideflow.functions.func_graph inner.graph.function_names "
    "inner.eager.function_names tf.contrib.framework.nest",
    "python.framework.registry": "inner.graph.registries",
    "python.framework.subscribe": "inner.graph.subscriptions",
    "python.framework.tensor_like": "inner.graph.registries",
    "python.framework.test_ops": "inner.testing.test_op_names inner.graph.op_def_library_names",
    "python.framework.traceable_stack": "inner.graph.registries",
    "python.grappler": "",
    "python.grappler.tf_optimizer": "inner.graph.optimizer_names",
    "python.platform.build_info": "inner.util.version_names",
    "python.platform.control_imports": "",
    "python.platform.remote_utils": "inner.util.version_names",
    "python.platform.self_check": "inner.util.version_names",
    "python.framework.graph_util": "tf.graph_util",
    "python.framework.op_def_registry": "inner.util.utilities",
    "python.eager.backprop": "inner.eager.context_names tf tf.contrib.eager",
    "python.eager.cancellation": "inner.eager.control",
    "python.eager.executor": "inner.eager.control",
    "python.eager.forwardprop": "inner.eager.forward_gradients",
    "python.eager.imperative_grad": "inner.eager.tape_names",
    "python.eager.tape": "inner.eager.tape_names",
    "python.eager.context": "inner.eager.context_names tf tf.config.experimental tideflow.eager.context "
    "tideflow.platform.config",
    "python.eager.core": "inner.eager.context_names",
    "python.eager.def_function": "tf tideflow.functions.def_function",
    "python.eager.execute": "inner.eager.context_names",
    "python.eager.graph_only_ops": "inner.eager.function_names",
    "python.eager.function": "inner.eager.function_names tf tf.contrib.eager "
    "tideflow.functions.concrete tideflow.functions.def_function tideflow.functions.function_spec "
    "tideflow.functions.tracing",
    "python.eager.lift_to_graph": "inner.eager.context_names",
    "python.eager.monitoring": "inner.eager.monitoring",
    "python.eager.test": "inner.testing.eager_testing tf.test",
    "python.framework.ops": "tideflow.graph.scopes tideflow.graph.convert tideflow.graph.operation "
    "tideflow.autodiff.registry tideflow.graph.composite tideflow.profiler.flops tf "
    "inner.keras.standalone_names inner.graph.graph_names inner.graph.default_stacks "
    "inner.graph.shape_functions inner.graph.gradient_registry",
    "python.framework.random_seed": "tf.random tf inner.graph.random_names",
    "python.framework.smart_cond": "tf.contrib.framework",
    "python.framework.tensor_shape": "tf tideflow.graph.shapes",
    "python.framework.tensor_util": "tf tf.contrib.util tf.contrib.framework tideflow.graph.tensor_proto "
    "tideflow.graph.partial inner.graph.tensor_utilities",
    "python.framework.test_util": "inner.testing.test_utilities tf.test tideflow.platform.testing tf",
    "python.layers.base": "tf.layers tf.layers.experimental tideflow.layers.base",
    "python.layers.utils": "inner.keras.layer_utilities tf.contrib.framework inner.keras.standalone_names",
    "python.lib.io.file_io": "inner.util.file_names",
    "python.ops.control_flow_ops": "tf tideflow.ops.control_flow.conditionals inner.graph.control_flow_names "
    "tideflow.ops.control_flow.switches tideflow.ops.control_flow.grouping "
    "tideflow.ops.control_flow.contexts",
    "python.ops.confusion_matrix": "tideflow.compat.v2.math tf tideflow.ops.math.confusion",
    "python.ops.data_flow_ops": "tf tideflow.queues.base tideflow.queues.barriers tideflow.queues.staging "
    "tideflow.queues.record_input",
    "python.ops.custom_gradient": "tf inner.train.variable_names inner.graph.gradient_names",
    "python.ops.distributions.bijector": "tf.contrib.distributions.bijectors",
    "python.ops.distributions.bijector_impl": "tf.contrib.distributions.bijectors",
    "python.ops.distributions.identity_bijector": "tf.contrib.distributions.bijectors",
    "python.ops.distributions.transformed_distribution": "tf.contrib.distributions",
    "python.ops.distributions.util": "tf.contrib.distributions inner.math.distribution_utilities "
    "inner.math.distribution_names tideflow.contrib.distributions.tools tf",
    "python.module": "tf",
    "python.module.module": "tf inner.keras.layer_names",
    "python.ops.cond_v2": "inner.graph.control_flow_v2_names tf",
    "python.ops.control_flow_util_v2": "inner.graph.control_flow_v2_names tf",
    "python.ops.while_v2": "inner.graph.control_flow_v2_names tf",
    "python.ops.control_flow_util": "inner.graph.control_flow_names tf",
    "python.ops.functional_ops": "tf inner.graph.functional_names",
    "python.ops.gradient_checker": "tf.test",
    "python.ops.gradient_checker_v2": "tideflow.eager.gradient_checker",
    "python.ops.stateful_random_ops": "tf.random.experimental inner.graph.random_names",
    "python.ops.stateless_random_ops": "tf.random tf",
    "python.ops.init_ops": "inner.graph.second_forms tf tf.initializers tideflow.variables.initializers "
    "inner.graph.arithmetic_names inner.graph.initializer_names",
    "python.ops.inplace_ops": "inner.graph.inplace_names gen",
    "python.ops.linalg_ops": "tf tf.linalg",
    "python.ops.parsing_ops": "inner.graph.plain_second_forms tf.io tf",
    "python.ops.random_ops": "tf tf.random inner.graph.random_op_names inner.graph.second_forms",
    "python.ops.losses.util": "tf.losses inner.keras.loss_names",
    "python.ops.list_ops": "inner.graph.list_names gen",
    "python.ops.logging_ops": "tf.contrib.deprecated tf inner.graph.second_forms",
    "python.ops.lookup_ops": "tideflow.lookup.vocabulary tf.contrib.lookup tf.lookup tf "
    "tf.lookup.experimental",
    "python.ops.math_ops": "tf.math tf inner.graph.arithmetic_names inner.graph.second_forms",
    "python.ops.metrics": "tf.metrics",
    "python.ops.metrics_impl": "tf.metrics tideflow.metrics.streaming tideflow.metrics.at_k "
    "inner.train.metric_names",
    "python.ops.nn": "tf.nn",
    "python.ops.nn_impl": "tf.nn inner.graph.loss_names tf.linalg",
    "python.ops.nn_ops": "inner.graph.second_forms tf.nn",
    "python.ops.partitioned_variables": "tf tideflow.variables.partitioners",
    "python.ops.resource_variable_ops": "tideflow.variables.resource tf gen inner.train.state_names",
    "python.ops.rnn": "tf.nn tideflow.rnn.loops inner.graph.recurrent_names",
    "python.ops.op_selector": "tideflow.contrib.graph_editor.select tideflow.contrib.graph_editor.util",
    "python.ops.ragged.ragged_config": "inner.graph.ragged_utilities",
    "python.ops.ragged.ragged_conversion_ops": "inner.graph.ragged_conversion_names "
    "tf.ragged tf tideflow.ragged.tensor",
    "python.ops.ragged.ragged_math_ops": "inner.graph.ragged_math_names "
    "tf.ragged tf.math tf tideflow.ragged.tensor",
    "python.ops.ragged.ragged_string_ops": "inner.graph.string_names tf.ragged tf.strings tf",
    "python.ops.ragged.ragged_util": "inner.graph.ragged_utilities",
    "python.ops.rnn_cell": "tf.nn.rnn_cell",
    "python.ops.rnn_cell_wrapper_impl": "tf.nn.rnn_cell",
    "python.ops.rnn_cell_impl": "tf.nn.rnn_cell tideflow.rnn.cells tideflow.rnn.wrappers "
    "inner.graph.recurrent_names",
    "python.ops.sets": "tf.sets",
    "python.ops.summary_op_util": "inner.train.summary_names",
    "python.ops.summary_ops_v2": "inner.train.recorded_summary_names tf.contrib.summary "
    "inner.train.summary_names",
    "python.ops.sets_impl": "tf.sets",
    "python.ops.variable_scope": "tf tideflow.variables.variable_scope inner.train.program_names "
    "inner.train.state_names",
    "python.ops.variables": "inner.train.variable_names tf tideflow.variables.base "
    "tideflow.variables.partitioned tideflow.variables.reference inner.train.program_names",
    "python.ops.tensor_array_grad": "inner.graph.tensor_array_names tf",
    "python.ops.weights_broadcast_ops": "tideflow.ops.nn.weights",
    "python.platform.flags": "tideflow.platform.flags",
    "python.platform.gfile": "tf.gfile",
    "python.platform.tf_logging": "tf.logging tideflow.platform.logging",
    "python.platform.googletest": "tf.test inner.testing.test_utilities",
    "python.profiler": "tf.profiler",
    "python.profiler.model_analyzer": "tf.profiler tideflow.profiler.profiling",
    "python.profiler.option_builder": "tf.profiler",
    "python.profiler.profile_context": "tf.contrib.tfprof tideflow.profiler.contexts",
    "python.profiler.profiler": "tf.profiler",
    "python.profiler.tfprof_logger": "tf.profiler tideflow.profiler.options",
    "python.pywrap_tensorflow": "tf.pywrap_tensorflow tf.train inner.eager.context_names "
    "inner.util.version_names inner.graph.tensor_utilities inner.train.event_files",
    "python.ops.resources": "tideflow.train.resource_registry",
    "python.training.basic_session_run_hooks": "tf.train tideflow.train.step_hooks "
    "tideflow.train.hook_timers inner.train.program_names",
    "python.training.device_setter": "tf.train tideflow.cluster.device_setter inner.train.program_names",
    "python.training.session_manager": "tf.train inner.train.program_names",
    "python.training.evaluation": "tideflow.train.evaluation inner.train.program_names",
    "python.training.moving_averages": "tf.train tideflow.train.moving_averages",
    "python.training.optimizer": "tf.train tideflow.train.optimizer",
    "python.training.supervisor": "tf.train tideflow.train.supervisor",
    "python.summary.plugin_asset": "tideflow.summary.plugin_assets",
    "python.summary.writer.writer": "tf.summary tideflow.summary.writer tideflow.summary.plugin_assets "
    "inner.train.program_names",
    "python.summary.writer.event_file_writer": "tideflow.summary.writer",
    "python.training.warm_starting_util": "tf.train inner.train.warm_start_names",
    "python.training.checkpoint_management": "tf.train inner.train.checkpoint_names",
    "python.training.checkpoint_ops": "tf.train inner.train.checkpoint_names tf",
    "python.training.checkpoint_state_pb2": "tideflow.io.checkpoint_state",
    "python.training.checkpoint_utils": "tf.train tideflow.train.checkpoint_utils "
    "inner.train.checkpoint_names",
    "python.saved_model.model_utils.export_output": "inner.train.model_exports",
    "python.saved_model.model_utils.export_utils": "inner.train.model_exports",
    "python.saved_model.model_utils.mode_keys": "inner.train.model_exports",
    "python.saved_model.constants": "tf.saved_model tideflow.saved_model.constants "
    "inner.train.signature_names",
    "python.saved_model.builder": "tf.saved_model tf.saved_model.builder inner.train.signature_names",
    "python.saved_model.builder_impl": "tf.saved_model tf.saved_model.builder inner.train.signature_names",
    "python.saved_model.load": "inner.train.object_model_names",
    "python.saved_model.loader_impl": "tf.saved_model tideflow.saved_model.loader "
    "inner.train.signature_names",
    "python.saved_model.signature_constants": "tf.saved_model inner.train.signature_names",
    "python.saved_model.signature_def_utils": "tf.saved_model inner.train.signature_names",
    "python.saved_model.signature_def_utils_impl": "tf.saved_model inner.train.signature_names",
    "python.saved_model.utils": "tf.saved_model inner.train.signature_names",
    "python.saved_model.utils_impl": "tf.saved_model inner.train.signature_names",
    "python.saved_model.revived_types": "tideflow.saved_model.revived_types",
    "python.training.monitored_session": "tf.train tideflow.train.monitored_session",
    "python.training.saver": "tf.train inner.train.saver_names tideflow.train.saver "
    "inner.train.checkpoint_names",
    "python.training.saver_test_utils": "inner.testing.saver_testing",
    "python.training.slot_creator": "tideflow.train.slot_creator",
    "python.training.distribute": "tf.distribute",
    "python.training.distribution_strategy_context": "tf.distribute",
    "python.training.saving": "",
    "python.training.saving.functional_saver": "inner.train.functional_savers",
    "python.training.saving.saveable_object_util": "inner.train.saveable_names",
    "python.training.tracking.layer_utils": "inner.keras.layer_lists",
    "python.training.saving.saveable_object": "tideflow.train.saveables",
    "python.saved_model.nested_structure_coder": "inner.train.structure_coder "
    "tideflow.saved_model.structured_values",
    "python.training.tracking.data_structures": "tideflow.variables.trackable tideflow.contrib.checkpoint",
    "core.protobuf.tpu": "",
    "core.protobuf.tpu.topology_pb2": "tideflow.contrib.tpu.topology",
    "python.tf2": "inner.util.version_names",
    "python.training.summary_io": "inner.train.program_names tf.train",
    "python.training.tensorboard_logging": "inner.train.logged_events",
    "python.training.training_ops": "gen",
    "python.training.training_util": "tf.train inner.train.program_names",
    "python.util.all_util": "inner.util.documented_names",
    "python.util.compat": "tf.compat inner.util.version_names",
    "python.util.nest": "tf.contrib.framework.nest tf.nest inner.util.utilities",
    "python.ops.boosted_trees_ops": "inner.graph.tree_names",
    "core.kernels": "",
    "core.kernels.boosted_trees": "",
    "core.kernels.boosted_trees.boosted_trees_pb2": "tideflow.graph.boosted_trees_proto",
    "python.ops.distributions.special_math": "inner.math.distribution_utilities "
    "tideflow.distributions.normal_functions",
    "python.ops.distributions.kullback_leibler": "tf.distributions tideflow.distributions.divergence",
    "python.ops.distributions.beta": "tf.distributions tideflow.contrib.distributions.positive_parameters",
    "python.ops.distributions.exponential": "tf.distributions "
    "tideflow.contrib.distributions.positive_parameters",
    "python.ops.distributions.gamma": "tf.distributions tideflow.contrib.distributions.positive_parameters",
    "python.ops.distributions.laplace": "tf.distributions tideflow.contrib.distributions.positive_parameters",
    "python.ops.distributions.normal": "tf.distributions tideflow.contrib.distributions.positive_parameters",
    "python.ops.distributions.student_t": "tf.distributions "
    "tideflow.contrib.distributions.positive_parameters",
    "python.ops.distributions.bijector_test_util": "inner.testing.bijector_testing",
    "python.ops.linalg.linear_operator_test_util": "inner.testing.linear_operator_testing",
    "python.ops.linalg.linear_operator_algebra": "inner.math.linear_operator_names",
    "python.ops.linalg.linear_operator_util": "inner.math.linear_operator_names",
    "python.ops.linalg.linear_operator_addition": "inner.math.operator_sums",
    "python.ops.linalg.adjoint_registrations": "",
    "python.ops.linalg.cholesky_registrations": "",
    "python.ops.linalg.inverse_registrations": "",
    "python.ops.linalg.matmul_registrations": "",
    "python.ops.linalg.solve_registrations": "",
    "python.ops.parallel_for": "inner.graph.parallel_loops",
    "python.ops.parallel_for.control_flow_ops": "inner.graph.parallel_loops tf",
    "python.ops.parallel_for.gradients": "inner.graph.parallel_loops tf",
    "python.ops.parallel_for.test_util": "inner.graph.parallel_loops",
    "python.kernel_tests": "",
    "python.kernel_tests.random": "",
    "python.kernel_tests.signal": "",
    "python.kernel_tests.random.util": "inner.testing.random_testing",
    "python.kernel_tests.signal.test_util": "inner.testing.random_testing",
    "python.ops.spectral_ops_test_util": "inner.testing.random_testing",
    "python.ops.critical_section_ops": "tf inner.graph.control_flow_names",
    "python.ops.ctc_ops": "tf.nn inner.graph.loss_names",
    "python.ops.state_ops": "tf inner.train.state_names",
    "python.ops.template": "tf inner.train.state_names",
    "python.ops.gradients_impl": "tf inner.graph.arithmetic_names inner.graph.gradient_names",
    "python.ops.gradients_util": "tf inner.graph.arithmetic_names inner.graph.gradient_names",
    "python.ops.image_ops_impl": "tf.image tf inner.graph.arithmetic_names",
    "python.ops.image_ops": "tf.image tf inner.graph.arithmetic_names",
    "python.ops.check_ops": "tf tf.debugging inner.graph.arithmetic_names",
    "python.ops.numerics": "tf tf.debugging inner.graph.arithmetic_names",
    "python.framework.convert_to_constants": "inner.graph.constant_functions",
    "python.framework.sparse_tensor": "tf tf.sparse inner.graph.tensor_utilities",
    "python.framework.op_def_library": "inner.graph.op_def_library_names",
    "python.framework.indexed_slices": "tf tf.contrib.framework tideflow.graph.composite "
    "tideflow.graph.convert inner.graph.graph_names",
    "python.ops.session_ops": "tf tideflow.ops.state.session_handles",
    "python.platform.parameterized": "absl.testing.parameterized",
    "python.ops.script_ops": "tf inner.graph.functional_names",
    "user_ops": "tf.user_ops",
    "core": "",
    "core.framework": "",
    "core.lib": "",
    "core.lib.core": "",
    "core.lib.core.error_codes_pb2": "tf.errors inner.graph.error_codes",
    "core.protobuf.error_codes_pb2": "tf.errors inner.graph.error_codes",
    "core.protobuf.tensorflow_server_pb2": "tf.train",
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
    "core.example.example_parser_configuration_pb2": "inner.train.parser_configuration",
    "python.util.compat_internal": "inner.util.small_utilities",
    "python.util.decorator_utils": "tideflow.platform.decorators",
    "python.util.deprecation": "tideflow.platform.deprecation",
    "python.util.dispatch": "inner.util.small_utilities",
    "python.util.is_in_graph_mode": "inner.util.small_utilities",
    "python.util.keyword_args": "inner.util.small_utilities",
    "python.util.lock_util": "inner.util.small_utilities",
    "python.util.memory": "inner.util.small_utilities",
    "python.util.object_identity": "inner.util.object_identity",
    "python.util.protobuf.compare": "tideflow.platform.message_comparison",
    "python.util.serialization": "inner.util.small_utilities",
    "python.util.tf_stack": "inner.util.small_utilities",
    "python.util.example_parser_configuration": "inner.train.parser_configuration",
    "python.util.function_utils": "inner.util.utilities",
    "python.util.lazy_loader": "inner.util.utilities",
    "python.ops.init_ops_v2": "tideflow.compat.v2.keras.initializers inner.graph.initializer_names",
    "python.util.tf_contextlib": "contextlib",
    "python.util.tf_decorator": "tideflow.platform.decorators",
    "python.util.tf_export": "inner.util.export_marks",
    "python.util.tf_inspect": "inner.util.inspection",
    "python.util.tf_should_use": "inner.util.utilities",
}
