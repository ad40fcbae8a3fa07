"""Statements of converted functions, where TensorFlow 1.15 has nothing to compare with: it refuses or ignores
some, and Python 3.7 does not have others.
"""

import functools
import itertools

import pytest

import tideflow as tf


def converted(function, *feeds, **options):
    """What a converted function gives for int32 scalars, in one graph."""
    x = tf.placeholder(tf.int32, [])
    y = tf.autograph.to_graph(function, **options)(x)
    with tf.Session() as session:
        return [session.run(y, {x: value}) for value in feeds]


def same(function, *feeds):
    """Whether the converted function agrees with Python, for tensors and for numbers."""
    expected = [function(value) for value in feeds]
    assert [tf.autograph.to_graph(function)(value) for value in feeds] == expected
    assert converted(function, *feeds) == expected


def returns_on_all_sides(x):
    if x > 2:
        if x > 3:
            return x
        else:
            return x * 2
    else:
        if x < 0:
            return -x
    return x * 100


def nested_expressions(x):
    return (1 if x > 4 else 2) if x > 2 else (3 if x > 0 else 4)


def break_and_continue(x):
    s = i = 0
    while i < 10 + x * 0:
        i += 1
        if i % 2 > 0:
            continue
        if i > x:
            break
        if i > 7:
            s += 100
            continue
        s += i
    return s * 100 + i


def else_of_loops(x):
    s = n = 0
    while n < x:
        n += 1
        if n > 3:
            break
    else:
        s = 1000
    for i in [1, 2]:
        if i > 100:
            break
    else:
        s += 1
    return s + n


def else_with_return(x):
    for i in range(3):
        if i == 5:
            return i
    else:
        x = x + 1
    return x


def assignment_expressions(x):
    s = 0
    if (y := x + 1) > 3:
        s = y
    while (x := x - 1) > 0:
        s += x
    return s * 10 + y


def try_with_jumps(x):
    s = 0
    for i in range(4):
        try:
            if i == 1:
                continue
            if i == 3:
                break
            s += i + [1, 2][i]
        except IndexError:
            s += 10
        else:
            s += 100
        finally:
            s += 1000
    if x > 2:
        s += x
    return s


def return_in_try(x):
    try:
        if x > 2:
            return 1
        else:
            return 2
    finally:
        x = 0


def inner_function_writes(x):
    total = 0

    def add(n):
        nonlocal total
        total = total + n

    i = 0
    while i < x:
        add(i)
        i += 1
    return total


def inner_function_reads_later(x):
    y = 0

    def read():
        return y

    if x > 2:
        y = x
    return read()


def comprehension_of_its_own_name(x):
    values = [1, 2, 3]
    if x > 2:
        values = [v + 1 for v in values]
    values = [values for values in values]
    return values[0] + sum(i * 2 for i in range(2))


def match_statement(x):
    kind = "double"
    match kind:
        case "double":
            if x > 2:
                y = x * 2
            else:
                y = 0
        case _:
            y = -1
    return y


def deleted_variable(x):
    t = x
    if x > 2:
        u = t * 2
        y = u
        del u
    else:
        y = t
    return y


def names_of_the_converter(x):
    ag__, do_break, do_return, return_value, loop_body, element, object = 1, 2, 3, 4, 5, 6, 7
    for i in range(2):
        if i > 5:
            break
    if x > 2:
        return ag__ + do_break + do_return
    return return_value + loop_body + element + object


def chained_names(x):
    a = b = c = 1
    if x > 2:
        a, (b, *c) = x, (x, 5, 6)
        c = sum(c)
    return a + b + c


def star_arguments(x):
    def f(*args, key=0, **named):
        return sum(args) + key * 10 + sum(named.values())

    return f(*[x, 1], *(2,), **{"key": 3}, **{"a": 4}) if x > 2 else f(x)


def global_in_a_loop(x):
    global _total
    _total = 0
    i = 0
    while i < x:
        _total += i
        i += 1
    result = _total
    _total = 0
    return result


_total = 0
FEEDS = (0, 1, 3, 5, 9)
SAME = [
    returns_on_all_sides,
    nested_expressions,
    break_and_continue,
    else_of_loops,
    else_with_return,
    assignment_expressions,
    try_with_jumps,
    return_in_try,
    inner_function_writes,
    inner_function_reads_later,
    comprehension_of_its_own_name,
    match_statement,
    deleted_variable,
    names_of_the_converter,
    chained_names,
    star_arguments,
    global_in_a_loop,
]


@pytest.mark.parametrize("function", SAME, ids=lambda function: function.__name__)
def test_a_converted_function_agrees_with_python(function):
    same(function, *FEEDS)


def test_what_is_not_defined_is_python_s_error():
    def f(x):
        if x:
            y = 1
        return y

    with pytest.raises(UnboundLocalError, match="'y'"):
        tf.autograph.to_graph(f)(False)


def test_an_iterator_is_not_read_past_a_break():
    def f(items):
        for item in items:
            if item == 2:
                break
        return item

    numbers = itertools.count()
    assert tf.autograph.to_graph(f)(numbers) == 2
    assert next(numbers) == 3


def test_members_that_only_the_branches_define():
    class Box:
        pass

    def f(x):
        box, table = Box(), {}
        if x > 2:
            box.value, table["a"] = x, 1
        else:
            box.value, table["a"] = -x, 2
        return box.value * 10 + table["a"]

    assert converted(f, 1, 3) == [-8, 31]

    def one_side(x):
        box = Box()
        if x > 2:
            box.value = x
        return box.value

    with pytest.raises(ValueError, match=r"must also be initialized in the else branch: \('box.value',\)"):
        converted(one_side, 1)


def test_what_a_branch_or_a_loop_did_is_undone_when_it_fails():
    seen = []

    def f(x):
        y = x
        try:
            while x > 0:
                y = x - 1
                x = "text"
        except TypeError:
            pass
        seen.append(y)
        return y

    x = tf.placeholder(tf.int32, [])
    assert tf.autograph.to_graph(f)(x) is x
    assert seen == [x]


def test_private_names_and_the_class_of_a_method():
    class Base:
        def value(self, x):
            return x + 1

    class Inner(Base):
        def __init__(self):
            self.__secret = 5

        def __hidden(self, x):
            if x > 2:
                return x + self.__secret
            return x

        def value(self, x, __unused=0):
            if x > 1:
                y = super().value(x)
            else:
                y = self.__hidden(x)
            return y + self.__hidden(x) + (0 if __class__ is Inner else 100)

        @classmethod
        def made(cls, x):
            return cls().value(x)

        @staticmethod
        def doubled(x):
            return x * 2 if x > 2 else x

    same(lambda x: Inner().value(x) + Inner.made(x) + Inner.doubled(x), 0, 2, 4)


def test_deep_nesting_and_huge_functions(tmp_path, monkeypatch):
    depth, length = 8, 150
    lines = ["def deep(x):", "    s = 0"]
    for i in range(depth):
        lines.append("    " * (i + 1) + f"if x > {i}:")
        lines.append("    " * (i + 2) + f"s = s + {i}")
    lines += ["    return s", "", "def huge(x):", "    s = 0"]
    lines += [f"    if x > {i}: s = s + {i}" for i in range(length // 10)]
    lines += [f"    s = s + {i}" for i in range(length)] + ["    return s", "", "def chain(x):"]
    for i in range(60):
        lines += [f"    {'el' if i else ''}if x == {i}:", f"        return {i * i}"]
    lines += ["    return -1", ""]
    (tmp_path / "generated_functions.py").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(tmp_path)
    import generated_functions

    same(generated_functions.deep, 5, 20)
    same(generated_functions.huge, 30)
    chain = tf.autograph.to_graph(generated_functions.chain)
    assert [chain(i) for i in (0, 7, 59, 60)] == [0, 49, 59 * 59, -1]


def test_recursion():
    def power(base, n):
        if n == 0:
            return 1
        half = power(base, n // 2)
        if n % 2:
            return half * half * base
        return half * half

    same(lambda x: power(x, 5), 0, 2, 3)


def test_partial_cached_and_decorated_functions():
    @functools.lru_cache
    def known(n):
        return n + 1

    def scaled(function):
        @functools.wraps(function)
        def wrapper(x, *args):
            return function(x, *args) * 2

        return wrapper

    @scaled
    def sign(x, y):
        if x > y:
            return 1
        return -1

    same(lambda x: functools.partial(functools.partial(sign, y := 2), *())(x) + known(3) + y, 1, 3)


def test_loop_options_have_no_effect():
    options = tf.autograph.experimental.set_loop_options

    def f(x):
        s = 0
        for i in tf.range(x):
            options(parallel_iterations=3, maximum_iterations=4)
            s += i
        return s

    with tf.Graph().as_default() as graph:
        assert converted(f, 2, 10) == [1, 45]
    entered = [op for op in graph.get_operations() if op.type == "Enter"]
    assert {op.get_attr("parallel_iterations") for op in entered} == {10}

    def outside(x):
        options(parallel_iterations=3)
        return x

    with pytest.raises(tf.contrib.autograph.AutoGraphError, match="must be used inside a statement"):
        tf.autograph.to_graph(outside)


def test_effects_are_waited_for(capfd):
    feature = tf.autograph.experimental.Feature

    def f(x):
        i = 0
        while i < x:
            if i > 1:
                print("late", i)
            i += 1
        print("end")
        if x > 2:
            print("many", x, sep=":")
        assert x < 10, "too many"
        return x * 2

    assert converted(f, 1, 4, experimental_optional_features=feature.ALL) == [2, 8]
    assert capfd.readouterr().out.splitlines() == ["end", "late 2", "late 3", "many:4"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="too many"):
        converted(f, 11, experimental_optional_features=feature.ALL)
