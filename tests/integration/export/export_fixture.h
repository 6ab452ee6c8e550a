#pragma once

#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "learner/export/policy_export.h"
#include "tests/support/program.h"
#include "tests/support/random_network.h"
#include "tests/support/source_path.h"
#include "tests/support/temp_dir.h"

// What the tests of exported policies need: policies, and Python.
namespace pacml::learner {

// head: dense.
inline PolicyExport example_policy(int rounds) {
  model::NetworkShape shape = model::published_shape();
  shape.config.rounds = rounds;
  Rng rng(Seed{5});
  return {shape,
          model::random_parameters(shape, Seed{6}),
          {{"config", "learner:\n  name: \"\xc3\xa9\"\n"}, {"outputs", "any"}},
          {model::random_graph(rng, shape, 30, 45), model::random_graph(rng, shape, 114, 142)}};
}

inline PolicyExport example_encoders(Rng& rng, Seed seed, const model::NetworkShape& shape,
                                     std::uint64_t most_nodes) {
  return {shape,
          model::random_parameters(shape, seed),
          {{"config", "learner: {}\n"}, {"outputs", "any"}},
          model::random_graphs(rng, shape, most_nodes)};
}

// head: candidates, with whatever encoders, and graphs of at most so many nodes.
inline PolicyExport example_candidates(Seed seed, std::uint64_t most_nodes) {
  Rng rng(seed);
  return example_encoders(rng, seed, model::encoders_shape(rng, 8), most_nodes);
}
// head: perceptron, the same.
inline PolicyExport example_perceptron(Seed seed, std::uint64_t most_nodes) {
  Rng rng(seed);
  return example_encoders(rng, seed, model::perceptron_shape(rng, 8), most_nodes);
}

// The exit code of Debian's Python on a script beside this file; 77 where what it needs is missing.
inline int run_script(const std::string& script, const std::filesystem::path& argument) {
  const auto file = testing::source_path("tests/integration/export/" + script);
  const auto outcome = testing::run({"/usr/bin/python3", file.string(), argument.string()});
  std::cerr << outcome.out << outcome.err;
  return outcome.code;
}

inline constexpr int kSkipped = 77;
inline constexpr int kNoPython = 127;

}  // namespace pacml::learner
