# Written by `python -m tideflow.programs.stubs`.

from tideflow.estimator.inputs.arrays import numpy_input_fn as numpy_input_fn
from tideflow.estimator.inputs.frames import pandas_input_fn as pandas_input_fn
