"""Messages as frames: what is sent arrives, and a false header is refused before memory is allocated."""

import json

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tensorboard.compat.proto.node_def_pb2 import NodeDef

from tests.cluster.kinds import KINDS, Echo
from tideflow.cluster import wire
from tideflow.cluster.messages import Failure
from tideflow.cluster.wire import Envelope, encode
from tideflow.graph import errors
from tideflow.graph.errors import DataLossError, FailedPreconditionError, InvalidArgumentError
from tideflow.runtime.resources import SOLE_STORAGE_USE, storage_uses

DTYPES = [dtype.torch for dtype in wire._TYPES.values() if dtype.torch is not None]
PREFIX = wire._PREFIX.size


def decode(frames):
    return wire.decode(frames, KINDS)


def through(message, **options):
    return decode([bytes(memoryview(frame)) for frame in encode(message, **options)])


def only(tensor, **options):
    [value] = through(Echo(tensors=[tensor]), **options).tensors
    return value


def framed(header, *frames, tail=b""):
    """The frames of a message with this header, right or wrong."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return [
        wire._PREFIX.pack(b"TIDE", wire.VERSION, 0, 0, 0, 0, len(frames), len(text)) + text + tail,
        *frames,
    ]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 4), (2, 3), (70, 300)], ids=str)
def test_every_type_and_shape(dtype, shape):
    tensor = torch.randint(0, 2, shape).to(dtype)
    value = only(tensor)
    assert value.dtype == dtype and value.shape == tensor.shape
    torch.testing.assert_close(value, tensor)


def test_kind_fields_and_dead_values():
    fields = {"step": 3, "names": ["a", "ü"], "x": None}
    message = through(Echo(fields, tensors=[None, torch.ones(1)]))
    assert type(message) is Echo and message.kind == "echo" and message.fields == fields
    assert message.tensors[0] is None and message.tensors[1].tolist() == [1.0]


@pytest.mark.parametrize("shape", [(), (3,), (0, 2), (2, 2)])
def test_strings(shape):
    strings = np.empty(shape, object)
    strings[...] = b"x\0y" * 3
    value = only(strings)
    assert value.dtype == object and value.shape == shape and value.tolist() == strings.tolist()


def test_long_strings_have_a_frame():
    strings = np.array([b"", b"a" * 100_000], object)
    assert len(encode(Echo(tensors=[strings]))) == 2
    assert only(strings).tolist() == strings.tolist()


def test_views_arrive_as_the_values_that_they_show():
    base = torch.arange(60_000.0).reshape(200, 300)
    assert torch.equal(only(base.T), base.T)
    assert torch.equal(only(base[::2, 1]), base[::2, 1])
    turning = torch.tensor([1 + 2j, 3 - 1j])
    assert torch.equal(only(turning.conj()), turning.conj().resolve_conj())
    assert torch.equal(only(np.asfortranarray(base.numpy())), base)


def test_large_tensors_are_not_copied_on_the_way_out_nor_in():
    tensor = torch.arange(100_000.0)
    header, frame = encode(Echo(tensors=[tensor]))
    assert np.asarray(frame).ctypes.data == tensor.data_ptr()
    received = bytearray(frame)
    [value] = decode([header, received]).tensors
    received[0:4] = np.float32(7).tobytes()
    assert value[0] == 7 and tensor[0] == 0


def test_a_tensor_is_held_while_its_frame_is():
    """So a variable's writer sees that the buffer is still read, and copies it."""
    for dtype in (torch.float32, torch.bfloat16):
        tensor = torch.ones(100_000, dtype=dtype)
        frames = encode(Echo(tensors=[tensor]))
        assert storage_uses(tensor) > SOLE_STORAGE_USE
        del frames
        assert storage_uses(tensor) == SOLE_STORAGE_USE


def test_an_unaligned_frame_is_copied():
    tensor = torch.arange(100_000.0)
    header, frame = encode(Echo(tensors=[tensor]))
    unaligned = memoryview(bytearray(b"?" + bytes(frame)))[1:]
    [value] = decode([header, unaligned]).tensors
    assert torch.equal(value, tensor) and value.data_ptr() % 4 == 0


def test_compression_keeps_the_upper_half_of_a_float():
    values = torch.tensor([1.0, -2.5, 3.14159265, 1e-40, float("inf"), float("-inf"), float("nan"), 0.0])
    values[6:7].view(torch.int32).fill_(0x7F800001)  # a NaN that only the lower half tells from infinity
    value = only(values, compress=True)
    cut = (values.view(torch.int32) & -0x10000).view(torch.float32)
    assert value.dtype == torch.float32 and value[6].isnan()
    assert value[:6].tolist() == cut[:6].tolist()
    big = torch.rand(300, 300)
    assert memoryview(encode(Echo(tensors=[big]), compress=True)[1]).nbytes == 2 * big.numel()
    assert only(torch.ones(2, dtype=torch.float64), compress=True).dtype == torch.float64
    assert only(torch.tensor(3.0), compress=True).shape == ()


@given(st.lists(st.one_of(st.none(), st.lists(st.binary(max_size=40), max_size=4)), max_size=4))
def test_any_strings(lists):
    message = Echo(tensors=[None if one is None else np.array([*one, None], object)[:-1] for one in lists])
    found = [None if value is None else value.tolist() for value in through(message).tensors]
    assert found == lists


def test_the_envelope():
    envelope = Envelope(5, 2**63 + 1, 2**64 - 1, 77)
    frames = encode(Echo(), envelope)
    assert wire.open_envelope(frames[0]) == envelope and wire.request_of(frames[0]) == 2**63 + 1


@pytest.mark.parametrize("value", [object(), np.array(["text"], object), [1.0]])
def test_a_value_that_cannot_leave_its_task(value):
    with pytest.raises(InvalidArgumentError, match="tensor"):
        encode(Echo(tensors=[value]))


def test_fields_are_json():
    with pytest.raises(InvalidArgumentError, match="'echo' has a field that is not JSON"):
        encode(Echo({"x": object()}))


# ------------------------------------------------------------------------------------------------- bad input


@given(st.binary(max_size=200))
def test_junk_is_no_message(junk):
    with pytest.raises((DataLossError, InvalidArgumentError)):
        decode([junk])


@given(st.data())
def test_a_message_changed_anywhere_is_decoded_or_refused(data):
    frames = [
        bytearray(f) for f in encode(Echo({"a": 1}, tensors=[torch.ones(3), np.array([b"abc"], object)]))
    ]
    at = data.draw(st.integers(0, len(frames[0]) - 1))
    frames[0][at] = data.draw(st.integers(0, 255))
    try:
        decode(frames)
    except errors.OpError:
        pass


def test_every_truncation_is_noticed():
    frames = encode(Echo({"a": 1}, tensors=[torch.ones(3), torch.ones(20000)]))
    whole = bytes(frames[0])
    for length in range(len(whole)):
        with pytest.raises((DataLossError, InvalidArgumentError)):
            decode([whole[:length], frames[1]])
    with pytest.raises(DataLossError, match="has a frame of 79999"):
        decode([whole, bytes(frames[1])[:-1]])
    with pytest.raises(DataLossError, match="no frame"):
        decode([whole])
    with pytest.raises(DataLossError, match="more bytes or frames"):
        decode([*frames, b"more"])
    with pytest.raises(DataLossError):
        decode([])


def test_another_version_is_named():
    frame = bytearray(encode(Echo())[0])
    frame[4] = 9
    with pytest.raises(FailedPreconditionError, match="version 9 of the protocol, this one"):
        decode([frame])


@pytest.mark.parametrize(
    ("spec", "error", "text"),
    [
        ([1, 1, [10**12], 4 * 10**12, 0], DataLossError, "not all there"),
        ([1, 1, [10**12], 4 * 10**12, 1], DataLossError, "no frame"),
        ([1, 1, [2**62, 2**62, 0, 5], 4, 0], DataLossError, "needs 0 bytes; its header says 4"),
        ([1, 1, [3], 8, 0], DataLossError, r"float32\[3\] needs 12 bytes; its header says 8"),
        ([1, 1, [-3], -12, 0], InvalidArgumentError, "tensors"),
        ([1, 1, [True], 4, 0], InvalidArgumentError, "tensors"),
        ([1, 2, [1], 8, 0], InvalidArgumentError, "description of a tensor"),
        ([99, 99, [1], 8, 0], InvalidArgumentError, "description of a tensor"),
        ([20, 20, [], 8, 0], InvalidArgumentError, "description of a tensor"),
        ([1, 1, [1] * 65, 4, 0], InvalidArgumentError, "tensors"),
        ([1, 1, [1], 4, 2], InvalidArgumentError, "tensors"),
        ([1, 1, [1], 4, {}], InvalidArgumentError, "tensors"),
        ([1, 1, [1], 4, [1, 2, "0" * 32]], InvalidArgumentError, "memory that is not shared"),
        ([1, 1, [1], 4, [1, 2, "x"]], InvalidArgumentError, "tensors"),
        ([1, 1, [1], 4, [-1, 2, "0" * 32]], InvalidArgumentError, "tensors"),
        ([1, 1, [2**62, 2**62, 0], 0, 0], InvalidArgumentError, "No tensor has the shape"),
        ([1, 1, [2**70, 0], 0, 0], InvalidArgumentError, "tensors"),
        ([[], 1, [1], 4, 0], InvalidArgumentError, "tensors"),
        ([1, 1, [1], 4.0, 0], InvalidArgumentError, "tensors"),
        ([7, 7, [2], 8, 0], DataLossError, "needs 16 bytes"),
        ([1, 1, "x", 4, 0], InvalidArgumentError, "tensors"),
        ("tensor", InvalidArgumentError, "tensors"),
        (5, InvalidArgumentError, "tensors"),
    ],
)
def test_a_false_description_of_a_tensor(spec, error, text):
    with pytest.raises(error, match=text):
        decode(framed({"kind": "echo", "tensors": [spec]}))


@pytest.mark.parametrize(
    ("header", "text"),
    [
        (5, "object with a 'kind'"),
        ([], "object with a 'kind'"),
        ({}, "object with a 'kind'"),
        ({"kind": 1}, "object with a 'kind'"),
        ({"kind": "other"}, "There is no kind of message 'other'"),
        ({"kind": "echo", "fields": []}, "'echo' is not valid: field 'fields'"),
        ({"kind": "echo", "more": 1}, "'echo' is not valid: Object contains unknown field `more`"),
        ({"kind": "echo", "tensors": [None] * 70_000}, "'echo' is not valid: field 'tensors'"),
    ],
)
def test_a_header_of_another_form(header, text):
    with pytest.raises(InvalidArgumentError, match=text):
        decode(framed(header))


@pytest.mark.parametrize("text", [b"{", b"\xff\xfe", b"[" * 100_000, b"[1e999999, " + b"9" * 10_000 + b"]"])
def test_a_header_that_is_not_json(text):
    with pytest.raises((DataLossError, InvalidArgumentError)):
        decode(framed(text))


def test_strings_with_false_lengths():
    lengths = np.array([1, 2**63], "<u8").tobytes()
    with pytest.raises(DataLossError, match="there are 17 bytes"):
        decode(framed({"kind": "echo", "tensors": [[7, 7, [2], 17, 0]]}, tail=lengths + b"x"))


def test_a_bool_is_0_or_1():
    with pytest.raises(InvalidArgumentError, match="neither 0 nor 1"):
        decode(framed({"kind": "echo", "tensors": [[10, 10, [2], 2, 0]]}, tail=b"\1\2"))


# ---------------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize("code", sorted(errors._TYPE_OF_CODE))
def test_every_error_arrives_as_its_class(code):
    error = errors.make_error(NodeDef(name="layer/MatMul", op="MatMul"), None, "sizes differ", code)
    error._origin_elsewhere = "op 'layer/MatMul' (MatMul), defined at train.py:7"
    found = wire.error_of(through(wire.failure_of(error)))
    assert type(found) is type(error) and found.error_code == code and found.message == "sizes differ"
    assert (found.node_def.name, found.node_def.op) == ("layer/MatMul", "MatMul")
    assert str(found).endswith("defined at train.py:7")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ValueError("v"), InvalidArgumentError),
        (TypeError("t"), InvalidArgumentError),
        (MemoryError("m"), errors.ResourceExhaustedError),
        (RuntimeError("r"), errors.UnknownError),
    ],
)
def test_errors_of_python(error, kind):
    with pytest.raises(kind, match=f"{type(error).__name__}: {error}"):
        wire.raise_failure(through(wire.failure_of(error)))


def test_an_error_with_an_unknown_code_is_still_an_error():
    assert wire.error_of(Failure(code=999, message="?")).error_code == 999
