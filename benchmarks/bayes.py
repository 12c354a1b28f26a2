"""The hierarchical test beside baycomp's: effective draws per second, and all pairs of 14 rankers.

Run from the project root: ``python benchmarks/bayes.py [--baycomp-python PATH]``. The Python at PATH needs baycomp,
pystan and a C++ compiler; ``--make-environment FOLDER`` makes such a one. Without it only our own times are shown.
``--reference FILE`` also writes baycomp's results and the score tables, which is how
``tests/data/baycomp_reference.json`` was made.

An effective draw is one of the parameter (delta0, std0, nu) that has fewest of them, by the same formula for both.
Compilation is not in the rates of single tables, and it is in the seconds of the whole batch.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))

from benchmarks.environments import python_of  # noqa: E402
from experiments.analysis.bayes import hierarchical_test, hierarchical_tests  # noqa: E402
from experiments.printing import prepare_output  # noqa: E402

PARAMETERS = ("delta0", "std0", "nu")
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
#: name, data sets, scores, runs, mean difference x − y, scatter of data sets, of folds, number of outliers
DESIGNS = (
    ("eleven data sets", 11, 100, 10, 0.045, 0.03, 0.05, 0),
    ("outliers", 11, 100, 10, 0.0, 0.02, 0.04, 3),
    ("twelve data sets", 12, 50, 5, -0.05, 0.02, 0.10, 0),
    ("five data sets", 5, 20, 2, -0.06, 0.05, 0.06, 0),
    ("six scores", 4, 6, 2, 0.03, 0.03, 0.03, 0),
    ("two data sets", 2, 100, 10, 0.04, 0.03, 0.03, 0),
    ("one data set", 1, 100, 10, 0.04, 0.03, 0.05, 0),
)


def tables():
    """Make score tables of several sizes, rounded as scores are."""
    made = []
    for seed, (name, q, n, runs, level, among, within, n_outliers) in enumerate(DESIGNS):
        rng = np.random.default_rng(seed)
        difference = rng.normal(level, among, (q, 1))
        difference[:n_outliers] += 0.15
        y = rng.normal(0.7, 0.03, (q, n))
        x = y + difference + rng.normal(0, 1, (q, n)) * within * rng.uniform(0.3, 1.7, (q, 1))
        made.append(
            {"name": name, "rope": 0.05, "runs": runs, "x": x.round(4).tolist(), "y": y.round(4).tolist()}
        )
    return made


def summarised(arrays, name):
    """Sum baycomp's draws of one table up."""
    from numpyro.diagnostics import effective_sample_size, split_gelman_rubin

    draws = {key: arrays[f"{name}/{key}"] for key in PARAMETERS}
    watched = {"delta0": draws["delta0"], "std0": np.log(draws["std0"]), "nu": np.log(draws["nu"] - 1)}
    winners = arrays[f"{name}/sample"].argmax(axis=2)
    p = np.bincount(winners.ravel(), minlength=3) / winners.size
    ess = {key: float(effective_sample_size(values)) for key, values in watched.items()}
    return {
        "probs": p.tolist(),
        "draws": int(winners.size),
        "ess": {key: round(value) for key, value in ess.items()},
        "rhat": {key: round(float(split_gelman_rubin(values)), 4) for key, values in watched.items()},
        "divergences": int(arrays[f"{name}/divergences"]),
        "quantiles": {key: np.quantile(draws[key], QUANTILES).tolist() for key in PARAMETERS},
    }


def run_baycomp(python, made, n_draws, seed):
    """Run baycomp on the tables; its arrays."""
    with tempfile.TemporaryDirectory() as folder:
        given, out = Path(folder, "tables.json"), Path(folder, "draws.npz")
        given.write_text(json.dumps(made), encoding="utf-8")
        command = [
            str(python),
            str(FOLDER / "bayes_baycomp.py"),
            str(given),
            str(out),
            str(n_draws),
            str(seed),
        ]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        with np.load(out) as arrays:
            return dict(arrays)


def own_rate(table, n_samples):
    """Time one test after compilation; the posterior and the seconds."""
    arguments = (np.array(table["x"]), np.array(table["y"]), table["rope"], table["runs"], n_samples)
    hierarchical_test(*arguments, random_state=0)
    start = time.perf_counter()
    posterior = hierarchical_test(*arguments, random_state=1)
    return posterior, time.perf_counter() - start


def all_pairs(n_rankers, n_datasets, n_scores):
    """Make score tables of many rankers, and all their pairs."""
    rng = np.random.default_rng(14)
    level = rng.uniform(0.5, 0.9, (1, n_datasets, 1)) + rng.normal(0, 0.03, (n_rankers, n_datasets, 1))
    folds = rng.normal(0, 0.02, (1, n_datasets, n_scores))
    scores = level + folds + rng.normal(0, 0.02, (n_rankers, n_datasets, n_scores))
    return {
        (f"r{a}", f"r{b}"): (scores[a], scores[b]) for a, b in itertools.combinations(range(n_rankers), 2)
    }


def main(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--baycomp-python", type=Path)
    parser.add_argument("--make-environment", type=Path)
    parser.add_argument("--reference", type=Path)
    parser.add_argument("--only", nargs="+", choices=[design[0] for design in DESIGNS])
    parser.add_argument("--samples", type=int, default=10_000, help="draws of ours")
    parser.add_argument("--baycomp-samples", type=int, default=2500, help="draws of baycomp, per chain")
    parser.add_argument("--rankers", type=int, default=14, help="in the batch of all pairs; 0: no batch")
    options = parser.parse_args(arguments)
    if options.make_environment:
        venv.create(options.make_environment, with_pip=True)
        options.baycomp_python = python_of(options.make_environment)
        command = [
            str(options.baycomp_python),
            "-m",
            "pip",
            "install",
            "--quiet",
            "baycomp==1.0.3",
            "pystan==3.10.0",
        ]
        subprocess.run(command, check=True)
    if options.reference and not options.baycomp_python:
        parser.error("--reference needs --baycomp-python or --make-environment")
    made = [table for table in tables() if not options.only or table["name"] in options.only]
    arrays = None
    if options.baycomp_python:
        arrays = run_baycomp(options.baycomp_python, made, options.baycomp_samples, 1)
    reference = []
    print(f"{'table':18} {'ours: p, R-hat, effective draws per second':60} baycomp: the same; ratio")
    for table in made:
        posterior, seconds = own_rate(table, options.samples)
        rate = min(posterior.ess[key] for key in PARAMETERS) / seconds
        p = " ".join(f"{value:.4f}" for value in posterior.probs())
        line = f"{table['name']:18} {p}  {posterior.max_rhat:.4f} {rate:7.0f}/s ({seconds:.2f} s)"
        if arrays is not None:
            summary = summarised(arrays, table["name"])
            reference.append({**table, **summary})
            other = min(summary["ess"].values()) / arrays[f"{table['name']}/seconds"][1]
            p = " ".join(f"{value:.4f}" for value in summary["probs"])
            line = f"{line:79} {p}  {max(summary['rhat'].values()):.4f} {other:7.1f}/s; {rate / other:.0f}"
        print(line, flush=True)
    if options.reference:
        content = {
            "made_with": arrays["versions"].tolist(),
            "quantile_levels": QUANTILES,
            "tables": reference,
        }
        options.reference.write_text(json.dumps(content, separators=(",", ":")) + "\n", encoding="utf-8")
    if options.rankers > 1:
        pairs = all_pairs(options.rankers, 11, 100)
        start = time.perf_counter()
        found = hierarchical_tests(pairs, 0.05, 10, options.samples, random_state=0)
        seconds = time.perf_counter() - start
        effective = sum(min(each.ess[key] for key in PARAMETERS) for each in found.values())
        print(
            f"\nall {len(pairs)} pairs of {options.rankers} rankers, 11 data sets, 100 scores: {seconds:.0f} s, "
            f"{effective / seconds:.0f} effective draws per second, "
            f"R-hat up to {max(each.max_rhat for each in found.values()):.4f}, "
            f"{sum(each.divergences for each in found.values())} divergences"
        )


if __name__ == "__main__":
    prepare_output()
    main(sys.argv[1:])
