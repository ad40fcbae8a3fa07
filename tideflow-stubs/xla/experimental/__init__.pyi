# Written by `python -m tideflow.programs.stubs`.

from tideflow.platform.xla import compile as compile
from tideflow.platform.xla import experimental_jit_scope as _jit_scope

jit_scope = _jit_scope
