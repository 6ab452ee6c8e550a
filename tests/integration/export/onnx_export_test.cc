#include <onnx/checker.h>
#include <onnx/shape_inference/implementation.h>

#include <map>
#include <string>

#include "common/atomic_file.h"
#include "learner/export/onnx.h"
#include "learner/export/policy_inputs.h"
#include "tests/integration/export/export_fixture.h"
#include "tests/support/catch.h"

// What ONNX's own library says of exported models. Their outputs are held against the reference by
// ONNX Runtime, which Debian does not have: label packages.
namespace pacml::learner {
namespace {

onnx::ModelProto parsed(const PolicyExport& policy) {
  onnx::ModelProto model;
  REQUIRE(model.ParseFromString(encode_onnx(policy)));
  return model;
}

TEST_CASE("exported ONNX models are whole, and their shapes fit together",
          "[integration][export]") {
  const int example = GENERATE(range(1, 30));
  const Seed seed{static_cast<std::uint64_t>(example)};
  auto model = parsed(example <= 3       ? example_policy(example)
                      : example % 4 == 0 ? example_perceptron(seed, 12)
                                         : example_candidates(seed, 12));
  REQUIRE_NOTHROW(onnx::checker::check_model(model));
  const onnx::ShapeInferenceOptions strict{true, 1, false};
  REQUIRE_NOTHROW(
      onnx::shape_inference::InferShapes(model, onnx::OpSchemaRegistry::Instance(), strict));
  for (const auto& node : model.graph().node()) REQUIRE(node.domain().empty());
}

TEST_CASE("an exported ONNX model says what its inputs are and what it is",
          "[integration][export]") {
  const PolicyExport policy = example_candidates(Seed{8}, 12);
  const auto model = parsed(policy);
  std::map<std::string, std::string> metadata;
  for (const auto& entry : model.metadata_props()) metadata[entry.key()] = entry.value();
  REQUIRE(metadata.at("config") == policy.notes.at("config"));
  REQUIRE(metadata.at("head") == "candidates");
  REQUIRE(metadata.at("reference").find("\"candidate_decision\"") != std::string::npos);
  const auto inputs = policy_inputs(policy.shape, policy.globals);
  REQUIRE(model.graph().input_size() == static_cast<int>(inputs.size()));
  for (int i = 0; i < model.graph().input_size(); ++i) {
    const auto& input = model.graph().input(i);
    const PolicyInput& expected = inputs[static_cast<std::size_t>(i)];
    REQUIRE(input.name() == expected.name);
    for (const FeatureSpec& column : expected.columns) {
      REQUIRE(input.doc_string().find(column.name + " [" + column.unit + "]") != std::string::npos);
    }
  }
}

TEST_CASE("an ONNX export that cannot be written is an error", "[integration][export]") {
  const testing::TempDir folder;
  const auto result = export_onnx(example_policy(1), folder / "no/such/folder/policy.onnx");
  REQUIRE_FALSE(result);
  REQUIRE(result.error().code == Errc::kIo);
}

}  // namespace
}  // namespace pacml::learner
