"""Every kind of message between tasks: one struct each, checked field by field when it arrives.

A message is a JSON object with a `kind`, and tensors that travel behind it as raw memory (`wire.py`). A
receiver names the kinds that it takes (`Kinds`): msgspec reads the JSON straight into the struct of its kind,
and refuses what has another type, lacks a field or has one too many.

Four groups follow: what the transport itself says, what a master asks of a task, what tasks tell each other,
and what a client in another process asks of the server that runs its session.
"""

from __future__ import annotations

import functools
import operator
import re
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NamedTuple, TypeVar

import msgspec
from msgspec import Meta

from tideflow.graph import errors

MAX_TENSORS = 65536
MAX_RANK = 64  # NumPy's limit, and that of torch's kernels

INLINE: Final = 0  # the bytes of a tensor are in frame 0
FRAME: Final = 1  # they are in a frame of their own


class SegmentName(NamedTuple):
    """Names a segment of shared memory: a descriptor of the process that owns it, and a secret."""

    pid: Annotated[int, Meta(ge=1, le=2**31)]
    fd: Annotated[int, Meta(ge=0, le=2**31)]
    token: Annotated[str, Meta(pattern="^[0-9a-f]{32}$")]


class TensorHeader(msgspec.Struct, frozen=True, forbid_unknown_fields=True, array_like=True):
    """Describes a tensor of a message: TensorFlow's number of its type, the number of the type that its bytes
    have on their way, its shape, how many bytes there are, and where they are.
    """

    dtype: int
    stored: int
    shape: Annotated[list[Annotated[int, Meta(ge=0, le=2**62)]], Meta(max_length=MAX_RANK)]
    length: int
    where: Literal[0, 1] | SegmentName


if TYPE_CHECKING:
    Tensors = list[Any]  # torch tensors, object arrays of bytes, and None for a dead value
else:  # what msgspec finds in the JSON; `wire.decode` then puts the tensors in place of their headers
    Tensors = Annotated[list[TensorHeader | None], Meta(max_length=MAX_TENSORS)]


class Message(
    msgspec.Struct,
    frozen=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    kw_only=True,
    tag_field="kind",
):
    """What one side of a connection tells the other; a subclass is a kind of message, named by its `tag`."""

    tensors: Tensors = []

    @property
    def kind(self) -> str:
        """The name of the message's kind."""
        return str(self.__struct_config__.tag)


# --------------------------------------------------------------------------------------------- the transport


class HostMemory(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a process shares memory: on which boot of which host, in which process namespace, as which user;
    and a segment that the other side can try to map.
    """

    boot: str
    pid_namespace: str
    user: int
    probe: SegmentName


class Hello(Message, frozen=True, tag="hello"):
    """The first message on a connection: the sender's task ("" for a client that is none), the addresses of
    the tasks that it knows, and the task that it wants to reach ("" for any).
    """

    task: str = ""
    cluster: dict[str, str] = {}
    to: str = ""
    memory: HostMemory | None = None


class Welcome(Message, frozen=True, tag="welcome"):
    """Answers a hello: which task this is, in which incarnation and process, and whether it can map the
    memory that the sender of the hello shares.
    """

    task: str
    incarnation: Annotated[int, Meta(ge=1)]
    pid: int
    shares_memory: bool


class Acknowledged(Message, frozen=True, tag="acknowledged"):
    """Every posted message up to the one that asked for this is handled."""


class Failure(Message, frozen=True, tag="error"):
    """Answers a request that failed: the code of `tf.errors`, the text, the line of the program that made the
    op, and the op's name and type where the error is about one.
    """

    code: int
    message: str
    origin: str = ""
    node: str | None = None
    op: str = ""


class Done(Message, frozen=True, tag="done"):
    """Answers a request that has no result."""


_TRANSPORT = (Hello, Welcome, Acknowledged, Failure, Done)


# ------------------------------------------------------------------------------------- from a master to a
# task


class GetDevices(Message, frozen=True, tag="get_devices"):
    """Asks a task for its devices."""


class DeviceFacts(msgspec.Struct, frozen=True, forbid_unknown_fields=True, array_like=True):
    """A device as another process knows it: everything but its memory."""

    name: str
    device_type: str
    index: int
    memory_limit_bytes: int
    incarnation: int
    description: str


class Devices(Message, frozen=True, tag="devices"):
    """The devices of a task, or of all tasks of a session."""

    devices: list[DeviceFacts]


class PartDescription(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A part of a step: `feeds`, `fetches` and `targets` are names in its graph, `tasks` all the tasks on
    which the step runs. The compiler leaves out the rewrite rules `disabled_rules`, and lets kinds of devices
    compute in the types of `half_by_device` (mixed precision). With `compress`, floats are cut to 16 bits on
    their way to other tasks.
    """

    feeds: list[str]
    fetches: list[str]
    targets: list[str]
    disabled_rules: list[str] = []
    half_by_device: list[tuple[Literal["cuda", "cpu"], Literal["float16", "bfloat16"]]] = []
    tasks: list[str] = []
    compress: bool = False


class GivenCluster(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The cluster that a session's configuration names: the addresses of its tasks, and which of them `task`,
    the receiver, is.
    """

    task: str
    addresses: dict[str, str]


class RegisterPart(Message, frozen=True, tag="register_part"):
    """Gives a task its part of a step, whose GraphDef is the one tensor. An `isolated` session shares no
    state with other sessions; one whose configuration names a cluster runs on that, and not on the server's.
    """

    session: str
    isolated: bool
    part: PartDescription
    cluster: GivenCluster | None = None

    def __post_init__(self) -> None:
        _check_tensors(self, 1, "the graph")


class PartRegistered(Message, frozen=True, tag="part_registered"):
    """The name under which the task keeps the part."""

    part: str


class RunPart(Message, frozen=True, tag="run_part"):
    """Asks a task to run its part of a step; the tensors are the part's feeds.

    `home` is the task of the master that asks, where that task waits for values on this request's connection,
    and "" otherwise. `seconds` is how long the step may still take, None for any time.
    """

    session: str
    part: str
    step: str
    home: str
    seconds: float | None
    traced: bool


class Values(Message, frozen=True, tag="values"):
    """What a step or a part of it gave: the fetched values; the trace, where one was asked for; and the
    values for the part of the step on the master's task, by their keys.
    """

    traced: bool = False
    keys: list[str] = []

    def __post_init__(self) -> None:
        if len(self.tensors) < len(self.keys) + self.traced:
            raise ValueError("carries fewer tensors than keys")


class StopStep(Message, frozen=True, tag="stop_step"):
    """Ends a step on a task; answered when no part of it runs there any more."""

    step: str
    error: Failure


class CloseSession(Message, frozen=True, tag="close_session"):
    """The master has closed a session: the task forgets its parts."""

    session: str


class RenewLease(Message, frozen=True, tag="renew_lease"):
    """The master of a session is alive, whose server does not send this task heartbeats: the session's
    configuration names another cluster than the server's.
    """

    session: str


class Reset(Message, frozen=True, tag="reset"):
    """Clears the containers of a task, the default one where none is named, and ends all sessions there."""

    containers: list[str]


# --------------------------------------------------------------------------------------------- between tasks


class SendTensors(Message, frozen=True, tag="send_tensors"):
    """Values that a part of a step sends to the part on another task: a tensor for each key."""

    step: str
    keys: list[str]

    def __post_init__(self) -> None:
        _check_tensors(self, len(self.keys), "one for each key")


class TensorsAhead(Message, frozen=True, tag="tensors_ahead"):
    """Values that a part sends to its master's task before it answers the master's request."""

    keys: list[str]

    def __post_init__(self) -> None:
        _check_tensors(self, len(self.keys), "one for each key")


class AbortStep(Message, frozen=True, tag="abort_step"):
    """A part of a step has failed on another task."""

    step: str
    error: Failure


class Heartbeat(Message, frozen=True, tag="heartbeat"):
    """A task runs, and so do the sessions of which it is the master."""

    task: str
    sessions: list[str]


class Alive(Message, frozen=True, tag="alive"):
    """Answers a heartbeat: the tasks that were there and are missing, their work not done."""

    missing: list[str]


class LeaveJob(Message, frozen=True, tag="leave_job"):
    """The process of a task ends, having finished its work or not."""

    task: str
    finished: bool


class SetInStore(Message, frozen=True, tag="set_in_store"):
    """Has the chief put a value into the store at which collectives meet."""

    key: str
    value: bytes


class AddInStore(Message, frozen=True, tag="add_in_store"):
    """Has the chief add to a number of the store."""

    key: str
    amount: int


class StoreSum(Message, frozen=True, tag="store_sum"):
    """The number after the addition."""

    number: int


class FindInStore(Message, frozen=True, tag="find_in_store"):
    """Asks the chief for values of the store."""

    keys: list[str]


class InStore(Message, frozen=True, tag="in_store"):
    """The values of these keys, null where there is none."""

    values: list[bytes | None]


# -------------------------------------------------------------------------------------- from a client to a
# server


class CreateSession(Message, frozen=True, tag="create_session"):
    """Makes a session; the tensors are the ConfigProto, empty for none, and the GraphDef. `address` is where
    the client reaches the server.
    """

    address: str = ""

    def __post_init__(self) -> None:
        _check_tensors(self, 2, "the configuration and the graph")


class SessionCreated(Message, frozen=True, tag="session_created"):
    """The handle of a new session."""

    session: str


class ExtendSession(Message, frozen=True, tag="extend_session"):
    """Adds operations to a session's graph; their GraphDef is the one tensor."""

    session: str

    def __post_init__(self) -> None:
        _check_tensors(self, 1, "the graph")


class RunStep(Message, frozen=True, tag="run_step"):
    """Runs a step of a session; the tensors are the values of `feeds`.

    `run` is the client's name for this run. `fetches`, `targets` and `feeds` are names in the graph. `done`
    are operations that an earlier call of the same partial run has run. `seconds` and `traced` are as for
    `RunPart`.
    """

    session: str
    run: str
    fetches: list[str]
    targets: list[str]
    feeds: list[str]
    done: list[str]
    seconds: float | None
    traced: bool

    def __post_init__(self) -> None:
        _check_tensors(self, len(self.feeds), "one for each feed")


class CancelRun(Message, frozen=True, tag="cancel_run"):
    """Ends a step that the client has given up; answered when it has ended."""

    session: str
    run: str


class ListDevices(Message, frozen=True, tag="list_devices"):
    """Asks for the devices of all tasks that a session may use."""

    session: str


class ClientHeartbeat(Message, frozen=True, tag="client_heartbeat"):
    """The client of a session runs; the server answers with `Alive`."""

    session: str


class EndSession(Message, frozen=True, tag="end_session"):
    """Closes a session."""

    session: str


class ResetCluster(Message, frozen=True, tag="reset_cluster"):
    """Clears containers on all tasks of the cluster, and ends the sessions on it."""

    containers: list[str]


def _check_tensors(message: Message, count: int, meaning: str) -> None:
    if len(message.tensors) != count:
        raise ValueError(f"carries {count} tensors, {meaning}; there are {len(message.tensors)}")


# ------------------------------------------------------------------------------------------------- on arrival

_PLACE = re.compile(r" - at `\$\.?([^`]*)`$")
A = TypeVar("A", bound=Message)


class _OnlyKind(msgspec.Struct):
    kind: str


class Kinds:
    """The kinds of message that a socket takes: those given, and the transport's own."""

    def __init__(self, *kinds: type[Message]):
        known = functools.reduce(operator.or_, (*_TRANSPORT, *kinds))
        self._decode = msgspec.json.Decoder(known).decode

    def parse(self, text: memoryview) -> Message:
        """The message of this JSON; an error that names kind and field, if it is not one of these kinds."""
        try:
            message: Message = self._decode(text)
        except msgspec.ValidationError as error:
            raise errors.invalid_argument(_refusal(text, str(error))) from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise errors.data_loss(f"A message's header is not JSON: {error!s:.100}.") from None
        return message


def _refusal(text: memoryview, reason: str) -> str:
    try:
        name = f"'{msgspec.json.decode(text, type=_OnlyKind).kind:.50}'"
    except msgspec.MsgspecError:
        return f"A message is an object with a 'kind' and the fields of that kind: {reason:.200}."
    place = _PLACE.search(reason)
    if place is None:
        return f"The message {name} is not valid: {reason:.200}."
    reason = reason[: place.start()]
    if place[1] == "kind":
        return f"There is no kind of message {name}."
    return f"The message {name} is not valid: field '{place[1]:.100}': {reason:.200}."


def expect(message: Message, kind: type[A]) -> A:
    """The message, which must be of this kind: an answer that another task gave."""
    if type(message) is kind:
        return message
    raise errors.invalid_argument(
        f"The other side answered with '{message.kind}', not with '{kind.__struct_config__.tag}'."
    )


CLUSTER = Kinds(
    GetDevices,
    Devices,
    RegisterPart,
    PartRegistered,
    RunPart,
    Values,
    StopStep,
    CloseSession,
    RenewLease,
    Reset,
    SendTensors,
    TensorsAhead,
    AbortStep,
    Heartbeat,
    Alive,
    LeaveJob,
    SetInStore,
    AddInStore,
    StoreSum,
    FindInStore,
    InStore,
    CreateSession,
    SessionCreated,
    ExtendSession,
    RunStep,
    CancelRun,
    ListDevices,
    ClientHeartbeat,
    EndSession,
    ResetCluster,
)
