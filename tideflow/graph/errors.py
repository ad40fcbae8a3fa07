"""The errors of running a graph, `tf.errors`: one class per code, each naming the op and the user's line."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from tideflow.export import export, expose

if TYPE_CHECKING:
    from tensorboard.compat.proto.node_def_pb2 import NodeDef

    from tideflow.graph.operation import Operation

(OK, CANCELLED, UNKNOWN, INVALID_ARGUMENT, DEADLINE_EXCEEDED, NOT_FOUND, ALREADY_EXISTS) = range(7)
(PERMISSION_DENIED, RESOURCE_EXHAUSTED, FAILED_PRECONDITION, ABORTED, OUT_OF_RANGE) = range(7, 12)
(UNIMPLEMENTED, INTERNAL, UNAVAILABLE, DATA_LOSS, UNAUTHENTICATED) = range(12, 17)

for _name, _code in [(name, value) for name, value in globals().items() if type(value) is int]:
    expose(_code, f"errors.{_name}")


@export("errors.OpError", "OpError")
class OpError(Exception):
    """A step failed. `op` is the operation that failed, or None when it is not in this graph.

    Args:
      node_def: The NodeDef of the operation that failed, or None.
      op: The operation that failed, or None.
      message: What went wrong.
      error_code: The number of the kind of error.
    """

    def __init__(self, node_def: NodeDef | None, op: Operation | None, message: str, error_code: int) -> None:
        super().__init__(message)
        self._node_def = node_def
        self._op = op
        self._message = message
        self._error_code = error_code
        self._origin_elsewhere = ""  # the place of an op that is not in this process

    @property
    def node_def(self) -> Any:
        """The NodeDef of the operation that failed, or None."""
        return self._node_def

    @property
    def op(self) -> Any:
        """The operation that failed, or None (an op that a rewrite put in, or one of another process)."""
        return self._op

    @property
    def message(self) -> str:
        """What went wrong, without the place."""
        return self._message

    @property
    def error_code(self) -> int:
        """The number of the kind of error: `tf.errors.NOT_FOUND` and so on."""
        return self._error_code

    def _origin(self) -> str:
        return self._origin_elsewhere if self._op is None else _origin_of(self._op)

    def __str__(self) -> str:
        origin = self._origin()
        return f"{self._message}\n{origin}" if origin else str(self._message)

    def __reduce__(self) -> tuple[Any, ...]:
        # An operation cannot leave its process; the lines that say which it was can.
        return _rebuild, (type(self), self._node_def, self._message, self._error_code, self._origin())


def _rebuild(cls: type[OpError], node_def: Any, message: str, error_code: int, origin: str) -> OpError:
    error = cls.__new__(cls)
    OpError.__init__(error, node_def, None, message, error_code)
    error._origin_elsewhere = origin
    return error


def _origin_of(op: Any) -> str:
    """Where the op, and the op it was made for (a gradient's forward op), stand in the user's program."""
    lines = [f"op '{op.name}' ({op.type}), defined at {_place(op)}"]
    original = getattr(op, "_original_op", None)
    while original is not None:
        lines.append(f"  made for op '{original.name}' ({original.type}), defined at {_place(original)}")
        original = getattr(original, "_original_op", None)
    return "\n".join(lines)


def _place(op: Any) -> str:
    """The user's line, and the lines that called it."""
    places = [f"{file}:{line}" for file, line, *_ in reversed(op.traceback)] or ["<unknown>"]
    return "\n  called from ".join(places)


_TYPE_OF_CODE: dict[int, type[_CodedError]] = {}


_ARGUMENTS = """

    Args:
      node_def: The NodeDef of the operation that failed, or None.
      op: The operation that failed, or None.
      message: What went wrong.
"""


class _CodedError(OpError):
    """An error whose class says its code."""

    code: ClassVar[int]

    def __init_subclass__(cls, code: int | None = None) -> None:
        if code is None:  # a user's own kind of one of them
            return
        cls.code = code
        if "Args:" not in (cls.__doc__ or ""):
            cls.__doc__ = f"{cls.__doc__}{_ARGUMENTS}"
        _TYPE_OF_CODE[code] = cls
        expose(cls, f"errors.{cls.__name__}")

    def __init__(self, node_def: NodeDef | None, op: Operation | None, message: str) -> None:
        super().__init__(node_def, op, message, self.code)


class CancelledError(_CodedError, code=CANCELLED):
    """The step was cancelled: its session or queue was closed, or another part of it failed."""


class UnknownError(_CodedError, code=UNKNOWN):
    """An error of no known kind, such as one from another system.

    Args:
      node_def: The NodeDef of the operation that failed, or None.
      op: The operation that failed, or None.
      message: What went wrong.
      error_code: The number of the kind of error, where it has one.
    """

    def __init__(
        self, node_def: NodeDef | None, op: Operation | None, message: str, error_code: int = UNKNOWN
    ) -> None:
        OpError.__init__(self, node_def, op, message, error_code)


class InvalidArgumentError(_CodedError, code=INVALID_ARGUMENT):
    """An op received a value, shape or type that it does not accept."""


class DeadlineExceededError(_CodedError, code=DEADLINE_EXCEEDED):
    """The step took longer than it was given."""


class NotFoundError(_CodedError, code=NOT_FOUND):
    """Something asked for does not exist: a file, a key of a checkpoint, a resource."""


class AlreadyExistsError(_CodedError, code=ALREADY_EXISTS):
    """Something to be made exists already."""


class PermissionDeniedError(_CodedError, code=PERMISSION_DENIED):
    """The caller may not do this."""


class UnauthenticatedError(_CodedError, code=UNAUTHENTICATED):
    """The caller did not show who it is."""


class ResourceExhaustedError(_CodedError, code=RESOURCE_EXHAUSTED):
    """Memory, disk or a quota is used up."""


class FailedPreconditionError(_CodedError, code=FAILED_PRECONDITION):
    """The system is not in the state the op needs: an uninitialized variable is read."""


class AbortedError(_CodedError, code=ABORTED):
    """The step was given up, for instance because a task restarted under it; it may be tried again."""


class OutOfRangeError(_CodedError, code=OUT_OF_RANGE):
    """Past the end: a closed queue is empty, a dataset is finished, a counter is at its limit."""


class UnimplementedError(_CodedError, code=UNIMPLEMENTED):
    """The op does not do this for this type or device."""


class InternalError(_CodedError, code=INTERNAL):
    """An invariant of the system is broken."""


class UnavailableError(_CodedError, code=UNAVAILABLE):
    """A task cannot be reached now; it may be later."""


class DataLossError(_CodedError, code=DATA_LOSS):
    """A file is truncated or damaged."""


class OperatorNotAllowedInGraphError(TypeError):
    """A Python construct (`if`, `for`, `in`) was applied to a tensor whose value only a session will know."""


class InaccessibleTensorError(ValueError):
    """A tensor of a function, a branch or a loop was used outside of it."""


@export("errors.exception_type_from_error_code")
def exception_type_from_error_code(error_code: int) -> type[OpError]:
    """The class of errors with a code.

    Args:
      error_code: The number of a kind of error, such as `tf.errors.NOT_FOUND`.

    Returns:
      The class.

    Raises:
      KeyError: If no class has this code.
    """
    return _TYPE_OF_CODE[error_code]


@export("errors.error_code_from_exception_type")
def error_code_from_exception_type(cls: type[Exception]) -> int:
    """The code of a class of errors.

    Args:
      cls: The class.

    Returns:
      The code; `tf.errors.UNKNOWN` for a class that is not one of these.
    """
    return next((code for code, known in _TYPE_OF_CODE.items() if known is cls), UNKNOWN)


def make_error(node_def: Any, op: Any, message: str, error_code: int) -> OpError:
    """The error of this code, an UnknownError carrying the number when no class has it."""
    cls = _TYPE_OF_CODE.get(error_code)
    return cls(node_def, op, message) if cls else UnknownError(node_def, op, message, error_code)


# The package refuses in one way: `raise errors.invalid_argument("what is wrong, and what is accepted")`. The
# op, its inputs and the user's line are added where the error leaves the step.


def cancelled(message: str) -> CancelledError:
    """A CancelledError that does not name its operation yet."""
    return CancelledError(None, None, message)


def unknown(message: str) -> UnknownError:
    """An UnknownError that does not name its operation yet."""
    return UnknownError(None, None, message)


def invalid_argument(message: str) -> InvalidArgumentError:
    """An InvalidArgumentError that does not name its operation yet."""
    return InvalidArgumentError(None, None, message)


def deadline_exceeded(message: str) -> DeadlineExceededError:
    """A DeadlineExceededError that does not name its operation yet."""
    return DeadlineExceededError(None, None, message)


def not_found(message: str) -> NotFoundError:
    """A NotFoundError that does not name its operation yet."""
    return NotFoundError(None, None, message)


def already_exists(message: str) -> AlreadyExistsError:
    """An AlreadyExistsError that does not name its operation yet."""
    return AlreadyExistsError(None, None, message)


def permission_denied(message: str) -> PermissionDeniedError:
    """A PermissionDeniedError that does not name its operation yet."""
    return PermissionDeniedError(None, None, message)


def unauthenticated(message: str) -> UnauthenticatedError:
    """An UnauthenticatedError that does not name its operation yet."""
    return UnauthenticatedError(None, None, message)


def resource_exhausted(message: str) -> ResourceExhaustedError:
    """A ResourceExhaustedError that does not name its operation yet."""
    return ResourceExhaustedError(None, None, message)


_SHORT_TYPE_NAMES = {
    "float32": "float",
    "float64": "double",
    "float16": "half",
}  # as TensorFlow's kernels say


def type_name(dtype: Any) -> str:
    """A type as TensorFlow's kernels write it: float for float32."""
    name: str = dtype.name
    return _SHORT_TYPE_NAMES.get(name, name)


def out_of_memory(shape: Iterable[int], dtype: Any, where: str = "cpu") -> ResourceExhaustedError:
    """The error of a tensor that does not fit into the memory of a device, in TensorFlow's words."""
    sizes = list(shape)
    return resource_exhausted(
        f"OOM when allocating tensor with shape[{','.join(map(str, sizes))}] and type {type_name(dtype)} on "
        f"{where}: {math.prod(sizes) * max(dtype.size, 1)} bytes"
    )


def failed_precondition(message: str) -> FailedPreconditionError:
    """A FailedPreconditionError that does not name its operation yet."""
    return FailedPreconditionError(None, None, message)


def aborted(message: str) -> AbortedError:
    """An AbortedError that does not name its operation yet."""
    return AbortedError(None, None, message)


def out_of_range(message: str) -> OutOfRangeError:
    """An OutOfRangeError that does not name its operation yet."""
    return OutOfRangeError(None, None, message)


def unimplemented(message: str) -> UnimplementedError:
    """An UnimplementedError that does not name its operation yet."""
    return UnimplementedError(None, None, message)


def internal(message: str) -> InternalError:
    """An InternalError that does not name its operation yet."""
    return InternalError(None, None, message)


def unavailable(message: str) -> UnavailableError:
    """An UnavailableError that does not name its operation yet."""
    return UnavailableError(None, None, message)


def data_loss(message: str) -> DataLossError:
    """A DataLossError that does not name its operation yet."""
    return DataLossError(None, None, message)
