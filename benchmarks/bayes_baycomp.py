"""Run ``baycomp.HierarchicalTest`` on given score tables; started by ``bayes.py`` with the Python that has baycomp.

``python bayes_baycomp.py TABLES.json OUT.npz DRAWS SEED``: per table draws, seconds of building and of sampling.
baycomp gives pystan no seed and leaves a pickle and a folder of compiled code where it runs, so a seed is handed on
here, and it runs in a folder that is removed.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from importlib import metadata

import baycomp
import numpy as np
import stan


def main(tables, out, n_draws, seed):
    with open(tables, encoding="utf-8") as file:
        tables = json.load(file)
    out = os.path.abspath(out)
    built = stan.build
    seconds, fits = {}, []

    def build(code, data):
        start = time.perf_counter()
        model = built(code, data=data, random_seed=seed)
        seconds["build"] = time.perf_counter() - start
        return Model(model)

    class Model:
        def __init__(self, model):
            self.model = model

        def sample(self, **settings):
            start = time.perf_counter()
            fits.append(self.model.sample(**settings))
            seconds["sample"] = time.perf_counter() - start
            return fits[-1]

    stan.build = build
    arrays = {}
    for table in tables:
        x, y = np.array(table["x"]), np.array(table["y"])
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            posterior = baycomp.HierarchicalTest(x, y, table["rope"], runs=table["runs"], nsamples=n_draws)
            os.chdir(os.path.dirname(out))
        name, fit = table["name"], fits[-1]
        # pystan has chains running fastest.
        arrays |= {f"{name}/{key}": fit[key][0].reshape(n_draws, -1).T for key in ("delta0", "std0", "nu")}
        arrays[f"{name}/sample"] = posterior.sample.reshape(n_draws, -1, 3).transpose(1, 0, 2)
        arrays[f"{name}/divergences"] = np.sum(fit["divergent__"])
        arrays[f"{name}/seconds"] = np.array([seconds["build"], seconds["sample"]])
        print(name, posterior.probs(), seconds, flush=True)
    arrays["versions"] = [f"{name} {metadata.version(name)}" for name in ("baycomp", "pystan", "httpstan")]
    np.savez(out, **arrays)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
