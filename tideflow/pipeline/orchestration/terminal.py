"""What a person sees of a run on the terminal: a line for each component, and bars by rich where it is."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

from tideflow.pipeline.data.whole_files import printable
from tideflow.pipeline.orchestration import metadata
from tideflow.pipeline.orchestration.runner import Event, Result

_WORDS = {
    metadata.COMPLETE: "done",
    metadata.CACHED: "as before",
    metadata.FAILED: "FAILED",
    metadata.REFUSED: "REFUSED",
    metadata.SKIPPED: "skipped",
}


@contextlib.contextmanager
def shown(names: list[str]) -> Iterator[Callable[[Event], None]]:
    """Gives a listener that prints; on a terminal, what runs at the moment has a bar.

    Args:
        names: of the components.
    """
    width = max(map(len, names), default=0)
    bars = _bars(width) if sys.stdout.isatty() else None
    if bars is None:
        yield lambda event: _print(event, width, print)
        return
    with bars:
        yield _on_bars(bars, width)


def line_of(event: Event, width: int = 0) -> str:
    """One line about a component that has ended; the reasons are indented below.

    Args:
        event: how it ended.
        width: of the names.
    """
    time = f"{event.seconds:7.1f} s" if event.seconds >= 0.05 else ""
    line = f"  {event.node:<{width}}  {_WORDS.get(event.state, event.state):<9}{time}".rstrip()
    if event.state == metadata.SKIPPED:  # the reasons stand where they arose
        return f"{line}, for {', '.join(dict.fromkeys(word.partition(': ')[0] for word in event.words))}"
    return "\n".join([line, *(f"      {word}" for word in event.words)])


def verdict(result: Result) -> str:
    """How a run ended, in a sentence.

    Args:
        result: of the run.
    """
    counts = {state: list(result.states.values()).count(state) for state in _WORDS}
    ran, cached = counts[metadata.COMPLETE], counts[metadata.CACHED]
    if result.state == metadata.COMPLETE:
        components = "component" if ran == 1 else "components"
        return f"Run {result.run} is complete: {ran} {components} ran, {cached} had nothing to do."
    at = [node for node, state in result.states.items() if state == result.state]
    what = "failed" if result.state == metadata.FAILED else "stopped"
    return f"Run {result.run} {what} at {', '.join(at)}."


def _print(event: Event, width: int, write: Callable[[str], Any]) -> None:
    if event.state != metadata.RUNNING:
        write(printable(line_of(event, width), "\n"))
    elif event.words:
        write(printable("\n".join(f"  {event.node:<{width}}  {word}" for word in event.words), "\n"))


def _bars(width: int) -> Any:
    try:
        from rich import progress  # loaded when asked for
    except ImportError:
        return None
    columns = (
        progress.TextColumn("  {task.description}"),
        progress.BarColumn(bar_width=30),
        progress.TextColumn("{task.fields[count]}"),
        progress.TimeElapsedColumn(),
    )
    return progress.Progress(*columns, transient=True)


def _on_bars(bars: Any, width: int) -> Callable[[Event], None]:
    tasks: dict[str, Any] = {}

    def listener(event: Event) -> None:
        if event.state == metadata.RUNNING:
            if event.node not in tasks:
                tasks[event.node] = bars.add_task(f"{event.node:<{width}}", total=None, count="")
            if event.total:
                count = f"{event.done}/{event.total} {event.unit}"
                bars.update(tasks[event.node], completed=event.done, total=event.total, count=count)
        elif event.node in tasks:
            bars.remove_task(tasks.pop(event.node))
        _print(event, width, lambda text: bars.console.print(text, markup=False, highlight=False))

    return listener
