"""How trainings went: decisions a second, and how old the policy was that made what was learned from; of runs that differ by
their seed alone the mean."""
from pictures import COLOURS, from_zero, legend_above, number, plain, short
from pictures.runs import band, groups_of

LAGS = (("p50", "median", "-"), ("p99", "99th percentile", ":"))


def curve(run, *path):
    points = ((number(line, "seconds"), number(line, *path)) for line in run.lines)
    return sorted((x / 60, y) for x, y in points if x is not None and y is not None)


def mean(runs, *path):
    curves = [c for c in (curve(run, *path) for run in runs) if c]
    return [row[:2] for row in band(curves)] if curves else []


def draw(plt, runs, title):
    """None where no run tells of it."""
    if not any(curve(run, "decisions_per_second") for run in runs):
        return None
    figure, (above, below) = plt.subplots(2, 1, figsize=(8, 5.5), layout="constrained", sharex=True)
    for k, (name, members) in enumerate(groups_of(runs)):
        colour = COLOURS[k % len(COLOURS)]
        rate = mean(members, "decisions_per_second")
        if rate:
            above.plot(*zip(*rate), color=colour, linewidth=1.2, label=name)
        for quantile, _, style in LAGS:
            lag = mean(members, "policy_lag", quantile)
            if lag:
                below.plot(*zip(*lag), color=colour, linestyle=style, linewidth=1.2)
    for _, name, style in LAGS:
        below.plot([], [], color="#555555", linestyle=style, label=name)
    above.set_ylabel("decisions a second")
    above.yaxis.set_major_formatter(short)
    below.set_ylabel("lag in updates")
    below.set_xlabel("minutes of training")
    for axes, least in ((above, 0), (below, 4)):
        from_zero(axes, least)
        plain(axes)
        legend_above(axes)
    figure.suptitle(title or "Throughput, and how many updates old the acting policy was", fontsize=10)
    return figure
