# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.bayesflow import monte_carlo as monte_carlo
