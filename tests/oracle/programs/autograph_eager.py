"""Functions converted by AutoGraph, in eager mode: the same values as the functions themselves."""

from kit import cases, raises

EAGER = True


def _branches(tf, x):
    y = 0
    if x > 2:
        y = x * 2
        if x > 4:
            y = y + 100
    elif x > 0:
        y = -x
    return y if y > 0 else y - 1


def _returns(tf, x):
    if x > 3:
        return x, 1
    return -x, 2


def _logic(tf, x):
    if x > 0 and not x > 3 or x > 4:
        return 1
    return 2


def _while(tf, x):
    s = 0
    while x > 0:
        x -= 1
        if x % 2 > 0:
            continue
        if s > 3:
            break
        s += x
    return s * 10 + x


def _for(tf, x):
    s = 0
    for i in tf.range(x):
        for v in tf.constant([1, 2, 3]):
            if v > i:
                break
            s += v * i
    return s


def _python(tf, x):
    total = 0
    for i in range(3):
        total += i * x
    parts = [x + i for i in range(2)]
    return total + parts[0] + len(parts)


def _dataset(tf, x):
    s = tf.constant(0, tf.int64)
    for v in tf.data.Dataset.range(6):
        if v > 3:
            break
        s += v
    for v in tf.data.Dataset.range(2):
        s += v * 10
    return s


def _iterator(tf, x):
    s = tf.constant(0, tf.int64)
    n = 0
    for v in iter(tf.data.Dataset.range(5)):
        s += v
        n += 1
    return s, n


def _builtins(tf, x):
    return abs(-x) + len(tf.zeros([3, 1])) + int(tf.constant(2.5)), float(x), list(zip([1], [2]))


def _tensor_array(tf, x):
    a = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
    for i in tf.range(x):
        a = a.write(i, i * i)
    return a.stack()


_FUNCTIONS = {
    name[1:]: value
    for name, value in list(globals().items())
    if name.startswith("_") and getattr(value, "__code__", None) is not None
}


@cases(_FUNCTIONS)
def converted(tf, np, function):
    made = tf.autograph.to_graph(function)
    return [made(tf, tf.constant(value)) for value in (1, 3, 5)]


def _undefined_in_else(tf, x):
    if x > 2:
        y = x
    return y


def _undefined_before_loop(tf, x):
    while x > 2:
        y = x
        x -= 1
    return y


def _return_in_loop(tf, x):
    for i in tf.range(x):
        if i > 2:
            return i
    return x


def _dtype_in_loop(tf, x):
    s = 0
    while x > 0:
        s = 1.5
        x -= 1
    return s


_REFUSED = {
    f.__name__[1:]: f
    for f in (
        _undefined_in_else,
        _undefined_before_loop,
        _return_in_loop,
        _dtype_in_loop,
    )
}


@cases(_REFUSED)
def refused(tf, np, function):
    made = tf.autograph.to_graph(function)
    return raises(made, tf, tf.constant(1)), raises(made, tf, tf.constant(4))


def gradient(tf, np):
    def f(x):
        y = x
        for _ in tf.range(3):
            if y > 2.0:
                y = y * x
            else:
                y = y + x
        return y

    x = tf.constant(1.5)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.autograph.to_graph(f)(x)
    return y, tape.gradient(y, x)
