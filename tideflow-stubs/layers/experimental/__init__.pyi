# Written by `python -m tideflow.programs.stubs`.

from tideflow.layers.base import keras_style_scope as keras_style_scope
from tideflow.layers.base import set_keras_style as set_keras_style
