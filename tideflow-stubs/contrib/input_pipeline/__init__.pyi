# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.input_pipeline import obtain_next as obtain_next
from tideflow.contrib.input_pipeline import seek_next as seek_next
