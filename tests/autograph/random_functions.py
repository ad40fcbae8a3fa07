"""Functions made by chance, whose control flow depends on their argument: Python says what they give."""

import random

_VARIABLES = "abcd"


def source(seed, length=6, depth=3):
    """The text of a function `f(x, upto)`: `upto(n)` is what a `for` goes over."""
    writer = _Writer(random.Random(seed), depth)
    writer.block(1, length, in_loop=False, depth=depth)
    setup = [f"    {name} = {i} + x * 0" for i, name in enumerate(_VARIABLES)]
    end = ["    return a * 7 + b * 5 + c * 3 + d"]
    return "\n".join(["def f(x, upto):", *setup, *writer.lines, *end, ""])


class _Writer:
    def __init__(self, chance, depth):
        self.chance, self.depth, self.lines, self.counters = chance, depth, [], 0

    def line(self, level, text):
        self.lines.append("    " * level + text)

    def value(self):
        kind = self.chance.randrange(5)
        if kind == 0:
            return str(self.chance.randrange(-3, 9))
        if kind == 1:
            return f"({self.value()} if {self.test()} else {self.value()})"
        left, right = self.chance.choice(_VARIABLES), self.chance.choice(f"{_VARIABLES}x")
        return f"({left} {self.chance.choice('+-*')} {right}) % 97"

    def test(self):
        kind = self.chance.randrange(5)
        name, sign = self.chance.choice(f"{_VARIABLES}x"), self.chance.choice("<>")
        plain = f"{name} {sign} {self.chance.randrange(-2, 12)}"
        if kind == 0:
            return f"({plain} and {self.test()})"
        if kind == 1:
            return f"({plain} or {self.test()})"
        return f"not {plain}" if kind == 2 else plain

    def block(self, level, length, in_loop, depth):
        for _ in range(self.chance.randrange(1, length + 1)):
            self.statement(level, in_loop, depth)

    def statement(self, level, in_loop, depth):
        kinds = ["assign", "assign", "augmented"]
        if depth:
            kinds += ["if", "if", "if else", "while", "for", "python for", "with", "try", "function"]
        if in_loop:
            kinds += ["jump"]
        kind = self.chance.choice(kinds)
        name = self.chance.choice(_VARIABLES)
        inside = (level + 1, 3, in_loop, depth - 1)
        if kind == "assign":
            self.line(level, f"{name} = {self.value()}")
        elif kind == "augmented":
            self.line(level, f"{name} += {self.value()}")
        elif kind in ("if", "if else"):
            self.line(level, f"if {self.test()}:")
            self.block(*inside)
            if kind == "if else":
                self.line(level, "else:")
                self.block(*inside)
        elif kind in ("while", "for"):
            self.loop(kind, level, depth)
        elif kind == "python for":
            self.line(level, f"for i in range({self.chance.randrange(3)}):")
            self.line(level + 1, f"{name} = {name} + i")
            self.block(level + 1, 2, False, depth - 1)
        elif kind == "with":
            self.line(level, "with nothing():")
            self.block(*inside)
        elif kind == "try":
            self.line(level, "try:")
            self.block(*inside)
            self.line(level, "finally:")
            self.line(level + 1, f"{name} += 1")
        elif kind == "function":
            self.line(level, f"def g(y, z={name}):")
            self.line(level + 1, f"if y > {self.chance.randrange(9)}: return (y - z) % 11")
            self.line(level + 1, f"return {self.chance.choice(_VARIABLES)} + z")
            self.line(level, f"{self.chance.choice(_VARIABLES)} = g({self.value()})")
        else:
            self.line(level, f"if {self.test()}: {self.chance.choice(['break', 'continue'])}")

    def loop(self, kind, level, depth):
        self.counters += 1
        counter = f"n{self.counters}"
        times = self.chance.randrange(5)
        if kind == "for":
            self.line(level, f"for {counter} in upto({times}):")
            self.line(level + 1, f"a = a + {counter}")
        else:
            self.line(level, f"{counter} = {times} + x * 0")
            self.line(level, f"while {counter} > 0 and {self.test()}:")
            self.line(level + 1, f"{counter} -= 1")
        self.block(level + 1, 3, True, depth - 1)
        if self.chance.randrange(4) == 0:
            self.line(level, "else:")
            self.line(level + 1, f"b += {self.value()}")
