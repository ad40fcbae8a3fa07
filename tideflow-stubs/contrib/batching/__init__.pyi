# Written by `python -m tideflow.programs.stubs`.

from tideflow.functions.batching import nondifferentiable_batch_function as _batch_function

batch_function = _batch_function
