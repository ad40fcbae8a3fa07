"""Builds the C library: `python -m tideflow.capi.build --out build/capi` (or `make capi`).

The folder then has `lib/libtideflow.so`, `include/` and `lib/pkgconfig/tideflow.pc`. Programs that are linked
with `-ltensorflow` and include `tensorflow/c/c_api.h` find both there, too.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from tideflow._version import __version__
from tideflow.platform.version import VERSION

_HERE = Path(__file__).parent

_PKG_CONFIG = """\
prefix={prefix}

Name: tideflow
Description: TensorFlow's C API on Tideflow
Version: {version}
Cflags: -I${{prefix}}/include
Libs: -L${{prefix}}/lib -ltideflow -Wl,-rpath,${{prefix}}/lib
"""


def build(out: Path, compiler: str = "", flags: tuple[str, ...] = ("-O2",)) -> Path:
    """Compiles the library and puts it, with its headers, into a folder.

    Args:
      out: The folder.
      compiler: The C++ compiler; by default $CXX, or g++.
      flags: Further flags of the compiler.

    Returns:
      The library.
    """
    out = out.absolute()
    compiler = compiler or os.environ.get("CXX", "g++")
    (out / "lib" / "pkgconfig").mkdir(parents=True, exist_ok=True)
    shutil.copytree(_HERE / "include", out / "include", dirs_exist_ok=True)
    common = [
        "-std=c++17",
        "-fPIC",
        "-fvisibility=hidden",
        "-Wall",
        "-Wextra",
        f"-I{_HERE / 'include'}",
        f"-isystem{sysconfig.get_path('include')}",
        f"-isystem{np.get_include()}",
        f'-DTIDEFLOW_PYTHON="{sys.executable}"',
        f'-DTIDEFLOW_ROOT="{_HERE.parent.parent}"',
        f'-DTIDEFLOW_TENSORFLOW_VERSION="{VERSION}"',
        *flags,
    ]

    sources = sorted((_HERE / "src").glob("*.cc"))
    newest = max(
        path.stat().st_mtime for folder in ("src", "include") for path in (_HERE / folder).rglob("*.*")
    )
    objects = out / "objects" / hashlib.sha256(" ".join([compiler, *common]).encode()).hexdigest()[:12]
    objects.mkdir(parents=True, exist_ok=True)

    def compiled(source: Path) -> Path:
        made = objects / f"{source.stem}.o"
        if not made.exists() or made.stat().st_mtime < newest:
            subprocess.run([compiler, *common, "-c", source, "-o", made], check=True)
        return made

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        made = list(threads.map(compiled, sources))
    library = out / "lib" / "libtideflow.so"
    name = "-Wl,-soname,libtideflow.so"
    subprocess.run([compiler, "-shared", name, *flags, *made, *_python_library(), "-o", library], check=True)
    other_name = out / "lib" / "libtensorflow.so"
    other_name.unlink(missing_ok=True)
    other_name.symlink_to(library.name)
    (out / "lib" / "pkgconfig" / "tideflow.pc").write_text(
        _PKG_CONFIG.format(prefix=out, version=__version__)
    )
    return library


def _python_library() -> list[str]:
    """The flags that link Python's library. Without one, only Python programs can load what is built."""
    folder, name = sysconfig.get_config_vars("LIBDIR", "LDLIBRARY")
    if not name or not name.endswith(".so"):
        print(f"{sys.executable} has no shared library: C programs will not find Python.", file=sys.stderr)
        return []
    return [f"-L{folder}", f"-Wl,-rpath,{folder}", f"-l{name.removeprefix('lib').removesuffix('.so')}"]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        prog="python -m tideflow.capi.build", description="Build libtideflow.so."
    )
    parser.add_argument("--out", type=Path, default=Path("build/capi"), help="where to put it")
    print(build(parser.parse_args().out))
