# Written by `python -m tideflow.programs.stubs`.

from tideflow.platform import flags as flags
from tideflow.platform.app import run as run
