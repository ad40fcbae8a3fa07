"""The nodes, names and shapes of traced functions, as programs that look into them find them."""

import functools

from kit import cases, raises

EAGER = True


def _nodes(concrete):
    """The operations of a function: names, types and inputs, and what each waits for, in any order."""
    return [
        (op.name, op.type, [tensor.name for tensor in op.inputs], sorted(c.name for c in op.control_inputs))
        for op in concrete.graph.get_operations()
    ]


def _bodies(tf, np):
    v = tf.Variable([1.0, 2.0], name="v")
    table = tf.Variable([[1.0, 2.0]], name="table")
    large, small = tf.ones([300]), tf.constant([3.0, 4.0])
    inner = tf.function(lambda x: x + v)

    def assigned_and_read(x):
        v.assign_add(x)
        return v.read_value()

    def in_a_scope(x):
        with tf.name_scope("scope"):
            return tf.nn.relu(x + v)

    def printed(x):
        tf.print("x", x)
        tf.print("again")
        return x

    return {
        "a_variable": lambda x: x + v,
        "an_assignment": lambda x: v.assign(x),
        "assigned_and_read": assigned_and_read,
        "the_variable_itself": lambda x: v,
        "a_large_tensor": lambda x: tf.reduce_sum(large) + x,
        "a_small_tensor": lambda x: small * x,
        "products": lambda x: tf.matmul(table, tf.expand_dims(x, 1)) + v,
        "a_scope": in_a_scope,
        "prints": printed,
        "rows": lambda x: tf.gather(table, [0]),
        "calls": lambda x: inner(inner(x)),
        "joined": lambda x: tf.concat([v, x, small], 0),
        "two_reads": lambda x: (v + 1) * (v + 2),
        "slices": lambda x: v[0] + large[3],
    }


@cases(
    *"a_variable an_assignment assigned_and_read the_variable_itself a_large_tensor a_small_tensor products "
    "a_scope prints rows calls joined two_reads slices".split()
)
def nodes_of_functions(tf, np, name):
    held = _bodies(tf, np)
    concrete = tf.function(held[name]).get_concrete_function(tf.TensorSpec([2], tf.float32))
    message = concrete.function_def
    return (
        _nodes(concrete),
        [(arg.name, arg.type) for arg in message.signature.input_arg],
        [(node.name, node.op) for node in message.node_def],
    )


def names_of_structured_arguments(tf, np):
    spec = tf.TensorSpec([2], tf.float32)
    named = tf.TensorSpec([2], tf.float32, name="given")

    def signature(*args):
        return str(tf.function(lambda d, y=3: d).get_concrete_function(*args).structured_input_signature)

    return (
        signature({"a": spec, "b": [spec]}),
        signature([named, tf.TensorSpec([2], tf.float32, name="other")]),
        signature(spec, tf.float32),
        raises(signature, [spec, named]),
    )


def variables_as_arguments_are_inputs(tf, np):
    v, w = tf.Variable(1.0), tf.Variable(2.0)
    changed = tf.contrib.eager.defun(lambda v: v.assign_add(1.0).read_value()).get_concrete_function(v)
    unused = tf.contrib.eager.defun(lambda v: tf.constant(1.0)).get_concrete_function(v)
    return (
        len(changed.inputs),
        len(changed.captured_inputs),
        [changed(v).numpy(), changed(w).numpy(), v.numpy(), w.numpy()],
        len(unused.inputs),
        unused(w).numpy(),
    )


def calls_infer_shapes(tf, np):
    unknown = tf.TensorSpec(None, tf.float32)
    rows = tf.function(lambda a: tf.reshape(a, [-1, 3]), input_signature=[unknown])

    @tf.function
    def split(w, x, y):
        count = tf.shape(tf.transpose(x, [1, 0, 2]))[0]
        return tf.reshape(y * w, [tf.shape(y)[0] // count, count, -1])

    concrete = split.get_concrete_function(unknown, unknown, unknown)
    found = []

    @tf.function
    def calls():
        found.append(rows(tf.zeros([10, 10, 3])).shape.as_list())
        found.append(concrete(tf.ones([2]), tf.ones([5, 4, 2]), tf.ones([20, 2])).shape.as_list())
        return concrete(tf.ones([3]), tf.ones([5, 4, 3]), tf.ones([40, 3]))

    return calls(), found


def arguments_keep_their_structure(tf, np):
    def moves(n):
        n[0].append(n[1].pop(0))

    return raises(tf.function(moves), [[tf.constant(0.0)], [tf.constant(1.0), tf.constant(2.0)]])


def layers_are_variables_of_the_first_call(tf, np):
    traces = []
    layer = tf.keras.layers.Dense(1, kernel_initializer="ones")

    @tf.function
    def built_inside(x):
        traces.append(1)
        return layer(x)

    @tf.function
    def new_each_time(x):
        return tf.keras.layers.Dense(1)(x)

    def in_init_scope(x):
        with tf.init_scope():
            return tf.Variable(1.0) + x

    x = tf.ones([1, 2])
    return (
        built_inside(x),
        len(traces),
        raises(new_each_time, x),
        raises(tf.function(in_init_scope), tf.constant(1.0)),
    )


def variables_of_functions_in_graphs(tf, np):
    made = []
    with tf.Graph().as_default():

        @tf.function
        def f(x):
            if not made:
                made.append(tf.Variable(2.0))
            return made[0] * x

        f(tf.constant(1.0))
        return len(tf.trainable_variables()), made[0].trainable


def given_by_partials(tf, np):
    def added(x, y):
        return x + y

    both = tf.function(functools.partial(added, x=tf.zeros([1]), y=tf.ones([1])))
    one = tf.function(functools.partial(added, y=tf.ones([1])))
    concrete = one.get_concrete_function(tf.TensorSpec([1], tf.float32))
    return both(), one(tf.constant([3.0])), [tensor.name for tensor in concrete.inputs]


def recomputed_gradients(tf, np):
    v, x = tf.Variable(2.0), tf.constant(3.0)
    scaled = tf.recompute_grad(lambda x: x * x * v)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = scaled(x)
        twice = tf.function(scaled)(x)
    return y, tape.gradient(y, [x, v]), tape.gradient(twice, [x, v])


def gradients_of_another_number(tf, np):
    @tf.custom_gradient
    def product(x, y):
        return x * y, lambda dy: dy

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = product(x, x)
    return raises(tape.gradient, y, x)


def how_ragged_tensors_are_shown(tf, np):
    return repr(tf.ragged.constant([[1, 2], [3]])), str(tf.ragged.constant([["a"], []]))
