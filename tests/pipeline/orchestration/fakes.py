"""A pipeline of small components: words are counted, the counts are judged, and a report is written."""

from collections import deque
from pathlib import Path

from tideflow.pipeline.orchestration.artifacts import Artifact, Model, ModelBlessing
from tideflow.pipeline.orchestration.components import (
    Context,
    Input,
    Output,
    component,
    earlier_span,
    latest_blessed,
)
from tideflow.pipeline.orchestration.pipelines import Pipeline


class Words(Artifact):
    """`words.txt`."""


class Counts(Artifact):
    """`counts.txt`."""


calls: deque[str] = deque()  # the components that ran, in order; a list would be part of what they depend on


def find(folder):
    files = sorted(Path(folder).glob("*.txt"))
    return {"span": len(files), "file": files[-1]}


@component(reads=find)
def Read(context: Context, words: Output[Words], folder: str) -> None:
    calls.append("Read")
    (words.uri / "words.txt").write_text(context.files["file"].read_text())
    words.properties["span"] = context.files["span"]


@component
def Count(
    context: Context,
    words: Input[Words],
    counts: Output[Counts],
    model: Output[Model],
    earlier: Input[Counts] | None = None,
    scale: int = 1,
    function: object = len,
) -> None:
    calls.append("Count")
    number = function((words.uri / "words.txt").read_text().split()) * scale
    before = (earlier.uri / "counts.txt").read_text() if earlier else "nothing"
    (counts.uri / "counts.txt").write_text(f"{number} after {before}")
    (model.uri / "model.txt").write_text(str(number))


@component
def Judge(
    context: Context,
    model: Input[Model],
    blessing: Output[ModelBlessing],
    baseline: Input[Model] | None = None,
    most: int = 100,
) -> None:
    calls.append("Judge")
    number = int((model.uri / "model.txt").read_text())
    old = (baseline.uri / "model.txt").read_text() if baseline else "none"
    (blessing.uri / "judged").write_text(f"{number} against {old}")
    blessing.properties["blessed"] = number <= most
    if number > most:
        context.refuse(f"{number} words are more than {most}")


@component
def Report(context: Context, counts: Input[Counts], report: Output[Artifact]) -> None:
    calls.append("Report")
    (report.uri / "report.txt").write_text((counts.uri / "counts.txt").read_text())


def make(folder, root, scale=1, most=100, function=len, **options):
    read = Read(folder=str(folder))
    count = Count(words=read.outputs["words"], scale=scale, function=function)
    count.take(earlier=earlier_span(count.outputs["counts"]))
    model = count.outputs["model"]
    judge = Judge(model=model, baseline=latest_blessed(model), most=most)
    report = Report(counts=count.outputs["counts"]).after(judge)
    return Pipeline("fake", root, [report, judge, count, read], **options)
