# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.session_bundle import exporter as exporter
from tideflow.contrib.session_bundle import gc as gc
from tideflow.contrib.session_bundle import manifest_pb2 as manifest_pb2
