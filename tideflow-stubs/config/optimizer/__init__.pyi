# Written by `python -m tideflow.programs.stubs`.

from tideflow.platform.config import get_experimental_options as get_experimental_options
from tideflow.platform.config import get_jit as get_jit
from tideflow.platform.config import set_experimental_options as set_experimental_options
from tideflow.platform.config import set_jit as set_jit
