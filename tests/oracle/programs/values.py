"""Python and NumPy values becoming tensors; dtypes and shapes as values of their own."""

from kit import cases, raises, run

_VALUES = {
    "int": lambda np: 1,
    "negative int": lambda np: -5,
    "float": lambda np: 1.5,
    "bool": lambda np: True,
    "complex": lambda np: 1 + 2j,
    "str": lambda np: "text",
    "unicode": lambda np: "h\u00e9",
    "bytes": lambda np: b"\x00\xff",
    "large int": lambda np: 2**31,
    "int list": lambda np: [1, 2, 3],
    "mixed list": lambda np: [1, 2.5],
    "mixed list, float first": lambda np: [2.5, 1],
    "nested list": lambda np: [[1, 2], [3, 4]],
    "tuple": lambda np: (1.0, 2.0),
    "empty list": lambda np: [],
    "list of empty lists": lambda np: [[], []],
    "list of str": lambda np: ["a", "bc"],
    "list of bool": lambda np: [True, False],
    "large ints": lambda np: [1, 2**40],
    "range": lambda np: list(range(4)),
    "float64 scalar": lambda np: np.float64(1.5),
    "float32 scalar": lambda np: np.float32(1.5),
    "int64 scalar": lambda np: np.int64(7),
    "bool scalar": lambda np: np.bool_(True),
    "float64 array": lambda np: np.array([1.5, 2.5]),
    "float16 array": lambda np: np.array([1.5], np.float16),
    "int64 array": lambda np: np.array([1, 2]),
    "uint8 array": lambda np: np.array([1, 2], np.uint8),
    "uint16 array": lambda np: np.array([1, 2], np.uint16),
    "int8 array": lambda np: np.array([1, 2], np.int8),
    "bool array": lambda np: np.array([True, False]),
    "complex64 array": lambda np: np.array([1j], np.complex64),
    "str array": lambda np: np.array(["a", "bcd"]),
    "bytes array": lambda np: np.array([b"a", b"bcd"]),
    "object array": lambda np: np.array([b"a", b"bcd"], dtype=object),
    "empty array": lambda np: np.zeros([0, 3], np.float32),
    "fortran array": lambda np: np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "strided array": lambda np: np.arange(12)[::3],
    "list of float32 scalars": lambda np: [np.float32(1), np.float32(2)],
    "list of int64 scalars": lambda np: [np.int64(1), np.int64(2)],
    "array and number": lambda np: [np.float32(1), 2],
    "zero": lambda np: 0,
    "nan and inf": lambda np: [float("nan"), float("inf"), -float("inf")],
}


@cases({key: (make,) for key, make in _VALUES.items()})
def convert_to_tensor(tf, np, make):
    tensor = tf.convert_to_tensor(make(np))
    return [tensor, run(tf, tensor)]


@cases({key: (make,) for key, make in _VALUES.items() if key != "large int"})
def constant(tf, np, make):
    tensor = tf.constant(make(np), name="c")
    return [tensor, run(tf, tensor)]


_WITH_DTYPE = {
    "int as float": lambda tf, np: tf.constant(1, tf.float32),
    "float as int": lambda tf, np: tf.constant(1.5, tf.int32),
    "whole float as int": lambda tf, np: tf.constant(1.0, tf.int32),
    "float array as int": lambda tf, np: tf.constant(np.array([1.5, 2.7]), tf.int32),
    "int array as float": lambda tf, np: tf.constant(np.array([1, 2]), tf.float32),
    "double array as float": lambda tf, np: tf.constant(np.array([1.5]), tf.float32),
    "bool as int": lambda tf, np: tf.constant(True, tf.int32),
    "int as bool": lambda tf, np: tf.constant(1, tf.bool),
    "str as float": lambda tf, np: tf.constant("a", tf.float32),
    "int as str": lambda tf, np: tf.constant(1, tf.string),
    "int as complex": lambda tf, np: tf.constant(1, tf.complex64),
    "complex as float": lambda tf, np: tf.constant(1j, tf.float32),
    "int64": lambda tf, np: tf.constant(2**40, tf.int64),
    "half": lambda tf, np: tf.constant(1.0009765, tf.float16),
    "half overflow": lambda tf, np: tf.constant(1e6, tf.float16),
    "bfloat16": lambda tf, np: tf.constant([1.0, 3.14159], tf.bfloat16),
    "double": lambda tf, np: tf.constant(0.1, tf.float64),
    "numpy dtype": lambda tf, np: tf.constant(1, np.float64),
    "dtype by name": lambda tf, np: tf.constant(1, "float64"),
    "no such dtype": lambda tf, np: tf.constant(1, "float99"),
    "qint8": lambda tf, np: tf.constant(1, tf.qint8),
    "none": lambda tf, np: tf.constant(None),
    "ragged": lambda tf, np: tf.constant([[1], [2, 3]]),
    "dictionary": lambda tf, np: tf.constant({"a": 1}),
    "object": lambda tf, np: tf.constant(object()),
    "number and str": lambda tf, np: tf.constant([1, "a"]),
    "too large for any": lambda tf, np: tf.constant(2**70),
    "large int": lambda tf, np: tf.constant(2**31),
}


@cases({key: (make,) for key, make in _WITH_DTYPE.items()})
def constant_with_dtype(tf, np, make):
    try:
        tensor = make(tf, np)
    except Exception:
        return raises(make, tf, np)
    return [tensor, run(tf, tensor)]


_SHAPED = {
    "scalar spread": lambda tf: tf.constant(3, shape=[2, 2]),
    "list reshaped": lambda tf: tf.constant([1, 2, 3, 4], shape=[2, 2]),
    "last value repeated": lambda tf: tf.constant([1, 2], shape=[2, 2]),
    "too many values": lambda tf: tf.constant([1, 2, 3], shape=[2]),
    "empty": lambda tf: tf.constant(1.0, shape=[0, 2]),
    "verified": lambda tf: tf.constant([1, 2, 3, 4], shape=[2, 2], verify_shape=True),
    "verified alike": lambda tf: tf.constant([[1, 2]], shape=[1, 2], verify_shape=True),
    "scalar of list": lambda tf: tf.constant([1], shape=[]),
    "unknown": lambda tf: tf.constant([1], shape=[None]),
}


@cases({key: (make,) for key, make in _SHAPED.items()})
def constant_with_shape(tf, np, make):
    try:
        tensor = make(tf)
    except Exception:
        return raises(make, tf)
    return [tensor, run(tf, tensor)]


def preferred_dtype_gives_way(tf, np):
    made = [
        tf.convert_to_tensor(1, preferred_dtype=tf.float64),
        tf.convert_to_tensor(1.5, preferred_dtype=tf.int32),
        tf.convert_to_tensor("a", preferred_dtype=tf.float32),
        tf.convert_to_tensor([1, 2], preferred_dtype=tf.int64),
    ]
    return [made, run(tf, made)]


def lists_with_tensors_are_packed(tf, np):
    a = tf.placeholder(tf.float32, [], "a")
    made = [
        tf.convert_to_tensor([a, 1.0]),
        tf.convert_to_tensor([[a, 2], [3, a]]),
        tf.convert_to_tensor([a, a], name="n"),
    ]
    mistakes = [raises(tf.convert_to_tensor, [a, "x"]), raises(tf.convert_to_tensor, [a, tf.constant(1)])]
    return [made, mistakes, run(tf, made, {a: 5.0})]


def a_tensor_stays_itself(tf, np):
    a = tf.constant(1.0)
    return [
        tf.convert_to_tensor(a) is a,
        tf.convert_to_tensor(a, tf.float32) is a,
        raises(tf.convert_to_tensor, a, tf.float64),
        raises(tf.convert_to_tensor, a, tf.int32),
    ]


def operations_and_graph_do_not_convert(tf, np):
    return [raises(tf.convert_to_tensor, tf.no_op()), raises(tf.convert_to_tensor, tf.get_default_graph())]


def shapes_and_dimensions_convert(tf, np):
    made = [
        tf.convert_to_tensor(tf.TensorShape([2, 3])),
        tf.convert_to_tensor(tf.TensorShape([])),
        tf.convert_to_tensor(tf.TensorShape([2]), dtype=tf.int64),
        tf.convert_to_tensor(tf.Dimension(4)),
        tf.convert_to_tensor(tf.TensorShape([2**40])),
    ]
    mistakes = [
        raises(tf.convert_to_tensor, tf.TensorShape([None])),
        raises(tf.convert_to_tensor, tf.TensorShape(None)),
        raises(tf.convert_to_tensor, tf.TensorShape([2]), tf.float32),
    ]
    return [made, mistakes, run(tf, made)]


def variables_convert_to_reads(tf, np):
    v, r = tf.Variable(1.0, name="v"), tf.Variable(1.0, name="r", use_resource=True)
    return [tf.convert_to_tensor(v), tf.convert_to_tensor(r), raises(tf.convert_to_tensor, v, tf.int32)]


def indexed_slices_convert_to_dense(tf, np):
    slices = tf.IndexedSlices(tf.constant([[1.0], [2.0], [3.0]]), tf.constant([0, 2, 0]), tf.constant([4, 1]))
    unknown = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))
    return [run(tf, tf.convert_to_tensor(slices)), raises(tf.convert_to_tensor, unknown), slices]


def user_types_convert(tf, np):
    class Celsius(object):
        def __init__(self, degrees):
            self.degrees = degrees

    def convert(value, dtype=None, name=None, as_ref=False):
        return tf.constant(value.degrees + 273.0, dtype or tf.float32, name=name)

    tf.register_tensor_conversion_function(Celsius, convert)
    x = tf.convert_to_tensor(Celsius(10.0), name="k")
    return [x, run(tf, [x, tf.add(Celsius(1.0), 1.0), tf.constant(1.0) + Celsius(2.0)])]


def conversion_registry_mistakes(tf, np):
    return [
        raises(tf.register_tensor_conversion_function, "text", lambda v: v),
        raises(tf.register_tensor_conversion_function, int, "text"),
    ]


def arguments_take_the_dtype_of_their_fellows(tf, np):
    a, b = tf.placeholder(tf.float64, [2]), tf.placeholder(tf.int64, [2])
    made = [
        a + 1,
        tf.maximum(a, 2),
        1 + a,
        b * 3,
        tf.concat([a, [1, 2]], 0),
        tf.stack([b, [1, 2]]),
        tf.pow(b, 2),
    ]
    return [made, raises(lambda: b + 1.5), raises(lambda: a + tf.constant(1)), raises(tf.add, 1, a)]


def sparse_tensor_values(tf, np):
    s = tf.SparseTensor(indices=[[0, 1], [2, 0]], values=[1.5, 2.5], dense_shape=[3, 4])
    value = run(tf, s)
    again = tf.SparseTensor.from_value(value)
    return [s, value, s.get_shape(), s.dtype, again.shape, raises(tf.convert_to_tensor, s)]


def sparse_tensor_mistakes(tf, np):
    return [
        raises(tf.SparseTensor, [[0]], [1.0, 2.0], [3]),
        raises(tf.SparseTensor, [0], [1.0], [3]),
        raises(tf.SparseTensor, [[0, 1]], [1.0], [3]),
    ]


_DTYPES = (
    "float16 float32 float64 bfloat16 complex64 complex128 int8 uint8 uint16 uint32 uint64 int16 int32 int64 "
    "bool string qint8 quint8 qint16 quint16 qint32 resource variant"
).split()


@cases(*_DTYPES)
def dtype_facts(tf, np, name):
    d, ref = getattr(tf, name), tf.as_dtype(name + "_ref")
    flags = [
        d.is_bool,
        d.is_complex,
        d.is_floating,
        d.is_integer,
        d.is_quantized,
        d.is_unsigned,
        d.is_numpy_compatible,
    ]
    return {
        "name": [d.name, str(d), repr(d)],
        "flags": [bool(f) for f in flags],
        "enum": d.as_datatype_enum,
        "ref": [ref.name, ref.base_dtype.name, d.base_dtype.name, d.real_dtype.name],
        "lookup": [tf.as_dtype(name) == d, tf.as_dtype(d.as_datatype_enum) == d, tf.as_dtype(d) is d],
        "compatible": [
            d.is_compatible_with(tf.float32),
            d.is_compatible_with(ref),
            d == name,
            hash(d) == hash(d),
        ],
    }


@cases(*[n for n in _DTYPES if not n.startswith("q") and n not in ("resource", "variant")])
def dtype_numbers(tf, np, name):
    d = getattr(tf, name)
    facts = [np.dtype(d.as_numpy_dtype).name if name != "string" else "object", d.size]
    if d.is_floating or d.is_integer:
        facts += [float(d.max), float(d.min)] + ([list(map(float, d.limits))] if d.is_integer else [])
    return facts


def dtypes_from_numpy(tf, np):
    given = [np.float32, np.dtype("int64"), np.bool_, np.object_, np.uint8, np.complex64]
    return [tf.as_dtype(g) for g in given] + [
        raises(tf.as_dtype, g) for g in ("nothing", 9999, None, np.float128)
    ]


def comparing_dtypes(tf, np):
    return [
        tf.float32 == tf.float32,
        tf.float32 != tf.float64,
        tf.float32 == np.float32,
        tf.float32 == "float32",
        tf.float32 == None,  # noqa: E711
        tf.half == tf.float16,
        tf.double == tf.float64,
        len({tf.float32, tf.as_dtype("float32"), tf.float64}),
        tf.as_dtype("float32_ref") == tf.float32,
    ]


_SHAPES = {
    "unknown": lambda tf: tf.TensorShape(None),
    "scalar": lambda tf: tf.TensorShape([]),
    "vector": lambda tf: tf.TensorShape([3]),
    "partial": lambda tf: tf.TensorShape([None, 2]),
    "full": lambda tf: tf.TensorShape([4, 2]),
    "from a number": lambda tf: tf.TensorShape(5),
    "from a shape": lambda tf: tf.TensorShape(tf.TensorShape([1, None])),
    "of dimensions": lambda tf: tf.TensorShape([tf.Dimension(3), tf.Dimension(None)]),
}


@cases({key: (make,) for key, make in _SHAPES.items()})
def shape_facts(tf, np, make):
    s = make(tf)
    known = s.ndims is not None
    others = [tf.TensorShape(o) for o in (None, [], [None], [3], [4, 2], [4, None], [1, 2, 3])]
    return {
        "ndims": [s.ndims, s.rank, str(s), repr(s), s.is_fully_defined(), s.num_elements(), bool(s)],
        "list": s.as_list() if known else raises(s.as_list),
        "dims": [d.value for d in s.dims] if known else s.dims,
        "length": len(s) if known else raises(len, s),
        "compatible": [s.is_compatible_with(o) for o in others],
        "merged": [s.merge_with(o) if s.is_compatible_with(o) else raises(s.merge_with, o) for o in others],
        "concatenated": [s.concatenate(o) for o in others],
        "with rank": [s.with_rank(2) if s.ndims in (None, 2) else raises(s.with_rank, 2)],
        "rank bounds": [
            s.with_rank_at_least(1) if s.ndims != 0 else raises(s.with_rank_at_least, 1),
            s.with_rank_at_most(1) if s.ndims in (None, 0, 1) else raises(s.with_rank_at_most, 1),
        ],
        "proto": s.as_proto().unknown_rank,
    }


def shapes_are_indexed(tf, np):
    s, u = tf.TensorShape([2, None, 4]), tf.TensorShape(None)
    return [s[0], s[1], s[-1], s[1:], s[:1], [d.value for d in s], u[0], u[1:], u[:2], raises(lambda: s[3])]


def shapes_compare(tf, np):
    def equal(a, b):
        try:
            return tf.TensorShape(a) == tf.TensorShape(b)
        except ValueError:
            return "refused"

    pairs = [
        ([2, 3], [2, 3]),
        ([2, 3], [3, 2]),
        ([None], [2]),
        (None, None),
        (None, [2]),
        ([None], [None]),
        ([], []),
    ]
    return [equal(a, b) for a, b in pairs] + [tf.TensorShape([2]) == [2], tf.TensorShape([2]) != [3]]


def shapes_refuse(tf, np):
    full = tf.TensorShape([2, 3])
    return [
        raises(tf.TensorShape, [-2]),
        raises(tf.TensorShape, "abc"),
        raises(tf.TensorShape, [1.5]),
        raises(full.assert_is_compatible_with, [2, 4]),
        raises(full.assert_same_rank, [2]),
        raises(full.assert_has_rank, 3),
        raises(tf.TensorShape([None]).assert_is_fully_defined),
        raises(tf.TensorShape(None).as_list),
    ]


def dimension_arithmetic(tf, np):
    d, u = tf.Dimension(7), tf.Dimension(None)
    made = [d + 2, 2 + d, d - 3, 10 - d, d * 2, 2 * d, d // 2, 20 // d, d % 4, d + u, u * 0, d // u]
    compared = [d == 7, d == u, u == None, d != 7, d < 8, d <= u, d > 3, d >= 7, int(d), str(u), repr(d)]  # noqa: E711
    return [
        made,
        compared,
        raises(lambda: d / 2),
        raises(tf.Dimension, -1),
        raises(d.merge_with, 8),
        d.merge_with(u),
    ]


def set_shape_refines(tf, np):
    a = tf.placeholder(tf.float32, name="a")
    a.set_shape([None, 3])
    first = a.shape
    a.set_shape([2, None])
    return [
        first,
        a.shape,
        a.get_shape(),
        raises(a.set_shape, [5, 3]),
        raises(a.set_shape, [2, 3, 4]),
        a.shape,
    ]


def static_values_of_tensors(tf, np):
    a = tf.placeholder(tf.float32, [2, 3])
    made = [
        tf.constant([1, 2]),
        tf.shape(a),
        tf.range(3),
        tf.fill([2], 7),
        a,
        tf.stack([tf.constant(1), 2]),
        tf.zeros([2]),
    ]
    return [None if v is None else np.asarray(v) for v in map(tf.get_static_value, made)]


def tensors_are_not_python_bools_or_iterables(tf, np):
    a = tf.constant([1.0, 2.0])
    u = tf.placeholder(tf.float32)
    return [
        raises(bool, a),
        raises(lambda: 1 if a > 0 else 2),
        raises(list, a),
        raises(len, a),
        raises(list, u),
        raises(lambda: 0.5 in a),
        raises(int, a),
        raises(np.array, u),
    ]


def tensors_as_keys_and_texts(tf, np):
    a, b = tf.placeholder(tf.float32, [2, None], "a"), tf.placeholder(tf.int32, name="b")
    return [
        {a: 1}[a],
        a == a,
        a == b,
        a != b,
        str(a),
        repr(a),
        str(b),
        repr(b),
        hash(a) == hash(a),
        repr(a.op),
    ]


def is_tensor_like(tf, np):
    v = tf.Variable(1.0)
    given = [tf.constant(1.0), v, 1.0, np.ones(2), tf.no_op(), tf.SparseTensor([[0]], [1.0], [1])]
    return [tf.is_tensor(g) for g in given]
