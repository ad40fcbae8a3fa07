"""Ragged tensors against nested lists."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tideflow as tf

ROWS = st.lists(st.lists(st.integers(-9, 9), max_size=4), min_size=1, max_size=5)
DEEP = st.lists(st.lists(st.lists(st.integers(-9, 9), max_size=3), max_size=3), min_size=1, max_size=3)
few = settings(max_examples=25, deadline=None)


def run(build):
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(build())


def ragged(rows, rank=1):
    return tf.ragged.constant(rows, dtype=tf.int32, ragged_rank=rank)


@few
@given(rows=DEEP)
def test_there_and_back(rows):
    value = run(lambda: ragged(rows, 2))
    assert value.to_list() == rows
    again = run(
        lambda: tf.RaggedTensor.from_nested_row_lengths(
            value.flat_values, [np.diff(s) for s in value.nested_row_splits]
        )
    )
    assert again.to_list() == rows


@few
@given(rows=ROWS, start=st.integers(-4, 4), stop=st.integers(-4, 4), step=st.sampled_from([-2, -1, 1, 2]))
def test_slices_are_pythons(rows, start, stop, step):
    part = slice(start, stop, step)
    inner, outer = run(lambda: [ragged(rows)[:, part], ragged(rows)[part]])
    assert inner.to_list() == [row[part] for row in rows]
    assert outer.to_list() == rows[part]


@few
@given(rows=ROWS)
def test_dense_and_sparse(rows):
    dense, back = run(
        lambda: [
            ragged(rows).to_tensor(99),
            tf.RaggedTensor.from_tensor(ragged(rows).to_tensor(99), padding=99),
        ]
    )
    longest = max(map(len, rows))
    assert dense.tolist() == [row + [99] * (longest - len(row)) for row in rows]
    assert back.to_list() == rows
    assert run(lambda: tf.RaggedTensor.from_sparse(ragged(rows).to_sparse())).to_list() == rows


@few
@given(rows=DEEP)
def test_sums(rows):
    x = lambda: ragged(rows, 2)
    total, by_row, inner = run(
        lambda: [tf.reduce_sum(x()), tf.reduce_sum(x(), axis=[1, 2]), tf.reduce_sum(x(), axis=2)]
    )
    assert total == sum(v for row in rows for part in row for v in part)
    assert by_row.tolist() == [sum(map(sum, row)) for row in rows]
    assert inner.to_list() == [[sum(part) for part in row] for row in rows]


@few
@given(rows=ROWS, weights=st.lists(st.integers(1, 9), min_size=5, max_size=5))
def test_a_column_is_broadcast_along_rows(rows, weights):
    column = np.int32(weights[: len(rows)])[:, None]
    found = run(lambda: [ragged(rows) * column, column - ragged(rows)])
    assert found[0].to_list() == [[v * w for v in row] for row, w in zip(rows, weights, strict=False)]
    assert found[1].to_list() == [[w - v for v in row] for row, w in zip(rows, weights, strict=False)]


@few
@given(first=ROWS, second=ROWS)
def test_joining(first, second):
    assert run(lambda: tf.concat([ragged(first), ragged(second)], 0)).to_list() == first + second
    count = min(len(first), len(second))
    first, second = first[:count], second[:count]
    side = run(lambda: tf.concat([ragged(first), ragged(second)], 1))
    assert side.to_list() == [a + b for a, b in zip(first, second, strict=True)]
    assert run(lambda: tf.ragged.stack([ragged(first), ragged(second)])).to_list() == [first, second]


@few
@given(rows=DEEP, data=st.data())
def test_index_vectors_take_what_lists_have(rows, data):
    places = [(i, j, k) for i, row in enumerate(rows) for j, part in enumerate(row) for k in range(len(part))]
    if not places:
        return
    chosen = data.draw(st.lists(st.sampled_from(places), min_size=1, max_size=4))
    params = lambda: ragged(rows, 2)
    assert run(lambda: tf.gather_nd(params(), chosen)).tolist() == [rows[i][j][k] for i, j, k in chosen]
    pairs = [[i, j] for i, j, _ in chosen]
    assert run(lambda: tf.gather_nd(params(), pairs)).to_list() == [rows[i][j] for i, j in pairs]
    assert run(lambda: tf.gather_nd(params(), [[i] for i, _ in pairs])).to_list() == [
        rows[i] for i, _ in pairs
    ]


def test_dimensions_of_size_one_are_squeezed():
    assert run(lambda: tf.squeeze(ragged([[[1], [2, 3]]], 2), 0)).to_list() == [[1], [2, 3]]
    assert run(lambda: tf.squeeze(ragged([[[1, 2]], [[3]]], 2), 1)).to_list() == [[1, 2], [3]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="is not squeezable!"):
        run(lambda: tf.squeeze(ragged([[1, 2]]), 1))


@settings(max_examples=8, deadline=None)
@given(rows=ROWS, data=st.data())
def test_rows_are_dealt_out_to_partitions(rows, data):
    size = len(rows)
    numbers = data.draw(st.lists(st.integers(0, 2), min_size=size, max_size=size))
    parts = run(lambda: tf.dynamic_partition(ragged(rows), np.int32(numbers), 3))
    expected = [[row for row, at in zip(rows, numbers, strict=True) if at == number] for number in range(3)]
    assert [part.to_list() for part in parts] == expected


def test_operands_of_different_rows_are_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="Unable to broadcast"):
        run(lambda: ragged([[1, 2], [3]]) + ragged([[1], [2, 3]]))


def test_a_step_may_be_fed_ragged_values_of_any_rows():
    x = tf.ragged.placeholder(tf.int32, 1, [])
    doubled = x + x
    with tf.Session() as session:
        for rows in ([[1, 2], []], [[3]], [[], [4, 5, 6], [7]]):
            value = tf.ragged.constant_value(rows, dtype="int32", ragged_rank=1)
            assert session.run(doubled, {x: value}).to_list() == [[2 * v for v in row] for row in rows]


def test_values_of_bytes_are_of_numpys_own_type():
    value = tf.ragged.constant_value([[b"ab", b"c"], []], dtype=bytes)
    assert value.values.dtype.kind == "S" and value.to_list() == [[b"ab", b"c"], []]


def test_values_are_gathered_by_vectors_and_by_rows():
    value = tf.ragged.constant_value([[1, 2], [3]], dtype="int32")
    assert run(lambda: tf.gather_nd(value, [[1], [0]])).to_list() == [[3], [1, 2]]
    assert run(lambda: tf.gather_nd([5, 6], ragged([[[1]], [[0], [1]]], 1))).to_list() == [[6], [5, 6]]
    assert run(lambda: tf.batch_gather(value, [[1], [0]])).tolist() == [[2], [3]]
    assert run(lambda: tf.batch_gather(value, [1])).to_list() == [[3]]
    deep = [[[1, 2], [3]], [[4]]]
    assert run(lambda: tf.batch_gather(ragged(deep, 2), [[1], [0]])).to_list() == [[[3]], [[4]]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(lambda: tf.batch_gather(ragged(deep, 2), ragged([[[0], [0]], [[0], [0]]], 2)))
    with pytest.raises(ValueError, match="does not match params shape"):
        run(lambda: tf.batch_gather(ragged([[1]]), [[[0]]]))


def test_choices_and_masks_of_other_forms_are_refused():
    with tf.Graph().as_default():
        chosen = ragged([[1, 0], [1]]) > 0
        with pytest.raises(ValueError, match="x and y must be either both None or both non-None"):
            tf.where(chosen, chosen)
        with pytest.raises(ValueError, match="Input shapes do not match"):
            tf.where(chosen, chosen, [[True, True], [True, True]])
        with pytest.raises(ValueError, match=r"Shapes \(1, 3\) and \(1, 2\) are incompatible"):
            tf.ragged.boolean_mask([[1, 2, 3]], [[True, False]])


def test_tiled_rows_are_counted_before_a_step():
    with tf.Graph().as_default():
        assert tf.tile(ragged([[1, 2], [3]]), [3, 2]).shape.as_list() == [6, None]


def test_public_functions_keep_their_names_and_arguments():
    import inspect

    assert tf.add.__name__ == "add" and tf.math.add is tf.add
    assert list(inspect.signature(tf.reduce_sum).parameters)[:2] == ["input_tensor", "axis"]
