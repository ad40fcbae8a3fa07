# Written by `python -m tideflow.programs.stubs`.

from builtins import int as _int
from tideflow.platform.logging import TaskLevelStatusMessage as TaskLevelStatusMessage
from tideflow.platform.logging import debug as debug
from tideflow.platform.logging import error as error
from tideflow.platform.logging import fatal as fatal
from tideflow.platform.logging import flush as flush
from tideflow.platform.logging import get_verbosity as get_verbosity
from tideflow.platform.logging import info as info
from tideflow.platform.logging import log as log
from tideflow.platform.logging import log_every_n as log_every_n
from tideflow.platform.logging import log_first_n as log_first_n
from tideflow.platform.logging import log_if as log_if
from tideflow.platform.logging import set_verbosity as set_verbosity
from tideflow.platform.logging import vlog as vlog
from tideflow.platform.logging import warn as warn
from tideflow.platform.logging import warning as warning

DEBUG: _int
ERROR: _int
FATAL: _int
INFO: _int
WARN: _int
