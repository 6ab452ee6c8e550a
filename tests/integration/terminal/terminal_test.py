#!/usr/bin/python3
"""What a person sees of a training in a terminal: tmux is the terminal.

    terminal_test.py BIN    BIN has pacml and pacml-learner

One block of lines that is rewritten where it stands, follows when the window becomes narrower, has no colours where NO_COLOR is
set, and leaves the shell a line of its own when the run is interrupted. Tables fit the window.
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from soon import wait_until

SOURCE = pathlib.Path(os.environ.get("PACML_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[3]))
PROMPT = "ready> "
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class Terminal:
    """A shell in a window of its own."""

    def __init__(self, folder, columns, rows=40):
        # A short path: it is that of a socket.
        self.words = ["tmux", "-f", "/dev/null", "-S", str(folder / "tmux")]
        shell = f"env -i PATH={os.environ['PATH']} HOME={folder} TERM=screen LANG=C.UTF-8 PS1={shlex.quote(PROMPT)} sh"
        self.tmux("new-session", "-d", "-x", str(columns), "-y", str(rows), shell)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run([*self.words, "kill-server"], capture_output=True, timeout=60)

    def tmux(self, *words):
        ran = subprocess.run([*self.words, *words], capture_output=True, text=True, timeout=60, env=os.environ | {"LC_ALL": "C.UTF-8"})
        assert ran.returncode == 0, f"tmux {shlex.join(words)}: {ran.stderr}"
        return ran.stdout

    def type(self, text):
        self.tmux("send-keys", "-l", text)
        self.tmux("send-keys", "Enter")

    def press(self, key):
        self.tmux("send-keys", key)

    def resize(self, columns, rows=40):
        self.tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def text(self, escapes=False):
        """Of the window, without empty lines at its end."""
        return self.tmux("capture-pane", "-p", *(["-e"] if escapes else [])).rstrip()

    def wait_until(self, what, holds):
        wait_until(what, holds, shows=lambda: f"the terminal shows:\n{self.text()}")


def train(terminal, pacml, run, environment=""):
    terminal.type(f"{environment} {pacml} train {SOURCE}/configs/quickstart.yaml --run {run} --actors 1 --minutes 30"
                  " --set learner.metrics_seconds=0.5 --set learner.evaluate_seconds=1 --set learner.evaluate_episodes=1"
                  " --set env.cluster.max_simulation_time=1e5 --set supervision.stop_seconds=300".strip())


def block(terminal):
    """Its lines, and how many blocks there are on the screen."""
    lines = terminal.text().splitlines()
    firsts = [i for i, line in enumerate(lines) if re.search(r"\d:\d\d of 30:00", line)]
    return lines[firsts[-1]:] if firsts else [], len(firsts)


def shows_training(terminal):
    lines, count = block(terminal)
    return count == 1 and any("blocking" in line for line in lines) and any("bottleneck" in line for line in lines)


def interrupt(terminal):
    terminal.press("C-c")
    terminal.wait_until("the shell is back", lambda: terminal.text().endswith("\n" + PROMPT.strip()))
    terminal.type("echo code $?")
    terminal.wait_until("it says how it ended", lambda: re.search(r"^code \d+$", terminal.text(), re.MULTILINE))
    return int(re.findall(r"^code (\d+)$", terminal.text(), re.MULTILINE)[-1])


def follows_the_window(terminal, pacml, run):
    train(terminal, pacml, run)
    terminal.wait_until("the block is there, once", lambda: shows_training(terminal))
    assert COLOUR.search(terminal.text(escapes=True)), "it has colours"
    before = block(terminal)[0]
    terminal.wait_until("it is rewritten where it stands", lambda: block(terminal)[0] != before and shows_training(terminal))
    for columns in (50, 30, 110):
        terminal.resize(columns)
        terminal.wait_until(f"it fits {columns} columns", lambda: shows_training(terminal) and
                            max(len(line) for line in block(terminal)[0]) <= columns)
    code = interrupt(terminal)
    assert code == 0, f"{code}\n{terminal.text()}"


def keeps_to_black_and_white(terminal, pacml, run):
    train(terminal, pacml, run, "NO_COLOR=1")
    terminal.wait_until("the block is there", lambda: shows_training(terminal))
    assert not COLOUR.search(terminal.text(escapes=True)), terminal.text(escapes=True)
    code = interrupt(terminal)
    assert code == 0, f"{code}\n{terminal.text()}"


def tables_fit(terminal, pacml, runs):
    terminal.type(f"clear; {pacml} runs {runs}; echo table $?")
    terminal.wait_until("the table is there", lambda: re.search(r"^table 0$", terminal.text(), re.MULTILINE))
    lines = terminal.text().split("\ntable ")[0].splitlines()
    # Nothing was folded: each line is a name or begins with one, and each block has all runs.
    names = [line.split()[0] for line in lines if line.strip()]
    assert names == ["run", "colours", "plain"] * (len(names) // 3) and len(names) >= 6, terminal.text()


def main():
    if shutil.which("tmux") is None:
        print("skipped: there is no tmux (Debian's tmux)")
        return 77
    pacml = pathlib.Path(sys.argv[1]).resolve() / "pacml"
    with tempfile.TemporaryDirectory(prefix="pacml-test-", ignore_cleanup_errors=True) as name:
        folder = pathlib.Path(name)
        with Terminal(folder, 100) as terminal:
            terminal.wait_until("there is a prompt", lambda: terminal.text().endswith(PROMPT.strip()))
            follows_the_window(terminal, pacml, folder / "runs/colours")
            terminal.type("clear")  # or the former run's block is taken for the next one's
            terminal.wait_until("the window is empty", lambda: terminal.text() == PROMPT.strip())
            keeps_to_black_and_white(terminal, pacml, folder / "runs/plain")
            terminal.resize(60)
            tables_fit(terminal, pacml, folder / "runs")
    print("1 passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
