"""Op types of datasets that strategies, rewrites of pipelines and TensorFlow 2's iterators use."""

from input_files import text_file
from kit import cases, raises

_NUMBERS = {"output_types": ["int64"], "output_shapes": [[]]}
_BATCHES = {"output_types": ["int64"], "output_shapes": [[None]]}


def _structure(tf, given):
    return {"output_types": [tf.int64], "output_shapes": given["output_shapes"]}


def _taken(tf, variant, spec, most=30):
    dataset = tf.data.experimental.from_variant(variant, spec)
    value = tf.data.make_one_shot_iterator(dataset).get_next()
    found = []
    with tf.Session() as session:
        try:
            for _ in range(most):
                found.append(session.run(value))
        except tf.errors.OutOfRangeError:
            found.append("end")
    return found


def _made(tf, op, dataset, batches=False, **arguments):
    spec = tf.TensorSpec([None] if batches else [], tf.int64)
    variant = op(
        input_dataset=tf.data.experimental.to_variant(dataset),
        **dict(arguments, **_structure(tf, _BATCHES if batches else _NUMBERS)),
    )
    return _taken(tf, variant, spec)


def _int64(tf, value):
    return tf.constant(value, tf.int64)


@cases({"half": (0.5, 3, 4), "some": (0.2, 1, 1), "all": (1.0, 5, 6), "none": (0.0, 5, 6)})
def samples(tf, np, rate, seed, seed2):
    data = tf.data.Dataset.range(25)
    given = {"rate": tf.constant(rate), "seed": _int64(tf, seed), "seed2": _int64(tf, seed2)}
    return _made(tf, tf.raw_ops.SamplingDataset, data, **given)


@cases({"even": (12, 4, 2), "rest": (10, 4, 2), "one": (5, 2, 2), "three": (12, 6, 3)})
def smaller_batches(tf, np, count, size, replicas):
    data = tf.data.Dataset.range(count).batch(size)
    op = tf.raw_ops.RebatchDataset
    return _made(tf, op, data, True, num_replicas=_int64(tf, replicas), use_fallback=True)


def shards(tf, np):
    data = tf.data.Dataset.range(9)
    op = tf.raw_ops.AutoShardDataset
    return [_made(tf, op, data, num_workers=_int64(tf, 2), index=_int64(tf, i)) for i in range(2)]


def shards_of_files(tf, np):
    """A worker has some of the files where the elements are those of files, however they go on from there."""
    names = [text_file("%da" % i, "%db" % i, "%dc" % i) for i in range(4)]
    lines = tf.data.TextLineDataset
    listed = tf.data.Dataset.from_tensor_slices(names)
    made = {
        "direct": lines(names),
        "flat_map": listed.flat_map(lines).batch(2),
        "interleave": listed.interleave(lines, 2).map(tf.strings.upper),
        "zip": tf.data.Dataset.zip((lines(names), lines(names))).map(lambda a, b: a),
        "concatenate": lines(names).concatenate(lines(names)),
        "take": lines(names).skip(1).take(2),
        "shuffled": listed.shuffle(1).flat_map(lines).cache().repeat(2),
        "unique": lines(names).apply(tf.data.experimental.unique()),
    }
    found = {}
    for key, dataset in made.items():
        shape = [None] if key == "flat_map" else []
        for index in (0, 1):
            variant = tf.raw_ops.AutoShardDataset(
                input_dataset=tf.data.experimental.to_variant(dataset),
                num_workers=_int64(tf, 2),
                index=_int64(tf, index),
                output_types=[tf.string],
                output_shapes=[shape],
            )
            found["%s %d" % (key, index)] = _taken(tf, variant, tf.TensorSpec(shape, tf.string))
    return found


def pauses(tf, np):
    data = tf.data.Dataset.range(3)
    return _made(tf, tf.raw_ops.SleepDataset, data, sleep_microseconds=_int64(tf, 10))


def choices(tf, np):
    data = [tf.data.experimental.to_variant(tf.data.Dataset.range(5)) for _ in range(2)]
    variant = tf.raw_ops.ChooseFastestDataset(
        input_datasets=data, num_experiments=2, **_structure(tf, _NUMBERS)
    )
    return _taken(tf, variant, tf.TensorSpec([], tf.int64))


def several_devices(tf, np):
    structure = _structure(tf, _NUMBERS)
    raw = tf.raw_ops
    iterator = raw.MultiDeviceIterator(
        devices=["/cpu:0", "/cpu:0"], shared_name="", container="", **structure
    )
    variant = tf.data.experimental.to_variant(tf.data.Dataset.range(5))
    begun = raw.MultiDeviceIteratorInit(
        dataset=variant, multi_device_iterator=iterator, max_buffer_size=_int64(tf, 1)
    )
    incarnation = tf.placeholder(tf.int64, [])
    following = [
        raw.MultiDeviceIteratorGetNextFromShard(
            multi_device_iterator=iterator, shard_num=shard, incarnation_id=incarnation, **structure
        )[0]
        for shard in range(2)
    ]
    found = []
    with tf.Session() as session:
        for _ in range(2):
            number = session.run(begun)
            found.append(number)
            feeds = {incarnation: number}
            for shard in (0, 1, 0, 1, 0):
                found.append(session.run(following[shard], feeds))
            found.append(raises(session.run, following[1], feeds))
        found.append(raises(session.run, following[0], {incarnation: 99}))
    return found
