# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.slim.reading import ParallelReader as ParallelReader
from tideflow.contrib.slim.reading import get_data_files as get_data_files
from tideflow.contrib.slim.reading import parallel_read as parallel_read
from tideflow.contrib.slim.reading import single_pass_read as single_pass_read
