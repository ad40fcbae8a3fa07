# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.learn.datasets import load_boston as load_boston
from tideflow.contrib.learn.datasets import load_iris as load_iris
from tideflow.contrib.learn.digits import Datasets as Datasets
from tideflow.contrib.learn.downloads import maybe_download as maybe_download
from tideflow.contrib.learn.downloads import retry as retry
from tideflow.contrib.learn.downloads import urlretrieve_with_retry as urlretrieve_with_retry
from tideflow.contrib.learn.tables import Dataset as Dataset
from tideflow.contrib.learn.tables import load_csv_with_header as load_csv_with_header
from tideflow.contrib.learn.tables import load_csv_without_header as load_csv_without_header
from tideflow.contrib.learn.tables import shrink_csv as shrink_csv
