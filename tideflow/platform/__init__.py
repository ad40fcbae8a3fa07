"""What a program has around its graph: flags, logging, files, versions, switches, tests."""

from tideflow.platform import (  # noqa: F401
    app,
    behavior,
    compat,
    flags,
    gfile,
    gradient_checker,
    logging,
    printing,
    testing,
    version,
)
