"""The profiler: flops, parameters, times and memory by scope, dataflow and op type; Chrome's traces."""

import json
import os
import tempfile

from kit import cases, raises


def _network(tf):
    x = tf.placeholder(tf.float32, [4, 8, 8, 3], name="x")
    with tf.variable_scope("conv"):
        kernel = tf.get_variable("k", [3, 3, 3, 5], initializer=tf.zeros_initializer())
        bias = tf.get_variable("b", [5], initializer=tf.zeros_initializer())
        h = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, kernel, [1, 1, 1, 1], "SAME"), bias))
        h = tf.nn.avg_pool(
            tf.nn.max_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], "SAME"), [1, 2, 2, 1], [1] * 4, "SAME"
        )
    with tf.variable_scope("fc"):
        weights = tf.get_variable("w", [80, 7], initializer=tf.zeros_initializer())
        y = tf.matmul(tf.reshape(h, [4, 80]), weights)
    loss = tf.reduce_mean(tf.square(y), name="loss") + tf.nn.l2_loss(weights)
    tf.train.GradientDescentOptimizer(0.1).minimize(loss)


def _trace(tf):
    """A trace of a step that nobody ran: the same for every engine."""
    traced = tf.RunMetadata()
    device = traced.step_stats.dev_stats.add(device="/job:localhost/replica:0/task:0/device:CPU:0")
    for i, op in enumerate(tf.get_default_graph().get_operations()):
        if i % 3 == 1:
            continue
        inputs = ", ".join(tensor.op.name for tensor in op.inputs)
        stats = device.node_stats.add(
            node_name=op.name,
            all_start_micros=1000 + 10 * i,
            op_start_rel_micros=1,
            op_end_rel_micros=5 + i * i,
            all_end_rel_micros=7 + i * i,
            timeline_label="%s = %s(%s)" % (op.name, op.type, inputs),
        )
        stats.memory.add(allocator_name="cpu", total_bytes=100 + i, peak_bytes=50 + i, live_bytes=i)
        stats.memory_stats.persistent_memory_size = 3 * (i % 2)
        for slot, tensor in enumerate(op.outputs):
            made = stats.output.add(slot=slot).tensor_description
            made.dtype = tensor.dtype.as_datatype_enum
            made.allocation_description.requested_bytes = 8 * i
            made.allocation_description.allocator_name = "cpu"
            for size in tensor.shape.as_list() if tensor.shape.ndims is not None else []:
                made.shape.dim.add(size=size)
    return traced


def _told(message):
    """A message in lines."""
    return [line for line in str(message).splitlines() if line]


def _profiled(tf, cmd, options, traced=None):
    """The message and the text of a profile."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report")
        builder = tf.profiler.ProfileOptionBuilder(options).with_file_output(path)
        message = tf.profiler.profile(
            tf.get_default_graph(), run_meta=traced, cmd=cmd, options=builder.build()
        )
        with open(path) as file:
            text = file.read().split("Profile:")[1]  # before it, what the columns mean
    return [_told(message), text.splitlines()]


def _options(tf, name):
    build = tf.profiler.ProfileOptionBuilder
    everything = (
        "micros bytes peak_bytes residual_bytes output_bytes params float_ops occurrence device".split()
    )
    return {
        "parameters": build.trainable_variables_parameter(),
        "flops": build(build.float_operation()).order_by("name").build(),
        "shallow": build(build.float_operation()).with_max_depth(2).account_displayed_op_only(False).build(),
        "hidden": build(build.float_operation())
        .order_by("name")
        .with_node_names(
            start_name_regexes=["gradients.*"],
            hide_name_regexes=[".*Grad.*"],
            trim_name_regexes=["gradients/fc.*"],
        )
        .build(),
        "types": build(build.float_operation())
        .order_by("name")
        .with_accounted_types(["Conv2D.*", "MatMul"])
        .build(),
        "often": build(build.float_operation()).order_by("name").with_min_occurrence(2).build(),
        "many_parameters": build().with_min_parameters(100).select(["params"]).build(),
    }[name], everything


@cases(
    *(
        (view, name)
        for view in ("scope", "graph", "op")
        for name in "parameters flops shallow hidden types often many_parameters".split()
        if (view, name) != ("graph", "hidden")
    )
)
def static_profiles(tf, np, view, name):
    _network(tf)
    return _profiled(tf, view, _options(tf, name)[0])


@cases("scope", "graph", "op")
def traced_profiles(tf, np, view):
    _network(tf)
    everything = _options(tf, "flops")[1]
    build = tf.profiler.ProfileOptionBuilder
    options = build(build.time_and_memory(0, 0)).select(everything).order_by("name").build()
    return _profiled(tf, view, options, _trace(tf))


def long_and_large(tf, np):
    _network(tf)
    build = tf.profiler.ProfileOptionBuilder
    options = build(build.time_and_memory(min_micros=200, min_bytes=120)).build()
    return [_profiled(tf, view, options, _trace(tf)) for view in ("scope", "op")]


def several_steps(tf, np):
    _network(tf)
    profiler = tf.profiler.Profiler(tf.get_default_graph())
    profiler.add_step(3, _trace(tf))
    profiler.add_step(8, _trace(tf))
    build = tf.profiler.ProfileOptionBuilder
    found = []
    for step in (-1, 3):
        options = build(build.time_and_memory()).with_step(step).with_empty_output().order_by("name").build()
        found.append(_told(profiler.profile_name_scope(options)))
        found.append(_told(profiler.profile_operations(options)))
    return found


def option_builders(tf, np):
    build = tf.profiler.ProfileOptionBuilder
    return [
        build().build(),
        build.trainable_variables_parameter(),
        build.float_operation(),
        build.time_and_memory(2, 3, 4, 5, 6, 7, 8),
        build().with_min_memory(1, 2, 3, 4).with_min_execution_time(5, 6, 7).with_step(8).build(),
        build().with_timeline_output("a").build()["output"],
        build().with_pprof_output("b").build()["output"],
        build().with_stdout_output().build()["output"],
    ]


def a_log(tf, np):
    _network(tf)
    with tempfile.TemporaryDirectory() as folder:
        tf.profiler.write_op_log(tf.get_default_graph(), folder, add_trace=False)
        log = tf.profiler.OpLogProto()
        with open(os.path.join(folder, "tfprof_log"), "rb") as file:
            log.ParseFromString(file.read())
    return sorted([entry.name, entry.float_ops, list(entry.types)] for entry in log.log_entries)


def types_of_a_log(tf, np):
    tf.matmul(tf.ones([2, 3]), tf.ones([3, 4]), name="product")
    log = tf.profiler.OpLogProto()
    log.log_entries.add(name="product", float_ops=7).types.append("mine")
    options = tf.profiler.ProfileOptionBuilder.float_operation()
    options["account_type_regexes"] = ["mine"]
    options["output"] = "none"
    message = tf.profiler.profile(op_log=log, options=options)
    return _told(message)


def bad_input(tf, np):
    tf.constant(1.0)
    return raises(lambda: tf.profiler.profile(cmd="foo"))


def a_chrome_trace(tf, np):
    _network(tf)
    if hasattr(tf, "python"):
        from tensorflow.python.client import timeline
    else:
        from tideflow.session import timeline
    analysis = timeline.Timeline(_trace(tf).step_stats).analyze_step_stats(True, True)
    events = json.loads(analysis.chrome_trace.format_to_string())["traceEvents"]
    most = analysis.allocator_maximums["cpu"]
    return [events, most.timestamp, most.num_bytes, sorted(most.tensors)]
