"""What training an environment in Python comes to, for tests."""

import json
import pathlib
import subprocess
import sys
import tempfile


def returns_of(pacml, config, decisions, seeds):
    """Mean returns over so many episodes: trained for so many decisions, and at random.

    `config`: a configuration, in which {python} becomes this interpreter.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        file, run, scores = folder / "c.yaml", folder / "run", folder / "e.json"
        file.write_text(config.format(python=sys.executable), encoding="utf-8")
        train = [pacml, "train", file, "--run", run, "--decisions", str(decisions)]
        subprocess.run(train, check=True, timeout=600)
        judge = [pacml, "eval", file, "--policy", f"{run},random", "--seeds", str(seeds), "--out", scores]
        subprocess.run(judge, check=True, timeout=300)
        policies = json.loads(scores.read_text(encoding="utf-8"))["policies"]
        returns = {policy["name"]: policy["return"]["mean"] for policy in policies}
        print(returns)
        return returns[str(run)], returns["random"]
