# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.kernel_methods import KernelLinearClassifier as KernelLinearClassifier
from tideflow.contrib.kernel_methods import RandomFourierFeatureMapper as RandomFourierFeatureMapper
from tideflow.contrib.kernel_methods import sparse_multiclass_hinge_loss as sparse_multiclass_hinge_loss
