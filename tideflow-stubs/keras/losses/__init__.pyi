# Written by `python -m tideflow.programs.stubs`.

from tideflow.keras.losses import BinaryCrossentropy as BinaryCrossentropy
from tideflow.keras.losses import CategoricalCrossentropy as CategoricalCrossentropy
from tideflow.keras.losses import CategoricalHinge as CategoricalHinge
from tideflow.keras.losses import CosineSimilarity as CosineSimilarity
from tideflow.keras.losses import Hinge as Hinge
from tideflow.keras.losses import Huber as Huber
from tideflow.keras.losses import KLDivergence as KLDivergence
from tideflow.keras.losses import LogCosh as LogCosh
from tideflow.keras.losses import Loss as Loss
from tideflow.keras.losses import MeanAbsoluteError as MeanAbsoluteError
from tideflow.keras.losses import MeanAbsolutePercentageError as MeanAbsolutePercentageError
from tideflow.keras.losses import MeanSquaredError as MeanSquaredError
from tideflow.keras.losses import MeanSquaredLogarithmicError as MeanSquaredLogarithmicError
from tideflow.keras.losses import Poisson as Poisson
from tideflow.keras.losses import SparseCategoricalCrossentropy as SparseCategoricalCrossentropy
from tideflow.keras.losses import SquaredHinge as SquaredHinge
from tideflow.keras.losses import binary_crossentropy as binary_crossentropy
from tideflow.keras.losses import categorical_crossentropy as categorical_crossentropy
from tideflow.keras.losses import categorical_hinge as categorical_hinge
from tideflow.keras.losses import cosine_proximity as _cosine
from tideflow.keras.losses import cosine_proximity as _cosine_similarity
from tideflow.keras.losses import cosine_proximity as cosine_proximity
from tideflow.keras.losses import deserialize as deserialize
from tideflow.keras.losses import get as get
from tideflow.keras.losses import hinge as hinge
from tideflow.keras.losses import kullback_leibler_divergence as _KLD
from tideflow.keras.losses import kullback_leibler_divergence as _kld
from tideflow.keras.losses import kullback_leibler_divergence as kullback_leibler_divergence
from tideflow.keras.losses import logcosh as logcosh
from tideflow.keras.losses import mean_absolute_error as _MAE
from tideflow.keras.losses import mean_absolute_error as _mae
from tideflow.keras.losses import mean_absolute_error as mean_absolute_error
from tideflow.keras.losses import mean_absolute_percentage_error as _MAPE
from tideflow.keras.losses import mean_absolute_percentage_error as _mape
from tideflow.keras.losses import mean_absolute_percentage_error as mean_absolute_percentage_error
from tideflow.keras.losses import mean_squared_error as _MSE
from tideflow.keras.losses import mean_squared_error as _mse
from tideflow.keras.losses import mean_squared_error as mean_squared_error
from tideflow.keras.losses import mean_squared_logarithmic_error as _MSLE
from tideflow.keras.losses import mean_squared_logarithmic_error as _msle
from tideflow.keras.losses import mean_squared_logarithmic_error as mean_squared_logarithmic_error
from tideflow.keras.losses import poisson as poisson
from tideflow.keras.losses import serialize as serialize
from tideflow.keras.losses import sparse_categorical_crossentropy as sparse_categorical_crossentropy
from tideflow.keras.losses import squared_hinge as squared_hinge

KLD = _KLD
MAE = _MAE
MAPE = _MAPE
MSE = _MSE
MSLE = _MSLE
cosine = _cosine
cosine_similarity = _cosine_similarity
kld = _kld
mae = _mae
mape = _mape
mse = _mse
msle = _msle
