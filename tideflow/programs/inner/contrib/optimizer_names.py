"""The names of variables and collections that the inner modules of `tensorflow.contrib.opt` show."""

from __future__ import annotations

from tideflow.contrib.opt.accumulated_gradients import GRADIENT
from tideflow.contrib.opt.replicas import GLOBAL_CENTER, LOCAL_CENTER

GLOBAL_VARIABLE_NAME = GLOBAL_CENTER
LOCAL_VARIABLE_NAME = LOCAL_CENTER
GRAD_VARIABLE_NAME = GRADIENT
GLOBAL_STEP = "global_step"
