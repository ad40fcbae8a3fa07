"""TFRecord files of Examples or SequenceExamples as sources of blocks."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from tideflow.graph.errors import DataLossError, OpError, ResourceExhaustedError
from tideflow.io.records import RecordFile
from tideflow.pipeline.data.examples import parse_examples, parse_sequence_examples
from tideflow.pipeline.data.faults import Faults
from tideflow.pipeline.data.sources import Source

_ROWS, _BYTES = 1 << 13, 1 << 26  # of a block, at most about
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class RecordSource(Source):
    """The records of a TFRecord file, compressed by GZIP or not."""

    path: str
    sequences: bool = False

    @property
    def size(self) -> int:
        return os.path.getsize(self.path)

    def blocks(self, faults: Faults) -> Iterator[pa.RecordBatch]:
        parse = parse_sequence_examples if self.sequences else parse_examples
        read = 0
        for records in self._records(faults):
            first = read + 1

            def refuse(number: int, reason: str, first: int = first) -> None:
                faults.add(self.path, first + number, reason)

            read += len(records)
            block = parse(records, refuse)
            if block.num_rows:
                yield block

    def _records(self, faults: Faults) -> Iterator[Sequence[bytes]]:
        """The records, some at a time. What is behind a damaged one cannot be found, and is a fault."""
        with open(self.path, "rb") as file:
            compression = "GZIP" if file.read(2) == _GZIP else ""
        read = 0
        with RecordFile(self.path, compression) as file:
            while True:
                records: list[bytes] = []
                try:
                    size = 0
                    while len(records) < _ROWS and size < _BYTES:
                        _, more = file.take(_ROWS // 8)
                        if not more:
                            break
                        records += more
                        size += sum(map(len, more))
                except (DataLossError, ResourceExhaustedError) as damage:
                    if records:
                        yield records
                    self._refuse_rest(faults, read + len(records), damage)
                    return
                if not records:
                    if file.cut_off is not None:
                        self._refuse_rest(faults, read, file.cut_off)
                    return
                read += len(records)
                yield records

    def _refuse_rest(self, faults: Faults, read: int, damage: OpError) -> None:
        reason = damage.message.removeprefix(f"{self.path}: ")
        faults.add(self.path, read + 1, f"damaged from here on: {reason}")


def record_sources(files: Sequence[str], sequences: bool) -> list[RecordSource]:
    """The sources of TFRecord files, one of each file."""
    return [RecordSource(path, sequences) for path in files]
