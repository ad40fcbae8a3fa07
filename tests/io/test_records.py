"""TFRecord files: what is written is read, and no damage goes unnoticed."""

from __future__ import annotations

import gzip
import struct
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tideflow as tf
from tideflow.io.checksums import masked_crc32c
from tideflow.io.records import RecordFile, damage_of, framed, open_for_reading

KINDS = ["", "GZIP", "ZLIB"]
batches_of_records = st.lists(st.binary(max_size=200), max_size=12)


def often(times):
    return settings(max_examples=times, deadline=None)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return str(tmp_path_factory.mktemp("records") / "file")


def write(path, records, options=None):
    with tf.io.TFRecordWriter(path, options) as writer:
        for record in records:
            writer.write(record)


def read(path, options=None):
    return list(tf.io.tf_record_iterator(path, options))


def written(path, data):
    with open(path, "wb") as file:
        file.write(data)


def crc32c_bit_by_bit(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


@given(st.binary(max_size=300))
@often(60)
def test_checksum_is_the_polynomial_s(data):
    crc = crc32c_bit_by_bit(data)
    assert masked_crc32c(data) == ((crc >> 15 | crc << 17) + 0xA282EAD8) % (1 << 32)


def test_a_record_in_bytes():
    assert framed(b"") == bytes(8) + struct.pack("<I", 0x07980329) + struct.pack("<I", 0xA282EAD8)


@pytest.mark.parametrize("kind", KINDS)
@given(records=batches_of_records)
@often(40)
def test_what_is_written_is_read(path, kind, records):
    write(path, records, kind)
    assert read(path, kind) == records


@given(records=batches_of_records, sizes=st.lists(st.integers(1, 5), min_size=1, max_size=5))
@often(40)
def test_batches_of_any_size_are_the_file(path, records, sizes):
    write(path, records)
    found, offsets = [], []
    with RecordFile(path) as file:
        turn = 0
        while True:
            at, batch = file.take(sizes[turn % len(sizes)])
            turn += 1
            if not batch:
                break
            found += batch
            offsets += at
        assert file.take(3) == ([], [])
    assert found == records
    assert offsets == [sum(16 + len(r) for r in records[:i]) for i in range(len(records))]


records_of_one_size = st.lists(st.binary(min_size=8, max_size=8), min_size=1, max_size=12)


@given(records=batches_of_records.filter(bool) | records_of_one_size, data=st.data())
@often(80)
def test_a_changed_bit_is_found(path, records, data):
    content = bytearray(b"".join(map(framed, records)))
    bit = data.draw(st.integers(0, 8 * len(content) - 1))
    content[bit // 8] ^= 1 << bit % 8
    written(path, content)
    starts = [sum(16 + len(r) for r in records[:i]) for i in range(len(records))]
    damaged = max(i for i, start in enumerate(starts) if start <= bit // 8)
    with RecordFile(path) as file:
        before = file.take(damaged)[1] if damaged else []
        assert before == records[:damaged]
        for _ in range(2):  # damage stays
            with pytest.raises(tf.errors.DataLossError, match=f"record at {starts[damaged]} of {path}"):
                file.take(3)


@given(records=batches_of_records.filter(bool), data=st.data())
@often(80)
def test_a_cut_file_is_found(path, records, data):
    content = b"".join(map(framed, records))
    starts = [sum(16 + len(r) for r in records[:i]) for i in range(len(records) + 1)]
    end = data.draw(st.integers(0, len(content)).filter(lambda n: n not in starts))
    written(path, content[:end])
    whole = max(i for i, start in enumerate(starts) if start <= end)
    found = []
    with pytest.raises(tf.errors.DataLossError, match=f"truncated record at {starts[whole]} of {path}"):
        for record in tf.io.tf_record_iterator(path):
            found.append(record)
    assert found == records[:whole]


@pytest.mark.parametrize("kind", ["GZIP", "ZLIB"])
@given(noise=st.binary(min_size=1, max_size=60))
@often(40)
def test_noise_is_no_compressed_file(path, kind, noise):
    written(path, noise)
    try:
        assert read(path, kind) == []  # a beginning of a header, say
    except tf.errors.DataLossError as error:
        assert path in str(error)


@given(noise=st.binary(max_size=60))
@often(60)
def test_noise_is_no_file_of_records(path, noise):
    written(path, noise)
    if noise:
        with pytest.raises(tf.errors.DataLossError, match="at 0 of"):
            read(path)
    else:
        assert read(path) == []


def test_a_length_that_nothing_could_hold(path):
    length = struct.pack("<Q", 1 << 62)
    written(path, length + struct.pack("<I", masked_crc32c(length)) + b"some")
    with pytest.raises(tf.errors.DataLossError, match=f"ends behind 4 bytes of {1 << 62}"):
        read(path)


def test_records_larger_than_what_is_read_at_once(path):
    records = [b"a" * 700_000, b"b", b"c" * 300_000]
    for kind in KINDS:
        write(path, records, kind)
        assert read(path, kind) == records


def test_several_compressed_parts_are_one_file(path):
    write(path, [b"1", b"2"], "GZIP")
    with open(path, "rb") as file:
        part = file.read()
    written(path, part * 3)
    assert read(path, "GZIP") == [b"1", b"2"] * 3


@pytest.mark.parametrize("kind", KINDS)
def test_flushed_records_can_be_read(path, kind):
    writer = tf.io.TFRecordWriter(path, kind)
    writer.write(b"first")
    writer.flush()
    assert read(path, kind) == [b"first"]
    writer.write(b"second")
    writer.close()
    assert read(path, kind) == [b"first", b"second"]


def test_settings_of_the_compression_are_used(path):
    sizes = {}
    for level in (0, 9):
        options = tf.io.TFRecordOptions("ZLIB", compression_level=level, window_bits=12, mem_level=5)
        write(path, [b"abc" * 1000], options)
        with open(path, "rb") as file:
            data = file.read()
        assert zlib.decompressobj(12).decompress(data) == framed(b"abc" * 1000)
        sizes[level] = len(data)
    assert sizes[9] < 200 < 3000 < sizes[0]


def test_damage_in_compressed_data_names_the_file(path):
    write(path, [bytes(range(256)) * 20], "GZIP")
    with open(path, "rb") as file:
        data = bytearray(file.read())
    data[30] ^= 255
    written(path, data)
    with pytest.raises(tf.errors.DataLossError, match=path):
        read(path, "GZIP")


def test_a_gzip_member_may_begin_at_any_byte_of_the_file(path):
    # The first ends one byte before the first piece that is read does, within which the second's mark begins.
    stored = 1 << 18
    while len(gzip.compress(bytes(stored), 0)) != (1 << 18) - 1:
        stored -= 1
    written(path, gzip.compress(bytes(stored), 0) + gzip.compress(b"the second"))
    with open_for_reading(path, "GZIP") as file:
        assert file.read() == bytes(stored) + b"the second"
        assert damage_of(file) is None
