#!/usr/bin/env python3
"""Installs a build into a folder and uses it from outside, as somebody else's project would.

    install_test.py SOURCE BUILD COMPILER SANITIZERS
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile


def run(*words, **more):
    """What a program prints; the test fails where it does."""
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def check(holds, sentence):
    if not holds:
        sys.exit(f"install_test.py: {sentence}")


def check_tree(prefix, version):
    found = {path.name: path for path in prefix.rglob("*")}
    for name in ("pacml", "libpacml.so", f"libpacml.so.{version}", "environment.h", "version.h",
                 "pacml-config.cmake", "pacml.pc", "quickstart.yaml", "architecture.md", "LICENSE"):
        check(name in found, f"{name} is not installed")
    headers = {path.name for path in (prefix / "include/pacml").iterdir()}
    check(headers == {"api.h", "decisions.h", "environment.h", "error.h", "policy.h", "version.h"},
          f"other headers are installed than the public ones: {sorted(headers)}")
    return found[f"libpacml.so.{version}"]


def check_links(documents):
    """What an installed document links to is there, too."""
    links = [(page, link) for page in documents.rglob("*.md")
             for link in re.findall(r"\]\(([^)\s#]+)", page.read_text(encoding="utf-8"))
             if not re.match(r"[a-z]+:", link)]
    check(len(links) > 100, f"{documents} has {len(links)} links")
    dead = [f"{page.name}: {link}" for page, link in links if not (page.parent / link).exists()]
    check(not dead, f"links of installed documents lead nowhere: {dead}")


def check_library(library):
    """It shows what is public and nothing else, and needs no LibTorch."""
    names = [line.split()[-1] for line in run("nm", "-D", "--defined-only", library).splitlines()]
    ours = [name for name in names if name.startswith(("_ZN5pacml", "_ZNK5pacml", "_ZTIN5pacml",
                                                       "_ZTSN5pacml", "_ZTVN5pacml"))]
    hidden = [name for name in ours if "5pacml3api" not in name]
    check(ours and not hidden, f"the library shows what is not public: {hidden[:5]}")
    needed = run("ldd", library)
    check("torch" not in needed and "not found" not in needed,
          f"the library needs what it should not: {needed}")


def build_example(source, prefix, folder, compiler, flags):
    """By CMake, whose users name the installed tree; and by pkg-config."""
    project = source / "docs/examples/library"
    run("cmake", "-S", project, "-B", folder / "cmake", f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCMAKE_CXX_COMPILER={compiler}", f"-DCMAKE_CXX_FLAGS={flags} -Wall -Wextra -Werror")
    run("cmake", "--build", folder / "cmake")
    pc = next(prefix.rglob("pacml.pc")).parent
    words = run("pkg-config", "--cflags", "--libs", "pacml", env={"PKG_CONFIG_PATH": str(pc),
                                                                 "PATH": "/usr/bin:/bin"}).split()
    library = next(prefix.rglob("libpacml.so")).parent
    run(compiler, "-std=c++20", *flags.split(), project / "play.cc", "-o", folder / "play", *words,
        f"-Wl,-rpath,{library}")
    return [folder / "cmake/play", folder / "play"]


def check_other_version(prefix, folder):
    project = folder / "other"
    project.mkdir()
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.23)\nproject(other LANGUAGES CXX)\n"
        "find_package(pacml 0.99 REQUIRED)\n")
    done = subprocess.run(["cmake", "-S", project, "-B", folder / "other-build",
                           f"-DCMAKE_PREFIX_PATH={prefix}"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    check(done.returncode != 0 and "0.99" in done.stdout,
          "a project that needs another version finds this one")


def main():
    os.environ["CMAKE_GENERATOR"] = "Ninja"  # what the project itself is built with; make may be missing
    source, build = map(pathlib.Path, sys.argv[1:3])
    compiler, sanitizers = sys.argv[3:5]
    flags = f"-fsanitize={sanitizers}" if sanitizers else ""
    with tempfile.TemporaryDirectory(prefix="pacml-install-") as place:
        folder = pathlib.Path(place)
        prefix = folder / "prefix"
        run("cmake", "--install", build, "--prefix", prefix)
        version = run(prefix / "bin/pacml", "--version").split()[1]
        check_library(check_tree(prefix, version))
        check_links(prefix / "share/doc/pacml")
        config = next(prefix.rglob("quickstart.yaml"))
        for program in build_example(source, prefix, folder, compiler, flags):
            said = run(program, config)
            check(f"pacml {version}" in said and "task partitioning" in said and
                  "para_max" in said, f"the example says something else: {said}")
            refused = subprocess.run([program, folder / "nowhere.yaml"], stderr=subprocess.PIPE,
                                     text=True)
            check(refused.returncode == 2 and "nowhere.yaml" in refused.stderr,
                  "the library's errors do not reach the example")
        check_other_version(prefix, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
