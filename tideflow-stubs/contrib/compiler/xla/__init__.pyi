# Written by `python -m tideflow.programs.stubs`.

from tideflow.platform.xla import compile as compile
