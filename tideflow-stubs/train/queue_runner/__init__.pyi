# Written by `python -m tideflow.programs.stubs`.

from tideflow.train.queue_runner import QueueRunner as QueueRunner
from tideflow.train.queue_runner import add_queue_runner as add_queue_runner
from tideflow.train.queue_runner import start_queue_runners as start_queue_runners
