#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/rng.h"
#include "env/graph/job_graph.h"
#include "env/graph/profile.h"

namespace pacml::testing {

inline env::Profile make_profile(std::vector<env::ForwardOp> ops,
                                 std::vector<std::pair<int, int>> dependencies,
                                 std::string model = "test") {
  return {std::move(model), std::move(ops), std::move(dependencies)};
}

inline env::JobGraphPtr make_graph(const env::Profile& profile) {
  return std::make_shared<const env::JobGraph>(profile);
}

// One op that takes `forward` and `backward` and feeds nothing.
inline env::Profile single_op(double forward, double backward, double activation = 0,
                              double parameters = 0, std::string model = "single") {
  return make_profile({{1, "Op", forward, backward, activation, parameters}}, {}, std::move(model));
}

struct RandomProfileOptions {
  int max_ops = 10;
  // Ops without successors, other than the last one, that take time: they are cut as well, and then
  // never finish under the published semantics.
  bool costly_sinks = false;
};

// A small graph of the awkward kind: ids out of order, several sources and sinks, equal and zero
// costs, costs below a quantum of 0.01. A pure function of the stream.
inline env::Profile random_profile(Rng& rng, const RandomProfileOptions& options = {}) {
  const int n = 1 + static_cast<int>(rng.below(static_cast<std::uint64_t>(options.max_ops)));
  const auto cost = [&rng]() -> double {
    switch (rng.below(6)) {
      case 0:
        return 0;
      case 1:
        return 0.001 * static_cast<double>(1 + rng.below(90));
      case 2:
      case 3:
        return 0.5 * static_cast<double>(1 + rng.below(3));
      default:
        return 5 * rng.uniform();
    }
  };
  const auto bytes = [&rng] {
    return rng.below(5) == 0 ? 0.0 : 1e5 * static_cast<double>(1 + rng.below(1000));
  };
  env::Profile profile{"random", {}, {}};
  std::vector<bool> feeds(static_cast<std::size_t>(n) + 1, false);
  for (int v = 1; v <= n; ++v) {
    profile.ops.push_back({v, "Op", cost(), cost(), bytes(), bytes()});
    for (int u = 1; u < v; ++u) {
      if (rng.below(static_cast<std::uint64_t>(v)) > 1) continue;
      profile.dependencies.emplace_back(u, v);
      feeds[static_cast<std::size_t>(u)] = true;
    }
  }
  for (env::ForwardOp& op : profile.ops) {
    if (op.id < n && !feeds[static_cast<std::size_t>(op.id)] && !options.costly_sinks) {
      op.forward_time = 0;
    }
  }
  // Some op must take time.
  profile.ops.back().backward_time += 1;
  const auto shuffle = [&rng](auto& items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[rng.below(i)]);
  };
  shuffle(profile.ops);
  shuffle(profile.dependencies);
  return profile;
}

}  // namespace pacml::testing
