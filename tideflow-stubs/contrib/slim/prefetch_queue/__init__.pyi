# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.slim.reading import prefetch_queue as prefetch_queue
