"""The site of docs/: every page is in it, it is built without a warning, and it asks nothing of the network."""

import html
import os
import re
import subprocess
import sys

import pytest
import yaml
from folders import PROJECT_ROOT

pytestmark = pytest.mark.slow

SETTINGS = yaml.safe_load((PROJECT_ROOT / "mkdocs.yml").read_text(encoding="utf-8"))


def pages(nav):
    for entry in nav:
        for inside in entry.values():
            yield from [inside] if isinstance(inside, str) else pages(inside)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    # A proxy that answers nothing: what asks the network fails.
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=PROJECT_ROOT, env={**os.environ, **nowhere}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return folder


def test_the_navigation_lists_every_page_once():
    listed = list(pages(SETTINGS["nav"]))
    assert sorted(listed) == sorted(
        path.relative_to(PROJECT_ROOT / "docs").as_posix() for path in (PROJECT_ROOT / "docs").rglob("*.md")
    )


def test_every_page_becomes_one(site):
    for page in pages(SETTINGS["nav"]):
        source = (PROJECT_ROOT / "docs" / page).read_text(encoding="utf-8")
        made = (site / page).with_suffix(".html").read_text(encoding="utf-8")
        made = made.partition('role="main"')[2].partition("<footer")[0]
        title = html.escape(re.match(r"# (.+)", source)[1], quote=False)
        assert re.search(rf"<h1[^>]*>{re.escape(title)}", made), page
        assert made.count("<table") == len(re.findall(r"^\|[ :|-]*-[ :|-]*\|$", source, re.M)), page
        assert "```" not in made, page
        assert not re.search(r"<p>[^<]*\n- ", made), f"{page}: a list without an empty line before it"


def test_the_site_needs_no_network(site):
    loading = re.compile(r"<(?:script|link|img|iframe)[^>]*?(?:src|href)=[\"']?((?:https?:)?//[^\"' >]+)")
    asked = {
        place for page in site.rglob("*.html") for place in loading.findall(page.read_text(encoding="utf-8"))
    }
    assert asked == set()
    for sheet in site.rglob("*.css"):
        assert not re.search(
            r"(?:@import|url\()\s*[\"']?(?:https?:)?//", sheet.read_text(encoding="utf-8")
        ), sheet.name


def test_the_reference_has_every_ranker_with_its_parameters(site):
    import reliefe

    text = (site / "reference.html").read_text(encoding="utf-8")
    for name in reliefe.__all__:
        if name not in ("__version__", "inspection"):
            assert re.search(rf'id="reliefe\.\w+\.{name}"', text), name
            for parameter in getattr(reliefe, name)().get_params(deep=False):
                assert parameter in text, f"{name}.{parameter}"
    for function in ("sparsify", "latent_dimension", "embed"):
        assert f'id="reliefe.embedding.{function}"' in text


def test_the_reference_shows_the_defaults_of_the_signature(site):
    import reliefe

    text = html.unescape(re.sub(r"<[^>]+>", "", (site / "reference.html").read_text(encoding="utf-8")))
    shown = re.findall(r"target_distance \(\(('f1'[^)]*)\), default: (\S+) \)", " ".join(text.split()))
    assert len(shown) == 3 and all("'cosine'" in choices for choices, _ in shown)
    assert {default for _, default in shown} == {f'"{reliefe.ReliefF().target_distance}"'}
