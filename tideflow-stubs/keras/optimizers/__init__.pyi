# Written by `python -m tideflow.programs.stubs`.

from tideflow.keras.optimizers import deserialize as deserialize
from tideflow.keras.optimizers import get as get
from tideflow.keras.optimizers import schedules as schedules
from tideflow.keras.optimizers import serialize as serialize
from tideflow.keras.optimizers.laws import Adadelta as Adadelta
from tideflow.keras.optimizers.laws import Adagrad as Adagrad
from tideflow.keras.optimizers.laws import Adam as Adam
from tideflow.keras.optimizers.laws import Adamax as Adamax
from tideflow.keras.optimizers.laws import Ftrl as Ftrl
from tideflow.keras.optimizers.laws import Nadam as Nadam
from tideflow.keras.optimizers.laws import RMSprop as RMSprop
from tideflow.keras.optimizers.laws import SGD as SGD
from tideflow.keras.optimizers.optimizer import Optimizer as Optimizer
