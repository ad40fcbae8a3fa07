# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.solvers.util import create_operator as create_operator
from tideflow.contrib.solvers.util import dot as dot
from tideflow.contrib.solvers.util import identity_operator as identity_operator
from tideflow.contrib.solvers.util import l2norm as l2norm
from tideflow.contrib.solvers.util import l2norm_squared as l2norm_squared
from tideflow.contrib.solvers.util import l2normalize as l2normalize
