# Written by `python -m tideflow.programs.stubs`.

from tideflow.keras.wrappers.scikit_learn import KerasClassifier as KerasClassifier
from tideflow.keras.wrappers.scikit_learn import KerasRegressor as KerasRegressor
