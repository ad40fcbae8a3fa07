"""Summaries: what each op puts into its message, tags and scopes, and what event files hold."""

import glob
import os
import tempfile

from kit import cases, graph, names, normal, product, raises, run

_REAL = "float32 float64 int32 uint8 int16 int8 int64 uint16 float16".split()
_ODD = {
    "one": [1.0],
    "none": [],
    "zeros": [0.0, 0.0, -0.0],
    "limits": [1e-12, 1.1e-12, -1e-12, 1e20, -1e20, 1.0, -1.0],
    "tiny": [1e-30, -1e-30, 1e-13, -1e-13, 5e-13],
    "huge": [1e300, -1e300, 1e308],
    "neighbours": [1.0, 1.05, 1.2, 1.3, 7.0, 7.1],
    "many": [0.001 * i * i - 3 for i in range(200)],
}


def _message(tf, np, serialized):
    """The values of a summary, pictures decoded: PNG files of the same pixels may differ."""
    return [_value(tf, np, value) for value in tf.Summary.FromString(serialized).value]


def _value(tf, np, value):
    kind = value.WhichOneof("value")
    found = {"tag": value.tag, "node": value.node_name, "kind": kind}
    if value.HasField("metadata"):
        found["metadata"] = value.metadata.SerializeToString()
    if kind == "simple_value":
        found["number"] = np.float32(value.simple_value)
    elif kind == "histo":
        histo = value.histo
        found["histo"] = [histo.min, histo.max, histo.num, histo.sum, histo.sum_squares]
        found["buckets"] = [list(histo.bucket_limit), list(histo.bucket)]
    elif kind == "image":
        image = value.image
        found["sizes"] = [image.height, image.width, image.colorspace]
        found["pixels"] = run(tf, tf.image.decode_png(image.encoded_image_string))
    elif kind == "audio":
        sound = value.audio
        found["sound"] = [sound.sample_rate, sound.num_channels, sound.length_frames, sound.content_type]
        found["bytes"] = sound.encoded_audio_string
    elif kind == "tensor":
        found["tensor"] = value.tensor.SerializeToString()
    return found


def _run(tf, np, summary):
    return _message(tf, np, run(tf, summary))


def _fed(tf, value, shape=None):
    return tf.placeholder_with_default(value, shape)


# ---------------------------------------------------------------------------------- numbers


@cases(*_REAL)
def scalars(tf, np, dtype):
    number = tf.constant(np.array(7.25, dtype))
    return [_run(tf, np, tf.summary.scalar("loss", number)), graph(tf)]


@cases(float("nan"), float("inf"), -0.0, 1e-45, 1e300, -7)
def odd_scalars(tf, np, number):
    return _run(tf, np, tf.summary.scalar("loss", tf.constant(number)))


@cases(True, "text", 1j)
def scalars_of_other_types(tf, np, value):
    return raises(tf.summary.scalar, "loss", tf.constant(value))


@cases({"vectors": (["a", "b"], [1.0, 2.0]), "matrices": ([["a"], ["b"]], [[1.0], [2.0]]), "none": ([], [])})
def scalars_of_several_tags(tf, np, tags, numbers):
    tags, numbers = tf.constant(tags, tf.string), tf.constant(numbers, tf.float32)
    return _run(tf, np, tf.raw_ops.ScalarSummary(tags=tags, values=numbers))


@cases(*product([(), (1,), (2,)], [(), (1,), (2,), (1, 2)]))
def scalar_shapes(tf, np, tags, numbers):
    tags = tf.constant(np.full(tags, "a"))
    made = tf.raw_ops.ScalarSummary(tags=tags, values=np.zeros(numbers, np.float32))
    return [made, raises(lambda: run(tf, made))]


@cases(*product(_REAL, ["plain", "empty"]))
def histograms(tf, np, dtype, kind):
    numbers = (np.arange(24) * 5 % 17).reshape(4, 6) if kind == "plain" else np.zeros((0, 2))
    return _run(tf, np, tf.summary.histogram("weights", tf.constant(numbers.astype(dtype))))


@cases(*_ODD)
def histograms_of_odd_numbers(tf, np, kind):
    return _run(tf, np, tf.summary.histogram("h", tf.constant(_ODD[kind], tf.float64)))


@cases(*product([(1000,), (3, 50), ()], ["float16", "float32", "float64"]))
def histograms_of_noise(tf, np, shape, dtype):
    numbers = normal(np, *shape).astype(dtype)
    return _run(tf, np, tf.summary.histogram("h", tf.constant(numbers)))


@cases(*product([float("nan"), float("inf"), float("-inf")], ["float16", "float32", "float64"]))
def histograms_refuse(tf, np, number, dtype):
    summary = tf.summary.histogram("h", tf.constant(np.array([1, number, 2], dtype)))
    return raises(lambda: run(tf, summary))


@cases(*product([1.5, 3, [1, 2], [1e300]], [True, False]))
def what_python_numbers_become(tf, np, values, as_array):
    values = np.array(values) if as_array else values
    return [raises(tf.summary.histogram, "h", values), raises(tf.summary.scalar, "s", values), graph(tf)]


# ---------------------------------------------------------------------------------- pictures


def _picture(np, kind, depth):
    rng = np.random.RandomState(depth)
    image = rng.uniform(-1, 1, (2, 5, 4, depth))
    if kind == "positive":
        return image * image * 3
    if kind == "mostly negative":
        return image - 0.7
    if kind == "zero":
        return image * 0
    if kind == "nearly zero":
        return image * 1e-7
    if kind == "large":
        return image * 60000
    if kind == "not finite":
        image[0, 0, 0, 0], image[0, 1, 1, depth - 1], image[1, 2, 2] = np.nan, np.inf, -np.inf
    if kind == "nothing finite":
        image[:] = np.nan
    return image


_PICTURES = [
    "signed",
    "positive",
    "mostly negative",
    "zero",
    "nearly zero",
    "large",
    "not finite",
    "nothing finite",
]


@cases(*product(_PICTURES, [1, 3, 4], ["float16", "float32", "float64"]))
def images(tf, np, kind, depth, dtype):
    image = _picture(np, kind, depth).astype(dtype)
    return _run(tf, np, tf.summary.image("picture", tf.constant(image)))


@cases(*product([1, 3, 4], [1, 2, 5]))
def images_of_bytes(tf, np, depth, most):
    image = np.random.RandomState(0).randint(0, 256, (3, 4, 2, depth)).astype(np.uint8)
    summary = tf.summary.image("p", tf.constant(image), max_outputs=most)
    return [graph(tf), _run(tf, np, summary)]


@cases(*product([1, 3], [[7, 8, 9], [1, 2, 3, 4, 5]]))
def bad_colors(tf, np, depth, color):
    image = _picture(np, "not finite", depth).astype(np.float32)
    color = tf.make_tensor_proto(np.array(color, np.uint8))
    return _run(tf, np, tf.raw_ops.ImageSummary(tag="p", tensor=image, max_images=2, bad_color=color))


_UNFIT_PICTURES = {
    "two channels": (1, 2, 2, 2),
    "five channels": (1, 2, 2, 5),
    "rank 3": (2, 2, 3),
    "rank 5": (1, 1, 2, 2, 3),
    "no height": (1, 0, 2, 3),
    "no width": (1, 2, 0, 3),
    "none": (0, 2, 2, 3),
    "none and no height": (0, 0, 2, 3),
}


@cases(*product(_UNFIT_PICTURES, [False, True]))
def unfit_images(tf, np, kind, known):
    shape = _UNFIT_PICTURES[kind]
    value = tf.constant(np.zeros(shape, np.float32)) if known else _fed(tf, np.zeros(shape, np.float32))
    return raises(lambda: run(tf, tf.summary.image("p", value)))


@cases(*product([0, -1], ["image", "audio"]))
def too_few_outputs(tf, np, most, kind):
    if kind == "image":
        return raises(tf.summary.image, "p", np.zeros((1, 1, 1, 1), np.float32), max_outputs=most)
    return raises(tf.summary.audio, "p", np.zeros((1, 1), np.float32), 8000, max_outputs=most)


@cases("int32", "int8", "string", "bool")
def images_of_other_types(tf, np, dtype):
    return raises(tf.summary.image, "p", tf.placeholder(dtype, [1, 2, 2, 1]))


@cases({"bytes": "uint8", "numbers": "float64", "integers": "int32"})
def images_given_as_arrays(tf, np, dtype):
    """A plain array becomes what the op likes best: float32."""
    summary = tf.summary.image("p", (np.arange(12).reshape(1, 2, 2, 3) * 20).astype(dtype))
    return [summary, _run(tf, np, summary)]


# ---------------------------------------------------------------------------------- sounds


@cases(*product([(2, 30), (1, 30, 1), (4, 7, 2), (0, 5)], [1, 3], [8000, 44100.5, 0.3, 2.5]))
def sounds(tf, np, shape, most, rate):
    sound = (normal(np, *shape) * 0.7).astype(np.float32)
    return _run(tf, np, tf.summary.audio("sound", sound, rate, max_outputs=most))


@cases(
    *product([(2,), (1, 2, 3, 4), (1, 0), (1, 0, 2), (1, 2, 0)], [8000.0])
    + product([(1, 3)], [0.0, -4.0, 1e11])
)
def unfit_sounds(tf, np, shape, rate):
    value = _fed(tf, np.zeros(shape, np.float32))
    return raises(lambda: run(tf, tf.summary.audio("p", value, rate)))


def sounds_in_the_graph(tf, np):
    with tf.name_scope("outer"):
        tf.summary.audio("sound", tf.zeros([2, 30]), 8000, family="f")
        tf.summary.audio("sound", tf.zeros([2, 30]), tf.constant(3.0), max_outputs=1)
    return graph(tf)


# ---------------------------------------------------------------------------------- tensors


@cases(*(_REAL + ["bool", "complex64", "complex128", "string"]))
def tensors(tf, np, dtype):
    value = np.array([[1, 0], [3, 2]]).astype("U1" if dtype == "string" else dtype)
    made = tf.summary.tensor_summary("t", tf.constant(value), "described", display_name="shown")
    return [_run(tf, np, made), _run(tf, np, tf.raw_ops.TensorSummary(tensor=value)), graph(tf)]


@cases(*product([(), (0,), (1,), (1, 1)], ["int32", "string"]))
def small_tensors(tf, np, shape, dtype):
    value = np.zeros(shape).astype("U1" if dtype == "string" else dtype)
    return _run(tf, np, tf.summary.tensor_summary("t", tf.constant(value)))


def texts(tf, np):
    made = tf.summary.text("t", tf.constant(["a", "b"])), tf.summary.text("u", tf.constant("*"), ["mine"])
    collected = tf.get_collection(tf.GraphKeys.SUMMARIES), tf.get_collection("mine")
    refused = raises(tf.summary.text, "t", tf.constant(1))
    return [[_run(tf, np, each) for each in made], collected, refused, graph(tf)]


def metadata(tf, np):
    said = tf.SummaryMetadata(display_name="a", summary_description="b")
    said.plugin_data.plugin_name = "mine"
    said.plugin_data.content = b"xyz"
    return _run(tf, np, tf.summary.tensor_summary("t", tf.constant(1), "new", summary_metadata=said))


@cases({"tag": (["t"], ""), "metadata": ("t", [""]), "damaged": ("t", b"\xff\xff")})
def unfit_tensor_summaries(tf, np, tag, serialized):
    made = tf.raw_ops.TensorSummaryV2(tag=tag, tensor=1, serialized_summary_metadata=serialized)
    return raises(lambda: run(tf, made)) if serialized != [""] else [made]


def descriptions(tf, np):
    good = tf.raw_ops.TensorSummary(tensor=1, description='{"typeHint": "scalar"}', name="good")
    plain = tf.raw_ops.TensorSummary(tensor=1, name="plain")
    return [
        tf.summary.get_summary_description(good.op.node_def).type_hint,
        raises(tf.summary.get_summary_description, plain.op.node_def),
        raises(tf.summary.get_summary_description, tf.constant(1).op.node_def),
    ]


# ---------------------------------------------------------------------------------- merging


def merged(tf, np):
    one, two = tf.summary.scalar("a", 1.0), tf.summary.histogram("b", [1.0, 2.0])
    made = [tf.summary.merge([one, two]), tf.summary.merge_all(), tf.summary.merge([one], ["mine"], "named")]
    return [[_run(tf, np, each) for each in made], tf.get_collection("mine"), graph(tf)]


def merged_twice(tf, np):
    one = tf.raw_ops.ScalarSummary(tags="a", values=1.0)
    two = tf.raw_ops.ScalarSummary(tags="a", values=2.0)
    return raises(lambda: run(tf, tf.summary.merge([one, two])))


@cases({"junk": "junk", "vector": ["", ""], "empty": "", "nothing": []})
def merged_strings(tf, np, value):
    made = tf.summary.merge([tf.constant(value, tf.string), tf.summary.scalar("a", 1.0)])
    return raises(lambda: run(tf, made)) if value == "junk" else _run(tf, np, made)


def merged_without_tags(tf, np):
    parts = [tf.raw_ops.TensorSummary(tensor=1), tf.raw_ops.TensorSummary(tensor=1)]
    return _run(tf, np, tf.summary.merge(parts))


def merged_nothing(tf, np):
    return [tf.summary.merge_all(), tf.summary.merge_all("mine"), raises(tf.summary.merge, [])]


def merged_by_scope(tf, np):
    with tf.name_scope("one"):
        tf.summary.scalar("a", 1.0)
    with tf.name_scope("two"):
        tf.summary.scalar("a", 1.0, collections=["mine", tf.GraphKeys.SUMMARIES])
    tf.summary.scalar("b", 1.0, collections=[])
    made = [tf.summary.merge_all(scope="two"), tf.summary.merge_all("mine", name="my name")]
    return [[_run(tf, np, each) for each in made], tf.summary.merge_all(scope="three"), graph(tf)]


# ---------------------------------------------------------------------------------- names


_NAMES = ["a", "a/b", "/a", "//a/b", "a b", "a:0", "a(b)%", "loss.1", "ümlaut", "-a", "a/"]


@cases(*product(_NAMES, ["scalar", "histogram"]))
def tags(tf, np, name, kind):
    make = getattr(tf.summary, kind)

    def twice():
        return [_run(tf, np, make(name, tf.constant(1.0))) for _ in range(2)]

    refused = raises(twice)
    return [refused, names(tf)] if refused != "no error" else [twice(), names(tf)]


@cases(*product([None, "f", "a b", "x/y"], [None, "outer", "f"]))
def families(tf, np, family, scope):
    tensor = tf.constant([[[[1.0]]]])
    with tf.name_scope(scope):
        made = [
            tf.summary.scalar("n", tensor[0, 0, 0, 0], family=family),
            tf.summary.histogram("n", tensor, family=family),
            tf.summary.image("n", tensor, 1, family=family),
            tf.summary.audio("n", tensor[0], 8000, 1, family=family),
            tf.summary.tensor_summary("n", tensor, family=family),
            tf.summary.scalar("n", tensor[0, 0, 0, 0], family=family, collections=["mine"]),
        ]
    collected = [tf.get_collection(key) for key in ("mine", tf.GraphKeys.SUMMARIES)]
    return [[_run(tf, np, each) for each in made], collected, names(tf)]


def names_not_given(tf, np):
    return [
        _run(tf, np, tf.summary.histogram(None, tf.constant([1.0]))),
        raises(tf.summary.scalar, None, tf.constant(1.0)),
        names(tf),
    ]


def shapes(tf, np):
    unknown = tf.placeholder(tf.float32)
    return [
        tf.summary.scalar("s", unknown),
        tf.summary.histogram("h", unknown),
        tf.summary.image("i", unknown),
        tf.summary.audio("a", unknown, unknown),
        tf.summary.tensor_summary("t", unknown),
        tf.summary.merge_all(),
    ]


# ---------------------------------------------------------------------------------- event files


def _events(tf, folder):
    """What the files of a folder hold, without times and graphs' details."""
    found = []
    for path in sorted(glob.glob(os.path.join(folder, "*tfevents*"))):
        for event in tf.train.summary_iterator(path):
            kind = event.WhichOneof("what")
            details = None
            if kind == "summary":
                details = [(v.tag, v.simple_value, v.HasField("metadata")) for v in event.summary.value]
            elif kind == "graph_def":
                nodes = tf.GraphDef.FromString(event.graph_def).node
                details = [(n.name, n.op, "_output_shapes" in n.attr) for n in nodes]
            elif kind == "meta_graph_def":
                meta = tf.MetaGraphDef.FromString(event.meta_graph_def)
                details = [len(meta.graph_def.node), sorted(meta.collection_def)]
            elif kind == "session_log":
                details = [event.session_log.status, event.session_log.checkpoint_path]
            elif kind == "tagged_run_metadata":
                details = event.tagged_run_metadata.tag
            elif kind == "file_version":
                details = event.file_version
            found.append((event.step, kind, details, event.wall_time > 1e9))
    return found


def written(tf, np):
    number = tf.placeholder(tf.float32, [])
    summary = tf.summary.merge([tf.summary.scalar("x", number), tf.summary.text("t", tf.constant("a"))])
    folder = tempfile.mkdtemp()
    with tf.Session() as session, tf.summary.FileWriter(folder, session.graph) as writer:
        for step in range(15):
            writer.add_summary(session.run(summary, {number: step / 2}), np.int64(step))
        writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="mine", simple_value=3.0)]))
        log = tf.SessionLog(status=tf.SessionLog.CHECKPOINT, checkpoint_path="somewhere")
        writer.add_session_log(log, 4)
        writer.add_run_metadata(tf.RunMetadata(), "step 3", 3)
        again = raises(writer.add_run_metadata, tf.RunMetadata(), "step 3", 4)
        writer.add_event(tf.Event(step=77, wall_time=2e9))
        same = writer.get_logdir() == folder
    return [_events(tf, folder), again, same]


@cases("nothing", "graph", "suffix", "graph_def")
def opened_and_closed(tf, np, kind):
    tf.constant(1.0)
    options = {
        "nothing": {},
        "graph": {"graph": tf.get_default_graph()},
        "suffix": {"filename_suffix": ".mine"},
        "graph_def": {"graph_def": tf.get_default_graph().as_graph_def()},
    }[kind]
    folder = os.path.join(tempfile.mkdtemp(), "new", "deeper")
    writer = tf.summary.FileWriter(folder, **options)
    writer.close()
    writer.close()
    writer.flush()
    files = glob.glob(os.path.join(folder, "*"))
    return [_events(tf, folder), len(files), [name.endswith(".mine") for name in files]]


def added_when_closed(tf, np):
    folder = tempfile.mkdtemp()
    writer = tf.summary.FileWriter(folder)
    value = tf.Summary(value=[tf.Summary.Value(tag="mine", simple_value=3.0)])
    writer.add_summary(value, 1)
    writer.close()
    writer.add_summary(value, 2)
    return _events(tf, folder)


def flushed(tf, np):
    folder = tempfile.mkdtemp()
    writer = tf.summary.FileWriter(folder, max_queue=1, flush_secs=1000)
    found = []
    for step in range(5):
        writer.add_event(tf.Event(step=step))
        writer.flush()
        found.append(len(_events(tf, folder)))
    writer.close()
    return found


def cached(tf, np):
    folder, other = tempfile.mkdtemp(), tempfile.mkdtemp()
    tf.constant(1.0, name="here")
    cache = tf.summary.FileWriterCache
    writer = cache.get(folder)
    found = [cache.get(folder) is writer, cache.get(other) is writer]
    cache.clear()
    return [found, cache.get(folder) is writer, cache.clear(), _events(tf, folder)[:2]]


def writers_refuse(tf, np):
    writer = tf.summary.FileWriter(tempfile.mkdtemp())
    nodes = tf.get_default_graph().as_graph_def()
    file = os.path.join(tempfile.mkdtemp(), "file")
    open(file, "w").close()
    found = [
        raises(writer.add_graph, None),
        raises(writer.add_graph, "graph"),
        raises(writer.add_graph, tf.get_default_graph(), graph_def=nodes),
        raises(writer.add_meta_graph, nodes),
        raises(writer.add_summary, b"junk"),
        raises(lambda: next(tf.train.summary_iterator("/nowhere/at/all"))),
        list(tf.train.summary_iterator(file)),
    ]
    writer.close()
    return found


# ---------------------------------------------------------------------------------- queues


@cases(*product(["batch", "batch_join", "shuffle_batch", "shuffle_batch_join"], [False, True], [None, "n"]))
def fullness_of_batches(tf, np, kind, smaller, name):
    tensors = [tf.constant([1.0]), tf.constant(2)]
    options = {"capacity": 10, "allow_smaller_final_batch": smaller, "name": name}
    if "shuffle" in kind:
        options.update(min_after_dequeue=3, seed=1)
    getattr(tf.train, kind)([tensors, tensors] if "join" in kind else tensors, 2, **options)
    return [graph(tf), tf.get_collection(tf.GraphKeys.SUMMARIES)]


@cases("string", "range", "slice", "plain")
def fullness_of_producers(tf, np, kind):
    if kind == "string":
        tf.train.string_input_producer(["a", "b"], capacity=5, seed=1)
    elif kind == "range":
        tf.train.range_input_producer(7, seed=1, name="named")
    elif kind == "slice":
        tf.train.slice_input_producer([tf.constant([1.0, 2.0])], shuffle=False)
    else:
        tf.train.input_producer(tf.constant([1.0]), shuffle=False)
        tf.train.input_producer(tf.constant([1.0]), shuffle=False, summary_name="full")
    return [graph(tf), tf.get_collection(tf.GraphKeys.SUMMARIES)]


# ---------------------------------------------------------------------------------- contrib.layers


@cases(
    *product(
        [None, ["loss"], ["gradients", "gradient_norm"], ["learning_rate", "global_gradient_norm"]],
        [None, 1.0],
        [False, True],
    )
)
def summaries_of_a_loss(tf, np, kinds, clip, decays):
    weights = tf.get_variable("w", [2], initializer=tf.ones_initializer())
    table = tf.get_variable("table", [3, 2], initializer=tf.ones_initializer())
    loss = tf.reduce_sum(weights * tf.nn.embedding_lookup(table, [0, 2]))
    step = tf.train.get_or_create_global_step()
    decay = (lambda rate, step: rate * 0.5) if decays else None
    options = {"clip_gradients": clip, "summaries": kinds, "learning_rate_decay_fn": decay}
    tf.contrib.layers.optimize_loss(loss, step, 0.1, "SGD", **options)
    collected = sorted(t.op.name for t in tf.get_collection(tf.GraphKeys.SUMMARIES))
    return [collected, _run(tf, np, tf.summary.merge_all()) if collected else None]


@cases("relu", "relu6", "softplus", "tanh")
def summaries_of_activations(tf, np, kind):
    x = tf.constant(normal(np, 3, 4).astype(np.float32) * 6)
    made = tf.contrib.layers.summarize_activation(getattr(tf.nn, kind)(x))
    nodes = graph(tf)
    return [nodes, made, _run(tf, np, tf.summary.merge_all())]


def summaries_of_collections(tf, np):
    layers = tf.contrib.layers
    net = layers.fully_connected(tf.ones([2, 3]), 4, weights_initializer=tf.ones_initializer())
    layers.fully_connected(net, 1, weights_initializer=tf.ones_initializer(), outputs_collections="mine")
    tensors = [tf.constant("text"), tf.constant(True), tf.constant(2.0), tf.placeholder(tf.float32)]
    made = [
        layers.summarize_tensors(tensors),
        layers.summarize_tensor(tensors[2], "tagged"),
        layers.summarize_collection("mine"),
        layers.summarize_collection(tf.GraphKeys.GLOBAL_VARIABLES, "fully_connected_1"),
        layers.summarize_activations(),
        layers.summarize_activations("nothing"),
    ]
    return [made, names(tf)]
