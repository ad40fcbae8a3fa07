# Written by `python -m tideflow.programs.stubs`.

from tideflow.queues.base import FIFOQueue as FIFOQueue
from tideflow.queues.base import PaddingFIFOQueue as PaddingFIFOQueue
from tideflow.queues.base import PriorityQueue as PriorityQueue
from tideflow.queues.base import QueueBase as QueueBase
from tideflow.queues.base import RandomShuffleQueue as RandomShuffleQueue
