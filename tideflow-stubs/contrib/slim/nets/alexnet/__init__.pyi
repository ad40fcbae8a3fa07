# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.slim.nets.alexnet import alexnet_v2 as alexnet_v2
from tideflow.contrib.slim.nets.alexnet import alexnet_v2_arg_scope as alexnet_v2_arg_scope
