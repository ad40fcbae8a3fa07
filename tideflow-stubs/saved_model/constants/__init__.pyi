# Written by `python -m tideflow.programs.stubs`.

from builtins import int as _int
from builtins import str as _str

ASSETS_DIRECTORY: _str
ASSETS_KEY: _str
LEGACY_INIT_OP_KEY: _str
MAIN_OP_KEY: _str
SAVED_MODEL_FILENAME_PB: _str
SAVED_MODEL_FILENAME_PBTXT: _str
SAVED_MODEL_SCHEMA_VERSION: _int
VARIABLES_DIRECTORY: _str
VARIABLES_FILENAME: _str
