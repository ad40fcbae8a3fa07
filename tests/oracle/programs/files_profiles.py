"""Profiles as they are printed, under every option; hooks that trace; checks of numbers."""

from kit import cases, graph, product, raises
from supervised import folder_of_its_own, model


def _network(tf):
    x = tf.placeholder(tf.float32, [4, 8], name="x")
    with tf.variable_scope("net"):
        x = tf.layers.dense(x, 16, tf.nn.relu, name="h")
        x = tf.layers.conv2d(tf.reshape(x, [4, 4, 4, 1]), 3, 3, padding="same", name="c")
        x = tf.layers.flatten(tf.layers.max_pooling2d(x, 2, 2))
        x = tf.layers.dense(x, 2, name="y")
    tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_mean(tf.square(x), name="loss"))


def _tree(node):
    return [node.name, node.total_parameters, node.total_float_ops, [_tree(child) for child in node.children]]


_OPTIONS = {
    "as it is": lambda builder: builder,
    "depth 1": lambda builder: builder.with_max_depth(1),
    "depth 2": lambda builder: builder.with_max_depth(2),
    "many": lambda builder: builder.with_min_parameters(100),
    "all types": lambda builder: builder.with_accounted_types([".*"]),
    "start": lambda builder: builder.with_node_names(start_name_regexes=["net/h.*"]),
    "show": lambda builder: builder.with_node_names(show_name_regexes=[".*bias.*"]),
    "hide": lambda builder: builder.with_node_names(hide_name_regexes=[".*bias.*", ".*kernel.*"]),
    "trim": lambda builder: builder.with_node_names(trim_name_regexes=["net/h.*"]),
    "order": lambda builder: builder.order_by("params"),
    "select": lambda builder: builder.select(["params", "float_ops"]),
    "everything": lambda builder: builder.account_displayed_op_only(False),
}


@cases(*product(_OPTIONS, ["scope", "graph"]))
def parameters(tf, np, which, view):
    _network(tf)
    builders = tf.profiler.ProfileOptionBuilder
    builder = _OPTIONS[which](builders(builders.trainable_variables_parameter()))
    with folder_of_its_own() as folder:
        options = builder.with_file_output(folder + "/out").build()
        message = tf.profiler.profile(tf.get_default_graph(), cmd=view, options=options)
        with open(folder + "/out") as file:
            lines = file.read().split("\n")
    # TensorFlow explains the view by dataflow with the words for the other one.
    return [[line for line in lines if not line.startswith(("scope:", "graph:"))], _tree(message)]


def by_its_old_name(tf, np):
    _network(tf)
    analyzer = tf.contrib.tfprof.model_analyzer
    with folder_of_its_own() as folder:
        options = dict(analyzer.TRAINABLE_VARS_PARAMS_STAT_OPTIONS, output="file:outfile=" + folder + "/out")
        message = analyzer.print_model_analysis(tf.get_default_graph(), tfprof_options=options)
        with open(folder + "/out") as file:
            return [file.read().split("\n"), _tree(message)]


def _hook(tf, before, seen):
    class Hook(tf.train.SessionRunHook):
        def before_run(self, run_context):
            return before

        def after_run(self, run_context, run_values):
            metadata, options = run_values.run_metadata, run_values.options
            seen.append(
                [
                    run_values.results,
                    options.trace_level,
                    options.timeout_in_ms,
                    len(metadata.step_stats.dev_stats) > 0,
                    len(metadata.partition_graphs) > 0,
                ]
            )

    return Hook()


def options_of_hooks(tf, np):
    """The strongest trace and the longest time of those that hooks ask for."""
    train, _loss, step = model(tf, np)
    options, args, seen = tf.RunOptions, tf.train.SessionRunArgs, []
    hooks = [
        _hook(tf, args(None, options=options(trace_level=options.SOFTWARE_TRACE, timeout_in_ms=5000)), seen),
        _hook(tf, args(step, options=options(trace_level=options.FULL_TRACE, timeout_in_ms=900000)), seen),
        _hook(tf, args([step], options=options(output_partition_graphs=True)), seen),
    ]
    with tf.train.MonitoredSession(hooks=hooks) as session:
        session.run(train, options=options(timeout_in_ms=700000))
    return seen


def checked_numbers(tf, np):
    x = tf.placeholder(tf.float32, [2], "x")
    root = tf.sqrt(tf.log(x, name="logarithm"), name="root")
    tf.cast(tf.cast(root, tf.float64), tf.int32)
    checks = tf.add_check_numerics_ops()
    with tf.Session() as session:
        wrong = raises(session.run, [root, checks], {x: [1.0, -1.0]})
        right = session.run([root, checks], {x: [2.0, 3.0]})[0]
    nodes = graph(tf)
    tf.cond(x[0] > 0, lambda: x, lambda: -x)
    return [wrong, right, nodes, raises(tf.add_check_numerics_ops)]
