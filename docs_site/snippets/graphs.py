"""Examples of graphs, sessions, scopes, control flow, collections and checks."""

import numpy as np

import tideflow as tf

# %% tf.Graph
graph = tf.Graph()
with graph.as_default():
    x = tf.constant(3.0, name="x")
    y = tf.square(x, name="y")
print([op.name for op in graph.get_operations()])
with tf.Session(graph=graph) as sess:
    print(sess.run("y:0"))

# %% tf.get_default_graph
with tf.Graph().as_default() as graph:
    print(tf.get_default_graph() is graph)

# %% tf.reset_default_graph
tf.constant(1.0)
tf.reset_default_graph()
print(tf.get_default_graph().get_operations())

# %% tf.Session
a, b = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
total = a + b
with tf.Session() as sess:
    print(sess.run(total, feed_dict={a: 1.0, b: [2.0, 3.0]}))
    print(sess.run({"sum": total, "parts": (a, b)}, {a: 1.0, b: 2.0}))

# %% tf.InteractiveSession
sess = tf.InteractiveSession()
x = tf.constant([1.0, 2.0])
print((2 * x).eval())
sess.close()

# %% tf.get_default_session
with tf.Session() as sess:
    print(tf.get_default_session() is sess)
print(tf.get_default_session())

# %% tf.Operation
op = tf.add(1.0, 2.0, name="sum").op
print(op.name, op.type, [tensor.name for tensor in op.inputs])

# %% tf.Tensor
x = tf.placeholder(tf.float32, [None, 3], name="x")
print(x.name, x.dtype, x.shape, x.op.type)
print((x + 1.0)[0])

# %% tf.TensorShape
shape = tf.TensorShape([None, 28, 28])
print(shape, shape.ndims, shape.as_list(), shape.is_fully_defined())
print(shape.merge_with([32, 28, 28]))

# %% tf.Dimension
size = tf.Dimension(None)
print(size, tf.Dimension(3) * 2, size.is_compatible_with(7))

# %% tf.dimension_value
print(tf.dimension_value(tf.Dimension(3)), tf.dimension_value(3), tf.dimension_value(None))

# %% tf.dimension_at_index
tf.dimension_at_index(tf.TensorShape([2, 5]), 1)

# %% tf.DType, tf.as_dtype
dtype = tf.as_dtype("float32")
print(dtype, dtype.size, dtype.is_floating, dtype.as_numpy_dtype, dtype is tf.float32)

# %% tf.TensorSpec, tf.TypeSpec
spec = tf.TensorSpec([None, 3], tf.float32, name="x")
print(spec, spec.is_compatible_with(tf.zeros([5, 3])))

# %% tf.SparseTensorSpec
tf.SparseTensorSpec([3, 4], tf.float32)

# %% tf.TensorArraySpec
tf.TensorArraySpec([2], tf.float32)

# %% tf.RaggedTensorSpec
tf.RaggedTensorSpec([2, None], tf.int32)

# %% tf.IndexedSlicesSpec
tf.IndexedSlicesSpec([10, 3], tf.float32)

# %% tf.OptionalSpec
tf.OptionalSpec(tf.TensorSpec([], tf.float32))

# %% tf.IndexedSlices
rows = tf.IndexedSlices(values=tf.ones([2, 3]), indices=tf.constant([0, 4]), dense_shape=tf.constant([5, 3]))
tf.convert_to_tensor(rows)

# %% tf.SparseTensor
sparse = tf.SparseTensor(indices=[[0, 1], [1, 2]], values=[5.0, 7.0], dense_shape=[2, 3])
tf.sparse.to_dense(sparse)

# %% tf.SparseTensorValue
x = tf.sparse_placeholder(tf.float32)
value = tf.SparseTensorValue(indices=[[0, 0]], values=[2.0], dense_shape=[2, 2])
with tf.Session() as sess:
    print(sess.run(tf.sparse.to_dense(x), {x: value}))

# %% tf.sparse_placeholder
x = tf.sparse_placeholder(tf.float32, shape=[2, 2])
with tf.Session() as sess:
    print(sess.run(tf.sparse.reduce_sum(x), {x: ([[0, 0], [1, 1]], [2.0, 3.0], [2, 2])}))

# %% tf.placeholder
x = tf.placeholder(tf.float32, shape=[None], name="x")
with tf.Session() as sess:
    print(sess.run(tf.reduce_sum(x), {x: [1.0, 2.0, 3.0]}))
    print(sess.run(tf.reduce_sum(x), {x: []}))

# %% tf.constant
print(tf.constant([[1, 2], [3, 4]]))
tf.constant(7.0, shape=[2, 3])

# %% tf.convert_to_tensor
tf.convert_to_tensor(np.arange(6.0).reshape(2, 3), dtype=tf.float32)

# %% tf.convert_to_tensor_or_indexed_slices
tf.convert_to_tensor_or_indexed_slices([1.0, 2.0])

# %% tf.convert_to_tensor_or_sparse_tensor
sparse = tf.SparseTensor([[0]], [1.0], [3])
print(tf.convert_to_tensor_or_sparse_tensor(sparse) is sparse)
tf.convert_to_tensor_or_sparse_tensor([1.0, 2.0])


# %% tf.register_tensor_conversion_function
class Meters:
    def __init__(self, length):
        self.length = length


def to_tensor(value, dtype=None, name=None, as_ref=False):
    return tf.constant(value.length, dtype, name=name)


tf.register_tensor_conversion_function(Meters, to_tensor)
tf.add(Meters(2.0), 1.0)

# %% tf.is_tensor
print(tf.is_tensor(tf.constant(1)), tf.is_tensor(1))

# %% tf.get_static_value
shape = tf.stack([tf.constant(2), 3 * tf.constant(4)])
print(tf.get_static_value(shape), tf.get_static_value(tf.placeholder(tf.int32)))

# %% tf.make_tensor_proto, tf.make_ndarray
proto = tf.make_tensor_proto([[1.0, 2.0]])
print(proto.tensor_shape.dim[1].size)
print(tf.make_ndarray(proto))

# %% tf.import_graph_def
with tf.Graph().as_default() as other:
    tf.square(tf.placeholder(tf.float32, name="x"), name="y")
x = tf.constant(4.0)
(y,) = tf.import_graph_def(other.as_graph_def(), input_map={"x:0": x}, return_elements=["y:0"])
print(y.name)
with tf.Session() as sess:
    print(sess.run(y))

# %% tf.name_scope
with tf.name_scope("layer"):
    print(tf.constant(1.0, name="bias").name)
    with tf.name_scope("inner"):
        print(tf.constant(1.0, name="bias").name)

# %% tf.op_scope
with tf.op_scope([tf.constant(1.0)], "twice"):
    print(tf.constant(2.0).name)

# %% tf.device
with tf.device("/cpu:0"):
    x = tf.constant(1.0)
print(x.device)

# %% tf.DeviceSpec
spec = tf.DeviceSpec(job="worker", task=1, device_type="GPU", device_index=0)
print(spec.to_string())
print(tf.DeviceSpec.from_string("/job:ps").job)

# %% tf.colocate_with
v = tf.get_variable("v", initializer=1.0)
with tf.colocate_with(v.op):
    y = tf.constant(2.0)
print(y.op.colocation_groups())

# %% tf.container
with tf.container("experiment"):
    queue = tf.FIFOQueue(10, tf.float32)
print(queue.queue_ref.op.get_attr("container"))

# %% tf.control_dependencies
counter = tf.get_variable("counter", initializer=0)
with tf.control_dependencies([tf.assign_add(counter, 1)]):
    after = counter.read_value()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(after), sess.run(after))

# %% tf.init_scope
with tf.control_dependencies([tf.no_op()]), tf.init_scope():
    x = tf.constant(1.0)  # outside of the control dependencies
print(x.op.control_inputs)

# %% tf.group
v, w = tf.get_variable("v", initializer=1.0), tf.get_variable("w", initializer=2.0)
both = tf.group(v.assign(10.0), w.assign(20.0))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(both)
    print(sess.run([v, w]))

# %% tf.tuple
a, b = tf.tuple([tf.constant(1.0), tf.constant(2.0)])  # neither is there before both are
a + b

# %% tf.with_dependencies
check = tf.assert_positive(tf.constant([1.0, 2.0]))
tf.with_dependencies([check], tf.constant("checked"))

# %% tf.no_op
with tf.Session() as sess:
    print(sess.run(tf.no_op()))

# %% tf.grad_pass_through
x = tf.constant([1.4, 2.6])
y = tf.grad_pass_through(tf.round)(x)
print(tf.gradients(y, x) is not None)
y

# %% tf.cond
x = tf.placeholder(tf.float32)
y = tf.cond(x > 0, lambda: tf.sqrt(x), lambda: tf.zeros_like(x))
with tf.Session() as sess:
    print(sess.run(y, {x: 9.0}), sess.run(y, {x: -9.0}))

# %% tf.case
x = tf.placeholder(tf.int32)
word = tf.case([(x < 0, lambda: tf.constant("below")), (x > 0, lambda: tf.constant("above"))],
               default=lambda: tf.constant("zero"))  # fmt: skip
with tf.Session() as sess:
    print([sess.run(word, {x: n}) for n in (-3, 0, 3)])

# %% tf.switch_case
x = tf.placeholder(tf.int32)
y = tf.switch_case(x, [lambda: tf.constant(10), lambda: tf.constant(20)], default=lambda: tf.constant(-1))
with tf.Session() as sess:
    print([sess.run(y, {x: n}) for n in (0, 1, 7)])

# %% tf.while_loop
_, factorial = tf.while_loop(lambda i, product: i <= 5, lambda i, product: (i + 1, product * i), [1, 1])
factorial

# %% tf.map_fn
tf.map_fn(lambda row: tf.reduce_max(row), tf.constant([[1.0, 5.0], [7.0, 2.0]]))

# %% tf.vectorized_map
tf.vectorized_map(lambda row: row * row, tf.constant([[1.0, 2.0], [3.0, 4.0]]))

# %% tf.foldl, tf.foldr
digits = tf.constant([1, 2, 3])
(
    tf.foldl(lambda number, digit: 10 * number + digit, digits),
    tf.foldr(lambda number, digit: 10 * number + digit, digits),
)

# %% tf.scan
tf.scan(lambda total, x: total + x, tf.constant([1, 2, 3, 4]))

# %% tf.TensorArray
array = tf.TensorArray(tf.float32, size=3)
for i in range(3):
    array = array.write(i, tf.fill([2], float(i)))
array.stack()


# %% tf.py_func, tf.numpy_function
def log_of_sum(x):
    return np.log(np.sum(x)).astype(np.float32)


tf.py_func(log_of_sum, [tf.constant([1.0, 2.0])], tf.float32)

# %% tf.print
x = tf.constant([1.0, 2.0])
shown = tf.print("x is", x, output_stream="file:///dev/null")
with tf.control_dependencies([shown]):
    y = 2 * x
y

# %% tf.gradients
x = tf.constant(3.0)
y = x**2 + 2 * x
tf.gradients(y, [x])

# %% tf.hessians
x = tf.constant([1.0, 2.0])
tf.hessians(tf.reduce_sum(x**3), [x])

# %% tf.AggregationMethod
x = tf.constant(2.0)
tf.gradients(x * x + x, [x], aggregation_method=tf.AggregationMethod.ADD_N)

# %% tf.UnconnectedGradients
x, y = tf.constant(1.0), tf.constant(2.0)
print(tf.gradients(y, [x]))
tf.gradients(y, [x], unconnected_gradients=tf.UnconnectedGradients.ZERO)


# %% tf.custom_gradient
@tf.custom_gradient
def softplus(x):
    e = tf.exp(x)
    return tf.log(1 + e), lambda upstream: upstream * (1 - 1 / (1 + e))


x = tf.constant(100.0)
tf.gradients(softplus(x), [x])  # log(1 + e) by itself would give NaN

# %% tf.recompute_grad
dense = tf.recompute_grad(lambda x: tf.tanh(tf.tanh(x)))  # the inner value is computed again, not kept
x = tf.constant(0.5)
tf.gradients(dense(x), [x])


# %% tf.RegisterGradient
@tf.RegisterGradient("ClippedToOne")
def clipped(op, grad):
    return tf.clip_by_value(grad, -1.0, 1.0)


x = tf.constant(2.0)
with tf.get_default_graph().gradient_override_map({"Identity": "ClippedToOne"}):
    y = 50.0 * tf.identity(x)
tf.gradients(y, [x])

# %% tf.NotDifferentiable
tf.NotDifferentiable("MyOpWithoutGradient")
print("tf.gradients stops at operations of that type")

# %% tf.add_to_collection, tf.get_collection
tf.add_to_collection("watched", tf.constant(1.0, name="a"))
tf.add_to_collection("watched", tf.constant(2.0, name="b"))
print(tf.get_collection("watched"))

# %% tf.add_to_collections
tf.add_to_collections(["watched", "logged"], 7)
print(tf.get_collection("logged"))

# %% tf.get_collection_ref
tf.get_collection_ref("watched").append("a list that can be changed")
print(tf.get_collection("watched"))

# %% tf.GraphKeys
v = tf.get_variable("v", initializer=1.0)
print(tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES) == [v])

# %% tf.set_random_seed
tf.set_random_seed(1)
x = tf.random_uniform([2])
with tf.Session() as first, tf.Session() as second:
    print(first.run(x), second.run(x))

# %% tf.get_seed
tf.set_random_seed(1)
print(tf.get_seed(7), tf.get_seed(None))

# %% tf.get_session_handle, tf.get_session_tensor, tf.delete_session_tensor
with tf.Session() as sess:
    handle = sess.run(tf.get_session_handle(tf.constant(3.0) * 2.0))  # the value stays in the session
    holder, value = tf.get_session_tensor(handle.handle, tf.float32)
    print(sess.run(value + 1.0, {holder: handle.handle}))
    place, deleter = tf.delete_session_tensor(handle.handle)
    sess.run(deleter, {place: handle.handle})

# %% tf.load_library, tf.load_op_library
try:
    tf.load_op_library("./kernels.so")
except tf.errors.NotFoundError as error:
    print(error.message)

# %% tf.CriticalSection
section = tf.CriticalSection(name="account")
v = tf.get_variable("v", initializer=1.0, use_resource=True)
double = section.execute(lambda: v.assign(2 * v.read_value()))  # no two of these overlap
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(double))

# %% tf.disable_control_flow_v2, tf.enable_control_flow_v2, tf.control_flow_v2_enabled
tf.disable_control_flow_v2()
print(tf.control_flow_v2_enabled())

# %% tf.disable_tensor_equality
tf.disable_tensor_equality()  # tensors are compared by identity
print(tf.constant(1.0) == tf.constant(1.0))

# %% tf.disable_v2_behavior
tf.disable_v2_behavior()
print(tf.executing_eagerly(), tf.resource_variables_enabled())

# %% tf.disable_v2_tensorshape
tf.disable_v2_tensorshape()
print(type(tf.TensorShape([2, None])[0]).__name__)

# %% tf.enable_v2_tensorshape
tf.enable_v2_tensorshape()
print(tf.TensorShape([2, None])[0], tf.TensorShape([2, None])[1])
tf.disable_v2_tensorshape()

# %% tf.compat.v2
print(tf.compat.v2.reduce_sum is tf.reduce_sum, tf.compat.v2.Variable is tf.Variable)

# %% tf.experimental.function_executor_type
with tf.experimental.function_executor_type("SINGLE_THREADED_EXECUTOR"):
    print(tf.Session().run(tf.function(lambda x: x + 1)(tf.constant(2))))

# %% tf.experimental.output_all_intermediates
print(tf.experimental.output_all_intermediates(True))

# %% tf.get_logger
print(tf.get_logger().name)

# %% tf.add_check_numerics_ops
x = tf.placeholder(tf.float32)
y = tf.log(x)
check = tf.add_check_numerics_ops()
with tf.Session() as sess:
    try:
        sess.run([y, check], {x: 0.0})
    except tf.errors.InvalidArgumentError as error:
        print(error.message.splitlines()[0])

# %% tf.verify_tensor_all_finite
tf.verify_tensor_all_finite(tf.constant([1.0, 2.0]), "x has a NaN or an infinity")

# %% tf.Assert
x = tf.constant([1.0, -2.0])
check = tf.Assert(tf.reduce_all(x > 0), ["x must be positive:", x])
with tf.Session() as sess:
    try:
        sess.run(check)
    except tf.errors.InvalidArgumentError as error:
        print(error.message.splitlines()[0])

# %% tf.assert_equal
x = tf.placeholder(tf.int32)
with tf.control_dependencies([tf.assert_equal(x, 3, message="only threes, please")]):
    y = tf.identity(x)
with tf.Session() as sess:
    print(sess.run(y, {x: 3}))
    try:
        sess.run(y, {x: 4})
    except tf.errors.InvalidArgumentError as error:
        print(error.message.splitlines()[0])

# %% tf.assert_greater, tf.assert_greater_equal, tf.assert_less, tf.assert_less_equal, tf.assert_near,
# %% tf.assert_none_equal
low, high = tf.constant([1.0, 2.0]), tf.constant([2.0, 3.0])
checks = [
    tf.assert_greater(high, low),
    tf.assert_greater_equal(high, low),
    tf.assert_less(low, high),
    tf.assert_less_equal(low, low),
    tf.assert_near(low, low + 1e-7),
    tf.assert_none_equal(low, high),
]
with tf.control_dependencies(checks):
    answer = tf.constant("all hold")
answer

# %% tf.assert_negative, tf.assert_non_negative, tf.assert_non_positive, tf.assert_positive
x = tf.constant([1.0, 2.0])
checks = [
    tf.assert_positive(x),
    tf.assert_non_negative(x),
    tf.assert_negative(-x),
    tf.assert_non_positive(-x),
]
with tf.control_dependencies(checks):
    answer = tf.constant("all hold")
answer

# %% tf.assert_integer, tf.assert_type
print(tf.assert_integer(tf.constant([1, 2])) is not None)
try:
    tf.assert_type(tf.constant(1.0), tf.int32)
except TypeError as error:
    print(error)

# %% tf.assert_proper_iterable
tf.assert_proper_iterable([tf.constant(1), tf.constant(2)])
try:
    tf.assert_proper_iterable(tf.constant([1, 2]))
except TypeError as error:
    print(error)

# %% tf.assert_rank, tf.assert_rank_at_least, tf.assert_rank_in
x = tf.placeholder(tf.float32, [None, 3])
for check in (tf.assert_rank(x, 2), tf.assert_rank_at_least(x, 1), tf.assert_rank_in(x, [2, 4])):
    print(check.type)
try:
    tf.assert_rank(x, 3)
except ValueError as error:
    print(error)

# %% tf.assert_same_float_dtype
print(tf.assert_same_float_dtype([tf.constant(1.0), tf.constant([2.0])]))

# %% tf.assert_scalar
try:
    tf.assert_scalar(tf.constant([1.0]))
except ValueError as error:
    print(error)

# %% tf.debugging.assert_shapes
x, y = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [4])
tf.debugging.assert_shapes({x: ("N", 3), y: (4,)})
try:
    tf.debugging.assert_shapes({x: ("N", 2)})
except ValueError as error:
    print(str(error).splitlines()[0])

# %% tf.debugging.get_log_device_placement, tf.debugging.set_log_device_placement
tf.debugging.set_log_device_placement(False)
print(tf.debugging.get_log_device_placement())

# %% tf.is_non_decreasing, tf.is_strictly_increasing
x = tf.constant([1, 2, 2, 3])
tf.is_non_decreasing(x), tf.is_strictly_increasing(x)

# %% tf.is_numeric_tensor
print(tf.is_numeric_tensor(tf.constant(1)), tf.is_numeric_tensor(tf.constant("one")))

# %% tf.graph_util.convert_variables_to_constants
w = tf.get_variable("w", initializer=[2.0, 3.0])
y = tf.multiply(w, 10.0, name="y")
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    frozen = tf.graph_util.convert_variables_to_constants(sess, sess.graph_def, ["y"])
print([node.op for node in frozen.node])

# %% tf.graph_util.extract_sub_graph
a = tf.constant(1.0, name="a")
tf.negative(a, name="b")
tf.constant(2.0, name="unused")
print(
    [node.name for node in tf.graph_util.extract_sub_graph(tf.get_default_graph().as_graph_def(), ["b"]).node]
)

# %% tf.graph_util.remove_training_nodes
y = tf.negative(tf.identity(tf.placeholder(tf.float32, name="x")), name="y")
pruned = tf.graph_util.remove_training_nodes(tf.get_default_graph().as_graph_def())
print([node.name for node in pruned.node])

# %% tf.graph_util.must_run_on_cpu
print(
    tf.graph_util.must_run_on_cpu(tf.constant("text").op), tf.graph_util.must_run_on_cpu(tf.constant(1.0).op)
)

# %% tf.graph_util.tensor_shape_from_node_def_name
tf.constant([[1, 2, 3]], name="x")
print(tf.graph_util.tensor_shape_from_node_def_name(tf.get_default_graph(), "x"))

# %% tf.nest.flatten, tf.nest.pack_sequence_as, tf.nest.map_structure
structure = {"a": [1, 2], "b": (3, {"c": 4})}
print(tf.nest.flatten(structure))
print(tf.nest.pack_sequence_as(structure, [10, 20, 30, 40]))
print(tf.nest.map_structure(lambda x: x * x, structure))

# %% tf.nest.assert_same_structure
try:
    tf.nest.assert_same_structure([1, (2, 3)], [1, 2])
except ValueError as error:
    print(str(error).splitlines()[0])

# %% tf.nest.is_nested
print(tf.nest.is_nested([1]), tf.nest.is_nested({"a": 1}), tf.nest.is_nested("text"))

# %% tf.user_ops.my_fact
tf.user_ops.my_fact()

# %% tf.enable_tensor_equality, tf.enable_v2_behavior
tf.enable_v2_behavior()
print(tf.TensorShape([2, None])[0], tf.resource_variables_enabled())
tf.disable_v2_behavior()
