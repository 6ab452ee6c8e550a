"""Reads an exported safetensors policy with nothing but Python's standard library, computes the
network from its definition, and compares with FILE.reference.json. Fails by an exception."""

import json
import math
import struct
import sys


def read_safetensors(path):
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    metadata = header.pop("__metadata__")
    tensors = {}
    for name, entry in header.items():
        assert entry["dtype"] == "F32"
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        values = list(struct.unpack(f"<{(end - begin) // 4}f", data[begin:end]))
        if len(entry["shape"]) == 2:
            columns = entry["shape"][1]
            values = [values[i : i + columns] for i in range(0, len(values), columns)]
        tensors[name] = values
    return tensors, metadata


class Network:
    def __init__(self, tensors, metadata):
        self.weights = tensors
        self.rounds = int(metadata["rounds"])
        self.half = int(metadata["message_width"]) // 2
        self.hidden = int(metadata["hidden_width"])
        self.node = int(metadata["node_width"])

    def linear(self, name, x):
        rows = zip(self.weights[name + ".weight"], self.weights[name + ".bias"])
        return [sum(w * v for w, v in zip(row, x)) + bias for row, bias in rows]

    def layer(self, name, x):
        mean = sum(x) / len(x)
        scale = 1 / math.sqrt(sum((v - mean) ** 2 for v in x) / len(x) + 1e-5)
        scales, shifts = self.weights[name + "_norm.weight"], self.weights[name + "_norm.bias"]
        return self.linear(name, [(v - mean) * scale * w + b for v, w, b in zip(x, scales, shifts)])

    def embed(self, nodes, edges):
        """`nodes`: features; `edges`: (from, to, features)."""
        for r in range(self.rounds):
            width = self.node if r + 1 == self.rounds else self.hidden
            halves = [relu(self.layer(f"round{r}.node", x)) for x in nodes]
            incoming = [[] for _ in nodes]
            for src, dst, features in edges:
                incoming[dst].append(halves[src] + relu(self.layer(f"round{r}.edge", features)))
            for v, messages in enumerate(incoming):
                if messages:
                    messages.append(halves[v] + [0.0] * self.half)
            nodes = [
                mean([relu(self.layer(f"round{r}.reduce", m)) for m in messages], width)
                for messages in incoming
            ]
        return mean(nodes, self.node)

    def decide(self, embedding, globals_, mask):
        decision = self.layer("graph", globals_ + [float(m) for m in mask])
        hidden = relu(self.linear("readout", embedding + decision))
        logits = self.linear("logits", hidden)
        return [x if m else -1e9 for x, m in zip(logits, mask)], self.linear("value", hidden)[0]


def relu(x):
    return [max(0.0, v) for v in x]


def mean(rows, width):
    return [sum(column) / len(rows) for column in zip(*rows)] if rows else [0.0] * width


def main(path):
    tensors, metadata = read_safetensors(path)
    assert metadata["normalisation"] == "none", metadata
    network = Network(tensors, metadata)
    with open(path + ".reference.json", encoding="utf-8") as file:
        reference = json.load(file)
    for case in reference["cases"]:
        for b, mask in enumerate(case["mask"]):
            members = [v for v, graph in enumerate(case["node_graph"]) if graph == b]
            place = {v: i for i, v in enumerate(members)}
            edges = [
                (place[src], place[dst], features)
                for src, dst, features in zip(
                    case["edge_src"], case["edge_dst"], case["edge_features"]
                )
                if src in place
            ]
            embedding = network.embed([case["node_features"][v] for v in members], edges)
            logits, value = network.decide(embedding, case["globals"][b], mask)
            pairs = list(zip(logits, case["logits"][b])) + [(value, case["values"][b])]
            worst = max(abs(ours - theirs) for ours, theirs in pairs)
            assert worst <= reference["tolerance"], worst


main(sys.argv[1])
