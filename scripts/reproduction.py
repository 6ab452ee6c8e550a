"""What scripts/reproduce, scripts/reproduce_policies and scripts/reproduce_placement have in common.

Commands of pacml whose results are kept, so that an interrupted run goes on where it was, and
tables and pictures of what they say.
"""
import argparse
import itertools
import json
import math
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

from pictures import COLOURS, Trouble

ROOT = pathlib.Path(__file__).resolve().parent.parent
MARKERS = ["o", "s", "^", "D", "v", "P", "X"]

COMMON_OPTIONS = {
    "--profiles": {"type": pathlib.Path, "help": "folder of <model>/graph.txt"},
    "--out": {"type": pathlib.Path, "default": ROOT / "runs/reproduce", "help": "where results are kept"},
    "--minutes": {"type": float, "default": 3, "help": "of each training; 0: none (default 3)"},
    "--algorithm": {"choices": ["impala", "ppo", "apex"], "help": "what trainings learn by (default: what their configurations name)"},
    "--seeds": {"type": int, "default": 20, "help": "held-out episodes of each policy (default 20)"},
}


class Study:
    """Commands whose results are kept, and what is made of them."""

    def __init__(self, arguments):
        self.out = arguments.out / arguments.algorithm if arguments.algorithm else arguments.out
        self.seeds = str(arguments.seeds)
        self.minutes = arguments.minutes
        self.algorithm = arguments.algorithm
        self.trainings = getattr(arguments, "trainings", 1)
        self.arguments = arguments
        self.profiles = ["--profiles", str(arguments.profiles)] if arguments.profiles else []
        program = os.environ.get("PACML", str(ROOT / "build/release/bin/pacml"))
        # A path is the user's, and commands run elsewhere; a name is looked for on PATH.
        self.pacml = os.path.abspath(program) if "/" in program else program
        self.steps = []  # (what, result, command)

    def add(self, what, result, command):
        """A step, once: several figures may ask for it."""
        if (what, result, command) not in self.steps:
            self.steps.append((what, result, command))

    def plan(self, result, words, profiles=None):
        """A command that writes `result`; the path of it. `profiles`: words that name others."""
        path = self.out / result
        self.add(result, path, [self.pacml, *words, *(self.profiles if profiles is None else profiles), "--out", str(path)])
        return path

    def plan_episode(self, result, run, seed):
        """As plan(): every decision of a held-out episode of a run."""
        path = self.out / result
        self.add(result, path, [self.pacml, "explain", str(run), "--seed", str(seed), "--episode", str(path)])
        return path

    def plan_trainings(self, name, words, profiles=None, decisions=None):
        """Folders of runs that differ by their seed alone, as many as --trainings says, or as there are."""
        names = [name, *(f"{name}_{seed}" for seed in range(1, self.trainings))]
        runs = [self.plan_training(run, words + (["--set", f"seed={seed}"] if seed else []), profiles, decisions) for seed, run in enumerate(names)]
        return [run for run in runs if run]

    def plan_training(self, name, words, profiles=None, decisions=None):
        """The folder of a run; None: there is none, and none is to be trained. For --minutes, or for so many decisions."""
        if self.algorithm:
            words = [*words, "--set", f"algorithm={self.algorithm}"]
        run = self.out / "runs" / name
        done = run / "trained"
        if decisions is None:
            amount, text, limit = self.minutes, f"{self.minutes:g} min", ["--minutes", f"{self.minutes:g}"]
        else:
            amount, text, limit = decisions, f"{decisions} decisions", ["--decisions", str(decisions)]
        if amount > 0:
            command = [self.pacml, "train", *words, *(self.profiles if profiles is None else profiles), "--run", str(run), *limit, "--continue"]
            self.add(f"training {name} for {text}", done, command)
            return run
        return run if done.exists() else None

    def missing(self):
        """Steps whose results are not there, or read what is not."""
        missing, anew = [], set()
        for step in self.steps:
            _, result, command = step
            if self.is_done(step) and not anew & self.runs_read(command):
                continue
            missing.append(step)
            if result.name == "trained":
                anew.add(result.parent)
        return missing

    def run(self):
        """Computes what is missing."""
        begun, taken = time.monotonic(), 0
        missing = self.missing()
        if len(missing) < len(self.steps):
            print(f"{len(self.steps) - len(missing)} of {len(self.steps)} results are there", flush=True)
        for number, (what, result, command) in enumerate(missing, 1):
            left = ""
            if taken:
                left = f", some {math.ceil((time.monotonic() - begun) / taken * (len(missing) - taken) / 60)} min left"
            print(f"{number} of {len(missing)}: {what}{left}", flush=True)
            words = command
            if result.name == "trained":
                self.begin_training(result, command)
                words = self.what_is_left(result.parent, command)
            result.parent.mkdir(parents=True, exist_ok=True)
            try:
                ended = subprocess.run(words, stdout=subprocess.DEVNULL, cwd=ROOT, check=False)
            except OSError as error:
                raise Trouble(f"{command[0]}: {error.strerror}; scripts/build makes it") from error
            if ended.returncode != 0:
                raise Trouble(f"this ended with {ended.returncode}: {shlex.join(words)}")
            if result.name == "trained":
                result.touch()
            self.note(result).write_text(shlex.join(command) + "\n", encoding="utf-8")
            taken += 1

    def begin_training(self, result, command):
        """What was trained otherwise, perhaps for a shorter time, is put aside: whoever went on from there would be neither."""
        run, text = result.parent, shlex.join(command) + "\n"
        begun = run.with_name(run.name + ".begun")
        former = next((note.read_text(encoding="utf-8") for note in (begun, self.note(result)) if note.exists()), text)
        if run.exists() and former != text:
            aside = next(path for path in (run.with_name(f"{run.name}.former-{n}") for n in itertools.count(1)) if not path.exists())
            print(f"{run.name} was trained otherwise: now {aside}", flush=True)
            run.rename(aside)
        run.parent.mkdir(parents=True, exist_ok=True)
        begun.write_text(text, encoding="utf-8")

    @staticmethod
    def what_is_left(run, command):
        """The command of a training that may have been interrupted: a run has --minutes anew in each
        life, while --decisions are all of the run's."""
        seconds = seconds_trained(run)
        if not seconds or "--minutes" not in command:
            return command
        k = command.index("--minutes") + 1
        left = max(0.001, float(command[k]) - seconds / 60)
        return [*command[:k], f"{left:g}", *command[k + 1:]]

    @staticmethod
    def runs_read(command):
        """What may be folders of runs: those that policies are named by. Behind a policy may stand +refine
        and the like, but folders may have a + in their names, too."""
        policies = [policy for word in command for policy in word.split(",")]
        return {pathlib.Path(path) for policy in policies for path in itertools.accumulate(policy.split("+"), "{}+{}".format)}

    @staticmethod
    def note(result):
        return result.with_name(result.name + ".command")

    def is_done(self, step):
        _, result, command = step
        try:
            # Of a run that was trained since, it tells what is no more.
            trained = (run / "trained" for run in self.runs_read(command))
            newest = max((marker.stat().st_mtime_ns for marker in trained if marker.exists()), default=0)
            return result.stat().st_mtime_ns >= newest and self.note(result).read_text(encoding="utf-8").strip() == shlex.join(command)
        except OSError:
            return False


def seconds_trained(run):
    """How long a run has been trained for, in all its lives; 0 where nothing tells."""
    try:
        text = (run / "metrics.jsonl").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0.0
    for line in reversed(text.split("\n")[:-1]):  # behind the last newline: one that is torn, or nothing
        try:
            return float(json.loads(line)["seconds"])
        except (ValueError, KeyError, TypeError):
            continue
    return 0.0


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def scores(path):
    """Of each policy of a comparison: name, mean, half the interval."""
    document = read(path)
    objective = document["objective"]
    return [(p["name"], p[objective]["mean"], p[objective]["ci95"] or 0.0) for p in document["policies"]]


def rounded(value, decimals):
    """Rounded, and without the zero before the point: .0714, 10.0714."""
    return re.sub(r"^(-?)0\.", r"\1.", f"{value:.{decimals}f}")


def cell(mean, half):
    return f"{rounded(mean, 4)} ± {rounded(half, 4)}"


def table(header, rows):
    return "\n".join(["| " + " | ".join(header) + " |", "| " + " | ".join("---" for _ in header) + " |"] +
                     ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def write(study, figure, text):
    path = study.out / figure / "table.md"
    path.write_text(text, encoding="utf-8")
    print(text)
    print(path)


def draw(study, figure, panels, xlabel, ylabel, xlog=True):
    """panels: title, {name: [(x, y, half)]}; one picture, PNG and SVG."""
    try:
        import matplotlib
    except ImportError:
        print("no picture: matplotlib is missing (apt-get install python3-matplotlib)", file=sys.stderr)
        return
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "pacml"  # the same picture is the same file
    import matplotlib.pyplot as plt

    picture, grid = plt.subplots(1, len(panels), figsize=(4.2 * len(panels) + 1, 3.6), sharey=True, layout="constrained", squeeze=False)
    names = list(dict.fromkeys(name for _, lines in panels for name in lines))
    for axes, (title, lines) in zip(grid[0], panels):
        for name, points in lines.items():
            k = names.index(name) % len(COLOURS)
            xs, ys, halves = zip(*points)
            axes.errorbar(xs, ys, yerr=halves, color=COLOURS[k], marker=MARKERS[k], markersize=5, linewidth=1.5, capsize=2, label=name)
        if xlog:
            axes.set_xscale("log", base=2)
            ticks = sorted({x for points in lines.values() for x, _, _ in points})
            axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
            axes.minorticks_off()
        axes.set_title(title, fontsize=10)
        axes.set_xlabel(xlabel)
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
    grid[0][0].set_ylabel(ylabel)
    if len(names) > 1:
        grid[0][-1].legend(loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False, fontsize=9)
    for kind in ("png", "svg"):
        path = study.out / figure / f"{figure}.{kind}"
        picture.savefig(path, dpi=130)
        print(path)


def compare_pictures(study, figure, paths, title):
    subprocess.run([sys.executable, str(ROOT / "scripts/plot"), *map(str, paths), "--out", str(study.out / figure), "--title", title],
                   cwd=ROOT, check=False)


def count(least, most):
    """For argparse: a whole number."""
    def parse(text):
        if not text.isascii() or not text.isdigit() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"must be in {least}..{most}")
        return int(text)
    return parse


def reproduce(document, figures, options):
    """Does what the command line asks for. `document`: of the script; `figures`: name to what plans it; `options`: beside
    the common ones, as argparse has them, or None for a common one that the script does not have."""
    program = pathlib.Path(sys.argv[0]).name
    parser = argparse.ArgumentParser(prog=f"scripts/{program}", description=document.splitlines()[0], epilog=document.split("\n", 2)[2],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figures", nargs="+", choices=[*figures, "all"], metavar="FIGURE")
    for option, words in {**COMMON_OPTIONS, **options}.items():
        if words is None:  # as if it were always left out
            parser.set_defaults(**{option.removeprefix("--"): COMMON_OPTIONS[option].get("default")})
        else:
            parser.add_argument(option, **words)
    arguments = parser.parse_args()
    for name in ("profiles", "out"):
        if getattr(arguments, name):
            setattr(arguments, name, getattr(arguments, name).resolve())
    if arguments.profiles and not arguments.profiles.is_dir():
        raise Trouble(f"--profiles {arguments.profiles} is no folder")
    if arguments.seeds < 2 or not 0 <= arguments.minutes < 1e6:
        raise Trouble("--seeds must be at least 2, and --minutes at least 0")
    chosen = list(figures) if "all" in arguments.figures else list(dict.fromkeys(arguments.figures))
    study = Study(arguments)
    reports = [figures[figure](study) for figure in chosen]
    study.run()
    for figure, report in zip(chosen, reports):
        print(f"\n{figure}\n")
        report()
    return 0


def run_script(document, figures, options=None):
    """As reproduce(), for a script to end with."""
    try:
        sys.exit(reproduce(document, figures, options or {}))
    except Trouble as trouble:
        print(f"{pathlib.Path(sys.argv[0]).name}: {trouble}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print(f"{pathlib.Path(sys.argv[0]).name}: interrupted; the same command goes on from here", file=sys.stderr)
        sys.exit(130)
