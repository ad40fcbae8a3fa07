# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.quantize.rewriting import create_eval_graph as create_eval_graph
from tideflow.contrib.quantize.rewriting import create_training_graph as create_training_graph
from tideflow.contrib.quantize.rewriting import experimental_create_eval_graph as experimental_create_eval_graph
from tideflow.contrib.quantize.rewriting import experimental_create_training_graph as experimental_create_training_graph
