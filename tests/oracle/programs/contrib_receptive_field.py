"""tf.contrib.receptive_field: what an output of a convolutional network sees of its input."""

from kit import cases, raises


def _field(field):
    return [
        field.size.tolist(),
        field.stride.tolist(),
        [None if p is None else int(p) for p in field.padding],
    ]


def _compute(tf, *arguments, **keywords):
    graph = tf.get_default_graph().as_graph_def()
    compute = tf.contrib.receptive_field.compute_receptive_field_from_graph_def
    return compute(graph, *arguments, **keywords)


def _conv(tf, x, size, stride, padding, name, depth=2):
    return tf.layers.conv2d(x, depth, size, stride, padding, name=name, use_bias=False)


def _aligned(tf):
    x = tf.placeholder(tf.float32, (None, None, None, 1), name="input")
    left = _conv(tf, x, 1, 4, "valid", "L1")
    padded = tf.pad(x, [[0, 0], [1, 0], [1, 0], [0, 0]], name="L2_pad")
    right = _conv(tf, padded, 3, 2, "valid", "L2")
    right = _conv(tf, right, 1, 2, "valid", "L3")
    return tf.nn.relu(left + right, name="output")


def aligned(tf, np):
    output = _aligned(tf)
    field = _compute(tf, "input", "output")
    found = [_field(field), [int(x) for x in field]]
    found += [field.compute_input_center_coordinates([[0, 0], [2, 5]]).tolist()]
    found += [field.compute_feature_coordinates([[3.0, 4.0]]).tolist()]
    found += [field.compute_input_center_coordinates([[3]], axis=[1]).tolist()]
    compute = tf.contrib.receptive_field.compute_receptive_field_from_graph_def
    found += [
        _field(compute(tf.get_default_graph(), tf.get_default_graph().get_tensor_by_name("input:0"), output))
    ]
    found += [_field(_compute(tf, "input", "output", ["L1"]))]
    found += [raises(field.compute_input_center_coordinates, [1, 2, 3])]
    found += [raises(field.compute_feature_coordinates, [1, 2], axis=[0])]
    return found


@cases({"open": (None,), "odd": ((5, 7),), "even": ((8, 8),), "large": ((33, 65),)})
def resolutions(tf, np, size):
    x = tf.placeholder(tf.float32, (None, None, None, 1), name="input")
    y = tf.nn.relu6(_conv(tf, x, (3, 5), (2, 3), "same", "a"))
    y = tf.nn.max_pool(y, [1, 2, 2, 1], [1, 2, 2, 1], "SAME", name="pool")
    y = tf.nn.avg_pool(y, [1, 3, 3, 1], [1, 1, 1, 1], "VALID", name="mean")
    y = tf.identity(_conv(tf, y, 4, 2, "same", "b"), name="output")
    graph = tf.get_default_graph().as_graph_def()
    infos, nodes = tf.contrib.receptive_field.get_compute_order(graph, "input", size)
    sizes = {name: (info.order, info.input_size, info.output_size) for name, info in infos.items()}
    kept = [name for name in sorted(sizes) if "kernel" not in name]
    return [
        _field(_compute(tf, "input", "output", input_resolution=size)),
        [(n, sizes[n]) for n in kept],
        len(nodes),
    ]


@cases("stride", "center", "unknown", "input", "output", "weights", "pad")
def refused(tf, np, which):
    x = tf.placeholder(tf.float32, (None, None, None, 1), name="input")
    first = _conv(tf, x, 1, 2, "same", "a")
    if which == "stride":
        tf.concat([_conv(tf, x, 1, 1, "valid", "b"), first], 0, name="output")
        return raises(_compute, tf, "input", "output")
    if which == "center":
        second = _conv(tf, tf.pad(x, [[0, 0], [2, 0], [2, 0], [0, 0]]), 3, 2, "valid", "b")
        tf.add(first, second, name="output")
        return raises(_compute, tf, "input", "output")
    if which == "unknown":
        tf.sin(first, name="output")
        return raises(_compute, tf, "input", "output")
    if which == "weights":
        tf.nn.conv2d(x, tf.ones([1, 1, 1, 1]), [1, 1, 1, 1], "SAME", name="output")
        return raises(_compute, tf, "input", "output")
    if which == "pad":
        tf.pad(x, [[0, 1], [2, 0], [2, 0], [0, 0]], name="output")
        return raises(_compute, tf, "input", "output")
    names = {"input": ("other", "a/Conv2D"), "output": ("input", "other")}[which]
    return raises(_compute, tf, *names)
