# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.monte_carlo import expectation as expectation
from tideflow.contrib.monte_carlo import expectation_importance_sampler as expectation_importance_sampler
from tideflow.contrib.monte_carlo import expectation_importance_sampler_logspace as expectation_importance_sampler_logspace
