# Written by `python -m tideflow.programs.stubs`.

from tideflow.variables.regularizers import L1L2 as L1L2
from tideflow.variables.regularizers import Regularizer as Regularizer
from tideflow.variables.regularizers import deserialize as deserialize
from tideflow.variables.regularizers import get as get
from tideflow.variables.regularizers import l1 as l1
from tideflow.variables.regularizers import l1_l2 as l1_l2
from tideflow.variables.regularizers import l2 as l2
from tideflow.variables.regularizers import serialize as serialize
