"""Aggregators hear of every element; their summary tells."""

import pytest

import tideflow as tf
from tests.ops.renaming import op_types, with_op_types

experimental = tf.data.experimental


@pytest.mark.parametrize("prefix", ["", "Experimental"])
def test_what_an_aggregator_hears(prefix):
    with tf.Graph().as_default() as graph:
        aggregator = experimental.StatsAggregator()
        dataset = tf.data.Dataset.from_tensor_slices([[1, 2, 3], [4, 5, 6]])
        dataset = dataset.apply(experimental.bytes_produced_stats("bytes"))
        dataset = dataset.apply(experimental.latency_stats("latency"))
        options = tf.data.Options()
        options.experimental_stats.aggregator = aggregator
        iterator = tf.data.make_initializable_iterator(dataset.with_options(options))
        tf.group(iterator.initializer, name="make")
        tf.identity(iterator.get_next(), name="next")
        tf.identity(aggregator.get_summary(), name="summary")
    graph = with_op_types(graph, lambda name: prefix + name if "Stats" in name else name)
    assert sum(name.startswith(f"{prefix}Stats") for name in op_types(graph)) == 2
    assert f"{prefix}SetStatsAggregatorDataset" in op_types(graph)
    with tf.Session(graph=graph) as session:
        session.run("make")
        for _ in range(2):
            session.run("next:0")
        summary = tf.Summary.FromString(session.run("summary:0"))
    histograms = {value.tag: value.histo for value in summary.value}
    sizes = next(histogram for tag, histogram in histograms.items() if "bytes" in tag)
    assert (sizes.num, sizes.sum) == (2, 2 * 3 * 4)
    assert next(histogram for tag, histogram in histograms.items() if "latency" in tag).num == 2


def test_filters_and_prefetches_report_under_the_names_of_their_nodes():
    aggregator, options = experimental.StatsAggregator(), tf.data.Options()
    options.experimental_stats.aggregator, options.experimental_stats.prefix = aggregator, "mine"
    numbers = tf.data.Dataset.range(6).prefetch(2).filter(lambda n: n > 2)
    iterator = tf.data.make_initializable_iterator(numbers.with_options(options))
    following, said = iterator.get_next(), aggregator.get_summary()
    with tf.Session() as session:
        session.run(iterator.initializer)
        for _ in range(3):
            session.run(following)
        found = {value.tag: value for value in tf.Summary.FromString(session.run(said)).value}
    assert found["mine::FilterDataset/_6::filtered_elements"].simple_value == 3
    assert found["mine::FilterDataset/_6::dropped_elements"].simple_value == 3
    assert found["mine::PrefetchDataset/_5::buffer_utilization"].histo.num == 6
    assert found["mine::PrefetchDataset/_5::buffer_capacity"].simple_value == 2


def test_an_aggregator_writes_events(tmp_path):
    raw = tf.raw_ops
    with tf.Graph().as_default():
        writer = tf.contrib.summary.create_file_writer(str(tmp_path))
        handle = raw.StatsAggregatorHandleV2()
        begun = raw.StatsAggregatorSetSummaryWriter(stats_aggregator=handle, summary=writer._resource)
        dataset = tf.data.Dataset.range(3).apply(experimental.bytes_produced_stats("bytes"))
        variant = raw.SetStatsAggregatorDataset(
            input_dataset=experimental.to_variant(dataset),
            stats_aggregator=handle,
            tag="",
            counter_prefix="",
            **dataset._attributes,
        )
        heard = experimental.from_variant(variant, dataset.element_spec)
        iterator = tf.data.make_initializable_iterator(heard)
        following, closed = iterator.get_next(), writer.close()
        with tf.Session() as session:
            session.run(writer.init())
            session.run([begun, iterator.initializer])
            for _ in range(3):
                session.run(following)
            session.run(closed)
    (path,) = tmp_path.iterdir()
    events = [event for event in tf.train.summary_iterator(str(path)) if event.summary.value]
    assert [event.step for event in events] == [1, 2, 3]
    assert [event.summary.value[0].histo.sum for event in events] == [8, 16, 24]
