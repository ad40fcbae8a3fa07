"""Tensors into checkpoints and out of them, in the format of bundles and in the first one."""

import numpy as np
import pytest

import tideflow as tf

raw = tf.raw_ops
MATRIX = np.arange(12, dtype=np.float32).reshape(4, 3)
WORDS = np.array([b"x", b"yz"], object)


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def texts(*strings):
    return np.array(strings, object)


def test_a_bundle_whole_and_in_slices(session, tmp_path):
    prefix = str(tmp_path / "bundle")
    save = raw.SaveV2(
        prefix=prefix,
        tensor_names=texts(b"matrix", b"matrix", b"words"),
        shape_and_slices=texts(b"4 3 0,1:-", b"4 3 1,3:-", b""),
        tensors=[MATRIX[:1], MATRIX[1:], WORDS],
    )
    session.run(save)
    matrix, part, words = raw.RestoreV2(
        prefix=prefix,
        tensor_names=texts(b"matrix", b"matrix", b"words"),
        shape_and_slices=texts(b"", b"4 3 -:1,2", b""),
        dtypes=[tf.float32, tf.float32, tf.string],
    )
    assert part.shape.as_list() == [4, 2]
    matrix, part, words = session.run([matrix, part, words])
    np.testing.assert_array_equal(matrix, MATRIX)
    np.testing.assert_array_equal(part, MATRIX[:, 1:])
    assert words.tolist() == WORDS.tolist()


def test_bundles_become_one(session, tmp_path):
    prefixes = [str(tmp_path / "parts" / name) for name in ("a", "b")]
    merged = str(tmp_path / "merged")
    for prefix, name in zip(prefixes, (b"first", b"second")):
        session.run(
            raw.SaveV2(prefix=prefix, tensor_names=texts(name), shape_and_slices=texts(b""), tensors=[MATRIX])
        )
    session.run(raw.MergeV2Checkpoints(checkpoint_prefixes=prefixes, destination_prefix=merged))
    found = raw.RestoreV2(
        prefix=merged,
        tensor_names=texts(b"first", b"second"),
        shape_and_slices=texts(b"", b""),
        dtypes=[tf.float32] * 2,
    )
    np.testing.assert_array_equal(session.run(found), [MATRIX, MATRIX])
    assert not (tmp_path / "parts").exists()


def test_the_first_format(session, tmp_path):
    path = str(tmp_path / "old")
    session.run(raw.Save(filename=path, tensor_names=texts(b"matrix", b"words"), data=[MATRIX, WORDS]))
    matrix = raw.Restore(file_pattern=path, tensor_name="matrix", dt=tf.float32)
    part = raw.RestoreSlice(
        file_pattern=path, tensor_name="matrix", shape_and_slice="4 3 2,2:0,1", dt=tf.float32
    )
    assert part.shape.as_list() == [2, 1]
    words = raw.Restore(file_pattern=path, tensor_name="words", dt=tf.string)
    matrix, part, words = session.run([matrix, part, words])
    np.testing.assert_array_equal(matrix, MATRIX)
    np.testing.assert_array_equal(part, MATRIX[2:, :1])
    assert words.tolist() == WORDS.tolist()


def test_slices_in_the_first_format(session, tmp_path):
    path = str(tmp_path / "old")
    save = raw.SaveSlices(
        filename=path,
        tensor_names=texts(b"matrix", b"matrix"),
        shapes_and_slices=texts(b"4 3 0,2:-", b"4 3 2,2:-"),
        data=[MATRIX[:2], MATRIX[2:]],
    )
    session.run(save)
    matrix = raw.Restore(file_pattern=path, tensor_name="matrix", dt=tf.float32)
    np.testing.assert_array_equal(session.run(matrix), MATRIX)
    wrong = raw.Restore(file_pattern=path, tensor_name="matrix", dt=tf.int32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected dtype int32"):
        session.run(wrong)
