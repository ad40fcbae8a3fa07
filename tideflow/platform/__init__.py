"""What a program has around its graph: flags, logging, files, versions, switches, tests."""

from tideflow.platform import (  # noqa: F401
    app,
    behavior,
    benchmarking,
    compat,
    config,
    deprecation,
    flags,
    gfile,
    gradient_checker,
    libraries,
    logging,
    printing,
    pywrap,
    resource_loader,
    testing,
    version,
)
