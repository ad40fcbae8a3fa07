"""Strings as Unicode: decoded, encoded, and the scripts of characters."""

from kit import cases, graph, product, raises, run


def _once(tf, build):
    """The tensor, its value, and the graph that it takes."""
    made = build()
    return [made, run(tf, made), graph(tf)]


def _strings(np, values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


_ENCODED = [
    b"",
    b"abc",
    "é日😊".encode("utf-8"),
    b"a\xffb",
    b"\xe2\x82",
    b"\xe2\x82a",
    b"\xf0\x9f\x98",
    b"\xc0\x80",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\xf8\x88\x80\x80\x80",
    b"\x80\x80",
    b"\xe2\x28\xa1",
    b"a\x00\x01\x1f\x7f b",
    b"\xef\xbb\xbfa",
    b"\xe0\x80\xaf",
    b"\xc3",
    b"\xf1\x80\xc3\xa9",
    b"\x00A\x00\xe9",
    b"\xd8\x3d\xde\x0a\xd8\x00\x00A",
    b"\x00\x00\x00A",
]


@cases(
    *product(
        [
            "UTF-8",
            "utf8",
            "latin-1",
            "US-ASCII",
            "UTF-16-BE",
            "UTF-16-LE",
            "UTF-32-BE",
            "KOI8-R",
            "ISO-8859-15",
        ],
        ["replace", "ignore", "strict"],
        [False, True],
    )
)
def unicode_decoding(tf, np, encoding, errors, controls):
    late = tf.placeholder(tf.string, [None])
    made = tf.raw_ops.UnicodeDecodeWithOffsets(
        input=late,
        input_encoding=encoding,
        errors=errors,
        replacement_char=63,
        replace_control_characters=controls,
    )
    plain = tf.raw_ops.UnicodeDecode(
        input=late,
        input_encoding=encoding,
        errors=errors,
        replace_control_characters=controls,
        Tsplits=tf.int32,
    )
    found = []
    with tf.Session() as session:
        for data in [[x] for x in _ENCODED] + [_ENCODED[:3], []]:
            error = raises(session.run, [made, plain], {late: _strings(np, data)})
            found.append(
                error if error != "no error" else session.run([made, plain], {late: _strings(np, data)})
            )
    return found


@cases("Shift_JIS", "EUC-JP", "GBK", "Big5", "EUC-KR", "gb18030")
def unicode_decoding_of_the_east(tf, np, encoding):
    x = _strings(np, ["中文 日本 abc".encode(encoding.replace("EUC-KR", "cp949"), "ignore")])
    return run(tf, tf.raw_ops.UnicodeDecodeWithOffsets(input=x, input_encoding=encoding))


def unicode_decode_op_shapes(tf, np):
    decode = lambda x: tf.raw_ops.UnicodeDecode(input=x, input_encoding="UTF-8")
    made = [decode(tf.placeholder(tf.string, s)) for s in ([2, 3], [None], [], None)]
    return [
        made,
        run(tf, [decode("ab"), decode([["a", "b"], ["c", "d"]])]),
        raises(run, tf, tf.strings.unicode_decode(["a"], "nope")),
    ]


@cases(*product(["UTF-8", "UTF-16-BE", "UTF-32-BE"], ["replace", "ignore", "strict"]))
def unicode_encoding(tf, np, encoding, errors):
    late, splits = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.int64, [None])
    made = tf.raw_ops.UnicodeEncode(
        input_values=late,
        input_splits=splits,
        output_encoding=encoding,
        errors=errors,
        replacement_char=0x3B1,
    )
    found = [made]
    with tf.Session() as session:
        for points in (
            [72, 0xE9, 0x65E5, 0x1F60A],
            [0xD800],
            [0x110000, 65],
            [-1],
            [0xFFFE],
            [0, 31],
            [0xDFFF, 65],
            [],
        ):
            feeds = {late: points, splits: [0, len(points) // 2, len(points)]}
            error = raises(session.run, made, feeds)
            found.append(error if error != "no error" else session.run(made, feeds))
    return found


@cases(*product(["UTF-8", "UTF-16-BE", "UTF-32-BE"], ["replace", "ignore", "strict"], [False, True]))
def unicode_transcode(tf, np, encoding, errors, controls):
    late = tf.placeholder(tf.string)
    made = tf.strings.unicode_transcode(
        late, "UTF-8", encoding, errors=errors, replacement_char=0x263A, replace_control_characters=controls
    )
    found = [made]
    with tf.Session() as session:
        for data in _ENCODED:
            error = raises(session.run, made, {late: data})
            found.append(error if error != "no error" else session.run(made, {late: data}))
    return found


def unicode_mistakes(tf, np):
    transcode = tf.strings.unicode_transcode
    return [
        raises(transcode, ["a"], "UTF-8", "latin-1"),
        raises(transcode, ["a"], "UTF-8", "UTF-8", errors="shrug"),
        raises(run, tf, transcode(["a"], "nope", "UTF-8")),
        raises(run, tf, transcode(["a"], "UTF-8", "UTF-8", replacement_char=0x110000)),
    ]


def unicode_transcode_graph(tf, np):
    return _once(tf, lambda: tf.strings.unicode_transcode([["a"]], "UTF-8", "UTF-16-BE"))


def unicode_scripts(tf, np):
    x = np.arange(-5, 0x110005, dtype=np.int32)
    return [
        run(tf, tf.strings.unicode_script(x)),
        _once(tf, lambda: tf.strings.unicode_script([[65], [0x3A9]])),
    ]
