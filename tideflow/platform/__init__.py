"""What a program has around its graph: flags, logging, files, versions, switches, tests."""

from tideflow.platform import (  # noqa: F401
    app,
    compat,
    config,
    deprecation,
    flags,
    gfile,
    libraries,
    logging,
    printing,
    resource_loader,
    version,
)
