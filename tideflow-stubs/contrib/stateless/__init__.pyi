# Written by `python -m tideflow.programs.stubs`.

from tideflow.ops.random.choices import stateless_multinomial as stateless_multinomial
from tideflow.ops.random.distributions import stateless_random_normal as stateless_random_normal
from tideflow.ops.random.distributions import stateless_random_uniform as stateless_random_uniform
from tideflow.ops.random.distributions import stateless_truncated_normal as stateless_truncated_normal
