# Written by `python -m tideflow.programs.stubs`.

from tideflow.autograph.api import do_not_convert as do_not_convert
from tideflow.autograph.lists import set_loop_options as set_loop_options
from tideflow.autograph.options import Feature as Feature
