"""tf.image's functions of several ops: the graphs they make, what these compute, what they refuse."""

from kit import Close, cases, differentiated, graph, names, product, raises, run


def _picture(np, dtype, *shape):
    numbers = np.random.RandomState(sum(shape)).uniform(0, 1, shape)
    return (
        numbers.astype(dtype) if dtype.startswith("float") else (numbers * np.iinfo(dtype).max).astype(dtype)
    )


_TYPES = "uint8 int8 uint16 int16 int32 int64 float16 float32 float64".split()


_FLOATS = [name for name in _TYPES if name.startswith("float")]


@cases(*product(_TYPES, _TYPES, [False]), *product(_FLOATS, _TYPES, [True]))
def converted(tf, np, source, target, saturate):
    image = _picture(np, source, 3, 4)
    if source.startswith("float"):
        image = image * 1.5 - 0.25 if saturate else image * 0.98
    if target.startswith("uint") and not saturate:
        image = abs(image)
    y = tf.image.convert_image_dtype(tf.constant(image.astype(source)), target, saturate=saturate)
    if source.startswith("float") and target in ("int32", "int64"):
        return [graph(tf), y]  # cutting off beyond the range is the processor's choice
    return [graph(tf), y, run(tf, y)]


def converting_refused(tf, np):
    image = np.ones((2, 2, 3), np.float32)
    return [raises(tf.image.convert_image_dtype, image, t) for t in (tf.bool, tf.string)]


# ---------------------------------------------------------------------------------- one image in


def _names(tf, function):
    """Of a function that leaves nodes behind which nothing uses, none."""
    return [] if function == "resize_image_with_pad" else sorted(names(tf))


_UNARY = {
    "flip_left_right": {},
    "flip_up_down": {},
    "transpose": {},
    "transpose_image": {},
    "rgb_to_grayscale": {},
    "per_image_standardization": {},
    "central_crop": {"central_fraction": 0.5},
    "resize_image_with_crop_or_pad": {"target_height": 7, "target_width": 3},
    "resize_with_crop_or_pad": {"target_height": 2, "target_width": 9},
    "resize_image_with_pad": {"target_height": 9, "target_width": 8},
    "pad_to_bounding_box": {"offset_height": 1, "offset_width": 2, "target_height": 9, "target_width": 10},
    "crop_to_bounding_box": {"offset_height": 1, "offset_width": 2, "target_height": 3, "target_width": 2},
    "resize_images": {"size": [7, 3]},
    "adjust_brightness": {"delta": 0.1},
    "adjust_contrast": {"contrast_factor": 1.5},
    "adjust_gamma": {"gamma": 0.7, "gain": 0.9},
    "adjust_hue": {"delta": 0.2},
    "adjust_saturation": {"saturation_factor": 0.4},
    "total_variation": {},
    "rgb_to_yiq": {},
    "yiq_to_rgb": {},
    "rgb_to_yuv": {},
    "yuv_to_rgb": {},
}
_SHAPES = {"image": (5, 6, 3), "batch": (2, 5, 6, 3)}


@cases(*product(_UNARY, _SHAPES))
def of_known_images(tf, np, name, shape):
    x = tf.constant(_picture(np, "float32", *_SHAPES[shape]))
    y = getattr(tf.image, name)(x, **_UNARY[name])
    return [graph(tf), y, Close(run(tf, y), 2e-5, 2e-5)]


@cases(*product([name for name in _UNARY if not name.startswith(("rgb_", "yiq", "yuv", "total"))], _SHAPES))
def of_partly_known_images(tf, np, name, shape):
    image = _picture(np, "float32", *_SHAPES[shape])
    x = tf.placeholder(tf.float32, [None] * (image.ndim - 1) + [3])
    y = getattr(tf.image, name)(x, **_UNARY[name])
    return [_names(tf, name), y, Close(run(tf, y, {x: image}), 2e-5, 2e-5)]


_OF_UNKNOWN_RANK = (
    "flip_left_right flip_up_down transpose resize_with_crop_or_pad resize_image_with_pad "
    "pad_to_bounding_box crop_to_bounding_box adjust_brightness adjust_contrast rgb_to_grayscale"
).split()


@cases(*_OF_UNKNOWN_RANK)
def of_unknown_images(tf, np, name):
    x = tf.placeholder(tf.float32)
    y = getattr(tf.image, name)(x, **_UNARY[name])
    return [_names(tf, name), y, Close(run(tf, y, {x: _picture(np, "float32", 5, 6, 3)}), 2e-5, 2e-5)]


@cases(
    *product(
        [name for name in _UNARY if not name.startswith(("rgb_to_y", "y", "total"))], ["uint8", "float16"]
    )
)
def of_image_types(tf, np, name, dtype):
    y = getattr(tf.image, name)(_picture(np, dtype, 5, 6, 3), **_UNARY[name])
    value = run(tf, y)
    return [y, Close(value, 1e-2, 1e-2)]


@cases(*sorted(_UNARY))
def gradients_of_images(tf, np, name):
    if name in ("adjust_contrast", "adjust_hue", "adjust_saturation"):
        return "not differentiable in TensorFlow"
    made = differentiated(
        tf, np, lambda x: getattr(tf.image, name)(x, **_UNARY[name]), _picture(np, "float32", 5, 6, 3)
    )
    return Close(made, 1e-4, 1e-4)


@cases(*product(_UNARY, [(), (4,), (3, 4), (1, 2, 3, 4, 3), (0, 4, 3)]))
def of_wrong_images(tf, np, name, shape):
    if not shape and name.startswith(("rgb_to_y", "y")):
        return "an error"
    x = tf.constant(np.ones(shape, np.float32))
    found = raises(getattr(tf.image, name), x, **_UNARY[name])
    return "an error" if found != "no error" and name in ("adjust_gamma", "rgb_to_grayscale") else found


# ---------------------------------------------------------------------------------- sizes


@cases(*product(range(4), [True, False], [(7, 3), (5, 6), (4, 20)], [False, True]))
def resized(tf, np, method, align_corners, size, preserve):
    x = tf.constant(_picture(np, "float32", 5, 6, 3))
    y = tf.image.resize(x, size, method, align_corners, preserve)
    return [graph(tf), y, Close(run(tf, y), 1e-5, 1e-5)]


def resized_by_name(tf, np):
    x = tf.constant(_picture(np, "float32", 5, 6, 3))
    made = [tf.image.resize(x, (7, 3), name) for name in ("bilinear", "nearest", "bicubic", "area")]
    return [made, Close(run(tf, made), 1e-5, 1e-5)]


def resizing_refused(tf, np):
    x = np.ones((5, 6, 3), np.float32)
    resize = tf.image.resize_images
    return [
        raises(resize, x, (7,)),
        raises(resize, x, 7),
        raises(resize, x, (7, 3), 9),
        raises(resize, x, (7, 3, 1)),
        raises(resize, x, ("a", "b")),
        raises(resize, x[0], (7, 3)),
        raises(resize, tf.placeholder(tf.float32), (7, 3)),
    ]


def resized_to_a_tensor(tf, np):
    x, size = tf.constant(_picture(np, "float32", 5, 6, 3)), tf.placeholder(tf.int32, [2])
    y = tf.image.resize_images(x, size)
    same = tf.image.resize_images(x, [5, 6])
    return [graph(tf), y, same, run(tf, y, {size: [3, 8]})]


@cases(*product([(4, 7), (5, 6), (20, 3), (3, 20)], ["crop_or_pad", "pad"]), ((1, 1), "crop_or_pad"))
def fitted(tf, np, size, how):
    x = tf.constant(_picture(np, "float32", 2, 5, 6, 3))
    functions = {"crop_or_pad": tf.image.resize_with_crop_or_pad, "pad": tf.image.resize_image_with_pad}
    height, width = tf.placeholder(tf.int32, []), tf.placeholder(tf.int32, [])
    made = [functions[how](x, *size), functions[how](x, height, width)]
    feeds = {height: size[0], width: size[1]}
    return [[] if how == "pad" else sorted(names(tf)), made, Close(run(tf, made, feeds), 1e-5, 1e-5)]


def boxes_refused(tf, np):
    x = np.ones((5, 6, 3), np.float32)
    crop, pad = tf.image.crop_to_bounding_box, tf.image.pad_to_bounding_box
    fed = tf.placeholder_with_default(x, [None, None, 3])
    return [
        raises(crop, x, -1, 0, 2, 2),
        raises(crop, x, 0, 0, 0, 2),
        raises(crop, x, 3, 0, 3, 2),
        raises(crop, x, 0, 5, 2, 2),
        raises(pad, x, -1, 0, 9, 9),
        raises(pad, x, 0, 0, 4, 9),
        raises(pad, x, 3, 3, 9, 8),
        raises(lambda: run(tf, crop(fed, 3, 0, 3, 2))),
        raises(lambda: run(tf, pad(fed, 0, 0, 4, 9))),
        raises(tf.image.resize_with_crop_or_pad, x, 0, 3),
        raises(tf.image.resize_image_with_pad, x, 3, 0),
        raises(tf.image.central_crop, x, 0.0),
        raises(tf.image.central_crop, x, 1.5),
        raises(tf.image.central_crop, tf.placeholder(tf.float32), 0.5),
        tf.image.central_crop(x, 1.0),
    ]


@cases(*product([0.1, 0.33, 0.5, 0.875], [(7, 9, 3), (2, 8, 5, 1)]))
def central(tf, np, fraction, shape):
    image = _picture(np, "float32", *shape)
    fed = tf.placeholder(tf.float32, [None] * len(shape))
    made = [tf.image.central_crop(image, fraction), tf.image.central_crop(fed, fraction)]
    return [made, run(tf, made, {fed: image})]


@cases(*product(range(-1, 6), _SHAPES))
def turned(tf, np, count, shape):
    image = tf.constant(_picture(np, "float32", *_SHAPES[shape]))
    k = tf.placeholder(tf.int32, [])
    made = [tf.image.rot90(image, count), tf.image.rot90(image, k)]
    return [made, run(tf, made, {k: count})]


def turned_graph(tf, np):
    tf.image.rot90(tf.placeholder(tf.float32, [5, 6, 3]), 3, name="turn")
    return sorted(names(tf))


# ---------------------------------------------------------------------------------- gray


@cases((5, 6, 1), (2, 5, 6, 1))
def gray_to_colors(tf, np, *shape):
    image = _picture(np, "uint8", *shape)
    y = tf.image.grayscale_to_rgb(tf.constant(image))
    fed = tf.placeholder(tf.uint8, [None] * len(shape))
    made = [y, tf.image.grayscale_to_rgb(fed)]
    return [names(tf), made, raises(lambda: run(tf, made, {fed: image})), run(tf, y)]


def gray_refused(tf, np):
    return [
        raises(tf.image.grayscale_to_rgb, tf.constant(np.ones((4, 5, 3), np.float32))),
        raises(tf.image.grayscale_to_rgb, tf.constant(np.ones(4, np.float32))),
    ]


# ---------------------------------------------------------------------------------- at random

_RANDOM = {
    "random_flip_left_right": {},
    "random_flip_up_down": {},
    "random_brightness": {"max_delta": 0.3},
    "random_contrast": {"lower": 0.5, "upper": 1.5},
    "random_hue": {"max_delta": 0.4},
    "random_saturation": {"lower": 0.5, "upper": 1.5},
    "random_crop": {"size": (2, 3, 3)},
}


@cases(*product(_RANDOM, [1, 9], [None, 5]))
def random(tf, np, name, seed, graph_seed):
    if graph_seed:
        tf.set_random_seed(graph_seed)
    image = tf.constant(_picture(np, "float32", 5, 6, 3))
    y = getattr(tf.image, name)(image, seed=seed, **_RANDOM[name])
    with tf.Session() as session:
        return [sorted(names(tf)), y, Close([session.run(y) for _ in range(4)], 1e-5, 1e-5)]


@cases("random_flip_left_right", "random_flip_up_down")
def random_flips_of_a_batch(tf, np, name):
    image = tf.constant(_picture(np, "float32", 8, 5, 6, 3))
    y = getattr(tf.image, name)(image, seed=3)
    return [graph(tf), y, run(tf, y)]


def randomness_refused(tf, np):
    x = np.ones((4, 5, 3), np.float32)
    return [
        raises(tf.image.random_brightness, x, -1),
        raises(tf.image.random_hue, x, 0.6),
        raises(tf.image.random_hue, x, -0.1),
        raises(tf.image.random_contrast, x, 1.0, 0.5),
        raises(tf.image.random_contrast, x, -1.0, 0.5),
        raises(tf.image.random_saturation, x, 0.5, 0.5),
        raises(tf.image.random_jpeg_quality, x, 50, 20),
        raises(tf.image.random_jpeg_quality, x, -1, 20),
    ]


# ---------------------------------------------------------------------------------- likeness


def _two(np, dtype, *shape):
    first = _picture(np, dtype, *shape)
    noise = np.random.RandomState(1).uniform(-0.1, 0.1, shape)
    top = 1 if dtype.startswith("float") else 255
    return first, np.clip(first + noise * top, 0, top).astype(dtype)


@cases(*product([(16, 15, 3), (2, 16, 17, 1), (2, 3, 16, 16, 2)], ["float32", "uint8"]))
def likeness(tf, np, shape, dtype):
    first, second = _two(np, dtype, *shape)
    a, b = tf.constant(first), tf.constant(second)
    peak = 1.0 if dtype == "float32" else 255
    made = [tf.image.psnr(a, b, peak), tf.image.ssim(a, b, peak), tf.image.ssim(a, b, peak, 5, 1.0)]
    return [graph(tf), made, Close(run(tf, made), 1e-4, 1e-5)]


@cases((48, 48, 3), (2, 50, 37, 1), (1, 33, 35, 2))
def likeness_over_scales(tf, np, *shape):
    first, second = _two(np, "float32", *shape)
    a, b = tf.constant(first), tf.constant(second)
    y = tf.image.ssim_multiscale(a, b, 1.0, (0.4, 0.3, 0.3), filter_size=5)
    return [sorted(names(tf)), y, Close(run(tf, y), 1e-4, 1e-5)]


def likeness_gradients(tf, np):
    first, second = _two(np, "float32", 1, 16, 16, 3)
    functions = [
        lambda a, b: tf.image.psnr(a, b, 1.0),
        lambda a, b: tf.image.ssim(a, b, 1.0),
        lambda a, b: tf.image.ssim_multiscale(a, b, 1.0, (0.5, 0.5), filter_size=5),
    ]
    return Close([differentiated(tf, np, f, first, second) for f in functions], 1e-3, 1e-5)


def likeness_refused(tf, np):
    a = tf.constant(np.ones((2, 16, 16, 3), np.float32))
    narrow = tf.constant(np.ones((2, 16, 15, 3), np.float32))
    more = tf.constant(np.ones((3, 16, 16, 3), np.float32))
    fed = tf.placeholder_with_default(np.ones((2, 16, 15, 3), np.float32), None)
    return [
        raises(tf.image.psnr, a, narrow, 1.0),
        raises(tf.image.ssim, a, narrow, 1.0),
        raises(tf.image.ssim, a, more, 1.0),
        raises(lambda: run(tf, tf.image.psnr(a, fed, 1.0))),
        raises(lambda: run(tf, tf.image.ssim(a, a, 1.0, filter_size=17))),
        raises(lambda: run(tf, tf.image.ssim_multiscale(a, a, 1.0))),
    ]


@cases((2, 5, 6, 3), (1, 2, 2, 1))
def edges(tf, np, *shape):
    image = tf.constant(_picture(np, "float32", *shape))
    made = [tf.image.sobel_edges(image), tf.image.image_gradients(image)]
    return [graph(tf), made, Close(run(tf, made), 1e-5, 1e-5)]


def edges_of_unknown(tf, np):
    x = tf.placeholder(tf.float32, [None, None, 6, 3])
    made = [tf.image.sobel_edges(x), tf.image.image_gradients(x)]
    return [
        made,
        run(tf, made, {x: _picture(np, "float32", 2, 5, 6, 3)}),
        raises(tf.image.image_gradients, x[0]),
    ]


def methods(tf, np):
    kinds = tf.image.ResizeMethod
    return [kinds.BILINEAR, kinds.NEAREST_NEIGHBOR, kinds.BICUBIC, kinds.AREA]


def augmentation(tf, np):
    """A typical pipeline, end to end."""
    tf.set_random_seed(11)
    image = tf.constant(_picture(np, "uint8", 40, 50, 3))
    begin, size, _ = tf.image.sample_distorted_bounding_box(
        tf.shape(image), [[[0.1, 0.1, 0.9, 0.9]]], seed=3, seed2=4
    )
    y = tf.slice(image, begin, size)
    y = tf.image.convert_image_dtype(y, tf.float32)
    y = tf.image.resize_images(tf.reshape(y, [size[0], size[1], 3]), [24, 24])
    y = tf.image.random_flip_left_right(y, seed=1)
    y = tf.image.random_brightness(y, 0.2, seed=2)
    y = tf.image.random_saturation(y, 0.5, 1.5, seed=3)
    y = tf.image.random_hue(y, 0.2, seed=4)
    y = tf.image.random_contrast(y, 0.5, 1.5, seed=5)
    y = tf.image.per_image_standardization(y)
    with tf.Session() as session:
        return Close([session.run(y) for _ in range(3)], 1e-4, 1e-4)
