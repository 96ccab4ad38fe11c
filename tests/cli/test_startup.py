"""What the quick commands may not import: it costs every start, and shell completion, a noticeable time."""

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.smoke

HEAVY = ("numpy", "scipy", "pydantic", "matplotlib", "llvmlite")

PROBE = """
import json, sys
from denoc.cli.main import main
try:
    main()
finally:
    print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""


def modules(*words):
    """Names of the modules that the command has imported by its end."""
    done = subprocess.run([sys.executable, "-c", PROBE, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    return json.loads(done.stderr.splitlines()[-1])


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["--version"],
        ["list"],
        ["list", "puma"],
        ["idyn", "--help"],
        ["regress", "--help"],
        ["distribute", "--help"],
    ],
)
@pytest.mark.sampled(2)
def test_quick_commands_import_nothing_heavy(words):
    found = modules(*words)
    assert "denoc.cli.main" in found
    # newer versions of typer read arguments with pydantic, which isn't ours to prevent
    heavy = set(HEAVY) - ({"pydantic"} if "typer._adapters" in found else set())
    assert not [name for name in found if name.split(".")[0] in heavy]
    assert not [name for name in found if name.startswith(("denoc.robot.", "denoc.scenario.", "denoc.mechanics."))]


@pytest.mark.parametrize("robot", ["puma", "four-bar"])
@pytest.mark.sampled(2)
def test_inspect_draws_nothing(robot):
    assert not [name for name in modules("inspect", robot) if name.split(".")[0] in ("matplotlib", "llvmlite", "scipy")]
