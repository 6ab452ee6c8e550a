#include <string>

#include "common/atomic_file.h"
#include "learner/export/policy_safetensors.h"
#include "learner/export/safetensors.h"
#include "model/layout.h"
#include "tests/integration/export/export_fixture.h"
#include "tests/support/catch.h"

namespace pacml::learner {
namespace {

TEST_CASE("an exported safetensors policy holds every weight and says what it is",
          "[integration][export]") {
  const testing::TempDir folder;
  const PolicyExport policy = example_policy(2);
  REQUIRE(export_safetensors(policy, folder / "policy.safetensors"));
  const auto bytes = read_file(folder / "policy.safetensors");
  REQUIRE(bytes);
  const auto read = decode_safetensors(*bytes);
  REQUIRE(read);
  const auto layout = model::make_layout(policy.shape);
  REQUIRE(read->tensors.size() == layout.entries.size());
  std::size_t at = 0;
  for (std::size_t i = 0; i < layout.entries.size(); ++i) {
    REQUIRE(read->tensors[i].name == layout.entries[i].name);
    REQUIRE(read->tensors[i].shape == layout.entries[i].shape);
    for (const float value : read->tensors[i].values) {
      REQUIRE(value == policy.parameters.values[at++]);
    }
  }
  REQUIRE(read->metadata.at("config") == policy.notes.at("config"));
  REQUIRE(read->metadata.at("outputs") == "any");
  REQUIRE(read->metadata.at("actions") == "17");
}

TEST_CASE("plain Python reads an exported safetensors policy and computes its reference outputs",
          "[integration][export]") {
  const testing::TempDir folder;
  const int example = GENERATE(range(1, 13));
  const Seed seed{static_cast<std::uint64_t>(example)};
  const auto policy = example <= 2   ? example_policy(example)
                      : example <= 8 ? example_candidates(seed, 20)
                                     : example_perceptron(seed, 20);
  REQUIRE(export_safetensors(policy, folder / "policy.safetensors"));
  const int code = run_script("check_safetensors.py", folder / "policy.safetensors");
  if (code == kNoPython) {
    WARN("this test is skipped: there is no /usr/bin/python3");
    return;
  }
  REQUIRE(code == 0);
}

TEST_CASE("an export that cannot be written is an error", "[integration][export]") {
  const testing::TempDir folder;
  const auto result =
      export_safetensors(example_policy(1), folder / "no/such/folder/policy.safetensors");
  REQUIRE_FALSE(result);
  REQUIRE(result.error().code == Errc::kIo);
}

}  // namespace
}  // namespace pacml::learner
