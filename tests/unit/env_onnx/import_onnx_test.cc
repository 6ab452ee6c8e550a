#include "env/onnx/import_onnx.h"

#include <map>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "env/graph/job_graph.h"
#include "env/graph/zoo/cost_model.h"
#include "env/graph/zoo/zoo.h"
#include "tests/support/catch.h"
#include "tests/support/onnx_models.h"

namespace pacml::env {
namespace {

using testing::OnnxModel;

ImportedModel import(const std::string& bytes, const OnnxImport& setting = {}) {
  std::istringstream in(bytes);
  return import_onnx(in, "model.onnx", setting);
}

const ImportedOp& op_of(const ImportedModel& model, const std::string& type) {
  for (const ImportedOp& op : model.ops) {
    if (op.type == type) return op;
  }
  FAIL("there is no " << type);
  return model.ops.front();
}

}  // namespace

TEST_CASE("a small model's arithmetic, parameters and sizes are those worked out by hand") {
  OnnxModel m;
  const std::string x = m.input("images", {0, 3, 8, 8});
  const std::string y = m.max_pool(m.add("Relu", {m.conv(x, 3, 4, 3)}), 2, 2);
  m.output(m.gemm(m.add("Flatten", {y}), 4 * 3 * 3, 10));
  const ImportedModel model = import(m.bytes(), {.batch = 2});

  REQUIRE(model.ops.size() == 5);  // data, and all but the view
  CHECK(model.batch == 2);
  const ImportedOp& conv = model.ops[1];
  CHECK(conv.parameters == 4 * 3 * 3 * 3 + 4);
  CHECK(conv.multiply_adds == 2 * (4 * 6 * 6) * (3 * 3 * 3));
  CHECK(conv.output_bytes == 4 * 2 * 4 * 6 * 6);
  CHECK(conv.work.forward.flops == 2 * conv.multiply_adds);
  CHECK(conv.work.forward.memory_bytes == 4 * (2 * 3 * 8 * 8 + 112 + 2 * 4 * 6 * 6));
  // Of data no gradient is needed, so there is one product back.
  CHECK(conv.work.backward.flops == conv.work.forward.flops);
  const ImportedOp& gemm = model.ops[4];
  CHECK(gemm.parameters == 36 * 10 + 10);
  CHECK(gemm.multiply_adds == 2 * 36 * 10);
  CHECK(gemm.work.backward.flops == 2 * gemm.work.forward.flops);
  CHECK(gemm.inputs == std::vector<int>{3});
  CHECK(model.parameters() == 112 + 370);
  CHECK(model.multiply_adds() == (4 * 6 * 6) * 27 + 360);
}

TEST_CASE("the built-in models cost the same, op by op, when they come as ONNX") {
  const std::map<std::string, std::string> files = {{"alexnet", testing::onnx_alexnet()},
                                                    {"resnet18", testing::onnx_resnet18()}};
  for (const auto& [name, bytes] : files) {
    INFO(name);
    const int batch = zoo_batch(name);
    const zoo::Network network = zoo_network(name, batch);
    const ImportedModel model = import(bytes, {.batch = batch});
    CHECK(model.parameters() == network.parameters());
    CHECK(model.multiply_adds() == network.multiply_adds());
    // Data and the loss are no part of a file, and flattening is a view.
    std::vector<const zoo::Layer*> layers;
    for (const zoo::Layer& layer : network.layers) {
      if (layer.description != "Images" && layer.description != "Flatten" &&
          layer.description != "SoftmaxCrossEntropy") {
        layers.push_back(&layer);
      }
    }
    REQUIRE(model.ops.size() == layers.size() + 1);
    std::map<std::pair<double, double>, int> differences;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const auto times = [](const zoo::Work& forward, const zoo::Work& backward) {
        return std::pair(zoo::time_ms(forward, zoo::a100()), zoo::time_ms(backward, zoo::a100()));
      };
      ++differences[times(layers[i]->forward, layers[i]->backward)];
      --differences[times(model.ops[i + 1].work.forward, model.ops[i + 1].work.backward)];
    }
    for (const auto& [times, difference] : differences) {
      INFO(times.first << " ms, " << times.second << " ms");
      CHECK(difference == 0);
    }
  }
}

TEST_CASE("a mini-batch that the file fixes is made larger, parameters are not") {
  const auto linear = [](std::int64_t samples) {
    OnnxModel m;
    m.output(m.gemm(m.input("x", {samples, 16}), 16, 8));
    return m.bytes();
  };
  const ImportedModel open = import(linear(0), {.batch = 12});
  const ImportedModel fixed = import(linear(4), {.batch = 12});
  CHECK(fixed.batch == 12);
  CHECK(fixed.multiply_adds() == open.multiply_adds());
  CHECK(fixed.parameters() == open.parameters());
  CHECK(fixed.ops[1].output_bytes == open.ops[1].output_bytes);
  CHECK(fixed.ops[1].work.forward.memory_bytes == open.ops[1].work.forward.memory_bytes);
  CHECK(import(linear(4)).batch == 4);
  CHECK(import(linear(0)).batch == 32);
}

TEST_CASE("shapes that are computed of shapes are followed") {
  // As exporters write x.reshape(x.shape[0], -1).
  OnnxModel m;
  const std::string x = m.input("x", {0, 6, 5});
  const std::string shape = m.add("Shape", {x});
  const std::string first = m.add("Gather", {shape, m.integers("zero", {0})});
  const std::string wanted = m.add("Concat", {first, m.integers("rest", {-1})});
  m.set("axis", 0);
  m.output(m.gemm(m.add("Reshape", {x, wanted}), 30, 7));
  const ImportedModel model = import(m.bytes(), {.batch = 3});
  REQUIRE(model.ops.size() == 2);
  CHECK(model.ops[1].multiply_adds == 3 * 30 * 7);
}

TEST_CASE("products of data have no parameters, and a table of rows has") {
  OnnxModel m;
  const std::string ids = m.input("ids", {0, 5}, onnx::TensorProto::INT64);
  const std::string rows = m.add("Gather", {m.weight("table", {100, 16}), ids});
  const std::string turned = m.add("Transpose", {rows});
  m.set("perm", OnnxModel::Extents{0, 2, 1});
  const std::string scores = m.add("Softmax", {m.add("MatMul", {rows, turned})});
  m.output(m.add("MatMul", {scores, rows}));
  const ImportedModel model = import(m.bytes(), {.batch = 2});
  CHECK(op_of(model, "Gather").parameters == 1600);
  const ImportedOp& product = op_of(model, "MatMul");
  CHECK(product.parameters == 0);
  CHECK(product.multiply_adds == 2 * 5 * 5 * 16);
  CHECK(product.work.backward.flops == 2 * product.work.forward.flops);
  CHECK(model.parameters() == 1600);
}

TEST_CASE("weights that are used twice are counted once") {
  OnnxModel m;
  const std::string ids = m.input("ids", {0, 5}, onnx::TensorProto::INT64);
  const std::string table = m.weight("table", {100, 16});
  const std::string rows = m.add("Gather", {table, ids});
  const std::string turned = m.add("Transpose", {table});
  m.output(m.add("MatMul", {rows, turned}));
  const ImportedModel model = import(m.bytes(), {.batch = 2});
  CHECK(op_of(model, "Gather").parameters == 1600);
  CHECK(op_of(model, "MatMul").parameters == 0);
  CHECK(op_of(model, "MatMul").work.forward.memory_bytes == 4 * (2 * 5 * 16 + 1600 + 2 * 5 * 100));
}

TEST_CASE("a recurrent layer has the weights of its gates and directions") {
  OnnxModel m;
  const std::string x = m.input("x", {7, 3, 16});  // steps, samples, width
  m.output(m.add_many(
      "LSTM", {x, m.weight("w", {2, 32, 16}), m.weight("r", {2, 32, 8}), m.weight("b", {2, 64})},
      3)[0]);
  const ImportedModel model = import(m.bytes());
  CHECK(model.ops[1].parameters == 2 * (32 * 16 + 32 * 8 + 64));
  CHECK(model.ops[1].multiply_adds == 7 * 3 * 2 * 32 * (16 + 8));
  CHECK(model.ops[1].output_bytes == 4 * 7 * 2 * 3 * 8);
}

TEST_CASE("what depends on nothing that is trained has no backward pass") {
  OnnxModel m;
  const std::string x = m.input("x", {4, 16});
  const std::string scaled = m.add("Tanh", {x});
  m.output(m.gemm(scaled, 16, 8));
  const ImportedModel model = import(m.bytes());
  CHECK(model.ops[1].work.backward.memory_bytes == 0);
  CHECK(model.ops[2].work.backward.flops == model.ops[2].work.forward.flops);
}

TEST_CASE("an operator that is not known costs the memory it touches, and is told") {
  OnnxModel m;
  const std::string x = m.gemm(m.input("x", {4, 16}), 16, 16);
  const std::string y = m.add("Wobble", {x});
  m.last().set_domain("my.domain");
  m.output(m.gemm(y, 16, 8));
  const ImportedModel model = import(m.bytes());
  CHECK(model.ops[2].costed_as == kUnknownCost);
  CHECK(model.ops[2].type == "my.domain::Wobble");
  CHECK(model.ops[2].work.forward.memory_bytes == 4 * (64 + 64));
  CHECK(model.ops[3].multiply_adds == 4 * 16 * 8);
}

TEST_CASE("a name of the standard's in another domain is another operator") {
  for (const char* type : {"Shape", "Size"}) {
    OnnxModel m;
    const std::string x = m.gemm(m.input("x", {4, 16}), 16, 16);
    const std::string y = m.add(type, {x});
    m.last().set_domain("my.domain");
    m.output(m.gemm(y, 16, 8));
    const ImportedModel model = import(m.bytes());
    REQUIRE(model.ops.size() == 4);
    CHECK(model.ops[2].costed_as == kUnknownCost);
    CHECK(model.ops[2].type == std::string("my.domain::") + type);
  }
}

TEST_CASE("a slice without starts is what it is taken of") {
  OnnxModel m;
  const std::string none = m.integers("none", {});
  const std::string sizes =
      m.add("Slice", {m.integers("sizes", {16, 4}), none, none, none, m.integers("steps", {})});
  const std::string x = m.add("Reshape", {m.input("x", {4, 16}), sizes});
  m.output(m.gemm(x, 4, 8));
  CHECK(import(m.bytes()).multiply_adds() == 4 * 4 * 8);  // of a sample
}

TEST_CASE("what does not lead to an output is left out, and several ends are joined") {
  OnnxModel m;
  const std::string x = m.gemm(m.input("x", {4, 16}), 16, 16);
  m.add("Tanh", {x});
  m.output(m.add("Relu", {x}));
  m.output(m.add("Sigmoid", {x}));
  const ImportedModel model = import(m.bytes());
  REQUIRE(model.ops.size() == 5);
  CHECK(model.ops.back().type == "Outputs");
  CHECK(model.ops.back().inputs == std::vector<int>{2, 3});
}

TEST_CASE("16-bit numbers are half as large, and multiplied where that is fastest") {
  OnnxModel m;
  const std::string x = m.input("x", {4, 16}, onnx::TensorProto::FLOAT16);
  m.output(m.add("MatMul", {x, m.weight("w", {16, 8}, onnx::TensorProto::FLOAT16)}));
  const ImportedOp op = import(m.bytes()).ops[1];
  CHECK(op.parameter_bytes == 2 * 128);
  CHECK(op.output_bytes == 2 * 32);
  CHECK(op.work.forward.flops == 0);
  CHECK(op.work.forward.half_flops == 2 * 4 * 16 * 8);
}

TEST_CASE("a group of convolutions, a transposed one, and a sum over letters") {
  OnnxModel m;
  const std::string x = m.input("x", {1, 8, 10, 10});
  const std::string grouped = m.add("Conv", {x, m.weight("w", {8, 1, 3, 3})});
  m.set("group", 8);
  const std::string larger = m.add("ConvTranspose", {grouped, m.weight("t", {8, 4, 2, 2})});
  m.set("strides", OnnxModel::Extents{2, 2});
  const std::string sum = m.add("Einsum", {larger, m.weight("e", {4, 5})});
  onnx::AttributeProto& equation = *m.last().add_attribute();
  equation.set_name("equation");
  equation.set_s("bchw,cd->bdhw");
  m.output(sum);
  const ImportedModel model = import(m.bytes());
  CHECK(model.ops[1].multiply_adds == 8 * 8 * 8 * 9);
  CHECK(model.ops[2].output_bytes == 4 * 4 * 16 * 16);
  CHECK(model.ops[2].multiply_adds == (8 * 8 * 8) * (4 * 2 * 2));
  CHECK(model.ops[3].multiply_adds == 16 * 16 * 4 * 5);
  CHECK(model.ops[3].output_bytes == 4 * 5 * 16 * 16);
}

TEST_CASE("what the graphs of a branch read of the graph around them is part of the model") {
  OnnxModel m;
  const std::string x = m.input("x", {4, 16});
  const std::string hidden = m.gemm(x, 16, 32);
  const std::string condition = m.input("is_long", {}, onnx::TensorProto::BOOL);
  const std::string w = m.weight("w", {32, 8});
  m.output(m.add("If", {condition}));
  for (const char* name : {"then_branch", "else_branch"}) {
    onnx::AttributeProto& branch = *m.last().add_attribute();
    branch.set_name(name);
    onnx::NodeProto& product = *branch.mutable_g()->add_node();
    product.set_op_type("MatMul");
    product.add_input(hidden);
    product.add_input(w);
    product.add_output("inner");
    onnx::ValueInfoProto& output = *branch.mutable_g()->add_output();
    output.set_name("inner");
    onnx::TypeProto_Tensor& type = *output.mutable_type()->mutable_tensor_type();
    type.set_elem_type(onnx::TensorProto::FLOAT);
    for (const int extent : {4, 8}) type.mutable_shape()->add_dim()->set_dim_value(extent);
  }
  const ImportedModel model = import(m.bytes());
  const ImportedOp& branch = op_of(model, "If");
  CHECK(branch.costed_as == kUnknownCost);
  CHECK(branch.inputs.size() == 2);  // the condition and what the layer puts out
  CHECK(branch.parameters == 32 * 8);
  CHECK(branch.output_bytes == 4 * 4 * 8);
  CHECK(op_of(model, "Gemm").parameters == 16 * 32 + 32);
}

TEST_CASE("a name that a branch has of its own is not the one outside") {
  OnnxModel m;
  const std::string x = m.input("x", {4, 16});
  m.output(m.add("Loop", {"", "", x}));
  onnx::AttributeProto& body = *m.last().add_attribute();
  body.set_name("body");
  body.mutable_g()->add_input()->set_name("carried");
  onnx::NodeProto& relu = *body.mutable_g()->add_node();
  relu.set_op_type("Relu");
  relu.add_input("carried");
  relu.add_output("next");
  body.mutable_g()->add_output()->set_name("next");
  const ImportedModel model = import(m.bytes());
  REQUIRE(model.ops.size() == 2);
  CHECK(model.ops[1].output_bytes == 4 * 4 * 16);
}

namespace {

// An input of two axes that are open and called so.
std::string open_input(OnnxModel& m, const std::string& name, const std::string& first,
                       const std::string& second) {
  m.input(name, {0, 0, 8});
  auto& shape =
      *m.graph().mutable_input()->rbegin()->mutable_type()->mutable_tensor_type()->mutable_shape();
  shape.mutable_dim(0)->set_dim_param(first);
  shape.mutable_dim(1)->set_dim_param(second);
  return name;
}

}  // namespace

TEST_CASE("the mini-batch is the axis that is named after it, wherever it stands") {
  OnnxModel m;
  m.output(m.add("Relu", {open_input(m, "x", "steps", "Batch_size")}));
  const ImportedModel model = import(m.bytes(), {.batch = 6, .extents = {{"steps", 5}}});
  CHECK(model.batch == 6);
  CHECK(model.batch_axes == std::set<std::string>{"Batch_size"});
  CHECK(model.ops[0].output_bytes == 4 * 5 * 6 * 8);
  CHECK_THROWS_WITH(import(m.bytes(), {.batch = 6}), Catch::Contains("say --dim steps=N"));
  CHECK(import(m.bytes(), {.extents = {{"steps", 5}, {"Batch_size", 3}}}).batch == 3);
  CHECK_THROWS_WITH(import(m.bytes(), {.batch = 6, .extents = {{"Batch_size", 3}}}),
                    "model.onnx: its axis \"Batch_size\" is the mini-batch, which both --batch and "
                    "--dim say");
  OnnxModel unnamed;
  unnamed.output(unnamed.add("Relu", {open_input(unnamed, "x", "rows", "columns")}));
  const ImportedModel first = import(unnamed.bytes(), {.extents = {{"columns", 2}}});
  CHECK(first.batch_axes == std::set<std::string>{"rows"});
  CHECK(first.ops[0].output_bytes == 4 * 32 * 2 * 8);
}

TEST_CASE("states that a recurrent layer begins with, scales and shapes are no parameters") {
  OnnxModel m;
  const std::string x = m.input("x", {7, 3, 16});
  m.output(
      m.add_many("LSTM",
                 {x, m.weight("w", {1, 32, 16}), m.weight("r", {1, 32, 8}), m.weight("b", {1, 64}),
                  "", m.weight("h", {1, 3, 8}), m.weight("c", {1, 3, 8}), m.weight("p", {1, 24})},
                 3)[0]);
  CHECK(import(m.bytes()).parameters() == 32 * 16 + 32 * 8 + 64 + 24);

  OnnxModel scaled;
  const std::string y = scaled.input("x", {4, 16});
  const std::string wide =
      scaled.add("DequantizeLinear", {scaled.weight("q", {8, 16}, onnx::TensorProto::INT8),
                                      scaled.weight("s", {8}), scaled.weight("z", {8}, 3)});
  const std::string laid = scaled.add("Reshape", {wide, scaled.integers("shape", {16, 8})});
  scaled.output(scaled.add("MatMul", {y, laid}));
  CHECK(import(scaled.bytes()).parameters() == 8 * 16);
}

TEST_CASE("products of 8-bit numbers count as products, and are as large as they are") {
  OnnxModel m;
  const std::string x = m.input("x", {4, 16});
  const std::string scale = m.weight("scale", {});
  const std::string zero = m.weight("zero", {}, onnx::TensorProto::INT8);
  const std::string q = m.add("QuantizeLinear", {x, scale, zero});
  const std::string w = m.weight("w", {16, 8}, onnx::TensorProto::INT8);
  const std::string sums = m.add("MatMulInteger", {q, w});
  const std::string y = m.add("QLinearMatMul", {q, scale, zero, w, scale, zero, scale, zero});
  m.output(sums);
  m.output(y);
  const ImportedModel model = import(m.bytes());
  CHECK(op_of(model, "QuantizeLinear").output_bytes == 4 * 16);
  CHECK(op_of(model, "MatMulInteger").multiply_adds == 4 * 16 * 8);
  CHECK(op_of(model, "MatMulInteger").output_bytes == 4 * 4 * 8);
  CHECK(op_of(model, "QLinearMatMul").multiply_adds == 4 * 16 * 8);
  CHECK(op_of(model, "QLinearMatMul").output_bytes == 4 * 8);
}

TEST_CASE("attention multiplies every query with every key, and with every value") {
  OnnxModel m;
  const std::string q = m.input("q", {2, 12, 6, 64});
  const std::string k = m.input("k", {2, 12, 10, 64});
  const std::string v = m.input("v", {2, 12, 10, 32});
  m.output(m.add("Attention", {q, k, v}));
  const ImportedModel model = import(m.bytes());
  CHECK(op_of(model, "Attention").multiply_adds == 2 * 12 * 6 * 10 * (64 + 32));
  CHECK(op_of(model, "Attention").output_bytes == 4 * 2 * 12 * 6 * 32);
  OnnxModel flat;
  const std::string a = flat.input("q", {2, 6, 64});
  const std::string b = flat.input("k", {2, 10, 16});
  flat.output(flat.add("Attention", {a, b, b}));
  flat.set("q_num_heads", 8).set("kv_num_heads", 2);
  const ImportedModel grouped = import(flat.bytes());
  CHECK(op_of(grouped, "Attention").multiply_adds == 2 * 6 * 10 * (64 + 64));
}

TEST_CASE("attention that goes on from keys and values that were kept has all of them") {
  // The result, all keys, all values, and how each goes with each: what is asked for of them.
  const std::vector<double> bytes = {2048, 2'097'152, 2'097'152, 4 * 8 * 1024};
  for (int outputs = 1; outputs <= 4; ++outputs) {
    OnnxModel m;
    const std::string q = m.input("q", {1, 8, 1, 64});
    const std::string k = m.input("k", {1, 8, 1, 64});
    const std::string v = m.input("v", {1, 8, 1, 64});
    const std::string keys = m.input("keys", {1, 8, 1023, 64});
    const std::string values = m.input("values", {1, 8, 1023, 64});
    for (const auto& name : m.add_many("Attention", {q, k, v, "", keys, values}, outputs)) {
      m.output(name);
    }
    const ImportedModel model = import(m.bytes(), {.batch = 1});
    CHECK(op_of(model, "Attention").multiply_adds == 8 * 1024 * (64 + 64));
    CHECK(op_of(model, "Attention").output_bytes ==
          std::accumulate(bytes.begin(), bytes.begin() + outputs, 0.0));
  }
  OnnxModel kept;
  const std::string x = kept.input("q", {1, 8, 1, 64});
  const std::string old = kept.input("keys", {1, 8, 1023, 64});
  kept.output(kept.add_many("Attention", {x, x, x, "", old, old}, 3)[2]);
  CHECK(op_of(import(kept.bytes()), "Attention").multiply_adds == 8 * 1024 * (64 + 64));
  CHECK(op_of(import(kept.bytes()), "Attention").output_bytes == 2'097'152);
  OnnxModel wrong;
  const std::string c = wrong.input("q", {1, 8, 1, 64});
  const std::string other = wrong.input("keys", {1, 4, 7, 64});
  wrong.output(wrong.add("Attention", {c, c, c, "", other, other}));
  CHECK_THROWS_WITH(import(wrong.bytes()),
                    Catch::Contains("what it kept, 1x4x7x64, does not go with 1x8x1x64"));
}

TEST_CASE("keys and values whose heads lie side by side are kept one head behind another") {
  for (const bool goes_on : {false, true}) {
    OnnxModel m;
    const std::string q = m.input("q", {2, 6, 64});
    const std::string k = m.input("k", {2, 10, 16});
    OnnxModel::Names inputs{q, k, k};
    if (goes_on) {
      const std::string kept = m.input("kept", {2, 2, 30, 8});
      inputs.insert(inputs.end(), {"", kept, kept});
    }
    const auto made = m.add_many("Attention", inputs, 4);
    m.set("q_num_heads", 8).set("kv_num_heads", 2);
    for (const auto& name : made) m.output(name);
    const ImportedModel model = import(m.bytes());
    const double keys = goes_on ? 40 : 10;
    CHECK(op_of(model, "Attention").multiply_adds == 2 * 6 * keys * (64 + 64));
    CHECK(op_of(model, "Attention").output_bytes ==
          4 * 2 * (6 * 64 + 2 * (2 * keys * 8) + 8 * 6 * keys));
  }
}

TEST_CASE("which numbers a dropout left is a truth value of each") {
  OnnxModel m;
  const auto made = m.add_many("Dropout", {m.gemm(m.input("data", {4, 16}), 16, 64)}, 2);
  for (const auto& name : made) m.output(name);
  CHECK(op_of(import(m.bytes()), "Dropout").output_bytes == 4 * 64 * (4 + 1));
}

TEST_CASE("a norm has a mean and a deviation for each of what it normalises alike") {
  OnnxModel m;
  const std::string x = m.input("data", {4, 5, 16}, onnx::TensorProto::FLOAT16);
  const std::string scale = m.weight("scale", {16}, onnx::TensorProto::FLOAT16);
  for (const auto& name : m.add_many("LayerNormalization", {x, scale}, 3)) m.output(name);
  CHECK(op_of(import(m.bytes()), "LayerNormalization").output_bytes ==
        2 * 4 * 5 * 16 + 2 * (4 * 4 * 5));
  // Of more axes, in the type that is asked for.
  m.set("axis", 1).set("stash_type", onnx::TensorProto::FLOAT16);
  CHECK(op_of(import(m.bytes()), "LayerNormalization").output_bytes ==
        2 * 4 * 5 * 16 + 2 * (2 * 4));
}

TEST_CASE("running means and variances are put out as they came in") {
  OnnxModel m;
  OnnxModel::Names inputs{m.input("data", {4, 8, 10, 10}, onnx::TensorProto::FLOAT16)};
  for (const char* name : {"scale", "bias"}) {
    inputs.push_back(m.weight(name, {8}, onnx::TensorProto::FLOAT16));
  }
  for (const char* name : {"mean", "variance"}) inputs.push_back(m.weight(name, {8}));
  const auto made = m.add_many("BatchNormalization", inputs, 3);
  m.set("training_mode", 1);
  for (const auto& name : made) m.output(name);
  CHECK(op_of(import(m.bytes()), "BatchNormalization").output_bytes ==
        2 * 4 * 8 * 10 * 10 + 2 * (4 * 8));
}

TEST_CASE("constants are truth values, and remainders, as the standard has them") {
  // 4 x 6 numbers, reshaped to rows of a computed length.
  const auto rows_of = [](OnnxModel& m, const std::string& length) {
    const std::string shape = m.add("Concat", {m.integers("rest", {-1}), length});
    m.set("axis", 0);
    const std::string x = m.add("Reshape", {m.input("data", {4, 6}), shape});
    m.output(m.add("MatMul", {x, m.weight("w", {3, 5})}));
    return op_of(import(m.bytes(), {.batch = 4}), "MatMul").multiply_adds;
  };
  OnnxModel remainder;
  const std::string signed_as_c =
      remainder.add("Mod", {remainder.integers("a", {-7}), remainder.integers("b", {3})});
  remainder.set("fmod", 1);
  CHECK(rows_of(remainder, remainder.add("Add", {signed_as_c, remainder.integers("four", {4})})) ==
        4 * 6 * 5);
  OnnxModel truth;
  const std::string is_there = truth.add("Cast", {truth.integers("five", {5})});
  truth.set("to", onnx::TensorProto::BOOL);
  const std::string one = truth.add("Cast", {is_there});
  truth.set("to", onnx::TensorProto::INT64);
  CHECK(rows_of(truth, truth.add("Add", {one, truth.integers("two", {2})})) == 4 * 6 * 5);
  // What is not known is not true either.
  OnnxModel unknown;
  const std::string nothing =
      unknown.add("Div", {unknown.integers("a", {1}), unknown.integers("b", {0})});
  const std::string maybe = unknown.add("Cast", {nothing});
  unknown.set("to", onnx::TensorProto::BOOL);
  const std::string number = unknown.add("Cast", {maybe});
  unknown.set("to", onnx::TensorProto::INT64);
  const std::string length = unknown.add("Add", {number, unknown.integers("two", {2})});
  CHECK_THROWS_WITH(rows_of(unknown, length), Catch::Contains("holds no number"));
}

TEST_CASE("constants of many numbers, and long texts, are passed over") {
  OnnxModel m;
  const std::string x = m.input("x", {4, 100});
  const std::string many = m.add("Constant", {});
  onnx::AttributeProto& list = *m.last().add_attribute();
  list.set_name("value_floats");
  for (int i = 0; i < 100; ++i) list.add_floats(1);
  onnx::AttributeProto& text = *m.last().add_attribute();
  text.set_name("doc");
  text.set_s(std::string(100'000, 'x'));
  m.output(m.add("Mul", {x, many}));
  CHECK(import(m.bytes()).ops[1].output_bytes == 4 * 4 * 100);
}

TEST_CASE("two imports of a file are equal") {
  const auto text = [] {
    std::string all;
    for (const ImportedOp& op : import(testing::onnx_resnet18()).ops) all += op.description + ";";
    return all;
  };
  CHECK(text() == text());
}

TEST_CASE("functions of a file are the operations that they are made of") {
  // relu(conv(x)), with the convolution's settings said by who calls.
  const auto describe = [](OnnxModel& m) {
    auto& block = m.function("Block", {"x", "w", "b"}, {"y"});
    auto& conv = OnnxModel::call(block, "Conv", {"x", "w", "b"}, {"h"});
    for (const auto& [own, of_call] : std::map<std::string, std::string>{
             {"strides", "step"}, {"pads", "around"}, {"dilations", "never_said"}}) {
      auto& setting = *conv.add_attribute();
      setting.set_name(own);
      setting.set_ref_attr_name(of_call);
    }
    OnnxModel::call(block, "Relu", {"h"}, {"y"});
    // Two of them, one after the other, and what came in.
    auto& two = m.function("Two", {"x", "w", "v"}, {"y", "x", "unread"});
    for (const auto& [in, weight, out] : {std::tuple("x", "w", "h"), std::tuple("h", "v", "y")}) {
      auto& once = OnnxModel::call(two, "Block", {in, weight}, {out}, "own");
      auto& step = *once.add_attribute();
      step.set_name("step");
      step.add_ints(2);
      step.add_ints(2);
    }
    OnnxModel::call(two, "Exp", {"y"}, {"unread"});
  };
  OnnxModel called;
  describe(called);
  std::string x = called.input("data", {0, 3, 32, 32});
  x = called.call_many("Block", {x, called.weight("w0", {8, 3, 3, 3}), called.weight("b0", {8})},
                       1)[0];
  called.set("around", OnnxModel::Extents(4, 1)).set("step", OnnxModel::Extents{1, 1});
  const auto both = called.call_many(
      "Two", {x, called.weight("w1", {8, 8, 3, 3}), called.weight("w2", {8, 8, 1, 1})}, 2);
  called.output(called.gemm(called.add("Flatten", {both[0]}), 8 * 8 * 8, 10));
  called.output(called.gemm(called.add("Flatten", {both[1]}), 8 * 32 * 32, 10));

  OnnxModel plain;
  x = plain.input("data", {0, 3, 32, 32});
  x = plain.add("Relu", {plain.conv(x, 3, 8, 3, 1, 1)});
  std::string y = plain.add("Relu", {plain.conv(x, 8, 8, 3, 2, 0, false)});
  y = plain.add("Relu", {plain.conv(y, 8, 8, 1, 2, 0, false)});
  plain.output(plain.gemm(plain.add("Flatten", {y}), 8 * 8 * 8, 10));
  plain.output(plain.gemm(plain.add("Flatten", {x}), 8 * 32 * 32, 10));

  const ImportedModel one = import(called.bytes());
  const ImportedModel other = import(plain.bytes());
  REQUIRE(one.ops.size() == other.ops.size());
  for (std::size_t i = 0; i < one.ops.size(); ++i) {
    INFO(one.ops[i].description);
    CHECK(one.ops[i].type == other.ops[i].type);
    CHECK(one.ops[i].inputs == other.ops[i].inputs);
    CHECK(one.ops[i].parameters == other.ops[i].parameters);
    CHECK(one.ops[i].multiply_adds == other.ops[i].multiply_adds);
    CHECK(one.ops[i].output_bytes == other.ops[i].output_bytes);
    CHECK(one.ops[i].work.forward.flops == other.ops[i].work.forward.flops);
    CHECK(one.ops[i].work.backward.flops == other.ops[i].work.backward.flops);
    CHECK(one.ops[i].work.backward.memory_bytes == other.ops[i].work.backward.memory_bytes);
  }
  CHECK_THAT(one.ops[3].description, Catch::Contains("Two2/Block/Conv"));
}

TEST_CASE(
    "a function that is called like a known operator, or of which there are two, is not one") {
  OnnxModel m;
  const std::string x = m.input("data", {4, 16});
  OnnxModel::call(m.function("Relu", {"x"}, {"y"}), "Exp", {"x"}, {"y"});
  for (int i = 0; i < 2; ++i) OnnxModel::call(m.function("F", {"x"}, {"y"}), "Exp", {"x"}, {"y"});
  m.output(m.call_many("F", {m.add("Relu", {m.gemm(x, 16, 16)})}, 1)[0]);
  const ImportedModel model = import(m.bytes());
  CHECK(op_of(model, "Relu").costed_as != kUnknownCost);
  CHECK(op_of(model, "own::F").costed_as == kUnknownCost);
}

TEST_CASE("numbers are cast to the type of data before these are there") {
  OnnxModel m;
  const std::string x = m.input("data", {4, 3, 8, 8});
  // A bias of zeros in the type of the data, as PyTorch's exporter makes it.
  const std::string w = m.weight("w", {16, 3, 3, 3});
  m.weight("zero", {}, onnx::TensorProto::DOUBLE);
  m.graph().mutable_initializer()->rbegin()->add_double_data(0);
  const std::string zero = m.add("CastLike", {"zero", x});
  const std::string bias = m.add("Expand", {zero, m.integers("sixteen", {16})});
  const std::string y = m.add("Conv", {x, w, bias});
  // Casts that change nothing are views.
  m.output(m.add("CastLike", {m.add("Relu", {m.add("CastLike", {y, x})}), w}));
  const ImportedModel model = import(m.bytes());
  REQUIRE(model.ops.size() == 3);
  CHECK(model.ops[1].type == "Conv");
  CHECK(model.ops[2].type == "Relu");
  CHECK(model.ops[2].is_output);
}

TEST_CASE("data that are cast to another type are an operation") {
  OnnxModel m;
  const std::string x = m.input("data", {4, 16});
  const std::string y = m.gemm(x, 16, 16);
  m.output(m.add("CastLike", {y, m.weight("half", {1}, onnx::TensorProto::FLOAT16)}));
  const ImportedModel model = import(m.bytes());
  REQUIRE(model.ops.size() == 3);
  CHECK(model.ops[2].type == "CastLike");
  CHECK(model.ops[2].output_bytes == 2 * 4 * 16);
}

TEST_CASE("what is split into a sequence is copied out of it") {
  OnnxModel m;
  const std::string x = m.gemm(m.input("data", {4, 16}), 16, 24);
  // As PyTorch's exporter has it.
  const auto eight = m.integers("eight", {8});
  m.graph().mutable_initializer()->rbegin()->clear_dims();
  const std::string equal = m.add("SplitToSequence", {x, eight});
  m.set("axis", 1);
  const std::string last = m.add("SequenceAt", {equal, m.integers("last", {-1})});
  m.output(m.add("Relu", {last}));
  const std::string listed = m.add("SplitToSequence", {x, m.integers("parts", {20, 4})});
  m.set("axis", -1);
  m.output(m.add("SequenceAt", {listed, m.integers("one", {1})}));
  const std::string apart = m.add("SplitToSequence", {x});
  m.set("axis", 1).set("keepdims", 0);
  m.output(m.add("SequenceAt", {apart, m.integers("two", {2})}));
  const ImportedModel model = import(m.bytes());
  std::vector<std::pair<std::string, double>> made;
  for (const ImportedOp& op : model.ops) made.emplace_back(op.type, op.output_bytes);
  CHECK(made == std::vector<std::pair<std::string, double>>{{"Input", 4 * 4 * 16},
                                                            {"Gemm", 4 * 4 * 24},
                                                            {"SequenceAt", 4 * 4 * 8},
                                                            {"Relu", 4 * 4 * 8},
                                                            {"SequenceAt", 4 * 4 * 4},
                                                            {"SequenceAt", 4 * 4},
                                                            {"Outputs", 0}});
}

}  // namespace pacml::env
