# Written by `python -m tideflow.programs.stubs`.

from tideflow.variables.constraints import Constraint as Constraint
from tideflow.variables.constraints import MaxNorm as MaxNorm
from tideflow.variables.constraints import MaxNorm as _max_norm
from tideflow.variables.constraints import MinMaxNorm as MinMaxNorm
from tideflow.variables.constraints import MinMaxNorm as _min_max_norm
from tideflow.variables.constraints import NonNeg as NonNeg
from tideflow.variables.constraints import NonNeg as _non_neg
from tideflow.variables.constraints import RadialConstraint as RadialConstraint
from tideflow.variables.constraints import RadialConstraint as _radial_constraint
from tideflow.variables.constraints import UnitNorm as UnitNorm
from tideflow.variables.constraints import UnitNorm as _unit_norm
from tideflow.variables.constraints import deserialize as deserialize
from tideflow.variables.constraints import get as get
from tideflow.variables.constraints import serialize as serialize

max_norm = _max_norm
min_max_norm = _min_max_norm
non_neg = _non_neg
radial_constraint = _radial_constraint
unit_norm = _unit_norm
