# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.tensor_forest.columns import CastToFloat as CastToFloat
from tideflow.contrib.tensor_forest.columns import DataColumn as DataColumn
from tideflow.contrib.tensor_forest.columns import DataColumnCollection as DataColumnCollection
from tideflow.contrib.tensor_forest.columns import GetColumnName as GetColumnName
from tideflow.contrib.tensor_forest.columns import ParseDataTensorOrDict as ParseDataTensorOrDict
from tideflow.contrib.tensor_forest.columns import ParseLabelTensorOrDict as ParseLabelTensorOrDict
from tideflow.contrib.tensor_forest.columns import TensorForestDataSpec as TensorForestDataSpec
