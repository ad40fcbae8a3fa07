# Written by `python -m tideflow.programs.stubs`.

from tideflow.ops.state.memory import BytesInUse as BytesInUse
from tideflow.ops.state.memory import BytesLimit as BytesLimit
from tideflow.ops.state.memory import MaxBytesInUse as MaxBytesInUse
