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


class Layers:
    def __init__(self, tensors):
        self.weights = tensors

    def linear(self, name, x):
        weight = self.weights[name + ".weight"]
        biases = self.weights.get(name + ".bias", [0.0] * len(weight))
        return [sum(w * v for w, v in zip(row, x)) + bias for row, bias in zip(weight, biases)]

    def norm(self, name, x):
        mean = sum(x) / len(x)
        scale = 1 / math.sqrt(sum((v - mean) ** 2 for v in x) / len(x) + 1e-5)
        scales, shifts = self.weights[name + ".weight"], self.weights[name + ".bias"]
        return [(v - mean) * scale * w + b for v, w, b in zip(x, scales, shifts)]


class DenseNetwork(Layers):
    """head: dense."""

    def __init__(self, tensors, metadata):
        super().__init__(tensors)
        self.rounds = int(metadata["rounds"])
        self.half = int(metadata["message_width"]) // 2
        self.hidden = int(metadata["hidden_width"])
        self.node = int(metadata["node_width"])

    def layer(self, name, x):
        return self.linear(name, self.norm(name + "_norm", x))

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

    def check(self, case):
        """Pairs of what comes out and what should."""
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
            embedding = self.embed([case["node_features"][v] for v in members], edges)
            logits, value = self.decide(embedding, case["globals"][b], mask)
            yield from zip(logits, case["logits"][b])
            yield value, case["values"][b]


class EncodedNetwork(Layers):
    """Reads graphs by encoders."""

    def __init__(self, tensors, metadata):
        super().__init__(tensors)
        names = [i["name"] for i in json.loads(metadata["inputs"])]
        ending = "_node_decision"
        self.slots = [n.removesuffix(ending) for n in names if n.endswith(ending)]
        self.two_way = {
            slot: int(metadata[f"encoder.{slot}.blocks"])
            for slot in self.slots
            if metadata[f"encoder.{slot}.kind"] == "two_way"
        }

    def twice(self, name, x):
        return relu(self.linear(name + "1", relu(self.linear(name + "0", x))))

    def encode_two_way(self, slot, case):
        name = f"encoder.{slot}."
        base = []
        for x in case[slot + "_node_features"]:
            x = relu(self.linear(name + "base1", relu(self.linear(name + "base0", x))))
            base.append(self.linear(name + "base2", x))
        ends = case[slot + "_edge_src"], case[slot + "_edge_dst"]
        passes = []
        for heard_from, (tails, heads) in (("predecessors", ends), ("successors", ends[::-1])):
            x = base
            for _ in range(self.two_way[slot]):
                said = [self.twice(f"{name}{heard_from}.term", row) for row in x]
                x = []
                for v, row in enumerate(base):
                    heard = [said[tail] for tail, head in zip(tails, heads) if head == v]
                    if heard:
                        change = self.twice(f"{name}{heard_from}.total", total(heard, 0))
                        row = [a + b for a, b in zip(row, change)]
                    x.append(row)
            passes.append(x)
        return [along + against for along, against in zip(*passes)]

    def look_around(self, slot, case, nodes, members):
        """What is seen of the nodes `members` together."""
        if slot not in self.two_way:
            own = [nodes[v] for v in members]
            return mean(own, len(own[0])) + [max(column) for column in zip(*own)]
        sets = ["ancestors", "descendants", "others"] if slot + "_focus" in case else ["all"]
        out = []
        for which in sets:
            name = f"encoder.{slot}.{which}"
            column = case.get(f"{slot}_{which}")
            own = [nodes[v] for v in members if which == "all" or column[v] == [1.0]]
            terms = [self.twice(name + ".term", row) for row in own]
            out += self.twice(name + ".total", total(terms, len(nodes[0])))
        return out

    def context(self, case, encoded, b, agents):
        out = []
        for slot, nodes in encoded.items():
            members = [v for v, d in enumerate(case[slot + "_node_decision"]) if d == b]
            out += self.look_around(slot, case, nodes, members)
            if slot + "_focus" in case:
                out += nodes[case[slot + "_focus"][b]]
        if "agent" in case:
            out += [float(case["agent"][b] == agent) for agent in range(agents)]
        return out

    def encode(self, slot, case):
        """Embeddings of all nodes of a slot."""
        if slot in self.two_way:
            return self.encode_two_way(slot, case)
        name = f"encoder.{slot}."
        squash = lambda row: [math.copysign(math.log1p(abs(v)), v) for v in row]
        h = [self.linear(name + "input", squash(x)) for x in case[slot + "_node_features"]]
        ends = case.get(slot + "_edge_src", []), case.get(slot + "_edge_dst", [])
        edges = [squash(f) for f in case.get(slot + "_edge_features", [[]] * len(ends[0]))]
        block = 0
        while f"{name}block{block}.self.weight" in self.weights:
            layer = f"{name}block{block}."
            normed = [self.norm(layer + "self_norm", row) for row in h]
            sums = [self.linear(layer + "self", row) for row in normed]
            for heard_from, (tails, heads) in (("predecessors", ends), ("successors", ends[::-1])):
                if f"{layer}{heard_from}.weight" not in self.weights:
                    continue
                said = [self.linear(layer + heard_from, row) for row in normed]
                heard = [[] for _ in h]
                for tail, head, features in zip(tails, heads, edges):
                    message = said[tail]
                    if features:
                        of_edge = self.linear(f"{layer}{heard_from}_edge", features)
                        message = [a + b for a, b in zip(message, of_edge)]
                    heard[head].append(relu(message))
                width = len(sums[0])
                sums = [[a + b for a, b in zip(s, mean(m, width))] for s, m in zip(sums, heard)]
            outputs = [self.linear(layer + "output", relu(row)) for row in sums]
            h = [[a + b for a, b in zip(row, more)] for row, more in zip(h, outputs)]
            block += 1
        return [self.norm(name + "output_norm", row) for row in h]

    def agents(self, case, encoded, width):
        """What of a layer's `width` inputs nothing else accounts for."""
        if "agent" not in case:
            return 0
        return width - len(self.context(case, encoded, 0, 0))


class PerceptronNetwork(EncodedNetwork):
    """head: perceptron."""

    def check(self, case):
        """Pairs of what comes out and what should."""
        encoded = {slot: self.encode(slot, case) for slot in self.slots}
        for b, mask in enumerate(case["mask"]):
            own = case["globals"][b] if "globals" in case else []
            width = len(self.weights["first.weight"][0]) - len(own)
            seen = own + self.context(case, encoded, b, self.agents(case, encoded, width))
            hidden = relu(self.linear("second", relu(self.linear("first", seen))))
            logits = self.linear("logits", hidden)
            yield from zip((x if m else -1e9 for x, m in zip(logits, mask)), case["logits"][b])
            yield self.linear("value", hidden)[0], case["values"][b]


class CandidatesNetwork(EncodedNetwork):
    """head: candidates."""

    def check(self, case):
        """Pairs of what comes out and what should."""
        encoded = {slot: self.encode(slot, case) for slot in self.slots}
        width = len(self.weights["situation.weight"][0]) - len(case["situation"][0])
        agents = self.agents(case, encoded, width)
        first = 0
        for b, situation in enumerate(case["situation"]):
            context = self.context(case, encoded, b, agents)
            candidates = []
            for c, decision in enumerate(case["candidate_decision"]):
                if decision != b:
                    continue
                row = list(case["candidate_features"][c])
                if "candidate_node" in case:
                    row += encoded[self.slots[0]][case["candidate_node"][c]]
                hidden = relu(self.linear("first", row + context))
                candidates.append(relu(self.linear("second", hidden)))
            for row in candidates:
                yield self.linear("logits", row)[0], case["logits"][first]
                first += 1
            seen = relu(self.linear("situation", situation + context))
            seen += mean(candidates, 0) + [max(column) for column in zip(*candidates)]
            yield self.linear("value", relu(self.linear("state", seen)))[0], case["values"][b]


def relu(x):
    return [max(0.0, v) for v in x]


def mean(rows, width):
    return [sum(column) / len(rows) for column in zip(*rows)] if rows else [0.0] * width


def total(rows, width):
    return [sum(column) for column in zip(*rows)] if rows else [0.0] * width


def main(path):
    tensors, metadata = read_safetensors(path)
    assert metadata["outputs"] == "any", metadata
    kinds = {
        "dense": DenseNetwork,
        "candidates": CandidatesNetwork,
        "perceptron": PerceptronNetwork,
    }
    network = kinds[metadata["head"]](tensors, metadata)
    with open(path + ".reference.json", encoding="utf-8") as file:
        reference = json.load(file)
    for case in reference["cases"]:
        worst = max(abs(ours - theirs) for ours, theirs in network.check(case))
        assert worst <= reference["tolerance"], worst


main(sys.argv[1])
