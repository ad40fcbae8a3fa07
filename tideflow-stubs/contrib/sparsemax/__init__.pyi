# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.sparsemax import sparsemax as sparsemax
from tideflow.contrib.sparsemax import sparsemax_loss as sparsemax_loss
