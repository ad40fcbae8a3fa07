"""tf.contrib.slim.nets: variables, end points, collections, and graphs of the image models."""

from importlib import import_module

from kit import cases, names, raises


def _nets(tf):
    home = "tensorflow.contrib" if tf.__name__ == "tensorflow" else "tideflow.contrib"
    return import_module(home + ".slim.nets")


_MODELS = {
    "alexnet": lambda n, x, **k: n.alexnet.alexnet_v2(x, 5, **k),
    "overfeat": lambda n, x, **k: n.overfeat.overfeat(x, 5, **k),
    "vgg a": lambda n, x, **k: n.vgg.vgg_a(x, 5, **k),
    "vgg 16": lambda n, x, **k: n.vgg.vgg_16(x, 5, **k),
    "vgg 19": lambda n, x, **k: n.vgg.vgg_19(x, 5, **k),
    "resnet v1": lambda n, x, **k: n.resnet_v1.resnet_v1_50(x, 5, **k),
    "resnet v2": lambda n, x, **k: n.resnet_v2.resnet_v2_50(x, 5, **k),
    "inception v1": lambda n, x, **k: n.inception.inception_v1(x, 5, **k),
    "inception v2": lambda n, x, **k: n.inception.inception_v2(x, 5, depth_multiplier=0.5, **k),
    "inception v3": lambda n, x, **k: n.inception.inception_v3(x, 5, **k),
}
_SCOPES = {
    "alexnet": lambda n: n.alexnet.alexnet_v2_arg_scope(),
    "overfeat": lambda n: n.overfeat.overfeat_arg_scope(),
    "vgg": lambda n: n.vgg.vgg_arg_scope(0.1),
    "resnet": lambda n: n.resnet_utils.resnet_arg_scope(),
    "inception v1": lambda n: n.inception.inception_v1_arg_scope(),
    "inception v2": lambda n: n.inception.inception_v2_arg_scope(),
    "inception v3": lambda n: n.inception.inception_v3_arg_scope(batch_norm_decay=0.9),
}


def _scope(tf, which):
    nets = _nets(tf)
    return next(make(nets) for name, make in _SCOPES.items() if which.startswith(name))


_SIZES = {"overfeat": 231, "inception v3": 299}


@cases(*sorted(_MODELS))
def whole(tf, np, which):
    size = _SIZES.get(which, 224)
    x = tf.placeholder(tf.float32, [2, size, size, 3])
    with tf.contrib.framework.arg_scope(_scope(tf, which)):
        logits, ends = _MODELS[which](_nets(tf), x, is_training=which != "vgg 16")
    return [
        logits,
        sorted((name, each.name, each.shape) for name, each in ends.items()),
        [(v.name, v.shape) for v in tf.global_variables()],
        [len(tf.get_collection(c)) for c in (tf.GraphKeys.UPDATE_OPS, tf.GraphKeys.REGULARIZATION_LOSSES)],
        sorted(names(tf)) if which in ("alexnet", "vgg a", "inception v1") else None,
    ]


@cases("alexnet", "vgg a", "resnet v1", "inception v2")
def without_scope(tf, np, which):
    x = tf.placeholder(tf.float32, [None, 256, 256, 3])
    keywords = {} if "resnet" in which else {"spatial_squeeze": False}
    logits, ends = _MODELS[which](_nets(tf), x, scope="mine", **keywords)
    return [logits, sorted((name, each.shape) for name, each in ends.items())]


@cases("v1", "v2")
def small_residual(tf, np, kind):
    nets = _nets(tf)
    module = getattr(nets, "resnet_" + kind)
    block = getattr(module, "resnet_%s_block" % kind)
    network = getattr(module, "resnet_" + kind)
    found = []
    for stride in (None, 4, 8):
        tf.reset_default_graph()
        x = tf.constant(np.arange(2 * 33 * 33 * 3, dtype="float32").reshape(2, 33, 33, 3) % 7)
        with tf.contrib.framework.arg_scope(nets.resnet_utils.resnet_arg_scope()):
            blocks = [block("block1", 1, 3, 2), block("block2", 2, 3, 2), block("block3", 4, 2, 1)]
            net, ends = network(x, blocks, 4, True, stride is None, stride, scope="tiny")
        found.append(
            [net, sorted((n, e.shape) for n, e in ends.items()), [v.name for v in tf.global_variables()]]
        )
    return found


def helpers(tf, np):
    utils = _nets(tf).resnet_utils
    x = tf.ones([1, 5, 5, 2])
    made = [
        utils.subsample(x, 1),
        utils.subsample(x, 2),
        utils.conv2d_same(x, 3, 3, 2),
        utils.conv2d_same(x, 3, 3, 1),
    ]
    return [made, names(tf)]


def refused(tf, np):
    nets = _nets(tf)
    x = tf.zeros([1, 64, 64, 3])
    return [
        raises(nets.inception.inception_v1_base, x, "nowhere"),
        raises(nets.inception.inception_v2, x, depth_multiplier=0),
        raises(nets.inception.inception_v3_base, x, depth_multiplier=-1.0),
        raises(nets.resnet_v1.resnet_v1_50, x, output_stride=3),
        raises(nets.resnet_v2.resnet_v2_50, x, output_stride=12),
    ]


@cases("inception_v1_base", "inception_v2_base", "inception_v3_base")
def ends(tf, np, which):
    found = []
    for last in ("Conv2d_2b_1x1", "MaxPool_3a_3x3", "Mixed_5b"):
        if which == "inception_v3_base" and last == "Conv2d_2b_1x1":
            last = "Conv2d_3b_1x1"
        tf.reset_default_graph()
        net, made = getattr(_nets(tf).inception, which)(tf.zeros([1, 96, 96, 3]), last)
        found.append([net, sorted((n, e.shape) for n, e in made.items())])
    return found
