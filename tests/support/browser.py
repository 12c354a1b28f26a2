"""A real browser for the tests: Chromium or Chrome that is on PATH, driven by Playwright."""

import os
import shutil
from contextlib import contextmanager

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
#: Nothing but the page: no updates, no look-ups of the browser's own.
QUIET = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
]


def found():
    """Return the browser's path; skip the test without one, or fail where one was promised."""
    given = os.environ.get("RELIEFE_BROWSER")
    path = given or next((place for name in NAMES if (place := shutil.which(name))), None)
    if path is None:
        said = (
            "no Chromium or Chrome on PATH; Debian and Ubuntu: apt install chromium; "
            "or set RELIEFE_BROWSER to where one is"
        )
        if os.environ.get("RELIEFE_BROWSER_NEEDED"):
            pytest.fail(said)
        pytest.skip(said)
    return path


@contextmanager
def started():
    """Start a browser without a screen."""
    from playwright.sync_api import sync_playwright

    path = found()
    # Chromium's own sandbox does not start for root, which tests in containers are.
    root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*QUIET, *root])
        yield browser
        browser.close()


class Opened:
    """A page that has been opened, and everything it complained about or asked for."""

    def __init__(self, browser, path, **settings):
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **settings})
        self.page = self.context.new_page()
        self.page.set_default_timeout(20_000)
        self.complaints, self.requests = [], []
        self.page.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.url = path.resolve().as_uri()
        self.page.goto(self.url)

    def close(self):
        """Close it; nothing may have gone wrong, and nothing but the file may have been asked for."""
        self.context.close()
        assert self.complaints == []
        assert {url.partition("#")[0] for url in self.requests if not url.startswith("data:")} == {self.url}


@contextmanager
def opened(browser, path, **settings):
    """Open a page; see :class:`Opened`."""
    page = Opened(browser, path, **settings)
    yield page.page
    page.close()
