# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.learn.datasets import base as base
from tideflow.contrib.learn.datasets import load_boston as load_boston
from tideflow.contrib.learn.datasets import load_dataset as load_dataset
from tideflow.contrib.learn.datasets import load_iris as load_iris
from tideflow.contrib.learn.datasets import make_dataset as make_dataset
from tideflow.contrib.learn.datasets import synthetic as synthetic
from tideflow.contrib.learn.datasets import text_datasets as text_datasets
