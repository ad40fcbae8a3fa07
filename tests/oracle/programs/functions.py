"""`tf.function` in eager mode: traces, arguments, variables, captures, tapes, errors."""

from kit import cases, raises

EAGER = True


def _function(tf, f=None, **options):
    return tf.function(f, autograph=False, **options)


def it_is_traced_once_for_a_signature(tf, np):
    traces = []

    def f(x):
        traces.append((x.dtype, x.shape))
        return x + x

    g = _function(tf, f)
    values = [g(tf.constant(1.0)), g(tf.constant(2.0)), g(tf.constant([1.0, 2.0])), g(tf.constant(3))]
    return values, traces, g(np.ones([2], np.float32)), len(traces)


@cases(
    [1, 2, 1],
    [1, 1.0, True],
    ["a", "b", "a"],
    [None, None, 0],
    [(1, 2), [1, 2], (1, 2)],
    [{"a": 1}, {"a": 2}, {"a": 1}],
)
def python_values_are_part_of_the_signature(tf, np, values):
    traces = []

    def f(x, y):
        traces.append(str(y))
        return x

    g = _function(tf, f)
    for value in values:
        g(tf.constant(1.0), value)
    return traces


def arguments_come_in_many_ways(tf, np):
    traces = []

    def f(a, b=2.0, *rest, **named):
        traces.append((len(rest), sorted(named)))
        return a * b + sum(rest) + sum(named.values())

    g = _function(tf, f)
    one, two = tf.constant(1.0), tf.constant(2.0)
    return [
        g(one),
        g(a=one),
        g(one, b=two),
        g(b=two, a=one),
        g(one, two, two, one),
        g(one, c=two),
        g(one, d=two, c=one),
        traces,
    ]


def structures_go_in_and_out(tf, np):
    import collections

    point = collections.namedtuple("point", "x y")

    def f(pair, named, p):
        return {"sum": pair[0] + pair[1], "p": point(p.y, p.x), "n": None, "l": [named["b"], 3, 2.5], "t": ()}

    g = _function(tf, f)
    result = g((1.0, tf.constant(2.0)), {"b": tf.constant([1])}, point(tf.constant(1), tf.constant(2)))
    return result, type(result["p"]).__name__


def sparse_and_ragged_tensors(tf, np):
    traces = []

    def f(sparse, ragged):
        traces.append(1)
        return (
            tf.sparse.to_dense(sparse) + 1.0,
            ragged * 2.0,
            tf.SparseTensor(sparse.indices, sparse.values * 3.0, sparse.dense_shape),
        )

    g = _function(tf, f)
    sparse = tf.SparseTensor([[0, 1], [1, 0]], [1.0, 2.0], [2, 2])
    ragged = tf.ragged.constant([[1.0], [2.0, 3.0]])
    dense, more, again = g(sparse, ragged)
    g(sparse, ragged)
    return dense, more.to_list(), again.values, again.indices, len(traces)


def variables_as_arguments(tf, np):
    traces = []

    def f(v, x):
        traces.append(1)
        v.assign_add(x)
        return v * x

    g = _function(tf, f)
    a, b = tf.Variable(1.0), tf.Variable(2.0)
    values = [g(a, tf.constant(1.0)), g(b, tf.constant(2.0)), g(a, tf.constant(3.0))]
    return values, a, b


def variables_are_made_on_the_first_call(tf, np):
    made, traces = [], []

    def f(x):
        traces.append(1)
        if not made:
            made.append(tf.Variable(tf.ones([2]) * 3.0, name="w"))
            made.append(tf.Variable(lambda: tf.zeros([2]), trainable=False))
        made[1].assign_add(x)
        return made[0] * x + made[1]

    g = _function(tf, f)
    values = [g(tf.constant([1.0, 2.0])), g(tf.constant([1.0, 1.0]))]
    return values, len(traces), [v.name for v in made], [v.numpy() for v in made]


def an_initial_value_may_depend_on_an_argument(tf, np):
    made = []

    def f(x):
        if not made:
            made.append(tf.Variable(x * 2.0))
        return made[0] + x

    g = _function(tf, f)
    return [g(tf.constant(1.0)), g(tf.constant(5.0))], made[0].numpy()


def no_variables_on_later_calls(tf, np):
    def f(x):
        return tf.Variable(x) * 2.0

    kept = []

    def g(x):
        kept.append(tf.Variable(1.0))
        return kept[-1] * x

    h = _function(tf, g)
    errors = [raises(_function(tf, g), tf.constant(1.0)), raises(h, tf.constant(1.0))]
    return [(error, error.message.split("\n")[0]) for error in errors]


def variables_of_a_method(tf, np):
    traces = []

    class Model(tf.Module):
        def __init__(self, start):
            super(Model, self).__init__()
            self.start, self.w = start, None

        @tf.function(autograph=False)
        def __call__(self, x):
            traces.append(self.start)
            if self.w is None:
                self.w = tf.Variable(self.start)
            return self.w * x

    a, b = Model(2.0), Model(3.0)
    x = tf.constant(4.0)
    return [a(x), b(x), a(x), b(x)], traces, len(a.variables), a.trainable_variables[0].numpy()


def methods_of_plain_objects(tf, np):
    class Counter(object):
        def __init__(self):
            self.v = tf.Variable(0)

        @tf.function(autograph=False)
        def add(self, n=1):
            self.v.assign_add(n)
            return self.v.read_value()

    a, b = Counter(), Counter()
    return [a.add(), a.add(2), b.add(), a.add(n=5), Counter.add is Counter.add, a.add is a.add]


def effects_happen_in_order(tf, np):
    v = tf.Variable(1.0)

    def f(x):
        before = v.read_value()
        v.assign(v * x)
        middle = v.read_value()
        v.assign_add(1.0)
        return before, middle, v

    g = _function(tf, f)
    return g(tf.constant(3.0)), v, g(tf.constant(3.0)), v


def effects_without_results_happen_too(tf, np):
    v = tf.Variable([1.0, 2.0])

    def f():
        v.assign_add([1.0, 1.0])
        v.scatter_update(tf.IndexedSlices(tf.constant([9.0]), tf.constant([0])))

    g = _function(tf, f)
    return g(), v.numpy(), g(), v.numpy()


def tensors_are_captured(tf, np):
    x, big = tf.constant(3.0), tf.ones([300])
    v = tf.Variable(2.0)

    def f(y):
        return x * y + tf.reduce_sum(big) + v

    concrete = _function(tf, f).get_concrete_function(tf.constant(1.0))
    v.assign(5.0)
    return concrete(tf.constant(2.0)), len(concrete.captured_inputs), [t.dtype for t in concrete.inputs]


def python_effects_happen_while_tracing(tf, np):
    seen = []
    g = _function(tf, lambda x: (seen.append(tf.executing_eagerly()), x * 2.0)[1])
    g(tf.constant(1.0)), g(tf.constant(1.0))
    return seen, tf.executing_eagerly()


def the_random_numbers_of_a_function(tf, np):
    tf.set_random_seed(7)
    g = _function(tf, lambda: (tf.random.uniform([2]), tf.random.normal([2], seed=3)))
    return g(), g()


@cases("outside", "inside", "both")
def tapes(tf, np, where):
    v = tf.Variable([1.0, 2.0])
    x = tf.constant([3.0, 4.0])

    def f(y):
        return tf.reduce_sum(v * v * y)

    g = _function(tf, f)

    def inside(y):
        with tf.GradientTape() as tape:
            tape.watch(y)
            z = f(y) if where == "inside" else g(y)
        return tape.gradient(z, [v, y])

    if where == "outside":
        with tf.GradientTape() as tape:
            tape.watch(x)
            z = g(x) * 2.0
        return tape.gradient(z, [v, x])
    return _function(tf, inside)(x), _function(tf, inside)(x)


def gradients_of_captured_tensors(tf, np):
    x = tf.constant(3.0)
    g = _function(tf, lambda y: x * x * y)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = g(tf.constant(2.0))
    return tape.gradient(y, x), tape.gradient(y * y, x)


def gradients_of_higher_order(tf, np):
    g = _function(tf, lambda x: tf.sin(x) * x * x)
    x = tf.constant(1.5)
    with tf.GradientTape() as third:
        third.watch(x)
        with tf.GradientTape() as second:
            second.watch(x)
            with tf.GradientTape() as first:
                first.watch(x)
                y = g(x)
            dy = first.gradient(y, x)
        ddy = second.gradient(dy, x)
    return y, dy, ddy, third.gradient(ddy, x)


def a_gradient_within_a_function_of_a_gradient(tf, np):
    inner = _function(tf, lambda x: x * x * x)

    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = inner(x)
        return tape.gradient(y, x)

    outer = _function(tf, slope)
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = outer(x)
    return y, tape.gradient(y, x), _function(tf, lambda x: tf.gradients(slope(x), x))(x)


def gradients_with_several_outputs(tf, np):
    g = _function(tf, lambda x: (x * 2.0, tf.cast(x, tf.int32), {"a": x * x}, tf.stop_gradient(x)))
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        a, _, c, d = g(x)
    return [tape.gradient(t, x) for t in (a, c["a"], [a, c["a"]], d)]


def sparse_gradients(tf, np):
    table = tf.Variable(np.arange(6.0).reshape(3, 2).astype(np.float32))
    g = _function(tf, lambda i: tf.reduce_sum(tf.gather(table, i)) * 2.0)
    with tf.GradientTape() as tape:
        y = g(tf.constant([0, 2, 0]))
    slope = tape.gradient(y, table)
    return y, type(slope).__name__, slope.values, slope.indices, slope.dense_shape


def custom_gradients(tf, np):
    @tf.custom_gradient
    def twice(x):
        return x * 1.0, lambda dy: dy * 2.0

    g = _function(tf, lambda x: twice(x) * 3.0)
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = g(x)
    return y, tape.gradient(y, x)


def a_training_loop(tf, np):
    w, b = tf.Variable([[1.0], [2.0]]), tf.Variable([0.5])
    optimizer = tf.train.AdamOptimizer(0.1)
    data = tf.constant(np.arange(8.0).reshape(4, 2).astype(np.float32) / 8.0)

    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - 1.0))
        slopes = tape.gradient(loss, [w, b])
        optimizer.apply_gradients(zip(slopes, [w, b]))
        return loss

    optimizer._create_slots([w, b])
    run = _function(tf, step)
    return [run(data) for _ in range(4)], w, b


def signatures(tf, np):
    traces = []

    def f(x, y):
        traces.append((x.shape.as_list(), y.dtype))
        return tf.reduce_sum(x) + tf.cast(y, tf.float32)

    g = _function(tf, f, input_signature=[tf.TensorSpec([None, 2], tf.float32), tf.TensorSpec([], tf.int32)])
    values = [g(tf.ones([1, 2]), tf.constant(1)), g(np.ones([3, 2], np.float32), 2), g([[1, 2]], y=3)]
    return values, traces, str(g.input_signature)


@cases(
    {
        "rank": lambda tf, g: g(tf.ones([2])),
        "type": lambda tf, g: g(tf.ones([2, 2], tf.int32)),
        "too many": lambda tf, g: g(tf.ones([1, 2]), 1),
        "unknown": lambda tf, g: g(z=1),
        "not convertible": lambda tf, g: g("a"),
        "structure": lambda tf, g: g.get_concrete_function((1, 2), 3),
        "no list": lambda tf, g: tf.function(lambda x: x, input_signature=tf.TensorSpec([], tf.float32)),
        "returns text of an object": lambda tf, g: tf.function(lambda: object(), autograph=False)(),
        "concrete, nothing": lambda tf, g: g.get_concrete_function()(),
        "concrete, too many": lambda tf, g: g.get_concrete_function()(tf.ones([1, 2]), tf.ones([1, 2])),
        "concrete, no tensor": lambda tf, g: g.get_concrete_function()(1.0),
        "concrete, name": lambda tf, g: g.get_concrete_function()(y=tf.ones([1, 2])),
        "concrete, twice": lambda tf, g: g.get_concrete_function()(tf.ones([1, 2]), x=tf.ones([1, 2])),
        "missing": lambda tf, g: tf.function(lambda x: x, autograph=False)(),
    }
)
def refusals(tf, np, call):
    g = _function(tf, lambda x: x * 2.0, input_signature=[tf.TensorSpec([None, 2], tf.float32)])
    return raises(call, tf, g)


def concrete_functions(tf, np):
    def f(x, n, y=1.0):
        return {"a": x * y, "b": [x + float(n)]}

    g = _function(tf, f)
    concrete = g.get_concrete_function(tf.TensorSpec([None], tf.float32), 3, y=tf.TensorSpec([], tf.float32))
    x, y = tf.constant([1.0, 2.0]), tf.constant(2.0)
    args, kwargs = concrete.structured_input_signature
    return [
        concrete(x, y),
        concrete(x=x, y=y),
        str(args),
        kwargs,
        concrete.output_dtypes,
        concrete.output_shapes,
        [t.name for t in concrete.inputs],
        [t.shape for t in concrete.outputs],
        g.get_concrete_function(tf.TensorSpec([None], tf.float32), 3, tf.TensorSpec([], tf.float32))
        is concrete,
    ]


def a_trace_by_spec_serves_calls(tf, np):
    traces = []

    def f(x):
        traces.append(1)
        return x

    g = _function(tf, f)
    g.get_concrete_function(tf.TensorSpec([], tf.float32))
    g(tf.constant(1.0))
    return len(traces)


def shapes_are_relaxed(tf, np):
    traces = []

    def f(x):
        traces.append(x.shape.as_list())
        return tf.reduce_sum(x)

    g = _function(tf, f, experimental_relax_shapes=True)
    values = [g(tf.ones([n, 2])) for n in (1, 2, 3, 4, 5)]
    return values, traces, g(tf.ones([2, 7])), traces


def functions_in_functions(tf, np):
    traces = []

    def inner(x):
        traces.append("inner")
        return x * x

    inner = _function(tf, inner)

    def outer(x):
        traces.append("outer")
        return inner(x) + inner(x + 1.0)

    g = _function(tf, outer)
    return g(tf.constant(2.0)), inner(tf.constant(3.0)), g(tf.constant(1.0)), traces


def a_variable_made_in_an_inner_function(tf, np):
    made = []

    def inner(x):
        if not made:
            made.append(tf.Variable(4.0))
        return made[0] * x

    inner = _function(tf, inner)
    g = _function(tf, lambda x: inner(x) + 1.0)
    return g(tf.constant(2.0)), g(tf.constant(3.0)), len(made)


def tensors_that_leak(tf, np):
    leaked = []
    g = _function(tf, lambda x: (leaked.append(x * 2.0), x)[1])
    g(tf.constant(1.0))
    other = _function(tf, lambda: leaked[0] + 1.0)
    return raises(lambda: leaked[0] + 1.0), raises(tf.square, leaked[0]), raises(other)


def a_tensor_of_an_inner_function(tf, np):
    leaked = []
    inner = _function(tf, lambda x: (leaked.append(x * 2.0), x)[1])

    def outer(x):
        inner(x)
        return leaked[0] + x

    return raises(_function(tf, outer), tf.constant(1.0))


def an_error_while_tracing_leaves_scopes_whole(tf, np):
    def bad(x):
        with tf.name_scope("a"), tf.device("/cpu:0"), tf.variable_scope("b"):
            raise KeyError("stop")

    g = _function(tf, bad)
    errors = [raises(g, tf.constant(1.0)) for _ in range(2)]
    return errors, tf.executing_eagerly(), tf.Variable(1.0, name="v").name, tf.get_variable_scope().name


def an_error_while_running(tf, np):
    g = _function(tf, lambda x, i: tf.gather(x, i))
    return raises(g, tf.constant([1.0, 2.0]), tf.constant(5)), g(tf.constant([1.0, 2.0]), tf.constant(1))


def arguments_must_not_change(tf, np):
    return raises(_function(tf, lambda x: x.pop()), [tf.constant(1.0), tf.constant(2.0)])


def names_in_the_graph(tf, np):
    def f(x, pair):
        with tf.name_scope("scope"):
            y = tf.add(x, pair[0], name="sum")
        return y, tf.identity(pair[1], name="second")

    concrete = _function(tf, f).get_concrete_function(
        tf.TensorSpec([], tf.float32, name="ex"), (tf.TensorSpec([], tf.float32), tf.constant(1.0))
    )
    return [t.name for t in concrete.inputs], [t.name for t in concrete.outputs], concrete.graph.name


def datasets_in_functions(tf, np):
    def f(n):
        return tf.data.Dataset.range(n).map(lambda x: x * x).reduce(np.int64(0), lambda a, b: a + b)

    return _function(tf, f)(tf.constant(5, tf.int64))


def functions_in_datasets(tf, np):
    v = tf.Variable(3, dtype=tf.int64)
    g = _function(tf, lambda x: x * v)
    return [x.numpy() for x in tf.data.Dataset.range(3).map(g)]


def assertions_and_prints(tf, np):
    def f(x):
        tf.debugging.assert_positive(x)
        return x + 1.0

    g = _function(tf, f)
    return g(tf.constant(1.0)), raises(g, tf.constant(-1.0))


def running_functions_eagerly(tf, np):
    seen = []
    g = _function(tf, lambda x: (seen.append(1), x * 2.0)[1])
    tf.config.experimental_run_functions_eagerly(True)
    try:
        values = [g(tf.constant(1.0)), g(tf.constant(1.0))]
    finally:
        tf.config.experimental_run_functions_eagerly(False)
    return values, len(seen), g(tf.constant(1.0)), g(tf.constant(1.0)), len(seen)


def decorators_with_and_without_arguments(tf, np):
    @tf.function
    def f(x):
        """Doubles."""
        return x * 2.0

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def g(x):
        return f(x) + 1.0

    return f(tf.constant(1.0)), g(1.0), f.__name__, f.__doc__, f.python_function.__name__


def partials(tf, np):
    import functools

    g = tf.function(functools.partial(lambda a, b, c=1.0: a * b + c, 2.0, c=5.0), autograph=False)
    return g(tf.constant(3.0)), g(tf.constant([4.0]))


def defun(tf, np):
    made = []

    def f(x):
        made.append(tf.Variable(2.0))
        return made[-1] * x

    g = tf.contrib.eager.defun(f, autograph=False)
    return g(tf.constant(1.0)), g(tf.constant([1.0])), len(made)


def initialization_functions(tf, np):
    made = []

    def f(x):
        if not made:
            made.append(tf.Variable(tf.zeros([2]) + 4.0))
        return made[0] * x

    g = _function(tf, f)
    start = g.get_initialization_function(tf.constant(1.0))
    start()
    first = made[0].numpy()
    made[0].assign([1.0, 1.0])
    start()
    return first, made[0].numpy(), g(tf.constant(2.0))


def optional_results(tf, np):
    return [
        _function(tf, lambda: None)(),
        _function(tf, lambda x: [])(tf.constant(1)),
        _function(tf, lambda x: (x, None))(tf.constant(1)),
        _function(tf, lambda: 3)(),
        _function(tf, lambda: "text")(),
    ]


def lists_of_arrays(tf, np):
    g = _function(tf, lambda xs: tf.add_n(xs))
    return g([np.ones([2], np.float32), tf.constant([1.0, 2.0])])


def wrapped_code_for_graphs(tf, np):
    def model(x):
        w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
        return tf.reduce_sum(tf.identity(w * x, name="inner"))

    wrapped = tf.wrap_function(model, [tf.TensorSpec([2], tf.float32)])
    part = wrapped.prune(wrapped.inputs[0], wrapped.graph.get_tensor_by_name("inner:0"))
    values = [wrapped(tf.constant([1.0, 2.0])), part(tf.constant([3.0, 4.0]))]
    v = next(iter(wrapped.graph.variables))
    v.assign([5.0, 5.0])
    return values, v.name, wrapped(tf.constant([1.0, 2.0])), part(tf.constant([1.0, 1.0]))
