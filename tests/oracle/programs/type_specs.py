"""tf.TypeSpec and its kin: what they say, compare equal to, accept, and make together."""

from kit import cases, graph, product, raises, run


def _specs(tf):
    return {
        "scalar": tf.TensorSpec([]),
        "vector": tf.TensorSpec([3]),
        "named": tf.TensorSpec([3], name="x"),
        "ints": tf.TensorSpec([3], tf.int32),
        "partly": tf.TensorSpec([None, 2]),
        "unknown": tf.TensorSpec(None),
        "sparse": tf.SparseTensorSpec([2, 3]),
        "sparse partly": tf.SparseTensorSpec([None, 3]),
        "sparse ints": tf.SparseTensorSpec([2, 3], tf.int64),
        "sparse unknown": tf.SparseTensorSpec(),
        "slices": tf.IndexedSlicesSpec([None, 2]),
        "slices sized": tf.IndexedSlicesSpec([5, 2], tf.float32, tf.int32, tf.int32, [3]),
        "slices unknown": tf.IndexedSlicesSpec(),
    }


_KEYS = [
    "scalar",
    "vector",
    "named",
    "ints",
    "partly",
    "unknown",
    "sparse",
    "sparse partly",
    "sparse ints",
    "sparse unknown",
    "slices",
    "slices sized",
    "slices unknown",
]


@cases(*_KEYS)
def one(tf, np, key):
    spec = _specs(tf)[key]
    again = spec._deserialize(spec._serialize())
    return [
        repr(spec),
        spec.value_type.__name__,
        spec == again,
        hash(spec) == hash(again),
        [repr(s) for s in tf.nest.flatten(spec._component_specs)],
        [repr(s) for s in spec._flat_tensor_specs],
        isinstance(spec, tf.TypeSpec),
    ]


@cases(*product(_KEYS, _KEYS))
def pairs(tf, np, first, second):
    a, b = _specs(tf)[first], _specs(tf)[second]
    merged = []
    failure = raises(lambda: merged.append(repr(a.most_specific_compatible_type(b))))
    return [a == b, a != b, a.is_compatible_with(b), merged, failure]


@cases(*_KEYS)
def against_values(tf, np, key):
    spec = _specs(tf)[key]
    values = [
        tf.zeros([3]),
        tf.zeros([3], tf.int32),
        tf.placeholder(tf.float32),
        tf.SparseTensor([[0, 1]], [1.0], [2, 3]),
        tf.SparseTensorValue(np.array([[0, 1]]), np.array([1.0], np.float32), np.array([2, 3])),
        tf.IndexedSlices(tf.zeros([3, 2]), tf.constant([1, 2, 3]), tf.constant([5, 2])),
        tf.IndexedSlices(tf.zeros([3, 2]), tf.constant([1, 2, 3], tf.int64)),
    ]
    return [spec.is_compatible_with(value) for value in values]


@cases("scalar", "vector", "named", "partly", "unknown", "sparse", "sparse partly", "sparse unknown")
def batches(tf, np, key):
    spec = _specs(tf)[key]
    made = []
    failure = raises(lambda: made.append(repr(spec._unbatch())))
    return [
        repr(spec._batch(4)),
        repr(spec._batch(None)),
        made,
        failure,
        spec._to_legacy_output_types(),
        spec._to_legacy_output_shapes(),
        spec._to_legacy_output_classes().__name__,
    ]


def of_tensors(tf, np):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    made = [
        tf.TensorSpec.from_tensor(x),
        tf.TensorSpec.from_tensor(x, "y"),
        tf.TensorSpec.from_spec(tf.TensorSpec([2], tf.int32, "a")),
        tf.TensorSpec.from_spec(tf.TensorSpec([2], tf.int32, "a"), "b"),
        tf.SparseTensorSpec.from_value(tf.SparseTensor([[0]], [1], [3])),
        tf.SparseTensorSpec.from_value(tf.SparseTensorValue([[0]], [1], [3])),
    ]
    return [
        [repr(m) for m in made],
        [m.name for m in made[:4]],
        [(m.shape, m.dtype) for m in made],
        raises(tf.TensorSpec.from_tensor, 3),
        raises(tf.SparseTensorSpec.from_value, x),
    ]


def taken_apart(tf, np):
    sparse = tf.SparseTensor([[0, 1], [1, 2]], [1.0, 2.0], [2, 3])
    slices = tf.IndexedSlices(tf.zeros([3, 2]), tf.constant([1, 2, 3]), tf.constant([5, 2]))
    spec = tf.SparseTensorSpec([2, 3])
    flat = spec._to_tensor_list(sparse)
    back = spec._from_tensor_list(flat)
    many = spec._from_compatible_tensor_list(spec._to_batched_tensor_list(sparse))
    rows = slices._type_spec
    again = rows._from_components(rows._to_components(slices))
    return [
        [(t.dtype, t.shape) for t in flat],
        run(tf, [back, many, again]),
        [back.indices.shape, back.values.shape, back.dense_shape.shape],
        repr(rows),
        repr(sparse._type_spec),
        type(spec._from_components([np.zeros([0, 2]), np.zeros(0), np.array([2, 3])])).__name__,
        raises(spec._from_tensor_list, [tf.zeros([2])]),
        raises(tf.TensorSpec([3])._to_components, "a"),
        raises(tf.TensorSpec([3])._to_components, [1.0, 2.0]),
        graph(tf),
    ]
