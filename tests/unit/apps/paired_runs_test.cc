#include "apps/bench/paired_runs.h"

#include <string>
#include <vector>

#include "tests/support/catch.h"

namespace pacml::apps {
namespace {

TEST_CASE("two ways to run are measured in pairs, each as often first as the other",
          "[unit][apps]") {
  std::string order;
  // What the machine does grows with time; what a run spends is a share of that.
  double load = 1;
  const auto run = [&](char name, double share) {
    order += name;
    load *= 2;
    return bench::Figures{{"other", 7},
                          {"decisions_per_second", load * share},
                          {"cpu_seconds_per_decision", 10 * share},
                          {"transport_cpu_seconds_per_decision", share}};
  };
  const auto figures = run_in_pairs({"plain", [&] { return run('p', 1); }},
                                    {"loaded", [&] { return run('l', 0.5); }}, 3);
  CHECK(order == "pllppl");
  CHECK(figure_of(figures, "plain_decisions_per_second") == 16);  // of 2, 16, 32
  CHECK(figure_of(figures, "loaded_decisions_per_second") == 4);  // of 2, 4, 32
  CHECK(figure_of(figures, "plain_cpu_seconds_per_decision") == 10);
  CHECK(figure_of(figures, "loaded_transport_cpu_seconds_per_decision") == 0.5);
  // Of 2 / 2, 4 / 16 and 32 / 32.
  CHECK(figure_of(figures, "decisions_ratio") == 1);
  CHECK(figure_of(figures, "cpu_ratio") == 0.5);
}

}  // namespace
}  // namespace pacml::apps
