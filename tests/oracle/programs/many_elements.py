"""Kernels of many elements: on CPUs some are computed in other ways than those of a few."""

from kit import Close, cases, raises, run


def _numbers(np, *shape):
    return np.random.RandomState(7).standard_normal(shape).astype("float32")


def _integers(np, high, *shape):
    return np.random.RandomState(7).randint(0, high, shape)


def _boxes(np, count):
    corners = np.abs(_numbers(np, count, 2)) / 4
    return np.concatenate([corners, corners + 0.05 + np.abs(_numbers(np, count, 2)) / 4], 1)


@cases((40, 0.5), (300, 0.3), (300, 0.0), (700, 0.9))
def overlapping_boxes(tf, np, count, threshold):
    boxes, scores = _boxes(np, count), np.random.RandomState(1).permutation(count).astype("float32")
    shared = np.abs(_numbers(np, count, count)) / 3
    np.fill_diagonal(shared, 1)  # TensorFlow selects again and again what does not overlap itself
    image = tf.image
    return run(
        tf,
        [
            image.non_max_suppression(boxes, scores, 100, threshold),
            image.non_max_suppression(boxes, scores, count, threshold),
            image.non_max_suppression(boxes[:, [2, 1, 0, 3]], scores, 50, threshold, score_threshold=20.0),
            image.non_max_suppression_padded(boxes, scores, 200, threshold, pad_to_max_output_size=True),
            image.non_max_suppression_overlaps(shared, scores, 100, threshold, -1.0),
        ],
    )


@cases(0.5, 0.1)
def softly_suppressed(tf, np, sigma):
    scores = np.random.RandomState(1).permutation(300).astype("float32") / 300
    boxes = _boxes(np, 300)
    suppressed = tf.image.non_max_suppression_with_scores
    made = [
        suppressed(boxes, scores, 150, 0.7, soft_nms_sigma=sigma),
        suppressed(boxes, scores, 300, 1.0, score_threshold=0.2, soft_nms_sigma=sigma),
        suppressed(boxes[:5], scores[:5], 9, 0.5, soft_nms_sigma=sigma),
    ]
    return Close(run(tf, made), 1e-5, 1e-6)


def best_boxes_of_classes(tf, np):
    boxes = np.stack([_boxes(np, 150), _boxes(np, 150) * 0.9])[:, :, None]
    scores = np.random.RandomState(3).permutation(2 * 150 * 4).reshape(2, 150, 4).astype("float32") / 1200
    made = tf.image.combined_non_max_suppression(boxes, scores, 30, 60, 0.4, 0.1)
    return Close(run(tf, made), 1e-6, 1e-6)


@cases((3, "bilinear"), (12, "bilinear"), (12, "nearest"))
def crops(tf, np, depth, method):
    images = _numbers(np, 2, 17, 13, depth)
    boxes = np.concatenate([_boxes(np, 20), [[-0.3, 0.1, 0.8, 1.4], [0.9, 0.8, 0.1, 0.2]]]).astype("float32")
    owners = _integers(np, 2, 22).astype("int32")
    made = tf.image.crop_and_resize(images, boxes, owners, [5, 7], method, 4.5)
    return Close(run(tf, [made]), 1e-5, 1e-5)


@cases("adjust_hue", "adjust_saturation")
def colors(tf, np, name):
    images = np.abs(_numbers(np, 2, 20, 30, 3)) / 3
    images[0, 0, 0] = 0
    images[0, 0, 1] = 0.5
    images[0, 0, 2] = [-1, -2, -3]
    change = getattr(tf.image, name)
    return Close(run(tf, [change(images, 0.3), change(images, 0.9)]), 1e-5, 1e-5)


def colors_of_hues(tf, np):
    hues = np.abs(_numbers(np, 40, 30, 3)) / 3
    return Close(run(tf, [tf.image.hsv_to_rgb(hues), tf.image.rgb_to_hsv(hues)]), 1e-5, 1e-5)


@cases(1, 5)
def targets_among_many(tf, np, k):
    logits = _numbers(np, 60, 1500)
    targets = np.where(np.arange(60) % 3, logits.argmax(1), 700)
    logits[5, 3], logits[6, 1400], logits[7, targets[7]] = np.nan, np.inf, np.inf
    targets[8], targets[9] = -1, 1500
    return run(tf, [tf.nn.in_top_k(logits, targets, k), tf.nn.in_top_k(logits[40:], targets[40:], k)])


@cases("float32", "float64", "int32", "int64", "uint8")
def extremes(tf, np, dtype):
    numbers = (_numbers(np, 30, 200) * 9 + 50).astype(dtype)
    numbers[:, 10] = numbers.max(1)
    made = [tf.argmax(numbers, 0), tf.argmax(numbers, 1), tf.argmin(numbers, 1), tf.nn.top_k(numbers, 1)]
    return run(tf, made)


@cases("int32", "int64", "float32", "uint8")
def distinct(tf, np, dtype):
    close, far = _integers(np, 90, 3000), _integers(np, 1 << 30, 3000)
    few = np.array([200, 3, 200, 1, 3])
    return run(tf, [tf.unique_with_counts(each.astype(dtype)) for each in (close, far, few, few[:0])])


def counted(tf, np):
    numbers = _integers(np, 50, 3000).astype("int32")
    values = _numbers(np, 3000)
    return run(
        tf,
        [
            tf.bincount(numbers),
            tf.bincount(numbers, maxlength=20),
            tf.bincount(numbers, minlength=70, dtype=tf.float32),
            tf.histogram_fixed_width(values, [-1.0, 1.0], 30),
            tf.one_hot(numbers[:90].reshape(9, 10), 40, 3, -1, axis=1),
            tf.one_hot(numbers[:90] - 5, 40),
            tf.invert_permutation(np.random.RandomState(1).permutation(3000)),
        ],
    )


@cases([3, 0, 7, 1], [0, 1, -2], [0, 2, 2], [1])
def no_permutation(tf, np, given):
    x = tf.placeholder(tf.int32, [None])
    return raises(lambda: tf.Session().run(tf.invert_permutation(x), {x: given}))


@cases((64,), (4, 9), ())
def segments(tf, np, *rest):
    data, ids = _numbers(np, 500, *rest), np.sort(_integers(np, 60, 500))
    places = _integers(np, 500, 500)
    math = tf.math
    made = [
        math.segment_sum(data, ids),
        math.segment_mean(data, ids * 2),
        tf.sparse.segment_sum(data, places, ids),
        tf.sparse.segment_mean(data, places, ids, num_segments=70),
        tf.sparse.segment_sqrt_n(data, places, ids),
    ]
    return Close(run(tf, made), 1e-5, 1e-5)


@cases("float32", "float64", "int32", "int64")
def compared(tf, np, dtype):
    x, y = (_integers(np, 5, 40, 900) - shift for shift in (0, 1))
    x, y = x.astype(dtype), np.roll(y, 7).astype(dtype)
    made = [tf.less(x, y), tf.greater_equal(x, y[0]), tf.equal(x, y), tf.not_equal(x, y[:, :1])]
    if dtype.startswith("float"):
        x[0, :4] = [np.nan, np.inf, -np.inf, -0.0]
        made += [tf.is_finite(x), tf.is_nan(x), tf.is_inf(x), tf.div_no_nan(y, x), tf.div_no_nan(x, y + 9)]
    made += [tf.reduce_any(x > 3, 0), tf.reduce_all(x > -9), tf.reduce_all(x > 1, [0, 1], keepdims=True)]
    return run(tf, [*made, tf.where(x > y, x, y)])


def plain_texts(tf, np):
    number, decode = tf.strings.to_number, tf.strings.unicode_decode
    words = ["héé", "", "日本", "x"]
    return run(
        tf,
        [
            number([["1.5", "-2e3"], ["+.5", "7."]]),
            number(["12", "-07", "2147483647"], tf.int32),
            number(["9223372036854775807", "-9223372036854775808"], tf.int64),
            number(["1", " 2 ", "inf"]),
            tf.decode_csv(["1,2.5,a", "-3,4,b c"], [[0], [0.0], [""]]),
            tf.decode_csv(["1,,a", '-3,4,"b, c"'], [[0], [9.0], [""]]),
            decode(words, "UTF-8").values,
            decode(words, "UTF-8").row_splits,
            decode([b"h\xc3", b"\xa9x"], "UTF-8").values,
            tf.strings.unicode_split([*words, "😀"], "UTF-8").values,
            tf.strings.unicode_encode(tf.ragged.constant([[0x41, 0xE9], [], [0x1F600]]), "UTF-8"),
            tf.strings.length(["é", ""], unit="UTF8_CHAR"),
        ],
    )


@cases("2147483648", "1.5", "", "-", "1_0", "0x1f")
def no_plain_integer(tf, np, data):
    given = tf.placeholder(tf.string, [None])
    return raises(lambda: tf.Session().run(tf.strings.to_number(given, tf.int32), {given: ["1", data]}))


def sparse_of_many(tf, np):
    def sparse(seed):
        places = np.sort(np.random.RandomState(seed).permutation(20 * 30)[:200])
        indices = np.stack(np.unravel_index(places, (20, 30)), 1)
        return tf.SparseTensor(indices, _numbers(np, 200), [20, 30])

    a, b = sparse(1), sparse(2)
    holes = tf.SparseTensor([[0, 3], [4, 1], [2, 0]], [1.0, 2.0, 3.0], [6, 5])
    weights = _numbers(np, 30, 4)
    ids = tf.SparseTensor(a.indices, tf.constant(_integers(np, 30, 200)), a.dense_shape)
    made = [
        tf.sparse.add(a, b),
        tf.sparse.add(a, b, 0.7),
        tf.sparse.fill_empty_rows(a, 9.0),
        tf.sparse.fill_empty_rows(holes, 9.0),
        tf.nn.embedding_lookup_sparse(weights, ids, None, combiner="mean"),
        tf.RaggedTensor.from_row_lengths(_numbers(np, 6, 2), [2, 0, 3, 1]).to_tensor(7.0),
    ]
    return Close(run(tf, made), 1e-6, 1e-6)


@cases((0.0, 0.0), (0.01, 0.0), (0.01, 0.1))
def shrunk(tf, np, l1, l2):
    start, gradient = _numbers(np, 50, 40), _numbers(np, 40, 50).T
    found = []
    for made in (tf.train.FtrlOptimizer, tf.train.ProximalAdagradOptimizer):
        optimizer = made(0.3, l1_regularization_strength=l1, l2_regularization_strength=l2)
        variable = tf.Variable(start)
        found.append((variable, optimizer.apply_gradients([(tf.constant(gradient), variable)])))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(2):
            session.run([step for _, step in found])
        return Close(session.run([variable for variable, _ in found]), 1e-5, 1e-6)
