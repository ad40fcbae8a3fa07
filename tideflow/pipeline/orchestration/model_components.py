"""The components from examples to a model that is served."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tideflow.graph import errors
from tideflow.pipeline.messages.evaluation import EvalConfig
from tideflow.pipeline.orchestration.artifacts import (
    Artifact,
    Examples,
    InfraBlessing,
    Model,
    ModelBlessing,
    ModelEvaluation,
    ModelRun,
    PushedModel,
    Schema,
    TransformGraph,
)
from tideflow.pipeline.orchestration.components import Context, Input, Output, component
from tideflow.pipeline.orchestration.data_components import SCHEMA, load_schema, split_sources
from tideflow.pipeline.orchestration.locks import make_folder

SERVING_MODEL = "serving_model_dir"


@component
def Trainer(
    context: Context,
    examples: Input[Examples],
    model: Output[Model],
    model_run: Output[ModelRun],
    run_fn: Callable[..., Any],
    transform_graph: Input[TransformGraph] | None = None,
    schema: Input[Schema] | None = None,
    base_model: Input[Model] | None = None,
    train_steps: int | None = None,
    eval_steps: int | None = None,
    custom_config: Mapping[str, Any] = {},
    cluster: Any = None,
    continues: bool = False,
) -> None:
    """Trains a model by a function of the user.

    Args:
        context: of the run.
        examples: transformed rows, or raw ones.
        model: gets the SavedModel.
        model_run: gets checkpoints and TensorBoard's events.
        run_fn: called with `trainer.FnArgs`.
        transform_graph: of the rows, to be exported with the model.
        schema: of the rows.
        base_model: whose parameters training begins with: `earlier_span(trainer.outputs["model"], True)`.
        train_steps: how long.
        eval_steps: how long.
        custom_config: whatever `run_fn` understands.
        cluster: `trainer.Cluster`, whose tasks all call `run_fn`; by default it is called in this process.
        continues: whether a training that was killed goes on from its checkpoints. Without, it begins again,
            and its result is the same as if nothing had happened.
    """
    from tideflow.pipeline.trainer.arguments import FnArgs  # loaded when asked for
    from tideflow.pipeline.trainer.run import run_trainer  # loaded when asked for
    from tideflow.pipeline.transform.output import forget_asset_paths  # loaded when asked for

    def files(split: str) -> list[str]:
        return [str(path) for path in sorted(examples.split(split).iterdir())]

    run_dir = make_folder(context.work / "model_run") if continues else model_run.uri
    arguments = FnArgs(
        train_files=files("train"),
        eval_files=files("eval"),
        transform_output=str(transform_graph.uri) if transform_graph else None,
        serving_model_dir=str(model.uri / SERVING_MODEL),
        model_run_dir=str(run_dir),
        working_dir=str(context.work),
        train_steps=train_steps,
        eval_steps=eval_steps,
        schema_path=str(schema.uri / SCHEMA) if schema else None,
        base_model=str(saved_model_of(base_model)) if base_model else None,
        custom_config=dict(custom_config),
    )
    run_trainer(run_fn, arguments, cluster)
    forget_asset_paths(str(saved_model_of(model)))
    if continues:
        shutil.copytree(run_dir, model_run.uri, dirs_exist_ok=True)


def saved_model_of(model: Artifact) -> Path:
    """The folder of a model's SavedModel: where its trainer exported it, or the newest folder in there.

    Args:
        model: the artifact.

    Raises:
        NotFoundError: If there is none.
    """
    found = sorted((model.uri / SERVING_MODEL).rglob("saved_model.pb*"))
    if not found:
        raise errors.not_found(f"the trainer left no SavedModel in {model.uri / SERVING_MODEL}")
    return found[-1].parent


@component
def Evaluator(
    context: Context,
    examples: Input[Examples],
    model: Input[Model],
    evaluation: Output[ModelEvaluation],
    blessing: Output[ModelBlessing],
    eval_config: EvalConfig,
    baseline_model: Input[Model] | None = None,
    schema: Input[Schema] | None = None,
    split: str = "eval",
) -> None:
    """Evaluates a model by slices, and blesses it if it is good enough.

    Args:
        context: of the run.
        examples: raw rows.
        model: what is evaluated.
        evaluation: gets metrics, plots and the validation's result.
        blessing: says whether the model passed all thresholds.
        eval_config: metrics, slices and thresholds.
        baseline_model: what it is compared with: `latest_blessed(trainer.outputs["model"])`. The first model
            has none and passes change thresholds.
        schema: of the rows.
        split: which rows.
    """
    from tideflow.pipeline import deployment  # loaded when asked for
    from tideflow.pipeline import evaluation as analysis  # loaded when asked for

    models = {"candidate": saved_model_of(model)}
    if baseline_model is not None:
        models["baseline"] = saved_model_of(baseline_model)
    analysis.run_model_analysis(
        models,
        eval_config,
        split_sources(examples, split),
        evaluation.uri,
        schema=load_schema(schema) if schema else None,
        rubber_stamp=baseline_model is None,
        workers=context.workers,
        ray=context.ray,
        progress=lambda done, total: context.progress(done, total, "parts"),
    )
    result = analysis.load_validation_result(evaluation.uri)
    verdict = deployment.bless(models["candidate"], result, None, blessing.uri)
    blessing.properties |= {"blessed": verdict.ok, "reasons": list(verdict.reasons)}
    evaluation.properties["baseline"] = baseline_model.id if baseline_model else None


def _measures_latency(limits: Any = None, **others: Any) -> bool:
    return limits is not None and limits.p99_seconds is not None


@component(alone=_measures_latency)
def InfraValidator(
    context: Context,
    model: Input[Model],
    blessing: Output[InfraBlessing],
    examples: Input[Examples] | None = None,
    request_log: str | None = None,
    requests: int = 100,
    split: str = "eval",
    signature_name: str = "",
    limits: Any = None,
) -> None:
    """Loads a model in a process of its own and asks it, before a server does: the canary.

    Args:
        context: of the run.
        model: what may crash, answer NaN, or take too much time or memory.
        blessing: says whether it did none of these.
        examples: rows to send it.
        request_log: requests that a server has logged, to send instead.
        requests: how many rows to send.
        split: which rows.
        signature_name: what the rows are sent to; by default the signature for serving.
        limits: `deployment.Limits`.
    """
    from tideflow.pipeline import deployment  # loaded when asked for

    folder = saved_model_of(model)
    rows = deployment.requests_of(split_sources(examples, split), requests) if examples else None
    canary = deployment.canary(
        folder,
        requests=rows,
        request_log=request_log,
        signature_name=signature_name,
        limits=limits or deployment.Limits(),
    )
    verdict = deployment.bless(folder, None, canary, blessing.uri)
    blessing.properties |= {"blessed": verdict.ok, "reasons": list(verdict.reasons)}


@component
def Pusher(
    context: Context,
    model: Input[Model],
    pushed_model: Output[PushedModel],
    destination: str,
    model_blessing: Input[ModelBlessing] | None = None,
    infra_blessing: Input[InfraBlessing] | None = None,
) -> None:
    """Pushes a model to the folder that a server watches, if all blessings were given.

    Args:
        context: of the run.
        model: the model.
        pushed_model: says where it went.
        destination: the folder of a model that `tideflow serve` watches.
        model_blessing: of the evaluation.
        infra_blessing: of the canary.
    """
    from tideflow.pipeline import deployment  # loaded when asked for

    blessings = [each for each in (model_blessing, infra_blessing) if each is not None]
    pushed_model.properties["pushed"] = False
    for each in blessings:
        for reason in each.properties["reasons"]:
            context.refuse(reason)
    if context.refusals:
        return
    version = deployment.push(saved_model_of(model), destination, [each.uri for each in blessings])
    place = {"destination": str(version.parent.absolute()), "version": int(version.name)}
    pushed_model.properties |= {"pushed": True, **place}
