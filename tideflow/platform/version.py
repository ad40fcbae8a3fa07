"""Which TensorFlow this answers for (`tf.VERSION`), and how it was built (`tf.sysconfig`).

`tideflow.__version__` is the package's own; programs that check TensorFlow's version ask `tf.VERSION`.
"""

from __future__ import annotations

import os
import re

import torch

from tideflow._version import __version__
from tideflow.export import export, expose

VERSION = "1.15.5"
# Written into graphs and models, to say which program wrote them.
GIT_VERSION = f"v{VERSION}-tideflow-{__version__}"


def _compiler() -> str:
    found = re.search(r"GCC ([\w.]+)", torch.__config__.show())
    return found.group(1) if found else "unknown"


expose(VERSION, "VERSION", "version.VERSION")
expose(GIT_VERSION, "GIT_VERSION", "version.GIT_VERSION", "__git_version__")
expose(_compiler(), "COMPILER_VERSION", "version.COMPILER_VERSION", "__compiler_version__")

# Extensions in C++ are compiled with headers of this package alone; they share torch's memory.
CXX11_ABI_FLAG = int(torch.compiled_with_cxx11_abi())
MONOLITHIC_BUILD = 0
_PACKAGE = os.path.dirname(os.path.dirname(__file__))

expose(CXX11_ABI_FLAG, "CXX11_ABI_FLAG", "sysconfig.CXX11_ABI_FLAG", "__cxx11_abi_flag__")
expose(MONOLITHIC_BUILD, "MONOLITHIC_BUILD", "sysconfig.MONOLITHIC_BUILD", "__monolithic_build__")


@export("sysconfig.get_include")
def get_include() -> str:
    """The folder of the C++ headers: TensorFlow's names for ops and kernels."""
    return os.path.join(_PACKAGE, "include")


@export("sysconfig.get_lib")
def get_lib() -> str:
    """The folder where linkers find `tensorflow_framework`. It adds nothing: the headers are enough."""
    return os.path.join(_PACKAGE, "lib")


@export("sysconfig.get_compile_flags")
def get_compile_flags() -> list[str]:
    """What a compiler needs to build an extension."""
    return [f"-I{get_include()}", f"-D_GLIBCXX_USE_CXX11_ABI={CXX11_ABI_FLAG}"]


@export("sysconfig.get_link_flags")
def get_link_flags() -> list[str]:
    """What a linker needs to build an extension, also one that uses torch itself (`-ltorch_cpu`)."""
    return [f"-L{get_lib()}", f"-L{os.path.join(os.path.dirname(torch.__file__), 'lib')}"]
