#include <torch/script.h>

#include "env/graph/profile_library.h"
#include "env/tasks/partitioning/environment.h"
#include "learner/export/policy_inputs.h"
#include "learner/export/reference_cases.h"
#include "learner/export/torchscript.h"
#include "model/fused_policy.h"
#include "tests/integration/export/export_fixture.h"
#include "tests/support/golden.h"
// After torch: glog defines a CHECK of its own.
#include "tests/support/catch.h"

namespace pacml::learner {
namespace {

TEST_CASE("Python runs an exported TorchScript policy on graphs of different sizes",
          "[integration][export]") {
  const testing::TempDir folder;
  const int example = GENERATE(range(1, 13));
  const Seed seed{static_cast<std::uint64_t>(example)};
  const auto policy = example <= 3   ? example_policy(example)
                      : example <= 8 ? example_candidates(seed, 80)
                                     : example_perceptron(seed, 80);
  REQUIRE(export_torchscript(policy, folder / "policy.pt"));
  const int code = run_script("check_torchscript.py", folder / "policy.pt");
  if (code == kSkipped || code == kNoPython) {
    WARN(
        "this test is skipped: /usr/bin/python3 with torch is not installed (package "
        "python3-torch)");
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
  REQUIRE(extra["metadata.json"].find("outputs") != std::string::npos);
  REQUIRE(extra["reference.json"] == reference_cases(policy));
}

at::Tensor tensor_of(const PolicyInput& input, const InputValues& values) {
  const auto rows = static_cast<std::int64_t>(values.rows);
  const auto width = static_cast<std::int64_t>(input.width);
  if (input.type == PolicyInput::Type::kFloat) {
    return torch::tensor(values.floats).view({rows, width});
  }
  const at::Tensor integers = torch::tensor(values.integers, at::kLong);
  return input.type == PolicyInput::Type::kIndex ? integers : integers.view({rows, width});
}

TEST_CASE("an exported policy says of a task's decisions what the policy does",
          "[integration][export]") {
  env::PartitioningConfig config;
  config.profiles = testing::source_path("tests/golden/env/graphs").string();
  config.workload.interarrival.value = 60;
  config.cluster.max_simulation_time = 6000;
  config.observation = env::ObservationKind::kCluster;
  const auto task = std::make_shared<const env::PartitioningTask>(
      config, env::load_profiles(config.profiles, config.workload.models));
  const env::EnvironmentSpec& spec = task->spec();
  model::NetworkConfig network;
  network.head = model::HeadKind::kCandidates;
  network.encoders = {
      {.slot = "job", .kind = model::EncoderKind::kDeepSet, .width = 5, .blocks = 1},
      {.slot = "servers", .width = 6, .blocks = 2}};
  const model::NetworkShape shape = model::make_shape(network, spec);
  const PolicyExport policy{shape, model::random_parameters(shape, Seed{4}), {}, spec.graphs};

  Observations batch = spec.make_observations();
  const auto environment = task->make_factory()();
  environment->reset(Seed{1});
  Rng rng(Seed{2});
  for (int step = 0; step < 40; ++step) {
    environment->observe(batch);
    const auto mask = batch.mask(batch.size() - 1);
    int action = 0;
    do {
      action = static_cast<int>(rng.below(mask.size()));
    } while (mask[static_cast<std::size_t>(action)] == 0);
    if (environment->step(action).final()) environment->reset(Seed{rng.next()});
  }
  const auto own = model::make_fused_policy(shape);
  own->set_graphs(spec.graphs);
  own->set_parameters(policy.parameters);
  model::PolicyOutput said;
  own->evaluate(batch, said);
  std::vector<float> logits;  // of valid candidates
  for (std::size_t i = 0; i < said.logits.size(); ++i) {
    if (batch.masks()[i] != 0) logits.push_back(said.logits[i]);
  }

  const testing::TempDir folder;
  REQUIRE(export_torchscript(policy, folder / "policy.pt"));
  torch::jit::Module module = torch::jit::load((folder / "policy.pt").string());
  const auto inputs = policy_inputs(shape, {});
  const auto values = input_values(shape, spec.graphs, batch);
  std::vector<c10::IValue> arguments;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    arguments.emplace_back(tensor_of(inputs[i], values[i]));
  }
  const auto outputs = module.forward(arguments).toTuple();
  const auto differs = [&](std::size_t output, const std::vector<float>& expected) {
    const at::Tensor ours = outputs->elements()[output].toTensor();
    REQUIRE(ours.sizes() == at::IntArrayRef({static_cast<std::int64_t>(expected.size())}));
    return (ours - torch::tensor(expected)).abs().max().item<double>();
  };
  REQUIRE(logits.size() > batch.size());
  CHECK(differs(0, logits) < 1e-5);
  CHECK(differs(1, said.values) < 1e-5);
}

TEST_CASE("a TorchScript export that cannot be written is an error", "[integration][export]") {
  const testing::TempDir folder;
  const auto result = export_torchscript(example_policy(1), folder / "no/such/folder/policy.pt");
  REQUIRE_FALSE(result);
  REQUIRE(result.error().code == Errc::kIo);
}

}  // namespace
}  // namespace pacml::learner
