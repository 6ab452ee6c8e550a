#include "bench/load/load_generator.h"

#include <thread>

#include "common/transport/publisher.h"
#include "common/transport/router.h"
#include "tests/support/catch.h"
#include "tests/support/served_learner.h"
#include "tests/support/temp_dir.h"

namespace pacml {
namespace {

using namespace std::chrono_literals;
using testing::sample_graphs;
using testing::sample_hello;
using testing::sample_sequences;

// A learner's end over real sockets that consumes whatever comes.
class EagerLearner {
 public:
  EagerLearner()
      : actors(transport::Endpoint::parse("ipc://" + (folder_ / "s").string())),
        announcements(transport::Endpoint::parse("ipc://" + (folder_ / "w").string())),
        server_(testing::sample_run(), {}) {
    server_.publish(testing::sample_weights(3));
    serve_ = std::jthread([this](const std::stop_token& stop) {
      transport::Router router(context_, actors);
      transport::Publisher publisher(context_, announcements);
      server_.run(router, publisher, stop);
    });
    consume_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        if (const auto got = server_.pop(stop, Deadline::in(100ms))) server_.consumed(*got);
      }
    });
  }
  [[nodiscard]] serving::ServerCounters counters() const { return server_.counters(); }

 private:
  testing::TempDir folder_;

 public:
  const transport::Endpoint actors;
  const transport::Endpoint announcements;

 private:
  transport::Context context_;
  learner::ExperienceServer server_;
  std::jthread serve_;
  std::jthread consume_;
};

bench::LoadReport load(const EagerLearner& learner, const bench::LoadConfig& config) {
  const auto graphs = sample_graphs();
  const auto canned =
      bench::can({sample_sequences(1, *graphs[0]), sample_sequences(2, *graphs[1])});
  transport::Context context(1, {}, bench::sockets_for(config.actors, false));
  return bench::run_load(context, {learner.actors, learner.announcements, {}, {}}, sample_hello(),
                         graphs, canned, config, [](bool) {}, {});
}

TEST_CASE("what many actors send is accepted, every message once", "[integration][load]") {
  const EagerLearner learner;
  const auto report = load(
      learner,
      {.actors = 200, .decisions_per_second = 120, .threads = 2, .warm_up = 200ms, .measure = 2s});
  REQUIRE(report.ended.empty());
  CHECK(report.welcomed == 200);
  CHECK(report.sent > 0);
  CHECK(report.lost == 0);
  CHECK(report.rejoined == 0);
  CHECK(report.most >= report.fewest);
  CHECK(report.jain > 0);  // how even it is, only a quiet machine tells
  CHECK(report.bytes_up > 0);
  CHECK(report.round_trip_p99 >= report.round_trip_p50);
  const auto counters = learner.counters();
  CHECK(counters.accepted == report.sent);
  CHECK(counters.gaps == 0);
  CHECK(counters.duplicates == 0);
}

TEST_CASE("a load of actors that nobody welcomes says so", "[integration][load]") {
  const EagerLearner learner;
  const auto graphs = sample_graphs();
  const auto canned = bench::can({sample_sequences(1, *graphs[0])});
  auto hello = sample_hello();
  hello.config_hash = 1;
  hello.config_text = "env: {}\n";
  transport::Context context(1, {}, bench::sockets_for(3, false));
  const auto report =
      bench::run_load(context, {learner.actors, learner.announcements, {}, {}}, hello, graphs,
                      canned, {.actors = 3, .warm_up = 0ms, .measure = 1ms}, [](bool) {}, {});
  CHECK(report.welcomed == 0);
  REQUIRE(report.ended.size() == 1);
  CHECK_THAT(report.ended.front(), Catch::Contains("configuration differs"));
}

}  // namespace
}  // namespace pacml
