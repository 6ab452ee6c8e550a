"""Runs an example with the interpreter of this script, for a few seconds, and reads its last line.

    run_example.py EXAMPLE

Fails by an exception. How well it learns in so short a time is not looked at.
"""

import re
import subprocess
import sys

LAST_LINE = (r"after (\d+) decisions the policy blocks (0\.\d+) \+- \S+, the best constant degree "
             r"(0\.\d+) \+- \S+, over 2 episodes each$")


def main(example):
    ran = subprocess.run([sys.executable, example, "--minutes", "0.05", "--episodes", "2"],
                         stdout=subprocess.PIPE, text=True, check=True)
    told = re.search(LAST_LINE, ran.stdout.strip())
    assert told, ran.stdout
    assert int(told.group(1)) > 0, ran.stdout
    # What is not on the command line is refused, not passed over.
    refused = subprocess.run([sys.executable, example, "--no-such-option"], stderr=subprocess.PIPE,
                             text=True, check=False)
    assert refused.returncode == 2, refused
    print(ran.stdout)


main(sys.argv[1])
