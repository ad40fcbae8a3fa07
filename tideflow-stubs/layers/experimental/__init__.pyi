# Written by `python -m tideflow.programs.stubs`.

from tideflow.layers.scoped import keras_style_scope as keras_style_scope
from tideflow.layers.scoped import set_keras_style as set_keras_style
