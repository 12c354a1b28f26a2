"""Pages of made-up studies."""

from html.parser import HTMLParser

import made_up_rows
import numpy as np

from experiments.analysis.comparison import compare
from experiments.analysis.groups import groups_of
from experiments.analysis.pairs import pairs_of, posteriors_of
from experiments.analysis.selection import complete_rows
from experiments.report import page

#: name → (name to show, skill, seconds of a fit); the skill is the bump of the curve, so that scores differ.
RANKERS = {
    "slow": ("Slow and <good>", 0.60, 50.0),
    "good": ('Good & "quick"', 0.55, 0.5),
    "fair": ("Fair", 0.45, 1.0),
    "poor": ("Poor-with-a-rather-long-name[n_neighbors=15,abs_mean=True]", 0.35, 2.0),
}
DATASETS = ("chess", "madelon", "dlbcl", "genes")


def study(datasets=DATASETS, rankers=None, **settings):
    """Rows and configurations of a small study."""
    given = {"name": "mcc", "n_repeats": 2, "n_splits": 3, **settings}
    return made_up_rows.study(datasets, RANKERS if rankers is None else rankers, **given)


def posterior(frame, group):
    """Posteriors that are made up: their probabilities are the shares of three corners among the draws."""
    rng = np.random.default_rng(1)
    pairs, _ = pairs_of(complete_rows(frame, group.expected), list(group.labels))
    answers = []
    for pair in pairs:
        gain = (pair.x - pair.y).mean()
        draws = rng.dirichlet(2 * np.exp([30 * gain, 1.0, -30 * gain]) + 0.05, 400)
        answers.append(
            {
                "probabilities": np.bincount(draws.argmax(axis=1), minlength=3) / len(draws),
                "draws": draws,
                "r_hat": 1.001,
                "ess": 1500.0,
                "divergences": 0,
                "n_draws": 4000,
                "message": "",
            }
        )
    return posteriors_of(pairs, answers, {"sampler": "made up", "seed": 1})


def comparisons(frame, configs, absent=None, *, tested=True):
    """What page.write is given."""
    return [
        compare(frame, group, posterior=posterior(frame, group) if tested else None)
        for group in groups_of(configs, absent)
    ]


def write(folder, frame, configs, *, absent=None, tested=True, name="mcc", **settings):
    """Write a page; returns its path and what it was made from."""
    made = comparisons(frame, configs, absent, tested=tested)
    path = page.write(
        made,
        study=name,
        frame=frame,
        configs=configs,
        absent=absent,
        path=folder / f"{name}.html",
        **settings,
    )
    return path, made


class Read(HTMLParser):
    """A page as a program reads it: elements, tables, text."""

    VOID = ("meta", "link", "input", "img", "br", "line")

    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.source = path.read_text(encoding="utf-8")
        self.elements, self.tables, self.open, self.words = [], {}, [], []
        self._cell = None
        self.feed(self.source)
        self.close()
        assert self.open == [], f"left open: {self.open}"
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "table":
            self._table = self.tables.setdefault(dict(attributes)["id"], [])
        if tag == "tr":
            self._table.append([])
        if tag in ("td", "th"):
            self._cell = []

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> after {self.open}"
        self.open.pop()
        if tag in ("td", "th"):
            self._table[-1].append("".join(self._cell).strip())
            self._cell = None

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            self.words.append(data)
        if self._cell is not None:
            self._cell.append(data)

    def lines(self, table):
        """A table's lines, as dictionaries by heading."""
        head, *lines = self.tables[f"T_{table}"]
        return [dict(zip(head, line, strict=True)) for line in lines]
