# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.optimizer_v2.base import OptimizerV2 as OptimizerV2
from tideflow.contrib.optimizer_v2.optimizers import AdadeltaOptimizer as AdadeltaOptimizer
from tideflow.contrib.optimizer_v2.optimizers import AdagradOptimizer as AdagradOptimizer
from tideflow.contrib.optimizer_v2.optimizers import AdamOptimizer as AdamOptimizer
from tideflow.contrib.optimizer_v2.optimizers import GradientDescentOptimizer as GradientDescentOptimizer
from tideflow.contrib.optimizer_v2.optimizers import MomentumOptimizer as MomentumOptimizer
from tideflow.contrib.optimizer_v2.optimizers import RMSPropOptimizer as RMSPropOptimizer
