#!/usr/bin/env python3
"""A Debian 12 with nothing on it, to install and build in, as a new machine or a container would.

    bare_debian.py run COMMAND...     runs a command in a clean clone of this tree
    bare_debian.py image DOCKERFILE   does what the file says, step by step, without Docker
    bare_debian.py packages BUILD [COMPONENT...]   installs what cpack makes of a build, and uses it

Needs root, debootstrap and a Debian mirror. Roots are made below /var/tmp (or PACML_BARE, which has
to hold some gigabytes) and removed afterwards; the bare one is kept there as base.tar for the next
time. Only what is committed is in the clone.
"""

import json
import os
import pathlib
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
PLACE = pathlib.Path(os.environ.get("PACML_BARE", "/var/tmp/pacml-bare"))
MIRROR = "http://deb.debian.org/debian"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

# In a mount namespace of its own: nothing stays mounted, however this ends. /dev/fd and the like are
# links of Linux's, which debootstrap leaves to udev.
ENTER = """\
root=$1 folder=$2 user=$3; shift 3
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount -t tmpfs tmpfs "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=0620,gid=5 devpts "$root/dev/pts"
ln -sf pts/ptmx "$root/dev/ptmx"
exec chroot --userspec="$user" "$root" /usr/bin/env -C "$folder" "$@"
"""


def obstacle():
    """Why there can be no bare system here, or nothing."""
    if os.geteuid() != 0:
        return "a bare system needs root"
    search = os.environ["PATH"] + ":/usr/sbin:/sbin"
    if shutil.which("debootstrap", path=search) is None:
        return "debootstrap is not installed (scripts/install_dependencies --test)"
    return None


def say(text):
    print(f"== {text}", flush=True)


class Root:
    """A folder with a system in it, which goes with its owner."""

    def __init__(self):
        PLACE.mkdir(parents=True, exist_ok=True)
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="root-", dir=PLACE))
        self.path.chmod(0o755)
        base = PLACE / "base.tar"
        if not base.exists():
            say(f"a bare Debian 12 from {MIRROR}")
            subprocess.run(["debootstrap", "--variant=minbase", "bookworm", str(self.path), MIRROR],
                           check=True, stdout=subprocess.DEVNULL)
            whole = base.with_suffix(f".{os.getpid()}")
            subprocess.run(["tar", "-C", str(self.path), "-cf", str(whole), "."], check=True)
            whole.rename(base)
        else:
            subprocess.run(["tar", "-C", str(self.path), "-xf", str(base)], check=True)
        shutil.copy("/etc/resolv.conf", self.path / "etc/resolv.conf")
        # As Debian's installer and every container have it.
        (self.path / "etc/hosts").write_text(f"127.0.0.1 localhost {socket.gethostname()}\n::1 localhost\n")

    def close(self):
        shutil.rmtree(self.path)

    def at(self, path):
        return self.path / str(path).lstrip("/")

    def run(self, words, folder="/", user="0:0", environment=None):
        """Whether it ended well."""
        clean = {"PATH": PATH, "HOME": "/root", "LANG": "C.UTF-8", **(environment or {})}
        return subprocess.run(
            ["unshare", "--mount", "sh", "-ec", ENTER, "sh", str(self.path), folder, user, *words],
            env=clean, stdin=subprocess.DEVNULL).returncode == 0

    def clone(self, folder):
        subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(SOURCE),
                        str(self.at(folder))], check=True)


def run_in_clone(words):
    root = Root()
    try:
        root.clone("/src")
        say(" ".join(words))
        return root.run(words, "/src")
    finally:
        root.close()


def instructions(dockerfile):
    """(word, rest) of each, with continued lines joined."""
    text = "\n".join(line for line in dockerfile.read_text().splitlines()
                     if not line.startswith("#"))
    for line in text.replace("\\\n", " ").splitlines():
        if line.strip():
            word, rest = line.split(None, 1)
            yield word, rest


class Image:
    """What a Dockerfile describes: one root a stage."""

    def __init__(self, context):
        self.context = context
        self.stages = []  # (name, root)

    def do(self, word, rest):
        if word == "FROM":
            image, *name = rest.split()
            assert image == "debian:12-slim", f"FROM {image}: only debian:12-slim is made here"
            self.stages.append((name[1] if name else "", Root()))
            self.folder, self.user, self.entry, self.words = "/", "0:0", [], []
            return True
        root = self.stages[-1][1]
        if word == "WORKDIR":
            self.folder = rest
            root.at(rest).mkdir(parents=True, exist_ok=True)
        elif word == "COPY":
            self.copy(root, rest.split())
        elif word == "RUN":
            return root.run(["/bin/sh", "-c", rest], self.folder, self.user)
        elif word == "USER":
            self.user = rest
        elif word == "ENTRYPOINT":
            self.entry = json.loads(rest)
        elif word == "CMD":
            self.words = json.loads(rest)
        else:
            raise AssertionError(f"{word} is not known here")
        return True

    def copy(self, root, words):
        origin = self.context
        if words[0].startswith("--from="):
            name = words.pop(0)[len("--from="):]
            origin = dict(self.stages)[name].path
        source = origin / words[0].lstrip("/")
        target = root.at(pathlib.PurePosixPath(self.folder) / words[1])
        subprocess.run(["cp", "-a", str(source) + ("/." if source.is_dir() else ""), str(target)],
                       check=True)

    def start(self):
        """As `docker run` does without arguments."""
        return self.stages[-1][1].run(self.entry + self.words, self.folder, self.user)

    def close(self):
        for _, root in self.stages:
            root.close()


def make_image(dockerfile):
    with tempfile.TemporaryDirectory() as context:
        subprocess.run(["git", "clone", "--quiet", str(SOURCE), context], check=True)
        image = Image(pathlib.Path(context))
        try:
            for word, rest in instructions(pathlib.Path(dockerfile)):
                say(f"{word} {shlex.join(rest.split())}")
                if not image.do(word, rest):
                    return False
            say("docker run")
            return image.start()
        finally:
            image.close()


# Nothing but the packages and what they depend on, then what somebody needs to build on the library.
USE_PACKAGES = """\
apt-get update --quiet
apt-get install --yes --quiet --no-install-recommends /packages/*.deb
pacml --version
pacml graphs
pacml eval /usr/share/pacml/configs/quickstart.yaml --policy para_max,random --seeds 1
test ! -e /usr/bin/pacml-learner || pacml-learner --version
apt-get install --yes --quiet --no-install-recommends g++ pkgconf
g++ -std=c++20 /usr/share/doc/pacml/docs/examples/library/play.cc -o /play $(pkg-config --cflags --libs pacml)
/play /usr/share/pacml/configs/quickstart.yaml
apt-get purge --yes --quiet 'pacml*' 'libpacml*'
test ! -e /usr/bin/pacml
test ! -e /usr/share/pacml
"""


def install_packages(build, components):
    root = Root()
    try:
        place = root.at("/packages")
        chosen = ["-D", "CPACK_COMPONENTS_ALL=" + ";".join(components)] if components else []
        subprocess.run(["cpack", "--config", str(pathlib.Path(build) / "CPackConfig.cmake"),
                        "-B", str(place), *chosen], check=True)
        say(", ".join(sorted(path.name for path in place.glob("*.deb"))))
        return root.run(["/bin/sh", "-exc", USE_PACKAGES],
                        environment={"DEBIAN_FRONTEND": "noninteractive"})
    finally:
        root.close()


def main():
    if "--long" in sys.argv:
        sys.argv.remove("--long")
        if os.environ.get("PACML_LONG_TESTS") != "1":
            print("skipped: builds everything on a bare system, which takes an hour; "
                  "PACML_LONG_TESTS=1 runs it")
            return 77
    if len(sys.argv) < 3 or sys.argv[1] not in ("run", "image", "packages"):
        print(__doc__, file=sys.stderr)
        return 2
    why = obstacle()
    if why:
        print("skipped: " + why)
        return 77
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    if sys.argv[1] == "packages":
        well = install_packages(sys.argv[2], sys.argv[3:])
    elif sys.argv[1] == "run":
        well = run_in_clone(sys.argv[2:])
    else:
        well = make_image(sys.argv[2])
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
