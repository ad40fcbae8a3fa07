# Written by `python -m tideflow.programs.stubs`.

from tideflow.xla import experimental as experimental
