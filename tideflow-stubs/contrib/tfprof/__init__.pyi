# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.tfprof import model_analyzer as model_analyzer
from tideflow.contrib.tfprof import tfprof_logger as tfprof_logger
from tideflow.profiler.contexts import ProfileContext as ProfileContext
