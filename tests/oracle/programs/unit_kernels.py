"""Values that kernels refuse, and forms of functions, as TensorFlow's unit tests of operations call them."""

import importlib

from kit import raises


def _module(tf, name):
    """An inner module; under Tideflow, what stands for it."""
    if tf.__name__ == "tideflow":
        from tideflow.programs.finder import Facade

        return Facade(f"tensorflow.python.{name}")
    return importlib.import_module(f"tensorflow.python.{name}")


def offsets_of_parts(tf, np):
    offsets = _module(tf, "ops.gen_array_ops").concat_offset
    given = [
        (0, [[2, 3], [2, 7]]),
        (1, [[2, 3, 5], [2, 7, 5]]),
        (1, [[[2, 3]], [[2, 7]]]),
        ([[1]], [[2, 3], [2, 7]]),
        (4, [[2, 3], [2, 7]]),
    ]
    made = [offsets(tf.constant(axis), [tf.constant(part) for part in parts]) for axis, parts in given]
    with tf.Session() as session:
        return [
            raises(session.run, made[0]),
            session.run(made[1]),
            *(raises(session.run, x) for x in made[2:]),
        ]


def constants_of_other_shapes(tf, np):
    constant = _module(tf, "framework.constant_op").constant
    return [
        raises(constant, [1, 2], shape=[3]),
        raises(constant, [1, 2, 3], shape=[2]),
        raises(constant, [3, 4], shape=[]),
        constant([7], shape=[2, 2]),
        constant([1, 2, 3, 4], shape=[2, 2]),
        raises(tf.compat.v2.constant, [1, 2], shape=[3]),
    ]


def second_forms(tf, np):
    confusion = _module(tf, "ops.confusion_matrix").confusion_matrix
    arrays, math, strings = (_module(tf, f"ops.{name}_ops") for name in ("array", "math", "string"))
    made = [
        confusion([0, 1], [1, 1], 2, [3, 4]),
        _module(tf, "ops.parsing_ops").decode_raw(["ab", "c"], tf.uint8, fixed_length=3),
        arrays.batch_gather_nd([[1, 2], [3, 4]], [[1], [0]], 1),
        arrays.space_to_depth_v2(np.arange(4.0).reshape(1, 2, 2, 1), 2),
        math.matvec([[1.0, 2.0]], [3.0, 4.0]),
        math.sparse_segment_sum_v2([[1], [2]], [0, 1], [0, 0]),
        strings.string_length_v2(["abc"]),
    ]
    x = tf.constant(1)
    with tf.Session() as session:
        return [session.run(made), math.tensor_equals(x, None), math.tensor_equals(x, x)]


def sparse_gradients_of_other_shapes(tf, np):
    sums = tf.SparseConditionalAccumulator(tf.float32, shape=[None, 3], name="sums")

    def add(indices, values, shape=None):
        shape = None if shape is None else np.array(shape, np.int64)
        return sums.apply_grad(np.array(indices, np.int64), np.array(values, np.float32), shape)

    with tf.Session() as session:
        return [
            raises(session.run, add([0], [[1, 2]], [3, 2])),
            raises(session.run, add([0], [1], [1])),
            raises(session.run, add([[0]], [[1, 2, 3]])),
        ]


def queues_of_one_name(tf, np):
    def both(name, *others):
        made = [tf.RandomShuffleQueue(10, *other, shared_name=name).size() for other in others]
        with tf.Session() as session:
            session.run(made[0])
            return raises(session.run, made[1])

    barrier = _module(tf, "ops.data_flow_ops").Barrier
    return [
        both("least", (5, tf.int32), (6, tf.int32)),
        both("seeds", (5, tf.int32, [()], None, 1), (5, tf.int32, [()], None, 2)),
        both("same", (5, tf.int32, [()], None, 1), (5, tf.int32, [()], None, 1)),
        both("unseeded", (5, tf.int32), (5, tf.int32)),
        raises(barrier, (tf.float32,), shapes=((None,),)),
    ]


def windows_and_words(tf, np):
    last = tf.slice([1, 2], [-1], [1])
    joined = tf.reduce_join(tf.placeholder_with_default([["a", "b"]], None), [0, -2])
    with tf.Session() as session:
        return [
            raises(session.run, last),
            raises(session.run, joined),
            raises(session.run, tf.decode_raw(["short", "longer"], tf.uint8)),
            raises(tf.parallel_stack, [[1], tf.placeholder(tf.int32)]),
        ]


def initializers_of_the_second_version(tf, np):
    inner, public = _module(tf, "ops.init_ops_v2"), tf.compat.v2
    made = [
        inner.RandomNormal(1.0, 2.0, seed=3)([2, 2]),
        inner.RandomUniform(0, 9, seed=3)([4], tf.int32),
        inner.TruncatedNormal(seed=3)([3], tf.float64),
        inner.VarianceScaling(2.0, "fan_out", "uniform", seed=3)([2, 3, 4]),
        inner.VarianceScaling(distribution="normal", seed=3)([5]),
        inner.Orthogonal(2.0, seed=3)([2, 3]),
        inner.GlorotNormal(3)([2, 2]),
        public.initializers.he_normal(3)([2, 2]),
        public.keras.initializers.lecun_uniform(3)([2, 2]),
        public.constant_initializer([1, 2])([2, 1]),
        public.random_uniform_initializer(seed=5)([2]),
        inner.Identity()([2, 2], tf.float64),
    ]
    configured = [inner.VarianceScaling(seed=1), inner.Constant(2), inner.GlorotUniform(), inner.Orthogonal()]
    refused = [
        raises(inner.Constant([1, 2, 3]), [2]),
        raises(inner.RandomNormal(), [2], tf.int32),
        raises(inner.RandomUniform(), [2], tf.bool),
        raises(inner.Ones(), [2], tf.string),
    ]
    with tf.Session() as session:
        return [session.run(made), [each.get_config() for each in configured], refused]


def arguments_of_inner_modules(tf, np):
    tables, arrays, texts = (_module(tf, f"ops.{name}_ops") for name in ("lookup", "array", "string"))
    logs, network, initial = (_module(tf, f"ops.{name}_ops") for name in ("logging", "nn", "init"))
    places = tables.index_table_from_tensor(vocabulary_list=["a", "b"], num_oov_buckets=1)
    words = tables.index_to_string_table_from_tensor(vocabulary_list=["a", "b"], default_value="?")
    image, filters = tf.ones([1, 3, 3, 1]), tf.ones([2, 2, 1])
    made = [
        places.lookup(tf.constant(["b", "c"])),
        words.lookup(tf.constant([0, 5], tf.int64)),
        arrays.listdiff([1, 2], [1], out_idx=tf.int64),
        texts.string_split_v2(source=["a b", "c"]),
        logs.scalar_summary("loss", 1.0, collections=["kept"]),
        network.dilation2d_v2(image, filters, [1] * 4, "SAME", "NHWC", [1] * 4),
        network.erosion2d_v2(image, filters, [1] * 4, "SAME", "NHWC", [1] * 4),
        initial.identity_initializer(2.0)([2, 2]),
    ]
    refused = [raises(tables.index_table_from_tensor, None), raises(tf.squeeze, [[1, 2]], -1)]
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        return [session.run(made), len(tf.get_collection("kept")), refused]


def series_of_the_normal_distribution(tf, np):
    special = _module(tf, "ops.distributions.special_math")
    x = tf.constant([-30.0, -11.0, 1.0])
    made = [special.log_ndtr(x, order) for order in (0, 1, 10)] + [special.ndtr(x, name="below")]
    refused = [raises(special.log_ndtr, x, order) for order in (-1, 31, 1.0)]
    with tf.Session() as session:
        return [session.run(made), made[-1].name, refused]


def words_of_refused_shapes(tf, np):
    pair = tf.placeholder_with_default([1, 2], None, name="pair")
    made = [
        tf.broadcast_to(pair, [2, 1]),
        tf.broadcast_to(pair, [3]),
        tf.ensure_shape(pair, [3]),
        tf.dynamic_partition([1.0, 2.0], 17, 7)[0],
    ]
    with tf.Session() as session:
        return [raises(session.run, tensor) for tensor in made]


def shapes_that_follow_from_one_side(tf, np):
    images, sizes = tf.placeholder(tf.float32), tf.placeholder(tf.int32)
    rows = tf.placeholder(tf.int32, [None, None])
    tall = tf.placeholder(tf.float32, [1, 10, None, None])
    wide = tf.nn.convolution(
        tall, tf.zeros([3, 3, 10, 20]), "VALID", dilation_rate=[2, 2], data_format="NCHW"
    )
    made = [
        tf.batch_to_space(images, sizes, 4),
        tf.space_to_batch(images, sizes, 4),
        tf.batch_gather(tf.constant([[0, 1, 2]]), rows),
        tf.batch_gather(tf.placeholder(tf.float32, [2, None, 5]), rows),
        wide,
    ]
    return [str(tensor.shape) for tensor in made]


def constants_of_messages(tf, np):
    numbers, text = tf.make_tensor_proto([[1.0, 2.0]]), tf.make_tensor_proto(b"a")
    with tf.Session() as session:
        return session.run([tf.constant(numbers), tf.convert_to_tensor(text), tf.identity(numbers)])


def labels_that_are_longer_than_their_lengths(tf, np):
    sparse = _module(tf, "ops.ctc_ops").dense_labels_to_sparse([[1, 2, 0, 0], [3, 0, 0, 0]], [2, 1])
    with tf.Session() as session:
        return session.run(sparse)


def prints_by_the_inner_name(tf, np):
    printed = _module(tf, "ops.logging_ops").print_v2("a", tf.constant([1, 2]), summarize=1)
    return printed.type


def a_value_of_a_branch_that_is_not_taken(tf, np):
    off, _ = _module(tf, "ops.control_flow_ops").switch(tf.constant([1, 2]), tf.constant(True))
    with tf.Session() as session:
        return raises(session.run, [tf.constant(1), tf.identity(off)])
