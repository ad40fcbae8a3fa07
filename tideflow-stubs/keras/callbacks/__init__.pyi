# Written by `python -m tideflow.programs.stubs`.

from tideflow.keras.callbacks.base import BaseLogger as BaseLogger
from tideflow.keras.callbacks.base import Callback as Callback
from tideflow.keras.callbacks.base import History as History
from tideflow.keras.callbacks.base import LambdaCallback as LambdaCallback
from tideflow.keras.callbacks.base import ProgbarLogger as ProgbarLogger
from tideflow.keras.callbacks.base import TerminateOnNaN as TerminateOnNaN
from tideflow.keras.callbacks.files import CSVLogger as CSVLogger
from tideflow.keras.callbacks.files import ModelCheckpoint as ModelCheckpoint
from tideflow.keras.callbacks.files import RemoteMonitor as RemoteMonitor
from tideflow.keras.callbacks.schedules import EarlyStopping as EarlyStopping
from tideflow.keras.callbacks.schedules import LearningRateScheduler as LearningRateScheduler
from tideflow.keras.callbacks.schedules import ReduceLROnPlateau as ReduceLROnPlateau
from tideflow.keras.callbacks.tensorboard import TensorBoard as TensorBoard
