# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.slim.model_analyzer import analyze_ops as analyze_ops
from tideflow.contrib.slim.model_analyzer import analyze_vars as analyze_vars
from tideflow.contrib.slim.model_analyzer import tensor_description as tensor_description
