#include "model/layout.h"

#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/random_network.h"

namespace pacml::model {
namespace {

std::string describe(const ParameterEntry& entry) {
  std::string text = entry.name;
  for (const std::int64_t extent : entry.shape) text += " " + std::to_string(extent);
  return text;
}

TEST_CASE("the published network's parameters have these names, shapes and order") {
  std::vector<std::string> entries;
  for (const ParameterEntry& entry : make_layout(published_shape()).entries) {
    entries.push_back(describe(entry));
  }
  CHECK(entries == std::vector<std::string>{"round0.node_norm.weight 5",
                                            "round0.node_norm.bias 5",
                                            "round0.node.weight 16 5",
                                            "round0.node.bias 16",
                                            "round0.edge_norm.weight 2",
                                            "round0.edge_norm.bias 2",
                                            "round0.edge.weight 16 2",
                                            "round0.edge.bias 16",
                                            "round0.reduce_norm.weight 32",
                                            "round0.reduce_norm.bias 32",
                                            "round0.reduce.weight 64 32",
                                            "round0.reduce.bias 64",
                                            "round1.node_norm.weight 64",
                                            "round1.node_norm.bias 64",
                                            "round1.node.weight 16 64",
                                            "round1.node.bias 16",
                                            "round1.edge_norm.weight 2",
                                            "round1.edge_norm.bias 2",
                                            "round1.edge.weight 16 2",
                                            "round1.edge.bias 16",
                                            "round1.reduce_norm.weight 32",
                                            "round1.reduce_norm.bias 32",
                                            "round1.reduce.weight 16 32",
                                            "round1.reduce.bias 16",
                                            "graph_norm.weight 34",
                                            "graph_norm.bias 34",
                                            "graph.weight 8 34",
                                            "graph.bias 8",
                                            "readout.weight 256 24",
                                            "readout.bias 256",
                                            "logits.weight 17 256",
                                            "logits.bias 17",
                                            "value.weight 1 256",
                                            "value.bias 1"});
}

TEST_CASE("the published network has 15520 parameters, laid out without gaps") {
  const ParameterLayout layout = make_layout(published_shape());
  std::size_t next = 0;
  for (const ParameterEntry& entry : layout.entries) {
    CHECK(entry.offset == next);
    next += entry.size;
  }
  CHECK(next == layout.total);
  // Round 0: (10 + 96) + (4 + 48) + (64 + 2112); round 1: (128 + 1040) + (4 + 48) + (64 + 528);
  // graph 68 + 280; readout 6400; heads 4369 + 257.
  CHECK(layout.total == 2334 + 1812 + 348 + 6400 + 4626);
}

TEST_CASE("layouts of different networks have different hashes") {
  const NetworkShape shape = published_shape();
  const std::uint64_t hash = make_layout(shape).hash;
  CHECK(make_layout(shape).hash == hash);
  const auto changed = [&](auto change) {
    NetworkShape other = shape;
    change(other);
    return make_layout(other).hash;
  };
  CHECK(changed([](NetworkShape& s) { s.config.rounds = 3; }) != hash);
  CHECK(changed([](NetworkShape& s) { s.config.hidden_width = 32; }) != hash);
  CHECK(changed([](NetworkShape& s) { s.actions = 9; }) != hash);
  CHECK(changed([](NetworkShape& s) { s.slots.front().node_width = 6; }) != hash);
}

TEST_CASE("a parameter is found by its name and can be written") {
  const ParameterLayout layout = make_layout(published_shape());
  Parameters parameters{PolicyVersion{0}, layout.hash, std::vector<float>(layout.total)};
  view(parameters, layout, "round0.node.bias")[3] = 2.5F;
  CHECK(view(std::as_const(parameters), layout, "round0.node.bias")[3] == 2.5F);
  CHECK(parameters.values[5 + 5 + 80 + 3] == 2.5F);
  CHECK(view(std::as_const(parameters), layout, "value.bias").size() == 1);
}

}  // namespace
}  // namespace pacml::model
