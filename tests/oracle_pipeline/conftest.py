"""The folder of the kit and of its programs is importable, as in the process that runs the originals."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
