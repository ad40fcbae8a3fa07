# Written by `python -m tideflow.programs.stubs`.

from tideflow.platform.gfile import GFile as GFile
from tideflow.platform.gfile import copy as copy
from tideflow.platform.gfile import exists as exists
from tideflow.platform.gfile import glob as glob
from tideflow.platform.gfile import isdir as isdir
from tideflow.platform.gfile import listdir as listdir
from tideflow.platform.gfile import makedirs as makedirs
from tideflow.platform.gfile import mkdir as mkdir
from tideflow.platform.gfile import remove as remove
from tideflow.platform.gfile import rename as rename
from tideflow.platform.gfile import rmtree as rmtree
from tideflow.platform.gfile import stat as stat
from tideflow.platform.gfile import walk as walk
