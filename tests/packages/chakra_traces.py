"""Execution traces that protobuf's own Python package has written by Chakra's schema (et_def.proto,
version 0.0.4, of which the part that traces use is built here) are imported and placed, and every
node is there. Fails by an exception.

    chakra_traces.py PACML
"""

import json
import pathlib
import subprocess
import sys
import tempfile

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.internal import encoder

REQUIRES = ["google.protobuf"]

FIELD = descriptor_pb2.FieldDescriptorProto
COMPUTE, COLLECTIVE = 4, 7


def schema():
    """The messages by name. A field: its number, type, and of which message."""
    fields = {
        "AttributeProto": {"name": (1, FIELD.TYPE_STRING), "doc_string": (2, FIELD.TYPE_STRING),
                           "double_val": (3, FIELD.TYPE_DOUBLE), "int64_val": (9, FIELD.TYPE_INT64),
                           "uint64_val": (13, FIELD.TYPE_UINT64),
                           "sint64_val": (17, FIELD.TYPE_SINT64),
                           "fixed64_val": (21, FIELD.TYPE_FIXED64),
                           "bool_val": (27, FIELD.TYPE_BOOL),
                           "string_val": (29, FIELD.TYPE_STRING)},
        "GlobalMetadata": {"version": (1, FIELD.TYPE_STRING), "attr": (2, "AttributeProto*")},
        "IOInfo": {"values": (1, FIELD.TYPE_STRING), "shapes": (2, FIELD.TYPE_STRING),
                   "types": (3, FIELD.TYPE_STRING)},
        "Node": {"id": (1, FIELD.TYPE_UINT64), "name": (2, FIELD.TYPE_STRING),
                 "type": (3, FIELD.TYPE_INT32), "ctrl_deps": (4, FIELD.TYPE_UINT64, "*"),
                 "data_deps": (5, FIELD.TYPE_UINT64, "*"),
                 "start_time_micros": (6, FIELD.TYPE_UINT64),
                 "duration_micros": (7, FIELD.TYPE_UINT64), "inputs": (8, "IOInfo"),
                 "outputs": (9, "IOInfo"), "attr": (10, "AttributeProto*")},
    }
    file = descriptor_pb2.FileDescriptorProto(name="et_def.proto", package="ChakraProtoMsg",
                                              syntax="proto3")
    for message, members in fields.items():
        described = file.message_type.add(name=message)
        for name, (number, kind, *repeated) in members.items():
            field = described.field.add(name=name, number=number, label=FIELD.LABEL_OPTIONAL)
            if isinstance(kind, str):
                field.type = FIELD.TYPE_MESSAGE
                field.type_name = ".ChakraProtoMsg." + kind.rstrip("*")
            else:
                field.type = kind
            if name.endswith("_val"):  # alternatives, of which 0 is written, too
                if not described.oneof_decl:
                    described.oneof_decl.add(name="value")
                field.oneof_index = 0
            if repeated or (isinstance(kind, str) and kind.endswith("*")):
                field.label = FIELD.LABEL_REPEATED
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {name: message_factory.GetMessageClass(
        pool.FindMessageTypeByName("ChakraProtoMsg." + name)) for name in fields}


def trace_of(types, count):
    """A chain of layers, each of which is followed by a collective operation."""
    node, attribute = types["Node"], types["AttributeProto"]
    messages = [types["GlobalMetadata"](version="0.0.4", attr=[
        attribute(name="schema", string_val="1.0.3-chakra.0.0.4"),
        attribute(name="pid", uint64_val=4711)])]
    for layer in range(count):
        shape = f"[[{10 + layer}, {20 + layer}, 0, {1000 + layer}, 4, 'cuda:0']]"
        messages.append(node(
            id=2 * layer, name="aten::mm", type=COMPUTE, duration_micros=100 + layer,
            data_deps=[2 * layer - 2] if layer else [], ctrl_deps=[0] if layer else [],
            inputs=types["IOInfo"](values="[]", shapes="[]", types="[]"),
            outputs=types["IOInfo"](values=shape, shapes="[[8, 125]]", types="['Tensor(float)']"),
            attr=[attribute(name="is_cpu_op", bool_val=False),
                  attribute(name="op_schema", string_val="aten::mm(Tensor self, Tensor mat2)"),
                  attribute(name="rf_id", int64_val=-1)]))
        size = [attribute(name="comm_size", int64_val=4096 + layer),
                attribute(name="comm_size", uint64_val=4096 + layer),
                attribute(name="comm_size", sint64_val=4096 + layer),
                attribute(name="comm_size", fixed64_val=4096 + layer),
                attribute(name="comm_size", double_val=4096 + layer)][layer % 5]
        messages.append(node(
            id=2 * layer + 1, name="ALL_REDUCE", type=COLLECTIVE, duration_micros=50,
            data_deps=[2 * layer], attr=[attribute(name="comm_type", int64_val=0), size]))
    written = b""
    for message in messages:
        body = message.SerializeToString()
        written += encoder._VarintBytes(len(body)) + body
    return written


def main(pacml):
    count = 50
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "trace.0.et"
        trace.write_bytes(trace_of(schema(), count))
        out = pathlib.Path(folder) / "graph.json"
        printed = subprocess.run([pacml, "import", str(trace), "--out", str(out)], check=True,
                                 capture_output=True, text=True).stdout
        assert "all-reduce" in printed and "compute" in printed, printed
        graph = json.loads(out.read_text())
        assert [op["name"] for op in graph["ops"]] == [
            f"{'ALL_REDUCE' if i % 2 else 'aten::mm'}#{i}" for i in range(2 * count)]
        assert [op["cost_us"] for op in graph["ops"]] == [
            50 if i % 2 else 100 + i // 2 for i in range(2 * count)]
        assert [op["output_bytes"] for op in graph["ops"]] == [
            [4096 + i // 2] if i % 2 else [4 * (1000 + i // 2)] for i in range(2 * count)]
        # Of a layer: its all-reduce; the layer before it, and the first by control (or by data).
        assert len(graph["edges"]) == count + (count - 1) + (count - 2), len(graph["edges"])
        subprocess.run([pacml, "place", str(out), "--devices", "a100x4", "--out",
                        str(pathlib.Path(folder) / "placement.json")], check=True,
                       capture_output=True)
    print(f"{2 * count} nodes of protobuf's own writer were imported and placed")


main(sys.argv[1])
