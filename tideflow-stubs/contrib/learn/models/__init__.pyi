# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.learn.models import bidirectional_rnn as bidirectional_rnn
from tideflow.contrib.learn.models import get_rnn_model as get_rnn_model
from tideflow.contrib.learn.models import linear_regression as linear_regression
from tideflow.contrib.learn.models import linear_regression_zero_init as linear_regression_zero_init
from tideflow.contrib.learn.models import logistic_regression as logistic_regression
from tideflow.contrib.learn.models import logistic_regression_zero_init as logistic_regression_zero_init
