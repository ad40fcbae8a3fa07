"""Tables whose blocks snappy compressed, as other programs write the index of a checkpoint."""

import pytest

from tideflow.graph.errors import DataLossError
from tideflow.graph.varints import encode_varint
from tideflow.io.checksums import masked_crc32c
from tideflow.io.snappy import uncompressed
from tideflow.io.tables import read_table

# Every kind of element: a literal, a copy with a distance of 11 bits, of 16, of 32, one that repeats itself.
WORDS = b"abcdefgh"
ELEMENTS = bytes([7 << 2]) + WORDS + bytes([1 | 0 << 2, 8]) + bytes([2 | 2 << 2, 3, 0])
ELEMENTS += bytes([3 | 4 << 2, 15, 0, 0, 0]) + bytes([1 | 5 << 2, 2])
PLAIN = b"abcdefghabcdbcdabcdededededede"


def test_every_kind_of_element():
    long = bytes(range(200)) * 2
    literal = encode_varint(400) + bytes([61 << 2]) + (399).to_bytes(2, "little") + long
    assert uncompressed(encode_varint(29) + ELEMENTS) == PLAIN[:29]
    assert uncompressed(literal) == long
    assert uncompressed(b"\0") == b""


@pytest.mark.parametrize(
    "data, what",
    [
        (encode_varint(30) + ELEMENTS, "29 bytes instead of the 30"),
        (encode_varint(28) + ELEMENTS, "more than the 28 bytes"),
        (encode_varint(29) + ELEMENTS[:-1], "reaches beyond its end"),
        (encode_varint(9) + bytes([7 << 2]) + WORDS + bytes([1, 9]), "9 bytes back, where there are 8"),
        (encode_varint(9) + bytes([7 << 2]) + WORDS + bytes([1, 0]), "0 bytes back"),
        (encode_varint(1 << 40) + ELEMENTS, "cannot hold"),
        (b"\xff", "no variable-length integer"),
    ],
)
def test_damage_is_told(data, what):
    with pytest.raises(ValueError, match=what):
        uncompressed(data)


def _block(compressed):
    typed = compressed + b"\1"
    return typed + masked_crc32c(typed).to_bytes(4, "little")


def _literal(plain):
    return encode_varint(len(plain)) + bytes([len(plain) - 1 << 2]) + plain


def _table(data):
    """A file of one data block, all blocks compressed."""
    restarts = (0).to_bytes(4, "little") + (1).to_bytes(4, "little")
    handle = encode_varint(0) + encode_varint(len(data))
    index = _literal(b"\0\1" + bytes([len(handle)]) + b"z" + handle + restarts)
    at = len(data) + 5
    footer = encode_varint(0) + encode_varint(len(data)) + encode_varint(at) + encode_varint(len(index))
    return _block(data) + _block(index) + footer.ljust(40, b"\0") + 0xDB4775248B80FB57.to_bytes(8, "little")


def test_a_table_of_compressed_blocks(tmp_path):
    entries = b"\0\1\2akv\1\1\2bkw"
    restarts = (0).to_bytes(4, "little") + (1).to_bytes(4, "little")
    path = tmp_path / "table"
    path.write_bytes(_table(_literal(entries + restarts)))
    assert list(read_table(str(path))) == [(b"a", b"kv"), (b"ab", b"kw")]
    path.write_bytes(_table(encode_varint(12) + ELEMENTS))
    with pytest.raises(DataLossError, match="a block that snappy compressed: more than the 12 bytes"):
        list(read_table(str(path)))
