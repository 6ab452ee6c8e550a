"""Runs a script with the interpreter that PACML_PYTHON names, or else python3.

    with_packages.py SCRIPT ARGUMENTS...

The script's REQUIRES line names its packages. Exit code 77, with a sentence: one is missing.
"""

import os
import re
import subprocess
import sys


def main(script, arguments):
    with open(script, encoding="utf-8") as file:
        packages = re.search(r"^REQUIRES = \[(.*)\]$", file.read(), re.M).group(1)
    names = [name.strip().strip('"') for name in packages.split(",")]
    interpreter = os.environ.get("PACML_PYTHON", "python3")
    probe = "; ".join("import " + name for name in names)
    try:
        found = subprocess.run([interpreter, "-c", probe], capture_output=True, check=False)
    except OSError as error:
        sys.exit(f"PACML_PYTHON={interpreter} does not start: {error}")
    if found.returncode != 0:
        print(f"skipped: {interpreter} has not all of: {', '.join(names)}; install them with pip "
              "and let PACML_PYTHON name the interpreter")
        sys.exit(77)
    sys.exit(subprocess.run([interpreter, script, *arguments], check=False).returncode)


main(sys.argv[1], sys.argv[2:])
