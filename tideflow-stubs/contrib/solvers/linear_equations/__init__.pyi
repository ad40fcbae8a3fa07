# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.solvers.linear_equations import conjugate_gradient as conjugate_gradient
