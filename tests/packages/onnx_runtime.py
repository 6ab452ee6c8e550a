"""Runs exported ONNX policies in ONNX Runtime, on graphs of one to two thousand nodes, and compares
with the reference inside them. Fails by an exception.

    onnx_runtime.py EXPORT_EXAMPLES EXPORT.md

The document's own program is run on every one of them, too.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy
import onnxruntime

REQUIRES = ["numpy", "onnxruntime"]

TYPES = {"float32": numpy.float32, "int64": numpy.int64, "bool": bool}


def tensor(described, rows):
    values = numpy.array(rows, dtype=TYPES[described["type"]])
    return values if described["type"] == "int64" else values.reshape(len(rows), described["width"])


def check(path):
    """How many decisions, and graphs, came out as they should."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    metadata = session.get_modelmeta().custom_metadata_map
    inputs = json.loads(metadata["inputs"])
    assert [i["name"] for i in inputs] == [i.name for i in session.get_inputs()]
    reference = json.loads(metadata["reference"])
    decisions = 0
    graphs = 0
    for case in reference["cases"]:
        fed = {i["name"]: tensor(i, case[i["name"]]) for i in inputs}
        for ours, theirs in zip(session.run(["logits", "values"], fed),
                                (case["logits"], case["values"])):
            expected = numpy.array(theirs, dtype=numpy.float32)
            assert ours.shape == expected.shape, (ours.shape, expected.shape)
            worst = numpy.abs(ours - expected).max()
            assert worst <= reference["tolerance"], (path, worst)
        decisions += len(case["values"])
        graphs += sum(len(set(fed[n].tolist())) for n in fed if n.endswith(("node_graph", "node_decision")))
    return decisions, graphs


def program_of(document):
    """The one program in Python that a document shows."""
    [program] = re.findall(r"^```python\n(.*?)^```$", document.read_text(), re.MULTILINE | re.DOTALL)
    assert program.count('"policy.onnx"') == 1
    return program


def main(program, document):
    shown = program_of(pathlib.Path(document))
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, folder], check=True)
        files = sorted(pathlib.Path(folder).glob("*.onnx"))
        assert len(files) > 10
        counts = [check(str(path)) for path in files]
        for path in files:
            exec(shown.replace('"policy.onnx"', repr(str(path))), {})
    decisions, graphs = (sum(column) for column in zip(*counts))
    assert graphs >= 1000, graphs
    print(f"ONNX Runtime {onnxruntime.__version__}: {len(files)} policies, {decisions} decisions on "
          f"{graphs} graphs, all within the tolerance")


main(sys.argv[1], sys.argv[2])
