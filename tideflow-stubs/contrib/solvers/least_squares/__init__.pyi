# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.solvers.least_squares import cgls as cgls
