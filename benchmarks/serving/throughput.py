"""Requests a second, latencies and processor time of servers, with the same models and the same load."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from benchmarks.serving import models
from benchmarks.serving.driver import plain_numbers, say
from benchmarks.serving.load import Load, by_h2load, by_wrk, check_grpc, picture
from benchmarks.serving.servers import SERVERS, Address, Server
from tideflow.simulator.pictures import figure_of, legend, prepare

CLIENTS = (1, 8, 32, 128)


class Cell(NamedTuple):
    """One measurement."""

    server: str
    model: str
    interface: str  # REST or gRPC
    clients: int


@dataclass
class Results:
    """Loads by cell, versions and troubles by server."""

    found: dict[Cell, Load] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    troubles: dict[str, str] = field(default_factory=dict)


def cells(servers: Sequence[str], names: Sequence[str], clients: Sequence[int]) -> list[Cell]:
    """All measurements of these servers and models, server by server."""
    return [
        Cell(key, name, interface, count)
        for key in servers
        for name in names
        if name in SERVERS[key].models
        for count in clients
        for interface in SERVERS[key].interfaces
    ]


def measure(
    work: Path,
    wanted: Sequence[Cell],
    seconds: float,
    results: Results,
    keep: Callable[[], None],
    end: float,
) -> None:
    """Puts each measurement into the results, every server in turn, alone on its core. `keep` is called after
    each; none begins after the time `end` of the monotonic clock.
    """
    models.make(work / "models")
    for key, of_server in groupby(wanted, key=lambda cell: cell.server):
        if time.monotonic() > end:
            return
        server = SERVERS[key]
        if not server.python.exists():
            results.troubles[key] = f"has no environment here ({server.python.parent.parent})"
            continue
        say(f"starting {server.title}")
        try:
            with server.start(work / "models") as address:
                results.versions[key] = address.version
                for cell in of_server:
                    if time.monotonic() > end:
                        return
                    results.found[cell] = _measure(server, address, cell, seconds)
                    results.troubles.pop(key, None)
                    say(_said(cell, results.found[cell]))
                    keep()
        except Exception as error:  # of a peer: the others are measured all the same
            results.troubles[key] = f"could not be measured to the end: {error}"
            say(f"{server.title}: {error}")


def _measure(server: Server, address: Address, cell: Cell, seconds: float) -> Load:
    row = picture()
    if cell.interface == "REST":
        url = address.rest.format(model=cell.model)
        return by_wrk(url, server.body(row), cell.clients, seconds, address.pid)
    assert server.message is not None
    message = server.message(cell.model, row)
    check_grpc(address.grpc, message)
    return by_h2load(address.grpc, message, cell.clients, seconds, address.pid)


def _said(cell: Cell, load: Load) -> str:
    return (
        f"{cell.server}, {cell.model}, {cell.interface}, {cell.clients} clients: {load.rate:,.0f} "
        f"requests/s, p99 {load.p99 * 1e3:.2f} ms, {load.cpu * 1e6:.0f} µs of CPU, {load.errors} failed"
    )


# ---------------------------------------------------------------------------------------------------- reports


def table(results: Results) -> str:
    """The loads, and how many times the best other server Tideflow is, as Markdown."""
    lines = [
        "| model | interface | clients | server | requests/s | p50, ms | p99 | p99.9 | CPU µs | failed |",
        "|---|---|--:|---|--:|--:|--:|--:|--:|--:|",
    ]
    for name, interface, clients in _places(results):
        for key, server in SERVERS.items():
            load = results.found.get(Cell(key, name, interface, clients))
            if load is not None:
                times = " | ".join(f"{value * 1e3:.2f}" for value in (load.p50, load.p99, load.p999))
                lines.append(
                    f"| {name} | {interface} | {clients} | {server.title} | {load.rate:,.0f} | {times} "
                    f"| {load.cpu * 1e6:.0f} | {load.errors} |"
                )
    versions = ", ".join(f"{SERVERS[key].title} {version}" for key, version in results.versions.items())
    troubles = [f"\n{SERVERS[key].title} {text}." for key, text in results.troubles.items()]
    return "\n".join([*_against_best(results), "", f"Versions: {versions}.", "", *lines, *troubles])


def _against_best(results: Results) -> list[str]:
    """For each place where others were measured too: Tideflow's rate and p99 against those of the best."""
    lines = [
        "| model | interface | clients | Tideflow, requests/s | best other | | Tideflow, p99 ms "
        "| best other |",
        "|---|---|--:|--:|---|--:|--:|---|",
    ]
    for name, interface, clients in _places(results):
        at = {key: results.found.get(Cell(key, name, interface, clients)) for key in SERVERS}
        others = {key: load for key, load in at.items() if key != "tideflow" and load is not None}
        ours = at["tideflow"]
        if ours is None or not others:
            continue
        fastest = max(others, key=lambda key: others[key].rate)
        steadiest = min(others, key=lambda key: others[key].p99)
        lines.append(
            f"| {name} | {interface} | {clients} | {ours.rate:,.0f} "
            f"| {_short(fastest)} {others[fastest].rate:,.0f} "
            f"| **{ours.rate / others[fastest].rate:.1f} ×** | {ours.p99 * 1e3:.2f} "
            f"| {_short(steadiest)} {others[steadiest].p99 * 1e3:.2f} |"
        )
    return lines


def _short(key: str) -> str:
    """A server's name."""
    return SERVERS[key].title.split(" in ")[0].split(" (")[0]


def _places(results: Results) -> list[tuple[str, str, int]]:
    places = {cell[1:] for cell in results.found}
    return sorted(places, key=lambda place: (list(models.MODELS).index(place[0]), place[1], place[2]))


def draw(results: Results, path: Path) -> None:
    """Requests a second and the 99th percentile by clients, for the MLP or the first model there is."""
    measured = [name for name, *_ in _places(results)]
    if not measured:
        return
    model = "mlp" if "mlp" in measured else measured[0]
    colours = dict(zip(SERVERS, ("#0b7285", "#d9780f", "#8d5a17", "#6741d9", "#2f855a", "#c92a2a")))
    with figure_of(path, 2) as (rates, latencies):
        prepare(rates, f"{model}: requests a second", "clients", "requests / s")
        prepare(latencies, f"{model}: 99th percentile", "clients", "ms")
        for key in SERVERS:
            for interface, style in (("REST", "o-"), ("gRPC", "o--")):
                cells = [Cell(key, model, interface, clients) for clients in CLIENTS]
                of_it = {cell.clients: results.found[cell] for cell in cells if cell in results.found}
                if of_it:
                    look = {"color": colours[key], "label": f"{_short(key)}, {interface}", "markersize": 4}
                    rates.plot([*of_it], [load.rate for load in of_it.values()], style, **look)
                    latencies.plot([*of_it], [load.p99 * 1e3 for load in of_it.values()], style, **look)
        for axes in (rates, latencies):
            axes.set_xscale("log", base=2)
            axes.set_xticks(CLIENTS, CLIENTS)
            plain_numbers(axes)
        legend(latencies, loc="center left", bbox_to_anchor=(1.0, 0.5))  # beside both, over no line
