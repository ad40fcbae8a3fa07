"""GraphDefs written by TensorFlow run here, and ours run there: same nodes, same values."""

import exchange
import pytest
from comparison import differences
from runner import ORACLE, SUBJECT


def _exchanges():
    for name, build in exchange.programs().items():
        yield ORACLE, name
        if not hasattr(build, "only_tensorflow"):
            yield SUBJECT, name


@pytest.mark.parametrize(("writer", "name"), list(_exchanges()))
def test_graph_of_one_runs_in_the_other(writer, name, exchanged):
    written, read = (
        side.get(name, {"kind": "failed", "message": "nothing written"}) for side in exchanged[writer]
    )
    for side in (written, read):
        if side.get("kind") == "failed":
            pytest.fail(side["message"], pytrace=False)
    found = differences(written["result"]["nodes"], read["result"]["nodes"], "graph")
    found += differences(written["result"]["values"], read["result"]["values"], "values")
    found += differences(written["result"]["values"], read["prefixed"], "values under a prefix")
    if "by tokens" in read:
        found += differences(written["result"]["values"], read["by tokens"], "values by the token executor")
    if found:
        pytest.fail("\n".join(found[:25]), pytrace=False)
