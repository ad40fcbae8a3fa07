# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.framework.python import ops as ops
