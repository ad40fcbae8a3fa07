"""The fixed words of an error: those that programs, tests and search engines look for.

A message is words around what differs from run to run: numbers, shapes, names in quotes, values, paths. The
*phrase* is the list of the words between. An error here says TensorFlow's phrase if it has all of these
pieces, in order; it may say more between them and after them.
"""

import re

# Where what TensorFlow says about the error itself ends: it goes on with the node and its line.
_END = re.compile(
    r"\n?\s*\[\[\{?\{?node |\n\nOriginal stack trace|\n\nErrors may have originated|\n\nCaused by op"
    r"|\n\s*\[\[=| not in list of allowed values| in the list of allowed values"
    r"| for '[^']*' \(op: '\w+'\) with input shapes|\n\s*Encountered when executing"
    r"|\n\s*Traceback \(most recent| Originally defined at:|\n\s*Entire first structure|See info log"
    r"|in binary running on"
)

# "2 root error(s) found.\n  (0) Invalid argument: …": the first one is what is wrong.
_ROOTS = re.compile(r"^\d+ root error\(s\) found\.\s*\(0\) [A-Z][a-z ]+: ")

# "in converted code: … ValueError: …": the last line is the error itself.
_CONVERTED = re.compile(r"^in converted code:.*\n\s+\w+Error: ", re.DOTALL)

_VARIABLE = re.compile(
    r"""
    \{\{[^}]*\}\}                                 # {{node a/b}}
    | <[^<>]*(<[^<>]*>[^<>]*)*>                   # <tf.Variable 'v:0' …>, <class 'int'>
    | (Sparse|Ref)?Tensor\((?:[^()]|\([^()]*\))*\)
    | \[[^\[\]]*(\[[^\[\]]*\][^\[\]]*)*\]         # [2,3], [[1 2] [3 4]]
    | \((\d|\?|None)[^()a-z]*\)                   # (2, 3)
    | '[^'\n]*' | "[^"\n]*" | `[^`\n]*`
    | /[\w./\-]+                                  # a path
    | \(\)
    | \b\w+_\d+\b                                 # a name that was made unique
    | [-+]?\b\d[\w.\-+]*                          # a number
    | (?<!\w)-?(inf|nan)\b
    """,
    re.VERBOSE,
)


def phrase(message):
    """The pieces of fixed words of one of TensorFlow's messages."""
    text = _CONVERTED.sub("", _ROOTS.sub("", message))
    end = _END.search(text)
    text = text[: end.start()] if end else text
    pieces = (_plain(piece) for piece in _VARIABLE.sub("\0", text).split("\0"))
    return [piece for piece in pieces if re.search("[A-Za-z]", piece)]


def missing(expected, actual):
    """The pieces of the expected message's phrase that are not in the actual message, in order."""
    text, start, absent = _plain(actual), 0, []
    for piece in phrase(expected):
        found = text.find(piece, start)
        if found < 0:
            absent.append(piece)
        else:
            start = found + len(piece)
    return absent


def differences(expected, actual, path):
    """Every error in a program's result that does not say TensorFlow's phrase, each as one line."""
    if isinstance(expected, dict) and expected.get("kind") == "raised":
        absent = missing(expected["message"], actual["message"])
        return [f"{path}: {absent} not in {actual['message'][:300]!r}"] if absent else []
    if isinstance(expected, dict):
        pairs = [(key, value, actual[key]) for key, value in expected.items()]
    elif isinstance(expected, (list, tuple)):
        pairs = [(place, *pair) for place, pair in enumerate(zip(expected, actual))]
    else:
        pairs = []
    return [line for key, one, other in pairs for line in differences(one, other, f"{path}[{key!r}]")]


def _plain(text):
    return re.sub(r"\s+", " ", text).strip(" .,:;()[]{}'\"=-")
