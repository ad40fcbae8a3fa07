"""Examples of tf.contrib.labeled_tensor."""

import tideflow as tf

# %% tf.contrib.labeled_tensor.Axis, tf.contrib.labeled_tensor.Axes, tf.contrib.labeled_tensor.as_axis,
# %% tf.contrib.labeled_tensor.LabeledTensor
lt = tf.contrib.labeled_tensor

channel = lt.Axis("channel", ["red", "green"])
axes = lt.Axes([lt.as_axis(("x", 2)), channel])
picture = lt.LabeledTensor(tf.ones([2, 2]), axes)
print(picture, channel.index("green"))

# %% tf.contrib.labeled_tensor.constant, tf.contrib.labeled_tensor.placeholder,
# %% tf.contrib.labeled_tensor.convert_to_labeled_tensor, tf.contrib.labeled_tensor.identity,
# %% tf.contrib.labeled_tensor.zeros_like, tf.contrib.labeled_tensor.ones_like,
# %% tf.contrib.labeled_tensor.cast, tf.contrib.labeled_tensor.verify_tensor_all_finite
lt = tf.contrib.labeled_tensor

grades = lt.constant([[1.0, 2.0], [3.0, 4.0]], axes=["pupil", ("subject", ["maths", "art"])])
checked = lt.verify_tensor_all_finite(lt.identity(grades), "no grade")
fed = lt.placeholder(tf.float32, ["pupil", ("subject", ["maths", "art"])])
print(lt.zeros_like(grades), lt.ones_like(grades), lt.cast(checked, tf.int32))
print(fed, lt.convert_to_labeled_tensor(0.5))

# %% tf.contrib.labeled_tensor.abs, tf.contrib.labeled_tensor.neg, tf.contrib.labeled_tensor.sign,
# %% tf.contrib.labeled_tensor.reciprocal, tf.contrib.labeled_tensor.square,
# %% tf.contrib.labeled_tensor.round, tf.contrib.labeled_tensor.sqrt, tf.contrib.labeled_tensor.rsqrt,
# %% tf.contrib.labeled_tensor.exp, tf.contrib.labeled_tensor.log, tf.contrib.labeled_tensor.ceil,
# %% tf.contrib.labeled_tensor.floor, tf.contrib.labeled_tensor.cos, tf.contrib.labeled_tensor.sin,
# %% tf.contrib.labeled_tensor.tan, tf.contrib.labeled_tensor.acos, tf.contrib.labeled_tensor.asin,
# %% tf.contrib.labeled_tensor.atan, tf.contrib.labeled_tensor.lgamma, tf.contrib.labeled_tensor.digamma,
# %% tf.contrib.labeled_tensor.erf, tf.contrib.labeled_tensor.erfc, tf.contrib.labeled_tensor.tanh,
# %% tf.contrib.labeled_tensor.sigmoid
lt = tf.contrib.labeled_tensor

angles = lt.constant([0.25, 0.5], axes=["angle"])
functions = (
    lt.abs,
    lt.neg,
    lt.sign,
    lt.reciprocal,
    lt.square,
    lt.round,
    lt.sqrt,
    lt.rsqrt,
    lt.exp,
    lt.log,
    lt.ceil,
    lt.floor,
    lt.cos,
    lt.sin,
    lt.tan,
    lt.acos,
    lt.asin,
    lt.atan,
    lt.lgamma,
    lt.digamma,
    lt.erf,
    lt.erfc,
    lt.tanh,
    lt.sigmoid,
)
results = [function(angles) for function in functions]
with tf.Session() as sess:
    print(sess.run(results))

# %% tf.contrib.labeled_tensor.add, tf.contrib.labeled_tensor.sub, tf.contrib.labeled_tensor.mul,
# %% tf.contrib.labeled_tensor.div, tf.contrib.labeled_tensor.mod, tf.contrib.labeled_tensor.pow,
# %% tf.contrib.labeled_tensor.maximum, tf.contrib.labeled_tensor.minimum,
# %% tf.contrib.labeled_tensor.squared_difference, tf.contrib.labeled_tensor.igamma,
# %% tf.contrib.labeled_tensor.igammac, tf.contrib.labeled_tensor.zeta,
# %% tf.contrib.labeled_tensor.polygamma
lt = tf.contrib.labeled_tensor

prices = lt.constant([2.0, 3.0], axes=["product"])
rates = lt.constant([1.5, 2.5, 3.0], axes=["country"])
functions = (
    lt.add,
    lt.sub,
    lt.mul,
    lt.div,
    lt.mod,
    lt.pow,
    lt.maximum,
    lt.minimum,
    lt.squared_difference,
    lt.igamma,
    lt.igammac,
    lt.zeta,
    lt.polygamma,
)
results = [function(prices, rates) for function in functions]
print(results[0].axes)
with tf.Session() as sess:
    print(sess.run(results[0]))

# %% tf.contrib.labeled_tensor.equal, tf.contrib.labeled_tensor.not_equal,
# %% tf.contrib.labeled_tensor.greater, tf.contrib.labeled_tensor.greater_equal,
# %% tf.contrib.labeled_tensor.less, tf.contrib.labeled_tensor.less_equal
lt = tf.contrib.labeled_tensor

ages = lt.constant([12, 18, 40], axes=["person"])
results = [
    function(ages, 18)
    for function in (lt.equal, lt.not_equal, lt.greater, lt.greater_equal, lt.less, lt.less_equal)
]
with tf.Session() as sess:
    print(sess.run(results))

# %% tf.contrib.labeled_tensor.logical_and, tf.contrib.labeled_tensor.logical_or,
# %% tf.contrib.labeled_tensor.logical_xor, tf.contrib.labeled_tensor.logical_not
lt = tf.contrib.labeled_tensor

warm, dry = lt.constant([True, False], axes=["day"]), lt.constant([True, True], axes=["day"])
results = [
    lt.logical_and(warm, dry),
    lt.logical_or(warm, dry),
    lt.logical_xor(warm, dry),
    lt.logical_not(warm),
]
with tf.Session() as sess:
    print(sess.run(results))

# %% tf.contrib.labeled_tensor.define_unary_op, tf.contrib.labeled_tensor.define_binary_op,
# %% tf.contrib.labeled_tensor.define_reduce_op
lt = tf.contrib.labeled_tensor

twice = lt.define_unary_op("twice", lambda x, name: tf.multiply(x, 2.0, name=name))
middle = lt.define_binary_op("middle", lambda x, y, name: tf.divide(x + y, 2.0, name=name))
deviation = lt.define_reduce_op("deviation", tf.math.reduce_std)
given = lt.constant([1.0, 5.0], axes=["x"])
with tf.Session() as sess:
    print(sess.run([twice(given), middle(given, 3.0), deviation(given, "x")]))

# %% tf.contrib.labeled_tensor.slice, tf.contrib.labeled_tensor.select,
# %% tf.contrib.labeled_tensor.boolean_mask, tf.contrib.labeled_tensor.where,
# %% tf.contrib.labeled_tensor.random_crop
lt = tf.contrib.labeled_tensor

grades = lt.constant([[1.0, 2.0], [3.0, 4.0]], axes=["pupil", ("subject", ["maths", "art"])])
first = lt.slice(grades, {"pupil": 0})
art = lt.select(grades, {"subject": "art"})
one = lt.boolean_mask(grades, lt.constant([False, True], axes=["pupil"]))
better = lt.where(grades > 2.0, grades, lt.zeros_like(grades))
with tf.Session() as sess:
    print(sess.run([first, art, one, better, lt.random_crop(grades, {"pupil": 1}, seed=1)]))

# %% tf.contrib.labeled_tensor.transpose, tf.contrib.labeled_tensor.expand_dims,
# %% tf.contrib.labeled_tensor.axis_order_scope, tf.contrib.labeled_tensor.check_axis_order,
# %% tf.contrib.labeled_tensor.impose_axis_order, tf.contrib.labeled_tensor.align,
# %% tf.contrib.labeled_tensor.AxisOrderError
lt = tf.contrib.labeled_tensor

table = lt.constant([[1.0, 2.0, 3.0]], axes=["row", "column"])
vector = lt.constant([1.0], axes=["row"])
print(lt.transpose(table).axes, lt.expand_dims(table, ["row", "new", "column"]).axes)
print(lt.align(table, vector)[2])
with lt.axis_order_scope(["column", "row"]):
    lt.check_axis_order(lt.impose_axis_order(table))
    try:
        lt.check_axis_order(table)
    except lt.AxisOrderError as error:
        print(error)

# %% tf.contrib.labeled_tensor.concat, tf.contrib.labeled_tensor.pack, tf.contrib.labeled_tensor.unpack,
# %% tf.contrib.labeled_tensor.reshape, tf.contrib.labeled_tensor.rename_axis,
# %% tf.contrib.labeled_tensor.squeeze, tf.contrib.labeled_tensor.tile, tf.contrib.labeled_tensor.pad,
# %% tf.contrib.labeled_tensor.ReshapeCoder
lt = tf.contrib.labeled_tensor

table = lt.constant([[1.0, 2.0, 3.0]], axes=["row", "column"])
print(lt.concat([table, table], "row").axes, lt.pack([table, table], "copy").axes)
print(len(lt.unpack(table, "column")), lt.reshape(table, ["row", "column"], ["cell"]).axes)
print(lt.rename_axis(table, "row", "line").axes, lt.squeeze(table, ["row"]).axes)
print(lt.tile(table, {"row": 2}).axes, lt.pad(table, {"column": (1, 1)}).axes)
coder = lt.ReshapeCoder(["row", "column"], ["cell"])
print(coder.decode(coder.encode(table) * 2.0).axes)

# %% tf.contrib.labeled_tensor.reduce_logsumexp, tf.contrib.labeled_tensor.reduce_max,
# %% tf.contrib.labeled_tensor.reduce_mean, tf.contrib.labeled_tensor.reduce_min,
# %% tf.contrib.labeled_tensor.reduce_prod, tf.contrib.labeled_tensor.reduce_sum,
# %% tf.contrib.labeled_tensor.reduce_all, tf.contrib.labeled_tensor.reduce_any
lt = tf.contrib.labeled_tensor

table = lt.constant([[1.0, 2.0], [3.0, 4.0]], axes=["row", "column"])
functions = (
    lt.reduce_logsumexp,
    lt.reduce_max,
    lt.reduce_mean,
    lt.reduce_min,
    lt.reduce_prod,
    lt.reduce_sum,
)
with tf.Session() as sess:
    print(sess.run([function(table, "row") for function in functions]))
    print(sess.run([lt.reduce_all(table > 1.0), lt.reduce_any(table > 3.0, "row")]))

# %% tf.contrib.labeled_tensor.matmul, tf.contrib.labeled_tensor.map_fn, tf.contrib.labeled_tensor.foldl
lt = tf.contrib.labeled_tensor

weights = lt.constant([[1.0, 2.0], [3.0, 4.0]], axes=["unit", "feature"])
inputs = lt.constant([1.0, -1.0], axes=["feature"])
sums = lt.map_fn(lambda row: lt.reduce_sum(row), weights)
total = lt.foldl(lambda sum_so_far, row: sum_so_far + row, weights, lt.constant([0.0, 0.0], axes=["feature"]))
with tf.Session() as sess:
    print(sess.run([lt.matmul(weights, inputs), sums, total]))

# %% tf.contrib.labeled_tensor.batch, tf.contrib.labeled_tensor.shuffle_batch
lt = tf.contrib.labeled_tensor

one = lt.constant([1.0, 2.0], axes=["x"])
(batch,), (shuffled,) = lt.batch([one], 3), lt.shuffle_batch([one], 3, min_after_dequeue=1)
with tf.Session() as sess:
    coordinator = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess, coordinator)
    print(batch.axes, sess.run([batch, shuffled]))
    coordinator.request_stop()
    coordinator.join(threads)

# %% tf.contrib.labeled_tensor.FixedLenFeature, tf.contrib.labeled_tensor.parse_example,
# %% tf.contrib.labeled_tensor.parse_single_example
lt = tf.contrib.labeled_tensor

message = tf.train.Example()
message.features.feature["size"].float_list.value.extend([1.0, 2.0])
features = {"size": lt.FixedLenFeature([("axis", ["x", "y"])], tf.float32)}
one = lt.parse_single_example(message.SerializeToString(), features)
many = lt.parse_example(lt.constant([message.SerializeToString()], axes=["batch"]), features)
print(one["size"].axes, many["size"].axes)

# %% tf.contrib.labeled_tensor.nn.relu, tf.contrib.labeled_tensor.nn.relu6,
# %% tf.contrib.labeled_tensor.nn.elu, tf.contrib.labeled_tensor.nn.softplus,
# %% tf.contrib.labeled_tensor.nn.softmax, tf.contrib.labeled_tensor.nn.log_softmax,
# %% tf.contrib.labeled_tensor.nn.sigmoid_cross_entropy_with_logits,
# %% tf.contrib.labeled_tensor.nn.l2_loss, tf.contrib.labeled_tensor.nn.crelu,
# %% tf.contrib.labeled_tensor.nn.softmax_cross_entropy_with_logits,
# %% tf.contrib.labeled_tensor.nn.sparse_softmax_cross_entropy_with_logits
lt = tf.contrib.labeled_tensor

logits = lt.constant([-1.0, 2.0], axes=["class"])
functions = (
    lt.nn.relu,
    lt.nn.relu6,
    lt.nn.elu,
    lt.nn.softplus,
    lt.nn.softmax,
    lt.nn.log_softmax,
)
labels = lt.constant([0.0, 1.0], axes=["class"])
losses = lt.nn.sigmoid_cross_entropy_with_logits(logits, labels)
with tf.Session() as sess:
    print(sess.run([function(logits) for function in functions]))
    print(sess.run([losses, lt.nn.l2_loss(3.0)]))
# What changes the axes refuses labeled tensors that have any.
for refused in (lt.nn.crelu, lambda x: lt.nn.softmax_cross_entropy_with_logits(x, labels)):
    try:
        refused(logits)
    except ValueError as error:
        print(error)
try:
    lt.nn.sparse_softmax_cross_entropy_with_logits(logits, 1)
except ValueError as error:
    print(error)
