"""Set up and start: ``python3 bootstrap.py demo`` or ``python3 bootstrap.py test``, on a machine with Python only.

Makes ``.venv`` beside this file, installs the project with everything the study and the tests need (versions from
``constraints.txt``), then starts what was asked for. The second time there is nothing to install. Uses the standard
library alone, and syntax that old Pythons read, so that they can say what they lack.
"""

import contextlib
import hashlib
import os
import shlex
import shutil
import subprocess
import sys

NEEDED = (3, 11)
ROOT = os.path.dirname(os.path.abspath(__file__))
VENV = os.path.join(ROOT, ".venv")
#: Says that the environment was made here, and what is installed in it; written last, so an environment without it,
#: or with anything else in it, was not finished.
STAMP = os.path.join(VENV, "bootstrap-stamp.txt")
BEGUN = "begun"
#: The environment that is being replaced, until the new one is ready.
BEFORE = VENV + "-before"

USAGE = """\
usage: python3 bootstrap.py demo [key=value ...]   rank a bundled data set with three rankers: table and figure
       python3 bootstrap.py test [pytest options]  run the tests
       python3 bootstrap.py docs                   make the site of docs/ in site/
       python3 bootstrap.py setup                  make the environment (.venv) and stop
       python3 bootstrap.py browser                install a browser for the tests if there is none

All but the last make the environment first when it is missing or out of date. Tests that need a browser (Chromium
or Chrome) are left out where there is none; "browser" installs one with apt-get, as root on Debian and Ubuntu."""

DEMO = [
    "dataset=digits",
    "ranker=reliefe_absmean_adaptive,relieff,mutual_information",
    "protocol=quick",
]
#: Two processes, each with a file of tests at a time: what the tests of a file share is set up once, and what one
#: process has compiled the other finds on disk. Long files come first, by tests/conftest.py.
TEST = ["-n", "2", "--dist", "loadfile", "--no-loadscope-reorder"]
#: Browsers that the tests can drive; tests/support/browser.py looks for the same.
BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
)
#: What apt-get brings one with; without a font text has no width.
BROWSER_PACKAGES = ("chromium", "fonts-dejavu-core")


class SetupError(Exception):
    """The environment, or the browser, cannot be had; the message says what to do."""


def main(argv):
    """Set up, then hand over to what was asked for; returns the exit code."""
    for name in ("stdout", "stderr"):  # a path may hold letters that the console's code page lacks
        stream = getattr(sys, name)
        if stream is getattr(sys, "__" + name + "__") and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    if sys.version_info < NEEDED:
        return say(
            f"Python {NEEDED[0]}.{NEEDED[1]} or newer is needed; this is {version()} ({sys.executable})", 2
        )
    action, extra = (argv[0] if argv else ""), argv[1:]
    if action in ("-h", "--help", "help", ""):
        print(USAGE)
        return 0 if action else 2
    if action not in ("demo", "test", "docs", "setup", "browser"):
        return say(f"unknown: {action}\n{USAGE}", 2)
    try:
        if action == "browser":
            return see_to_browser()
        with one_at_a_time():
            set_up()
    except SetupError as error:
        return say(str(error), 3)
    except KeyboardInterrupt:
        return say("stopped; the same command starts the environment afresh", 130)
    if action == "demo":
        given = {argument.partition("=")[0] for argument in extra}
        chosen = [argument for argument in DEMO if argument.partition("=")[0] not in given]
        return hand_over(["run.py", *chosen, *extra], os.getcwd())
    if action == "test":
        # Tests start the project's programs hundreds of times; unkept, its modules would be compiled each time.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        # pytest takes the last of equal options, so the user's come last.
        return hand_over(["-m", "pytest", *TEST, *extra], ROOT)
    if action == "docs":
        return hand_over(["-m", "mkdocs", "build", "--strict", *extra], ROOT)
    print(f"the environment is ready: {python_of(VENV)}")
    return 0


def set_up():
    """Make the environment, or bring it up to date, or find it good."""
    wanted = fingerprint()
    take_back()
    stamp = read(STAMP)
    if stamp == wanted and is_whole():
        return
    ours = stamp is not None
    if os.path.lexists(VENV) and not ours:
        put_away()
    if ours and stamp.startswith(place()) and is_whole():
        # Finished once and of this place and Python: newer requirements go on top. If that fails, pip has changed
        # nothing, and the environment is as good as it was.
        install()
        write(STAMP, wanted)
        return
    if ours:
        say("the environment in .venv is unfinished or damaged; making it again")
        move(VENV, BEFORE)
    try:
        make_environment()
        install()
        write(STAMP, wanted)
    except BaseException:
        take_back()
        raise
    shutil.rmtree(BEFORE, ignore_errors=True)


def take_back():
    """Put an environment back that was being replaced, if the new one was not finished."""
    if not os.path.lexists(BEFORE):
        return
    if read(STAMP) not in (None, BEGUN):
        shutil.rmtree(BEFORE, ignore_errors=True)
        return
    shutil.rmtree(VENV, ignore_errors=True)
    move(BEFORE, VENV)


def move(old, new):
    """Rename a folder."""
    try:
        os.rename(old, new)
    except OSError as error:
        raise SetupError(f"{old} cannot be moved to {new}: {error.strerror}; remove it by hand") from error


def see_to_browser():
    """Find a browser, or install one; returns 0."""
    if os.environ.get("RELIEFE_BROWSER") or any(map(shutil.which, BROWSERS)):
        return 0
    if not shutil.which("apt-get") or not hasattr(os, "geteuid") or os.geteuid() != 0:
        raise SetupError(
            "no Chromium or Chrome on PATH, and only root can install one with apt-get; install one by hand"
        )
    say("installing Chromium with apt-get")
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for attempt in range(3):  # mirrors fail now and then
        update = subprocess.call(["apt-get", "update", "-qq"], env=quiet, stdout=subprocess.DEVNULL)
        install_it = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *BROWSER_PACKAGES]
        if not update and not subprocess.call(install_it, env=quiet, stdout=subprocess.DEVNULL):
            break
        say(f"that failed ({attempt + 1} of 3 times)")
    if not any(map(shutil.which, BROWSERS)):
        raise SetupError("Chromium could not be installed; apt-get's own words are above")
    return 0


def make_environment():
    """Make an empty environment with pip in it."""
    say(f"making the environment {VENV}")
    try:
        os.makedirs(VENV, exist_ok=True)
        write(STAMP, BEGUN)
    except OSError as error:
        raise SetupError(f"{ROOT} cannot be written to: {error.strerror}") from error
    # Started from inside the very environment, this Python may be gone by now.
    base = getattr(sys, "_base_executable", None) or sys.executable
    code = subprocess.call([base, "-m", "venv", VENV])
    if code or subprocess.call([python_of(VENV), "-m", "pip", "--version"], stdout=subprocess.DEVNULL):
        raise SetupError(
            f"no environment could be made with {base} (its own words are above).\n"
            f"On Debian and Ubuntu its parts are a package of their own: apt install python{short_version()}-venv"
        )


def install():
    """Install the project with its extras, in the versions of constraints.txt."""
    say("installing packages; this takes some minutes the first time")
    command = [python_of(VENV), "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    # Compiling all modules takes a minute; those that are imported are compiled then, most never are.
    command += ["--no-compile", "-c", "constraints.txt", "-e", ".[study,dev]"]
    if subprocess.call(command, cwd=ROOT):
        raise SetupError(
            "installing failed; pip's own words are above. Without a network connection nothing can be fetched;\n"
            f"constraints.txt is for Python 3.11 to 3.13, this is {version()}. The same command tries again."
        )


def put_away():
    """Move an environment that was not made here out of the way; it may be dear to someone."""
    if os.path.isdir(VENV) and not os.listdir(VENV):
        return
    for number in range(1, 1000):
        aside = f"{VENV}-old-{number}"
        if not os.path.lexists(aside):
            break
    try:
        os.rename(VENV, aside)
    except OSError as error:
        raise SetupError(f"{VENV} was not made here and cannot be moved away: {error.strerror}") from error
    say(f"{VENV} was not made by this program; it is {os.path.basename(aside)} now")


#: Run by the environment's own Python: every file that its packages brought is still there, and pip with them. Old
#: versions of pip install packages that come as source in the old format, which names modules and lists no files.
CHECK = """
import csv, importlib.util, os, sys
from importlib import metadata
names = set()
for distribution in metadata.distributions():
    record = distribution.read_text("RECORD")
    assert record is not None or distribution.read_text("PKG-INFO") is not None, distribution
    names.add((distribution.metadata["Name"] or "").lower())
    for name, *_ in csv.reader((record or "").splitlines()):
        assert name.endswith(".pyc") or os.path.exists(distribution.locate_file(name)), name
    for name in (distribution.read_text("top_level.txt") or "").split() if record is None else []:
        assert importlib.util.find_spec(name) is not None, name
assert {"pip", "reliefe-bench"} <= names, names
assert sys.prefix != sys.base_prefix
"""


def is_whole():
    """Tell whether the environment's Python starts and its packages have all their files."""
    try:
        done = subprocess.run(
            [python_of(VENV), "-I", "-c", CHECK], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
    except OSError:
        return False
    return done.returncode == 0


def place():
    """Say where the environment lies and what Python it is for: its files name both, so it cannot be moved."""
    return f"{os.path.realpath(VENV)} | Python {short_version()} | "


def fingerprint():
    """Sum up all that decides what is in the environment."""
    digest = hashlib.sha256()
    for name in ("pyproject.toml", "constraints.txt"):
        content = read(os.path.join(ROOT, name))
        if content is None:
            raise SetupError(f"{name} is missing in {ROOT}; is this the whole project?")
        digest.update(content.encode())
    return place() + digest.hexdigest()


def hand_over(arguments, folder):
    """Start the environment's Python in place of this one: exit codes and signals are its own."""
    command = [python_of(VENV)]
    if arguments[0].endswith(".py"):
        arguments = [os.path.join(ROOT, arguments[0]), *arguments[1:]]
    shown = [
        "python",
        *(os.path.relpath(each, ROOT) if each.startswith(ROOT) else each for each in arguments),
    ]
    say("$ " + " ".join(map(shlex.quote, shown)))
    os.chdir(folder)
    if os.name == "posix":
        sys.stdout.flush()
        os.execv(command[0], command + arguments)
    try:
        return subprocess.call(command + arguments)
    except KeyboardInterrupt:
        return 130


@contextlib.contextmanager
def one_at_a_time():
    """Keep two of these from installing into one environment at a time."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    with open(os.path.abspath(__file__), "rb") as own:
        try:
            fcntl.flock(own, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another bootstrap.py to finish")
            fcntl.flock(own, fcntl.LOCK_EX)
        except OSError:  # a file system without locks
            pass
        yield


def python_of(environment):
    """Return the path of an environment's Python."""
    parts = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")
    return os.path.join(environment, *parts)


def version():
    """Return the version of the Python that runs this."""
    return ".".join(map(str, sys.version_info[:3]))


def short_version():
    """Return the same without the last number."""
    return ".".join(map(str, sys.version_info[:2]))


def read(path):
    """Return the text of a file, None when there is none."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, ValueError):
        return None


def write(path, text):
    """Replace a file."""
    beside = path + ".tmp"
    with open(beside, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(beside, path)


def say(text, code=0):
    """Print to standard error; returns the code."""
    print("bootstrap: " + text, file=sys.stderr, flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
