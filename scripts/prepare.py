"""Make `.venv` what the lock files say: `python3 scripts/prepare.py run|dev`.

Nothing but Python 3.11 with its own venv module is needed. A stamp inside .venv holds a hash of everything that the
environment depends on; it is written last, so a second call compares one hash and ends, and a call after a killed one
starts afresh. Calls at the same time wait for each other.
"""

import sys

if sys.version_info < (3, 11):
    sys.exit(
        f"rooftree needs Python 3.11 or later, and {sys.executable} is {sys.version_info[0]}.{sys.version_info[1]}; "
        "install a newer one or name it: PYTHON=python3.12 scripts/..."
    )

import fcntl
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
UNFINISHED = VENV / "unfinished"
BASE = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
LOCKS = {"run": "requirements.lock", "dev": "requirements-dev.lock"}


def wanted(level):
    """Return the hash of what an environment of this level depends on."""
    text = [str(ROOT), BASE, sys.version]
    text += [(ROOT / name).read_text("utf-8") for name in (LOCKS[level], "pyproject.toml", "scripts/prepare.py")]
    return hashlib.sha256("\0".join(text).encode()).hexdigest()


def stamp(level):
    """Return the stamp file of a level."""
    return VENV / f"stamp-{level}"


def ready(level):
    """Whether the environment is finished and up to date; the development one serves for running too."""
    if UNFINISHED.exists():
        return False
    levels = ("run", "dev") if level == "run" else ("dev",)
    return any(stamp(each).is_file() and stamp(each).read_text("utf-8") == wanted(each) for each in levels)


def step(what, lock, *command):
    """Run a command with its output on stderr; end with its words when it fails.

    The command inherits the lock: should this script be killed, the next one waits until the orphan has ended.
    """
    print(f"rooftree: {what}", file=sys.stderr, flush=True)
    done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=sys.stderr, pass_fds=[lock.fileno()])
    if done.returncode:
        sys.exit(f"rooftree: {what} failed (exit {done.returncode}); mend what is said above and call again")


def build(level, lock):
    """Make the environment, or add the development packages to one that can run."""
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        sys.exit(
            f"{sys.executable} has no venv module with pip; install it (Debian and Ubuntu: apt-get install "
            "python3-venv) or name another Python: PYTHON=... scripts/..."
        )
    if not ready("run") and VENV.exists():
        for each in LOCKS:
            stamp(each).unlink(missing_ok=True)
        shutil.rmtree(VENV)
    VENV.mkdir(exist_ok=True)
    UNFINISHED.touch()
    python = str(VENV / "bin" / "python")
    pip = (python, "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "-qq")
    if not Path(python).exists():
        step("making .venv", lock, BASE, "-m", "venv", str(VENV))
    step(f"installing {LOCKS[level]}", lock, *pip, "--require-hashes", "-r", LOCKS[level])
    step("installing rooftree", lock, *pip, "--no-deps", "--no-build-isolation", "-e", ".")
    stamp(level).write_text(wanted(level), "utf-8")
    UNFINISHED.unlink()


def main():
    """Bring the environment up to the level that is asked for."""
    level = sys.argv[1] if len(sys.argv) == 2 else ""
    if level not in LOCKS:
        sys.exit("usage: prepare.py run|dev")
    if ready(level):
        return
    with open(ROOT / ".venv.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not ready(level):
            build(level, lock)


if __name__ == "__main__":
    main()
