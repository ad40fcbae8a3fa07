"""State of datasets behind handles: seeds, caches, iterators without names, and those of several devices."""

import numpy as np
import pytest

import tideflow as tf

raw = tf.raw_ops
NUMBERS = {"output_types": [tf.int64], "output_shapes": [[]]}


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def numbers(count=6):
    return tf.data.experimental.to_variant(tf.data.Dataset.range(count))


def started(variant):
    """What begins an iterator without a name with a dataset and takes some elements, in one step."""
    handle, deleter = raw.AnonymousIteratorV2(**NUMBERS)
    with tf.control_dependencies([raw.MakeIterator(dataset=variant, iterator=handle)]):
        taken = [raw.IteratorGetNext(iterator=handle, **NUMBERS)[0]]
    for _ in range(5):
        with tf.control_dependencies(taken[-1:]):
            taken.append(raw.IteratorGetNext(iterator=handle, **NUMBERS)[0])
    with tf.control_dependencies(taken):
        return tf.stack(taken), raw.DeleteIterator(handle=handle, deleter=deleter)


def test_orders_go_on_from_one_iterator_to_the_next():
    seeds = raw.AnonymousRandomSeedGenerator(seed=np.int64(3), seed2=np.int64(5))
    shuffled = [
        raw.ShuffleDatasetV2(
            input_dataset=numbers(), buffer_size=np.int64(6), seed_generator=seeds.handle, **NUMBERS
        )
        for _ in range(2)
    ]
    first, deleted = started(shuffled[0])
    with tf.control_dependencies([deleted]):
        second, _ = started(shuffled[1])
    done = raw.DeleteRandomSeedGenerator(handle=seeds.handle, deleter=seeds.deleter)
    with tf.Session() as session:
        found = session.run([first, second, done])[:2]
    assert [sorted(order) for order in found] == [[*range(6)]] * 2
    assert found[0].tolist() != found[1].tolist()


def test_a_cache_has_what_the_first_pass_left():
    cache = raw.AnonymousMemoryCache()
    cached = raw.CacheDatasetV2(input_dataset=numbers(), filename="", cache=cache.handle, **NUMBERS)
    found, _ = started(cached)
    with tf.Session() as session:
        assert session.run(found).tolist() == [*range(6)]
        session.run(raw.DeleteMemoryCache(handle=cache.handle, deleter=cache.deleter))


def test_an_iterator_of_the_first_generation():
    handle = raw.AnonymousIterator(**NUMBERS)
    with tf.control_dependencies([raw.MakeIterator(dataset=numbers(), iterator=handle)]):
        value = raw.IteratorGetNext(iterator=handle, **NUMBERS)[0]
    with tf.Session() as session:
        assert session.run(value) == 0


@pytest.mark.parametrize("named", [True, False])
def test_devices_take_elements_in_turn(named):
    if named:
        handle = raw.MultiDeviceIterator(devices=["/cpu:0"] * 2, shared_name="", container="", **NUMBERS)
        text = raw.MultiDeviceIteratorToStringHandle(multi_device_iterator=handle)
        handle = raw.MultiDeviceIteratorFromStringHandle(string_handle=text)
    else:
        handle, deleter = raw.AnonymousMultiDeviceIterator(devices=["/cpu:0"] * 2, **NUMBERS)
    begun = raw.MultiDeviceIteratorInit(
        dataset=numbers(3), multi_device_iterator=handle, max_buffer_size=np.int64(1)
    )
    taken = []
    for shard in (1, 0, 0):
        with tf.control_dependencies([begun, *taken[-1:]]):
            taken += raw.MultiDeviceIteratorGetNextFromShard(
                multi_device_iterator=handle, shard_num=shard, incarnation_id=begun, **NUMBERS
            )
    with tf.control_dependencies(taken):
        done = (
            tf.no_op()
            if named
            else raw.DeleteMultiDeviceIterator(multi_device_iterator=handle, iterators=[], deleter=deleter)
        )
    wrong = raw.MultiDeviceIteratorGetNextFromShard(
        multi_device_iterator=handle, shard_num=0, incarnation_id=np.int64(9), **NUMBERS
    )
    with tf.Session() as session:
        assert session.run([*taken, done])[:3] == [1, 0, 2]
        if named:
            with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid incarnation id"):
                session.run(wrong)
