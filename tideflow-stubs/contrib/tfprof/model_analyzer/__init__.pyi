# Written by `python -m tideflow.programs.stubs`.

from builtins import dict as _dict
from tideflow.contrib.tfprof import print_advice as _advise
from tideflow.contrib.tfprof import print_model_analysis as print_model_analysis
from tideflow.profiler.profiling import Profiler as Profiler

FLOAT_OPS_OPTIONS: _dict
PRINT_ALL_TIMING_MEMORY: _dict
TRAINABLE_VARS_PARAMS_STAT_OPTIONS: _dict
advise = _advise
