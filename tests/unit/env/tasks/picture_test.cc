#include "env/picture.h"

#include <algorithm>
#include <string>

#include "env/environment.h"
#include "env/task_config.h"
#include "env/tasks/ramp/environment.h"
#include "tests/support/catch.h"

namespace pacml::env {
namespace {

void check_whole(const Picture& picture) {
  const auto items = static_cast<int>(picture.items.size());
  for (const PictureGrid& grid : picture.grids) {
    const auto [blocks, rows, columns] = grid.shape;
    CHECK(grid.items.size() == static_cast<std::size_t>(blocks) * rows * columns);
    CHECK(std::ranges::all_of(grid.items, [&](int item) { return item >= -2 && item < items; }));
  }
  for (const PictureItem& item : picture.items) {
    CHECK_FALSE(item.label.empty());
    CHECK(item.ends >= item.begins);
  }
}

TEST_CASE("every task of ours has a picture at every decision, which refers to what is in it",
          "[unit][env]") {
  const std::string task = GENERATE("partitioning", "placement_shaping", "device_placement",
                                    "cluster_scheduling", "job_scheduling");
  INFO(task);
  const auto environment = TaskConfig(task).make()->make_factory()();
  const auto* pictured = dynamic_cast<const Pictured*>(environment.get());
  REQUIRE(pictured != nullptr);
  environment->reset(Seed{4});
  CHECK_FALSE(pictured->picture().last);
  CHECK_FALSE(pictured->picture().facts.empty());
  for (int step = 0; step < 20; ++step) {
    check_whole(pictured->picture());
    Observations seen = environment->spec().make_observations();
    environment->observe(seen);
    const auto mask = seen.mask(0);
    // The last valid action: one that comes to something.
    const auto action = std::find(mask.rbegin(), mask.rend(), 1);
    const bool over = environment->step(static_cast<int>(mask.rend() - action) - 1).final();
    REQUIRE(pictured->picture().last);
    CHECK_FALSE(pictured->picture().last->reason.empty());
    CHECK_FALSE(pictured->picture().last->item.label.empty());
    if (over) break;
  }
}

TEST_CASE("the picture of the cluster shows each job where it runs, until when", "[unit][env]") {
  const auto environment = TaskConfig("partitioning").make()->make_factory()();
  const auto& ramp = dynamic_cast<const RampEnvironment&>(*environment);
  environment->reset(Seed{4});
  const int accepted = environment->step(4).reward > 0 ? 1 : 0;
  const Picture picture = ramp.picture();
  CHECK(picture.now == ramp.cluster().now());
  REQUIRE(picture.last);
  CHECK(picture.last->kept == (accepted == 1));
  REQUIRE(picture.items.size() == ramp.cluster().running().size());
  const auto taken = std::ranges::count_if(picture.grids.at(0).items, [](int i) { return i >= 0; });
  CHECK(taken == ramp.cluster().occupied().count());
  for (std::size_t i = 0; i < picture.items.size(); ++i) {
    const MountedJob& job = ramp.cluster().running()[i];
    CHECK(picture.items[i].id == job.job.index);
    CHECK(picture.items[i].ends == job.started + job.completion_time);
    const auto places = std::ranges::count(picture.grids[0].items, static_cast<int>(i));
    CHECK(places == job.execution->num_servers);
  }
}

}  // namespace
}  // namespace pacml::env
