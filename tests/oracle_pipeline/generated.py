"""Tables of random columns, and the same with random faults: both sides make them from a seed."""

import math
import random

WORDS = [
    b"Roma",
    b"Bern",
    b"Z\xc3\xbcrich",
    b"",
    b" ",
    b"a,b",
    b'"q"',
    b"line\nbreak",
    b"NA",
    b"null",
    b"0",
    b"-1",
    b"1e5",
]
WORDS += [b"true", b"false", b"2020-01-31", b"__BYTES_VALUE__", "東京".encode(), b"\\n", b"<b>", b"x" * 300]
BROKEN = [b"\xff\xfe", b"Z\xfcrich", b"ok", b"\x00zero", b"\xed\xa0\x80"]
EXTREMES = [0.0, -0.0, 1.0, -1.0, 3e38, -3e38, 1e-40, math.inf, -math.inf, math.nan, 2.0**24 + 1, 0.1]
INTEGERS = [0, 1, -1, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63), 2**31, 17_000, 1_500_000_000]
CELLS = [
    "1",
    "-7",
    " 1",
    "1 ",
    "1.0",
    "1e3",
    "-0",
    "+5",
    "nan",
    "-inf",
    "",
    "0x10",
    "1_0",
    "true",
    '"a,b"',
    '"a""b"',
]
CELLS += [
    "two words",
    "1.",
    ".5",
    "1e400",
    "9223372036854775807",
    "9223372036854775808",
    "\uff11",
    "007",
    "1e-320",
]
CELLS += [
    "Infinity",
    "NaN",
    "0.1",
    "16777217",
    "1,".replace(",", ";"),
    "null",
    "\u00e9",
    "-",
    "3.4e39",
    "\t2",
    '"5"',
    '""',
]


def _number(chance):
    return chance.choice([chance.gauss(0, 10), chance.expovariate(0.01), float(chance.randrange(-9, 9))])


# By kind: the type in Arrow, and how to draw one value.
KINDS = {
    "int": ("int64", lambda chance: chance.randrange(-5, 50)),
    "bit": ("int64", lambda chance: chance.randrange(2)),
    "large": ("int64", lambda chance: chance.choice(INTEGERS)),
    "year": ("int64", lambda chance: chance.randrange(1_500_000_000, 1_500_900_000)),
    "float": ("float32", _number),
    "double": ("float64", _number),
    "odd": ("float32", lambda chance: chance.choice(EXTREMES)),
    "zero": ("float32", lambda chance: 0.0),
    "nan": ("float64", lambda chance: math.nan),
    "word": ("binary", lambda chance: chance.choice(WORDS)),
    "flag": ("binary", lambda chance: chance.choice([b"true", b"false"])),
    "digits": ("binary", lambda chance: b"%d" % chance.randrange(-3, 99)),
    "decimals": ("binary", lambda chance: b"%.2f" % chance.uniform(-5, 5)),
    "id": ("binary", lambda chance: b"id-%d" % chance.randrange(10**9)),
    "broken": ("binary", lambda chance: chance.choice(BROKEN)),
}
SHAPES = ("one", "one", "gaps", "pair", "several", "nested", "never", "empty")
ROWS = (0, 1, 2, 7, 60, 101, 250)


def _cell(chance, shape, draw):
    if shape == "never" or (shape == "gaps" and chance.random() < 0.3):
        return None
    if shape == "empty":
        return []
    if shape == "nested":
        return [[draw(chance) for _ in range(chance.randrange(3))] for _ in range(chance.randrange(3))]
    count = {"one": 1, "gaps": 1, "pair": 2}.get(shape) or chance.randrange(4)
    return None if shape == "several" and count == 3 else [draw(chance) for _ in range(count)]


def _column(chance, rows, kind, shape):
    inner, draw = KINDS[kind]
    text = f"list<list<{inner}>>" if shape == "nested" else f"list<{inner}>"
    return text, [_cell(chance, shape, draw) for _ in range(rows)]


def tables(seed):
    """A table, and another one whose columns have faults: each by name a type and rows."""
    chance = random.Random(seed)
    plan = {
        f"{kind}{at}": (kind, chance.choice(SHAPES))
        for at, kind in enumerate(chance.sample(sorted(KINDS), chance.randrange(2, 7)))
    }
    rows = chance.choice(ROWS)
    first = {name: _column(chance, rows, *each) for name, each in plan.items()}
    rows = chance.choice(ROWS)
    for name, (kind, shape) in list(plan.items()):
        fault = chance.choice(["none", "none", "kind", "shape", "drop", "rename"])
        if fault == "kind":
            plan[name] = chance.choice(sorted(KINDS)), shape
        elif fault == "shape":
            plan[name] = kind, chance.choice(SHAPES)
        elif fault in ("drop", "rename"):
            del plan[name]
            if fault == "rename":
                plan[f"new {name}"] = kind, shape
    second = {name: _column(chance, rows, *each) for name, each in plan.items()}
    return first, second


def csv(seed):
    """The text of a CSV file with cells that are numbers, or nearly."""
    chance = random.Random(seed)
    pools = [chance.sample(CELLS, chance.randrange(1, 6)) for _ in range(chance.randrange(1, 6))]
    line_break = chance.choice(["\n", "\r\n"])
    rows = [",".join(f"c{at}" for at in range(len(pools)))]
    for _ in range(chance.randrange(1, 40)):
        row = ",".join(chance.choice(pool) for pool in pools)
        rows.append(row or '""')  # an empty line would be no row
    return line_break.join(rows) + chance.choice(["", line_break])


def batch(table):
    """A table as Arrow's record batch."""
    import pyarrow as pa

    def kind(text):
        return pa.list_(kind(text[5:-1])) if text.startswith("list<") else getattr(pa, text)()

    arrays = [pa.array(rows, kind(text)) for text, rows in table.values()]
    return pa.RecordBatch.from_arrays(arrays, list(table))
