# Written by `python -m tideflow.programs.stubs`.

from tideflow.platform.libraries import my_fact as my_fact
