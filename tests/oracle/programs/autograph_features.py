"""AutoGraph's optional features, and its other entrances."""

from kit import raises


def features(tf, np):
    feature = tf.autograph.experimental.Feature
    return sorted(f.name for f in feature), sorted(f.name for f in feature.all_but(feature.LISTS))


def equality_operators(tf, np):
    def f(x):
        if x == 3:
            return 1
        if 1 <= x != 5:
            return 2
        return 3

    x = tf.placeholder(tf.int32, [])
    plain = tf.autograph.to_graph(f)
    y = tf.autograph.to_graph(
        f, experimental_optional_features=tf.autograph.experimental.Feature.EQUALITY_OPERATORS
    )(x)
    with tf.Session() as session:
        return [session.run(y, {x: v}) for v in (0, 1, 3, 5)], raises(plain, x)


def assert_statements(tf, np):
    def f(x):
        assert x > 0, "not positive"
        return x * 2

    def g(x):
        assert x > 0
        return x * 2

    x = tf.placeholder(tf.int32, [])
    feature = tf.autograph.experimental.Feature
    results = [raises(tf.autograph.to_graph(f), x)]
    for function in (f, g):
        y = tf.autograph.to_graph(
            function, experimental_optional_features=(feature.ASSERT_STATEMENTS, feature.AUTO_CONTROL_DEPS)
        )(x)
        with tf.Session() as session:
            results += [session.run(y, {x: 4}), raises(session.run, y, {x: 0})]
    return results


def name_scopes(tf, np):
    def g(y):
        return tf.add(y, 1, name="in_g")

    def _f(x):
        return tf.add(g(x), 2, name="in_f")

    feature = tf.autograph.experimental.Feature.NAME_SCOPES
    return tf.autograph.to_graph(_f, experimental_optional_features=feature)(tf.constant(1))


def lists(tf, np):
    element_type = tf.contrib.autograph.set_element_type

    def f(x):
        l = []
        element_type(l, tf.int32, shape=[])
        for i in tf.range(x):
            l.append(i * i)
        first = l[0]
        last = l.pop()
        l[0] = first + 100
        return tf.stack(l), first, last

    def g(x):
        l = [1, 2]
        l.append(3)
        l[0] = 10
        n = l.pop()
        t = tf.zeros([3], tf.int32)
        t[1] = x
        return l[0] + n + len(l) * 10 + l[-1] * 100 + t

    def h(x):
        a = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
        for i in tf.range(x):
            a.append(i)
        a[x] = 7
        return tf.contrib.autograph.stack(a), len(a)

    feature = tf.autograph.experimental.Feature.LISTS
    x = tf.placeholder(tf.int32, [])
    made = [tf.autograph.to_graph(k, experimental_optional_features=feature)(x) for k in (f, g, h)]
    with tf.Session() as session:
        return session.run(made, {x: 4})


def lists_refused(tf, np):
    def pop(x):
        l = []
        l.append(x)
        return l.pop()

    def get(x):
        l = []
        l.append(x)
        return l[0]

    def stacked(x):
        l = []
        l.append(x)
        return tf.stack(l)

    def pop_of_array(x):
        a = tf.TensorArray(tf.int32, size=1)
        return a.pop()

    def append_to_tensor(x):
        x.append(1)
        return x

    feature = tf.autograph.experimental.Feature.LISTS
    x = tf.placeholder(tf.int32, [])
    functions = (pop, get, stacked, pop_of_array, append_to_tensor)
    return [
        raises(tf.autograph.to_graph(f, experimental_optional_features=feature), x) for f in functions
    ] + [raises(tf.contrib.autograph.stack, 3), tf.contrib.autograph.stack(3, strict=False)]


def not_converted(tf, np):
    @tf.autograph.experimental.do_not_convert
    def g(x):
        if x > 0:
            return 1
        return 2

    @tf.autograph.experimental.do_not_convert()
    def h(x):
        return x + 1

    def f(x):
        return g(x)

    def k(x):
        return g(3) + h(x)

    x = tf.constant(1)
    with tf.Session() as session:
        return (
            raises(tf.autograph.to_graph(f), x),
            session.run(tf.autograph.to_graph(k)(x)),
            g.__name__,
            raises(g, x),
        )


def not_recursive(tf, np):
    def g(x):
        if x > 0:
            return 1
        return 2

    def f(x):
        if x > 1:
            y = len(tf.zeros([2]))
        else:
            y = 3
        return y + g(3)

    def h(x):
        return g(x)

    x = tf.constant(1)
    with tf.Session() as session:
        return (
            session.run(tf.autograph.to_graph(f, recursive=False)(x)),
            raises(tf.autograph.to_graph(h, recursive=False), x),
        )


def convert_decorator(tf, np):
    @tf.contrib.autograph.convert(recursive=True)
    def f(x):
        if x > 0:
            return x * 2
        return x

    def bad(x):
        if x > 0:
            y = 1
        return y

    x = tf.placeholder(tf.int32, [])
    y = f(x)
    with tf.Session() as session:
        return (
            session.run(y, {x: 3}),
            session.run(y, {x: -3}),
            f.__name__,
            raises(tf.contrib.autograph.convert()(bad), x),
        )


def converted_call(tf, np):
    def f(x, k=1):
        if x > 0:
            return x * k
        return x

    options = tf.contrib.autograph.ConversionOptions(recursive=True, optional_features=None)
    x = tf.placeholder(tf.int32, [])
    call = tf.contrib.autograph.converted_call
    made = [call(f, options, (x,), {"k": 3}), call(abs, options, (x,), {}), call(len, options, ([1, 2],), {})]
    with tf.Session() as session:
        return [session.run(m, {x: -3}) if tf.is_tensor(m) else m for m in made]


class _Counter(object):
    def __init__(self, start):
        self.value = start

    def add(self, n):
        if n > 2:
            self.value = self.value + n
        return self.value


def methods(tf, np):
    made = tf.autograph.to_graph(_Counter.add)
    bound = tf.autograph.to_graph(_Counter(1).add)
    x = tf.placeholder(tf.int32, [])
    results = [made(_Counter(5), x), bound(_Counter(6), x)]
    with tf.Session() as session:
        return [session.run(results, {x: v}) for v in (1, 4)]


def functions_of_datasets(tf, np):
    """They are converted unless the user says otherwise."""

    def clip(v):
        if v > 3:
            v = v * 10
        return v

    def even(v):
        return tf.equal(v % 2, 0) if v > 1 else False

    def total(state, v):
        if v > 1:
            state += v
        return state

    def many(v):
        if v > 2:
            n = v
        else:
            n = tf.constant(1, tf.int64)
        return tf.data.Dataset.range(n)

    @tf.autograph.experimental.do_not_convert
    def plain(v):
        return clip(v)

    numbers = tf.data.Dataset.range(6)
    datasets = [numbers.map(clip), numbers.filter(even), numbers.flat_map(many)]
    rows = [d.batch(20).make_one_shot_iterator().get_next() for d in datasets]
    with tf.Session() as session:
        values = session.run(rows + [numbers.reduce(np.int64(0), total)])
    return values, raises(numbers.map, plain)


def lambdas(tf, np):
    double = lambda x: x * 2 if x > 0 else x
    x = tf.placeholder(tf.int32, [])
    y = tf.autograph.to_graph(double)(x)
    with tf.Session() as session:
        return [session.run(y, {x: v}) for v in (-2, 2)], tf.autograph.to_graph(double).__name__


_TOTAL = 0


def global_variable(tf, np):
    def f(x):
        global _TOTAL
        _TOTAL = 1
        for i in range(3):
            _TOTAL += i
        if x > 0:
            y = _TOTAL
        else:
            y = 0
        return y

    x = tf.placeholder(tf.int32, [])
    y = tf.autograph.to_graph(f)(x)
    with tf.Session() as session:
        return session.run(y, {x: 1}), _TOTAL


def unconverted_calls(tf, np):
    """Generators, constructors, NumPy's functions and built-in ones are called as they are."""

    def items():
        for i in range(3):
            yield i

    def f(x):
        s = sum(items()) + max([1, 5]) + int(np.sum(np.arange(4)))
        c = _Counter(s)
        return x + c.value + sorted([3, 1])[0]

    with tf.Session() as session:
        return session.run(tf.autograph.to_graph(f)(tf.constant(1)))


def loop_options(tf, np):
    """They are taken, and have no effect."""
    options = tf.autograph.experimental.set_loop_options

    def loop_of_range(x):
        s = 0
        for i in tf.range(x):
            options(parallel_iterations=1, back_prop=False)
            s += i
        return s

    def loop_of_test(x):
        while x < 10:
            options(2, True, False, 3)
            x += 1
        return x

    def loop_that_breaks(x):
        s = x
        for _ in tf.range(10):
            tf.contrib.autograph.set_loop_options(maximum_iterations=undefined)  # noqa: F821 (never looked up)
            s += 1
            if s > 7:
                break
        return s

    def loop_of_dataset(x):
        for _ in tf.data.Dataset.range(5):
            options(maximum_iterations=3)
            x += 1
        return x

    def with_gradient(x):
        y = x
        while y < 6:
            if y > 3:
                options(back_prop=False, unknown=3)
            y *= x
        return tf.gradients(y, x)

    def outside(x):
        options(parallel_iterations=1)
        return x

    def in_branch(x):
        if x > 0:
            options(parallel_iterations=1)
            x += 1
        return x

    x = tf.constant(2)
    loops = [
        tf.autograph.to_graph(f)(x) for f in (loop_of_range, loop_of_test, loop_that_breaks, loop_of_dataset)
    ]
    loops.append(tf.autograph.to_graph(with_gradient)(tf.constant(2.0)))
    entered = [
        n.attr["parallel_iterations"].i for n in tf.get_default_graph().as_graph_def().node if n.op == "Enter"
    ]
    refused = [raises(tf.autograph.to_graph, f) for f in (outside, in_branch)]
    with tf.Session() as session:
        return session.run(loops), entered, refused
