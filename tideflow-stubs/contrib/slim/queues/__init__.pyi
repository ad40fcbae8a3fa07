# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.slim.reading import NestedQueueRunnerError as NestedQueueRunnerError
from tideflow.contrib.slim.reading import QueueRunners as QueueRunners
