# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.learn.datasets import base as base
