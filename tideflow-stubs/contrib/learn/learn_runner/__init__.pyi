# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.learn.learn_runner import run as run
from tideflow.contrib.learn.learn_runner import tune as tune
