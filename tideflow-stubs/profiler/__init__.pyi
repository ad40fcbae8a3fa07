# Written by `python -m tideflow.programs.stubs`.

from typing import Any as _Any
from tideflow.profiler.logs import write_op_log as write_op_log
from tideflow.profiler.options import ProfileOptionBuilder as ProfileOptionBuilder
from tideflow.profiler.profiling import Profiler as Profiler
from tideflow.profiler.profiling import advise as advise
from tideflow.profiler.profiling import profile as profile

AdviceProto: _Any
GraphNodeProto: _Any
MultiGraphNodeProto: _Any
OpLogProto: _Any
