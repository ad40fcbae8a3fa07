"""Functions converted by AutoGraph, in graph mode: values on both sides of each condition."""

import functools

from kit import cases

# Each is a function of TensorFlow and a number, or makes such a function where it needs something around it.


def _if_else(tf, x):
    if x > 0:
        y = x * 2
    else:
        y = -x
    return y


def _if_without_else(tf, x):
    y = x
    if x > 0:
        y = x * 2
    return y


def _elif_chain(tf, x):
    if x > 3:
        y = 1
    elif x > 2:
        y = 2
    elif x > 0:
        y = 3
    else:
        y = 4
    return y


def _nested_ifs(tf, x):
    y = 0
    if x > 0:
        if x > 3:
            y = 10
            if x > 4:
                y = y + 1
        else:
            y = 20
    else:
        z = x * x
        if z > 1:
            y = z
    return y


def _two_results(tf, x):
    if x > 0:
        a, b = x, [x, x + 1]
    else:
        a, b = -x, [x, x - 1]
    return a + b[0] * 10 + b[1] * 100


def _branch_uses_what_other_changes(tf, x):
    y = x
    if x > 0:
        y = y + 100
        z = y
    else:
        z = y
    return z


def _temporary_in_a_branch(tf, x):
    if x > 0:
        t = x * x
        y = t + 1
    else:
        y = x
    return y


def _early_return(tf, x):
    if x > 2:
        return x * 10
    y = x + 1
    return y


def _return_in_the_else(tf, x):
    if x > 2:
        y = x * 3
    else:
        return -x
    y += 1
    return y


def _several_early_returns(tf, x):
    if x > 4:
        return 1
    if x > 2:
        return 2
    if x > 0:
        return 3
    return 4


def _returns_a_tuple(tf, x):
    if x > 2:
        return x, x + 1
    return -x, x


def _returns_a_dict(tf, x):
    if x > 2:
        r = {"a": x, "b": [x]}
    else:
        r = {"a": -x, "b": [x * 2]}
    return [r["a"], r["b"][0]]


def _conditional_expression(tf, x):
    return x * 2 if x > 2 else -x


def _and(tf, x):
    if x > 0 and x < 4:
        return 1
    return 0


def _or_not(tf, x):
    if not (x > 3 or x < 0):
        return 1
    return 0


def _lazy_and(tf, x):
    ok = x > 0 and 10 // x > 2
    return tf.cast(ok, tf.int32)


def _three_terms(tf, x):
    ok = x > 0 and x < 5 and x * x > 3 or x < 0
    return tf.cast(ok, tf.int32)


def _python_terms(tf, x):
    a = None or x
    b = [] and x  # noqa: SIM223
    return a + (1 if not b else 2)


def _while(tf, x):
    s = 0
    while x > 0:
        s = s + x
        x = x - 1
    return s


def _while_and(tf, x):
    s = 0
    while x > 0 and s < 6:
        s += x
        x -= 1
    return s * 100 + x


def _while_break(tf, x):
    s = 0
    while x > 0:
        if s > 4:
            break
        s += x
        x -= 1
    return s * 100 + x


def _while_continue(tf, x):
    s = 0
    while x > 0:
        x -= 1
        if x % 2 > 0:
            continue
        s += x
    return s


def _nested_loops(tf, x):
    s = 0
    for i in tf.range(x):
        j = 0
        while j < i:
            if j > 2:
                break
            s += j
            j += 1
        if s > 8:
            break
    return s


def _break_in_both(tf, x):
    n = 0
    for i in tf.range(5):
        if i > x:
            break
        for j in tf.range(5):
            if j > i:
                break
            if j < 1:
                continue
            n += j
    return n


def _for_range(tf, x):
    s = 0
    for i in tf.range(x):
        s += i * i
    return s


def _for_range_of_three(tf, x):
    s = 0
    for i in tf.range(10, x, -2):
        s = s * 2 + i
    return s


def _for_unknown_step(tf, x):
    s = 0
    for i in tf.range(0, x * 4, x):
        s += i
    return s


def _python_range_of_tensor(tf, x):
    s = 0
    for i in range(x):
        s += i
    for i in range(1, x):
        s += i * 10
    return s


def _for_tensor(tf, x):
    s = 0
    for v in tf.stack([x, x + 1, 5]):
        s = s * 10 + v
    return s


def _for_rows(tf, x):
    s = tf.zeros([2], tf.int32)
    for row in tf.stack([[x, 1], [2, x], [3, 3]]):
        if row[0] > 2:
            continue
        s += row
    return s


def _for_tensor_break(tf, x):
    s = 0
    for v in tf.stack([1, 2, 3, 4, 5]):
        if v > x:
            break
        s += v
    return s


def _for_unknown_length(tf, x):
    s = 0
    for v in tf.boolean_mask([1, 2, 3, 4, 5], tf.stack([1, 2, 3, 4, 5]) > x):
        s += v
    return s


def _iterate_after_loop(tf, x):
    i = -1
    s = 0
    for i in tf.range(x):
        s += i
    return s * 10 + i


def _python_loops(tf, x):
    s = 0
    for i in range(3):
        if i == 1:
            continue
        for j in [1, 2, 3]:
            if j == 3:
                break
            s += x * j
    n = 3
    while n > 0:
        n -= 1
        s += n
    return s


def _loop_over_items(tf, x):
    s = 0
    for k, v in sorted({"a": 1, "b": 2}.items()):
        if v > x:
            s += v * len(k)
    for i, (a, b) in enumerate(zip([1, 2], [3, 4])):
        s += i * a * b
    return s


def _loop_with_structure(tf, x):
    state = (0, [x, 1])
    for i in tf.range(3):
        state = (state[0] + i, [state[1][0] + 1, state[1][1] * 2])
    return state[0] + state[1][0] * 10 + state[1][1] * 100


def _temporary_in_a_loop(tf, x):
    s = 0
    for i in tf.range(x):
        t = i * 2
        u = t + 1
        s += u
    return s


def _variable_of_branch_in_loop(tf, x):
    s = 0
    for i in tf.range(x):
        if i > 1:
            t = i
        else:
            t = i * 100
        s += t
    return s


def _while_python_condition(tf, x):
    i = 0
    while i < 3:
        x = x + i
        i += 1
    return x


def _tensor_array(tf, x):
    a = tf.TensorArray(tf.int32, size=4)
    for i in tf.range(4):
        a = a.write(i, i * x)
    return a.stack()


def _len_and_abs(tf, x):
    t = tf.fill([x + 3], x)
    return len(t) * 100 + abs(x) + len(tf.zeros([7, 2])) * 1000


def _int_and_float(tf, x):
    y = float(x) / 2
    return int(y) * 10 + int(float("2.5")) + int("11", 2)


def _numbers_of_strings(tf, x):
    text = tf.as_string(x)
    return int(text) + int(float(text))


def _calls_a_function(tf, np):
    def g(y, k=3, *rest, **named):
        if y > 2:
            return y * k + len(rest)
        return y - named.get("d", 0)

    def f(x):
        return g(x) + g(x, 5, 1, 1) + g(x, d=7) + g(*[x, 2], **{"d": 1})

    return f


def _calls_itself(tf, np):
    def fib(n):
        if n < 2:
            return n
        return fib(n - 1) + fib(n - 2)

    def f(x):
        return x * fib(7)

    return f


def _closure(tf, np):
    k = 5

    def f(x):
        def g(y):
            if y > k:
                return y * k
            return y

        return g(x) + g(x * 3)

    return f


def _lambda(tf, x):
    g = lambda y: y * 2 if y > 2 else -y
    return g(x)


def _partial(tf, np):
    def g(a, b, c=0):
        if a > 2:
            return a + b * 10 + c * 100
        return b

    def f(x):
        return functools.partial(g, b=4)(x, c=2)

    return f


def _wrapped(tf, np):
    def decorator(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return function(*args, **kwargs) + 1

        return wrapper

    @decorator
    def g(a):
        if a > 2:
            return a
        return -a

    def f(x):
        return g(x)

    return f


class _Counter(object):
    def __init__(self, start):
        self.value = start

    def add(self, n):
        if n > 2:
            self.value = self.value + n
        return self.value

    def __call__(self, n):
        if n > 2:
            return n
        return -n


class _Twice(_Counter):
    def add(self, n):
        return super(_Twice, self).add(n) * 2


class _Thrice(_Counter):
    def add(self, n):
        if n > 3:
            r = super().add(n) * 3
        else:
            r = n
        return r


def _super(tf, x):
    return _Twice(1).add(3) + _Thrice(2).add(x) * 1000


def _callable_object(tf, np):
    c = _Counter(0)

    def f(x):
        return c(x)

    return f


def _attribute_in_a_branch(tf, x):
    c = _Counter(x)
    if x > 2:
        c.value = c.value * 10
    else:
        c.value = c.value - 1
    return c.value


def _attribute_in_a_loop(tf, x):
    c = _Counter(0)
    for i in tf.range(x):
        c.value += i
    return c.value


def _item_in_a_branch(tf, x):
    d = {"a": x, "b": 2}
    if x > 2:
        d["a"] = d["a"] * 10
    return d["a"] + d["b"]


def _comprehension(tf, x):
    parts = [x * i for i in range(4) if i != 2]
    s = 0
    for p in parts:
        s += p
    return s + len({i for i in [1, 1, 2]})


def _default_arguments(tf, np):
    def f(x, a=2, *, b=3):
        if x > a:
            return x * b
        return x

    return f


def _annotations(tf, np):
    def f(x: int, a: "anything" = 2) -> int:  # noqa: F821
        y: int = a
        if x > 2:
            y: int = x
        return y

    return f


def _with_block(tf, x):
    with tf.name_scope("scope"):
        if x > 2:
            y = x * 2
        else:
            y = x
    s = 0
    for i in tf.range(x):
        with tf.name_scope("inner"):
            t = i * 2
        s += t
    return y + s * 100


def _return_in_with(tf, x):
    with tf.name_scope("scope"):
        if x > 2:
            return x * 2
        return -x


def _try_block(tf, x):
    s = x
    try:
        if x > 2:
            s = x * 2
        else:
            s = -x
        {}["missing"]
    except KeyError as error:
        s = s + len(error.args)
    finally:
        s += 100
    return s


def _dataset(tf, x):
    s = tf.constant(0, tf.int64)
    for v in tf.data.Dataset.range(5):
        s = s + v * 2
    return s + tf.cast(x, tf.int64)


def _dataset_break(tf, x):
    s = tf.constant(0, tf.int64)
    limit = tf.cast(x, tf.int64)
    for v in tf.data.Dataset.range(10):
        if v > limit:
            break
        s += v
    return s


def _dataset_of_pairs(tf, x):
    s = tf.constant(0, tf.int64)
    n = 0
    for i, (a, b) in enumerate(zip(tf.data.Dataset.range(3), tf.data.Dataset.range(5, 8))):
        if a > 1:
            continue
        s += i * a * b
        n += 1
    return s + tf.cast(n + x, tf.int64)


def _local_names(tf, x):
    ag__x = 1
    do_return = 2
    if_body = 3
    if x > 2:
        return ag__x + do_return + if_body
    return x


def _static_python(tf, np):
    def f(x, flag=None, mode="a"):
        if flag is None and mode == "a":
            x = x + 1
        if mode in ("b", "c") or not flag:
            x = x * 2
        assert mode != "d", "no"
        return x

    return f


def _docstring(tf, x):
    """Says something."""
    if x > 2:
        return x
    return 0


def _matrix_power(tf, x):
    m = tf.eye(2, dtype=tf.int32)
    n = x
    while n > 0:
        m = tf.matmul(m, [[1, 1], [1, 0]])
        n -= 1
    return m


def _collatz(tf, x):
    n = x
    steps = 0
    while tf.not_equal(n, 1):
        if tf.equal(n % 2, 0):
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
        if steps > 50:
            break
    return steps


def _deep(tf, x):
    s = 0
    for i in tf.range(2):
        for j in tf.range(2):
            if i > j:
                for k in tf.range(x):
                    if k > 1:
                        if k > 2:
                            s += 1000
                            continue
                        s += 100
                    else:
                        s += 10
            else:
                s += 1
    return s


_FUNCTIONS = {
    name[1:]: value
    for name, value in list(globals().items())
    if name.startswith("_") and getattr(value, "__code__", None) is not None
    if value.__code__.co_varnames[:2] in (("tf", "x"), ("tf", "np"))
}


def _converted(tf, np, function, features=None):
    """A function of TensorFlow and a number, converted."""
    if function.__code__.co_varnames[:2] == ("tf", "np"):
        inner = tf.autograph.to_graph(function(tf, np), experimental_optional_features=features)
        return lambda tf, x: inner(x)
    return tf.autograph.to_graph(function, experimental_optional_features=features)


@cases(_FUNCTIONS)
def converted(tf, np, function):
    x = tf.placeholder(tf.int32, [])
    y = _converted(tf, np, function)(tf, x)
    with tf.Session() as session:
        return [session.run(y, {x: value}) for value in (1, 3, 5)]


@cases(_FUNCTIONS)
def converted_with_all_features(tf, np, function):
    """The same with every optional feature but the one that makes empty lists tensors."""
    feature = tf.autograph.experimental.Feature
    x = tf.placeholder(tf.int32, [])
    features = feature.all_but([feature.LISTS, feature.AUTO_CONTROL_DEPS])
    y = _converted(tf, np, function, features)(tf, x)
    with tf.Session() as session:
        return [session.run(y, {x: value}) for value in (1, 3, 5)]


@cases({name: value for name, value in _FUNCTIONS.items() if name != "collatz"})
def of_numbers(tf, np, function):
    """A converted function of plain numbers: it is Python unless it makes tensors itself."""
    results = [_converted(tf, np, function)(tf, value) for value in (1, 3, 5)]
    with tf.Session() as session:
        return [session.run(r) if _has_tensor(tf, r) else r for r in results]


def _has_tensor(tf, value):
    parts = value if isinstance(value, (list, tuple)) else [value]
    return any(tf.is_tensor(part) for part in parts)


def gradient_through_a_loop(tf, np):
    def f(x):
        y = x
        for _ in tf.range(3):
            if y > 2.0:
                y = y * x
            else:
                y = y + x
        return y

    x = tf.placeholder(tf.float32, [])
    y = tf.autograph.to_graph(f)(x)
    slope = tf.gradients(y, x)[0]
    with tf.Session() as session:
        return [session.run([y, slope], {x: value}) for value in (0.5, 1.5, 3.0)]
