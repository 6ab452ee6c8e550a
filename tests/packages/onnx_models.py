"""Imports the real models that the Python package onnx holds (without their weights' values), and
compares what is counted of them with what is published. Fails by an exception.

    onnx_models.py PACML
"""

import pathlib
import re
import subprocess
import sys
import tempfile

import onnx

REQUIRES = ["onnx"]

# Millions of parameters, and giga multiply-adds of an image of 224 x 224, of torchvision's table of
# models (num_params, GFLOPS of VGG19_Weights and ResNet50_Weights).
PUBLISHED = {"light_vgg19": (143.667, 19.63), "light_resnet50": (25.557, 4.09)}
TOLERANCE = 0.001


def figure(name, printed):
    return float(re.search(rf"^{re.escape(name)} +([0-9.]+)$", printed, re.M).group(1))


def with_functions():
    """Three layers, each a call of one function that the file brings along."""
    helper = onnx.helper
    function = helper.make_function(
        "own", "Layer", ["x", "w"], ["y"],
        [helper.make_node("MatMul", ["x", "w"], ["h"]),
         helper.make_node("Softmax", ["h"], ["s"]),
         helper.make_node("Mul", ["s", "h"], ["y"])],
        [helper.make_opsetid("", 17)], ["axis"])
    function.node[1].attribute.append(
        onnx.AttributeProto(name="axis", ref_attr_name="axis", type=onnx.AttributeProto.INT))
    tensor = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("Layer", [f"x{i}", f"w{i}"], [f"x{i + 1}"], domain="own", axis=-1)
         for i in range(3)],
        "layers", [tensor("x0", onnx.TensorProto.FLOAT, ["batch", 64])],
        [tensor("x3", onnx.TensorProto.FLOAT, ["batch", 64])],
        [helper.make_tensor(f"w{i}", onnx.TensorProto.FLOAT, [64, 64], [0.0] * 64 * 64)
         for i in range(3)])
    model = helper.make_model(graph, functions=[function], opset_imports=[
        helper.make_opsetid("", 17), helper.make_opsetid("own", 1)])
    onnx.checker.check_model(model)
    return model


def is_the_same_without_functions(pacml, folder):
    """What a call is put into the place of is what onnx itself puts there."""
    import onnx.inliner  # since 1.15

    tables = []
    called = with_functions()
    for name, model in [("called", called), ("inlined", onnx.inliner.inline_local_functions(called))]:
        assert len(model.functions) == (1 if name == "called" else 0)
        onnx.save(model, folder / f"{name}.onnx")
        printed = subprocess.run(
            [pacml, "import", str(folder / f"{name}.onnx"), "--batch", "16", "--name", "m",
             "--out", str(folder / name)], check=True, capture_output=True, text=True)
        assert "unknown" not in printed.stdout, printed.stdout
        assert figure("parameters, M", printed.stdout) == 0.012, printed.stdout
        graph = (folder / name / "m" / "graph.txt").read_text()
        # Of a layer's line, what it is called is its own.
        tables.append([re.sub(r"^(node\d+) -- [^()]*", r"\1 -- ", line).partition(") ")[0] + " -- " +
                       line.rpartition(" -- ")[2] for line in graph.splitlines()])
    assert tables[0] == tables[1] and len(tables[0]) > 9, tables


def main(pacml):
    folder = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
    files = sorted(folder.glob("*.onnx"))
    assert len(files) >= 2, folder
    with tempfile.TemporaryDirectory() as out:
        for file in files:
            printed = subprocess.run([pacml, "import", str(file), "--batch", "16", "--out", out],
                                     check=True, capture_output=True, text=True)
            assert "unknown" not in printed.stdout, printed.stdout
            assert printed.stderr == "", printed.stderr
            if file.stem in PUBLISHED:
                parameters, multiply_adds = PUBLISHED[file.stem]
                assert figure("parameters, M", printed.stdout) == parameters, printed.stdout
                counted = figure("multiply-adds a sample, G", printed.stdout)
                assert abs(counted / multiply_adds - 1) <= TOLERANCE, printed.stdout
        with tempfile.TemporaryDirectory() as apart:
            is_the_same_without_functions(pacml, pathlib.Path(apart))
        shown = subprocess.run([pacml, "graphs", "--profiles", out], check=True,
                               capture_output=True, text=True).stdout
        assert all(file.stem in shown for file in files), shown
    print(f"onnx {onnx.__version__}: {len(files)} models were imported")


main(sys.argv[1])
