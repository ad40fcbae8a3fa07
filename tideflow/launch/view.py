"""The output of a job: every line of every task, and the state of each task."""

from __future__ import annotations

import contextlib
import os
import sys
import termios
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, TextIO

from tideflow.launch.logs import global_step
from tideflow.launch.supervision import Record, State, Supervision, Task

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_COLOURS = ("cyan", "green", "magenta", "yellow", "blue", "bright_cyan", "bright_green", "bright_magenta")
_STATE_COLOURS = {State.RUNNING: "green", State.FAILED: "red", State.FINISHED: "cyan"}


def view_of(supervision: Supervision, plain: bool) -> PlainView:
    """A live view if the output is a terminal that can show one, a plain view otherwise."""
    if not plain and sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
        try:
            return LiveView(supervision)
        except ImportError:
            print("tideflow: the live view needs rich (pip install rich)", file=sys.stderr)
    return PlainView(supervision)


class PlainView:
    """Writes the tasks' lines, each with its task, to the output, and reports to the error output."""

    def __init__(
        self, supervision: Supervision, out: TextIO | None = None, errors: TextIO | None = None
    ) -> None:
        self.supervision = supervision
        self.out, self.errors = out or sys.stdout, errors or sys.stderr

    def __enter__(self) -> PlainView:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def output(self, task: Task, line: str) -> None:
        """Shows a line that a task has written."""
        print(f"[{task}] {line}", file=self.out, flush=True)

    def report(self, text: str) -> None:
        """Shows a report of the supervision."""
        print(f"[launch] {text}", file=self.errors, flush=True)


class LiveView(PlainView):
    """The same lines in colours, above a table of the tasks that is updated all the time."""

    def __init__(self, supervision: Supervision, console: Console | None = None) -> None:
        from rich.console import Console  # loaded when asked for
        from rich.live import Live  # loaded when asked for

        super().__init__(supervision)
        self.console = console or Console(highlight=False)
        self._began = time.monotonic()
        self._last: dict[Task, str] = {}
        self._steps: dict[Task, int] = {}
        self._live = Live(console=self.console, get_renderable=self.table, refresh_per_second=4)

    def __enter__(self) -> LiveView:
        self._stack = contextlib.ExitStack()
        self._stack.enter_context(_keys_not_shown())
        self._stack.enter_context(self._live)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def output(self, task: Task, line: str) -> None:
        from rich.text import Text  # loaded when asked for

        text = Text.from_ansi(line)
        self._last[task] = text.plain.strip() or self._last.get(task, "")
        step = global_step(text.plain)
        if step is not None:
            self._steps[task] = step
        self.console.print(Text(f"[{task}] ", style=self._colour(task)) + text, soft_wrap=True)

    def report(self, text: str) -> None:
        from rich.text import Text  # loaded when asked for

        self.console.print(Text(f"[launch] {text}", style="bold"), soft_wrap=True)

    def _colour(self, task: Task) -> str:
        return _COLOURS[list(self.supervision.records).index(task) % len(_COLOURS)]

    def table(self) -> Table:
        """The current state of each task."""
        from rich.table import Table  # loaded when asked for
        from rich.text import Text  # loaded when asked for

        seconds = int(time.monotonic() - self._began)
        made = Table(box=None, expand=True, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        clock, job = f"{seconds // 60}:{seconds % 60:02d}", self.supervision
        made.title = (
            f"over · {clock}" if job.is_over() else f"{job.phase.value} · {clock} · Ctrl-C stops the job"
        )
        made.title_style, made.title_justify = "dim", "left"
        for name in ("task", "state", "process", "restarts", "step"):
            made.add_column(name, no_wrap=True, justify="right" if name in ("restarts", "step") else "left")
        made.add_column("last line", no_wrap=True, ratio=1)
        for task, record in self.supervision.records.items():
            made.add_row(
                Text(str(task), style=self._colour(task)),
                Text(_state_of(record), style=_STATE_COLOURS.get(record.state, "yellow")),
                Text(record.place),
                Text(str(record.restarts or "")),
                Text(str(self._steps.get(task, ""))),
                Text(self._last.get(task, ""), style="dim", overflow="ellipsis"),
            )
        return made


@contextlib.contextmanager
def _keys_not_shown() -> Iterator[None]:
    """Keeps the terminal from writing ^C into the table."""
    if not sys.stdin.isatty():
        yield
        return
    before = termios.tcgetattr(sys.stdin)
    quiet = [*before[:3], before[3] & ~termios.ECHO, *before[4:]]
    termios.tcsetattr(sys.stdin, termios.TCSADRAIN, quiet)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _state_of(record: Record) -> str:
    return f"{record.state.value} ({record.code})" if record.code else record.state.value
