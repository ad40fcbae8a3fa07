# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.eager.metrics import Accuracy as Accuracy
from tideflow.contrib.eager.metrics import BinaryAccuracy as BinaryAccuracy
from tideflow.contrib.eager.metrics import CategoricalAccuracy as CategoricalAccuracy
from tideflow.contrib.eager.metrics import Mean as Mean
from tideflow.contrib.eager.metrics import Metric as Metric
from tideflow.contrib.eager.metrics import SparseAccuracy as SparseAccuracy
