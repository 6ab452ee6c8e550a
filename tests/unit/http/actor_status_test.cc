#include "apps/roles/actor_status.h"

#include <nlohmann/json.hpp>

#include "common/heartbeat.h"
#include "tests/support/catch.h"

namespace pacml::apps {
namespace {

using nlohmann::json;

json status_of(const ActorStatus& status) { return json::parse(status.report().status); }

TEST_CASE("an actor is ready once it has joined and has weights", "[unit][http]") {
  ActorStatus status(ActorId{7}, "run-1");
  CHECK_FALSE(status.report().ready);
  CHECK(status_of(status)["state"] == "joining");
  status.heard({"learner", true, 1, 0});
  CHECK_FALSE(status.report().ready);
  status.has_weights(PolicyVersion{5});
  CHECK(status.report().ready);
  const json told = status_of(status);
  CHECK(told["role"] == "actor");
  CHECK(told["actor"] == 7);
  CHECK(told["run"] == "run-1");
  CHECK(told["state"] == "acting");
  CHECK(told["policy_version"] == 5);
  CHECK(told["joins"] == 1);
  CHECK_FALSE(told.contains("shard_joins"));
}

TEST_CASE("an actor whose server has gone is not ready until it is back", "[unit][http]") {
  ActorStatus status(ActorId{0}, "");
  status.heard({"learner", true, 1, 0});
  status.has_weights(PolicyVersion{1});
  status.heard({"replay shard", false, 0, 0});
  CHECK_FALSE(status.report().ready);
  status.heard({"replay shard", true, 1, 0});
  CHECK(status.report().ready);
  status.heard({"learner", false, 1, 3, 1});
  CHECK_FALSE(status.report().ready);
  status.heard({"replay shard", true, 2, 4});
  CHECK(status_of(status)["unacknowledged"] == 7);
  CHECK(status_of(status)["shard_joins"] == 2);
  CHECK(status_of(status)["malformed"] == 1);
}

TEST_CASE("an actor that acts or waits beats, and one that does neither is missed",
          "[unit][http]") {
  ActorStatus status(ActorId{0}, "");
  const Heartbeat heart("actor");
  const TimePoint before = steady().now();
  const auto silent_since = [] {
    const TimePoint now = steady().now();
    return now - longest_silence(now)->lasted;
  };
  status.waits({.decisions = 10});
  CHECK(silent_since() >= before);
  CHECK(hung_thread(steady().now() + std::chrono::seconds(40), std::chrono::seconds(30)) ==
        "thread actor has been silent for 40 s");
}

TEST_CASE("an actor's chore may tell its status what it finds while that is told something",
          "[unit][http]") {
  ActorStatus status(ActorId{0}, "");
  const Chore tending(Duration{0}, [&] { status.heard({"learner", true, 1, 0}); });
  status.has_weights(PolicyVersion{1});
  CHECK(status.report().ready);
}

// Takes what it is given, or refuses it.
class Sink final : public actor::ExperienceSink {
 public:
  explicit Sink(ActorStatus& status) : status_(&status) {}
  Result<actor::Work> next_work(std::stop_token) override {
    seen = status_of(*status_);
    if (refuses) return fail(Errc::kStopped);
    return actor::Work{5};
  }
  Result<void> tend() override {
    ++tended;
    return {};
  }
  Result<void> send(actor::ActorMessage&&, std::stop_token) override {
    if (refuses) return fail(Errc::kStopped);
    return {};
  }
  std::optional<model::Parameters> newest_parameters() override { return newest; }
  Result<model::Parameters> first_parameters(std::stop_token) override { return *newest; }

  bool refuses = false;
  int tended = 0;
  std::optional<model::Parameters> newest = model::Parameters{PolicyVersion{3}, 0, {}};
  json seen;

 private:
  ActorStatus* status_;
};

TEST_CASE("what passes through a reported sink is told, and passed on", "[unit][http]") {
  ActorStatus status(ActorId{0}, "");
  ActorProgress progress;
  Sink inner(status);
  ReportedSink sink(
      inner, [&progress] { return progress; }, status);
  CHECK(sink.first_parameters({})->version == PolicyVersion{3});
  CHECK(status_of(status)["policy_version"] == 3);
  progress = {.decisions = 40, .refused_weights = 2};
  CHECK(sink.next_work({})->unrolls == 5);
  CHECK(inner.seen["state"] == "waiting");
  CHECK(inner.seen["decisions"] == 40);
  CHECK(inner.seen["refused_weights"] == 2);
  CHECK(sink.tend());
  CHECK(inner.tended == 1);
  CHECK(sink.send(Sequences{}, {}));
  CHECK(status_of(status)["state"] == "acting");
  CHECK(status_of(status)["messages"] == 1);
  inner.newest->version = PolicyVersion{4};
  CHECK(sink.newest_parameters()->version == PolicyVersion{4});
  CHECK(status_of(status)["policy_version"] == 4);
  inner.newest.reset();
  CHECK_FALSE(sink.newest_parameters());
  inner.refuses = true;
  CHECK_FALSE(sink.next_work({}));
  CHECK_FALSE(sink.send(Sequences{}, {}));
  CHECK(status_of(status)["messages"] == 1);
}

}  // namespace
}  // namespace pacml::apps
