# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.learn.datasets import circles as circles
from tideflow.contrib.learn.datasets import spirals as spirals
