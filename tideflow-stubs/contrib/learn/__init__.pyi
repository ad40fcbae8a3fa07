# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.learn import datasets as datasets
from tideflow.contrib.learn import preprocessing as preprocessing
from tideflow.contrib.learn.modes import ModeKeys as ModeKeys
from tideflow.contrib.learn.modes import PredictionKey as PredictionKey
from tideflow.contrib.learn.modes import ProblemType as ProblemType
from tideflow.contrib.learn.modes import TaskType as TaskType
