"""`python -m tideflow`, the same as `tideflow`."""

import sys

from tideflow.cli import main

sys.exit(main())
