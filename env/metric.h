#pragma once

#include <string>

namespace pacml::env {

// Which way is better.
enum class Better { kNeither, kLower, kHigher };

// A figure of an episode: what it is called in files, and how people are shown it.
struct MetricSpec {
  std::string name;   // in files; unique in its task
  std::string title;  // over a column of a table; empty: not shown in one
  std::string unit;
  Better better = Better::kNeither;
  int decimals = 3;
  // Metrics of one group are shown in a table of their own, under this title, as far as they are
  // ever other than 0; empty: in the first table.
  std::string group;

  [[nodiscard]] bool is_better(double value, double than) const {
    return better == Better::kHigher ? value > than : value < than;
  }
};

}  // namespace pacml::env
