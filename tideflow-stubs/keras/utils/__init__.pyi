# Written by `python -m tideflow.programs.stubs`.

from tideflow.keras.engine.input_layer import get_source_inputs as get_source_inputs
from tideflow.keras.utils.arrays import HDF5Matrix as HDF5Matrix
from tideflow.keras.utils.arrays import normalize as normalize
from tideflow.keras.utils.arrays import to_categorical as to_categorical
from tideflow.keras.utils.data_utils import GeneratorEnqueuer as GeneratorEnqueuer
from tideflow.keras.utils.data_utils import OrderedEnqueuer as OrderedEnqueuer
from tideflow.keras.utils.data_utils import Sequence as Sequence
from tideflow.keras.utils.data_utils import SequenceEnqueuer as SequenceEnqueuer
from tideflow.keras.utils.data_utils import get_file as get_file
from tideflow.keras.utils.progbar import Progbar as Progbar
from tideflow.variables.custom_objects import CustomObjectScope as CustomObjectScope
from tideflow.variables.custom_objects import custom_object_scope as custom_object_scope
from tideflow.variables.custom_objects import deserialize_keras_object as deserialize_keras_object
from tideflow.variables.custom_objects import get_custom_objects as get_custom_objects
from tideflow.variables.custom_objects import serialize_keras_object as serialize_keras_object
