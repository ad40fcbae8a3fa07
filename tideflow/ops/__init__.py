"""The vocabulary: a subpackage a subject, a module a family, a paragraph an op.

Importing this package imports every module below it, which registers every op type.
"""

import importlib
import pkgutil

for _module in pkgutil.walk_packages(__path__, f"{__name__}."):
    importlib.import_module(_module.name)
