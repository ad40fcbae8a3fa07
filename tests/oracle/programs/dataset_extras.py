"""Ragged elements, options, optionals and statistics of tf.data."""

from kit import cases, graph, names, product, raises


def _specs(tf):
    return [
        tf.RaggedTensorSpec([None, None], tf.int32),
        tf.RaggedTensorSpec([2, None, 3], tf.string, 1),
        tf.RaggedTensorSpec([None, None, None], tf.float32),
        tf.RaggedTensorSpec(ragged_rank=1),
    ]


@cases(0, 1, 2, 3)
def ragged_specs(tf, np, number):
    spec = _specs(tf)[number]
    other = _specs(tf)[(number + 1) % 4]
    known = number < 3
    return [
        repr(spec),
        repr(spec._component_specs),
        repr(spec._flat_tensor_specs),
        repr(spec._batch(4)),
        repr(spec._unbatch()) if known else None,
        spec.value_type.__name__,
        spec == _specs(tf)[number],
        spec == other,
        spec.is_compatible_with(other),
        hash(spec) == hash(_specs(tf)[number]),
        repr(spec.most_specific_compatible_type(_specs(tf)[number])),
    ]


def bad_ragged_specs(tf, np):
    return [
        raises(tf.RaggedTensorSpec),
        raises(tf.RaggedTensorSpec, [2, 3], ragged_rank=5),
        raises(tf.RaggedTensorSpec, [2], ragged_rank="a"),
        repr(tf.data.experimental.RaggedTensorStructure(tf.int32, [None, None], 1)),
    ]


def _ragged(tf, kind):
    return {
        "numbers": lambda: tf.ragged.constant([[1, 2], [], [3], [4, 5, 6], [7]]),
        "strings": lambda: tf.ragged.constant([["a"], ["b", "c"], [], ["d"], []]),
        "deep": lambda: tf.ragged.constant([[[1, 2], [3]], [], [[4]], [[], [5]], [[6]]]),
    }[kind]()


def _values(tf, dataset):
    element = dataset.make_one_shot_iterator().get_next()
    found = []
    with tf.Session() as session:
        try:
            while True:
                value = session.run(element)
                found.append(value.to_list() if hasattr(value, "to_list") else value)
        except tf.errors.OutOfRangeError:
            return [
                found,
                repr(dataset.element_spec) if hasattr(dataset, "element_spec") else None,
                names(tf),
            ]


@cases(
    *product(["numbers", "strings", "deep"], ["batch", "twice", "whole"]),
    ("deep", "slices"),
    ("deep", "unbatch"),
)
def ragged_elements(tf, np, kind, what):
    value = _ragged(tf, kind)
    if what == "whole":
        return _values(tf, tf.data.Dataset.from_tensors(value))
    slices = tf.data.Dataset.from_tensor_slices(value)
    dataset = {
        "slices": lambda: slices,
        "batch": lambda: slices.batch(2),
        "twice": lambda: slices.batch(2, drop_remainder=True).batch(2),
        "unbatch": lambda: slices.batch(3).apply(tf.data.experimental.unbatch()),
    }[what]()
    return _values(tf, dataset)


def options(tf, np):
    made = tf.data.Options()
    other = tf.data.Options()
    other.experimental_slack = True
    other.experimental_optimization.map_fusion = False
    other.experimental_stats.prefix = "p"
    both = made.merge(other)
    clash = tf.data.Options()
    clash.experimental_slack = False
    return [
        made.experimental_deterministic,
        made.experimental_distribute.auto_shard,
        made.experimental_stats.prefix,
        made.experimental_stats.counter_prefix,
        made.experimental_stats.aggregator,
        made.experimental_optimization.map_vectorization.enabled,
        made.experimental_threading.private_threadpool_size,
        [both.experimental_slack, both.experimental_optimization.map_fusion, both.experimental_stats.prefix],
        [made == tf.data.Options(), made == other, made != other],
        raises(setattr, made, "experimental_slack", 3),
        raises(setattr, made, "experimental_stats", 3),
        raises(setattr, made, "no_such_option", 3),
        raises(setattr, made.experimental_threading, "private_threadpool_size", "x"),
        raises(other.merge, clash),
    ]


def optional_specs(tf, np):
    made = tf.data.experimental.Optional.from_value((1, 2.0))
    spec = tf.OptionalSpec.from_value(made)
    dataset = tf.data.Dataset.range(3)
    return [
        repr(spec),
        spec == tf.OptionalSpec(made.value_structure),
        repr(tf.data.DatasetSpec.from_value(dataset)),
    ]


def statistics(tf, np):
    aggregator = tf.data.experimental.StatsAggregator()
    dataset = tf.data.Dataset.range(5).apply(tf.data.experimental.latency_stats("wait"))
    dataset = dataset.batch(2).apply(tf.data.experimental.bytes_produced_stats("bytes"))
    choice = tf.data.Options()
    choice.experimental_stats.aggregator = aggregator
    dataset = dataset.with_options(choice)
    iterator = dataset.make_initializable_iterator()
    element, summary = iterator.get_next(), aggregator.get_summary()
    with tf.Session() as session:
        session.run(iterator.initializer)
        for _ in range(3):
            session.run(element)
        found = tf.Summary.FromString(session.run(summary))
    counts = {value.tag: value.histo.num for value in found.value}
    sizes = [value.histo.sum for value in found.value if value.tag == "bytes"]
    return [counts, sizes, summary, raises(dataset.make_one_shot_iterator), graph(tf, [])]


@cases(*product([None, 2], [False, True, "numbers"]))
def bad_message_in_a_batch(tf, np, parallel, more):
    """What comes before and after an element that cannot be parsed."""

    def message(i):
        feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[i]))
        return tf.train.Example(features=tf.train.Features(feature={"n": feature})).SerializeToString()

    records = [message(i) if i != 70 else b"no message" for i in range(150)]

    def parse(record):
        number = tf.parse_single_example(record, {"n": tf.FixedLenFeature([], tf.int64)})["n"]
        return number * 2 if more else number

    if more == "numbers":
        records = [1.0 / (i - 70) if i != 70 else float("nan") for i in range(150)]
        parse = lambda number: tf.check_numerics(number, "bad")

    dataset = tf.data.Dataset.from_tensor_slices(records).map(parse, num_parallel_calls=parallel).batch(50)
    element = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        first = session.run(element)
        error = raises(session.run, element)
        return [first, error, session.run(element), raises(session.run, element)]
