# Written by `python -m tideflow.programs.stubs`.

from tideflow.platform.xla import experimental_jit_scope as experimental_jit_scope
