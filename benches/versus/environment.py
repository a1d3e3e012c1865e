"""What both programs here need before they can time anything: the pinned libraries, our side built, limits on threads."""

import os
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
ENVIRONMENT = REPOSITORY / ".venv-versus"
DATA = REPOSITORY.parent / "shared" / "data"


def build(program, package, *options):
    """Builds one of our programs for release and gives its path."""
    command = ["cargo", "build", "--release", "--package", package, "--bin", program, *options]
    subprocess.run(command, cwd=REPOSITORY, check=True)
    folder = Path(os.environ.get("CARGO_TARGET_DIR", "target"))
    return REPOSITORY / folder / "release" / program


def is_inside():
    return Path(sys.prefix).resolve() == ENVIRONMENT.resolve()


def start_again(script, option, program, requirements, threads):
    """Goes on inside the environment with the pinned libraries, which it makes when it is not there."""
    python = ENVIRONMENT / "bin" / "python"
    if not python.exists():
        venv.create(ENVIRONMENT, with_pip=True)
    for file in requirements:
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", HERE / file],
                       check=True)
    # BLAS and OpenMP read these once, when they are loaded.
    limits = dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], str(threads))
    os.execve(python, [python, script, *sys.argv[1:], option, str(program)], {**os.environ, **limits})
