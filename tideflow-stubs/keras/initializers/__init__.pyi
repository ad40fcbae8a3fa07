# Written by `python -m tideflow.programs.stubs`.

from tideflow.variables.initializers import Constant as Constant
from tideflow.variables.initializers import Constant as _constant
from tideflow.variables.initializers import GlorotNormal as _glorot_normal
from tideflow.variables.initializers import GlorotUniform as _glorot_uniform
from tideflow.variables.initializers import Identity as Identity
from tideflow.variables.initializers import Identity as _identity
from tideflow.variables.initializers import Initializer as Initializer
from tideflow.variables.initializers import Ones as Ones
from tideflow.variables.initializers import Ones as _ones
from tideflow.variables.initializers import Orthogonal as Orthogonal
from tideflow.variables.initializers import Orthogonal as _orthogonal
from tideflow.variables.initializers import VarianceScaling as VarianceScaling
from tideflow.variables.initializers import Zeros as Zeros
from tideflow.variables.initializers import Zeros as _zeros
from tideflow.variables.initializers import he_normal as he_normal
from tideflow.variables.initializers import he_uniform as he_uniform
from tideflow.variables.initializers import lecun_normal as lecun_normal
from tideflow.variables.initializers import lecun_uniform as lecun_uniform
from tideflow.variables.keras_initializers import RandomNormal as RandomNormal
from tideflow.variables.keras_initializers import RandomNormal as _normal
from tideflow.variables.keras_initializers import RandomNormal as _random_normal
from tideflow.variables.keras_initializers import RandomUniform as RandomUniform
from tideflow.variables.keras_initializers import RandomUniform as _random_uniform
from tideflow.variables.keras_initializers import RandomUniform as _uniform
from tideflow.variables.keras_initializers import TruncatedNormal as TruncatedNormal
from tideflow.variables.keras_initializers import TruncatedNormal as _truncated_normal
from tideflow.variables.keras_initializers import deserialize as deserialize
from tideflow.variables.keras_initializers import get as get
from tideflow.variables.keras_initializers import serialize as serialize

constant = _constant
glorot_normal = _glorot_normal
glorot_uniform = _glorot_uniform
identity = _identity
normal = _normal
ones = _ones
orthogonal = _orthogonal
random_normal = _random_normal
random_uniform = _random_uniform
truncated_normal = _truncated_normal
uniform = _uniform
zeros = _zeros
