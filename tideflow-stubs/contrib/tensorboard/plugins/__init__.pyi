# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.tensorboard.plugins import projector as projector
