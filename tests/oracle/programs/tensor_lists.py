"""Lists of tensors: every op, its static shapes, its gradients, and what it refuses."""

from kit import cases, raises


class _Lists:
    """The op types with the arguments that most cases share."""

    def __init__(self, tf, np):
        self.tf, self.np, self.raw = tf, np, tf.raw_ops
        self.none = np.zeros(0, np.int32)

    def empty(self, shape=-1, limit=-1, dtype=None):
        dtype = dtype or self.tf.float32
        return self.raw.EmptyTensorList(element_shape=shape, max_num_elements=limit, element_dtype=dtype)

    def reserve(self, shape, count):
        return self.raw.TensorListReserve(
            element_shape=shape, num_elements=count, element_dtype=self.tf.float32
        )

    def push(self, handle, value):
        return self.raw.TensorListPushBack(input_handle=handle, tensor=self.tf.convert_to_tensor(value))

    def pop(self, handle, shape=-1, dtype=None):
        dtype = dtype or self.tf.float32
        return self.raw.TensorListPopBack(input_handle=handle, element_shape=shape, element_dtype=dtype)

    def get(self, handle, index, shape=-1):
        return self.raw.TensorListGetItem(
            input_handle=handle, index=index, element_shape=shape, element_dtype=self.tf.float32
        )

    def put(self, handle, index, value):
        return self.raw.TensorListSetItem(
            input_handle=handle, index=index, item=self.tf.convert_to_tensor(value)
        )

    def stack(self, handle, shape=-1, count=-1, dtype=None):
        dtype = dtype or self.tf.float32
        return self.raw.TensorListStack(
            input_handle=handle, element_shape=shape, element_dtype=dtype, num_elements=count
        )

    def of(self, value, shape=-1):
        return self.raw.TensorListFromTensor(tensor=self.tf.convert_to_tensor(value), element_shape=shape)

    def gather(self, handle, indices, shape=-1):
        return self.raw.TensorListGather(
            input_handle=handle, indices=indices, element_shape=shape, element_dtype=self.tf.float32
        )

    def scatter(self, value, indices, shape=-1):
        value = self.tf.convert_to_tensor(value)
        return self.raw.TensorListScatter(tensor=value, indices=indices, element_shape=shape)

    def scatter2(self, value, indices, count, shape=-1):
        value = self.tf.convert_to_tensor(value)
        return self.raw.TensorListScatterV2(
            tensor=value, indices=indices, element_shape=shape, num_elements=count
        )

    def scatter_into(self, handle, value, indices):
        value = self.tf.convert_to_tensor(value)
        return self.raw.TensorListScatterIntoExistingList(input_handle=handle, tensor=value, indices=indices)

    def concat(self, handle, shape=None):
        return self.raw.TensorListConcat(
            input_handle=handle, element_dtype=self.tf.float32, element_shape=shape
        )

    def concat2(self, handle, shape=-1, leading=()):
        leading = self.np.array(leading, self.np.int64)
        return self.raw.TensorListConcatV2(
            input_handle=handle, element_dtype=self.tf.float32, element_shape=shape, leading_dims=leading
        )

    def split(self, value, lengths, shape=-1):
        value, lengths = self.tf.convert_to_tensor(value), self.np.array(lengths, self.np.int64)
        return self.raw.TensorListSplit(tensor=value, element_shape=shape, lengths=lengths)

    def joined(self, a, b, dtype=None):
        dtype = dtype or self.tf.float32
        return self.raw.TensorListConcatLists(input_a=a, input_b=b, element_dtype=dtype)

    def push_batch(self, handles, value):
        value = self.tf.convert_to_tensor(value)
        return self.raw.TensorListPushBackBatch(input_handles=handles, tensor=value)

    def resize(self, handle, size):
        return self.raw.TensorListResize(input_handle=handle, size=size)

    def length(self, handle):
        return self.raw.TensorListLength(input_handle=handle)

    def shape_of(self, handle, dtype=None):
        return self.raw.TensorListElementShape(input_handle=handle, shape_type=dtype or self.tf.int32)

    @property
    def two(self):
        return self.push(self.push(self.empty(), [1.0, 2.0]), [3.0, 4.0])

    @property
    def ragged(self):
        return self.push(self.push(self.empty(), [1.0, 2.0]), [3.0])


_VALUES = {
    "stack": lambda o: o.stack(o.two),
    "stack none": lambda o: o.stack(o.empty([2])),
    "stack none told": lambda o: o.stack(o.empty(), [3]),
    "stack unset": lambda o: o.stack(o.put(o.reserve(-1, 3), 1, [1.0, 2.0])),
    "strings": lambda o: o.stack(o.push(o.push(o.empty(dtype=o.tf.string), "a"), "b"), dtype=o.tf.string),
    "integers": lambda o: o.stack(o.push(o.push(o.empty(dtype=o.tf.int32), 1), 2), dtype=o.tf.int32),
    "nested": lambda o: o.stack(o.pop(o.push(o.empty(dtype=o.tf.variant), o.two), dtype=o.tf.variant)[1]),
    "pop": lambda o: o.pop(o.two)[1],
    "pop leaves": lambda o: o.stack(o.pop(o.two)[0]),
    "pop unset": lambda o: o.pop(o.reserve([2], 2))[1],
    "pop unset told": lambda o: o.pop(o.reserve([-1], 2), [3])[1],
    "get": lambda o: o.get(o.two, 1),
    "get beside": lambda o: o.get(o.put(o.reserve([-1], 2), 1, [1.0, 2.0]), 0),
    "length": lambda o: o.length(o.two),
    "grown": lambda o: o.stack(o.resize(o.two, 4)),
    "shrunk": lambda o: o.stack(o.resize(o.two, 1)),
    "element shape": lambda o: [o.shape_of(o.two), o.shape_of(o.empty([2, -1])), o.shape_of(o.empty(o.none))],
    "element shape 64": lambda o: o.shape_of(o.empty([2, -1]), o.tf.int64),
    "from tensor": lambda o: [
        o.stack(o.of([[1.0, 2.0], [3.0, 4.0]], [2])),
        o.shape_of(o.of([[1.0], [3.0]], [-1])),
    ],
    "gather": lambda o: o.gather(o.two, [1, 0, 1]),
    "gather none": lambda o: o.gather(o.two, o.none, [2]),
    "gather unset": lambda o: o.gather(o.put(o.reserve(-1, 3), 1, [1.0, 2.0]), [0, 1]),
    "scatter": lambda o: o.stack(o.scatter([1.0, 2.0], [3, 1], o.none)),
    "scatter twice": lambda o: o.stack(o.scatter([1.0, 2.0], [1, 1], o.none)),
    "scatter long": lambda o: o.stack(o.scatter2([1.0, 2.0], [3, 1], 6, o.none)),
    "scatter as needed": lambda o: o.stack(o.scatter2([1.0, 2.0], [3, 1], -1, o.none)),
    "scatter into": lambda o: o.stack(o.scatter_into(o.two, [[9.0, 8.0]], [1])),
    "concat": lambda o: list(o.concat(o.ragged)),
    "concat v2": lambda o: list(o.concat2(o.ragged)),
    "concat none": lambda o: list(o.concat2(o.empty(), [-1, 2])),
    "concat unset": lambda o: list(o.concat2(o.reserve([-1, 2], 2), [-1, 2], [1, 2])),
    "concat unset declared": lambda o: list(o.concat2(o.reserve([3, 2], 2))),
    "split": lambda o: list(o.concat2(o.split([1.0, 2.0, 3.0], [2, 1]))),
    "joined": lambda o: o.stack(o.joined(o.two, o.two)),
    "batch": lambda o: [
        o.stack(x) for x in o.tf.unstack(o.push_batch(o.tf.stack([o.two, o.two]), [[7.0, 7.0], [8.0, 8.0]]))
    ],
    "joined batch": lambda o: [
        o.stack(o.push(x, [0.0, 0.0]))
        for x in o.tf.unstack(o.joined(o.tf.stack([o.two, o.two]), o.tf.stack([o.two, o.empty()])))
    ],
    "zeros": lambda o: [o.stack(o.tf.zeros_like(o.two)), o.length(o.tf.zeros_like(o.two))],
    "zeros of unset": lambda o: o.stack(o.tf.zeros_like(o.reserve([2], 2))),
    "sums": lambda o: o.stack(o.tf.add_n([o.two, o.two, o.two])),
    "sum with unset": lambda o: o.stack(o.tf.add_n([o.two, o.reserve([2], 2)])),
}


@cases(_VALUES)
def values(tf, np, build):
    with tf.Session() as session:
        return session.run(build(_Lists(tf, np)))


_REFUSED = {
    "full": lambda o: o.stack(o.push(o.push(o.empty(limit=1), 1.0), 2.0)),
    "push type": lambda o: o.stack(o.push(o.empty(), 1)),
    "push shape": lambda o: o.stack(o.push(o.empty([2]), [1.0])),
    "pop empty": lambda o: o.pop(o.empty())[1],
    "pop type": lambda o: o.pop(o.two, dtype=o.tf.int32)[1],
    "pop unset": lambda o: o.pop(o.reserve([-1], 2))[1],
    "get": lambda o: o.get(o.two, 9),
    "get negative": lambda o: o.get(o.two, -1),
    "get unset": lambda o: o.get(o.reserve([-1], 2), 0),
    "set": lambda o: o.stack(o.put(o.two, 9, [1.0, 2.0])),
    "set negative": lambda o: o.stack(o.put(o.two, -1, [1.0, 2.0])),
    "set shape": lambda o: o.stack(o.put(o.reserve([2], 2), 0, [1.0])),
    "set type": lambda o: o.stack(o.put(o.reserve([2], 2), 0, [1, 2])),
    "stack count": lambda o: o.stack(o.two, count=3),
    "stack none": lambda o: o.stack(o.empty()),
    "stack different": lambda o: o.stack(o.push(o.two, [1.0])),
    "stack unset": lambda o: o.stack(o.reserve(-1, 3)),
    "stack shape": lambda o: o.stack(o.two, [3]),
    "stack type": lambda o: o.stack(o.two, dtype=o.tf.int32),
    "resize": lambda o: o.stack(o.resize(o.two, -1)),
    "of a scalar": lambda o: o.stack(o.of(1.0, o.none)),
    "of a shape": lambda o: o.stack(o.of([[1.0, 2.0], [3.0, 4.0]], [3])),
    "gather none": lambda o: o.gather(o.two, o.none),
    "scatter negative": lambda o: o.stack(o.scatter2([1.0, 2.0], [-1, 1], 3, o.none)),
    "scatter past": lambda o: o.stack(o.scatter2([1.0, 2.0], [3, 1], 2, o.none)),
    "scatter scalar": lambda o: o.stack(o.scatter_into(o.two, 1.0, [5])),
    "concat scalars": lambda o: list(o.concat2(o.push(o.empty(), 1.0))),
    "concat none": lambda o: list(o.concat2(o.empty())),
    "concat different": lambda o: list(o.concat2(o.push(o.push(o.empty(), [[1.0, 2.0]]), [[1.0]]))),
    "concat unset": lambda o: list(o.concat2(o.reserve([-1, 2], 2), [-1, 2])),
    "concat unset short": lambda o: list(o.concat2(o.reserve([-1, 2], 2), [-1, 2], [1])),
    "split past": lambda o: list(o.concat2(o.split([1.0, 2.0, 3.0], [2, 2]))),
    "split short": lambda o: list(o.concat2(o.split([1.0, 2.0, 3.0], [2]))),
    "split scalar": lambda o: list(o.concat2(o.split(1.0, [2]))),
    "split negative": lambda o: list(o.concat2(o.split([1.0, 2.0, 3.0], [-1, 4]))),
    "split shape": lambda o: list(o.concat2(o.split([[1.0], [2.0], [3.0]], [2, 1], [-1, 2]))),
    "joined shapes": lambda o: o.stack(o.joined(o.empty([2]), o.empty([3]))),
    "joined types": lambda o: o.stack(o.joined(o.two, o.two, o.tf.int32)),
    "batch sizes": lambda o: o.push_batch(o.tf.stack([o.two, o.two]), [[7.0, 7.0]]),
    "batch shape": lambda o: o.stack(
        o.tf.unstack(o.push_batch(o.tf.stack([o.two, o.empty([3])]), [[7.0, 7.0], [8.0, 8.0]]))[0]
    ),
    "sum of lengths": lambda o: o.stack(o.tf.add_n([o.two, o.empty()])),
    "not a list": lambda o: o.stack(o.tf.constant(0)),
}


@cases(_REFUSED)
def refused(tf, np, build):
    with tf.Session() as session:
        return raises(lambda: session.run(build(_Lists(tf, np))))


def static_shapes(tf, np):
    o = _Lists(tf, np)
    one = o.push(o.empty([2]), [1.0, 2.0])
    made = [
        o.stack(one),
        o.get(one, 0),
        o.pop(one)[1],
        o.get(o.two, 0, [2]),
        o.stack(o.two, [2], 3),
        o.gather(one, [0, 0]),
        o.concat2(one)[0],
        o.concat2(o.ragged, [-1, 2])[0],
        o.concat2(o.empty([3, 2]))[0],
        o.shape_of(one),
        o.shape_of(o.empty()),
        one,
        o.stack(o.of(np.zeros([3, 2], np.float32), [2])),
        o.stack(o.scatter(np.zeros([3, 2], np.float32), [0, 1, 2], [2])),
        o.stack(o.reserve([2], 3)),
        o.stack(o.split(np.zeros([3, 2], np.float32), [1, 2], [-1, 2])),
        o.get(o.split(np.zeros([3, 2], np.float32), [1, 2], [-1, 2]), 0),
        o.concat2(one)[1],
        o.joined(one, one),
        o.stack(o.joined(one, one)),
        o.stack(tf.identity(one)),
        o.stack(o.resize(one, 2)),
    ]
    return [tensor.shape for tensor in made]


_SLOPES = {
    "stack": lambda o, x: o.stack(o.of(x, [2])),
    "get": lambda o, x: o.get(o.of(x, [2]), 1) * 3,
    "gather": lambda o, x: o.gather(o.of(x, [2]), [1, 0]),
    "gather twice": lambda o, x: o.gather(o.of(x, [2]), [1, 1, 0]) * [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]],
    "set": lambda o, x: o.stack(o.put(o.of(x, [2]), 0, x[1] * 5.0)),
    "push": lambda o, x: o.stack(o.push(o.of(x, [2]), x[0])),
    "pop": lambda o, x: o.pop(o.of(x, [2]))[1],
    "pop leaves": lambda o, x: o.stack(o.pop(o.of(x, [2]))[0]) * 2,
    "split and concat": lambda o, x: o.concat2(o.split(x, [1, 1]))[0] * x,
    "concat of one": lambda o, x: o.concat(o.split(x, [2, 0]))[0] * x,
    "scatter": lambda o, x: o.stack(o.scatter(x, [2, 0], [2])),
    "scatter long": lambda o, x: o.stack(o.scatter2(x, [2, 0], 4, [2])),
    "scatter into": lambda o, x: o.stack(o.scatter_into(o.of(x, [2]), x, [0, 0])),
    "grown": lambda o, x: o.stack(o.resize(o.of(x, [2]), 3), [2]),
    "shrunk": lambda o, x: o.stack(o.resize(o.of(x, [2]), 1)),
    "squares": lambda o, x: o.tf.square(o.stack(o.push(o.of(x, [2]), x[0] * x[1]))),
}


@cases(_SLOPES)
def gradients(tf, np, build):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    y = build(_Lists(tf, np), x)
    slope = tf.gradients(y, x)[0]
    with tf.Session() as session:
        return session.run([y, slope])
