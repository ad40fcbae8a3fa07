"""Every kind of message is checked on arrival, and refused in words that name the kind and the field."""

import msgspec
import pytest
import torch

from tideflow.cluster import messages
from tideflow.cluster.messages import CLUSTER, Kinds, Message
from tideflow.graph.errors import DataLossError, InvalidArgumentError

MEMORY = {"boot": "b", "pid_namespace": "n", "user": 0, "probe": [1, 3, "0" * 32]}
ERROR = {"kind": "error", "code": 3, "message": "no"}
PART = {"feeds": ["a:0"], "fetches": [], "targets": []}
DEVICE = ["/device:CPU:0", "CPU", 0, 1 << 30, 7, ""]
TENSOR = [1, 1, [], 4, 0]
STEP = {"session": "s", "seconds": None, "traced": False}

# A valid message of every kind, but for its `kind`.
SAMPLES = {
    "hello": {"task": "/job:ps", "cluster": {"/job:ps": "a:1"}, "to": "", "memory": MEMORY},
    "welcome": {"task": "/job:ps", "incarnation": 1, "pid": 4, "shares_memory": True},
    "acknowledged": {},
    "error": {"code": 3, "message": "no", "origin": "", "node": "x", "op": "MatMul"},
    "done": {},
    "get_devices": {},
    "devices": {"devices": [DEVICE]},
    "register_part": {
        "session": "s",
        "isolated": False,
        "part": PART,
        "cluster": {"task": "/job:ps", "addresses": {"/job:ps": "a:1"}},
        "tensors": [TENSOR],
    },
    "part_registered": {"part": "part 1"},
    "run_part": {**STEP, "part": "part 1", "step": "s:1", "home": "", "tensors": [TENSOR, None]},
    "values": {"traced": False, "keys": ["edge"], "tensors": [TENSOR]},
    "stop_step": {"step": "s:1", "error": ERROR},
    "close_session": {"session": "s"},
    "renew_lease": {"session": "s"},
    "reset": {"containers": []},
    "send_tensors": {"step": "s:1", "keys": ["edge"], "tensors": [TENSOR]},
    "tensors_ahead": {"keys": ["edge"], "tensors": [None]},
    "abort_step": {"step": "s:1", "error": ERROR},
    "heartbeat": {"task": "/job:ps", "sessions": ["s"]},
    "alive": {"missing": []},
    "leave_job": {"task": "/job:ps", "finished": True},
    "set_in_store": {"key": "k", "value": "dmFsdWU="},
    "add_in_store": {"key": "k", "amount": 1},
    "store_sum": {"number": 1},
    "find_in_store": {"keys": ["k"]},
    "in_store": {"values": ["dmFsdWU=", None]},
    "create_session": {"address": "a:1", "tensors": [TENSOR, TENSOR]},
    "session_created": {"session": "s"},
    "extend_session": {"session": "s", "tensors": [TENSOR]},
    "run_step": {
        **STEP,
        "run": "r",
        "fetches": [],
        "targets": [],
        "feeds": ["a:0"],
        "done": [],
        "tensors": [TENSOR],
    },
    "cancel_run": {"session": "s", "run": "r"},
    "list_devices": {"session": "s"},
    "client_heartbeat": {"session": "s"},
    "end_session": {"session": "s"},
    "reset_cluster": {"containers": ["c"]},
}


def parse(fields, kinds=CLUSTER):
    return kinds.parse(memoryview(msgspec.json.encode(fields)))


def kinds_of_message(base=Message):
    """All kinds that the package defines."""
    return [kind for kind in base.__subclasses__() if kind.__module__ == messages.__name__]


def test_there_is_a_sample_of_every_kind():
    assert {kind.__struct_config__.tag for kind in kinds_of_message()} == set(SAMPLES)


@pytest.mark.parametrize("kind", SAMPLES)
def test_a_valid_message_is_read_into_the_struct_of_its_kind(kind):
    message = parse({"kind": kind, **SAMPLES[kind]})
    assert message.kind == kind
    for name, value in SAMPLES[kind].items():
        assert msgspec.json.decode(msgspec.json.encode(getattr(message, name))) == value


@pytest.mark.parametrize("kind", SAMPLES)
def test_a_field_too_many_is_refused(kind):
    with pytest.raises(InvalidArgumentError, match=f"'{kind}' is not valid: .*unknown field `surprise`"):
        parse({"kind": kind, **SAMPLES[kind], "surprise": 1})


@pytest.mark.parametrize(
    ("kind", "field"),
    [(kind, field) for kind, fields in SAMPLES.items() for field in fields],
)
def test_a_field_of_another_type_is_refused_by_its_name(kind, field):
    wrong = {"kind": kind, **SAMPLES[kind], field: {"of": ["another type"]}}
    with pytest.raises(InvalidArgumentError, match=rf"'{kind}' is not valid: (field '{field}|.*`\w+`)"):
        parse(wrong)


@pytest.mark.parametrize("kind", [kind for kind, fields in SAMPLES.items() if "session" in fields])
def test_a_missing_field_is_named(kind):
    fields = {name: value for name, value in SAMPLES[kind].items() if name != "session"}
    with pytest.raises(InvalidArgumentError, match=f"'{kind}' is not valid: .*required field `session`"):
        parse({"kind": kind, **fields})


@pytest.mark.parametrize(
    ("kind", "count", "words"),
    [
        ("register_part", 2, "carries 1 tensors, the graph; there are 2"),
        ("create_session", 1, "carries 2 tensors, the configuration and the graph; there are 1"),
        ("extend_session", 0, "carries 1 tensors, the graph; there are 0"),
        ("run_step", 3, "carries 1 tensors, one for each feed; there are 3"),
        ("send_tensors", 0, "carries 1 tensors, one for each key; there are 0"),
        ("values", 0, "carries fewer tensors than keys"),
    ],
)
def test_the_number_of_tensors_is_checked(kind, count, words):
    with pytest.raises(InvalidArgumentError, match=f"'{kind}' is not valid: {words}"):
        parse({"kind": kind, **SAMPLES[kind], "tensors": [TENSOR] * count})


def test_a_nested_field_is_named_by_its_path():
    with pytest.raises(InvalidArgumentError, match=r"'register_part' is not valid: field 'part.feeds\[0\]'"):
        parse({"kind": "register_part", **SAMPLES["register_part"], "part": {**PART, "feeds": [5]}})


def test_a_kind_that_is_not_taken_is_refused():
    with pytest.raises(InvalidArgumentError, match="There is no kind of message 'get_devices'"):
        parse({"kind": "get_devices"}, Kinds())
    assert parse({"kind": "done"}, Kinds()).kind == "done"


def test_text_that_is_not_json_is_data_loss():
    with pytest.raises(DataLossError, match="not JSON"):
        CLUSTER.parse(memoryview(b'{"kind": "done"'))


def test_the_wrong_number_of_tensors_is_refused_where_a_message_is_made():
    with pytest.raises(ValueError, match="one for each key"):
        messages.SendTensors(step="s:1", keys=["a", "b"], tensors=[torch.ones(1)])


def test_a_message_cannot_be_changed():
    with pytest.raises(AttributeError):
        messages.CloseSession(session="s").session = "t"
