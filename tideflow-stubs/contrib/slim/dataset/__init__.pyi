# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.slim.providers import Dataset as Dataset
