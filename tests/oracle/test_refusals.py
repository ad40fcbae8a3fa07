"""What an op refuses, it refuses with TensorFlow's type of error and with its fixed phrase."""

import os
import pickle

import pytest
import refusal_table
import refusals
import runner
from phrases import missing

CASES = refusal_table.table()
PROGRAM = runner.HERE / "refusals.py"

# Where TensorFlow itself cannot be asked.
NOT_ASKED = (
    "No OpKernel was registered",  # it has no kernel for the CPU
    "is not available in GraphDef version",  # it has taken the op out
    "Should not specify value for inferred attr",  # a sample names a type that follows from the inputs
    "Unknown input name: deleted_key",  # its kernel asks for an input that the op does not have
    "No argument for attr",  # an attribute has a default here only
)


@pytest.fixture(scope="module")
def said(oracle, tmp_path_factory):
    """What each engine said of every case."""
    path = tmp_path_factory.mktemp("refusals") / "cases.pickle"
    path.write_bytes(pickle.dumps(CASES, protocol=4))
    os.environ[refusals.FILE] = str(path)
    names = {f"refusal[{key}]": case for key, case in CASES.items()}
    truth = [PROGRAM, runner.HERE / "kit.py", runner.HERE / "engine.py"]
    expected = runner.cached_each(
        truth,
        "refusals",
        names,
        lambda new: runner.run_file(runner.ORACLE, PROGRAM, new, "forking_engine.py"),
    )
    return expected, runner.run_file(runner.SUBJECT, PROGRAM, list(names))


@pytest.mark.parametrize("op", sorted({case["op"] for case in CASES.values()}))
def test_refusal(op, said):
    expected, actual = (
        {key: side[f"refusal[{key}]"] for key, case in CASES.items() if case["op"] == op} for side in said
    )
    found = [line for key in expected for line in differences(key, expected[key], actual[key])]
    if found:
        pytest.fail("\n".join(found), pytrace=False)


def differences(key, expected, actual):
    """How what Tideflow said of a case differs from what TensorFlow said."""
    if expected == "no such op" or expected["kind"] == "failed":  # a newer op, or TensorFlow's process ended
        return
    if actual["kind"] == "failed":
        yield f"{key}: {actual['type']}: {actual['message'][-500:]}"
        return
    for how in ("known", "unknown"):
        theirs, ours = (side["items"][how]["items"] for side in (expected, actual))
        if how == "unknown" and key.partition(":")[0] in NEVER_UNKNOWN:
            continue
        if f"{key}, {how}" not in OTHER_WORDS:
            yield from (f"{key}, {how}: {line}" for line in _of_outcomes(theirs, ours))


def _of_outcomes(theirs, ours):
    wanted, given = theirs["error"], ours["error"]
    if wanted == "no error" or any(words in wanted["message"] for words in NOT_ASKED):
        return  # what only we refuse is told in our words
    if given == "no error":
        yield f"not refused; TensorFlow says {wanted['message'][:200]!r}"
        return
    if ours["while"] == "the graph is built" and theirs["while"] == "a step runs":
        return  # found earlier, before the kernel has anything to say
    if wanted["types"][0] not in given["types"]:
        yield f"{wanted['types'][0]} expected, {given['types'][0]} found: {given['message'][:200]}"
    absent = missing(wanted["message"], given["message"])
    if absent:
        yield f"{absent} not in {given['message'][:300]!r}"


# Op types of which TensorFlow refuses every graph of unknown shapes, and why.
NEVER_UNKNOWN = {
    "FusedPadConv2D": "it wants a rank of -1",
    "FusedResizeAndPadConv2D": "it wants a rank of -1",
    "PrintV2": "it wants the rank of the string",
    "BatchToSpaceND": "it wants the rank of block_shape",
    "SpaceToBatchND": "it wants the rank of block_shape",
}

# Why an error here has other words, or another type.
OTHER_WORDS = {
    "FusedPadConv2D: refusal 1, known": "TensorFlow compares the depths before it sees that they need "
    "not be equal",
    "FusedResizeAndPadConv2D: refusal 1, known": "TensorFlow compares shapes, we the number of sizes",
    "FusedResizeAndPadConv2D: size with -7, known": "found in the step",
    **{
        f"{op}: {what}, unknown": "the shape of each input is compared before its elements"
        for op, what in (
            ("RaggedGather", "params_nested_splits[0] of one rank less"),
            ("RaggedTensorToTensor", "shape with -7"),
        )
    },
    **{
        f"QuantizedConv2DAndRequantize: {end} of one rank more, known": "one rule for the family: "
        "each channel may have a range"
        for end in ("min_filter", "max_filter")
    },
    **{
        f"{op}: {what}, {how}": "TensorFlow's sentence lacks a space"
        for op in (
            "Conv2DBackpropInput",
            "Conv2DBackpropFilter",
            "Conv3DBackpropInputV2",
            "Conv3DBackpropFilterV2",
        )
        for what in ("refusal 2", "input longer along axis 0", "out_backprop longer along axis 0")
        for how in ("known", "unknown")
    },
    "CropAndResizeGradImage: image_size longer along axis 0, known": "the number of sizes is the rank of the "
    "result in TensorFlow",
    "CropAndResizeGradImage: image_size with -7, unknown": "a negative size is refused first",
    "DecodeJSONExample: refusal 1, known": "the parsers of JSON are others",
    "DecodeJSONExample: refusal 1, unknown": "the parsers of JSON are others",
    **{
        f"Einsum: {what}, known": "TensorFlow goes on with which input and which equation"
        for what in ("refusal 2", "inputs[0] of one rank more", "inputs[0] of one rank less")
    },
    "Conv3D: input longer along axis 4, unknown": "one text for convolutions of images and of volumes",
    **{
        f"{op}: size {what}, {how}": "one text for all that resizes"
        for op, what in (
            ("ResizeNearestNeighborGrad", "with -7"),
            ("ScaleAndTranslate", "of one rank more"),
            ("ScaleAndTranslate", "of one rank less"),
            ("ScaleAndTranslate", "longer along axis 0"),
        )
        for how in ("known", "unknown")
    },
    "StringNGrams: data of one rank less, unknown": "TensorFlow counts the elements of a scalar",
    **{
        f"LSTMBlockCellGrad: f longer along axis 1, {how}": "TensorFlow names another gate"
        for how in ("known", "unknown")
    },
    "LSTMBlockCell: refusal 1, unknown": "TensorFlow reads the size of an axis that is not there",
    "Lu: input of one rank less, unknown": "one text for all ops of matrices, which counts the inputs",
    "MatrixSetDiagV2: input of one rank more, known": "one text for one diagonal and for several",
    "MaxPoolGradGradV2: strides with 97, known": "strides along channels are refused before sizes are "
    "compared",
    "MirrorPadGrad: paddings longer along axis 1, known": "one text for all ops that pad",
    **{
        f"ParallelConcat: values[0] {what}, unknown": "TensorFlow refuses every graph of unknown shapes"
        for what in ("of one rank more", "of one rank less", "longer along axis 0", "longer along axis 1")
    },
    "ParseExample: refusal 2, known": "of two faults TensorFlow meets the other one first",
    "ParseExample: refusal 2, unknown": "of two faults TensorFlow meets the other one first",
    "ParseSequenceExample: refusal 1, known": "TensorFlow's two parsers of sequences have two texts",
    "ParseSequenceExample: refusal 1, unknown": "TensorFlow's two parsers of sequences have two texts",
    **{
        f"AudioSpectrogram: input longer along axis 1, {how}": "TensorFlow counts wrongly, and refuses "
        "its own number"
        for how in ("known", "unknown")
    },
    "DecodeAndCropJpeg: crop_window with -7, unknown": "the size is refused before the data are read",
    **{
        f"{op}: fft_length with -7, unknown": "TensorFlow finds the input too short for a negative length"
        for op in ("RFFT", "RFFT2D", "RFFT3D", "IRFFT", "IRFFT2D", "IRFFT3D")
    },
    "QuantizedMul: refusal 2, known": "TensorFlow's text names an input that the op does not have",
    "QuantizedMul: refusal 2, unknown": "TensorFlow's text names an input that the op does not have",
    "RandomGamma: refusal 1, unknown": "TensorFlow shows the tensor instead of its shape",
    "RandomGamma: shape of one rank less, unknown": "TensorFlow shows the tensor instead of its shape",
    "RandomGamma: shape of one rank more, unknown": "TensorFlow shows the tensor instead of its shape",
    "SampleDistortedBoundingBoxV2: min_object_covered of one rank more, known": "found in "
    "the step: a number, not a size",
    **{
        f"{op}: alpha of one rank more, unknown": "TensorFlow calls it lr in one of three places"
        for op in ("ResourceSparseApplyProximalGradientDescent", "SparseApplyProximalGradientDescent")
    },
    "RestoreV2: refusal 1, unknown": "TensorFlow takes a vector of one prefix",
    "SparseSplit: split_dim with -7, unknown": "TensorFlow reads a size outside of the shape: what it says "
    "depends on what is in memory there",
    **{
        f"SparseToSparseSetOperation: set2_indices with 97, {how}": "TensorFlow compares the places of "
        "sets before those of elements"
        for how in ("known", "unknown")
    },
}
