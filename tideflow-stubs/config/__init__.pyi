# Written by `python -m tideflow.programs.stubs`.

from tideflow.config import experimental as experimental
from tideflow.config import optimizer as optimizer
from tideflow.config import threading as threading
from tideflow.functions.def_function import run_functions_eagerly as _experimental_run_functions_eagerly
from tideflow.platform.config import experimental_list_devices as experimental_list_devices
from tideflow.platform.config import get_soft_device_placement as get_soft_device_placement
from tideflow.platform.config import set_soft_device_placement as set_soft_device_placement

experimental_run_functions_eagerly = _experimental_run_functions_eagerly
