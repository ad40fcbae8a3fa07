"""Names of `tensorflow.python.data.experimental.ops.optimization`: how datasets are rewritten."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tideflow.data.dataset import Dataset, DatasetSpec, dataset_spec
from tideflow.data.functions import traced
from tideflow.data.structure import flat_attributes
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.programs.modules import generated_function


def assert_next(transformations: Sequence[str]) -> Callable[[Dataset], Dataset]:
    """States which transformations follow when the dataset has been rewritten, which is not checked.

    Args:
      transformations: Their names.

    Returns:
      A function for `Dataset.apply`.

    Raises:
      ValueError: If there are no names.
    """
    if transformations is None:
        raise ValueError("At least one transformation should be specified")
    op = generated_function("assert_next_dataset")
    names = lambda: convert_to_tensor(transformations, dtypes.string, name="transformations")
    return lambda dataset: dataset._same(op, names())


def model() -> Callable[[Dataset], Dataset]:
    """Measures how long the parts of the dataset take.

    Returns:
      A function for `Dataset.apply`.
    """
    return lambda dataset: dataset._same(generated_function("model_dataset"))


def non_serializable() -> Callable[[Dataset], Dataset]:
    """Makes a dataset that cannot be written as a graph.

    Returns:
      A function for `Dataset.apply`.
    """
    return lambda dataset: dataset._same(generated_function("non_serializable_dataset"))


def optimize(optimizations: Sequence[str] | None = None) -> Callable[[Dataset], Dataset]:
    """Rewrites the dataset.

    Args:
      optimizations: The names of the rewritings; none if None.

    Returns:
      A function for `Dataset.apply`.
    """
    op = generated_function("optimize_dataset")
    names = lambda: convert_to_tensor(list(optimizations or ()), dtypes.string, name="optimizations")
    return lambda dataset: dataset._same(op, names())


def _ChooseFastestDataset(datasets: Sequence[Dataset], num_experiments: int = 10) -> Dataset:
    """One of several datasets of the same elements."""
    given = list(datasets)
    spec = given[0].element_spec
    variant = generated_function("choose_fastest_dataset")(
        [each._variant_tensor for each in given],
        num_experiments=num_experiments,
        **flat_attributes(spec),
    )
    return Dataset(variant, spec, given)


def _ChooseFastestBranchDataset(
    input_dataset: Dataset,
    functions: Sequence[Callable[[Dataset], Dataset]],
    ratio_numerator: int = 1,
    ratio_denominator: int = 1,
    num_elements_per_branch: int | None = None,
) -> Dataset:
    """What one of several functions makes of a dataset, which all make the same of it."""
    if ratio_numerator <= 0 or ratio_denominator <= 0:
        raise ValueError("ratio must be positive.")
    given = DatasetSpec(input_dataset.element_spec)
    made = [traced(function, "ChooseFastestV2", given) for function in functions]
    spec = dataset_spec(made[0], "ChooseFastestV2")
    variant = generated_function("choose_fastest_branch_dataset")(
        input_dataset._variant_tensor,
        ratio_numerator=ratio_numerator,
        ratio_denominator=ratio_denominator,
        other_arguments=[tensor for each in made for tensor in each.captured],
        num_elements_per_branch=num_elements_per_branch or 10 * ratio_denominator,
        branches=[each.attr for each in made],
        other_arguments_lengths=[len(each.captured) for each in made],
        **flat_attributes(spec),
    )
    return Dataset(variant, spec, [input_dataset])
