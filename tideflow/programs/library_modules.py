"""TensorFlow's inner modules of datasets, feature columns, distribution, tools and its debugger."""

# Packages: where their modules' names are looked up, and the modules.
PACKAGES: dict[str, tuple[str, str]] = {
    "python.data": ("tf.data", ""),
    "python.data.experimental": ("tf.data.experimental", ""),
    "python.data.experimental.kernel_tests": ("", "reader_dataset_ops_test_base stats_dataset_test_base"),
    "python.data.experimental.kernel_tests.serialization": ("", "dataset_serialization_test_base"),
    "python.data.experimental.ops": (
        "tf.data.experimental tf.contrib.data",
        "batching cardinality counter distribute distribute_options enumerate_ops error_ops "
        "get_single_element grouping interleave_ops iterator_ops map_defun matching_files optimization "
        "optimization_options parsing_ops prefetching_ops random_ops readers resampling scan_ops shuffle_ops "
        "sleep snapshot stats_aggregator stats_ops "
        "stats_options take_while_ops threading_options threadpool unique writers",
    ),
    "python.data.kernel_tests": ("", "test_base"),
    "python.data.ops": (
        "tf.data tf.data.experimental tf",
        "dataset_ops iterator_ops multi_device_iterator_ops optional_ops readers",
    ),
    "python.data.util": (
        "inner.data.utilities",
        "convert nest options random_seed sparse structure traverse",
    ),
    "python.debug": ("tideflow.programs.debugger", ""),
    "python.debug.cli": (
        "",
        "analyzer_cli base_ui cli_config cli_shared cli_test_utils command_parser debugger_cli_common "
        "evaluator profile_analyzer_cli readline_ui tensor_format ui_factory",
    ),
    "python.debug.lib": (
        "tideflow.programs.debugger",
        "common debug_data debug_gradients debug_graphs debug_utils profiling source_utils",
    ),
    "python.debug.wrappers": (
        "tideflow.programs.debugger",
        "dumping_wrapper framework hooks local_cli_wrapper",
    ),
    "python.distribute": (
        "tf.distribute tf.distribute.experimental tf.contrib.distribute",
        "central_storage_strategy collective_all_reduce_strategy combinations cross_device_ops "
        "distribute_coordinator "
        "distribute_coordinator_context distribute_lib distribution_strategy_context mirrored_strategy "
        "device_util input_lib multi_worker_util numpy_dataset one_device_strategy parameter_server_strategy "
        "reduce_util strategy_combinations summary_op_util tpu_strategy values",
    ),
    "python.distribute.cluster_resolver": (
        "tf.distribute.cluster_resolver tideflow.cluster.resolvers",
        "cluster_resolver gce_cluster_resolver kubernetes_cluster_resolver slurm_cluster_resolver "
        "tfconfig_cluster_resolver tpu_cluster_resolver",
    ),
    "python.feature_column": (
        "tf.feature_column",
        "dense_features dense_features_v2 feature_column feature_column_lib feature_column_v2 "
        "sequence_feature_column serialization utils",
    ),
}

_TESTS = "python.data.experimental.kernel_tests"
_DEBUG_CLI = "python.debug.cli"
_DEBUGGER = "tideflow.programs.debugger"

# Single modules, where they are not what their package is.
MODULES: dict[str, str] = {
    f"{_TESTS}.reader_dataset_ops_test_base": "inner.testing.dataset_reader_tests",
    f"{_TESTS}.serialization.dataset_serialization_test_base": "inner.testing.dataset_saving_tests",
    f"{_TESTS}.stats_dataset_test_base": "inner.testing.dataset_stats_tests",
    "python.data.experimental.ops.cardinality": "tf.data.experimental tideflow.runtime.datasets",
    "python.data.experimental.ops.distribute": "inner.data.replica_names",
    "python.data.experimental.ops.map_defun": "inner.data.transformation_names",
    "python.data.experimental.ops.matching_files": "inner.data.transformation_names",
    "python.data.experimental.ops.optimization": "inner.data.optimization_names tf.data.experimental",
    "python.data.experimental.ops.readers": "tf.data.experimental tf.contrib.data inner.data.reader_names",
    "python.data.experimental.ops.sleep": "inner.data.transformation_names",
    "python.data.experimental.ops.snapshot": "inner.data.transformation_names",
    "python.data.experimental.ops.threadpool": "inner.data.transformation_names",
    "python.data.kernel_tests.test_base": "inner.testing.dataset_testing",
    "python.data.ops.dataset_ops": "tf.data tf.data.experimental tf inner.data.transformation_names",
    "python.data.ops.multi_device_iterator_ops": "inner.data.device_iterators",
    "python.data.ops.readers": "tf.data tf.data.experimental inner.data.reader_names tf",
    "python.data.util.options": "inner.data.option_names",
    "python.data.util.sparse": "inner.data.sparse_elements",
    "python.distribute.combinations": "inner.testing.distribution_combinations",
    "python.distribute.device_util": "inner.train.device_names",
    "python.data.util.nest": "inner.data.data_names",
    f"{_DEBUG_CLI}.analyzer_cli": f"{_DEBUGGER}.cli.analyzer {_DEBUGGER}.cli.parsers",
    f"{_DEBUG_CLI}.base_ui": f"{_DEBUGGER}.cli.terminals",
    f"{_DEBUG_CLI}.cli_config": f"{_DEBUGGER}.cli.settings",
    f"{_DEBUG_CLI}.cli_shared": f"{_DEBUGGER}.cli.messages",
    f"{_DEBUG_CLI}.cli_test_utils": "inner.testing.shown_lines",
    f"{_DEBUG_CLI}.command_parser": f"{_DEBUGGER}.cli.arguments",
    f"{_DEBUG_CLI}.debugger_cli_common": f"{_DEBUGGER}.cli.commands {_DEBUGGER}.cli.rich_text",
    f"{_DEBUG_CLI}.evaluator": f"{_DEBUGGER}.cli.expressions",
    f"{_DEBUG_CLI}.profile_analyzer_cli": f"{_DEBUGGER}.cli.profile_analyzer",
    f"{_DEBUG_CLI}.readline_ui": f"{_DEBUGGER}.cli.terminals",
    f"{_DEBUG_CLI}.tensor_format": f"{_DEBUGGER}.cli.tensor_text",
    f"{_DEBUG_CLI}.ui_factory": f"{_DEBUGGER}.cli.terminals",
    "python.debug.lib.common": f"{_DEBUGGER}.run_keys",
    "python.debug.lib.debug_data": f"{_DEBUGGER}.dumps {_DEBUGGER}.values",
    "python.debug.lib.debug_gradients": f"{_DEBUGGER}.gradients",
    "python.debug.lib.debug_graphs": f"{_DEBUGGER}.graphs",
    "python.debug.lib.debug_utils": f"{_DEBUGGER}.watch_options",
    "python.debug.lib.profiling": f"{_DEBUGGER}.profiling",
    "python.debug.lib.source_utils": f"{_DEBUGGER}.source_lines",
    "python.debug.wrappers.framework": f"{_DEBUGGER}.wrappers",
    "python.debug.wrappers.local_cli_wrapper": f"{_DEBUGGER}.local_cli",
    "python.data.util.structure": "tf.data.experimental inner.data.data_names tf",
    "python.distribute.cross_device_ops": "tf.distribute tideflow.distribute.reductions",
    "python.distribute.distribute_lib": "tf.distribute tf.distribute.experimental tf.contrib.distribute "
    "tideflow.distribute.default tideflow.distribute.input_context",
    "python.distribute.input_lib": "tideflow.distribute.inputs",
    "python.distribute.mirrored_strategy": "tf.distribute tideflow.distribute.mirrored",
    "python.distribute.values": "tf.distribute tideflow.distribute.values",
    "python.distribute.distribute_coordinator": "inner.train.worker_tasks",
    "python.distribute.distribute_coordinator_context": "tideflow.train.worker_context",
    "python.distribute.multi_worker_util": "inner.train.cluster_tasks",
    "python.distribute.numpy_dataset": "inner.train.array_datasets",
    "python.distribute.strategy_combinations": "inner.testing.strategy_combinations",
    "python.distribute.summary_op_util": "inner.train.summary_names",
    "python.feature_column.dense_features": "tf.keras.layers",
    "python.feature_column.dense_features_v2": "tideflow.compat.v2.keras.layers",
    "python.feature_column.feature_column": "tf.feature_column inner.train.column_names",
    "python.feature_column.feature_column_lib": "tf.feature_column inner.train.column_names tf.keras.layers "
    "tf.keras.experimental",
    "python.feature_column.feature_column_v2": "tf.feature_column inner.train.column_names",
    "python.feature_column.sequence_feature_column": "tf.feature_column tf.keras.experimental "
    "tf.contrib.feature_column inner.train.column_names",
    "python.feature_column.serialization": "tideflow.feature_column.serialization",
    "python.feature_column.utils": "inner.train.column_names",
    "python.tools": "",
    "python.tools.freeze_graph": "inner.tools.graph_tools inner.tools.commands.freeze_graph",
    "python.tools.import_pb_to_tensorboard": "inner.tools.commands.import_pb_to_tensorboard",
    "python.tools.inspect_checkpoint": "inner.tools.graph_tools inner.tools.commands.inspect_checkpoint",
    "python.tools.optimize_for_inference": "inner.tools.commands.optimize_for_inference",
    "python.tools.optimize_for_inference_lib": "inner.tools.inference_graphs",
    "python.tools.saved_model_cli": "inner.tools.saved_model_commands",
    "python.tools.saved_model_utils": "inner.tools.graph_tools",
    "python.tools.strip_unused": "inner.tools.commands.strip_unused",
    "python.tools.strip_unused_lib": "inner.tools.graph_tools",
}
