# Written by `python -m tideflow.programs.stubs`.

from tideflow.estimator.keras_models import export_saved_model as export_saved_model
from tideflow.estimator.keras_models import load_from_saved_model as load_from_saved_model
from tideflow.keras.layers.cells import PeepholeLSTMCell as PeepholeLSTMCell
from tideflow.keras.layers.feature_layers import SequenceFeatures as SequenceFeatures
from tideflow.keras.optimizers.schedules import CosineDecay as CosineDecay
from tideflow.keras.optimizers.schedules import CosineDecayRestarts as CosineDecayRestarts
from tideflow.keras.optimizers.schedules import LinearCosineDecay as LinearCosineDecay
from tideflow.keras.optimizers.schedules import NoisyLinearCosineDecay as NoisyLinearCosineDecay
from tideflow.keras.premade import LinearModel as LinearModel
from tideflow.keras.premade import WideDeepModel as WideDeepModel
from tideflow.keras.utils.data_utils import terminate_keras_multiprocessing_pools as terminate_keras_multiprocessing_pools
