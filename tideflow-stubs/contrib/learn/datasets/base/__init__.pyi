# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.learn.datasets import load_boston as load_boston
from tideflow.contrib.learn.datasets import load_iris as load_iris
from tideflow.contrib.learn.tables import load_csv_with_header as load_csv_with_header
from tideflow.contrib.learn.tables import load_csv_without_header as load_csv_without_header
