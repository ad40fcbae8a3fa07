# Written by `python -m tideflow.programs.stubs`.

from tideflow.queues.staging import StagingArea as StagingArea
