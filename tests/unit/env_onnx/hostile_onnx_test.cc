#include <sstream>
#include <string>

#include "common/result.h"
#include "env/onnx/import_onnx.h"
#include "tests/support/catch.h"
#include "tests/support/onnx_models.h"

namespace pacml::env {
namespace {

using testing::OnnxModel;

std::string refusal(const std::string& bytes) {
  std::istringstream in(bytes);
  try {
    static_cast<void>(import_onnx(in, "bad.onnx", {.batch = 4}));
  } catch (const UserError& error) {
    CHECK_THAT(error.what(), Catch::StartsWith("bad.onnx: "));
    CHECK_THAT(error.what(), !Catch::Contains("\n"));
    return error.what();
  }
  return "it was read";
}

std::string refusal_of(OnnxModel& model) { return refusal(model.bytes()); }

}  // namespace

TEST_CASE("what is no ONNX model is refused") {
  CHECK_THAT(refusal(""), Catch::Contains("holds no graph"));
  CHECK_THAT(refusal("node1 -- this is text"), Catch::Contains("no ONNX model"));
  const std::string whole = testing::onnx_alexnet();
  // The last few bytes are of the operator set, which may be missing.
  for (std::size_t size = 1; size + 8 < whole.size(); size += 7) {
    CHECK(refusal(whole.substr(0, size)) != "it was read");
  }
}

TEST_CASE("constants that do not fit are folded into nothing") {
  // More operands than the operator has, of which no element goes with the result's.
  for (const OnnxModel::Extents& further : {OnnxModel::Extents{}, OnnxModel::Extents{1, 2}}) {
    OnnxModel m;
    const std::string x = m.input("x", {4});
    m.output(
        m.add("Add", {x, m.add("Neg", {m.integers("s", {1, 2, 3, 4}), m.integers("e", further)})}));
    CHECK(refusal_of(m) != "");
  }
  OnnxModel backwards;
  const std::string none = backwards.integers("none", {});
  backwards.output(
      backwards.add("Slice", {none, backwards.integers("from", {0}), backwards.integers("to", {-9}),
                              backwards.integers("axes", {0}), backwards.integers("steps", {-1})}));
  CHECK(refusal_of(backwards) != "");
}

TEST_CASE("a number that should be one, and is none or several, is refused") {
  OnnxModel m;
  const std::string x = m.input("x", {1, 8});
  const std::string parts = m.add("SplitToSequence", {x, m.weight("split", {1, 0}, 7)});
  m.output(parts);
  CHECK_THAT(refusal_of(m), Catch::Contains("should hold one number, not 0"));
  OnnxModel at;
  const std::string sequence = at.add("SplitToSequence", {at.input("x", {1, 8})});
  at.output(at.add("SequenceAt", {sequence, at.integers("index", {})}));
  CHECK_THAT(refusal_of(at), Catch::Contains("should hold one number, not 0"));
}

TEST_CASE("a cycle is refused") {
  OnnxModel m;
  const std::string x = m.input("x", {4, 16});
  const std::string y = m.add("Add", {x, "Relu2_0"});
  m.output(m.add("Relu", {y}));
  CHECK_THAT(refusal_of(m), Catch::Contains("cycle"));
}

TEST_CASE("tensors that are huge, negative, or of no numbers are refused") {
  for (const OnnxModel::Extents& extents : {OnnxModel::Extents{1, INT64_C(1) << 62},
                                            {1, 1 << 20, 1 << 20, 1 << 20},
                                            {1, -3},
                                            OnnxModel::Extents(40, 1)}) {
    OnnxModel m;
    m.output(m.add("Relu", {m.input("x", extents)}));
    CHECK(refusal_of(m) != "it was read");
    OnnxModel weights;
    const std::string x = weights.input("x", {1, 3});
    weights.output(weights.add("MatMul", {x, weights.weight("w", extents)}));
    CHECK(refusal_of(weights) != "it was read");
  }
  OnnxModel text;
  text.output(text.add("Relu", {text.input("x", {1, 3}, onnx::TensorProto::STRING)}));
  CHECK_THAT(refusal_of(text), Catch::Contains("holds no numbers"));
}

TEST_CASE("shapes that do not go together are refused by the name of the node") {
  OnnxModel m;
  m.output(m.gemm(m.input("x", {4, 17}), 16, 8));
  CHECK_THAT(refusal_of(m), Catch::Contains("Gemm \"Gemm1\"") && Catch::Contains("4x17"));
  OnnxModel window;
  window.output(window.conv(window.input("x", {1, 3, 4, 4}), 3, 8, 7));
  CHECK_THAT(refusal_of(window), Catch::Contains("does not fit"));
}

TEST_CASE("names that nothing gives, and names given twice, are refused") {
  OnnxModel missing;
  missing.output(missing.add("Add", {missing.input("x", {4}), "nowhere"}));
  CHECK_THAT(refusal_of(missing), Catch::Contains("nothing gives the tensor \"nowhere\""));
  OnnxModel twice;
  const std::string x = twice.input("x", {4});
  twice.output(twice.add("Relu", {x}));
  twice.add("Relu", {x});
  twice.last().set_output(0, "Relu1_0");
  CHECK_THAT(refusal_of(twice), Catch::Contains("given twice"));
}

TEST_CASE("weights may lie in files that are not there, shapes may not") {
  OnnxModel m;
  const std::string x = m.input("x", {4, 16});
  const std::string w = m.weight("w", {16, 8});
  m.graph().mutable_initializer(0)->set_data_location(onnx::TensorProto::EXTERNAL);
  m.output(m.add("MatMul", {x, w}));
  CHECK(refusal_of(m) == "it was read");
  OnnxModel shape;
  const std::string y = shape.input("x", {4, 16});
  shape.output(shape.add("Reshape", {y, shape.weight("s", {2}, onnx::TensorProto::INT64)}));
  CHECK_THAT(refusal_of(shape), Catch::Contains("which the file does not hold"));
}

TEST_CASE("open axes are asked for by name") {
  OnnxModel m;
  const std::string x = m.input("x", {1, 16});
  m.graph()
      .mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(1)
      ->set_dim_param("steps");
  m.output(m.add("Relu", {x}));
  CHECK_THAT(refusal_of(m), Catch::Contains("--dim steps=N"));
  std::istringstream in(m.bytes());
  CHECK_THROWS_WITH(import_onnx(in, "bad.onnx", {.batch = 1, .extents = {{"step", 3}}}),
                    "bad.onnx: it leaves open no axis \"step\"; did you mean 'steps'?");
}

TEST_CASE("many empty messages are refused before they fill the memory") {
  // Two bytes each in the file, hundreds in memory.
  std::string nodes;
  for (int i = 0; i < 2'000'000; ++i) nodes += std::string("\x0a\x00", 2);
  onnx::ModelProto model;
  std::string bytes = model.SerializeAsString();
  bytes += '\x3a';  // the graph
  std::uint64_t size = nodes.size();
  while (size >= 128) {
    bytes += static_cast<char>((size & 127) | 128);
    size >>= 7;
  }
  bytes += static_cast<char>(size);
  CHECK_THAT(refusal(bytes + nodes), Catch::Contains("more than 256 MiB"));
}

TEST_CASE("graphs inside graphs are read to a depth, and refused beyond") {
  const auto [depth, wanted] = GENERATE(table<int, std::string>(
      {{14, "it was read"},
       {15, "bad.onnx: its graphs are within one another, more than 16 deep"},
       {60, "bad.onnx: its graphs are within one another, more than 16 deep"}}));
  onnx::GraphProto inner;
  for (int i = 0; i < depth; ++i) {
    onnx::GraphProto outer;
    onnx::AttributeProto& body = *outer.add_node()->add_attribute();
    body.set_name("body");
    *body.mutable_g() = inner;
    inner = outer;
  }
  OnnxModel m;
  const std::string x = m.gemm(m.input("x", {4, 16}), 16, 16);
  const std::string looped = m.add("Loop", {"", "", x});
  onnx::AttributeProto& body = *m.last().add_attribute();
  body.set_name("body");
  *body.mutable_g() = inner;
  m.output(looped);
  CHECK(refusal_of(m) == wanted);
}

TEST_CASE("functions that call themselves, or grow without an end, are refused") {
  OnnxModel m;
  const std::string x = m.input("x", {4, 16});
  SECTION("in a circle") {
    OnnxModel::call(m.function("A", {"x"}, {"y"}), "B", {"x"}, {"y"}, "own");
    OnnxModel::call(m.function("B", {"x"}, {"y"}), "A", {"x"}, {"y"}, "own");
    m.output(m.call_many("A", {x}, 1)[0]);
    CHECK_THAT(refusal_of(m), Catch::Contains("more than 16 deep"));
  }
  SECTION("tenfold with each level") {
    for (int level = 0; level < 12; ++level) {
      auto& body = m.function("F" + std::to_string(level), {"x"}, {"y"});
      for (int i = 0; i < 10; ++i) {
        OnnxModel::call(body, level == 11 ? "Exp" : "F" + std::to_string(level + 1), {"x"},
                        {"y" + std::to_string(i)}, level == 11 ? "" : "own");
      }
    }
    m.output(m.call_many("F0", {x}, 1)[0]);
    CHECK_THAT(refusal_of(m), Catch::Contains("more than 200 000 nodes"));
  }
  SECTION("by what calls hand on") {
    auto& body = m.function("F", {"x"}, {"y"});
    for (int i = 0; i < 100; ++i) {
      auto& setting =
          *OnnxModel::call(body, "Exp", {"x"}, {"y" + std::to_string(i)}).add_attribute();
      setting.set_name("s");
      setting.set_ref_attr_name("s");
    }
    for (int i = 0; i < 100; ++i) {
      m.call_many("F", {x}, 1);
      m.set("s", OnnxModel::Extents(8000, INT64_MAX));
    }
    m.output("F1_0");
    CHECK_THAT(refusal_of(m), Catch::Contains("256 MiB in their places"));
  }
  SECTION("with less or more than they have") {
    OnnxModel::call(m.function("F", {"x", "w"}, {"y"}), "MatMul", {"x", "w"}, {"y"});
    m.output(m.call_many("F", {x}, 2)[1]);
    CHECK(refusal_of(m) != "it was read");
  }
}

TEST_CASE(
    "sequences of too many parts, of other sizes or without the one that is asked for are "
    "refused") {
  const auto refused = [](std::int64_t width, const OnnxModel::Extents& parts, std::int64_t at) {
    OnnxModel m;
    const std::string all =
        m.add("SplitToSequence", {m.input("x", {width}), m.integers("parts", parts)});
    if (parts.size() == 1) m.graph().mutable_initializer()->rbegin()->clear_dims();
    m.output(m.add("SequenceAt", {all, m.integers("at", {at})}));
    return refusal_of(m);
  };
  CHECK_THAT(refused(INT64_C(1) << 40, {1}, 0), Catch::Contains("more than 1024 parts"));
  CHECK_THAT(refused(8, {0}, 0), Catch::Contains("a part cannot have 0"));
  CHECK_THAT(refused(8, {3, 4}, 0), Catch::Contains("do not add up to 8"));
  CHECK_THAT(refused(8, {9, -1}, 0), Catch::Contains("a part cannot have -1"));
  CHECK_THAT(refused(8, {4}, 2), Catch::Contains("there is no part 2 of 2"));
  CHECK_THAT(refused(8, {4}, -3), Catch::Contains("there is no part -3 of 2"));
  CHECK(refused(8, {3}, 2) == "it was read");
}

}  // namespace pacml::env
