# Written by `python -m tideflow.programs.stubs`.

from tideflow.layers.base import Layer as Layer
from tideflow.layers.input_spec import InputSpec as InputSpec
