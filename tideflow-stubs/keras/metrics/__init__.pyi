# Written by `python -m tideflow.programs.stubs`.

from tideflow.keras.losses import binary_crossentropy as binary_crossentropy
from tideflow.keras.losses import categorical_crossentropy as categorical_crossentropy
from tideflow.keras.losses import cosine_proximity as _cosine
from tideflow.keras.losses import cosine_proximity as cosine_proximity
from tideflow.keras.losses import hinge as hinge
from tideflow.keras.losses import kullback_leibler_divergence as _KLD
from tideflow.keras.losses import kullback_leibler_divergence as _kld
from tideflow.keras.losses import kullback_leibler_divergence as kullback_leibler_divergence
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
from tideflow.keras.losses import sparse_categorical_crossentropy as sparse_categorical_crossentropy
from tideflow.keras.losses import squared_hinge as squared_hinge
from tideflow.keras.metrics import deserialize as deserialize
from tideflow.keras.metrics import get as get
from tideflow.keras.metrics import serialize as serialize
from tideflow.keras.metrics.accuracies import Accuracy as Accuracy
from tideflow.keras.metrics.accuracies import BinaryAccuracy as BinaryAccuracy
from tideflow.keras.metrics.accuracies import BinaryCrossentropy as BinaryCrossentropy
from tideflow.keras.metrics.accuracies import CategoricalAccuracy as CategoricalAccuracy
from tideflow.keras.metrics.accuracies import CategoricalCrossentropy as CategoricalCrossentropy
from tideflow.keras.metrics.accuracies import CategoricalHinge as CategoricalHinge
from tideflow.keras.metrics.accuracies import CosineSimilarity as CosineSimilarity
from tideflow.keras.metrics.accuracies import Hinge as Hinge
from tideflow.keras.metrics.accuracies import KLDivergence as KLDivergence
from tideflow.keras.metrics.accuracies import LogCoshError as LogCoshError
from tideflow.keras.metrics.accuracies import MeanAbsoluteError as MeanAbsoluteError
from tideflow.keras.metrics.accuracies import MeanAbsolutePercentageError as MeanAbsolutePercentageError
from tideflow.keras.metrics.accuracies import MeanIoU as MeanIoU
from tideflow.keras.metrics.accuracies import MeanSquaredError as MeanSquaredError
from tideflow.keras.metrics.accuracies import MeanSquaredLogarithmicError as MeanSquaredLogarithmicError
from tideflow.keras.metrics.accuracies import Poisson as Poisson
from tideflow.keras.metrics.accuracies import RootMeanSquaredError as RootMeanSquaredError
from tideflow.keras.metrics.accuracies import SparseCategoricalAccuracy as SparseCategoricalAccuracy
from tideflow.keras.metrics.accuracies import SparseCategoricalCrossentropy as SparseCategoricalCrossentropy
from tideflow.keras.metrics.accuracies import SparseTopKCategoricalAccuracy as SparseTopKCategoricalAccuracy
from tideflow.keras.metrics.accuracies import SquaredHinge as SquaredHinge
from tideflow.keras.metrics.accuracies import TopKCategoricalAccuracy as TopKCategoricalAccuracy
from tideflow.keras.metrics.accuracies import binary_accuracy as binary_accuracy
from tideflow.keras.metrics.accuracies import categorical_accuracy as categorical_accuracy
from tideflow.keras.metrics.accuracies import sparse_categorical_accuracy as sparse_categorical_accuracy
from tideflow.keras.metrics.accuracies import sparse_top_k_categorical_accuracy as sparse_top_k_categorical_accuracy
from tideflow.keras.metrics.accuracies import top_k_categorical_accuracy as top_k_categorical_accuracy
from tideflow.keras.metrics.confusion import AUC as AUC
from tideflow.keras.metrics.confusion import FalseNegatives as FalseNegatives
from tideflow.keras.metrics.confusion import FalsePositives as FalsePositives
from tideflow.keras.metrics.confusion import Precision as Precision
from tideflow.keras.metrics.confusion import Recall as Recall
from tideflow.keras.metrics.confusion import SensitivityAtSpecificity as SensitivityAtSpecificity
from tideflow.keras.metrics.confusion import SpecificityAtSensitivity as SpecificityAtSensitivity
from tideflow.keras.metrics.confusion import TrueNegatives as TrueNegatives
from tideflow.keras.metrics.confusion import TruePositives as TruePositives
from tideflow.keras.metrics.metric import Mean as Mean
from tideflow.keras.metrics.metric import MeanRelativeError as MeanRelativeError
from tideflow.keras.metrics.metric import MeanTensor as MeanTensor
from tideflow.keras.metrics.metric import Metric as Metric
from tideflow.keras.metrics.metric import Sum as Sum

KLD = _KLD
MAE = _MAE
MAPE = _MAPE
MSE = _MSE
MSLE = _MSLE
cosine = _cosine
kld = _kld
mae = _mae
mape = _mape
mse = _mse
msle = _msle
