"""Python's operators on tensors: the nodes they make, under TensorFlow's names, and what they refuse."""

import operator

import numpy as np
import pytest

import tideflow as tf

NUMBERS = {
    "+": (operator.add, "add", "AddV2"),
    "-": (operator.sub, "sub", "Sub"),
    "*": (operator.mul, "mul", "Mul"),
    "/": (operator.truediv, "truediv", "RealDiv"),
    "//": (operator.floordiv, "floordiv", "FloorDiv"),
    "%": (operator.mod, "mod", "FloorMod"),
    "**": (operator.pow, "pow", "Pow"),
}
COMPARISONS = {
    "<": (operator.lt, "Less", "Greater"),
    "<=": (operator.le, "LessEqual", "GreaterEqual"),
    ">": (operator.gt, "Greater", "Less"),
    ">=": (operator.ge, "GreaterEqual", "LessEqual"),
}
LOGIC = {"&": (operator.and_, "and", "LogicalAnd"), "|": (operator.or_, "or", "LogicalOr")}


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


def nodes():
    return [
        f"{op.name} = {op.type}({', '.join(t.name for t in op.inputs)})"
        for op in tf.get_default_graph().get_operations()
        if op.type != "Placeholder"
    ]


def placeholder(dtype, name="p"):
    return tf.placeholder(dtype, [3], name)


@pytest.mark.parametrize("sign", NUMBERS)
def test_of_two_tensors(sign):
    apply, name, op_type = NUMBERS[sign]
    apply(placeholder(tf.float32), placeholder(tf.float32, "q"))
    assert nodes() == [f"{name} = {op_type}(p:0, q:0)"]


@pytest.mark.parametrize(
    "number", [2, 2.0, np.float32(2), np.array([2.0, 2.0, 2.0]), [2.0, 2.0, 2.0]], ids=repr
)
@pytest.mark.parametrize("sign", NUMBERS)
def test_a_number_becomes_a_constant_of_the_tensors_type(sign, number):
    apply, name, op_type = NUMBERS[sign]
    right, left = apply(placeholder(tf.float32), number), apply(number, placeholder(tf.float32, "q"))
    assert nodes() == [
        f"{name}/y = Const()",
        f"{name} = {op_type}(p:0, {name}/y:0)",
        f"{name}_1/x = Const()",
        f"{name}_1 = {op_type}({name}_1/x:0, q:0)",
    ]
    assert right.dtype is left.dtype is tf.float32
    assert right.shape.as_list() == left.shape.as_list() == [3]


@pytest.mark.parametrize(
    ("dtype", "quotient"), [(tf.int8, tf.float32), (tf.uint16, tf.float32), (tf.int64, tf.float64)]
)
def test_integers_are_divided_as_floating_point(dtype, quotient):
    assert (placeholder(dtype) / 2).dtype is quotient
    assert nodes() == [
        "truediv/y = Const()",
        "truediv/Cast = Cast(p:0)",
        "truediv/Cast_1 = Cast(truediv/y:0)",
        "truediv = RealDiv(truediv/Cast:0, truediv/Cast_1:0)",
    ]


@pytest.mark.parametrize("sign", COMPARISONS)
def test_comparisons(sign):
    apply, op_type, mirrored = COMPARISONS[sign]
    apply(placeholder(tf.int32), 2)
    apply(2, placeholder(tf.int32, "q"))
    assert nodes() == [
        f"{op_type}/y = Const()",
        f"{op_type} = {op_type}(p:0, {op_type}/y:0)",
        f"{mirrored}/y = Const()",
        f"{mirrored} = {mirrored}(q:0, {mirrored}/y:0)",
    ]


@pytest.mark.parametrize("sign", LOGIC)
def test_logic(sign):
    apply, name, op_type = LOGIC[sign]
    apply(placeholder(tf.bool), placeholder(tf.bool, "q"))
    apply(True, placeholder(tf.bool, "r"))
    assert nodes() == [
        f"{name} = {op_type}(p:0, q:0)",
        f"{name}_1/x = Const()",
        f"{name}_1 = {op_type}({name}_1/x:0, r:0)",
    ]


def test_exclusive_or_is_made_of_four():
    placeholder(tf.bool) ^ placeholder(tf.bool, "q")
    assert nodes() == [
        "xor/LogicalOr = LogicalOr(p:0, q:0)",
        "xor/LogicalAnd = LogicalAnd(p:0, q:0)",
        "xor/LogicalNot = LogicalNot(xor/LogicalAnd:0)",
        "xor = LogicalAnd(xor/LogicalOr:0, xor/LogicalNot:0)",
    ]


def test_one_operand():
    -placeholder(tf.float32)
    abs(placeholder(tf.complex64, "q"))
    ~placeholder(tf.bool, "r")
    assert nodes() == ["Neg = Neg(p:0)", "Abs = ComplexAbs(q:0)", "LogicalNot = LogicalNot(r:0)"]


def test_matrix_product():
    made = tf.placeholder(tf.float32, [2, 3], "p") @ np.ones([3, 4], np.float32)
    assert made.shape.as_list() == [2, 4]
    assert nodes() == ["matmul/y = Const()", "matmul = MatMul(p:0, matmul/y:0)"]


def test_strings_are_joined_by_the_older_add():
    joined = tf.constant(["a", "b"]) + "c"
    assert joined.op.type == "Add"
    with tf.Session() as session:
        assert session.run(joined).tolist() == [b"ac", b"bc"]


def test_equality_is_identity():
    x, y = placeholder(tf.float32), placeholder(tf.float32, "q")
    assert (x == x) is True
    assert (x == y) is False
    assert (x != y) is True
    assert len({x, y, x}) == 2
    assert nodes() == []


def test_another_class_may_answer():
    class Other:
        def __radd__(self, tensor):
            return "mine"

    assert placeholder(tf.float32) + Other() == "mine"
    with pytest.raises(TypeError):
        placeholder(tf.float32, "q") - Other()


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: placeholder(tf.int32) + 1.5,
        lambda: 1.5 + placeholder(tf.int32),
        lambda: placeholder(tf.float32) * placeholder(tf.float64, "q"),
        lambda: placeholder(tf.float32) / placeholder(tf.int32, "q"),
        lambda: placeholder(tf.bool) + True,
        lambda: placeholder(tf.bool) / True,
        lambda: placeholder(tf.uint32) / 2,
        lambda: placeholder(tf.float32) & True,
        lambda: ~placeholder(tf.int32),
        lambda: placeholder(tf.float32) + "a",
    ],
)
def test_types_are_not_mixed(attempt):
    with pytest.raises(TypeError):
        attempt()


def test_none_is_no_operand():
    with pytest.raises(ValueError, match="None values not supported"):
        placeholder(tf.float32) + None


def test_the_sum_of_one_indexed_slices_is_dense():
    with tf.Graph().as_default(), tf.Session() as session:
        slices = tf.IndexedSlices(tf.constant([[1, 2]]), tf.constant([1]), tf.constant([2, 2]))
        assert session.run(tf.add_n([slices])).tolist() == [[0, 0], [1, 2]]
