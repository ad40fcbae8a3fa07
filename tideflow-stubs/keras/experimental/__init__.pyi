# Written by `python -m tideflow.programs.stubs`.

from tideflow.keras.layers.cells import PeepholeLSTMCell as PeepholeLSTMCell
from tideflow.keras.optimizers.schedules import CosineDecay as CosineDecay
from tideflow.keras.optimizers.schedules import CosineDecayRestarts as CosineDecayRestarts
from tideflow.keras.optimizers.schedules import LinearCosineDecay as LinearCosineDecay
from tideflow.keras.optimizers.schedules import NoisyLinearCosineDecay as NoisyLinearCosineDecay
