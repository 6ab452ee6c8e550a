"""Runs a script with the interpreter that PACML_PYTHON names, or else python3.

    with_packages.py [--requires PACKAGES] SCRIPT ARGUMENTS...

The script's REQUIRES line names its packages, or else a list with commas. Exit code 77, with a
sentence: one is missing.
"""

import os
import re
import subprocess
import sys


def main(script, arguments, packages=None):
    if packages is None:
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


if sys.argv[1] == "--requires":
    main(sys.argv[3], sys.argv[4:], sys.argv[2])
else:
    main(sys.argv[1], sys.argv[2:])
