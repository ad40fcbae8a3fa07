"""tf.contrib.training.HParams."""

from kit import cases, raises


def _made(tf):
    return tf.contrib.training.HParams(
        rate=0.1, layers=3, name="net", sizes=[1, 2], flag=True, words=["a", "b"]
    )


def _shown(h):
    return [h.values(), str(h), repr(h), h.to_json(sort_keys=True)]


def basics(tf, np):
    h = _made(tf)
    h.add_hparam("extra", 2.5)
    out = [_shown(h), "rate" in h, "nothing" in h, h.get("rate"), h.get("nothing", 4), h.extra]
    h.set_hparam("layers", 5)
    h.rate = 0.5
    h.del_hparam("extra")
    h.del_hparam("extra")
    out += [_shown(h), h.get_model_structure()]
    h.set_model_structure("s")
    return [out, h.get_model_structure(), h.to_json(indent=2, separators=(",", ": "), sort_keys=True)]


@cases(
    "rate=0.25",
    "rate=1",
    "rate=1e-3,layers=7",
    "name=other",
    "name=a b",
    "name=",
    "sizes=[3,4,5]",
    "sizes=[3, 4]",
    "sizes=[7]",
    "flag=false",
    "flag=True",
    "flag=0",
    "flag=1,layers=-2",
    "words=[x,y z]",
    "words=[x]",
    "layers = 4",
    "layers=4, rate=0.5",
    "",
)
def parsed(tf, np, text):
    h = _made(tf)
    returned = h.parse(text)
    return [_shown(h), returned is h]


@cases(
    "rate=x",
    "layers=2.5",
    "layers=[1,2]",
    "sizes=3",
    "sizes[0]=9",
    "unknown=1",
    "rate",
    "rate=1,,layers=2",
    "flag=maybe",
    "rate=0.1,rate=0.2",
    "=3",
)
def refused(tf, np, text):
    return raises(_made(tf).parse, text)


@cases(
    ("rate", 2),
    ("rate", 2.5),
    ("rate", "text"),
    ("rate", True),
    ("rate", None),
    ("layers", 2.5),
    ("layers", 4),
    ("layers", True),
    ("name", "x"),
    ("name", 3),
    ("flag", False),
    ("flag", 1),
    ("flag", "yes"),
    ("sizes", [5, 6, 7]),
    ("sizes", (5, 6, 8)),
    ("sizes", 5),
    ("sizes", [1.5]),
    ("layers", [1]),
    ("unknown", 1),
)
def overridden(tf, np, name, value):
    h = _made(tf)
    try:
        return [h.override_from_dict({name: value}).values()[name]]
    except (KeyError, ValueError, TypeError) as error:
        return type(error).__name__


def refused_names(tf, np):
    h = _made(tf)
    return [
        raises(h.add_hparam, "rate", 1.0),
        raises(h.add_hparam, "parse", 1.0),
        raises(h.add_hparam, "empty", []),
        raises(h.get, "rate", "x"),
        raises(h.get, "sizes", 3),
        h.get("sizes", [4]),
        h.get("layers", 4),
    ]


def json_in(tf, np):
    h = _made(tf).parse_json('{"rate": 0.75, "sizes": [9], "name": "j"}')
    return [_shown(h), raises(h.parse_json, '{"layers": "x"}')]


@cases(
    ("a=1,b=2.0", False),
    ("a=[1,2]", False),
    ("a[1]=5,a[3]=6", False),
    ("a=1,zzz=4", True),
    ("c=x", False),
)
def values(tf, np, text, ignore):
    return tf.contrib.training.parse_values(text, {"a": int, "b": float, "c": str}, ignore_unknown=ignore)


@cases("a[1]=5,a[1]=6", "a=1,a[0]=2", "a[0]=[1]", "zzz=1", "a=b")
def values_refused(tf, np, text):
    return raises(tf.contrib.training.parse_values, text, {"a": int, "b": float})
