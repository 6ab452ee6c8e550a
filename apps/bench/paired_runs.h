#pragma once

#include <functional>
#include <string>

#include "bench/figures.h"

namespace pacml::apps {

// Two ways to run the same, measured in pairs in alternating order, so that whatever else the
// machine does falls on both.
struct WayToRun {
  std::string name;                     // "clear"
  std::function<bench::Figures()> run;  // as run_pipeline_bench()
};

//   NAME_decisions_per_second, NAME_cpu_seconds_per_decision,
//   NAME_transport_cpu_seconds_per_decision    of each way: medians over the rounds
//   decisions_ratio, cpu_ratio                 `other` to `plain`: medians of the pairs' own ratios
[[nodiscard]] bench::Figures run_in_pairs(const WayToRun& plain, const WayToRun& other, int rounds);

// The value of a figure. Pre: there is one of that name.
[[nodiscard]] double figure_of(const bench::Figures& figures, const std::string& name);

}  // namespace pacml::apps
