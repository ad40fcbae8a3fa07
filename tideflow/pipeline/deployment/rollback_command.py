"""`tideflow rollback`: takes the newest version of a model back, so that the one before is served."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from tideflow.pipeline.deployment.pushing import rollback


def main(arguments: Sequence[str]) -> int:
    """Runs the command; its exit status."""
    parser = argparse.ArgumentParser(
        "tideflow rollback",
        description="Takes the newest version of a model out of the folder that a server watches: the server "
        "goes back to the one before, without a lost request.",
    )
    parser.add_argument("folder", metavar="DIR", help="the folder of the model's versions")
    parser.add_argument(
        "--to", type=int, metavar="VERSION", help="the version to go back to (the one before)"
    )
    options = parser.parse_args(arguments)
    version = rollback(options.folder, options.to)
    print(f"{options.folder}: version {version} is the newest now")
    return 0
