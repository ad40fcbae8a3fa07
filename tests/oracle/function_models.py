"""Graphs with a function library, to be written by one engine and run by another: see models.py.

What only TensorFlow writes (`tf.function`, the functional form of conditionals and loops) is marked so.
"""

import contextlib


def _only_tensorflow(build):
    """Marks a model that only TensorFlow can write."""
    build.only_tensorflow = True
    return build


def _defun(tf, *types, **options):
    if tf.__name__ == "tideflow":
        from tideflow.functions.defun import Defun
    else:
        from tensorflow.python.framework.function import Defun
    return Defun(*types, **options)


@contextlib.contextmanager
def _functional():
    """TensorFlow's conditionals and loops become If, Case and While on functions of the library."""
    from tensorflow.python.ops import control_flow_util

    control_flow_util.ENABLE_CONTROL_FLOW_V2 = True
    try:
        yield
    finally:
        control_flow_util.ENABLE_CONTROL_FLOW_V2 = False


def _named(tf, tensors, prefix):
    """The tensors under names of their own; the names to fetch."""
    tensors = list(tensors) if isinstance(tensors, (list, tuple)) else [tensors]
    for i, tensor in enumerate(tensors):
        tf.identity(tensor, name="%s%d" % (prefix, i))
    return ["%s%d:0" % (prefix, i) for i in range(len(tensors))]


# ------------------------------------------------------------------------------------------------ Defun


def function_of_two(tf, np):
    """Two arguments, two results, called twice, differentiated."""

    @_defun(tf, tf.float32, tf.float32)
    def both(x, y):
        return tf.sin(x) * y, x + y

    x = tf.placeholder(tf.float32, [2], "x")
    a, b = both(x, x * 2.0)
    c, d = both(a, b)
    slopes = tf.gradients([c, d], x)
    return [(_named(tf, [a, b, c, d] + slopes, "y"), {"x:0": np.array([1.0, 2.0], np.float32)})]


def nested_functions(tf, np):
    """A function that calls another, which calls a third; the first also calls the third."""

    @_defun(tf, tf.float32)
    def third(x):
        return x * x + 1.0

    @_defun(tf, tf.float32)
    def second(x):
        return third(x) * third(x + 1.0)

    @_defun(tf, tf.float32)
    def first(x):
        return second(x) - third(x)

    x = tf.placeholder(tf.float32, [], "x")
    y = first(x)
    slope = tf.gradients(y, x)[0]
    return [(_named(tf, [y, slope], "y"), {"x:0": np.float32(0.5)})]


def function_with_a_loop(tf, np):
    """A while loop of Enter and Exit inside a function."""

    @_defun(tf, tf.float32, tf.int32)
    def power(x, n):
        return tf.while_loop(lambda i, p: i < n, lambda i, p: (i + 1, p * x), [0, tf.ones_like(x)])[1]

    x, n = tf.placeholder(tf.float32, [2], "x"), tf.placeholder(tf.int32, [], "n")
    fetches = _named(tf, power(x, n), "y")
    value = np.array([2.0, 0.5], np.float32)
    return [(fetches, {"x:0": value, "n:0": np.int32(k)}) for k in (0, 1, 5)]


def function_with_a_conditional(tf, np):
    """A conditional inside a function, inside a loop of the main graph."""

    @_defun(tf, tf.float32)
    def collatz(x):
        even = tf.equal(tf.floormod(x, 2.0), 0.0)
        return tf.cond(even, lambda: x / 2.0, lambda: 3.0 * x + 1.0)

    x = tf.placeholder(tf.float32, [], "x")
    y = tf.while_loop(lambda y, n: y > 1.0, lambda y, n: (tf.reshape(collatz(y), []), n + 1), [x, 0])
    fetches = _named(tf, y, "y")
    return [(fetches, {"x:0": np.float32(v)}) for v in (1.0, 6.0)]


def function_of_any_type(tf, np):
    """One function without declared types, called with one."""

    @_defun(tf)
    def square(x):
        return x * x

    a = square(tf.placeholder(tf.float64, [2], "a"))
    return [(_named(tf, a, "y"), {"a:0": np.array([1.5, 2.5])})]


def function_with_captures(tf, np):
    """What a function takes from outside is passed by its calls."""
    x, w = tf.placeholder(tf.float32, [2], "x"), tf.placeholder(tf.float32, [2], "w")

    @_defun(tf, tf.float32)
    def scaled(a):
        return a * w + tf.reduce_sum(w)

    y = scaled(x)
    slopes = tf.gradients(y, [x, w])
    feeds = {"x:0": np.array([1.0, 2.0], np.float32), "w:0": np.array([3.0, -1.0], np.float32)}
    return [(_named(tf, [y] + slopes, "y"), feeds)]


def function_with_a_gradient(tf, np):
    """A function whose gradient is another function."""

    @_defun(tf, tf.float32, tf.float32)
    def straight(x, grad):
        return grad * 10.0 + x

    @_defun(tf, tf.float32, grad_func=straight)
    def clipped(x):
        return tf.minimum(x, 1.0)

    x = tf.placeholder(tf.float32, [2], "x")
    y = clipped(x)
    slope = tf.gradients(y, x)[0]
    return [(_named(tf, [y, slope], "y"), {"x:0": np.array([0.5, 2.0], np.float32)})]


def function_with_state(tf, np):
    """A function that changes a variable which it is given, and one that draws numbers."""
    v = tf.get_variable("v", initializer=2.0, use_resource=True)

    @_defun(tf, tf.float32)
    def noise(x):
        return x + tf.random_uniform([2], seed=3)

    @_defun(tf, tf.resource, tf.float32)
    def grown(handle, x):
        with tf.control_dependencies([tf.raw_ops.AssignAddVariableOp(resource=handle, value=x)]):
            return tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32) * 10.0

    x = tf.placeholder(tf.float32, [], "x")
    fetches = _named(tf, [grown(v.handle, x), noise(x)], "y")
    init = tf.global_variables_initializer().name
    feeds = {"x:0": np.float32(1.5)}
    return [([init], {}), (fetches, feeds), (fetches, feeds), (["v/Read/ReadVariableOp:0"], {})]


# ------------------------------------------------------------------------------------ loops of the main graph


def loops(tf, np):
    """Nested loops, a conditional inside, a TensorArray, gradients of all."""
    x = tf.placeholder(tf.float32, [3], "x")
    n = tf.placeholder(tf.int32, [], "n")

    def outer(i, total, made):
        inner = tf.while_loop(lambda j, t: j < i, lambda j, t: (j + 1, t * x), [0, tf.ones_like(x)])[1]
        chosen = tf.cond(i > 1, lambda: inner * 2.0, lambda: inner + 1.0)
        return i + 1, total + chosen, made.write(i, chosen)

    made = tf.TensorArray(tf.float32, n, element_shape=[3])
    i, total, made = tf.while_loop(lambda i, *_: i < n, outer, [0, tf.zeros_like(x), made])
    stacked = made.stack()
    slopes = tf.gradients([total, stacked], x)
    seconds = tf.gradients(tf.reduce_sum(slopes[0] * slopes[0]), total)
    fetches = _named(tf, [i, total, stacked] + slopes + [s for s in seconds if s is not None], "y")
    value = np.array([1.0, 2.0, -0.5], np.float32)
    return [(fetches, {"x:0": value, "n:0": np.int32(k)}) for k in (1, 4)]


def mapped_and_scanned(tf, np):
    """map_fn, scan and foldl, with gradients."""
    x = tf.placeholder(tf.float32, [None, 2], "x")
    y = tf.map_fn(lambda a: a * tf.reduce_sum(a), x)
    z = tf.scan(lambda t, a: t * 0.5 + a, x)
    w = tf.foldl(lambda t, a: t + a * a, x)
    slopes = tf.gradients([y, z, w], x)
    return [(_named(tf, [y, z, w] + slopes, "y"), {"x:0": np.arange(6.0).reshape(3, 2).astype(np.float32)})]


def state_in_loops(tf, np):
    """Variables of both kinds, changed in a loop and in a branch."""
    v = tf.Variable(1.0, name="v")
    r = tf.get_variable("r", initializer=[1.0, 2.0], use_resource=True)
    n = tf.placeholder(tf.int32, [], "n")

    def body(i, seen):
        grown = tf.assign_add(v, 1.0)
        with tf.control_dependencies([grown]):
            changed = tf.cond(i > 1, lambda: tf.identity(r.assign_add([10.0, 20.0])), lambda: r.read_value())
        with tf.control_dependencies([changed]):
            return i + 1, seen + grown + tf.reduce_sum(changed)

    fetches = _named(tf, tf.while_loop(lambda i, _: i < n, body, [0, 0.0], parallel_iterations=1), "y")
    init = tf.global_variables_initializer().name
    return [([init], {}), (fetches, {"n:0": np.int32(4)}), (["v:0", "r/Read/ReadVariableOp:0"], {})]


def critical_sections(tf, np):
    """A critical section with two executions in one step, and one in a loop."""
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    section = tf.CriticalSection(name="section")
    x = tf.placeholder(tf.float32, [], "x")

    def grown():
        old = v.read_value()
        with tf.control_dependencies([old]):
            return v.assign(old * 2.0 + x, read_value=False)

    first = section.execute(grown)
    with tf.control_dependencies([first]):
        value = section.execute(lambda: v.read_value())
    fetches = _named(tf, value, "y")
    init = tf.global_variables_initializer().name
    return [([init], {})] + [(fetches, {"x:0": np.float32(1.0)})] * 2


# ----------------------------------------------------------------------------------------- If, Case and While


@_only_tensorflow
def functional_conditional(tf, np):
    with _functional():
        x, w = tf.placeholder(tf.float32, [], "x"), tf.placeholder(tf.float32, [2], "w")
        y = tf.cond(x > 0, lambda: x * 2.0 * w, lambda: (x - 1.0) * tf.ones([2]))
        z = tf.cond(x > 1, lambda: tf.cond(x > 2, lambda: w * x, lambda: w), lambda: y)
        slopes = tf.gradients([y, z], [x, w])
        fetches = _named(tf, [y, z] + slopes, "y")
    w = np.array([3.0, -1.0], np.float32)
    return [(fetches, {"x:0": np.float32(v), "w:0": w}) for v in (-1.5, 1.5, 2.5)]


@_only_tensorflow
def functional_case(tf, np):
    with _functional():
        x, i = tf.placeholder(tf.float32, [], "x"), tf.placeholder(tf.int32, [], "i")
        y = tf.switch_case(i, [lambda: x, lambda: x * x, lambda: x * 100.0])
        fetches = _named(tf, [y, tf.gradients(y, x)[0]], "y")
    return [(fetches, {"x:0": np.float32(3), "i:0": np.int32(k)}) for k in (0, 1, 2, 7, -1)]


@_only_tensorflow
def functional_loop(tf, np):
    """The gradient keeps what it needs in lists, one push for each iteration."""
    with _functional():
        x, n = tf.placeholder(tf.float32, [2], "x"), tf.placeholder(tf.int32, [], "n")
        i, y = tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * tf.sin(x) + x), [0, x])
        slope = tf.gradients(y, x)[0]
        second = tf.gradients(slope, x)[0]
        fetches = _named(tf, [i, y, slope, second], "y")
    value = np.array([1.0, 0.5], np.float32)
    return [(fetches, {"x:0": value, "n:0": np.int32(k)}) for k in (0, 1, 6)]


@_only_tensorflow
def functional_nested_loops(tf, np):
    with _functional():
        x = tf.placeholder(tf.float32, [], "x")

        def outer(i, y):
            inner = tf.while_loop(lambda j, z: j <= i, lambda j, z: (j + 1, z * x), [0, y])[1]
            return i + 1, tf.cond(inner > 10.0, lambda: inner / 10.0, lambda: inner)

        y = tf.while_loop(lambda i, _: i < 3, outer, [0, tf.constant(1.0)])[1]
        fetches = _named(tf, [y, tf.gradients(y, x)[0]], "y")
    return [(fetches, {"x:0": np.float32(v)}) for v in (0.5, 2.0)]


@_only_tensorflow
def functional_arrays(tf, np):
    """TensorArrays in functional loops are lists."""
    with _functional():
        x = tf.placeholder(tf.float32, [None, 2], "x")
        rows = tf.shape(x)[0]
        given = tf.TensorArray(tf.float32, rows, element_shape=[2]).unstack(x)
        made = tf.TensorArray(tf.float32, rows, element_shape=[2])

        def body(i, total, made):
            total = total * 0.5 + given.read(i)
            return i + 1, total, made.write(i, total * total)

        _, total, made = tf.while_loop(lambda i, *_: i < rows, body, [0, tf.zeros([2]), made])
        stacked = made.stack()
        fetches = _named(tf, [total, stacked, tf.gradients([total, stacked], x)[0]], "y")
    return [(fetches, {"x:0": np.arange(6.0).reshape(3, 2).astype(np.float32)})]


@_only_tensorflow
def functional_map(tf, np):
    with _functional():
        x = tf.placeholder(tf.float32, [None, 2], "x")
        y = tf.map_fn(lambda a: a * tf.reduce_sum(a), x)
        z = tf.scan(lambda t, a: t * a, x)
        fetches = _named(tf, [y, z, tf.gradients([y, z], x)[0]], "y")
    return [(fetches, {"x:0": np.arange(1.0, 7.0).reshape(3, 2).astype(np.float32)})]


@_only_tensorflow
def functional_state(tf, np):
    """Variables read and changed in If and While."""
    with _functional():
        v = tf.get_variable("v", initializer=1.0, use_resource=True)
        x = tf.placeholder(tf.float32, [], "x")

        def assigned():
            with tf.control_dependencies([v.assign_add(x)]):
                return v.read_value()

        y = tf.cond(x > 0, assigned, lambda: v * 10.0)
        with tf.control_dependencies([y]):

            def body(i, t):
                with tf.control_dependencies([v.assign(v * 2.0)]):
                    return i + 1, t + v.read_value()

            z = tf.while_loop(lambda i, t: i < 3, body, [0, x])[1]
        u = tf.get_variable("u", initializer=3.0, use_resource=True)
        slope = tf.gradients(tf.cond(x > 0, lambda: u * x, lambda: u * u * x), [x, u.handle])
        fetches = _named(tf, [y, z] + [s for s in slope if s is not None], "y")
        init = tf.global_variables_initializer().name
    read = (["v/Read/ReadVariableOp:0"], {})
    return [([init], {})] + [step for k in (1.0, -1.0) for step in ((fetches, {"x:0": np.float32(k)}), read)]


@_only_tensorflow
def functional_raw(tf, np):
    """If, While and For on functions defined by hand, one predicate no boolean."""
    from tensorflow.python.ops import functional_ops

    @_defun(tf, tf.float32)
    def doubled(x):
        return x * 2.0

    @_defun(tf, tf.float32)
    def less_one(x):
        return x - 1.0

    @_defun(tf, tf.float32)
    def small(x):
        return x < 100.0

    @_defun(tf, tf.int32, tf.float32)
    def added(i, x):
        return x + tf.cast(i, tf.float32)

    x, k = tf.placeholder(tf.float32, [], "x"), tf.placeholder(tf.float32, None, "k")
    y = functional_ops.If(k, [x], doubled, less_one)
    z = functional_ops.While([x], small, doubled)
    w = functional_ops.For(0, 5, 2, [x], added)
    u = functional_ops.For(5, 0, -2, [x], added, rewrite_with_while=True)
    fetches = _named(tf, list(y) + list(z) + list(w) + list(u), "y")
    preds = [np.float32(0.0), np.float32(2.0), np.zeros([0], np.float32), np.zeros([2], np.float32)]
    return [(fetches, {"x:0": np.float32(3.0), "k:0": p}) for p in preds]


@_only_tensorflow
def stateless_forms(tf, np):
    """StatelessIf and StatelessWhile, written by hand."""
    from tensorflow.python.ops import gen_functional_ops

    @_defun(tf, tf.float32)
    def doubled(x):
        return x * 2.0

    @_defun(tf, tf.float32)
    def small(x):
        return x < 100.0

    x = tf.placeholder(tf.float32, [], "x")
    for function in (doubled, small):
        function.add_to_graph(tf.get_default_graph())
    y = gen_functional_ops.stateless_if(x > 1, [x], [tf.float32], doubled, doubled)
    z = gen_functional_ops.stateless_while([x], small, doubled)
    return [(_named(tf, list(y) + list(z), "y"), {"x:0": np.float32(v)}) for v in (0.5, 3.0)]


# ------------------------------------------------------------------------------------------------ tf.function


@_only_tensorflow
def traced_function(tf, np):
    """A variable changed by a traced function with a loop, which calls another traced function."""
    v = tf.get_variable("v", initializer=2.0, use_resource=True)

    @tf.function
    def inner(x, y):
        if x > y:
            return x * y
        return x - y

    @tf.function
    def outer(x):
        v.assign_add(1.0)
        t = tf.constant(0.0)
        for _ in tf.range(3):
            t = t + inner(x, v)
        return t

    x = tf.placeholder(tf.float32, [], "x")
    y = outer(x)
    fetches = _named(tf, y, "y")
    init = tf.global_variables_initializer().name
    read = (["v/Read/ReadVariableOp:0"], {})
    return [([init], {}), (fetches, {"x:0": np.float32(2)}), (fetches, {"x:0": np.float32(20)}), read]


@_only_tensorflow
def traced_gradient(tf, np):
    """The gradient of a traced function is a function of the library too."""

    @tf.function
    def f(x, w):
        return tf.reduce_sum(tf.tanh(x * w)) + tf.reduce_sum(w)

    x, w = tf.placeholder(tf.float32, [2], "x"), tf.placeholder(tf.float32, [2], "w")
    y = f(x, w) * 2.0
    fetches = _named(tf, [y] + tf.gradients(y, [x, w]), "y")
    feeds = {"x:0": np.array([1.0, 2.0], np.float32), "w:0": np.array([0.3, -1.0], np.float32)}
    return [(fetches, feeds)]
