# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.compiler import jit as jit
