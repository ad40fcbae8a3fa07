# Written by `python -m tideflow.programs.stubs`.

from tideflow.saved_model.main_op import main_op as main_op
from tideflow.saved_model.main_op import main_op_with_restore as main_op_with_restore
