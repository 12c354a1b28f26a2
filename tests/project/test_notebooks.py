"""Notebooks are short, without output, and do what they say."""

import re

import nbformat
import pytest
from folders import PROJECT_ROOT
from nbclient import NotebookClient

pytestmark = pytest.mark.slow

COMPILING = "reliefe: compiling kernels"  # said by the first fit of an installation
BOOKS = sorted((PROJECT_ROOT / "notebooks").glob("*.ipynb"))


def read(path):
    return nbformat.read(path, as_version=4)


def code_of(book):
    return [cell for cell in book.cells if cell.cell_type == "code"]


def test_there_are_three():
    assert [book.stem for book in BOOKS] == ["add_a_ranker", "rank_your_own_data", "read_a_study"]


@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)
def test_short_valid_and_without_output(path):
    book = read(path)
    nbformat.validate(book)
    cells = code_of(book)
    assert 3 <= len(cells) <= 10
    assert sum(len(cell.source.splitlines()) for cell in cells) <= 70
    for cell in cells:
        assert cell.outputs == [] and cell.execution_count is None, "nbstripout takes output away"
        assert max(map(len, cell.source.splitlines())) <= 116
    # As nbstripout leaves it, so that the hook has nothing to change.
    assert [cell.id for cell in book.cells] == [str(number) for number in range(len(book.cells))]
    assert book.cells[0].cell_type == "markdown" and book.cells[0].source.startswith("# ")
    assert set(book.metadata) == {"kernelspec", "language_info"}
    assert book.metadata.kernelspec.name == "python3"


def executed(name, folder):
    """Run a notebook from where it lies; returns the text of each cell's output."""
    book = read(PROJECT_ROOT / "notebooks" / f"{name}.ipynb")
    NotebookClient(book, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()
    said = []
    for cell in code_of(book):
        parts = [
            output.get("text") or output.get("data", {}).get("text/plain", "")
            for output in cell.outputs
            if not (output.get("name") == "stderr" and output["text"].startswith(COMPILING))
        ]
        said.append("".join(parts))
    return book, said


@pytest.fixture
def quiet(tmp_path, monkeypatch):
    """What notebooks and their kernels leave behind goes into the test's folder."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    return tmp_path


def test_rank_your_own_data(quiet):
    _, said = executed("rank_your_own_data", PROJECT_ROOT / "notebooks")
    assert said[1] == "((178, 13), 3)"
    assert said[2].count("\n") == 13 and "flavanoids" in said[2]
    assert 2 <= int(said[3]) < 13
    last = said[4].splitlines()[-2].split()
    assert last[0] == "13" and float(last[1]) > 0.9


def test_read_a_study(quiet):
    book, said = executed("read_a_study", PROJECT_ROOT / "notebooks")
    assert "relieff" in said[1]
    assert said[2].count("wine") == said[2].count("breast_cancer") == 3, "three rankers on each"
    assert any("image/svg+xml" in output.get("data", {}) for output in code_of(book)[3].outputs)
    best = [int(number) for number in re.findall(r"\d+", said[4])]
    assert len(set(best)) == 5 and max(best) < 13


def test_add_a_ranker(quiet):
    _, said = executed("add_a_ranker", PROJECT_ROOT)
    shown = said[-1]
    assert shown.count("Spread of means") == 2, "a line for each data set"
    assert "failed" not in shown and "not complete" not in shown
    assert shown.count("_rf1.svg") == 2
