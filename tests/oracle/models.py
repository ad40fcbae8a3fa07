"""Graphs to be written by one engine and run by another.

Each builds a graph and returns the steps of its use: a list of (fetches by name, feeds by name).
"""

_INIT = (["init"], {})


def arithmetic(tf, np):
    """Feeds, constants of many dtypes, a multi-output op and control edges."""
    x = tf.placeholder(tf.float32, [None, 3], "x")
    parts = tf.split(x * 2.0 + [1.0, 2.0, 3.0], 3, axis=1, name="parts")
    with tf.control_dependencies([parts[1]]):
        tf.concat([parts[2], parts[0]], 1, name="joined")
    tf.cast(tf.reduce_sum(x, 1), tf.int64, name="sums")
    tf.constant([b"text", b"\x00\xff"], name="text")
    tf.constant([1.5, 2.5], tf.float16, name="half")
    tf.constant([1 + 2j], tf.complex64, name="complex")
    tf.constant(np.arange(500, dtype=np.int64), name="long")
    tf.strided_slice(x, [0, 1], [2, 3], name="slice")
    fetches = ["joined:0", "sums:0", "text:0", "half:0", "complex:0", "long:0", "slice:0"]
    return [(fetches, {"x:0": np.arange(6.0).reshape(2, 3).astype(np.float32)})]


def variables(tf, np):
    """Both kinds of variables, assignment and scattering."""
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="v")
    r = tf.Variable([5.0, 6.0], name="r", use_resource=True)
    tf.assign_add(v, [[1.0, 1.0], [1.0, 1.0]], name="grow")
    tf.scatter_sub(v, [0], [[0.5, 0.5]], name="shrink")
    r.assign_add([10.0, 20.0], name="more", read_value=False)
    tf.matmul(v, tf.expand_dims(r, 1), name="y")
    tf.global_variables_initializer()
    return [_INIT, (["grow:0"], {}), (["shrink:0"], {}), (["more"], {}), (["y:0", "v:0"], {})]


def training(tf, np):
    """A model with its gradients and an optimizer with slots."""
    rng = np.random.RandomState(0)
    x, y = tf.placeholder(tf.float32, [None, 4], "x"), tf.placeholder(tf.int64, [None], "y")
    w = tf.Variable(rng.normal(size=(4, 3)).astype(np.float32), name="w")
    b = tf.Variable(np.zeros(3, np.float32), name="b", use_resource=True)
    logits = tf.nn.bias_add(tf.matmul(tf.nn.relu(x), w), b)
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits), name="loss"
    )
    tf.train.AdamOptimizer(0.05).minimize(loss, name="train")
    tf.global_variables_initializer()
    feeds = {"x:0": rng.normal(size=(8, 4)).astype(np.float32), "y:0": rng.randint(0, 3, 8)}
    return (
        [_INIT] + [(["train"], feeds), (["loss:0"], feeds)] * 4 + [(["w:0", "b/Read/ReadVariableOp:0"], {})]
    )


def convolutions(tf, np):
    """A convolutional network's forward and backward graph."""
    rng = np.random.RandomState(1)
    x = tf.placeholder(tf.float32, [None, 8, 8, 3], "x")
    w = tf.Variable(rng.normal(0, 0.3, size=(3, 3, 3, 4)).astype(np.float32), name="w")
    h = tf.nn.relu(tf.nn.conv2d(x, w, [1, 2, 2, 1], "SAME", name="conv"))
    h = tf.nn.max_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], "VALID", name="pool")
    mean = tf.reduce_mean(h, name="mean")
    tf.identity(tf.gradients(mean, w)[0], name="slope")
    tf.nn.fused_batch_norm(h, [1.0] * 4, [0.0] * 4, name="norm")
    tf.global_variables_initializer()
    return [
        _INIT,
        (["mean:0", "slope:0", "norm:0"], {"x:0": rng.normal(size=(2, 8, 8, 3)).astype(np.float32)}),
    ]


def layers(tf, np):
    """What tf.layers, tf.losses and a momentum optimizer build."""
    rng = np.random.RandomState(2)
    x, y = tf.placeholder(tf.float32, [None, 5], "x"), tf.placeholder(tf.float32, [None, 1], "y")
    h = tf.layers.dense(x, 6, tf.nn.tanh, kernel_initializer=tf.constant_initializer(0.1))
    h = tf.layers.batch_normalization(h, training=True)
    p = tf.layers.dense(h, 1, kernel_initializer=tf.constant_initializer(0.2))
    loss = tf.identity(tf.losses.mean_squared_error(y, p), name="loss")
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, name="train")
    tf.global_variables_initializer()
    feeds = {
        "x:0": rng.normal(size=(6, 5)).astype(np.float32),
        "y:0": rng.normal(size=(6, 1)).astype(np.float32),
    }
    return [_INIT] + [(["train"], feeds), (["loss:0"], feeds)] * 3


def randomness(tf, np):
    """Seeded random ops keep their stream through a GraphDef."""
    tf.set_random_seed(11)
    tf.random_uniform([3], name="u")
    tf.random_normal([3], seed=4, name="n")
    tf.nn.dropout(tf.ones([6]), rate=0.5, name="d")
    return [(["u:0", "n:0", "d/mul_1:0"], {}), (["u:0"], {})]


def embeddings(tf, np):
    """Gathering from a variable and its sparse update."""
    v = tf.Variable(np.arange(12.0).reshape(6, 2).astype(np.float32), name="v")
    ids = tf.placeholder(tf.int32, [None], "ids")
    loss = tf.reduce_sum(tf.square(tf.nn.embedding_lookup(v, ids)), name="loss")
    tf.train.AdagradOptimizer(0.5).minimize(loss, name="train")
    tf.global_variables_initializer()
    feeds = {"ids:0": np.array([1, 4, 1], np.int32)}
    return [_INIT, (["train"], feeds), (["loss:0"], feeds), (["v:0"], {})]
