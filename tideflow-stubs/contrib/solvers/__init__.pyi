# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.solvers import lanczos as lanczos
from tideflow.contrib.solvers import least_squares as least_squares
from tideflow.contrib.solvers import linear_equations as linear_equations
from tideflow.contrib.solvers import util as util
