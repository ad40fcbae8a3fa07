"""tfdbg: commands and what is typed behind them, values as text, and what its terminal says of a step."""

import importlib
import os
import re
import shutil
import tempfile

from kit import cases, raises


def _inner(tf, *names):
    """Modules of `tensorflow.python.debug`, under either engine."""
    if tf.__name__ == "tideflow":
        from tideflow.programs import finder

        finder.install()
    modules = [importlib.import_module("tensorflow.python.debug." + name) for name in names]
    return modules[0] if len(names) == 1 else modules


def _answer(call, *arguments):
    """What a call gives, or the error that it ends with."""
    error = raises(call, *arguments)
    return call(*arguments) if isinstance(error, str) else error


def _attribute(found):
    if isinstance(found, (list, tuple)):
        return [_attribute(each) for each in found]
    return found if isinstance(found, str) else [found.caption or None, found.content, found.is_enabled()]


def _shown(output):
    """Lines without times, and the attributes of their parts."""
    lines = [re.sub(r"\[\d+\.\d+\] +|(?<=t \(ms\)) +", "", line) for line in output.lines]
    lines = [re.sub(r"\d+\.\d+ ms", "ms", line) for line in lines]
    return lines, [
        [line, [_attribute(s[2]) for s in segments]]
        for line, segments in sorted(output.font_attr_segs.items())
    ]


@cases(
    "",
    "lt",
    "pt -a x:0[0, :]  'b c'",
    'eval "np.sum(`x:0`, axis=1)"',
    "lt > path",
    "lt >path",
    "lp -e >100ms",
    "lp -e >100ms > path",
    "lt>path",
)
def words(tf, np, typed):
    parser = _inner(tf, "cli.command_parser")
    return parser.extract_output_file_path(parser.parse_command(typed))


@cases("[1, 2]", "(1k, 2M]", "<10", "<=10k", ">1M", "[2, 1]", "[1]", "[a, 1]", "few", "<x", "[1, 2")
def intervals(tf, np, typed):
    parser = _inner(tf, "cli.command_parser")

    def bounds(parse):
        found = parse(typed)
        return found.start, found.start_included, found.end, found.end_included, found.contains(1024)

    return [_answer(bounds, parse) for parse in (parser.parse_memory_interval, parser.parse_time_interval)]


@cases("", "[1, 2]", "[[1, 2], [3, inf]]", "[1]", "['a', 1]")
def ranges(tf, np, typed):
    return _answer(_inner(tf, "cli.command_parser").parse_ranges, typed)


@cases("[1]", "[1, :]", "[0:2, 1:3]", "[:, -1]", "[a]", "")
def slices(tf, np, typed):
    parser = _inner(tf, "cli.command_parser")
    return _answer(lambda: parser.evaluate_tensor_slice(np.arange(12).reshape(3, 4), typed))


@cases("zeros", "small", "cube", "flags", "special", "empty")
def values_as_text(tf, np, which):
    text, shared = _inner(tf, "cli.tensor_format", "cli.cli_shared")
    value = {
        "zeros": np.zeros([40, 40]),
        "small": np.arange(12.0).reshape(3, 4) / 3,
        "cube": np.arange(24.0).reshape(2, 3, 4),
        "flags": np.array([[True, False]]),
        "special": np.array([np.nan, np.inf, -np.inf, 1, 0, -2.0]),
        "empty": np.zeros([0, 2]),
    }[which]
    options = {"threshold": 100, "edgeitems": 2, "linewidth": 60}
    marks = shared.parse_ranges_highlight("[0.5, 2]") if which in ("small", "cube") else None
    shown = text.format_tensor(
        value, "a:0:DebugIdentity", True, np_printoptions=options, highlight_options=marks
    )
    found = (
        [_answer(text.locate_tensor_element, shown, [0] * value.ndim)]
        if value.size and which != "flags"
        else []
    )
    return [_shown(shown), _shown(text.numeric_summary(value)), found]


def sizes_and_times(tf, np):
    shared = _inner(tf, "cli.cli_shared")
    sizes = [shared.bytes_to_readable_str(size, True) for size in (0, 1023, 1536, 5 << 20, 3 << 30)]
    times = [
        shared.time_to_readable_str(time, unit) for time in (0, 40, 12345, 2.5e6) for unit in (None, "ms")
    ]
    return sizes, times


def _step(tf, folder):
    """A step with a variable, an infinity and an operation with several outputs."""
    debug_utils, debug_data = _inner(tf, "lib.debug_utils", "lib.debug_data")
    x = tf.placeholder(tf.float32, [2], name="x")
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=False)
    product = tf.multiply(x, v, name="net/product")
    with tf.control_dependencies([v.op]):
        log = tf.log(product, name="net/log")
    unique, _ = tf.unique(v, name="unique")
    session = tf.Session(config=_plain(tf))
    session.run(v.initializer)
    options, made = tf.RunOptions(output_partition_graphs=True), tf.RunMetadata()
    debug_utils.watch_graph(options, session.graph, debug_urls="file://" + folder)
    session.run([log, unique], {x: [0.0, 4.0]}, options=options, run_metadata=made)
    return debug_data.DebugDumpDir(folder, partition_graphs=made.partition_graphs)


def _plain(tf):
    """A session that runs the graph as it is."""
    config = tf.ConfigProto()
    rewrites = config.graph_options.rewrite_options
    rewrites.disable_model_pruning = True
    for name in (
        "constant_folding",
        "arithmetic_optimization",
        "dependency_optimization",
        "pin_to_host_optimization",
    ):
        setattr(rewrites, name, 2)  # off
    return config


@cases(
    "lt -s tensor_name",
    "lt -n net.* -s op_type",
    "lt -t (Log|Mul) -s tensor_name -r",
    "lt -f has_inf_or_nan",
    "lt -f other",
    "ni net/log",
    "ni -d net/product:0",
    "ni nothing",
    "li net/log",
    "li -c -r -t net/log",
    "li -r -d 1 net/log",
    "lo -r net/product",
    "lo nothing",
    "pt net/product:0",
    "pt net/product[1:]",
    "pt net/log -r [-inf,0]",
    "pt unique",
    "pt unique:1",
    "pt net/log -n 1",
    "pt nothing",
    "ev `net/product:0`*2",
)
def commands(tf, np, typed):
    analyzer_cli, cli_config, debug_data = _inner(tf, "cli.analyzer_cli", "cli.cli_config", "lib.debug_data")
    folder = tempfile.mkdtemp()
    try:
        analyzer = analyzer_cli.DebugAnalyzer(
            _step(tf, os.path.join(folder, "step")), cli_config.CLIConfig(os.path.join(folder, "settings"))
        )
        analyzer.add_tensor_filter("has_inf_or_nan", debug_data.has_inf_or_nan)
        command, words = typed.split()[0], typed.split()[1:]
        handler = {
            "lt": analyzer.list_tensors,
            "ni": analyzer.node_info,
            "li": analyzer.list_inputs,
            "lo": analyzer.list_outputs,
            "pt": analyzer.print_tensor,
            "ev": analyzer.evaluate_expression,
        }[command]
        return _shown(handler(words))
    finally:
        shutil.rmtree(folder)


@cases("DebugIdentity", "DebugNanCount", "DebugNumericSummary", "DebugNumericSummary(mute_if_healthy=true)")
def what_is_kept(tf, np, debug_op):
    debug_utils, debug_data = _inner(tf, "lib.debug_utils", "lib.debug_data")
    folder = tempfile.mkdtemp()
    try:
        v = tf.get_variable("v", initializer=[0.0, 2.0, -1.0], use_resource=False)
        log = tf.log(v, name="log")
        session = tf.Session(config=_plain(tf))
        session.run(v.initializer)
        options = tf.RunOptions()
        debug_utils.watch_graph(options, session.graph, debug_op, "file://" + folder)
        session.run(log, options=options)
        dump = debug_data.DebugDumpDir(folder, validate=False)
        return sorted((datum.watch_key, datum.get_tensor().tolist()) for datum in dump.dumped_tensor_data)
    finally:
        shutil.rmtree(folder)


def before_a_step(tf, np):
    shared = _inner(tf, "cli.cli_shared")
    x = tf.placeholder(tf.float32, name="x")
    y = tf.square(x, name="y")
    asked = [(y, {x: 1.0}), ([y, x], None), ({"a": y}, {"x:0": 1.0}), (y.op, {x: 1.0, y: 2.0})]
    intros = [_shown(shared.get_run_start_intro(3, *step, {"has_inf_or_nan": None})) for step in asked]
    return intros, [shared.get_run_short_description(3, *step) for step in asked]
