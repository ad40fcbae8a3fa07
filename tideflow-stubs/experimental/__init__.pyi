# Written by `python -m tideflow.programs.stubs`.

from tideflow.functions.experimental import function_executor_type as function_executor_type
from tideflow.functions.experimental import output_all_intermediates as output_all_intermediates
