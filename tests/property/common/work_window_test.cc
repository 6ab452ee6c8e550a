#include "common/serving/work_window.h"

#include <algorithm>
#include <deque>
#include <map>
#include <ranges>
#include <vector>

#include "common/rng.h"
#include "tests/support/catch.h"

namespace pacml::serving {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kStart{};

ActorId name(std::size_t i) { return ActorId{static_cast<std::uint32_t>(i)}; }

// Actors that use each grant after a while, and a server that consumes messages in their order.
class Traffic {
 public:
  Traffic(const WorkWindowConfig& config, std::size_t actors, const WorkUnit& unit)
      : window(config), taken(actors, 0), granted_(actors), unit_(unit) {
    for (std::size_t i = 0; i < actors; ++i) window.join(name(i), unit);
    hand_out();
  }

  void hand_out() {
    while (const auto grant = window.grant(now)) {
      granted_[grant->actor.get()].push_back(grant->unrolls * unit_.unroll);
      ready_.push_back(grant->actor.get());
    }
  }
  // Some actor that has a grant sends its message.
  void send(std::size_t which) {
    if (ready_.empty()) return;
    const auto at = ready_.begin() + static_cast<std::ptrdiff_t>(which % ready_.size());
    const std::size_t actor = *at;
    ready_.erase(at);
    const std::uint64_t decisions = granted_[actor].front();
    granted_[actor].pop_front();
    window.arrived(name(actor), 0, decisions, now);
    queue_.push_back({actor, decisions});
  }
  bool consume() {
    if (queue_.empty()) return false;
    const auto [actor, decisions] = queue_.front();
    queue_.pop_front();
    window.consumed(name(actor), decisions);
    taken[actor] += decisions;
    hand_out();
    return true;
  }
  [[nodiscard]] bool can_send() const { return !ready_.empty(); }

  WorkWindow window;
  TimePoint now = kStart;
  std::vector<std::uint64_t> taken;  // decisions of each that were consumed

 private:
  std::vector<std::deque<std::uint64_t>> granted_;
  WorkUnit unit_;
  std::deque<std::size_t> ready_;  // an actor for each grant that it has
  std::deque<std::pair<std::size_t, std::uint64_t>> queue_;
};

WorkWindowConfig small_window(std::uint64_t least, std::uint64_t most) {
  WorkWindowConfig config;
  config.least = least;
  config.most = most;
  config.small = 250;
  return config;
}

TEST_CASE("whatever happens, no more is in flight than the window has room for",
          "[property][window]") {
  const auto seed = GENERATE(range(0, 100));
  INFO("seed " << seed);
  Rng rng(Seed{static_cast<std::uint64_t>(seed)});
  WorkWindowConfig config = small_window(1 + rng.below(5'000), 0);
  config.most = config.least + rng.below(20'000);
  config.messages_per_actor = 1 + rng.below(4);
  WorkWindow window(config);
  struct Life {
    std::deque<std::uint64_t> granted;  // that count
    WorkUnit unit;
  };
  std::map<ActorId, Life> actors;
  std::deque<std::pair<ActorId, std::uint64_t>> queue;
  TimePoint now = kStart;
  for (int step = 0; step < 3'000; ++step) {
    const ActorId actor = name(rng.below(12));
    now += std::chrono::milliseconds(rng.below(20));
    switch (rng.below(10)) {
      case 0: {
        const WorkUnit unit{1 + rng.below(60), 1 + rng.below(40)};
        window.join(actor, unit);
        actors[actor] = {{}, unit};
        break;
      }
      case 1:
        window.leave(actor);
        actors.erase(actor);
        break;
      case 2:
        window.adapt(rng.below(2) == 0);
        break;
      case 3:
        window.expire(now);
        break;
      case 4:
      case 5:
      case 6: {
        const auto life = actors.find(actor);
        if (life == actors.end() || life->second.granted.empty()) break;
        const std::uint64_t decisions = life->second.granted.front();
        life->second.granted.pop_front();
        window.arrived(actor, 0, decisions, now);
        queue.emplace_back(actor, decisions);
        break;
      }
      default:
        if (queue.empty()) break;
        window.consumed(queue.front().first, queue.front().second);
        queue.pop_front();
    }
    std::uint64_t come = 0;
    for (const auto& [who, decisions] : queue) come += decisions;
    REQUIRE(window.come() == come);
    REQUIRE(window.in_flight() >= come);
    std::size_t messages = 0;
    while (const auto grant = window.grant(now)) {
      Life& life = actors.at(grant->actor);
      REQUIRE(grant->unrolls >= 1);
      REQUIRE(grant->unrolls <= life.unit.most_unrolls);
      life.granted.push_back(grant->unrolls * life.unit.unroll);
      // One that is larger than the whole window is alone.
      REQUIRE((window.in_flight() <= window.window() || window.in_flight() == life.granted.back()));
      REQUIRE(life.granted.size() <= config.messages_per_actor);
      REQUIRE(++messages < 1'000);
    }
    REQUIRE(window.window() <= config.most);
  }
}

TEST_CASE("what is in flight returns to nothing when all have left and all is consumed",
          "[property][window]") {
  const auto seed = GENERATE(range(0, 50));
  INFO("seed " << seed);
  Rng rng(Seed{static_cast<std::uint64_t>(seed)});
  Traffic traffic(small_window(3'000, 20'000), 1 + rng.below(40), {50, 32});
  for (int step = 0; step < 500; ++step) {
    if (rng.below(2) == 0) {
      traffic.send(rng.below(100));
    } else {
      traffic.consume();
    }
    traffic.now += std::chrono::milliseconds(rng.below(300));
    if (rng.below(20) == 0) traffic.window.expire(traffic.now);
  }
  for (std::size_t i = 0; i < traffic.taken.size(); ++i) traffic.window.leave(name(i));
  while (traffic.consume()) {
  }
  CHECK(traffic.window.in_flight() == 0);
  CHECK(traffic.window.acting() == 0);
  CHECK(traffic.window.actors() == 0);
}

TEST_CASE("actors are served alike, however many they are and in whatever order they send",
          "[property][window]") {
  const auto actors = GENERATE(1, 2, 8, 64, 256, 1'000);
  const auto seed = GENERATE(range(0, 3));
  INFO("seed " << seed << ", " << actors << " actors");
  Rng rng(Seed{static_cast<std::uint64_t>(seed)});
  const auto count = static_cast<std::size_t>(actors);
  Traffic traffic(small_window(6'000, 20'000), count, {50, 32});
  for (std::size_t step = 0; step < 60 * count; ++step) {
    REQUIRE((traffic.can_send() || traffic.window.come() > 0));
    for (std::size_t sent = rng.below(6); sent > 0; --sent) traffic.send(rng.below(1'000));
    while (rng.below(4) != 0) traffic.consume();
  }
  while (*std::ranges::min_element(traffic.taken) < 10'000) {
    REQUIRE((traffic.can_send() || traffic.window.come() > 0));
    traffic.send(rng.below(1'000));
    traffic.consume();
  }
  const auto [least, most] = std::ranges::minmax(traffic.taken);
  INFO("least " << least << ", most " << most);
  CHECK(least >= 10'000);
  CHECK(static_cast<double>(most) <= 1.5 * static_cast<double>(least));
}

TEST_CASE("who was there first does not wait until all others have had as much",
          "[property][window]") {
  WorkWindowConfig config = small_window(6'000, 20'000);
  config.messages_per_actor = 4;
  WorkWindow window(config);
  std::deque<std::pair<ActorId, std::uint64_t>> granted;
  const auto hand_out = [&] {
    while (const auto grant = window.grant(kStart)) {
      granted.emplace_back(grant->actor, grant->unrolls * 50);
    }
  };
  constexpr std::size_t kActors = 300;
  for (std::size_t i = 0; i < kActors; ++i) {
    window.join(name(i), {50, 32});
    hand_out();
  }
  std::map<ActorId, std::uint64_t> taken;
  // What was granted before all were there is of the past.
  for (std::size_t message = 0; message < 7 * kActors; ++message) {
    REQUIRE_FALSE(granted.empty());
    const auto [actor, decisions] = granted.front();
    granted.pop_front();
    window.arrived(actor, 0, decisions, kStart);
    window.consumed(actor, decisions);
    if (message >= kActors) taken[actor] += decisions;
    if (message % 50 == 0) window.expire(kStart);
    hand_out();
  }
  REQUIRE(taken.size() == kActors);
  const auto [least, most] = std::ranges::minmax(std::views::values(taken));
  CHECK(static_cast<double>(most) <= 1.5 * static_cast<double>(least));
}

TEST_CASE("an actor that never answers takes its share from nobody for longer than the patience",
          "[property][window]") {
  WorkWindowConfig config = small_window(1'000, 1'000);
  config.messages_per_actor = 2;
  WorkWindow window(config);
  const std::size_t dead = GENERATE(1U, 3U, 10U);
  for (std::size_t i = 0; i < dead; ++i) window.join(name(i), {50, 20});
  while (window.grant(kStart)) {
  }
  REQUIRE(window.in_flight() > 0);
  // One more comes, for whom there is no room as long as the others may still answer.
  window.join(name(99), {50, 20});
  window.expire(kStart + config.patience - 1ms);
  if (dead >= 3) REQUIRE_FALSE(window.grant(kStart));
  window.expire(kStart + config.patience);
  CHECK(window.in_flight() == 0);
  CHECK(window.acting() == 0);
  const auto grant = window.grant(kStart + config.patience);
  REQUIRE(grant);
  CHECK((grant->actor == name(99) || dead == 10));  // of ten, some had nothing yet
  // One that was only slow takes part again.
}

TEST_CASE("an actor that was only slow takes part again when it has spoken", "[property][window]") {
  const WorkWindowConfig config = small_window(1'000, 1'000);
  WorkWindow window(config);
  window.join(name(0), {50, 20});
  while (window.grant(kStart)) {
  }
  window.expire(kStart + config.patience);
  CHECK_FALSE(window.grant(kStart + config.patience));
  window.arrived(name(0), 0, 500, kStart + config.patience);
  CHECK(window.in_flight() == 500);  // it counts, though its grant was taken back
  window.consumed(name(0), 500);
  CHECK_FALSE(window.grant(kStart + config.patience));  // it still owes another
  window.arrived(name(0), 0, 500, kStart + config.patience);
  window.consumed(name(0), 500);
  CHECK(window.grant(kStart + config.patience));
}

TEST_CASE("messages that were lost give their room back with the next that comes",
          "[property][window]") {
  WorkWindowConfig config = small_window(6'000, 6'000);
  config.messages_per_actor = 4;
  WorkWindow window(config);
  window.join(name(0), {50, 10});
  for (int i = 0; i < 4; ++i) REQUIRE(window.grant(kStart));
  REQUIRE(window.in_flight() == 2'000);
  window.arrived(name(0), 2, 500, kStart);
  CHECK(window.in_flight() == 1'000);
  window.consumed(name(0), 500);
  CHECK(window.in_flight() == 500);
}

TEST_CASE("messages become smaller as actors become more, and no smaller than they need to be",
          "[property][window]") {
  const WorkUnit unit{50, 32};
  std::uint64_t before = 32;
  for (const std::size_t actors : {1U, 2U, 8U, 64U, 1'000U}) {
    WorkWindow window(small_window(6'000, 20'000));
    for (std::size_t i = 0; i < actors; ++i) window.join(name(i), unit);
    const auto grant = window.grant(kStart);
    REQUIRE(grant);
    CHECK(grant->unrolls <= before);
    CHECK(grant->unrolls * 50 >= 250);
    before = grant->unrolls;
  }
  CHECK(before == 5);
}

TEST_CASE("whole messages make a batch, with any number of actors", "[property][window]") {
  Rng rng(Seed{5});
  for (int trial = 0; trial < 2'000; ++trial) {
    const WorkUnit unit{1 + rng.below(60), 1 + rng.below(64)};
    WorkWindowConfig config;
    config.batch = 1 + rng.below(5'000);
    config.least = 3 * config.batch;
    config.most = 10 * config.batch;
    config.small = std::max<std::uint64_t>(1, config.batch / 8);
    const std::size_t actors = 1 + rng.below(200);
    INFO(unit.unroll << " x " << unit.most_unrolls << ", batch " << config.batch << ", " << actors
                     << " actors");
    WorkWindow window(config);
    for (std::size_t i = 0; i < actors; ++i) window.join(name(i), unit);
    WorkWindowConfig loose = config;
    loose.batch = 0;
    WorkWindow undivided(loose);
    for (std::size_t i = 0; i < actors; ++i) undivided.join(name(i), unit);
    const auto grant = window.grant(kStart);
    const auto most = undivided.grant(kStart);
    REQUIRE((grant && most));
    CHECK(grant->unrolls >= 1);
    CHECK(grant->unrolls <= most->unrolls);
    const auto messages_of = [&](std::uint64_t unrolls) {
      const std::uint64_t decisions = unrolls * unit.unroll;
      return (config.batch + decisions - 1) / decisions;
    };
    // No more messages, and less than an unroll of each is too much.
    CHECK(messages_of(grant->unrolls) == messages_of(most->unrolls));
    const std::uint64_t taken = messages_of(grant->unrolls) * grant->unrolls * unit.unroll;
    CHECK(taken >= config.batch);
    CHECK(taken - config.batch < (messages_of(grant->unrolls) + 1) * unit.unroll);
  }
}

TEST_CASE("a server that waits for work opens its window, and one that does not closes it again",
          "[property][window]") {
  Traffic traffic(small_window(6'000, 20'000), 1'000, {50, 32});
  REQUIRE(traffic.window.window() == 6'000);
  const std::size_t few = traffic.window.acting();
  for (int i = 0; i < 40; ++i) {
    traffic.window.adapt(true);
    traffic.hand_out();
  }
  CHECK(traffic.window.window() == 20'000);
  CHECK(traffic.window.acting() > 2 * few);  // and more of them have a little each
  for (int i = 0; i < 100; ++i) traffic.window.adapt(false);
  CHECK(traffic.window.window() == 6'000);
  traffic.window.limit(500);
  CHECK(traffic.window.window() == 500);
}

TEST_CASE("a server that is held up asks for no smaller messages, though it has nothing to do",
          "[property][window]") {
  Traffic traffic(small_window(6'000, 6'000), 100, {50, 32});
  traffic.window.limit(500);
  for (int i = 0; i < 100; ++i) {
    traffic.window.adapt(true);
    while (traffic.can_send()) traffic.send(0);
    while (traffic.consume()) {
    }
  }
  traffic.window.adapt(true);
  traffic.window.join(name(1'000), {50, 32});
  traffic.window.limit(WorkWindowConfig::kUnlimited);
  const auto grant = traffic.window.grant(kStart);
  REQUIRE(grant);
  CHECK(grant->unrolls == 5);
}

}  // namespace
}  // namespace pacml::serving
