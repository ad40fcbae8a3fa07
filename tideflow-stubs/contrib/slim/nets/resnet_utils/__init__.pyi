# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.slim.nets.resnet_utils import Block as Block
from tideflow.contrib.slim.nets.resnet_utils import conv2d_same as conv2d_same
from tideflow.contrib.slim.nets.resnet_utils import resnet_arg_scope as resnet_arg_scope
from tideflow.contrib.slim.nets.resnet_utils import stack_blocks_dense as stack_blocks_dense
from tideflow.contrib.slim.nets.resnet_utils import subsample as subsample
