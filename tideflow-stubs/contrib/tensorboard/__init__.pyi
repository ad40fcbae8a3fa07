# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.tensorboard import plugins as plugins
