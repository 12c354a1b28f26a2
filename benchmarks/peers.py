"""Speed, memory and weights of this project's rankers beside those of their peers, in one run.

From the project root, with the environment's Python::

    python benchmarks/peers.py --make-environments FOLDER          # once: environments of the peers
    python benchmarks/peers.py --environments FOLDER --out OUT     # everything, about 20 minutes on 2 cores
    python benchmarks/peers.py --environments FOLDER --out OUT --only digits wide

README.md in this folder says what is measured.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks import environments, genotypes, multisurf, own, tables, workloads  # noqa: E402
from benchmarks.processes import WorkerError  # noqa: E402
from benchmarks.races import run_race, said  # noqa: E402
from experiments.printing import prepare_output  # noqa: E402


def machine():
    """Say what the numbers were measured on."""
    processor = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            named = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
        processor = named[0] if named else processor
    except OSError:
        pass
    return {
        "processor": processor,
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
    }


def commit():
    """Return the commit that is measured, marked where files differ from it."""
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip()


def pythons_of(options):
    """Return the Python of each implementation: this one, an environment's, or one given by name."""
    found = {"ours": sys.executable, "bare_umap": sys.executable, "skrebate": sys.executable}
    if options.environments is not None:
        for peer in environments.PACKAGES:
            found[peer] = str(environments.python_of(options.environments / peer))
    for given in options.peer_python:
        peer, _, path = given.partition("=")
        if peer not in ("fast_select", "skrebate", "paper") or not path:
            raise SystemExit(f"--peer-python {given}: write fast_select=PATH, skrebate=PATH or paper=PATH")
        found[peer] = path
    return found


def parser_of(names):
    """Return the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, help="folder for results.json, results.md and growth.png")
    parser.add_argument(
        "--only", nargs="+", choices=names, metavar="NAME", help=f"workloads to run: {', '.join(names)}"
    )
    parser.add_argument(
        "--repeats", type=int, default=5, help="timed fits of each implementation (default 5)"
    )
    parser.add_argument("--threads", type=int, default=2, help="threads of each implementation (default 2)")
    parser.add_argument("--environments", type=Path, help="folder that --make-environments was given")
    parser.add_argument(
        "--peer-python", action="append", default=[], metavar="PEER=PATH", help="the Python that has a peer"
    )
    parser.add_argument(
        "--make-environments", type=Path, metavar="FOLDER", help="make the peers' environments, and end"
    )
    parser.add_argument(
        "--tiny", action="store_true", help="a few samples of everything, to see that it runs"
    )
    return parser


def races_of(tiny):
    """Return all workloads in which implementations are timed in turn, by name."""
    return workloads.race_workloads(tiny) | multisurf.race_workloads(tiny) | genotypes.race_workloads(tiny)


def measurements():
    """Return what is measured of this project alone, by name."""
    return own.MEASUREMENTS | genotypes.MEASUREMENTS


def main(arguments=None):
    """Run what the command line asks for; the exit code is 1 where weights disagree or our own fits fail."""
    options = parser_of([*races_of(False), *measurements()]).parse_args(arguments)
    if options.make_environments is not None:
        environments.make(options.make_environments)
        return 0
    if options.out is None:
        raise SystemExit("--out FOLDER says where the results go")
    if options.repeats < 1 or options.threads < 1:
        raise SystemExit("--repeats and --threads must be at least 1")
    races = races_of(options.tiny)
    common = {"pythons": pythons_of(options), "threads": options.threads, "repeats": options.repeats}
    results = {
        "machine": machine(),
        "commit": commit(),
        "date": datetime.date.today().isoformat(),
        "threads": options.threads,
        "repeats": options.repeats,
        "tiny": options.tiny,
        "seconds": 0.0,
        "workloads": {},
    }
    begun = time.perf_counter()
    for name in options.only or [*races, *measurements()]:
        said(name)
        started = time.perf_counter()
        try:
            with tempfile.TemporaryDirectory() as folder:
                if name in races:
                    found = run_race(races[name], **common, folder=folder)
                else:
                    found = measurements()[name](**common, folder=folder, tiny=options.tiny)
        except (WorkerError, subprocess.CalledProcessError) as error:  # the others can still run
            found = own.failed(name, str(error))
            said(f"  FAILED: {error}")
        found["seconds"] = time.perf_counter() - started
        results["workloads"][name] = found
        results["seconds"] = time.perf_counter() - begun
        tables.write(results, options.out)  # after each, so that a broken run leaves what it has
    if results["workloads"].get("growth", {}).get("series"):
        own.draw_growth(results["workloads"]["growth"], options.out / "growth.png")
    print(tables.markdown(results))
    disagree = [
        f"{name}: {row['peer']} on {row['on']}"
        for name, found in results["workloads"].items()
        for row in found["agreement"]
        if row["agrees"] is False
    ]
    broken = [
        name
        for name, found in results["workloads"].items()
        if found.get("failed") or any(row["name"] == "ours" and row["absent"] for row in found["times"])
    ]
    if disagree:
        print(f"WEIGHTS DISAGREE beyond rounding: {'; '.join(disagree)}", file=sys.stderr)
    if broken:
        print(f"FAILED: {', '.join(broken)}", file=sys.stderr)
    return 1 if disagree or broken else 0


if __name__ == "__main__":
    prepare_output()
    sys.exit(main())
