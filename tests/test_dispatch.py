"""Functions that take more than tensors: one function under every name, that looks at its arguments."""

import pytest

import tideflow as tf
from tideflow import dispatch
from tideflow.export import symbols
from tideflow.linalg import forms as operator_forms  # noqa: F401 - registers the forms
from tideflow.ops.arrays import joining
from tideflow.ops.linalg import matmul
from tideflow.ops.math import binary, reductions, unary


class Pair:
    def __init__(self, a, b):
        self.parts = a, b


@pytest.fixture
def pairs(monkeypatch):
    """A kind of its own: pairs of numbers."""
    for name in ("_kinds", "_makers"):
        monkeypatch.setattr(dispatch, name, dict(getattr(dispatch, name)))
    monkeypatch.setattr(dispatch, "_suspects", set(dispatch._suspects))
    dispatch.register_class(Pair, "pair")

    @dispatch.form("pair", "each")
    def each(function):
        return lambda x, *args, **kwargs: [function(part, *args, **kwargs) for part in x.parts]

    @dispatch.replacement("pair", "count")
    def count(values):
        return sum(len(value.parts) if isinstance(value, Pair) else 1 for value in values)


def test_a_form_takes_the_place_of_a_function_where_an_argument_calls_for_it(pairs):
    def negative(x, factor=1):
        """-x."""
        return -x * factor

    function = dispatch.dispatching(negative, {"pair": "each"})
    assert function(2) == -2 and function(x=2, factor=3) == -6
    assert function(Pair(1, 2)) == [-1, -2] and function(Pair(1, 2), factor=2) == [-2, -4]
    assert function(x=Pair(1, 2)) == [-1, -2]
    assert (function.__name__, function.__doc__, function.__wrapped__) == ("negative", "-x.", negative)


def test_lists_are_looked_into_and_other_kinds_are_left_alone(pairs):
    function = dispatch.dispatching(len, {"pair": "count"})
    assert function([1, 2, 3]) == 3 and function([1, Pair(1, 2)]) == 3
    other = dispatch.dispatching(lambda x: "as it is", {"ragged": "values"})
    assert other(Pair(1, 2)) == "as it is"


def test_a_public_function_is_the_one_of_its_module():
    assert tf.exp is tf.math.exp is unary.exp
    assert tf.add is binary.add and tf.reduce_sum is reductions.reduce_sum
    assert tf.concat is joining.concat and tf.matmul is matmul.matmul


def test_every_form_that_a_function_names_is_there():
    named = {}
    for function in (*symbols.values(), joining._concat):  # tf.concat asks for its forms itself
        cells = getattr(function, "__closure__", None) or ()
        if getattr(function, "__code__", None) is tf.exp.__code__:
            free = dict(zip(function.__code__.co_freevars, cells))
            for kind, name in free["forms"].cell_contents.items():
                named[kind, name] = function
    assert named.keys() == dispatch._makers.keys()
    assert {kind for kind, _ in named} == set(dispatch._kinds.values()) == {"ragged", "operator"}
