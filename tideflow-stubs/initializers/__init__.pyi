# Written by `python -m tideflow.programs.stubs`.

from tideflow.lookup.collections import tables_initializer as tables_initializer
from tideflow.variables.collections import global_variables_initializer as _global_variables
from tideflow.variables.collections import local_variables_initializer as _local_variables
from tideflow.variables.collections import variables_initializer as _variables
from tideflow.variables.initializers import Constant as _constant
from tideflow.variables.initializers import GlorotNormal as _glorot_normal
from tideflow.variables.initializers import GlorotUniform as _glorot_uniform
from tideflow.variables.initializers import Identity as _identity
from tideflow.variables.initializers import Ones as _ones
from tideflow.variables.initializers import Orthogonal as _orthogonal
from tideflow.variables.initializers import RandomNormal as _random_normal
from tideflow.variables.initializers import RandomUniform as _random_uniform
from tideflow.variables.initializers import TruncatedNormal as _truncated_normal
from tideflow.variables.initializers import UniformUnitScaling as _uniform_unit_scaling
from tideflow.variables.initializers import VarianceScaling as _variance_scaling
from tideflow.variables.initializers import Zeros as _zeros
from tideflow.variables.initializers import he_normal as he_normal
from tideflow.variables.initializers import he_uniform as he_uniform
from tideflow.variables.initializers import lecun_normal as lecun_normal
from tideflow.variables.initializers import lecun_uniform as lecun_uniform

constant = _constant
global_variables = _global_variables
glorot_normal = _glorot_normal
glorot_uniform = _glorot_uniform
identity = _identity
local_variables = _local_variables
ones = _ones
orthogonal = _orthogonal
random_normal = _random_normal
random_uniform = _random_uniform
truncated_normal = _truncated_normal
uniform_unit_scaling = _uniform_unit_scaling
variables = _variables
variance_scaling = _variance_scaling
zeros = _zeros
