#include "env/tasks/ramp/recent_arrivals.h"

#include <cmath>

#include "tests/support/catch.h"

namespace pacml::env {
namespace {

TEST_CASE("few arrivals are averaged as they are", "[unit][env]") {
  RecentArrivals recent(8);
  CHECK(recent.mean_fraction() == 0);
  recent.add(0.25, 100);
  CHECK(recent.mean_fraction() == 0.25);
  CHECK(recent.spread_of_fractions() == 0);
  CHECK(recent.mean_gap() == 0);
  recent.add(0.5, 130);
  recent.add(0.75, 140);
  CHECK(recent.mean_fraction() == Approx(0.5));
  CHECK(recent.spread_of_fractions() == Approx(std::sqrt(0.125 / 3)));
  CHECK(recent.mean_gap() == Approx(20));
  recent.add(1e9, 160);
  CHECK(recent.mean_fraction() == Approx(0.625));
}

TEST_CASE("of many arrivals those of late count", "[unit][env]") {
  RecentArrivals recent(4);
  double now = 0;
  for (int i = 0; i < 50; ++i) recent.add(0.2, now += 5);
  // Each moves a mean by a quarter of the way.
  recent.add(1.0, now += 25);
  CHECK(recent.mean_fraction() == Approx(0.4));
  CHECK(recent.mean_gap() == Approx(10));
  for (int i = 0; i < 50; ++i) recent.add(1.0, now += 25);
  CHECK(recent.mean_fraction() == Approx(1.0).margin(1e-5));
  CHECK(recent.mean_gap() == Approx(25).epsilon(1e-5));
  CHECK(recent.spread_of_fractions() == Approx(0).margin(1e-2));

  recent.clear();
  recent.add(0.3, 7);
  CHECK(recent.mean_fraction() == 0.3);
  CHECK(recent.mean_gap() == 0);
}

TEST_CASE("means stay when the clock is set anew", "[unit][env]") {
  RecentArrivals recent(4);
  recent.add(0.5, 5000);
  recent.add(0.5, 5020);
  recent.set_clock(0);
  recent.add(0.5, 30);
  CHECK(recent.mean_gap() == Approx(25));
}

TEST_CASE("without a memory nothing is kept", "[unit][env]") {
  RecentArrivals recent(0);
  recent.add(0.5, 1);
  CHECK_FALSE(recent.kept());
  CHECK(recent.mean_fraction() == 0);
}

}  // namespace
}  // namespace pacml::env
