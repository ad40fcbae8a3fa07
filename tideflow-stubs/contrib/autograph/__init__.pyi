# Written by `python -m tideflow.programs.stubs`.

from tideflow.autograph.api import AutoGraphError as AutoGraphError
from tideflow.autograph.api import StackTraceMapper as StackTraceMapper
from tideflow.autograph.api import contrib_to_code as _to_code
from tideflow.autograph.api import contrib_to_graph as _to_graph
from tideflow.autograph.api import convert as convert
from tideflow.autograph.api import do_not_convert as do_not_convert
from tideflow.autograph.calls import converted_call as converted_call
from tideflow.autograph.lists import set_element_type as set_element_type
from tideflow.autograph.lists import set_loop_options as set_loop_options
from tideflow.autograph.lists import stack as stack
from tideflow.autograph.options import ConversionOptions as ConversionOptions
from tideflow.autograph.options import Feature as Feature

to_code = _to_code
to_graph = _to_graph
