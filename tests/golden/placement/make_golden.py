#!/usr/bin/env python3
"""Makes the recorded placements in this folder.

    make_golden.py --oracle DIR

DIR holds an independent implementation of Placeto's simulator, decision process and network, a Python file
placement_min.py that offers Graph, simulate, replay_episode, kahn, penalised_s and replay, and beside it
placement_net_min.py. Small graphs of our own are run through it; what it computes is written down in the format
`pacml-placement/1` (docs/placement.md), and then checked against the file by the same program.

Every case exists to pin one thing, named beside it.
"""
import argparse
import json
import pathlib
import random
import sys

HERE = pathlib.Path(__file__).resolve().parent
CONSTANTS = {"delta1_us": 5.7, "delta2_us": 25, "init_offset_us": 0, "bytes_per_us": 7600}
PENALTIES = [(2, 8, 10), (2, 0.05, 10), (50, 0.001, 10)]


def op(name, cost, *output_bytes, **more):
    return dict({"name": name, "cost_us": cost, "output_bytes": list(output_bytes)}, **more)


# ---------------------------------------------------------------- graphs
def two_towers():
    """Two outputs, one of them consumed twice; a consumer that names both outputs of one producer; an output without
    an entry; names in another order than the file."""
    ops = [op("z_in", 12, 76000, 15200), op("b_left", 40, 760000), op("a_right", 40, 38000), op("mid", 7, 7600),
           op("a_out", 3, 1), op("log", 0)]
    edges = [[0, 0, 1], [0, 1, 2], [0, 0, 3], [0, 1, 3], [1, 0, 4], [2, 0, 4], [3, 2, 4], [3, 0, 5], [0, 0, 5]]
    return {"ops": ops, "edges": edges}


def free_operations():
    """Operations that cost nothing and outputs without bytes: much happens at one time."""
    ops = [op("s", 0, 0), op("q", 10, 0), op("d", 0, 7600), op("c", 0, 0), op("b", 0, 0), op("a", 0, 0), op("t", 5, 0)]
    edges = [[0, 0, 2], [0, 0, 3], [0, 0, 4], [1, 0, 5], [2, 0, 5], [3, 0, 5], [4, 0, 6], [5, 0, 6]]
    return {"ops": ops, "edges": edges}


def fractions():
    """Costs and sizes that are no whole numbers: memory is counted in whole microseconds."""
    ops = [op("a", 10.75, 100.5), op("b", 0.4, 2000.25), op("c", 3.6, 7.5), op("d", 22.2, 5e6), op("e", 1.5)]
    return {"ops": ops, "edges": [[0, 0, 1], [0, 0, 2], [1, 0, 3], [2, 0, 3], [1, 0, 4], [3, 0, 4]]}


def both_passes():
    """Each layer's two passes move together, and there are two edges between groups in both directions."""
    layers = [("in", 30, 76e3), ("left", 200, 76e4), ("right", 180, 38e4), ("out", 90, 7600)]
    ops = [op(n, c, s, group=n, memory=2 * s) for n, c, s in layers]
    ops += [op("out/b", 170, 76e4, 38e4, group="out"), op("right/b", 350, 76e3, group="right"),
            op("left/b", 390, 76e3, group="left"), op("in/b", 60, group="in")]
    edges = [[0, 0, 1], [0, 0, 2], [1, 0, 3], [2, 0, 3], [3, 0, 4], [2, 0, 5], [4, 1, 5], [1, 0, 6], [4, 0, 6],
             [0, 0, 7], [6, 0, 7], [5, 0, 7]]
    return {"ops": ops, "edges": edges}


def random_graph(rng, ops, ties):
    """Any edges forward in a random order of the file; with ties, few different costs and sizes."""
    cost = (lambda: rng.choice([0, 10, 10, 20])) if ties else (lambda: rng.randrange(0, 5000))
    size = (lambda: rng.choice([0, 7600, 7600])) if ties else (lambda: rng.randrange(0, 10**8))
    names = ["n%d" % i for i in range(ops)]
    rng.shuffle(names)
    place = list(range(ops))
    rng.shuffle(place)
    rows = [op(names[i], cost(), *[size() for _ in range(rng.randrange(1, 4))]) for i in range(ops)]
    edges = []
    for c in range(1, ops):
        for _ in range(rng.randrange(0, 4)):
            p = rng.randrange(max(0, c - 8), c)
            edges.append([place[p], rng.randrange(0, 3), place[c]])
    return {"ops": rows, "edges": edges}


# ---------------------------------------------------------------- documents
def document(name, note, devices, graph, **constants):
    return {"format": "pacml-placement/1", "name": name, "note": note, "constants": dict(CONSTANTS, **constants),
            "devices": devices, "graph": graph}


def with_runs(pm, doc, placements):
    g = pm.Graph(doc["graph"])
    doc["runs"] = []
    for placement in placements:
        run = dict({"placement": placement}, **pm.simulate(g, placement, doc["devices"], doc["constants"]))
        run["penalised"] = [
            {"penalty": p, "limit_gb": limit, "cap_s": cap,
             "runtime_s": pm.penalised_s(run["runtime_us"], run["peak_bytes"], p, limit, cap)} for p, limit, cap in PENALTIES]
        doc["runs"].append(run)
    return doc


def all_placements(devices, ops):
    return [[k // devices**i % devices for i in range(ops)] for k in range(devices**ops)]


def attributes(pm, g, order):
    of = {i: k for k, ops in enumerate(g.groups) for i in ops}
    rows = []
    for k in order:
        ops, leaving = g.groups[k], 0
        for i in ops:
            used = {out for c, out in g.consumers[i].items() if of[c] != k}
            leaving += sum(g.out[i]) if len(ops) == 1 else sum(g.out[i][out] for out in used)
        rows.append([sum(g.cost[i] for i in ops), leaving, sum(g.memory[i] for i in ops)])
    return rows


def weights(rng, width, devices):
    def stack(*widths):
        return [[[[round(rng.uniform(-1, 1) / a**0.5, 3) for _ in range(b)] for _ in range(a)],
                 [round(rng.uniform(-0.1, 0.1), 3) for _ in range(b)]] for a, b in zip(widths, widths[1:])]
    parts = {"node": stack(width, width, width, width), "head": stack(8 * width, 16 * width, 8 * width, devices)}
    for name in ("down_f", "down_g", "up_f", "up_g"):
        parts[name] = stack(width, width, width)
    for name in ("anc_f", "anc_g", "desc_f", "desc_g", "par_f", "par_g"):
        parts[name] = stack(2 * width, 2 * width, 2 * width)
    return parts


def episode(pm, net, doc, rng, order, steps, use_mem=False, n_peers=None, network=None, penalty=(0.0, 11.0, 10.0), gamma=1.0):
    g, devices = pm.Graph(doc["graph"]), doc["devices"]
    ep = {"order": order, "attributes": attributes(pm, g, order), "use_mem": use_mem, "n_peers": n_peers, "gamma": gamma,
          "initial": [rng.randrange(devices) for _ in order], "actions": [rng.randrange(devices) for _ in range(steps)],
          "penalty": dict(zip(("penalty", "limit_gb", "cap_s"), penalty)),
          "returns": {"best_later": [], "improvement": [], "terminal": []}}
    ep.update(pm.replay_episode(g, ep, devices, doc["constants"]))
    if network:
        ep.update({"rounds": 3, "weights": network})
        for step, values in zip(ep["steps"], net.replay(g, ep)):
            step.update(values)
    return ep


def cases(pm, net):
    rng = random.Random(1)
    yield with_runs(pm, document("p01_outputs", "several outputs, the last one named counts; every placement", 2, two_towers()),
                    all_placements(2, 6))
    yield with_runs(pm, document("p02_free", "kinds of events and names decide what comes first", 3, free_operations()),
                    [[rng.randrange(3) for _ in range(7)] for _ in range(40)])
    yield with_runs(pm, document("p03_fractions", "memory, penalty and cap", 2, fractions()), all_placements(2, 5))
    graph = random_graph(rng, 30, True)
    yield with_runs(pm, document("p04_devices_by_text", "device 10 comes before device 2", 12, graph),
                    [[rng.randrange(12) for _ in range(30)] for _ in range(12)])
    yield with_runs(pm, document("p05_constants", "none of the constants is what it usually is", 3, random_graph(rng, 25, False),
                                 delta1_us=1.25, delta2_us=3.5, init_offset_us=11, bytes_per_us=20000),
                    [[rng.randrange(3) for _ in range(25)] for _ in range(8)])
    yield with_runs(pm, document("p06_groups", "forward and backward pass", 2, both_passes()),
                    [[d[0], d[1], d[2], d[3], d[3], d[2], d[1], d[0]] for d in all_placements(2, 4)])
    for i, (ops, devices, ties) in enumerate([(12, 2, True), (40, 4, True), (60, 8, False)]):
        yield with_runs(pm, document("p%02d_random" % (7 + i), "ties" if ties else "no ties", devices, random_graph(rng, ops, ties)),
                        [[rng.randrange(devices) for _ in range(ops)] for _ in range(10)])

    doc = document("q01_episode", "two rounds; memory as a feature; a penalty; rewards are discounted", 2, both_passes())
    kids = pm.Graph(doc["graph"]).group_edges()
    doc["episodes"] = [episode(pm, net, doc, rng, pm.kahn(kids), 8, use_mem=True, penalty=(2.0, 0.001, 0.01), gamma=0.9)]
    yield doc
    doc = document("q02_random_order", "a random order, and the two nearest parallel nodes only", 3, random_graph(rng, 14, True))
    order = list(range(14))
    rng.shuffle(order)
    doc["episodes"] = [episode(pm, net, doc, rng, order, 20, n_peers=2)]
    yield doc
    doc = document("q03_network", "the published network", 2, two_towers())
    kids = pm.Graph(doc["graph"]).group_edges()
    doc["episodes"] = [episode(pm, net, doc, rng, pm.kahn(kids), 6, network=weights(rng, 7, 2))]
    yield doc


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--oracle", type=pathlib.Path, required=True)
    sys.path.insert(0, str(parser.parse_args().oracle))
    import placement_min as pm
    import placement_net_min as net

    for doc in cases(pm, net):
        path = HERE / (doc["name"] + ".json")
        path.write_text(json.dumps(doc, separators=(",", ":")) + "\n")
        pm.replay(json.loads(path.read_text()), {})
        print("%-24s %3d runs %3d episodes %7d bytes" % (doc["name"], len(doc.get("runs", [])), len(doc.get("episodes", [])),
                                                          path.stat().st_size))


if __name__ == "__main__":
    main()
