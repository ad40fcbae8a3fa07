"""Files for the programs about input. They are gone when the process ends."""

import atexit
import os
import shutil
import tempfile


def folder():
    """A directory of its own."""
    path = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


def text_file(*lines):
    """A file of these lines."""
    path = os.path.join(folder(), "lines")
    with open(path, "w") as file:
        file.write("".join(line + "\n" for line in lines))
    return path
