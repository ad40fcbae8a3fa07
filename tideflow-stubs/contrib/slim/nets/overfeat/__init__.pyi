# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.slim.nets.overfeat import overfeat as overfeat
from tideflow.contrib.slim.nets.overfeat import overfeat_arg_scope as overfeat_arg_scope
