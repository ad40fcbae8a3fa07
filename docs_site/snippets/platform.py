"""Examples of what surrounds a graph: files, logging, settings, summaries, SavedModels, profiles, tests."""

import json
import os
import pathlib
import unittest

import tideflow as tf

# %% tf.app.run, tf.flags
print("In a program: `tf.flags.DEFINE_integer(...)` at the top, and `tf.app.run(main)` at its end.")
try:
    tf.app.run(
        main=lambda argv: print("the program's arguments follow", type(argv).__name__), argv=["train.py"]
    )
except SystemExit as ended:
    print("exit status", ended.code)

# %% tf.compat.as_bytes, tf.compat.as_text, tf.compat.as_str_any
print(tf.compat.as_bytes("ebb"), tf.compat.as_text(b"ebb"), tf.compat.as_str_any(3))

# %% tf.compat.forward_compatible, tf.compat.forward_compatibility_horizon
print(tf.compat.forward_compatible(2019, 1, 1))
with tf.compat.forward_compatibility_horizon(2030, 1, 1):
    print(tf.compat.forward_compatible(2029, 12, 31))

# %% tf.compat.path_to_str
print(tf.compat.path_to_str(pathlib.Path("logs") / "run"))

# %% tf.compat.v1
print(tf.compat.v1.Session is tf.Session)

# %% tf.config.experimental_list_devices, tf.config.experimental.list_logical_devices,
# %% tf.config.experimental.list_physical_devices
print(tf.config.experimental.list_physical_devices("CPU"))
print(tf.config.experimental.list_logical_devices("CPU"))

# %% tf.config.get_soft_device_placement, tf.config.set_soft_device_placement
tf.config.set_soft_device_placement(True)
print(tf.config.get_soft_device_placement())

# %% tf.config.experimental.get_device_policy, tf.config.experimental.set_device_policy
print(tf.config.experimental.get_device_policy())

# %% tf.config.experimental.enable_tensor_float_32_execution,
# %% tf.config.experimental.tensor_float_32_execution_enabled
tf.config.experimental.enable_tensor_float_32_execution(True)  # False: full precision, many times slower
print(tf.config.experimental.tensor_float_32_execution_enabled())

# %% tf.config.experimental.get_memory_growth, tf.config.experimental.set_memory_growth
for gpu in tf.config.experimental.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)
print("memory is taken as it is needed, always")

# %% tf.config.experimental.get_synchronous_execution, tf.config.experimental.set_synchronous_execution
print(tf.config.experimental.get_synchronous_execution())

# %% tf.config.experimental.get_visible_devices, tf.config.experimental.set_visible_devices
cpus = tf.config.experimental.list_physical_devices("CPU")
tf.config.experimental.set_visible_devices(cpus, "CPU")
print(len(tf.config.experimental.get_visible_devices("CPU")))

# %% tf.config.experimental.VirtualDeviceConfiguration,
# %% tf.config.experimental.get_virtual_device_configuration,
# %% tf.config.experimental.set_virtual_device_configuration
(cpu,) = tf.config.experimental.list_physical_devices("CPU")
halves = [tf.config.experimental.VirtualDeviceConfiguration() for _ in range(2)]
try:
    tf.config.experimental.set_virtual_device_configuration(cpu, halves)  # before the first session
    print(len(tf.config.experimental.get_virtual_device_configuration(cpu)))
except RuntimeError as error:
    print(error)

# %% tf.config.optimizer.get_experimental_options, tf.config.optimizer.set_experimental_options
tf.config.optimizer.set_experimental_options({"constant_folding": True})
print(tf.config.optimizer.get_experimental_options())

# %% tf.config.optimizer.get_jit, tf.config.optimizer.set_jit
tf.config.optimizer.set_jit(False)
print(tf.config.optimizer.get_jit())

# %% tf.config.threading.get_inter_op_parallelism_threads,
# %% tf.config.threading.get_intra_op_parallelism_threads,
# %% tf.config.threading.set_inter_op_parallelism_threads,
# %% tf.config.threading.set_intra_op_parallelism_threads
print(
    tf.config.threading.get_inter_op_parallelism_threads(),
    tf.config.threading.get_intra_op_parallelism_threads(),
)

# %% tf.distribute.cluster_resolver.ClusterResolver, tf.distribute.cluster_resolver.SimpleClusterResolver
cluster = tf.train.ClusterSpec({"worker": ["a:1", "b:1"]})
resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(cluster, task_type="worker", task_id=1)
print(resolver.cluster_spec().as_dict(), resolver.task_id, resolver.master("worker", 0))

# %% tf.distribute.cluster_resolver.TFConfigClusterResolver
os.environ["TF_CONFIG"] = json.dumps(
    {"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 1}}
)
resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
print(resolver.task_type, resolver.task_id, resolver.cluster_spec().as_dict())
del os.environ["TF_CONFIG"]

# %% tf.distribute.cluster_resolver.UnionResolver
workers = tf.distribute.cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec({"worker": ["a:1"]}))
servers = tf.distribute.cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec({"ps": ["b:1"]}))
print(tf.distribute.cluster_resolver.UnionResolver(workers, servers).cluster_spec().as_dict())

# %% tf.distribute.cluster_resolver.TPUClusterResolver
resolver = tf.distribute.cluster_resolver.TPUClusterResolver("grpc://10.0.0.2:8470")
print(resolver.cluster_spec().as_dict(), resolver.master())

# %% tf.distribute.experimental.TPUStrategy
try:
    strategy = tf.distribute.experimental.TPUStrategy()
except RuntimeError as error:
    print(error)
    strategy = tf.distribute.MirroredStrategy()

# %% tf.distribute.cluster_resolver.SlurmClusterResolver
try:
    resolver = tf.distribute.cluster_resolver.SlurmClusterResolver({"ps": 1, "worker": 2}, auto_set_gpu=False)
    print(resolver.cluster_spec().as_dict(), resolver.get_task_info())
except (KeyError, RuntimeError):
    print("not started by srun")


# %% tf.distribute.cluster_resolver.KubernetesClusterResolver,
# %% tf.distribute.cluster_resolver.GCEClusterResolver
class Pods:
    """Stands for a client of the `kubernetes` package."""

    def list_pod_for_all_namespaces(self, label_selector):
        pod = tf.test.mock.Mock()
        pod.metadata.name, pod.status.phase, pod.status.host_ip = "train-0", "Running", "10.0.0.7"
        return tf.test.mock.Mock(items=[pod])


resolver = tf.distribute.cluster_resolver.KubernetesClusterResolver(
    {"worker": ["app=train"]}, override_client=Pods()
)
print(resolver.cluster_spec().as_dict())

# %% tf.errors.OpError, tf.errors.InvalidArgumentError
x = tf.placeholder(tf.float32, [None, None])
y = tf.matmul(x, tf.ones([3, 2]), name="product")
with tf.Session() as sess:
    try:
        sess.run(y, {x: [[1.0, 2.0]]})
    except tf.errors.InvalidArgumentError as error:
        print(error.op.name, isinstance(error, tf.errors.OpError), error.error_code)

# %% tf.errors.OutOfRangeError
element = tf.data.Dataset.range(1).make_one_shot_iterator().get_next()
with tf.Session() as sess:
    sess.run(element)
    try:
        sess.run(element)
    except tf.errors.OutOfRangeError as error:
        print(error.message)

# %% tf.errors.FailedPreconditionError
w = tf.get_variable("w", initializer=1.0)
with tf.Session() as sess:
    try:
        sess.run(w)
    except tf.errors.FailedPreconditionError as error:
        print(error.message)

# %% tf.errors.NotFoundError
try:
    tf.gfile.GFile("no such file").read()
except tf.errors.NotFoundError as error:
    print(error.error_code == tf.errors.NOT_FOUND)

# %% tf.errors.DeadlineExceededError
queue = tf.FIFOQueue(1, tf.float32)
with tf.Session() as sess:
    try:
        sess.run(queue.dequeue(), options=tf.RunOptions(timeout_in_ms=50))
    except tf.errors.DeadlineExceededError as error:
        print(type(error).__name__)

# %% tf.errors.CancelledError
queue = tf.FIFOQueue(1, tf.float32, shapes=[[]])
with tf.Session() as sess:
    sess.run(queue.close())
    try:
        sess.run(queue.enqueue(1.0))
    except tf.errors.CancelledError as error:
        print(type(error).__name__)

# %% tf.errors.DataLossError
with open("data.tfrecord", "wb") as file:
    file.write(b"not a record at all")
try:
    list(tf.io.tf_record_iterator("data.tfrecord"))
except tf.errors.DataLossError as error:
    print(type(error).__name__)

# %% tf.errors.AlreadyExistsError
for name in ("a", "b"):
    open(name, "w").close()
try:
    tf.gfile.Copy("a", "b")
except tf.errors.AlreadyExistsError as error:
    print(type(error).__name__)

# %% tf.errors.AbortedError, tf.errors.InternalError, tf.errors.PermissionDeniedError,
# %% tf.errors.ResourceExhaustedError, tf.errors.UnauthenticatedError, tf.errors.UnavailableError,
# %% tf.errors.UnimplementedError, tf.errors.UnknownError
try:
    raise tf.errors.UnavailableError(None, None, "the parameter server is not there")
except (
    tf.errors.UnavailableError,
    tf.errors.AbortedError,
) as error:  # what a monitored session recovers from
    print(type(error).__name__, error.error_code, error.message)

# %% tf.errors.error_code_from_exception_type, tf.errors.exception_type_from_error_code
code = tf.errors.error_code_from_exception_type(tf.errors.NotFoundError)
print(code, tf.errors.exception_type_from_error_code(code).__name__)

# %% tf.gfile.GFile, tf.gfile.FastGFile
with tf.gfile.GFile("text", "w") as file:
    file.write("ebb\nflow\n")
with tf.gfile.GFile("text") as file:
    print([line for line in file])

# %% tf.gfile.Copy, tf.gfile.Exists, tf.gfile.Rename, tf.gfile.Remove, tf.gfile.Stat
with tf.gfile.GFile("a", "w") as file:
    file.write("text")
tf.gfile.Copy("a", "b")
tf.gfile.Rename("b", "c")
print(tf.gfile.Exists("b"), tf.gfile.Stat("c").length)
tf.gfile.Remove("c")

# %% tf.gfile.MakeDirs, tf.gfile.MkDir, tf.gfile.IsDirectory, tf.gfile.ListDirectory, tf.gfile.Walk,
# %% tf.gfile.Glob, tf.gfile.DeleteRecursively
tf.gfile.MakeDirs("logs/run")
tf.gfile.MkDir("logs/other")
print(tf.gfile.IsDirectory("logs"), sorted(tf.gfile.ListDirectory("logs")), tf.gfile.Glob("logs/r*"))
print(next(tf.gfile.Walk("logs"))[0])
tf.gfile.DeleteRecursively("logs")

# %% tf.io.gfile.copy, tf.io.gfile.exists, tf.io.gfile.rename, tf.io.gfile.remove, tf.io.gfile.stat
with tf.io.gfile.GFile("a", "w") as file:
    file.write("text")
tf.io.gfile.copy("a", "b")
tf.io.gfile.rename("b", "c")
print(tf.io.gfile.exists("b"), tf.io.gfile.stat("c").length)
tf.io.gfile.remove("c")

# %% tf.io.gfile.makedirs, tf.io.gfile.mkdir, tf.io.gfile.isdir, tf.io.gfile.listdir, tf.io.gfile.walk,
# %% tf.io.gfile.glob, tf.io.gfile.rmtree
tf.io.gfile.makedirs("logs/run")
tf.io.gfile.mkdir("logs/other")
print(tf.io.gfile.isdir("logs"), sorted(tf.io.gfile.listdir("logs")), tf.io.gfile.glob("logs/r*"))
print(next(tf.io.gfile.walk("logs"))[0])
tf.io.gfile.rmtree("logs")

# %% tf.logging.info, tf.logging.debug, tf.logging.warn, tf.logging.warning, tf.logging.error,
# %% tf.logging.fatal, tf.logging.log, tf.logging.vlog, tf.logging.flush, tf.logging.get_verbosity,
# %% tf.logging.set_verbosity
before = tf.logging.get_verbosity()
tf.logging.set_verbosity(tf.logging.INFO)
tf.logging.info("loss %.2f", 0.25)  # to the error output
tf.logging.log(tf.logging.WARN, "what is logged as a warning")
tf.logging.flush()
print(tf.logging.get_verbosity() == tf.logging.INFO)
tf.logging.set_verbosity(before)

# %% tf.logging.log_every_n, tf.logging.log_first_n, tf.logging.log_if
for step in range(10):
    tf.logging.log_every_n(tf.logging.INFO, "step %d", 5, step)
    tf.logging.log_first_n(tf.logging.INFO, "once", 1)
    tf.logging.log_if(tf.logging.INFO, "the last step", step == 9)
print("logged to the error output")

# %% tf.logging.TaskLevelStatusMessage
tf.logging.TaskLevelStatusMessage("reading the data")
print("logged to the error output")

# %% tf.resource_loader.get_data_files_path, tf.resource_loader.get_path_to_datafile,
# %% tf.resource_loader.get_root_dir_with_all_resources, tf.resource_loader.load_resource,
# %% tf.resource_loader.readahead_file_path
path = tf.resource_loader.get_path_to_datafile("words.txt")  # beside this program's file
print(os.path.basename(path), tf.resource_loader.readahead_file_path("words.txt"))

# %% tf.sysconfig.get_compile_flags, tf.sysconfig.get_include, tf.sysconfig.get_lib,
# %% tf.sysconfig.get_link_flags
print(os.path.isdir(tf.sysconfig.get_include()), len(tf.sysconfig.get_compile_flags()) > 0)

# %% tf.pywrap_tensorflow.IsMklEnabled
print(tf.pywrap_tensorflow.IsMklEnabled())

# %% tf.saved_model.simple_save, tf.saved_model.load, tf.saved_model.contains_saved_model
x = tf.placeholder(tf.float32, [None], name="x")
y = 2.0 * x * tf.get_variable("w", initializer=3.0)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    tf.saved_model.simple_save(sess, "export", inputs={"x": x}, outputs={"y": y})
print(tf.saved_model.contains_saved_model("export"))
with tf.Session(graph=tf.Graph()) as sess:
    signature = tf.saved_model.load(sess, ["serve"], "export").signature_def["serving_default"]
    print(sess.run(signature.outputs["y"].name, {signature.inputs["x"].name: [1.0, 2.0]}))

# %% tf.saved_model.Builder, tf.saved_model.predict_signature_def
x = tf.placeholder(tf.float32, [None], name="x")
y = 2.0 * x
builder = tf.saved_model.Builder("export")
with tf.Session() as sess:
    signature = tf.saved_model.predict_signature_def(inputs={"x": x}, outputs={"y": y})
    builder.add_meta_graph_and_variables(sess, [tf.saved_model.tag_constants.SERVING], {"double": signature})
builder.save()
print(sorted(os.listdir("export")))

# %% tf.saved_model.build_signature_def, tf.saved_model.build_tensor_info,
# %% tf.saved_model.get_tensor_from_tensor_info, tf.saved_model.is_valid_signature
x = tf.placeholder(tf.float32, [None], name="x")
info = tf.saved_model.build_tensor_info(x)
signature = tf.saved_model.build_signature_def(
    {"inputs": info}, {"outputs": info}, "tensorflow/serving/predict"
)
print(
    info.name,
    tf.saved_model.get_tensor_from_tensor_info(info) is x,
    tf.saved_model.is_valid_signature(signature),
)

# %% tf.saved_model.classification_signature_def
texts, scores = tf.placeholder(tf.string, [None]), tf.placeholder(tf.float32, [None, 2])
print(tf.saved_model.classification_signature_def(texts, None, scores).method_name)

# %% tf.saved_model.regression_signature_def
texts, prices = tf.placeholder(tf.string, [None]), tf.placeholder(tf.float32, [None])
print(tf.saved_model.regression_signature_def(texts, prices).method_name)

# %% tf.saved_model.main_op.main_op, tf.saved_model.main_op_with_restore
print(tf.saved_model.main_op.main_op().type)

# %% tf.saved_model.save, tf.saved_model.load_v2
print("For objects with tf.functions, as in TensorFlow 2:")
try:
    tf.saved_model.save(tf.train.Checkpoint(), "export")
except Exception as error:
    print(type(error).__name__)

# %% tf.summary.FileWriter, tf.summary.scalar, tf.summary.merge_all
x = tf.placeholder(tf.float32, [])
tf.summary.scalar("loss", x)
merged = tf.summary.merge_all()
with tf.Session() as sess, tf.summary.FileWriter("logs", sess.graph) as writer:
    for step in range(3):
        writer.add_summary(sess.run(merged, {x: 1.0 / (step + 1)}), global_step=step)
print(len(tf.gfile.ListDirectory("logs")))

# %% tf.summary.histogram, tf.summary.image, tf.summary.audio, tf.summary.text, tf.summary.tensor_summary,
# %% tf.summary.merge
summaries = [
    tf.summary.histogram("weights", tf.random_normal([100], seed=1)),
    tf.summary.image("picture", tf.zeros([1, 8, 8, 3])),
    tf.summary.audio("tone", tf.sin(tf.reshape(tf.range(100.0), [1, 100])), sample_rate=8000),
    tf.summary.text("note", tf.constant("a **bold** word")),
    tf.summary.tensor_summary("values", tf.constant([1.0, 2.0])),
]
with tf.Session() as sess:
    summary = tf.Summary.FromString(sess.run(tf.summary.merge(summaries)))
print([value.tag for value in summary.value])

# %% tf.summary.FileWriterCache
writer = tf.summary.FileWriterCache.get("logs")
print(tf.summary.FileWriterCache.get("logs") is writer)
tf.summary.FileWriterCache.clear()

# %% tf.summary.get_summary_description
node = tf.NodeDef(op="TensorSummary")
node.attr["description"].s = b'{"typeHint": "scalar"}'
print(tf.summary.get_summary_description(node))

# %% tf.summary.initialize, tf.summary.all_v2_summary_ops
tf.train.get_or_create_global_step()
writer = tf.contrib.summary.create_file_writer("logs")
with writer.as_default(), tf.contrib.summary.always_record_summaries():
    tf.contrib.summary.scalar("loss", 0.5)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        tf.summary.initialize(session=sess)
        sess.run(tf.summary.all_v2_summary_ops())
print(len(tf.gfile.ListDirectory("logs")))

# %% tf.profiler.profile, tf.profiler.ProfileOptionBuilder
tf.layers.dense(tf.zeros([1, 3]), 4)
options = tf.profiler.ProfileOptionBuilder.trainable_variables_parameter()
options["output"] = "none"
print(tf.profiler.profile(cmd="scope", options=options).total_parameters)

# %% tf.profiler.Profiler
x = tf.random_normal([100, 100], seed=1)
y = tf.matmul(x, x)
profiler, metadata = tf.profiler.Profiler(tf.get_default_graph()), tf.RunMetadata()
with tf.Session() as sess:
    sess.run(y, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
profiler.add_step(0, metadata)
options = {**tf.profiler.ProfileOptionBuilder.time_and_memory(), "output": "none"}
print(profiler.profile_operations(options).total_exec_micros > 0)

# %% tf.profiler.advise
x = tf.random_normal([10, 10], seed=1)
metadata = tf.RunMetadata()
with tf.Session() as sess:
    sess.run(
        tf.matmul(x, x), options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata
    )
print(type(tf.profiler.advise(tf.get_default_graph(), metadata)).__name__)

# %% tf.profiler.write_op_log
tf.get_variable("w", [2, 3])
tf.profiler.write_op_log(tf.get_default_graph(), "logs")
print(os.listdir("logs"))


# %% tf.test.TestCase, tf.test.main
class SquareTest(tf.test.TestCase):
    def test_square(self):
        with self.cached_session():
            self.assertAllClose(tf.square([1.0, 2.0]).eval(), [1.0, 4.0])


result = unittest.TextTestRunner(stream=open(os.devnull, "w")).run(SquareTest("test_square"))
print(result.wasSuccessful())  # as a program: tf.test.main()


# %% tf.test.Benchmark, tf.test.benchmark_config
class MatMul(tf.test.Benchmark):
    def benchmark_product(self):
        x = tf.ones([10, 10])
        with tf.Session(config=tf.test.benchmark_config()) as sess:
            return self.run_op_benchmark(sess, tf.matmul(x, x), burn_iters=1, min_iters=2)


print(MatMul().benchmark_product()["iters"])

# %% tf.test.compute_gradient, tf.test.compute_gradient_error
x = tf.constant([1.0, 2.0])
with tf.Session():
    theory, numeric = tf.test.compute_gradient(x, [2], tf.square(x), [2])
    print(theory)
    print(tf.test.compute_gradient_error(x, [2], tf.square(x), [2]) < 1e-2)

# %% tf.test.assert_equal_graph_def
with tf.Graph().as_default() as first:
    tf.constant(1.0)
with tf.Graph().as_default() as second:
    tf.constant(1.0)
tf.test.assert_equal_graph_def(first.as_graph_def(), second.as_graph_def())
print("equal")

# %% tf.test.create_local_cluster
workers, servers = tf.test.create_local_cluster(num_workers=1, num_ps=1)
with tf.device("/job:ps/task:0"):
    w = tf.get_variable("w", initializer=1.0)
with tf.Session(workers[0].target) as sess:
    sess.run(w.initializer)
    print(sess.run(w + 1.0))

# %% tf.test.get_temp_dir, tf.test.test_src_dir_path
print(os.path.isdir(tf.test.get_temp_dir()))

# %% tf.test.gpu_device_name, tf.test.is_gpu_available, tf.test.is_built_with_cuda,
# %% tf.test.is_built_with_gpu_support, tf.test.is_built_with_rocm
print(tf.test.is_gpu_available() == bool(tf.test.gpu_device_name()))

# %% tf.test.StubOutForTesting
stubs = tf.test.StubOutForTesting()
stubs.SmartSet(os, "getcwd", lambda: "somewhere else")
print(os.getcwd())
stubs.CleanUp()

# %% tf.test.mock
with tf.test.mock.patch.object(os, "getpid", return_value=7):
    print(os.getpid())
