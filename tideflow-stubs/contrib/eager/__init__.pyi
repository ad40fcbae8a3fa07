# Written by `python -m tideflow.programs.stubs`.

from builtins import int as _int
from tideflow.autodiff.custom import custom_gradient as custom_gradient
from tideflow.contrib.eager import Saver as Saver
from tideflow.contrib.eager import get_optimizer_variables as get_optimizer_variables
from tideflow.contrib.eager import metrics as metrics
from tideflow.contrib.eager import run as run
from tideflow.contrib.eager.callbacks import ExecutionCallback as ExecutionCallback
from tideflow.contrib.eager.callbacks import add_execution_callback as add_execution_callback
from tideflow.contrib.eager.callbacks import clear_execution_callbacks as clear_execution_callbacks
from tideflow.contrib.eager.callbacks import errstate as errstate
from tideflow.contrib.eager.callbacks import inf_callback as inf_callback
from tideflow.contrib.eager.callbacks import inf_nan_callback as inf_nan_callback
from tideflow.contrib.eager.callbacks import nan_callback as nan_callback
from tideflow.contrib.eager.callbacks import seterr as seterr
from tideflow.contrib.eager.modes import async_clear_error as async_clear_error
from tideflow.contrib.eager.modes import async_wait as async_wait
from tideflow.contrib.eager.modes import execution_mode as execution_mode
from tideflow.contrib.eager.modes import run_all_tests_in_graph_and_eager_modes as run_all_tests_in_graph_and_eager_modes
from tideflow.contrib.eager.modes import run_test_in_graph_and_eager_modes as run_test_in_graph_and_eager_modes
from tideflow.contrib.eager.modes import set_execution_mode as set_execution_mode
from tideflow.contrib.eager.network import Network as Network
from tideflow.contrib.eager.network import Sequential as Sequential
from tideflow.contrib.eager.network_checkpoints import restore_network_checkpoint as restore_network_checkpoint
from tideflow.contrib.eager.network_checkpoints import restore_variables_on_create as restore_variables_on_create
from tideflow.contrib.eager.network_checkpoints import save_network_checkpoint as save_network_checkpoint
from tideflow.data.iterator import EagerIterator as _Iterator
from tideflow.eager.context import enable_eager_execution as enable_eager_execution
from tideflow.eager.context import in_eager_mode as in_eager_mode
from tideflow.eager.context import list_devices as list_devices
from tideflow.eager.context import num_gpus as num_gpus
from tideflow.eager.gradient_functions import gradients_function as gradients_function
from tideflow.eager.gradient_functions import implicit_gradients as implicit_gradients
from tideflow.eager.gradient_functions import implicit_value_and_gradients as implicit_value_and_gradients
from tideflow.eager.gradient_functions import value_and_gradients_function as value_and_gradients_function
from tideflow.eager.python_functions import py_function as _py_func
from tideflow.eager.tape import GradientTape as GradientTape
from tideflow.functions.def_function import function as function
from tideflow.functions.tracing import defun as defun
from tideflow.graph.scopes import executing_eagerly as executing_eagerly
from tideflow.graph.type_spec import TensorSpec as TensorSpec
from tideflow.train.checkpoint import Checkpoint as Checkpoint
from tideflow.variables.base import Variable as Variable
from tideflow.variables.eager_store import EagerVariableStore as EagerVariableStore
from tideflow.variables.template import make_template as make_template
from tideflow.variables.trackable import AutoTrackable as _Checkpointable

ASYNC: _int
Checkpointable = _Checkpointable
DEVICE_PLACEMENT_EXPLICIT: _int
DEVICE_PLACEMENT_SILENT: _int
DEVICE_PLACEMENT_WARN: _int
Iterator = _Iterator
SYNC: _int
py_func = _py_func
