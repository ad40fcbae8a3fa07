# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.slim.providers import DatasetDataProvider as DatasetDataProvider
