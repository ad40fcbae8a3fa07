"""Operations on sets against Python's own."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import tideflow as tf

ROWS = st.lists(st.lists(st.integers(-3, 3), min_size=2, max_size=2), min_size=3, max_size=3)
LAWS = {
    "a-b": lambda a, b: a - b,
    "b-a": lambda a, b: b - a,
    "intersection": lambda a, b: a & b,
    "union": lambda a, b: a | b,
}


def sparse(rows):
    indices = [[i, j] for i, row in enumerate(rows) for j in range(len(row))]
    return tf.SparseTensor(indices, tf.constant([v for row in rows for v in row], tf.int32), [len(rows), 2])


def by_row(found):
    rows = [[] for _ in range(found.dense_shape[0])]
    for (i, j), value in zip(found.indices, found.values, strict=True):
        assert len(rows[i]) == j  # in order, without gaps
        rows[i].append(value)
    return rows


@settings(max_examples=40, deadline=None)
@given(a=ROWS, b=ROWS, law=st.sampled_from(sorted(LAWS)), kinds=st.tuples(st.booleans(), st.booleans()))
def test_each_pair_of_rows_is_a_pair_of_sets(a, b, law, kinds):
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = (
            sparse(rows) if is_sparse else tf.constant(rows, tf.int32)
            for rows, is_sparse in zip((a, b), kinds, strict=True)
        )
        made = {
            "a-b": lambda: tf.sets.difference(x, y),
            "b-a": lambda: tf.sets.difference(x, y, aminusb=False),
            "intersection": lambda: tf.sets.intersection(x, y),
            "union": lambda: tf.sets.union(x, y),
        }[law]()
        found, sizes = session.run([made, tf.sets.size(made)])
    expected = [sorted(LAWS[law](set(p), set(q))) for p, q in zip(a, b, strict=True)]
    assert by_row(found) == expected
    np.testing.assert_array_equal(sizes, [len(row) for row in expected])
    assert found.dense_shape.tolist() == [3, max(map(len, expected))]
