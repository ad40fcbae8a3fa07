"""A CSV of taxi trips, made up: eleven columns, one of them with as many values as rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

_AT_A_TIME = 200_000
_PAYMENTS = pa.array(["Cash", "Credit Card", "No Charge", "Unknown", None])
_SHARES = [0.5, 0.4, 0.05, 0.04, 0.01]


def write_table(path: Path, rows: int) -> Path:
    """Writes the table, unless it is there."""
    if path.exists():
        return path
    beside = path.with_suffix(".tmp")
    options = pa.csv.WriteOptions(quoting_style="none", quoting_header="none")
    first = _rows(0, min(_AT_A_TIME, rows))
    with pa.csv.CSVWriter(beside, first.schema, write_options=options) as file:
        file.write(first)
        for begin in range(_AT_A_TIME, rows, _AT_A_TIME):
            file.write(_rows(begin, min(_AT_A_TIME, rows - begin)))
    beside.rename(path)
    return path


def _rows(begin: int, count: int) -> pa.Table:
    draw = np.random.default_rng(begin)
    fare = np.round(draw.lognormal(2.3, 0.6, count), 2)
    area = draw.integers(1, 78, count)
    columns: dict[str, Any] = {
        "trip_id": [f"t{number * 7919 % 10**9:09d}" for number in range(begin, begin + count)],
        "fare": fare,
        "tips": np.round(np.where(draw.random(count) < 0.5, 0, fare * draw.random(count) * 0.3), 2),
        "trip_miles": np.round(draw.exponential(3, count), 1),
        "trip_seconds": draw.integers(60, 5000, count),
        "trip_start_timestamp": 1_400_000_000 + draw.integers(0, 30_000_000, count),
        "latitude": np.round(41.8 + draw.normal(0, 0.1, count), 6),
        "longitude": np.round(-87.6 + draw.normal(0, 0.1, count), 6),
        "area": pa.array(area, mask=area == 77),
        "payment_type": _PAYMENTS.take(pa.array(draw.choice(5, count, p=_SHARES))),
        "company": [f"Company {number % 60}" for number in draw.zipf(1.5, count).tolist()],
    }
    return pa.table(columns)
