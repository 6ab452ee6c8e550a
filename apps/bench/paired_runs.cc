#include "apps/bench/paired_runs.h"

#include <array>
#include <map>
#include <vector>

#include "common/check.h"

namespace pacml::apps {
namespace {

constexpr std::array kCompared{"decisions_per_second", "cpu_seconds_per_decision",
                               "transport_cpu_seconds_per_decision"};

using Measured = std::map<std::string, std::vector<double>>;  // figure: its value in each round

void measure(const WayToRun& way, Measured& into) {
  const bench::Figures figures = way.run();
  for (const char* name : kCompared) into[name].push_back(figure_of(figures, name));
}

double ratio_of(const Measured& other, const Measured& plain, const std::string& name) {
  std::vector<double> ratios;
  for (std::size_t round = 0; round < plain.at(name).size(); ++round) {
    ratios.push_back(other.at(name)[round] / plain.at(name)[round]);
  }
  return bench::median_of(ratios);
}

}  // namespace

double figure_of(const bench::Figures& figures, const std::string& name) {
  const auto found = bench::find_figure(figures, name);
  PACML_CHECK(found, "there is a figure of that name");
  return *found;
}

bench::Figures run_in_pairs(const WayToRun& plain, const WayToRun& other, int rounds) {
  Measured of_plain;
  Measured of_other;
  for (int round = 0; round < rounds; ++round) {
    if (round % 2 == 0) measure(plain, of_plain);
    measure(other, of_other);
    if (round % 2 == 1) measure(plain, of_plain);
  }
  bench::Figures figures;
  for (const char* name : kCompared) {
    figures.emplace_back(plain.name + "_" + name, bench::median_of(of_plain.at(name)));
    figures.emplace_back(other.name + "_" + name, bench::median_of(of_other.at(name)));
  }
  figures.emplace_back("decisions_ratio", ratio_of(of_other, of_plain, "decisions_per_second"));
  figures.emplace_back("cpu_ratio", ratio_of(of_other, of_plain, "cpu_seconds_per_decision"));
  return figures;
}

}  // namespace pacml::apps
