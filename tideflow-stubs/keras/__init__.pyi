# Written by `python -m tideflow.programs.stubs`.

from tideflow.keras import backend as backend
from tideflow.keras import initializers as initializers
from tideflow.keras import layers as layers
from tideflow.keras import regularizers as regularizers
