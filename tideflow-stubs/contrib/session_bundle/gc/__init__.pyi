# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.session_bundle.gc import Path as Path
from tideflow.contrib.session_bundle.gc import get_paths as get_paths
from tideflow.contrib.session_bundle.gc import largest_export_versions as largest_export_versions
from tideflow.contrib.session_bundle.gc import mod_export_version as mod_export_version
from tideflow.contrib.session_bundle.gc import negation as negation
from tideflow.contrib.session_bundle.gc import one_of_every_n_export_versions as one_of_every_n_export_versions
from tideflow.contrib.session_bundle.gc import union as union
