# Written by `python -m tideflow.programs.stubs`.

from builtins import int as _int
from tideflow.graph.errors import AbortedError as AbortedError
from tideflow.graph.errors import AlreadyExistsError as AlreadyExistsError
from tideflow.graph.errors import CancelledError as CancelledError
from tideflow.graph.errors import DataLossError as DataLossError
from tideflow.graph.errors import DeadlineExceededError as DeadlineExceededError
from tideflow.graph.errors import FailedPreconditionError as FailedPreconditionError
from tideflow.graph.errors import InternalError as InternalError
from tideflow.graph.errors import InvalidArgumentError as InvalidArgumentError
from tideflow.graph.errors import NotFoundError as NotFoundError
from tideflow.graph.errors import OpError as OpError
from tideflow.graph.errors import OutOfRangeError as OutOfRangeError
from tideflow.graph.errors import PermissionDeniedError as PermissionDeniedError
from tideflow.graph.errors import ResourceExhaustedError as ResourceExhaustedError
from tideflow.graph.errors import UnauthenticatedError as UnauthenticatedError
from tideflow.graph.errors import UnavailableError as UnavailableError
from tideflow.graph.errors import UnimplementedError as UnimplementedError
from tideflow.graph.errors import UnknownError as UnknownError
from tideflow.graph.errors import error_code_from_exception_type as error_code_from_exception_type
from tideflow.graph.errors import exception_type_from_error_code as exception_type_from_error_code

ABORTED: _int
ALREADY_EXISTS: _int
CANCELLED: _int
DATA_LOSS: _int
DEADLINE_EXCEEDED: _int
FAILED_PRECONDITION: _int
INTERNAL: _int
INVALID_ARGUMENT: _int
NOT_FOUND: _int
OK: _int
OUT_OF_RANGE: _int
PERMISSION_DENIED: _int
RESOURCE_EXHAUSTED: _int
UNAUTHENTICATED: _int
UNAVAILABLE: _int
UNIMPLEMENTED: _int
UNKNOWN: _int
