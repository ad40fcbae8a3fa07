"""Names of TensorFlow 1.15 that cannot be here, each with a sentence that says what to use instead."""

_ROWS = "read it with its own client, and give what that yields to tf.data.Dataset.from_generator."
_NO_TPU = "Tideflow runs on CPUs and GPUs, not on TPUs:"
_CONNECT = (
    "Eager operations run in this process: build a graph, and run it in a session of a tf.train.Server's "
    "target, or use tf.distribute.experimental.MultiWorkerMirroredStrategy."
)
REFUSED = {
    "contrib.bigtable": f"Tideflow has no client of Cloud Bigtable: {_ROWS}",
    "contrib.cloud": f"Tideflow has no client of Google's cloud. A table of BigQuery: {_ROWS} Files of "
    "Cloud Storage: copy or mount them, and give their paths.",
    **{
        f"contrib.eager.{name}": _CONNECT
        for name in ("connect_to_remote_host", "enable_remote_eager_execution", "set_server_def")
    },
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
    "contrib.tensorrt": "Tideflow uses no TensorRT: its own compiler makes hot steps faster "
    "(TIDEFLOW_COMPILE, tf.xla.experimental.jit_scope).",
    "contrib.tpu.profiler": "There are no TPUs here to profile: use tf.profiler, or tf.RunMetadata.",
    "config.experimental_connect_to_cluster": _CONNECT,
    "config.experimental_connect_to_host": _CONNECT,
    "errors.raise_exception_on_not_ok_status": "It is about TensorFlow's C API, which Tideflow has not: "
    "errors are raised where they happen, as tf.errors.OpError.",
    "estimator.tpu.experimental": f"{_NO_TPU} a TPUEstimator trains on them, and embeddings are those of "
    "tf.feature_column.embedding_column.",
    "lite": "Tideflow has no converter and no interpreter of TensorFlow Lite: save the model with "
    "tf.saved_model.save, which TensorFlow's own converter reads.",
    "load_file_system_library": "Tideflow loads no file systems made for TensorFlow in C++: mount the files, "
    "or read them in tf.py_func.",
    **{
        f"{space}.{name}": f"{_NO_TPU} there is nothing to initialize, to assign or to shut down; leave the "
        "call away."
        for space in ("tpu", "contrib.tpu")
        for name in "DeviceAssignment Topology device_assignment initialize_system shutdown_system".split()
    },
    **{
        f"contrib.tpu.{name}": f"{_NO_TPU} give tensors to a computation as its inputs, or take them from a "
        "tf.data iterator inside it, and return what you want to know from it."
        for name in (
            "InfeedQueue infeed_dequeue infeed_dequeue_tuple infeed_enqueue infeed_enqueue_tuple "
            "outfeed_dequeue outfeed_dequeue_tuple outfeed_enqueue outfeed_enqueue_tuple"
        ).split()
    },
    "contrib.tpu.TPUDistributionStrategy": f"{_NO_TPU} tf.distribute.MirroredStrategy uses the GPUs of this "
    "machine, tf.distribute.experimental.MultiWorkerMirroredStrategy those of several.",
    "contrib.distribute.initialize_tpu_system": f"{_NO_TPU} there is nothing to initialize.",
    **{
        f"python.debug.{name}": "The debugger shows steps on a terminal and writes them to folders; it sends "
        "them to no server: use LocalCLIDebugWrapperSession or DumpingDebugWrapperSession, and their hooks."
        for name in (
            "GrpcDebugHook GrpcDebugWrapperSession TensorBoardDebugHook TensorBoardDebugWrapperSession "
            "wrappers.grpc_wrapper"
        ).split()
    },
    "tpu.experimental": f"{_NO_TPU} there is nothing to initialize, and embeddings are those of "
    "tf.feature_column.embedding_column.",
    "train.do_quantize_training_on_graphdef": "Graphs get fake quantization by "
    "tf.contrib.quantize.create_training_graph, before they are turned into GraphDefs.",
}
