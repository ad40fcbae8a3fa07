"""cluster/http2/grpc_messages.py: what a unary request's body says, and bodies that say something else."""

import zlib

import pytest

from tideflow.cluster.http2.grpc_messages import WINDOW_BITS, message_of, prefix
from tideflow.graph.errors import InternalError, ResourceExhaustedError, UnimplementedError

MESSAGE = bytes(range(256)) * 40


def compressed(encoding):
    compressor = zlib.compressobj(wbits=WINDOW_BITS[encoding])
    return compressor.compress(MESSAGE) + compressor.flush()


def body(message, *, is_compressed=True):
    return prefix(len(message), is_compressed=is_compressed) + message


def test_messages_come_out_as_they_went_in():
    assert message_of(body(MESSAGE, is_compressed=False), None, 1 << 20) == MESSAGE
    for encoding in WINDOW_BITS:
        assert message_of(body(compressed(encoding)), encoding, len(MESSAGE)) == MESSAGE


@pytest.mark.parametrize("encoding", WINDOW_BITS)
def test_no_part_of_a_compressed_message_passes_for_all_of_it(encoding):
    whole = compressed(encoding)
    for length in range(0, len(whole), 7):
        with pytest.raises(InternalError, match="ends too early"):
            message_of(body(whole[:length]), encoding, 1 << 20)
    with pytest.raises(InternalError, match="not compressed as the headers say"):
        message_of(body(MESSAGE), encoding, 1 << 20)
    with pytest.raises(ResourceExhaustedError, match=r"larger than max \(100\)"):
        message_of(body(whole), encoding, 100)


def test_bodies_that_are_no_message():
    with pytest.raises(InternalError, match="ends before its message"):
        message_of(b"\0\0\0", None, 100)
    with pytest.raises(InternalError, match="A message of 3 bytes was announced, 2 came"):
        message_of(prefix(3) + b"ab", None, 100)
    with pytest.raises(UnimplementedError, match="Compression b'br' is not known"):
        message_of(body(MESSAGE), b"br", 100)
