# Written by `python -m tideflow.programs.stubs`.

from tideflow.profiler.logs import write_op_log as write_op_log
