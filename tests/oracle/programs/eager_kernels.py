"""What eager mode says where no kernel takes a type, an attribute or a size."""

from kit import cases, raises

EAGER = True

_OF_TYPES = {
    "bitwise_and of floats": lambda tf: tf.bitwise.bitwise_and(1.0, 2.0),
    "matmul of strings": lambda tf: tf.matmul(tf.constant([["a"]]), tf.constant([["b"]])),
    "random numbers that are integers": lambda tf: tf.raw_ops.RandomUniform(shape=[2], dtype=tf.int32),
    "sizes that are floats": lambda tf: tf.raw_ops.Reshape(tensor=[1, 2], shape=[2.0]),
    "segments that are floats": lambda tf: tf.unsorted_segment_sum([1, 2], [0.0, 1.0], 2),
    "sqrt of integers": lambda tf: tf.sqrt(tf.constant(1)),
    "relu of booleans": lambda tf: tf.nn.relu(tf.constant(True)),
    "indices that are floats": lambda tf: tf.gather(tf.constant([1]), [1.0]),
    "sizes that are strings": lambda tf: tf.reshape(tf.constant([1]), ["a"]),
    "sums of strings": lambda tf: tf.reduce_sum(tf.constant(["a"])),
    "an axis that is a float": lambda tf: tf.reduce_sum(tf.constant([1.0]), tf.constant([0.5])),
    "cholesky of integers": lambda tf: tf.linalg.cholesky(tf.constant([[1]])),
    "less of strings": lambda tf: tf.less(tf.constant("a"), tf.constant("b")),
    "an output type": lambda tf: tf.raw_ops.ArgMax(input=[1.0], dimension=0, output_type=tf.float32),
    "a number to parse": lambda tf: tf.strings.to_number("1", tf.int8),
    "another type": lambda tf: tf.add(tf.constant(1.0), tf.constant(1)),
}

_OF_ATTRIBUTES = {
    "a layout": lambda tf: tf.raw_ops.BiasAdd(value=[[1.0]], bias=[1.0], data_format="XX"),
    "a padding": lambda tf: tf.raw_ops.AvgPool(
        value=[[[[1.0]]]], ksize=[1, 1, 1, 1], strides=[1, 1, 1, 1], padding="XX"
    ),
    "no part": lambda tf: tf.raw_ops.Split(axis=0, value=[1.0], num_split=0),
    "no partition": lambda tf: tf.dynamic_partition([1.0], [0], 0),
    "a short window": lambda tf: tf.raw_ops.MaxPool(
        input=[[[[1.0]]]], ksize=[1, 1, 1], strides=[1, 1, 1, 1], padding="SAME"
    ),
}

_OF_SIZES = {
    "unstack": lambda tf: tf.unstack(tf.constant([1.0]), 3),
    "split": lambda tf: tf.split(tf.constant([1.0, 2.0, 3.0, 4.0]), 3),
    "split by two unknown sizes": lambda tf: tf.split(tf.constant([1.0, 2.0]), [-1, -1]),
    "pad": lambda tf: tf.pad(tf.constant([[1.0]]), [[1, 1]]),
    "bitcast": lambda tf: tf.bitcast(tf.constant(1), tf.int64),
    "two ellipses": lambda tf: tf.strided_slice(tf.ones([2, 2]), [0], [1], ellipsis_mask=3),
    "transpose": lambda tf: tf.transpose(tf.constant([1.0, 2.0]), [0, 1]),
    "squeeze": lambda tf: tf.squeeze(tf.constant([1.0, 2.0]), 0),
    "an image without pixels": lambda tf: tf.image.encode_jpeg(tf.zeros([0, 4, 3], tf.uint8)),
    "tile": lambda tf: tf.tile(tf.constant([1.0]), [1, 2]),
    "top_k": lambda tf: tf.nn.top_k(tf.constant([1.0]), 3),
    "lrn": lambda tf: tf.nn.lrn(tf.constant([1.0])),
    "max_pool": lambda tf: tf.nn.max_pool(tf.constant([[1.0]]), 2, 2, "VALID"),
    "broadcast_to": lambda tf: tf.broadcast_to(tf.constant([1.0, 2.0]), [3]),
    "scatter_nd": lambda tf: tf.scatter_nd(tf.constant([[0]]), tf.constant([1.0, 2.0]), [2]),
    "set_diag": lambda tf: tf.linalg.set_diag(tf.constant([[1.0]]), tf.constant([1.0, 2.0])),
}


@cases({name: name for name in _OF_TYPES})
def refused_types(tf, np, name):
    """The kind of the error alone: TensorFlow goes on with a list of all of its kernels."""
    return raises(_OF_TYPES[name], tf).types[0]


@cases({name: name for name in _OF_ATTRIBUTES})
def refused_attributes(tf, np, name):
    """Up to the whole definition of the op, which TensorFlow adds."""
    error = raises(_OF_ATTRIBUTES[name], tf)
    return error.types[0], error.message.partition("\n")[0]


@cases({name: name for name in _OF_SIZES})
def refused_sizes(tf, np, name):
    return raises(_OF_SIZES[name], tf)


@cases("uint16", "uint32", "uint64")
def reversed_unsigned_numbers(tf, np, dtype):
    x = tf.constant(np.array([[3, 0, 250], [7, 7, 1]], dtype))
    return [x[:, ::-1], x[::-1, 2:0:-1]]


def unsigned_numbers_of_16_bits(tf, np):
    x = tf.constant(np.array([7, 60000, 7, 1], np.uint16))
    return [tf.reverse(x, [0]), *tf.unique(x), *tf.unique_with_counts(x)]


_RAW = {
    "All": lambda raw: raw.All(input=[[True, False]], axis=1),
    "Sum": lambda raw: raw.Sum(input=[[1.0, 2.0]], axis=[0, 1]),
    "Max": lambda raw: raw.Max(input=[[1.0, 2.0]], axis=1, keep_dims=True),
    "ExpandDims": lambda raw: raw.ExpandDims(input=[1.0], axis=0),
    "Squeeze": lambda raw: raw.Squeeze(input=[[1.0]], axis=[0]),
    "Split": lambda raw: raw.Split(axis=1, value=[[1.0, 2.0]], num_split=2),
    "SplitV": lambda raw: raw.SplitV(value=[1.0, 2.0, 3.0], size_splits=[1, 2], axis=0, num_split=2),
    "Select": lambda raw: raw.Select(condition=[True, False], x=[1, 2], y=[3, 4]),
    "Where": lambda raw: raw.Where(condition=[True, False, True]),
}


@cases({name: name for name in _RAW})
def parameters_of_raw_ops(tf, np, name):
    """The names that parameters have in Python, where those of the op's definition are others."""
    return _RAW[name](tf.raw_ops)


_MATRICES = {
    "a number": (0.5, (1, 1)),
    "infinite": (float("inf"), (1, 1)),
    "no number": (float("nan"), (0, 1)),
    "no number first": (float("nan"), (0, 0)),
}


@cases(_MATRICES)
def matrices_with_an_element(tf, np, value, place):
    """What is not a number stays so, unless elimination begins with it."""
    matrix = np.eye(3) + 0.1
    matrix[place] = value

    def attempt(function):
        try:
            return function(tf.constant(matrix))
        except tf.errors.InvalidArgumentError as error:
            return type(error).__name__

    return [attempt(tf.linalg.inv), attempt(lambda m: tf.linalg.solve(m, tf.ones_like(m)))]


_LEFT_TO_KERNELS = {
    "indices of a slice": lambda tf, m: tf.raw_ops.Slice(input=m, begin=[0.0, 0.0], size=[1.0, 1.0]),
    "the axis of a gather": lambda tf, m: tf.raw_ops.GatherV2(params=m, indices=[0], axis=1.0),
    "a permutation": lambda tf, m: tf.transpose(m, [1.0, 0.0]),
    "a number of segments": lambda tf, m: tf.unsorted_segment_sum(m, [0, 1], 2.5),
    "a shape to broadcast to": lambda tf, m: tf.broadcast_to(m, [2.0, 5.0]),
    "a picture": lambda tf, m: tf.image.encode_png(tf.zeros([2, 2, 1])),
    "a picture's type": lambda tf, m: tf.image.decode_png(b"", dtype=tf.int32),
    "columns": lambda tf, m: tf.io.decode_csv(["1"], [tf.constant([], tf.int8)]),
    "features": lambda tf, m: tf.io.parse_single_example(b"", {"a": tf.FixedLenFeature([], tf.int8)}),
    "a shape of random numbers": lambda tf, m: tf.raw_ops.RandomUniform(shape=[2.0], dtype=tf.float32),
    "a seed": lambda tf, m: tf.raw_ops.StatelessRandomNormal(shape=[2], seed=[1.0, 2.0]),
    "a transform of Fourier's": lambda tf, m: tf.raw_ops.FFT(input=m),
    "text as bits": lambda tf, m: tf.bitcast(tf.constant(["a"]), tf.int32),
}


@cases({name: name for name in _LEFT_TO_KERNELS})
def types_left_to_kernels(tf, np, name):
    """TensorFlow chooses no kernel by these types: it finds one, and then refuses them."""
    return raises(_LEFT_TO_KERNELS[name], tf, tf.ones([2, 5]))
