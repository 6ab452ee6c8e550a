#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bench/figures.h"

namespace pacml::apps {

// The figures of several benchmarks, by the benchmarks' names.
using BenchReport = std::vector<std::pair<std::string, bench::Figures>>;

// Lines for people: a figure a line, with a readable unit. Pure.
[[nodiscard]] std::string format_report(const BenchReport& report);

// {"<name>": {"<figure>": value, ..., "machine": {"cpu", "cores", "compiler", "build", "pacml",
// "math"}}}, indented. NaN is null. `math`: what the learner computes with.
[[nodiscard]] std::string report_to_json(const BenchReport& report, const std::string& math);

// Adds the figures of a JSON report, e.g. another process's. UserError: not such a report.
void add_json_report(const std::string& text, BenchReport& report);

}  // namespace pacml::apps
