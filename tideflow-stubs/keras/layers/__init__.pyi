# Written by `python -m tideflow.programs.stubs`.

from tideflow.layers.base import InputSpec as InputSpec
from tideflow.layers.base import Layer as Layer
