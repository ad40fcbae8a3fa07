# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.session_bundle.exporter import Exporter as Exporter
from tideflow.contrib.session_bundle.exporter import classification_signature as classification_signature
from tideflow.contrib.session_bundle.exporter import generic_signature as generic_signature
from tideflow.contrib.session_bundle.exporter import gfile_copy_callback as gfile_copy_callback
from tideflow.contrib.session_bundle.exporter import regression_signature as regression_signature
