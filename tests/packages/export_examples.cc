#include <cstdint>
#include <filesystem>
#include <iostream>
#include <string>

#include "learner/export/onnx.h"
#include "tests/integration/export/export_fixture.h"

// Writes policies of every kind as ONNX models into a folder, with references on graphs of one to
// two thousand nodes.
namespace {

using namespace pacml;

learner::PolicyExport example(std::uint64_t seed) {
  Rng rng(Seed{seed});
  learner::PolicyExport policy = seed < 3 ? learner::example_policy(static_cast<int>(seed) + 1)
                                          : learner::example_candidates(Seed{seed}, 10);
  policy.graphs.clear();
  for (const model::SlotShape& slot : policy.shape.slots) {
    for (int g = 0; g < 30; ++g) {
      const int nodes = 1 + static_cast<int>(rng.below(g == 0 ? 2000 : 200));
      const int edges = static_cast<int>(rng.below(2 * static_cast<std::uint64_t>(nodes)));
      policy.graphs.push_back(model::random_graph(rng, slot, nodes, edges));
    }
  }
  return policy;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: pacml_export_examples FOLDER\n";
    return 2;
  }
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    const auto file = std::filesystem::path(argv[1]) / (std::to_string(seed) + ".onnx");
    const auto written = learner::export_onnx(example(seed), file);
    if (!written) {
      std::cerr << written.error().detail << "\n";
      return 1;
    }
  }
  return 0;
}
