# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.learn.head import binary_svm_head as binary_svm_head
from tideflow.contrib.learn.head import loss_only_head as loss_only_head
from tideflow.contrib.learn.head import multi_class_head as multi_class_head
from tideflow.contrib.learn.head import multi_head as multi_head
from tideflow.contrib.learn.head import multi_label_head as multi_label_head
from tideflow.contrib.learn.head import poisson_regression_head as poisson_regression_head
from tideflow.contrib.learn.head import regression_head as regression_head
from tideflow.contrib.learn.head_base import Head as Head
from tideflow.contrib.learn.head_base import no_op_train_fn as no_op_train_fn
from tideflow.contrib.learn.modes import MetricKey as _mkey

mkey = _mkey
