"""What the pictures of scripts/plot have in common. Each module is one picture: what it reads, and how it is drawn."""
import json
import math

# Okabe and Ito's colours, which the colour-blind tell apart.
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"]


class Trouble(Exception):
    """What the user can mend, as a sentence."""


def read_json(path):
    """The document in a file."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Trouble(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise Trouble(f"{path} is no JSON: {error}") from error


def number(line, *path):
    """What is at a path of keys, where it is a finite number."""
    for key in path:
        line = line.get(key) if isinstance(line, dict) else None
    is_number = isinstance(line, (int, float)) and not isinstance(line, bool)
    return line if is_number and math.isfinite(line) else None


def spaced(name):
    return name.replace("_", " ")


def short(x, _=None):
    """A large number as people write it, for axes."""
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if abs(x) >= size:
            return f"{x / size:g} {unit}"
    return f"{x:g}"


def legend_above(axes):
    """Where it hides nothing."""
    axes.legend(frameon=False, fontsize=9, loc="lower right", bbox_to_anchor=(1, 1), ncols=4, borderaxespad=0.1)


def from_zero(axes, least=0):
    """An axis from 0 to a little above what is drawn, and at least to `least`."""
    highest = max((y for line in axes.get_lines() for y in line.get_ydata()), default=0)
    axes.set_ylim(0, 1.08 * max(least, highest) or 1)


def plain(axes):
    """Without the lines that say nothing."""
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
