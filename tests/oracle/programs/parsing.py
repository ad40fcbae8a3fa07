"""Records as tensors: Examples, SequenceExamples, CSV, raw bytes, serialized tensors."""

import gzip
import zlib

from kit import cases, graph, names, product, raises, run


def _ints(tf, *values):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def _floats(tf, *values):
    return tf.train.Feature(float_list=tf.train.FloatList(value=values))


def _bytes(tf, *values):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))


def _example(tf, **features):
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString(
        deterministic=True
    )


def _sequence(tf, context=None, **lists):
    return tf.train.SequenceExample(
        context=tf.train.Features(feature=context or {}),
        feature_lists=tf.train.FeatureLists(
            feature_list={k: tf.train.FeatureList(feature=v) for k, v in lists.items()}
        ),
    ).SerializeToString(deterministic=True)


def _batch(tf):
    return [
        _example(tf, a=_ints(tf, 1, 2), b=_floats(tf, 0.5), c=_bytes(tf, b"x", b"yz")),
        _example(tf, a=_ints(tf, -3, 2**62), b=_floats(tf), other=_ints(tf, 7)),
        _example(tf, a=_ints(tf, 0, -(2**63)), c=_bytes(tf), b=tf.train.Feature()),
        _example(tf, a=_ints(tf, 5, 6), b=_floats(tf, 1.5, float("inf"), -2.0), c=_bytes(tf, b"")),
    ]


_SPECS = {
    "dense": lambda tf: {"a": tf.FixedLenFeature([2], tf.int64)},
    "dense matrix": lambda tf: {"a": tf.FixedLenFeature([2, 1], tf.int64)},
    "default": lambda tf: {"z": tf.FixedLenFeature([], tf.float32, default_value=7.5)},
    "default of a shape": lambda tf: {"z": tf.FixedLenFeature([2], tf.string, default_value=["p", "q"])},
    "default matrix": lambda tf: {"z": tf.FixedLenFeature([1, 2], tf.int64, default_value=[[3, 4]])},
    "sparse ints": lambda tf: {"a": tf.VarLenFeature(tf.int64)},
    "sparse floats": lambda tf: {"b": tf.VarLenFeature(tf.float32)},
    "sparse strings": lambda tf: {"c": tf.VarLenFeature(tf.string)},
    "sparse missing": lambda tf: {"nothing": tf.VarLenFeature(tf.string)},
    "padded": lambda tf: {"b": tf.FixedLenSequenceFeature([], tf.float32, allow_missing=True)},
    "padded with": lambda tf: {
        "b": tf.FixedLenSequenceFeature([], tf.float32, allow_missing=True, default_value=-1.0)
    },
    "padded strings": lambda tf: {"c": tf.FixedLenSequenceFeature([], tf.string, allow_missing=True)},
    "padded rows": lambda tf: {"a": tf.FixedLenSequenceFeature([2], tf.int64, allow_missing=True)},
    "padded missing": lambda tf: {"m": tf.FixedLenSequenceFeature([2], tf.int64, allow_missing=True)},
    "all": lambda tf: {
        "a": tf.FixedLenFeature([2], tf.int64),
        "b": tf.VarLenFeature(tf.float32),
        "c": tf.FixedLenSequenceFeature([], tf.string, allow_missing=True, default_value="-"),
        "odd key !": tf.VarLenFeature(tf.int64),
        "z": tf.FixedLenFeature([], tf.string, default_value="none"),
    },
}


@cases(*product(sorted(_SPECS), [0, 1, 4, 200]))
def examples(tf, np, spec, count):
    batch = (_batch(tf) * 50)[:count]
    serialized = tf.placeholder(tf.string, [None])
    parsed = tf.parse_example(serialized, _SPECS[spec](tf))
    return [parsed, names(tf), run(tf, parsed, {serialized: np.array(batch, object)})]


@cases(*sorted(_SPECS))
def single_examples(tf, np, spec):
    results = []
    for data in _batch(tf):
        parsed = tf.parse_single_example(data, _SPECS[spec](tf))
        results.append([parsed, run(tf, parsed)])
    return [results, names(tf)]


@cases(*sorted(_SPECS))
def graph_of_examples(tf, np, spec):
    tf.parse_example(_batch(tf), _SPECS[spec](tf), name="parse", example_names=["p", "q", "r", "s"])
    tf.io.parse_single_example(tf.placeholder(tf.string, []), _SPECS[spec](tf))
    return graph(tf)


def named_single_examples(tf, np):
    known = tf.parse_single_example(_batch(tf)[0], _SPECS["all"](tf), example_names="a name")
    unknown = tf.parse_single_example(tf.placeholder(tf.string), _SPECS["all"](tf), example_names="a name")
    return [known, unknown, names(tf), run(tf, known)]


_BAD_FEATURES = {
    "missing": lambda tf: ({}, tf.FixedLenFeature([2], tf.int64)),
    "empty feature": lambda tf: ({"a": tf.train.Feature()}, tf.FixedLenFeature([2], tf.int64)),
    "type": lambda tf: ({"a": _floats(tf, 1.0, 2.0)}, tf.FixedLenFeature([2], tf.int64)),
    "type of sparse": lambda tf: ({"a": _floats(tf, 1.0)}, tf.VarLenFeature(tf.int64)),
    "type of padded": lambda tf: (
        {"a": _bytes(tf, b"1")},
        tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
    ),
    "type of nothing": lambda tf: ({"a": _floats(tf)}, tf.VarLenFeature(tf.string)),
    "too few": lambda tf: ({"a": _ints(tf, 1)}, tf.FixedLenFeature([2], tf.int64)),
    "too many": lambda tf: ({"a": _ints(tf, 1, 2, 3)}, tf.FixedLenFeature([2], tf.int64)),
    "none": lambda tf: ({"a": _ints(tf)}, tf.FixedLenFeature([2], tf.int64, default_value=[1, 2])),
    "no whole rows": lambda tf: (
        {"a": _ints(tf, 1, 2, 3)},
        tf.FixedLenSequenceFeature([2], tf.int64, allow_missing=True),
    ),
}


@cases(*product(sorted(_BAD_FEATURES), [1, 100]))
def bad_features(tf, np, kind, before):
    features, spec = _BAD_FEATURES[kind](tf)
    good = _example(tf, a=spec.dtype == tf.string and _bytes(tf, b"1", b"2") or _ints(tf, 1, 2))
    batch = tf.parse_example([good] * before + [_example(tf, **features)], {"a": spec})
    single = tf.parse_single_example(_example(tf, **features), {"a": spec})
    return [raises(run, tf, batch), raises(run, tf, single)]


@cases(b"missing", b"\x0a\x05ab")
def bad_bytes(tf, np, data):
    spec = {"a": tf.VarLenFeature(tf.int64)}
    return [raises(run, tf, tf.parse_example([data], spec))]


def bad_specs(tf, np):
    good = _batch(tf)[:1]

    def error(spec, **keywords):
        return raises(tf.parse_example, good, {"a": spec}, **keywords)

    fixed, rows = tf.FixedLenFeature, tf.FixedLenSequenceFeature
    return [
        error(3),
        error(None),
        error(tf.VarLenFeature(None)),
        error(tf.VarLenFeature(tf.int32)),
        error(fixed([2], tf.int32)),
        error(fixed(None, tf.int64)),
        error(fixed([2], None)),
        error(fixed([None], tf.int64)),
        error(fixed([2, None], tf.int64)),
        error(fixed([2], tf.int64, default_value=[1, 2, 3])),
        error(fixed([2], tf.int64, default_value=["x", "y"])),
        error(rows([2], tf.int64)),
        error(tf.SparseFeature("", "b", tf.float32, 3)),
        error(tf.SparseFeature("a", "", tf.float32, 3)),
        error(tf.SparseFeature("a", "b", None, 3)),
        raises(tf.parse_example, good, {}),
        raises(tf.parse_example, good, None),
        raises(tf.parse_example, good[0], {"a": tf.VarLenFeature(tf.int64)}),
        raises(tf.parse_example, [good], {"a": tf.VarLenFeature(tf.int64)}),
        raises(tf.parse_single_example, good, {"a": tf.VarLenFeature(tf.int64)}),
        raises(tf.parse_single_example, good[0], {}),
        raises(run, tf, tf.parse_example(good, {"a": tf.VarLenFeature(tf.int64)}, example_names=["x", "y"])),
        raises(
            run, tf, tf.parse_example(good, {"a": fixed([2], tf.int64, tf.constant([1, 2, 3], tf.int64))})
        ),
    ]


def features_asked_for_twice(tf, np):
    later = _batch(tf)[0] + _example(tf, a=_ints(tf, 8, 9))
    spec = {"a": tf.VarLenFeature(tf.int64), "b": tf.VarLenFeature(tf.float32)}
    return run(tf, [tf.parse_example([later] * 60, spec), tf.parse_example([later], spec)])


@cases(False, True)
def sparse_features(tf, np, already_sorted):
    batch = [
        _example(tf, ix=_ints(tf, 3, 1), iy=_ints(tf, 0, 1), v=_floats(tf, 1.0, 2.0)),
        _example(tf, ix=_ints(tf, 5), iy=_ints(tf, 1), v=_floats(tf, 9.0)),
    ]
    one = tf.SparseFeature("ix", "v", tf.float32, 10, already_sorted)
    two = tf.SparseFeature(["ix", "iy"], "v", tf.float32, [10, 2], already_sorted)
    parsed = [tf.parse_example(batch, {"s": one, "t": two, "ix": tf.VarLenFeature(tf.int64)})]
    return [names(tf), run(tf, parsed)]


def messages(tf, np):
    message = tf.train.Example()
    message.features.feature["k"].int64_list.value.extend([1, -1])
    message.features.feature["b"].bytes_list.value.append(b"\xff\n")
    message.features.feature["a"].float_list.value.append(0.5)
    steps = tf.train.SequenceExample()
    steps.feature_lists.feature_list["s"].feature.add().float_list.value.append(2.5)
    again = tf.train.Example.FromString(message.SerializeToString())
    return [
        str(message),
        str(steps),
        sorted(message.features.feature),
        again == message,
        message.features.feature["k"].WhichOneof("kind"),
        message.HasField("features"),
        steps.HasField("context"),
        raises(message.features.feature["k"].int64_list.value.append, "x"),
        raises(tf.train.Example.FromString, b"\x0a\xff"),
        raises(tf.train.Feature, nothing=1),
    ]


# ----------------------------------------------------------------------------------------------- sequences


def _sequences(tf):
    return [
        _sequence(
            tf,
            {"c": _ints(tf, 3), "d": _floats(tf, 1.0, 2.0)},
            a=[_ints(tf, 1, 2), _ints(tf, 3, 4), _ints(tf, 5, 6)],
            b=[_floats(tf, 1.0), _floats(tf), _floats(tf, 2.0, 3.0)],
            e=[_bytes(tf, b"x"), tf.train.Feature(), _bytes(tf, b"y", b"z")],
        ),
        _sequence(tf, {"c": _ints(tf, 4)}, a=[_ints(tf, 7, 8)], b=[]),
        _sequence(tf, {"c": _ints(tf, 5)}, a=[]),
    ]


def _context_spec(tf):
    return {
        "c": tf.FixedLenFeature([], tf.int64),
        "d": tf.VarLenFeature(tf.float32),
        "z": tf.FixedLenFeature([2], tf.float32, default_value=[8.0, 9.0]),
    }


def _steps_spec(tf):
    return {
        "a": tf.FixedLenSequenceFeature([2], tf.int64),
        "b": tf.VarLenFeature(tf.float32),
        "e": tf.VarLenFeature(tf.string),
        "m": tf.FixedLenSequenceFeature([], tf.string, allow_missing=True),
    }


@cases(1, 2, 3)
def sequence_examples(tf, np, count):
    serialized = tf.placeholder(tf.string, [None])
    parsed = tf.io.parse_sequence_example(serialized, _context_spec(tf), _steps_spec(tf))
    batch = np.array(_sequences(tf)[:count], object)
    return [parsed, graph(tf), run(tf, parsed, {serialized: batch})]


@cases(0, 1, 2)
def single_sequence_examples(tf, np, which):
    data = _sequences(tf)[which]
    both = tf.parse_single_sequence_example(data, _context_spec(tf), _steps_spec(tf), example_name="n")
    context = tf.io.parse_single_sequence_example(data, _context_spec(tf))
    steps = tf.io.parse_single_sequence_example(data, None, _steps_spec(tf))
    return [both, context, steps, graph(tf), run(tf, [both, context, steps])]


_BAD_SEQUENCES = {
    "context missing": lambda tf: ({}, {}, {"c": tf.FixedLenFeature([], tf.int64)}, None),
    "context type": lambda tf: ({"c": _floats(tf, 1.0)}, {}, {"c": tf.FixedLenFeature([], tf.int64)}, None),
    "context count": lambda tf: ({"c": _ints(tf, 1, 2)}, {}, {"c": tf.FixedLenFeature([], tf.int64)}, None),
    "context sparse type": lambda tf: ({"c": _floats(tf, 1.0)}, {}, {"c": tf.VarLenFeature(tf.int64)}, None),
    "step type": lambda tf: (
        {},
        {"a": [_ints(tf, 1), _floats(tf, 1.0)]},
        None,
        {"a": tf.FixedLenSequenceFeature([1], tf.int64)},
    ),
    "step count": lambda tf: (
        {},
        {"a": [_ints(tf, 1), _ints(tf, 1, 2)]},
        None,
        {"a": tf.FixedLenSequenceFeature([1], tf.int64)},
    ),
    "step sparse type": lambda tf: (
        {},
        {"a": [_ints(tf, 1), _floats(tf, 1.0)]},
        None,
        {"a": tf.VarLenFeature(tf.int64)},
    ),
    "empty step": lambda tf: (
        {},
        {"a": [_ints(tf, 1), tf.train.Feature()]},
        None,
        {"a": tf.FixedLenSequenceFeature([1], tf.int64)},
    ),
    "list missing": lambda tf: ({}, {}, None, {"a": tf.FixedLenSequenceFeature([1], tf.int64)}),
}


@cases(*sorted(_BAD_SEQUENCES))
def bad_sequences(tf, np, kind):
    context, lists, context_spec, steps_spec = _BAD_SEQUENCES[kind](tf)
    data = _sequence(tf, context, **lists)
    return raises(run, tf, tf.parse_single_sequence_example(data, context_spec, steps_spec))


def bad_sequence_specs(tf, np):
    data = _sequences(tf)[0]
    single, batch = tf.parse_single_sequence_example, tf.io.parse_sequence_example
    rows, fixed = tf.FixedLenSequenceFeature([2], tf.int64), tf.FixedLenFeature([2], tf.int64)
    return [
        raises(single, data),
        raises(batch, [data]),
        raises(single, data, {"a": rows}),
        raises(single, data, None, {"a": fixed}),
        raises(batch, [data], {"a": tf.SparseFeature("a", "b", tf.float32, 3)}),
        raises(single, data, None, {"a": tf.FixedLenSequenceFeature([2], tf.int64, default_value=3)}),
        raises(single, [data], {"c": fixed}),
        raises(batch, data, {"c": fixed}),
        raises(run, tf, batch([data], {"d": tf.VarLenFeature(tf.float32)}, example_names=["a", "b"])),
    ]


# ----------------------------------------------------------------------------------------------------- CSV

_CSV = {
    "plain": (["1,2.5,abc", " 3 ,4e1,d"], [[1], [1.0], [""]], {}),
    "quoted": (['1,"2.5","q""x, y"', '2,3,"a\nb"'], [[1], [1.0], [""]], {}),
    "defaults": ([",,"], [[7], [8.5], ["zz"]], {}),
    "scalar": ("1,2", [[1], 1], {}),
    "matrix": ([["1", "2"], ["3", "4"]], [[1]], {}),
    "other delimiter": (["a\tb", '"c\td"\t'], [[""], ["e"]], {"field_delim": "\t"}),
    "no quotes": (['"a"b,c'], [[""], [""]], {"use_quote_delim": False}),
    "na": (["NA,NA,NA"], [[1], [2.0], ["q"]], {"na_value": "NA"}),
    "selected": (["1,2,3,4", '5,6,"7",8'], [[1], ["q"]], {"select_cols": [1, 3]}),
    "selected before an error": (['1,a"b'], [[1]], {"select_cols": [0]}),
    "numbers": (["1.,.5,+1,-0,1E5,0x10,inf,-INF,nan, ,1e400,1e-400"], [[0.0]] * 12, {}),
    "integers": (["007, -5 ,2147483647,-2147483648"], [[0]] * 4, {}),
    "only delimiters": ([",,"], [["a"], ["b"], ["c"]], {}),
    "ends with a delimiter": (["a,", '"a",'], [["d"], ["e"]], {}),
    "too few": (["1,2"], [[7], [8.0], ["zz"]], {}),
    "too many": (["1,2,3"], [[7], [8.0]], {}),
    "no integer": (["1", "x"], [[7]], {}),
    "no integer but a float": (["1.5"], [[7]], {}),
    "large": (["2147483648"], [[7]], {}),
    "plus": (["+1"], [[7]], {}),
    "no float": (["x"], [[7.0]], {}),
    "underscore": (["1_0"], [[7.0]], {}),
    "infinity": (["Infinity"], [[7.0]], {}),
    "half an exponent": (["1e"], [[7.0]], {}),
    "quote inside": (['a"b'], [[""]], {}),
    "quote before a space": ([' "a"'], [[""]], {}),
    "no closing quote": (['"ab'], [[""]], {}),
    "after the quote": (['"ab"c'], [[""]], {}),
    "new line": (["a\nb"], [[""]], {}),
    "carriage return": (["a\r"], [[""]], {"use_quote_delim": False}),
    "empty record": ([""], [["d"]], {}),
    "long delimiter": (["a"], [[""]], {"field_delim": "ab"}),
    "column past the end": (["1,2"], [[1], ["q"]], {"select_cols": [1, 3]}),
    "columns not in order": (["1,2"], [[1], ["q"]], {"select_cols": [1, 0]}),
    "negative column": (["1,2"], [[1], ["q"]], {"select_cols": [-1, 0]}),
    "columns and defaults": (["1,2"], [[1], ["q"]], {"select_cols": [0]}),
    "boolean": (["1"], [[True]], {}),
    "matrix of defaults": (["1"], [[[1]]], {}),
    "two defaults": (["1"], [[1, 2]], {}),
}


@cases(*sorted(_CSV))
def csv(tf, np, kind):
    records, defaults, keywords = _CSV[kind]

    def decoded():
        columns = tf.decode_csv(records, defaults, **keywords)
        return [columns, names(tf), run(tf, columns)]

    error = raises(decoded)
    return decoded() if error == "no error" else error


@cases("int64", "float64", "float32", "int32", "string")
def csv_types(tf, np, dtype):
    column = tf.decode_csv(["3", "-12"], [tf.constant([], dtype)])
    empty = tf.decode_csv(np.zeros([0, 2], object), [tf.constant([], dtype)])
    required = tf.decode_csv([",1"], [tf.constant([], dtype), [1]])
    return [column, run(tf, [column, empty]), raises(run, tf, required)]


# --------------------------------------------------------------------------------------------- raw bytes

_RAW_TYPES = "float16 float32 float64 int32 uint16 uint8 int16 int8 int64 complex64 complex128 bool".split()


@cases(*product(_RAW_TYPES, [True, False]))
def raw(tf, np, dtype, little_endian):
    strings = [bytes(range(1, 33)), bytes(range(65, 97))]
    value = tf.decode_raw(strings, tf.as_dtype(dtype), little_endian=little_endian)
    matrix = tf.io.decode_raw([strings], tf.as_dtype(dtype), little_endian)
    none = tf.decode_raw(np.zeros([0, 3], object), tf.as_dtype(dtype))
    empty = tf.decode_raw([b"", b""], tf.as_dtype(dtype))
    unknown = tf.decode_raw(tf.placeholder(tf.string), tf.as_dtype(dtype))
    return [value, matrix, none, unknown, names(tf), run(tf, [value, matrix, none, empty])]


def bad_raw(tf, np):
    return [
        raises(run, tf, tf.decode_raw([b"abcd", b"ef"], tf.uint8)),
        raises(run, tf, tf.decode_raw([b"abc"], tf.int16)),
        raises(tf.decode_raw, b"ab"),
        raises(tf.decode_raw, b"ab", tf.string),
        run(tf, tf.decode_raw(bytes=b"ab", out_type=tf.uint8)),
    ]


@cases("", "ZLIB", "GZIP")
def compressed(tf, np, kind):
    squeeze = {"": bytes, "ZLIB": zlib.compress, "GZIP": gzip.compress}[kind]
    strings = [squeeze(b"hello world" * 5), squeeze(b""), squeeze(b"x") + (b"more" if kind else b"")]
    value = tf.decode_compressed(strings, kind)
    empty = tf.io.decode_compressed(np.zeros([0, 2], object), kind)
    bad = raises(run, tf, tf.decode_compressed([b"neither"], kind or "ZIP"))
    return [value, names(tf), run(tf, [value, empty]), bad]


@cases(
    {
        "numbers": '{"features":{"feature":{"a":{"int64List":{"value":[1,"2"]}}}}}',
        "bytes": '{"features":{"feature":{"a":{"bytesList":{"value":["YWI="]}}}}}',
        "snake": '{"features":{"feature":{"a":{"float_list":{"value":[1.5,"NaN"]}}}}}',
        "empty": "{}",
    }
)
def json(tf, np, text):
    binary = tf.decode_json_example([text])
    specs = [tf.VarLenFeature(dtype) for dtype in (tf.int64, tf.string, tf.float32)]
    parsed = [tf.parse_example(binary, {"b": spec}) for spec in specs]
    kinds = run(tf, parsed)
    return [binary, kinds, tf.train.Example.FromString(run(tf, binary)[0]).ListFields() == []]


@cases('{"x', '{"x":1}', "", "[]", '{"features":3}')
def bad_json(tf, np, text):
    return raises(run, tf, tf.decode_json_example([text]))


@cases(*_RAW_TYPES)
def tensors(tf, np, dtype):
    array = np.array([[0, 1, 2], [3, 4, 5]]).astype(dtype)
    made = [tf.serialize_tensor(a) for a in (array, array[0, 1], array[:0])]
    back = [tf.parse_tensor(t, tf.as_dtype(dtype)) for t in made]
    as_proto = tf.io.parse_tensor(tf.make_tensor_proto(array).SerializeToString(), tf.as_dtype(dtype))
    return [made, back, names(tf), run(tf, [made, back, as_proto])]


def tensors_of_strings(tf, np):
    made = tf.io.serialize_tensor([[b"a", b"\xff"], [b"", b"long" * 20]])
    return run(tf, [made, tf.io.parse_tensor(made, tf.string)])


def filled_tensor(tf, np):
    proto = tf.make_tensor_proto(1.5, shape=[3, 4])
    return run(tf, tf.parse_tensor(proto.SerializeToString(), tf.float32))


def bad_tensors(tf, np):
    proto = tf.make_tensor_proto([1.0, 2.0, 3.0])
    proto.tensor_content = b"abc"
    return [
        raises(run, tf, tf.parse_tensor(tf.serialize_tensor([1.0]), tf.int32)),
        raises(run, tf, tf.parse_tensor([b""], tf.int32)),
        raises(run, tf, tf.parse_tensor(b"", tf.int32)),
        raises(run, tf, tf.parse_tensor(proto.SerializeToString(), tf.float32)),
    ]


# ------------------------------------------------------------------------------------------- any message


def _versions():
    return [b"\x08\x03\x10\x02\x18\x04\x18\x05", b"\x08\x07"]


def decoded_messages(tf, np):
    fields = ["producer", "bad_consumers", "min_consumer"]
    found = tf.io.decode_proto(_versions(), "tensorflow.VersionDef", fields, [tf.int32, tf.int64, tf.int32])
    one = tf.io.decode_proto(_versions()[0], "tensorflow.VersionDef", fields[1:2], [tf.int32])
    matrix = tf.io.decode_proto([[v] for v in _versions()], "tensorflow.VersionDef", fields[:1], [tf.int32])
    return [found, one, matrix, graph(tf), run(tf, [list(found), list(one), list(matrix)])]


def decoded_tensor_message(tf, np):
    proto = tf.make_tensor_proto([1.0, 2.0])
    proto.string_val.append(b"x")
    proto.float_val.extend([1.5, 2.5])
    proto.bool_val.append(True)
    fields = ["dtype", "tensor_shape", "tensor_content", "float_val", "bool_val", "string_val", "double_val"]
    dtypes = [tf.int32, tf.string, tf.string, tf.float64, tf.bool, tf.string, tf.float64]
    found = tf.io.decode_proto([proto.SerializeToString()], "tensorflow.TensorProto", fields, dtypes)
    return run(tf, list(found))


def encoded_messages(tf, np):
    fields = ["producer", "bad_consumers"]
    values = [np.array([[3], [9]], np.int32), np.array([[4, 5], [6, 0]], np.int32)]
    made = tf.io.encode_proto([[1, 2], [0, 1]], values, fields, "tensorflow.VersionDef")
    back = tf.io.decode_proto(made, "tensorflow.VersionDef", fields, [tf.int32, tf.int32])
    return [made, names(tf), run(tf, list(back))]


def bad_messages(tf, np):
    def decoding(data, kind, fields, dtypes, **keywords):
        return raises(lambda: run(tf, list(tf.io.decode_proto(data, kind, fields, dtypes, **keywords))))

    def encoding(sizes, values, fields):
        return raises(lambda: run(tf, tf.io.encode_proto(sizes, values, fields, "tensorflow.VersionDef")))

    two = np.array([[4, 5]], np.int32)
    return [
        decoding(_versions(), "tensorflow.VersionDef", ["producer"], [tf.float32]),
        decoding(_versions(), "tensorflow.VersionDef", ["nothing"], [tf.int32]),
        decoding(_versions(), "tensorflow.Nothing", ["producer"], [tf.int32]),
        decoding(_versions(), "tensorflow.VersionDef", ["producer"], [tf.int32, tf.int32]),
        decoding([b"\x08"], "tensorflow.VersionDef", ["producer"], [tf.int32], sanitize=True),
        decoding(["producer: x"], "tensorflow.VersionDef", ["producer"], [tf.int32], message_format="text"),
        decoding([b""], "tensorflow.VersionDef", ["producer"], [tf.int32], message_format="other"),
        decoding([b""], "tensorflow.VersionDef", ["producer"], [tf.int32], descriptor_source="/nowhere"),
        encoding([[3]], [two], ["bad_consumers"]),
        encoding([[1]], [np.array([[4.0]], np.float32)], ["producer"]),
        encoding([[1]], [two[0]], ["producer"]),
        encoding([[1, 1]], [two], ["producer"]),
        encoding([[1]], [two], ["nothing"]),
    ]
