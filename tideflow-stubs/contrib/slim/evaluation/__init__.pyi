# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.slim.evaluation import evaluate_once as evaluate_once
from tideflow.contrib.slim.evaluation import evaluation_loop as evaluation_loop
from tideflow.train.checkpoint_utils import checkpoints_iterator as checkpoints_iterator
from tideflow.train.checkpoint_utils import wait_for_new_checkpoint as wait_for_new_checkpoint
