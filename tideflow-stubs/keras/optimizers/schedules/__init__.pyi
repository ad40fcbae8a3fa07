# Written by `python -m tideflow.programs.stubs`.

from tideflow.keras.optimizers.schedules import ExponentialDecay as ExponentialDecay
from tideflow.keras.optimizers.schedules import InverseTimeDecay as InverseTimeDecay
from tideflow.keras.optimizers.schedules import LearningRateSchedule as LearningRateSchedule
from tideflow.keras.optimizers.schedules import PiecewiseConstantDecay as PiecewiseConstantDecay
from tideflow.keras.optimizers.schedules import PolynomialDecay as PolynomialDecay
from tideflow.keras.optimizers.schedules import deserialize as deserialize
from tideflow.keras.optimizers.schedules import serialize as serialize
