"""What the programs about checkpoints and SavedModels share: a folder, and messages as text."""

import os
import re
import shutil
import tempfile


class Folder:
    """A directory of its own, whose name is not part of the answer."""

    def __enter__(self):
        self.path = tempfile.mkdtemp()
        return self

    def __exit__(self, *exc):
        shutil.rmtree(self.path)

    def __call__(self, *parts):
        return os.path.join(self.path, *parts)

    def shown(self, value):
        """A path, or several, that begins with HERE instead of the folder's name."""
        if isinstance(value, (list, tuple)):
            return [self.shown(item) for item in value]
        return None if value is None else str(value).replace(self.path, "HERE")

    def files(self):
        """All files; how many shards one says it is of is each engine's own affair."""
        paths = [os.path.join(base, name) for base, _, names in os.walk(self.path) for name in names]
        return sorted(re.sub(r"-of-\d+$", "", os.path.relpath(path, self.path)) for path in paths)

    def file(self, name, text):
        """The path of a new file that holds this text."""
        with open(self(name), "w") as stream:
            stream.write(text)
        return self(name)


def message_text(message):
    """A message as text, numbers as all versions write them."""
    return re.sub(r"\.0\b", "", str(message))
