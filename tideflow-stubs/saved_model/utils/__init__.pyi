# Written by `python -m tideflow.programs.stubs`.

from tideflow.saved_model.tensor_info import build_tensor_info as build_tensor_info
from tideflow.saved_model.tensor_info import get_tensor_from_tensor_info as get_tensor_from_tensor_info
