"""tf.contrib.image, tf.contrib.resampler, tf.contrib.periodic_resample."""

from kit import Close, cases, differentiated, names, normal, product, raises, run


def _images(np, dtype, *shape):
    return (normal(np, *shape) * 50 + 100).astype(dtype)


_TYPES = ["uint8", "int32", "int64", "float16", "float32", "float64"]


@cases(*product(_TYPES, ["NEAREST", "BILINEAR"]))
def rotated(tf, np, dtype, interpolation):
    images = tf.constant(_images(np, dtype, 2, 5, 4, 3))
    made = [
        tf.contrib.image.rotate(images, 0.7, interpolation),
        tf.contrib.image.rotate(images, [0.3, -2.0], interpolation),
        tf.contrib.image.rotate(images[0], np.pi / 2, interpolation),
        tf.contrib.image.rotate(images[0, :, :, 0], 3.0, interpolation),
    ]
    return [made, Close(run(tf, made), 1e-3, 2e-2 if dtype == "float16" else 1e-3)]


@cases("NEAREST", "BILINEAR", "nearest")
def moved(tf, np, interpolation):
    images = tf.constant(_images(np, "float32", 2, 5, 4, 3))
    made = [
        tf.contrib.image.translate(images, [1.0, -2.0], interpolation),
        tf.contrib.image.translate(images, [[0.5, 0], [1.25, 2.5]], interpolation),
        tf.contrib.image.transform(images, [1, 0.2, -1, 0.1, 1, 0.5, 0.01, 0.02], interpolation),
        tf.contrib.image.transform(images, [[1.0, 0, 0, 0, 1, 0, 0, 0]] * 2, interpolation, [3, 7]),
    ]
    return [made, run(tf, made), names(tf)]


def composed(tf, np):
    i = tf.contrib.image
    a = i.angles_to_projective_transforms([0.5, 1.0], 4.0, 6.0)
    b = i.translations_to_projective_transforms([2.0, 3.0])
    made = [
        a,
        b,
        i.compose_transforms(a, b),
        i.compose_transforms(a),
        i.flat_transforms_to_matrices(a),
        i.matrices_to_flat_transforms(np.eye(3, dtype="float32") * 2),
    ]
    return [made, run(tf, made), names(tf)]


def projected_slopes(tf, np):
    images = _images(np, "float32", 2, 5, 4, 3)
    return differentiated(tf, np, lambda x: tf.contrib.image.rotate(x, 0.4, "BILINEAR"), images)


@cases("bool", "int32", "uint8", "float32", "string")
def components(tf, np, dtype):
    values = np.random.RandomState(2).randint(0, 3, [3, 5, 6])
    if dtype == "string":
        values = np.array(["", "a", "b"], object)[values]
    images = tf.constant(values if dtype == "string" else values.astype(dtype))
    made = [tf.contrib.image.connected_components(images), tf.contrib.image.connected_components(images[1])]
    return [made, run(tf, made)]


def no_background(tf, np):
    made = tf.contrib.image.connected_components(np.array([[1, 1, 2], [1, 3, 2]]))
    return [made, run(tf, made), sorted(names(tf))]


@cases(*product([-1, 2, 3.0], [-1, 2]))
def matched(tf, np, rows, top):
    made = tf.contrib.image.bipartite_match(tf.constant(normal(np, 4, 5), tf.float32), rows, top)
    other = tf.contrib.image.bipartite_match(
        tf.constant(normal(np, 5, 3), tf.float32), [rows], top, name="mine"
    )
    return [list(made), list(other), [list(m) for m in run(tf, [made, other])]]


def dense_warp(tf, np):
    image, flow = normal(np, 2, 4, 5, 3), normal(np, 2, 4, 5, 2)
    found = differentiated(tf, np, tf.contrib.image.dense_image_warp, image, flow)
    return [Close(found["values"], 1e-5, 1e-5), Close(found["gradients"], 1e-4, 1e-4), sorted(names(tf))]


@cases(*product([1, 2, 3, 4, 5, 6], [0.0, 0.01]))
def splines(tf, np, order, regularization):
    points, values, queries = normal(np, 2, 5, 2), normal(np, 2, 5, 3), normal(np, 2, 7, 2)
    made = tf.contrib.image.interpolate_spline(points, values, queries, order, regularization)
    return [made.shape, Close(run(tf, made), 1e-5, 1e-6), names(tf)]


@cases(0, 1, 3)
def sparse_warp(tf, np, edges):
    sources = np.array([[[1.0, 1.0], [3.0, 2.0], [0.5, 3.5]]] * 2, "float32")
    made = tf.contrib.image.sparse_image_warp(
        normal(np, 2, 5, 6, 1).astype("float32"), sources, sources + 0.4, num_boundary_points=edges
    )
    return [[t.shape for t in made], Close(run(tf, made), 1e-3, 1e-3)]


@cases("float32", "float64", "float16")
def resampled(tf, np, dtype):
    data = normal(np, 2, 5, 4, 3).astype(dtype)
    warp = (normal(np, 2, 3, 2, 2) * 3 + 1).astype(dtype)
    found = differentiated(tf, np, tf.contrib.resampler.resampler, data, warp)
    tolerance = 3e-2 if dtype == "float16" else 1e-5
    return [Close([found["values"], found["gradients"]], tolerance, tolerance), found["shapes"], names(tf)]


@cases(*product([[5, 4, 3], [4, 2], None], [[2, 3, 2], [2, 2], None]))
def resampled_shapes(tf, np, data, warp):
    data = None if data is None else [2] + data
    made = tf.contrib.resampler.resampler(tf.placeholder(tf.float32, data), tf.placeholder(tf.float32, warp))
    return made


def resampler_refuses(tf, np):
    r = tf.contrib.resampler.resampler
    pairs = [
        ([2, 3, 4, 6, 5], [2, 6, 2]),
        ([2, 3, 4, 5], [2]),
        ([2, 3, 4, 5], [3, 6, 2]),
        ([2, 3, 4, 5], [2, 6, 3]),
    ]
    made = [r(tf.zeros(data), tf.zeros(warp)) for data, warp in pairs]
    return [raises(run, tf, each) for each in made]


@cases([6, None], [3, None], [None, 4], [5, None], [None, 8])
def periodic(tf, np, shape):
    values = np.arange(12.0).reshape(3, 4)
    made = tf.contrib.periodic_resample.periodic_resample(tf.constant(values), shape)
    slopes = tf.gradients(tf.reduce_sum(tf.square(made)), made.op.inputs[0])
    return [made, run(tf, [made, slopes])]


@cases([4, 4, None], [None, 3, 4], [5, None, 8], [4, 6, None])
def periodic_volumes(tf, np, shape):
    values = np.arange(48.0).reshape(4, 3, 4)
    made = tf.contrib.periodic_resample.periodic_resample(tf.constant(values), shape)
    return [made, run(tf, made)]


def refused(tf, np):
    i = tf.contrib.image
    image = tf.zeros([3, 4, 5])
    return [
        raises(i.rotate, tf.zeros([3, 4], tf.complex64), 0.1),
        raises(i.rotate, tf.zeros([1, 2, 3, 4, 5]), 0.1),
        raises(i.rotate, tf.placeholder(tf.float32), 0.1),
        raises(i.rotate, image, [[0.1]]),
        raises(i.translate, image, 1.0),
        raises(i.transform, image, [[[1.0] * 8]]),
        raises(i.transform, image, [1.0] * 8, output_shape=[1, 2, 3]),
        raises(i.flat_transforms_to_matrices, 1.0),
        raises(i.matrices_to_flat_transforms, [1.0]),
        raises(i.compose_transforms),
        raises(i.connected_components, [1, 2]),
        raises(i.bipartite_match, [1.0], 1),
        raises(i.interpolate_spline, tf.placeholder(tf.float32, [1, 2, None]), [[[1.0]]], [[[1.0]]], 1),
        raises(i.dense_image_warp, tf.zeros([1, 4, 5]), tf.zeros([1, 4, 5, 2])),
    ]
