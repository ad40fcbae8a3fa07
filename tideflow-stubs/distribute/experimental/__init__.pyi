# Written by `python -m tideflow.programs.stubs`.

from tideflow.cluster.multi_worker_strategy import CollectiveCommunication as CollectiveCommunication
from tideflow.cluster.multi_worker_strategy import MultiWorkerMirroredStrategy as MultiWorkerMirroredStrategy
from tideflow.cluster.parameter_server_strategy import ParameterServerStrategy as ParameterServerStrategy
from tideflow.distribute.central_storage import CentralStorageStrategy as CentralStorageStrategy
from tideflow.distribute.tpu import TPUStrategy as TPUStrategy
