"""Images resized, cropped, cut into patches, coloured and boxed: values, gradients, shapes, errors."""

from kit import Close, cases, differentiated, normal, product, raises, run

_SIZES = {
    "up": ((4, 6), (9, 13)),
    "down": ((13, 9), (5, 4)),
    "mixed": ((5, 8), (11, 3)),
    "same": ((4, 5), (4, 5)),
    "to one": ((7, 5), (1, 1)),
    "from one": ((1, 1), (3, 4)),
    "by two": ((6, 8), (12, 4)),
    "large": ((97, 61), (50, 131)),
}
_RULES = {
    "plain": {},
    "corners": {"align_corners": True},
    "centers": {"half_pixel_centers": True},
}
_SMOOTH = ["bilinear", "bicubic"]


def _image(np, *shape):
    return np.random.RandomState(sum(shape)).uniform(0, 255, shape)


@cases(*product(_SMOOTH + ["nearest_neighbor"], _SIZES, _RULES))
def resized(tf, np, method, sizes, rule):
    old, new = _SIZES[sizes]
    image = _image(np, 2, *(old + (3,))).astype(np.float32)
    resize = getattr(tf.image, "resize_" + method)
    made = differentiated(tf, np, lambda x: resize(x, new, **_RULES[rule]), image)
    made["gradients"] = Close(made["gradients"], 1e-5, 1e-4)
    tolerance = (1e-6, 1e-4) if method == "bicubic" else (0.0, 0.0)
    return [Close(made["values"], *tolerance), made["shapes"], made["gradients"]]


@cases(*product(_SIZES, [False, True]))
def resized_by_area(tf, np, sizes, align):
    old, new = _SIZES[sizes]
    image = _image(np, 2, *(old + (3,))).astype(np.float32)
    return Close(run(tf, tf.image.resize_area(image, new, align_corners=align)), 1e-5)


@cases(
    *product(_SMOOTH + ["nearest_neighbor", "area"], "int8 uint8 int16 uint16 int32 float16 float64".split())
)
def resized_types(tf, np, method, dtype):
    image = _image(np, 1, 5, 7, 2) - (100 if dtype == "int8" else 0)
    y = getattr(tf.image, "resize_" + method)(tf.constant(image.astype(dtype)), [8, 3])
    return [y, run(tf, y)]


@cases(*product(_SMOOTH + ["nearest_neighbor"], ["float16", "float64"]))
def resized_gradient_types(tf, np, method, dtype):
    image = _image(np, 1, 5, 7, 2).astype(dtype)
    if (method, dtype) == ("bicubic", "float16"):
        x = tf.constant(image)
        return tf.gradients(tf.image.resize_bicubic(x, [3, 4]), x)
    made = differentiated(tf, np, lambda x: getattr(tf.image, "resize_" + method)(x, [8, 3]), image)
    return Close(made, 5e-3, 5e-3) if dtype == "float16" else Close(made, 1e-6, 1e-5)


@cases(*product(["resize_bilinear", "resize_area", "resize_nearest_neighbor", "resize_bicubic"], range(9)))
def resizing_refused(tf, np, name, number):
    resize = getattr(tf.image, name)
    image = np.ones((1, 4, 4, 1), np.float32)
    attempts = [
        lambda: resize(image, [0, 3]),
        lambda: resize(image, [-1, 3]),
        lambda: resize(image, [3]),
        lambda: resize(image, 3),
        lambda: resize(image[0], [3, 3]),
        lambda: resize(np.ones((1, 0, 4, 1), np.float32), [3, 3]),
        lambda: resize(tf.placeholder_with_default(image[0], None), [3, 3]),
        lambda: resize(image, tf.placeholder_with_default([3, 3, 3], None)),
        lambda: resize(np.ones((0, 4, 4, 1), np.float32), [3, 3]),
    ]
    return raises(lambda: run(tf, attempts[number]()))


def both_rules_refused(tf, np):
    image = np.ones((1, 4, 4, 1), np.float32)
    return [
        raises(lambda: run(tf, tf.image.resize_bilinear(image, [3, 3], True, half_pixel_centers=True))),
        raises(
            lambda: run(tf, tf.image.resize_nearest_neighbor(image, [3, 3], True, half_pixel_centers=True))
        ),
        raises(lambda: run(tf, tf.image.resize_bicubic(image, [3, 3], True, half_pixel_centers=True))),
    ]


@cases("resize_bilinear", "resize_area", "resize_nearest_neighbor", "resize_bicubic")
def resized_static_shapes(tf, np, name):
    resize = getattr(tf.image, name)
    known = tf.placeholder(tf.float32, [None, 4, 5, 3])
    size = tf.placeholder(tf.int32, [2])
    return [
        resize(known, [3, 4]),
        resize(tf.placeholder(tf.float32), [3, 4]),
        resize(known, size),
        resize(known, tf.placeholder(tf.int32)),
    ]


_KERNELS = "lanczos1 lanczos3 lanczos5 gaussian box triangle keyscubic mitchellcubic".split()
_PLACES = {
    "shrunk": ((0.5, 0.4), (0.0, 0.0)),
    "grown": ((1.7, 2.3), (0.0, 0.0)),
    "moved": ((1.0, 1.3), (2.5, -3.25)),
    "outside": ((0.6, 1.2), (-9.0, 4.0)),
}


@cases(*product(_KERNELS, _PLACES, [True, False]))
def scaled_and_translated(tf, np, kernel, place, antialias):
    image = _image(np, 2, 11, 8, 3).astype(np.float32)
    scale, translation = (np.array(v, np.float32) for v in _PLACES[place])

    def build(x):
        return tf.raw_ops.ScaleAndTranslate(
            images=x,
            size=[7, 9],
            scale=scale,
            translation=translation,
            kernel_type=kernel,
            antialias=antialias,
        )

    return Close(differentiated(tf, np, build, image), 1e-4, 1e-3)


def scaling_refused(tf, np):
    image = np.ones((1, 4, 4, 1), np.float32)

    def scaled(scale=(1.0, 1.0), translation=(0.0, 0.0), kernel="triangle"):
        parts = dict(images=image, size=[3, 3], scale=scale, translation=translation, kernel_type=kernel)
        return raises(lambda: run(tf, tf.raw_ops.ScaleAndTranslate(**parts)))

    return [
        scaled((0.0, 1.0)),
        scaled((1.0,)),
        scaled(translation=(1.0,)),
        scaled(kernel="cubic"),
        scaled((-1.0, 1.0)),
    ]


@cases(*product(["quint8", "float32", "qint32"], _SIZES, _RULES))
def resized_quantized(tf, np, dtype, sizes, rule):
    old, new = _SIZES[sizes]
    image = _image(np, 2, *(old + (3,)))
    if dtype == "float32":
        x = tf.constant(image.astype(np.float32))
    else:
        stored = np.uint8 if dtype == "quint8" else np.int32
        x = tf.bitcast(tf.constant(image.astype(stored)), tf.as_dtype(dtype))
    y, low, high = tf.raw_ops.QuantizedResizeBilinear(images=x, size=new, min=-1.5, max=3.0, **_RULES[rule])
    shown = y
    if dtype != "float32":
        shown = tf.bitcast(y, tf.uint8 if dtype == "quint8" else tf.int32)
    values = run(tf, [shown, low, high])
    if dtype == "qint32":  # one step is nothing to 32 bits
        values = [bool(abs(values[0].mean() - image.mean()) < 40)] + values[1:]
    return [y, values]


def deprecated_ops(tf, np):
    """Ops that only old graphs have: a GraphDef says how old it is."""
    image = _image(np, 5, 6, 2).astype(np.float32)
    wanted = {
        "crop": ("RandomCrop", {"seed": 3, "seed2": 4}, [image, np.array([2, 3], np.int64)], 7),
        "contrast": ("AdjustContrast", {}, [image, np.float32(2), np.float32(10), np.float32(200)], 1),
    }
    found = {}
    for name, (op, attrs, inputs, version) in sorted(wanted.items()):
        old = tf.GraphDef()
        old.versions.producer = version
        for number, value in enumerate(inputs):
            node = old.node.add(name="input%d" % number, op="Const")
            node.attr["dtype"].type = tf.as_dtype(value.dtype).as_datatype_enum
            node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(value))
        node = old.node.add(name="made", op=op, input=["input%d" % n for n in range(len(inputs))])
        node.attr["T"].type = tf.float32.as_datatype_enum
        for key, number in attrs.items():
            node.attr[key].i = number
        with tf.Graph().as_default():
            (made,) = tf.import_graph_def(old, return_elements=["made:0"], name="")
            with tf.Session() as session:
                found[name] = Close([session.run(made) for _ in range(3)], 1e-5, 1e-4)
    return found


# ---------------------------------------------------------------------------------- colours


@cases("float32", "float16", "float64")
def hue_saturation_value(tf, np, dtype):
    rgb = np.random.RandomState(0).uniform(0, 1, (4, 5, 3)).astype(dtype)
    hsv = tf.image.rgb_to_hsv(rgb)
    return [hsv, run(tf, [hsv, tf.image.hsv_to_rgb(hsv), tf.image.hsv_to_rgb(rgb)])]


_PIXELS = {
    "black": (0, 0, 0),
    "white": (1, 1, 1),
    "red": (1, 0, 0),
    "yellow": (1, 1, 0),
    "green": (0, 0.5, 0),
    "cyan": (0, 1, 1),
    "blue": (0.1, 0.2, 0.9),
    "magenta": (1, 0, 1),
    "negative": (-0.5, 0.2, 0.1),
    "large": (200.0, 30.0, 90.0),
    "equal lows": (0.3, 0.3, 0.8),
    "equal highs": (0.3, 0.8, 0.8),
}


@cases(*_PIXELS)
def hue_of_pixels(tf, np, name):
    pixel = np.array([_PIXELS[name]], np.float32)
    values = [tf.image.rgb_to_hsv(pixel), tf.image.hsv_to_rgb(pixel)]
    image = np.tile(pixel, (2, 2, 1))
    values += [tf.image.adjust_hue(image, d) for d in (0.1, -0.4, 0.0, 3.3)]
    values += [tf.image.adjust_saturation(image, f) for f in (0.5, 2.0, 0.0)]
    return Close(run(tf, values), 1e-5, 1e-5)


@cases(*_PIXELS)
def hue_gradient_of_pixels(tf, np, name):
    pixel = np.array([_PIXELS[name]], np.float32)
    return Close(differentiated(tf, np, tf.image.rgb_to_hsv, pixel), 1e-4, 1e-5)


def hue_gradient(tf, np):
    rgb = np.random.RandomState(0).uniform(0.05, 1, (4, 5, 3)).astype(np.float32)
    return Close(differentiated(tf, np, tf.image.rgb_to_hsv, rgb), 1e-4, 1e-4)


@cases(*product(["float32", "float16", "uint8", "uint16"], ["hue", "saturation", "contrast", "brightness"]))
def adjusted(tf, np, dtype, what):
    top = 1 if dtype.startswith("float") else np.iinfo(dtype).max
    image = (np.random.RandomState(0).uniform(0, 1, (2, 4, 5, 3)) * top).astype(dtype)
    y = getattr(tf.image, "adjust_" + what)(image, 0.3)
    tolerance = (5e-3, 5e-3) if dtype == "float16" else (1e-5, 1e-5)
    return [y, Close(run(tf, y), *tolerance)]


@cases(*product(["float32", "uint8"], [0.5, 1.0, 2.2]))
def gamma(tf, np, dtype, power):
    image = (np.random.RandomState(0).uniform(0, 1, (4, 5, 3)) * (255 if dtype == "uint8" else 1)).astype(
        dtype
    )
    y = [tf.image.adjust_gamma(image, power), tf.image.adjust_gamma(image, power, 0.7)]
    return [y, run(tf, y), raises(tf.image.adjust_gamma, image, -1.0)]


def colors_refused(tf, np):
    image = np.ones((2, 2, 4), np.float32)
    fed = tf.placeholder_with_default(image, None)
    return [
        raises(tf.image.rgb_to_hsv, image),
        raises(tf.image.hsv_to_rgb, image),
        raises(tf.image.rgb_to_hsv, np.float32(1)),
        raises(lambda: run(tf, tf.image.rgb_to_hsv(fed))),
        raises(lambda: run(tf, tf.image.adjust_hue(image, 0.1))),
        raises(lambda: run(tf, tf.image.adjust_saturation(image, 0.1))),
        raises(tf.image.adjust_hue, np.ones((3, 3), np.float32), 0.1),
        raises(tf.image.adjust_contrast, np.ones((3, 3), np.float32), 0.1),
        raises(lambda: run(tf, tf.image.adjust_hue(np.ones((2, 2, 3), np.float32), [0.1, 0.2]))),
        raises(lambda: run(tf, tf.image.adjust_contrast(image, [0.1, 0.2]))),
    ]


def contrast_by_image_and_channel(tf, np):
    image = normal(np, 2, 3, 4, 5, 2).astype(np.float32)
    return Close(run(tf, [tf.image.adjust_contrast(image, f) for f in (0.0, 0.5, -2.0)]), 1e-5, 1e-5)


def colors_static_shapes(tf, np):
    unknown, partial = tf.placeholder(tf.float32), tf.placeholder(tf.float32, [None, 4, None])
    makers = [
        tf.image.rgb_to_hsv,
        tf.image.hsv_to_rgb,
        lambda x: tf.image.adjust_hue(x, 0.1),
        lambda x: tf.image.adjust_saturation(x, 0.1),
        lambda x: tf.image.adjust_contrast(x, 0.1),
    ]
    return [make(x).shape for make in makers for x in (unknown, partial)]


# ---------------------------------------------------------------------------------- crops and patches

_CROPS = {
    "inside": [[0.1, 0.2, 0.8, 0.9], [0.0, 0.0, 1.0, 1.0]],
    "flipped": [[0.7, 0.6, 0.2, 0.1], [1.0, 0.0, 0.0, 1.0]],
    "outside": [[-0.2, 0.1, 0.6, 1.3], [1.5, 1.5, 2.0, 2.0]],
    "point": [[0.5, 0.5, 0.5, 0.5], [0.25, 0.75, 0.25, 0.75]],
}


@cases(*product(_CROPS, [(3, 4), (1, 1), (7, 1), (9, 11)], ["bilinear", "nearest"]))
def cropped_and_resized(tf, np, boxes, size, method):
    image = _image(np, 2, 6, 7, 3).astype(np.float32)

    def build(image, boxes):
        return tf.image.crop_and_resize(image, boxes, [1, 0], size, method, extrapolation_value=-1.5)

    made = differentiated(tf, np, build, image, np.array(_CROPS[boxes], np.float32))
    return [made["values"], made["shapes"], Close(made["gradients"], 1e-4, 1e-2)]


@cases(*"uint8 uint16 int8 int16 int32 int64 float16 float64".split())
def cropped_types(tf, np, dtype):
    image = (_image(np, 2, 6, 7, 3) / 2).astype(dtype)
    y = tf.image.crop_and_resize(image, _CROPS["inside"], box_indices=[1, 0], crop_size=[3, 4])
    x = tf.constant(image)
    z = tf.image.crop_and_resize(x, _CROPS["inside"], [1, 0], [3, 4])
    grads = [g for g in tf.gradients(z, [x]) if g is not None]
    return [y, Close(run(tf, [y] + grads), 1e-3, 1e-3)]


def cropping_refused(tf, np):
    image, boxes = np.ones((2, 4, 4, 1), np.float32), np.ones((2, 4), np.float32)
    crop = tf.image.crop_and_resize

    def running(*arguments):
        return raises(lambda: run(tf, crop(*arguments)))

    return [
        running(image, boxes, [0, 2], [3, 3]),
        running(image, boxes, [-1, 0], [3, 3]),
        running(image, boxes, [0], [3, 3]),
        running(image, boxes[:, :3], [0, 1], [3, 3]),
        running(image, boxes, [0, 1], [3]),
        running(image, boxes, [0, 1], [0, 3]),
        running(image[0], boxes, [0, 1], [3, 3]),
        running(image, boxes, [0, 1], [3, 3], "cubic"),
        raises(crop, image, boxes, [0], [3, 3], box_indices=[0]),
        run(tf, crop(image, boxes[:0], np.zeros(0, np.int32), [3, 3])),
    ]


@cases(*product([(3, 4), (8, 9), (20, 3)], [True, False], [True, False]))
def glimpsed(tf, np, size, centered, normalized):
    image = _image(np, 3, 8, 9, 2).astype(np.float32)
    offsets = np.array([[0.1, -0.2], [0.9, 0.4], [-1.7, 2.3]], np.float32) * (1 if normalized else 4)
    y = tf.raw_ops.ExtractGlimpse(
        input=image,
        size=size,
        offsets=offsets,
        centered=centered,
        normalized=normalized,
        uniform_noise=False,
        noise="zero",
    )
    return [y, run(tf, y)]


def glimpses_refused(tf, np):
    image, offsets = np.ones((2, 4, 4, 1), np.float32), np.zeros((2, 2), np.float32)
    glimpse = tf.image.extract_glimpse
    return [
        glimpse(image, [2, 2], offsets),
        glimpse(tf.placeholder(tf.float32), [2, 2], offsets),
        glimpse(image, tf.placeholder(tf.int32), offsets),
        run(tf, glimpse(image, [2, 2], offsets)),
        raises(glimpse, image[0], [2, 2], offsets),
        raises(glimpse, image, [2], offsets),
        raises(glimpse, image, [2, 2], offsets[:1]),
        raises(glimpse, image, [2, 2], offsets[:, :1]),
    ]


@cases(
    *product(
        [(1, 1), (2, 3), (3, 3)],
        [(1, 1), (2, 3)],
        [(1, 1), (2, 1)],
        ["SAME", "VALID"],
        [(5, 6), (4, 4), (7, 5)],
    )
)
def patches(tf, np, size, stride, rate, padding, image):
    x = normal(np, 2, *(image + (3,)))
    wrap = lambda pair: [1] + list(pair) + [1]
    try:
        return differentiated(
            tf,
            np,
            lambda x: tf.image.extract_patches(x, wrap(size), wrap(stride), wrap(rate), padding),
            x,
        )
    except ValueError as error:
        return type(error).__name__


@cases(*"int8 uint8 int16 uint16 int32 int64 float16".split())
def patches_types(tf, np, dtype):
    x = (np.arange(24).reshape(1, 4, 6, 1) % 5).astype(dtype)
    y = tf.extract_image_patches(x, [1, 2, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], "SAME")
    return [y, run(tf, y)]


@cases(*product([(1, 2, 2), (2, 3, 1)], [(1, 1, 1), (2, 1, 2)], ["SAME", "VALID"]))
def volume_patches(tf, np, size, stride, padding):
    x = normal(np, 2, 3, 4, 5, 2)
    wrap = lambda sizes: [1] + list(sizes) + [1]
    return differentiated(
        tf, np, lambda x: tf.extract_volume_patches(x, wrap(size), wrap(stride), padding), x
    )


def patches_refused(tf, np):
    x = normal(np, 1, 4, 4, 1)
    ones = [1, 1, 1, 1]
    cut = tf.image.extract_patches
    return [
        raises(cut, x, [1, 2, 2], ones, ones, "SAME"),
        run(tf, cut(x, [1, 5, 2, 1], ones, ones, "VALID")),
        raises(cut, x, [1, 6, 2, 1], ones, ones, "VALID"),
        raises(cut, x, [1, 2, 6, 1], [1, 2, 2, 1], ones, "VALID"),
        raises(cut, x, [1, 2, 7, 1], [1, 2, 2, 1], ones, "VALID"),
        raises(cut, x, [1, 2, 8, 1], [1, 2, 2, 1], ones, "VALID"),
        raises(cut, x, ones, ones, ones, "FULL"),
        raises(cut, x[0], ones, ones, ones, "SAME"),
        raises(tf.extract_image_patches, x, ones, ones, ones, "SAME", sizes=ones),
        cut(tf.placeholder(tf.float32, [None, None, None, 3]), [1, 2, 2, 1], ones, ones, "SAME"),
        cut(tf.placeholder(tf.float32), [1, 2, 2, 1], ones, ones, "VALID"),
    ]


# ---------------------------------------------------------------------------------- boxes

_DRAWN = [
    [[0.1, 0.2, 0.8, 0.9], [-0.3, 0.5, 0.5, 1.4], [0.0, 0.0, 1.0, 1.0]],
    [[0.6, 0.6, 0.2, 0.2], [1.2, 0.1, 1.5, 0.4], [0.45, 0.45, 0.45, 0.45]],
]


@cases(*product([1, 3, 4], ["float32", "float16"]))
def drawn_boxes(tf, np, channels, dtype):
    image = np.random.RandomState(0).uniform(0, 1, (2, 9, 12, channels)).astype(dtype)
    colors = np.random.RandomState(1).uniform(0, 1, (2, channels)).astype(np.float32)
    many = np.tile(np.array(_DRAWN, np.float32), (1, 4, 1))
    made = [
        tf.image.draw_bounding_boxes(image, _DRAWN),
        tf.image.draw_bounding_boxes(image, many),
        tf.image.draw_bounding_boxes(image, _DRAWN, colors=colors),
    ]
    return [made, run(tf, made)]


def drawing_refused(tf, np):
    image, boxes = np.ones((2, 4, 4, 3), np.float32), np.array(_DRAWN, np.float32)
    draw = tf.image.draw_bounding_boxes
    return [
        raises(lambda: run(tf, draw(image[0], boxes))),
        raises(lambda: run(tf, draw(image[..., :2], boxes))),
        raises(lambda: run(tf, draw(image, boxes[:1]))),
        raises(lambda: run(tf, draw(image, boxes[..., :3]))),
    ]


def _boxes(np, count, seed=0):
    random = np.random.RandomState(seed)
    corners = random.uniform(0, 10, (count, 2))
    return np.concatenate([corners, corners + random.uniform(0.5, 5, (count, 2))], 1).astype(np.float32)


@cases(*product([5, 60], [0.0, 0.3, 0.7, 1.0], [float("-inf"), 0.2]))
def suppressed(tf, np, count, overlap, least):
    boxes, scores = _boxes(np, count), np.random.RandomState(1).permutation(count).astype(np.float32) / count
    nms = tf.image
    arguments = (boxes, scores, 20, overlap, least)
    made = [
        tf.raw_ops.NonMaxSuppression(boxes=boxes, scores=scores, max_output_size=7, iou_threshold=overlap),
        tf.raw_ops.NonMaxSuppressionV2(boxes=boxes, scores=scores, max_output_size=7, iou_threshold=overlap),
        nms.non_max_suppression(*arguments),
        nms.non_max_suppression_padded(*arguments),
        nms.non_max_suppression_padded(*arguments, pad_to_max_output_size=True),
        nms.non_max_suppression_with_scores(*arguments),
    ]
    return [made, run(tf, made)]


@cases(*product([0.2, 1.0], [0.3, 1.0], [0.0, 0.15]))
def softly_suppressed(tf, np, sigma, overlap, least):
    boxes, scores = _boxes(np, 40), np.random.RandomState(1).permutation(40).astype(np.float32) / 40 + 0.01
    made = tf.image.non_max_suppression_with_scores(boxes, scores, 30, overlap, least, sigma)
    return [made, run(tf, made)]


@cases(*product([(2, 5), (1, 9), (10, 30)], [False, True], [False, True], [1, 3]))
def suppressed_by_class(tf, np, limits, pad, clip, variants):
    boxes = np.stack([_boxes(np, 12, seed) for seed in range(2 * variants)]).reshape(2, variants, 12, 4)
    boxes = boxes.transpose(0, 2, 1, 3) / 10
    scores = (np.random.RandomState(1).permutation(72).reshape(2, 12, 3) / 72).astype(np.float32)
    made = tf.image.combined_non_max_suppression(
        boxes, scores, limits[0], limits[1], 0.3, 0.2, pad_per_class=pad, clip_boxes=clip
    )
    return [made, run(tf, made)]


def suppressed_by_table(tf, np):
    random = np.random.RandomState(0)
    overlaps = random.uniform(0, 1, (9, 9)).astype(np.float32)
    overlaps = np.maximum(overlaps, overlaps.T) + 2 * np.eye(9, dtype=np.float32)
    scores = random.permutation(9).astype(np.float32)
    made = [tf.image.non_max_suppression_overlaps(overlaps, scores, 6, t) for t in (0.3, 0.7, 1.5)]
    return [made, run(tf, made)]


def suppressing_refused(tf, np):
    boxes, scores = _boxes(np, 5), np.arange(5, dtype=np.float32)
    nms = tf.image.non_max_suppression
    return [
        raises(lambda: run(tf, nms(boxes, scores, 3, 1.5))),
        raises(lambda: run(tf, nms(boxes, scores, 3, -0.5))),
        raises(nms, boxes, scores[:3], 3),
        raises(nms, boxes[:, :3], scores, 3),
        raises(nms, boxes, scores, [3]),
        raises(nms, boxes[0], scores, 3),
        raises(
            lambda: run(tf, tf.image.non_max_suppression_with_scores(boxes, scores, 3, soft_nms_sigma=-1.0))
        ),
        run(tf, nms(boxes[:0], scores[:0], 3)),
        run(tf, nms(boxes, scores, 0)),
    ]


_OBJECTS = [[[0.1, 0.2, 0.8, 0.9], [0.5, 0.1, 0.7, 0.4]]]


@cases(
    *product(
        [(40, 60, 3), (7, 5, 1), (1000, 301, 3)],
        [0.1, 0.9],
        [None, (0.3, 3.0), (5.0, 9.0)],
        [None, (0.9, 1.0), (0.001, 0.2)],
    )
)
def sampled_box(tf, np, size, covered, aspects, areas):
    made = tf.image.sample_distorted_bounding_box(
        size, _OBJECTS, 7, 3, min_object_covered=covered, aspect_ratio_range=aspects, area_range=areas
    )
    with tf.Session() as session:
        return [made] + [session.run(made) for _ in range(4)]


@cases("uint8", "int8", "int16", "int32", "int64")
def sampled_box_types(tf, np, dtype):
    size = np.array([40, 60, 3], dtype)
    old = tf.raw_ops.SampleDistortedBoundingBox(image_size=size, bounding_boxes=_OBJECTS, seed=1, seed2=2)
    empty = tf.image.sample_distorted_bounding_box(
        size,
        np.zeros((1, 0, 4), np.float32),
        seed=5,
        seed2=0,
        max_attempts=3,
        use_image_if_no_bounding_boxes=True,
    )
    return [old, empty, run(tf, [old, empty])]


def sampling_refused(tf, np):
    sample = tf.image.sample_distorted_bounding_box
    size = [40, 60, 3]

    def running(*arguments, **options):
        return raises(lambda: run(tf, sample(*arguments, seed=1, seed2=1, **options)))

    return [
        running([40, 60], _OBJECTS),
        running(size, _OBJECTS[0]),
        running(size, [[[0.1, 0.2, 0.8, 1.9]]]),
        running(size, [[[0.8, 0.2, 0.1, 0.9]]]),
        running(size, np.zeros((1, 0, 4), np.float32)),
        running([0, 60, 3], _OBJECTS),
        running(size, _OBJECTS, min_object_covered=-0.5),
        running(size, _OBJECTS, aspect_ratio_range=[-1.0, 1.0]),
        running(size, _OBJECTS, area_range=[0.5, 1.5]),
        running(size, _OBJECTS, area_range=[0.5]),
        running(size, _OBJECTS, max_attempts=0),
    ]
