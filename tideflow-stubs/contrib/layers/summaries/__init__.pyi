# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.layers.summaries import summarize_activation as summarize_activation
from tideflow.contrib.layers.summaries import summarize_activations as summarize_activations
from tideflow.contrib.layers.summaries import summarize_biases as summarize_biases
from tideflow.contrib.layers.summaries import summarize_collection as summarize_collection
from tideflow.contrib.layers.summaries import summarize_tensor as summarize_tensor
from tideflow.contrib.layers.summaries import summarize_tensors as summarize_tensors
from tideflow.contrib.layers.summaries import summarize_variables as summarize_variables
from tideflow.contrib.layers.summaries import summarize_weights as summarize_weights
