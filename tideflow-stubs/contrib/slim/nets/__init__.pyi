# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.slim.nets import alexnet as alexnet
from tideflow.contrib.slim.nets import inception as inception
from tideflow.contrib.slim.nets import overfeat as overfeat
from tideflow.contrib.slim.nets import resnet_utils as resnet_utils
from tideflow.contrib.slim.nets import resnet_v1 as resnet_v1
from tideflow.contrib.slim.nets import resnet_v2 as resnet_v2
from tideflow.contrib.slim.nets import vgg as vgg
