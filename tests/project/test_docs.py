"""The examples of the docs do what they show."""

import doctest

import pytest
from folders import PROJECT_ROOT

DOCS = PROJECT_ROOT / "docs"


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning:skrebate")
@pytest.mark.parametrize(
    ("page", "sections"),
    [("library.md", 12), ("differences.md", 10), ("add-a-ranker.md", 2), ("outside.md", 1)],
)
def test_examples_run_and_print_what_the_page_shows(page, sections):
    text = (DOCS / page).read_text(encoding="utf-8")
    assert text.count("```python") == sections
    failed, attempted = doctest.testfile(str(DOCS / page), module_relative=False)
    assert attempted >= (3 if page != "add-a-ranker.md" else 1) * sections
    assert failed == 0
