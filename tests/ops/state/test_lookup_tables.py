"""Both generations of every kind of table: filled, asked, changed, exported."""

import numpy as np
import pytest

import tideflow as tf

raw = tf.raw_ops
GENERATIONS = ["", "V2"]
TYPES = {"key_dtype": tf.int64, "value_dtype": tf.float32}


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def of(generation, name):
    return getattr(raw, f"{name}{generation}")


def on(generation, name, table, **arguments):
    return of(generation, f"LookupTable{name}")(table_handle=table, **arguments)


def found(session, generation, table, keys, default):
    values = on(generation, "Find", table, keys=np.int64(keys), default_value=np.float32(default))
    return session.run(values).tolist()


MUTABLE = {
    "MutableHashTable": lambda generation: of(generation, "MutableHashTable")(**TYPES),
    "MutableDenseHashTable": lambda generation: of(generation, "MutableDenseHashTable")(
        empty_key=np.int64(-1),
        value_dtype=tf.float32,
        **({"deleted_key": np.int64(-2)} if generation else {}),
    ),
}


@pytest.mark.parametrize("generation", GENERATIONS)
@pytest.mark.parametrize("kind", MUTABLE)
def test_what_was_inserted_is_found(session, kind, generation):
    table = MUTABLE[kind](generation)
    session.run(on(generation, "Insert", table, keys=np.int64([1, 2]), values=np.float32([0.5, 1.5])))
    session.run(on(generation, "Insert", table, keys=np.int64([2, 3]), values=np.float32([2.5, 3.5])))
    assert found(session, generation, table, [3, 2, 7], -1) == [3.5, 2.5, -1]
    assert session.run(on(generation, "Size", table)) == 3
    exported = session.run(on(generation, "Export", table, Tkeys=tf.int64, Tvalues=tf.float32))
    stored = {int(key): float(value) for key, value in zip(*map(np.ravel, exported)) if key >= 0}
    assert stored == {1: 0.5, 2: 2.5, 3: 3.5}
    session.run(on(generation, "Insert", table, keys=np.int64([7]), values=np.float32([7.5])))
    # As a saver restores it: a dense table is exported bucket by bucket, which its graph does not know.
    keys, values = tf.placeholder(tf.int64), tf.placeholder(tf.float32)
    feeds = dict(zip((keys, values), exported))
    session.run(on(generation, "Import", table, keys=keys, values=values), feeds)
    assert found(session, generation, table, [7, 1], -1) == [-1, 0.5]
    if generation:
        session.run(on(generation, "Remove", table, keys=np.int64([1])))
        assert session.run(on(generation, "Size", table)) == 2


@pytest.mark.parametrize("generation", GENERATIONS)
def test_values_that_are_vectors(session, generation):
    table = of(generation, "MutableHashTableOfTensors")(**TYPES, value_shape=[2])
    session.run(on(generation, "Insert", table, keys=np.int64([4]), values=np.float32([[1, 2]])))
    assert found(session, generation, table, [4, 5], [8, 9]) == [[1, 2], [8, 9]]
    bad = of(generation, "MutableHashTableOfTensors")(**TYPES)
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be a vector"):
        session.run(on(generation, "Size", bad))


@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_table_that_is_filled_once(session, generation):
    table = of(generation, "HashTable")(**TYPES)
    fill = of(generation, "InitializeTable")
    with pytest.raises(tf.errors.FailedPreconditionError, match="not initialized"):
        found(session, generation, table, [1], -1)
    session.run(fill(table_handle=table, keys=np.int64([1, 2]), values=np.float32([0.5, 1.5])))
    assert found(session, generation, table, [2, 3], -1) == [1.5, -1]
    with pytest.raises(tf.errors.FailedPreconditionError, match="already initialized"):
        session.run(fill(table_handle=table, keys=np.int64([1]), values=np.float32([9])))


@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_table_filled_from_lines_of_a_file(session, generation, tmp_path):
    path = tmp_path / "words"
    path.write_text("a;1\nb;2\nc;3\n")
    table = of(generation, "HashTable")(key_dtype=tf.string, value_dtype=tf.int64)
    fill = of(generation, "InitializeTableFromTextFile")(
        table_handle=table, filename=str(path), key_index=0, value_index=1, delimiter=";", vocab_size=2
    )
    session.run(fill)
    values = on(generation, "Find", table, keys=np.array([b"b", b"c"], object), default_value=np.int64(-1))
    assert session.run(values).tolist() == [2, -1]


def test_tables_of_one_name_are_one_and_of_the_same_types(session):
    first = raw.MutableHashTableV2(**TYPES, shared_name="one", name="first")
    second = raw.MutableHashTableV2(**TYPES, shared_name="one", name="second")
    other = raw.MutableHashTableV2(key_dtype=tf.int64, value_dtype=tf.int64, shared_name="one", name="other")
    session.run(on("V2", "Insert", first, keys=np.int64([1]), values=np.float32([0.5])))
    assert session.run(on("V2", "Size", second)) == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="Conflicting key/value dtypes"):
        session.run(on("V2", "Size", other))
