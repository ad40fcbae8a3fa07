# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.compiler import jit as jit
from tideflow.contrib.compiler import xla as xla
