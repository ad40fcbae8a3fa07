# Written by `python -m tideflow.programs.stubs`.

from tideflow import *
