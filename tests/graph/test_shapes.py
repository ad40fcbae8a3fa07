"""Dimension, TensorShape and broadcasting. Expected values and messages are TensorFlow 1.15's."""

import pickle

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tideflow.graph import dtypes, shapes
from tideflow.graph.shapes import Dimension, TensorShape, broadcast_static_shape, unknown_shape


def raises(kind, message):
    return pytest.raises(kind, match="^" + "".join("\\" + c if c in "().?[]*+" else c for c in message) + "$")


class TestDimension:
    @pytest.mark.parametrize(
        ("value", "size"),
        [(3, 3), (None, None), ("3", 3), (3.0, 3), (np.int32(3), 3), (Dimension(4), 4), (True, 1)],
    )
    def test_made_from(self, value, size):
        dimension = Dimension(value)
        assert dimension.value == size
        assert type(dimension.value) in (int, type(None))
        assert repr(dimension) == f"Dimension({size})"
        assert str(dimension) == ("?" if size is None else str(size))

    @pytest.mark.parametrize(
        ("value", "kind", "message"),
        [
            (-1, ValueError, "Dimension -1 must be >= 0"),
            (3.5, ValueError, "Ambiguous dimension: 3.5"),
            (dtypes.float32, TypeError, "Cannot convert <dtype: 'float32'> to Dimension"),
        ],
    )
    def test_refuses(self, value, kind, message):
        with raises(kind, message):
            Dimension(value)

    def test_refuses_what_is_no_int(self):
        with pytest.raises(ValueError):
            Dimension("x")
        with pytest.raises(TypeError):
            Dimension([3])

    def test_comparing_with_an_unknown_is_none(self):
        three, unknown = Dimension(3), Dimension(None)
        for other in (three, unknown, 3, None):
            assert (unknown == other) is None
            assert (unknown != other) is None
            assert (unknown < other) is None
            assert (unknown >= other) is None
        assert (three == None) is None  # noqa: E711
        assert (three <= None) is None

    def test_comparisons(self):
        three = Dimension(3)
        assert (three == 3) is True
        assert (three == np.int64(3)) is True
        assert (three != 4) is True
        assert (three == "x") is False
        assert (three != "x") is True
        assert three < 4
        assert three <= 3
        assert three > 2
        assert not three >= 4
        with pytest.raises(ValueError):
            _ = three < "a"
        with pytest.raises(TypeError):
            hash(three)

    def test_arithmetic(self):
        three, seven = Dimension(3), Dimension(7)
        results = [
            (three + 2, 5),
            (2 + three, 5),
            (three + np.int64(3), 6),
            (5 - three, 2),
            (seven - three, 4),
            (three * 2, 6),
            (2 * three, 6),
            (seven // 2, 3),
            (7 // Dimension(2), 3),
            (seven % 4, 3),
            (7 % Dimension(4), 3),
            (three + None, None),
            (Dimension(None) - 1, None),
            (three // None, None),
            (Dimension(None) % 4, None),
        ]
        for result, expected in results:
            assert type(result) is Dimension
            assert result.value == expected

    def test_bad_arithmetic(self):
        three = Dimension(3)
        with raises(ValueError, "Dimension -2 must be >= 0"):
            three - 5
        with raises(ValueError, "Dimension -2 must be >= 0"):
            1 - three
        for other in ("a", 1.5):
            with pytest.raises(TypeError, match="unsupported operand"):
                three + other
        with pytest.raises(ZeroDivisionError):
            three // 0
        message = "unsupported operand type(s) for /: '{}' and '{}', please use // instead"
        with raises(TypeError, message.format("Dimension", "int")):
            three / 2
        with raises(TypeError, message.format("int", "Dimension")):
            2 / three
        with raises(TypeError, message.format("Dimension", "Dimension")):
            three / three

    def test_unknown_operands_are_left_to_the_other_side(self):
        class Symbol:
            def __rmul__(self, other):
                return "theirs"

        assert Dimension(3) * Symbol() == "theirs"

    def test_as_an_index(self):
        assert int(Dimension(3)) == 3
        assert [1, 2, 3, 4][Dimension(2)] == 3
        assert list(range(Dimension(2))) == [0, 1]
        assert np.zeros([Dimension(2), Dimension(3)]).shape == (2, 3)
        with pytest.raises(TypeError):
            int(Dimension(None))

    def test_merging(self):
        assert Dimension(3).merge_with(None).value == 3
        assert Dimension(None).merge_with(4).value == 4
        assert Dimension(3).is_compatible_with(None)
        assert not Dimension(3).is_compatible_with(4)
        for method in (Dimension(3).merge_with, Dimension(3).assert_is_compatible_with):
            with raises(ValueError, "Dimensions 3 and 4 are not compatible"):
                method(4)

    def test_always_true_and_pickles(self):
        assert Dimension(0)
        assert Dimension(None)
        assert pickle.loads(pickle.dumps(Dimension(3))).value == 3


class TestMakingShapes:
    @pytest.mark.parametrize(
        ("dims", "sizes"),
        [
            (None, None),
            ([], ()),
            ((), ()),
            ({}, ()),
            ([1, None], (1, None)),
            (3, (3,)),
            (Dimension(3), (3,)),
            ([2, "3"], (2, 3)),
            ([2, Dimension(3), Dimension(None)], (2, 3, None)),
            (np.array([1, 2]), (1, 2)),
            (np.array(3), (3,)),
            (np.int64(3), (3,)),
            (torch.zeros(2, 3).shape, (2, 3)),
            (range(3), (0, 1, 2)),
            (dict.fromkeys([1, 2]).keys(), (1, 2)),
            (TensorShape([1, None]), (1, None)),
            (TensorShape(None), None),
            ([2**40, True], (2**40, 1)),
        ],
        ids=str,
    )
    def test_from(self, dims, sizes):
        shape = TensorShape(dims)
        assert shape.tuple == sizes
        assert all(type(size) in (int, type(None)) for size in shape.tuple or ())

    @pytest.mark.parametrize("dims", [[-1, 2], [2, -1], [None, -1], -1])
    def test_negative_sizes(self, dims):
        with raises(ValueError, "Dimension -1 must be >= 0"):
            TensorShape(dims)

    @pytest.mark.parametrize("dims", [1.5, [1.5]])
    def test_broken_sizes(self, dims):
        with raises(ValueError, "Ambiguous dimension: 1.5"):
            TensorShape(dims)

    @pytest.mark.parametrize("dims", ["ab", "12", b"12"])
    def test_strings(self, dims):
        with raises(
            TypeError,
            f"A string has ambiguous TensorShape, please wrap in a list or convert to an int: {dims}",
        ):
            TensorShape(dims)

    @pytest.mark.parametrize("sizes", [None, [], [1], [1, None, 0]])
    def test_protos_and_pickles(self, sizes):
        shape = TensorShape(sizes)
        proto = shape.as_proto()
        assert TensorShape(proto).tuple == shape.tuple
        assert proto.unknown_rank == (sizes is None)
        assert [dim.size for dim in proto.dim] == [-1 if s is None else s for s in sizes or []]
        assert pickle.loads(pickle.dumps(shape)).tuple == shape.tuple

    def test_helpers(self):
        shape = TensorShape([1, 2])
        assert shapes.as_shape(shape) is shape
        assert shapes.as_shape([1]).tuple == (1,)
        assert shapes.from_sizes((1, None)).tuple == (1, None)
        assert unknown_shape().tuple is None
        assert unknown_shape(2).tuple == (None, None)
        dimension = Dimension(3)
        assert shapes.as_dimension(dimension) is dimension
        assert shapes.as_dimension(3).value == 3
        assert shapes.dimension_value(dimension) == shapes.dimension_value(3) == 3
        assert shapes.dimension_value(None) is None
        assert shapes.dimension_at_index(shape, 1).value == 2
        assert shapes.dimension_at_index(unknown_shape(), 1).value is None


class TestReadingShapes:
    @pytest.mark.parametrize(
        ("dims", "text", "representation"),
        [
            (None, "<unknown>", "TensorShape(None)"),
            ([], "()", "TensorShape([])"),
            ([3], "(3,)", "TensorShape([Dimension(3)])"),
            ([1, None], "(1, ?)", "TensorShape([Dimension(1), Dimension(None)])"),
        ],
    )
    def test_text(self, dims, text, representation):
        assert str(TensorShape(dims)) == text
        assert repr(TensorShape(dims)) == representation

    def test_rank_and_sizes(self):
        shape = TensorShape([2, None])
        assert shape.rank == shape.ndims == len(shape) == 2
        assert shape.as_list() == [2, None]
        assert [type(d) for d in shape.dims] == [Dimension, Dimension]
        assert [d.value for d in shape] == [2, None]
        assert [d.value for d in reversed(shape)] == [None, 2]
        assert 2 in shape
        assert np.zeros(TensorShape([2, 3])).shape == (2, 3)

    def test_unknown_rank(self):
        shape = TensorShape(None)
        assert shape.rank is shape.ndims is shape.dims is shape.num_elements() is None
        assert not shape
        assert TensorShape([])
        with raises(ValueError, "Cannot take the length of shape with unknown rank."):
            len(shape)
        with raises(ValueError, "Cannot iterate over a shape with unknown rank."):
            iter(shape)
        with raises(ValueError, "as_list() is not defined on an unknown TensorShape."):
            shape.as_list()

    @pytest.mark.parametrize(
        ("dims", "count"), [([2, 3], 6), ([], 1), ([0, 5], 0), ([2, None], None), (None, None)]
    )
    def test_num_elements(self, dims, count):
        assert TensorShape(dims).num_elements() == count

    def test_items(self):
        shape = TensorShape([1, 2, 3])
        for index in (1, -2, np.int64(1), Dimension(1), True):
            assert type(shape[index]) is Dimension
            assert shape[index].value == 2
        with pytest.raises(IndexError):
            shape[5]
        for bad in ("a", None, 0.5, (0,)):
            with pytest.raises(TypeError):
                shape[bad]

    @pytest.mark.parametrize(
        ("key", "sizes"),
        [
            (slice(1, None), (2, 3)),
            (slice(None, None, 2), (1, 3)),
            (slice(None, Dimension(2)), (1, 2)),
            (slice(None, -1), (1, 2)),
            (slice(3, 1), ()),
        ],
    )
    def test_slices(self, key, sizes):
        assert TensorShape([1, 2, 3])[key].tuple == sizes

    @pytest.mark.parametrize(
        ("key", "sizes"),
        [
            (slice(1, None), None),
            (slice(None), None),
            (slice(-2, None), None),
            (slice(None, -1), None),
            (slice(None, 2), (None, None)),
            (slice(1, 3), (None, None)),
            (slice(0, Dimension(2)), (None, None)),
            (slice(3, 1), ()),
        ],
    )
    def test_slices_of_unknown_rank(self, key, sizes):
        assert unknown_shape()[key].tuple == sizes

    def test_more_of_unknown_rank(self):
        assert unknown_shape()[7].value is None
        with raises(ValueError, "Steps are not yet handled"):
            unknown_shape()[1:5:2]


class TestComparingShapes:
    @pytest.mark.parametrize("other", [[1, 2], (1, 2), TensorShape([1, 2]), torch.Size([1, 2])])
    def test_equal(self, other):
        assert TensorShape([1, 2]) == other
        assert (TensorShape([1, 2]) != other) is False

    @pytest.mark.parametrize("other", [[1], [1, 3], [2, 1], [1, 2, 3], 5, "ab", object(), {}, [1, None]])
    def test_different(self, other):
        assert TensorShape([1, 2]) != other
        assert (TensorShape([1, 2]) == other) is False

    def test_one_size_is_a_shape(self):
        assert TensorShape([5]) == 5

    def test_unknown_sizes_are_equal_only_to_themselves(self):
        shape = TensorShape([1, None])
        assert shape == shape[:] == TensorShape(shape)
        assert (shape != shape[:]) is False
        assert (shape == TensorShape([1, None])) is False
        assert shape != TensorShape([1, None])
        assert shape != TensorShape([1, 3])

    def test_unknown_rank(self):
        assert unknown_shape() == TensorShape(None)
        assert unknown_shape() == None  # noqa: E711
        assert (unknown_shape() == TensorShape([1])) is False
        for other in (unknown_shape(), TensorShape([1]), None):
            with raises(ValueError, "The inequality of unknown TensorShapes is undefined."):
                _ = unknown_shape() != other

    def test_no_order_and_no_hash(self):
        with pytest.raises(TypeError):
            hash(TensorShape([1]))
        with pytest.raises(TypeError):
            _ = TensorShape([1]) < TensorShape([2])

    @pytest.mark.parametrize(
        ("a", "b", "compatible"),
        [
            ([1, 2], [1, None], True),
            ([1, 2], [1], False),
            ([1, 2], None, True),
            ([1, 2], [2, 2], False),
            (None, None, True),
            ([], [], True),
        ],
    )
    def test_compatibility(self, a, b, compatible):
        assert TensorShape(a).is_compatible_with(b) is compatible
        assert TensorShape(b).is_compatible_with(a) is compatible

    def test_incompatible(self):
        with raises(ValueError, "Shapes (1, 2) and [2, 2] are incompatible"):
            TensorShape([1, 2]).assert_is_compatible_with([2, 2])
        with raises(ValueError, "Shapes (1, 2) and (2, 2) are incompatible"):
            TensorShape([1, 2]).assert_is_compatible_with(TensorShape([2, 2]))

    def test_fully_defined(self):
        assert TensorShape([1]).is_fully_defined()
        assert TensorShape([]).is_fully_defined()
        TensorShape([1]).assert_is_fully_defined()
        for dims, text in ((None, "<unknown>"), ([None], "(?,)")):
            assert not TensorShape(dims).is_fully_defined()
            with raises(ValueError, f"Shape {text} is not fully defined"):
                TensorShape(dims).assert_is_fully_defined()


class TestCombiningShapes:
    @pytest.mark.parametrize(
        ("a", "b", "merged"),
        [
            ([1, None], [None, 2], (1, 2)),
            (None, [1], (1,)),
            ([1], None, (1,)),
            (None, None, None),
            ([None], [None], (None,)),
            ([0], [None], (0,)),
        ],
    )
    def test_merge(self, a, b, merged):
        assert TensorShape(a).merge_with(b).tuple == merged

    @pytest.mark.parametrize(
        ("a", "b", "message"),
        [
            ([1, None], [3, 2], "Shapes (1, ?) and (3, 2) are not compatible"),
            ([1], [1, 2], "Shapes (1,) and (1, 2) are not compatible"),
        ],
    )
    def test_contradictions(self, a, b, message):
        with raises(ValueError, message):
            TensorShape(a).merge_with(b)

    @pytest.mark.parametrize(
        ("a", "b", "common"),
        [
            ([1], [2], (None,)),
            ([1, 2], [1, 3], (1, None)),
            (None, [1], None),
            ([1], [1, 2], None),
            ([None, 2], [None, 2], (None, 2)),
        ],
    )
    def test_most_specific_compatible_shape(self, a, b, common):
        assert TensorShape(a).most_specific_compatible_shape(b).tuple == common

    def test_concatenate(self):
        one = TensorShape([1])
        assert one.concatenate([2, 3]).tuple == (1, 2, 3)
        assert one.concatenate(5).tuple == (1, 5)
        assert one.concatenate(unknown_shape()).tuple is None
        assert unknown_shape().concatenate([1]).tuple is None
        assert (one + [3]).tuple == (1, 3)
        assert ([3] + one).tuple == (3, 1)
        assert ((3,) + one).tuple == (3, 1)
        assert (one + TensorShape([2])).tuple == (1, 2)
        assert (one + None).tuple is None

    def test_ranks(self):
        shape = TensorShape([1, 2])
        assert shape.with_rank(2) == shape.with_rank_at_least(2) == shape.with_rank_at_most(2) == [1, 2]
        assert shape.with_rank(None) is shape
        assert unknown_shape().with_rank(3).tuple == (None, None, None)
        assert unknown_shape().with_rank_at_least(3).tuple is None
        assert unknown_shape().with_rank_at_most(3).tuple is None
        shape.assert_has_rank(2)
        unknown_shape().assert_has_rank(3)
        shape.assert_same_rank([5, 6])
        unknown_shape().assert_same_rank([1])

    def test_wrong_ranks(self):
        shape = TensorShape([1, 2])
        for check in (shape.with_rank, shape.assert_has_rank):
            with raises(ValueError, "Shape (1, 2) must have rank 3"):
                check(3)
        with raises(ValueError, "Shape (1, 2) must have rank at least 3"):
            shape.with_rank_at_least(3)
        with raises(ValueError, "Shape (1, 2) must have rank at most 1"):
            shape.with_rank_at_most(1)
        with raises(ValueError, "Shapes (1, 2) and (1,) must have the same rank"):
            shape.assert_same_rank([1])


class TestBroadcasting:
    @pytest.mark.parametrize(
        ("x", "y", "result"),
        [
            ([1, 2], [3, 1], (3, 2)),
            ([4, 1, 2], [3, 2], (4, 3, 2)),
            ([], [2], (2,)),
            ([0], [1], (0,)),
            ([None, 2], [3, 1], (3, 2)),
            ([None], [1], (None,)),
            ([None], [None], (None,)),
            ([None], [2], (2,)),
            ([0], [None], (None,)),
            (None, [2], None),
        ],
    )
    def test_result(self, x, y, result):
        assert broadcast_static_shape(TensorShape(x), TensorShape(y)).tuple == result
        assert broadcast_static_shape(y, x).tuple == result

    @pytest.mark.parametrize(
        ("x", "y", "text"),
        [
            ([1, 2], [3, 3], "(1, 2) and (3, 3)"),
            ([2], [3, None, 4], "(2,) and (3, ?, 4)"),
            ([0], [2], "(0,) and (2,)"),
        ],
    )
    def test_refusal(self, x, y, text):
        with raises(ValueError, f"Incompatible shapes for broadcasting: {text}"):
            broadcast_static_shape(TensorShape(x), TensorShape(y))

    @given(
        st.lists(st.integers(0, 3), max_size=3),
        st.lists(st.integers(0, 3), max_size=3),
    )
    def test_agrees_with_numpy(self, x, y):
        try:
            expected = np.broadcast_shapes(tuple(x), tuple(y))
        except ValueError:
            with pytest.raises(ValueError, match="Incompatible shapes for broadcasting"):
                broadcast_static_shape(x, y)
        else:
            assert broadcast_static_shape(x, y).tuple == expected


partial_shapes = st.none() | st.lists(st.none() | st.integers(0, 2), max_size=3)


@given(partial_shapes, partial_shapes)
def test_merge_is_the_meet_and_most_specific_the_join(a, b):
    """A merge is compatible with whatever both are; their common shape with whatever either is."""
    a, b = TensorShape(a), TensorShape(b)
    common = a.most_specific_compatible_shape(b)
    assert common.is_compatible_with(a)
    assert common.is_compatible_with(b)
    if a.is_compatible_with(b):
        merged = a.merge_with(b)
        assert merged.tuple == b.merge_with(a).tuple
        assert merged.merge_with(a).tuple == merged.tuple == merged.merge_with(b).tuple
    else:
        with pytest.raises(ValueError):
            a.merge_with(b)
