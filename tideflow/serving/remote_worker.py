"""A worker on another machine: `tideflow run -m tideflow.serving.remote_worker HOST`, of a Ray actor."""

from __future__ import annotations

import sys

from tideflow.serving import worker

ADDRESS_LINE = "tideflow worker at "


def main() -> None:
    """Listens at an address of this machine, and prints it."""
    worker.main(lambda address: print(f"{ADDRESS_LINE}{address}", flush=True), sys.argv[1])


if __name__ == "__main__":
    main()
