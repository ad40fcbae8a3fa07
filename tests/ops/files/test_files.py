"""Files are looked at in every step; a file that is mapped is not written to."""

import numpy as np

import tideflow as tf


def test_a_file_is_read_anew_in_each_step(tmp_path):
    path = tmp_path / "a.txt"
    contents, names = tf.read_file(str(path)), tf.matching_files(f"{tmp_path}/*")
    with tf.Session() as session:
        for text in (b"first", b"second"):
            path.write_bytes(text)
            assert session.run(contents) == text
        assert [name.decode() for name in session.run(names)] == [str(path)]
        (tmp_path / "b.txt").touch()
        assert len(session.run(names)) == 2


def test_writing_makes_directories_and_comes_before_what_depends_on_it(tmp_path):
    path = str(tmp_path / "deep" / "er" / "file")
    with tf.control_dependencies([tf.io.write_file(path, b"\x00\xff")]):
        contents = tf.io.read_file(path)
    with tf.Session() as session:
        assert session.run(contents) == b"\x00\xff"


def test_a_mapped_file_is_not_written_to(tmp_path):
    path = tmp_path / "region"
    path.write_bytes(np.arange(4, dtype=np.float32).tobytes())
    x = tf.raw_ops.ImmutableConst(dtype=tf.float32, shape=[4], memory_region_name=str(path))
    v = tf.Variable(x, use_resource=False)
    with tf.Session() as session:
        session.run(v.initializer)
        np.testing.assert_array_equal(session.run(tf.assign_add(v, tf.ones([4]))), [1, 2, 3, 4])
        np.testing.assert_array_equal(session.run(x), [0, 1, 2, 3])
    assert path.read_bytes() == np.arange(4, dtype=np.float32).tobytes()
