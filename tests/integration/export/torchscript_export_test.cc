#include <torch/script.h>

#include "learner/export/torchscript.h"
#include "tests/integration/export/export_fixture.h"
// After torch: glog defines a CHECK of its own.
#include "tests/support/catch.h"

namespace pacml::learner {
namespace {

TEST_CASE("Python runs an exported TorchScript policy on graphs of different sizes",
          "[integration][export]") {
  const testing::TempDir folder;
  const int rounds = GENERATE(1, 2, 3);
  REQUIRE(export_torchscript(example_policy(rounds), folder / "policy.pt"));
  const int code = run_script("check_torchscript.py", folder / "policy.pt");
  if (code == kSkipped || code == kNoPython) {
    WARN("skipped: /usr/bin/python3 with torch is not installed (package python3-torch)");
    return;
  }
  REQUIRE(code == 0);
}

TEST_CASE("C++ loads an exported TorchScript policy without this program's network",
          "[integration][export]") {
  const testing::TempDir folder;
  const PolicyExport policy = example_policy(2);
  REQUIRE(export_torchscript(policy, folder / "policy.pt"));
  torch::jit::ExtraFilesMap extra{{"metadata.json", ""}, {"reference.json", ""}};
  torch::jit::Module module =
      torch::jit::load((folder / "policy.pt").string(), c10::nullopt, extra);
  REQUIRE(module.attr("num_actions").toInt() == policy.shape.actions);
  REQUIRE(extra["metadata.json"].find("normalisation") != std::string::npos);
  REQUIRE(extra["reference.json"] == reference_cases(policy));
}

TEST_CASE("a TorchScript export that cannot be written is an error", "[integration][export]") {
  const testing::TempDir folder;
  const auto result = export_torchscript(example_policy(1), folder / "no/such/folder/policy.pt");
  REQUIRE_FALSE(result);
  REQUIRE(result.error().code == Errc::kIo);
}

}  // namespace
}  // namespace pacml::learner
