#!/usr/bin/env python3
"""Fails when a file includes what its folder may not use.

The folders' order is docs/layers.txt. Besides it, some libraries have one home, so that what they
cost to compile and how they fail stays in one place; and a source includes its own header first, which
proves that the header needs nothing else before it.

    scripts/check_layers.py [ROOT]
"""
import pathlib
import re
import sys

# Headers that match the pattern may be included below these paths only.
HOMES = [
    (r"torch/|ATen/|c10/|caffe2/", ("model/", "learner/", "tests/", "bench/"), "LibTorch"),
    (r"boost/asio", ("common/asio.h",), 'Boost.Asio (include "common/asio.h")'),
    (r"zmq", ("common/transport/", "tests/"), "ZeroMQ"),
    (r"msgpack", ("common/wire/", "tests/"), "MessagePack"),
    (r"CLI/", ("apps/cli/",), "CLI11"),
    (r"catch2/", ("tests/support/",), 'Catch2 (include "tests/support/catch.h")'),
]


def read_layers(root):
    allowed = {}
    for line in (root / "docs/layers.txt").read_text().splitlines():
        room, _, uses = line.partition(":")
        allowed[room] = (room, *uses.split())
    return allowed


def room_of(name, rooms):
    """The innermost room that a file stands in: apps/http before apps."""
    parts = name.split("/")[:-1]
    while parts and "/".join(parts) not in rooms:
        parts.pop()
    return "/".join(parts)


def problems_of(name, text, allowed):
    room = room_of(name, allowed)
    for number, line in enumerate(text.splitlines(), 1):
        include = re.match(r'\s*#\s*include\s*(["<])([^">]+)', line)
        if not include:
            continue
        used = room_of(include[2], allowed)
        if room and include[1] == '"' and used:
            # A room that is named in full stands for the rooms inside it, too.
            if not any(used == use or used.startswith(use + "/") for use in allowed[room]):
                yield f"{name}:{number}: {room}/ may not use {used}/ (docs/layers.txt)"
        for pattern, homes, library in HOMES:
            if include[1] == "<" and re.match(pattern, include[2]) and not name.startswith(homes):
                yield f"{name}:{number}: only {', '.join(homes)} may include {library}"


def public_header(name, text):
    """What others include shows nothing of ours but what others include."""
    for number, line in enumerate(text.splitlines(), 1):
        if name.startswith("api/pacml/") and re.match(r'\s*#\s*include\s*"', line):
            yield f"{name}:{number}: a public header includes <...> alone"


def own_header_first(root, path):
    """A header that its source includes first needs no compilation of its own to be proven complete."""
    header = path.with_suffix(".h")
    if path.suffix != ".cc" or not header.exists():
        return
    first = re.search(r'^\s*#\s*include\s*["<]([^">]+)', path.read_text(encoding="utf-8"), re.M)
    if not first or first[1] != header.relative_to(root).as_posix():
        yield f"{path.relative_to(root).as_posix()}: includes its own header first"


def main():
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__.strip())
        return 0
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    root = root.parent.parent if root.is_file() else root
    allowed = read_layers(root)
    found = []
    for folder in [*(room for room in allowed if "/" not in room), "tests"]:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in {".h", ".cc"}:
                name = path.relative_to(root).as_posix()
                found += problems_of(name, path.read_text(encoding="utf-8"), allowed)
                found += own_header_first(root, path)
                found += public_header(name, path.read_text(encoding="utf-8"))
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
