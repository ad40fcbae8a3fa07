# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.slim.training_loop import train as train
from tideflow.contrib.slim.training_loop import train_step as train_step
from tideflow.contrib.slim.training_steps import add_gradients_summaries as add_gradients_summaries
from tideflow.contrib.slim.training_steps import create_train_op as create_train_op
from tideflow.contrib.training.train_ops import clip_gradient_norms as clip_gradient_norms
from tideflow.contrib.training.train_ops import multiply_gradients as multiply_gradients
