# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.integrate import odeint as odeint
from tideflow.contrib.integrate import odeint_fixed as odeint_fixed
