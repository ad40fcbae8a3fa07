"""What AutoGraph refuses: variables that only one branch defines, other types in a next iteration, more."""

from kit import cases, raises


def _bad_undefined_in_else(tf, x):
    if x > 0:
        y = x
    return y


def _bad_undefined_in_if(tf, x):
    if x > 0:
        pass
    else:
        y = x
    return y


def _bad_return_on_one_side(tf, x):
    if x > 0:
        return x


def _bad_return_none(tf, x):
    if x > 0:
        return x
    return None


def _bad_dtypes_of_branches(tf, x):
    if x > 0:
        y = 1
    else:
        y = 1.5
    return y


def _bad_structures_of_branches(tf, x):
    if x > 0:
        y = [x, x]
    else:
        y = x
    return y


def _bad_undefined_before_loop(tf, x):
    while x > 0:
        y = x
        x -= 1
    return y


def _bad_undefined_before_for(tf, x):
    for i in tf.range(x):
        y = i
    return y


def _bad_iterate_after_loop(tf, x):
    for i in tf.range(x):  # noqa: B007
        pass
    return i


def _bad_return_in_loop(tf, x):
    for i in tf.range(x):
        if i > 2:
            return i
    return x


def _bad_dtype_in_loop(tf, x):
    s = 0
    while x > 0:
        s = 1.5
        x -= 1
    return s


def _bad_shape_in_loop(tf, x):
    s = tf.zeros([1])
    for _ in tf.range(x):
        s = tf.concat([s, s], 0)
    return s


def _bad_shape_in_while(tf, x):
    s = tf.zeros([1])
    while x > 0:
        x -= 1
        s = tf.zeros([2])
    return s


def _bad_structure_in_loop(tf, x):
    s = (x, x)
    while x > 0:
        s = x
        x -= 1
    return s[0]


def _bad_python_while_with_tensor_break(tf, x):
    n = 0
    while True:
        if x > n:
            break
        n += 1
    return n


def _bad_python_for_with_tensor_break(tf, x):
    n = 0
    for i in range(4):
        if x > i:
            break
        n += i
    return n


def _bad_len_of_scalar(tf, x):
    return len(x)


def _bad_base(tf, x):
    return int(x, 16)


def _bad_error_of_python(tf, x):
    if x > 0:
        raise KeyError("a")
    return x


def _bad_name(tf, x):
    return missing_name + x  # noqa: F821


def _bad_argument(tf, x):
    return tf.reshape(tf.zeros([3]), [2]) + tf.to_float(x)


def _bad_vector_condition(tf, x):
    if tf.stack([x, x]) > 0:
        y = 1
    else:
        y = 2
    return y


def _bad_chained_comparison(tf, x):
    if 0 < x < 3:
        return 1
    return 2


def _bad_loop_of_nothing(tf, x):
    while x > 0:
        pass
    return x


def _bad_undefined_over_dataset(tf, x):
    for i in tf.data.Dataset.range(3):
        y = i
    return y


def _bad_dtype_over_dataset(tf, x):
    s = 0
    for _ in tf.data.Dataset.range(3):
        s = s + 1.5
    return s


def _bad_iteration_of_one_shot(tf, x):
    s = tf.constant(0, tf.int64)
    for i in tf.data.Dataset.range(3).make_one_shot_iterator():
        s += i
    return s


_BAD = {name[5:]: value for name, value in list(globals().items()) if name.startswith("_bad_")}


@cases(_BAD)
def refused(tf, np, function):
    return raises(tf.autograph.to_graph(function), tf, tf.placeholder(tf.int32, []))


class _Callable(object):
    def __call__(self, x):
        return x


def _generator(x):
    yield x


def not_convertible(tf, np):
    text = []
    exec("def made(x):\n  return x\ntext.append(made)", {"text": text})
    return [
        raises(tf.autograph.to_graph, _generator),
        raises(tf.autograph.to_graph, _Callable()),
        raises(tf.autograph.to_graph, 3),
        raises(tf.autograph.to_code, text[0]),
    ]
