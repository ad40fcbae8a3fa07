"""contrib.slim's data sets and models."""

import numpy as np
import pytest

import tideflow as tf

slim = tf.contrib.slim


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def example(number):
    feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[number]))
    return tf.train.Example(features=tf.train.Features(feature={"number": feature})).SerializeToString()


def test_a_provider_reads_every_record_once(tmp_path):
    for part in range(2):
        with tf.python_io.TFRecordWriter(str(tmp_path / f"part-{part}")) as writer:
            for number in range(3):
                writer.write(example(10 * part + number))
    decoder = slim.tfexample_decoder.TFExampleDecoder(
        {"number": tf.FixedLenFeature([], tf.int64)}, {"number": slim.tfexample_decoder.Tensor("number")}
    )
    dataset = slim.dataset.Dataset(str(tmp_path / "part-*"), tf.TFRecordReader, decoder, 6, {})
    provider = slim.dataset_data_provider.DatasetDataProvider(dataset, num_epochs=1, shuffle=False)
    (number,) = provider.get(["number"])
    seen = []
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        with slim.queues.QueueRunners(session), pytest.raises(tf.errors.OutOfRangeError):
            while True:
                seen.append(int(session.run(number)))
    assert sorted(seen) == [0, 1, 2, 10, 11, 12]


def test_queue_runners_do_not_nest():
    with tf.Session() as session, slim.queues.QueueRunners(session):
        with pytest.raises(slim.queues.NestedQueueRunnerError), slim.queues.QueueRunners(session):
            pass
    with slim.queues.QueueRunners(tf.Session()):
        pass  # the first ones have ended


def test_a_prefetch_queue_keeps_names():
    queue = slim.prefetch_queue.prefetch_queue({"b": tf.zeros([2]), "a": tf.constant(1)})
    assert queue.names == ["a", "b"] and set(queue.dequeue()) == {"a", "b"}


def test_strides_become_dilations_once_the_output_stride_is_reached():
    v1 = slim.nets.resnet_v1
    block = v1.resnet_v1_block
    images = tf.constant(np.random.RandomState(0).uniform(size=(1, 33, 33, 3)).astype(np.float32))
    with slim.arg_scope(slim.nets.resnet_utils.resnet_arg_scope()):
        blocks = [block("block1", 1, 2, 2), block("block2", 2, 2, 2)]
        dense, _ = v1.resnet_v1(images, blocks, None, False, False, 4, scope="tiny")
        coarse, _ = v1.resnet_v1(images, blocks, None, False, False, 16, reuse=True, scope="tiny")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        dense, coarse = session.run([dense, coarse])
    np.testing.assert_allclose(dense[:, ::4, ::4], coarse, rtol=1e-3, atol=1e-4)


def test_an_inception_model_ends_where_it_is_told():
    net, ends = slim.nets.inception.inception_v3_base(tf.zeros([1, 75, 75, 3]), "Mixed_5d", scope="I")
    assert net.shape[-1] == 288 and list(ends)[-1] == "Mixed_5d"
    with pytest.raises(ValueError, match="Unknown final endpoint nowhere"):
        slim.nets.inception.inception_v1_base(tf.zeros([1, 64, 64, 3]), "nowhere", scope="J")
