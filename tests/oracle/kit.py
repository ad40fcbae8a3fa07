"""What a program of the corpus may use, in every engine: Python 3.7 must do, and no engine is imported."""

import itertools


def cases(*rows):
    """Makes one program of a function for each row; a row is one extra argument or a tuple of them.

    A dictionary names its rows itself: `@cases({"empty": (0, 3), "scalar": ()})`.
    """
    table = {}
    for row in rows:
        named = row.items() if isinstance(row, dict) else [(_label(row), row)]
        for label, arguments in named:
            assert label not in table, "two cases called %s" % label
            table[label] = arguments if isinstance(arguments, tuple) else (arguments,)

    def mark(function):
        function.cases = table
        return function

    return mark


def product(*columns):
    """The rows of a table that has every combination of the columns."""
    return list(itertools.product(*columns))


def programs(module):
    """The programs of a module by name: each a function of (tf, np)."""
    found = {}
    for name, value in vars(module).items():
        if (
            name.startswith("_")
            or getattr(value, "__module__", None) != module.__name__
            or not callable(value)
        ):
            continue
        if hasattr(value, "cases"):
            for label, arguments in value.cases.items():
                found["%s[%s]" % (name, label)] = _bind(value, arguments)
        else:
            found[name] = value
    return found


class Raised:
    """An error that was expected: its class and its ancestors, by name, and what it said."""

    def __init__(self, error):
        self.types = [c.__name__ for c in type(error).__mro__ if c is not object]
        self.message = str(error)


class Close:
    """A value to be compared with tolerances of its own."""

    def __init__(self, value, rtol, atol=0.0):
        self.value, self.rtol, self.atol = value, rtol, atol


class GraphNodes:
    """The nodes of a graph, for comparison: all attributes, or only those named."""

    def __init__(self, graph_def, attrs=None):
        self.graph_def, self.attrs = graph_def, attrs


def raises(call, *arguments, **keywords):
    """The error that a call ends with; the text "no error" if there is none."""
    try:
        call(*arguments, **keywords)
    except Exception as error:
        return Raised(error)
    return "no error"


def graph(tf, attrs=None):
    """The nodes of the default graph."""
    return GraphNodes(tf.get_default_graph().as_graph_def(), attrs)


def names(tf):
    """The names and types of the default graph's operations, in order of creation."""
    return [(op.name, op.type) for op in tf.get_default_graph().get_operations()]


def run(tf, fetches, feeds=None):
    """Initializes all variables, then runs one step."""
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        return session.run(fetches, feeds)


def normal(np, *shape):
    """Numbers that look like a normal distribution's, the same in every engine."""
    return np.random.RandomState(sum(shape) + 7 * len(shape)).normal(size=shape)


def upstream(np, shape):
    """A gradient to start from, different in each place."""
    return np.cos(np.arange(int(np.prod(shape)), dtype=np.float64)).reshape(shape)


def differentiated(tf, np, build, *arrays):
    """Values, static shapes, and gradients by every floating input, of what `build(*inputs)` makes."""
    inputs = [tf.placeholder(a.dtype, a.shape) for a in map(np.asarray, arrays)]
    feeds = dict(zip(inputs, arrays))
    built = build(*inputs)
    outputs = list(built) if isinstance(built, (list, tuple)) else [built]
    with tf.Session() as session:
        values = session.run(outputs, feeds)
        smooth = [(y, v) for y, v in zip(outputs, values) if y.dtype.is_floating or y.dtype.is_complex]
        sources = [x for x in inputs if x.dtype.is_floating or x.dtype.is_complex]
        grads = tf.gradients(
            [y for y, _ in smooth],
            sources,
            [tf.constant(upstream(np, np.shape(v)).astype(y.dtype.as_numpy_dtype)) for y, v in smooth],
        )
        made = session.run([g for g in grads if g is not None], feeds)
    slopes = iter(made)
    return {
        "values": values,
        "shapes": [y.shape for y in outputs],
        "gradients": [None if g is None else next(slopes) for g in grads],
    }


def _label(row):
    parts = row if isinstance(row, tuple) else (row,)
    return "-".join(_word(p) for p in parts)


def _word(part):
    if isinstance(part, (list, tuple)):
        return "x".join(_word(p) for p in part) or "none"
    return getattr(part, "__name__", str(part))


def _bind(function, arguments):
    return lambda tf, np: function(tf, np, *arguments)
