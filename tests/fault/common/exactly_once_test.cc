#include <chrono>
#include <set>

#include "common/transport/in_process.h"
#include "common/wire/codec.h"
#include "common/wire/sequence_tracker.h"
#include "tests/support/catch.h"
#include "tests/support/faulty_channel.h"
#include "tests/support/wire_samples.h"

namespace pacml {
namespace {

using namespace std::chrono_literals;
using testing::FaultPlan;
using testing::FaultyClient;
using wire::Experience;
using wire::SequenceTracker;

struct Counts {
  std::uint64_t accepted = 0;
  std::uint64_t rejected = 0;  // did not decode
  std::set<std::uint64_t> sequences;
};

// The receiving half of a learner: what is in the server's queue now.
void drain(transport::FrameServer& server, SequenceTracker& tracker, Counts& counts) {
  while (auto incoming = server.receive(Deadline::now())) {
    const auto message = wire::decode(incoming->frame);
    const auto* experience = message ? std::get_if<Experience>(&*message) : nullptr;
    if (experience == nullptr) {
      ++counts.rejected;
      continue;
    }
    if (tracker.accept(experience->actor, experience->incarnation, experience->sequence) ==
        SequenceTracker::Verdict::kAccept) {
      ++counts.accepted;
      counts.sequences.insert(experience->sequence.get());
    }
  }
}

TEST_CASE("over an unreliable network each message counts once, and each loss is counted",
          "[fault][wire]") {
  const auto seed = GENERATE(range(0, 20));
  INFO("seed " << seed);
  const Seed run{static_cast<std::uint64_t>(seed)};
  transport::InProcessHub hub;
  auto server = hub.make_server();
  auto client = hub.connect();
  const FaultPlan plan{.drop = 10, .duplicate = 10, .delay = 10, .truncate = 5, .disconnect = 5};
  FaultyClient faulty(*client, plan, run);
  Rng rng(run);
  SequenceTracker tracker;
  Counts counts;

  constexpr std::uint64_t kMessages = 300;
  for (std::uint64_t n = 1; n <= kMessages; ++n) {
    const Experience experience{ActorId{0}, Incarnation{1}, Sequence{n},
                                testing::random_sequences(rng)};
    wire::Frame frame = wire::encode(experience);
    // As an actor does: a refused send is tried again, since the frame is untouched.
    Result<void> sent = fail(Errc::kTimeout);
    while (!sent) sent = faulty.send(std::move(frame), Deadline::in(1s));
    drain(*server, tracker, counts);
  }
  REQUIRE(faulty.flush(Deadline::in(1s)));
  drain(*server, tracker, counts);

  REQUIRE(counts.sequences.size() == counts.accepted);
  REQUIRE(counts.rejected == faulty.damaged());
  // What is missing before the last accepted number is exactly what the tracker calls gaps.
  const std::uint64_t last = *counts.sequences.rbegin();
  REQUIRE(tracker.gaps() == last - counts.accepted);
  REQUIRE(faulty.lost() > 0);
  REQUIRE(tracker.duplicates() > 0);
  // Frames that were overtaken come too late and are dropped as duplicates; nothing else is
  // missing.
  REQUIRE(tracker.gaps() <= faulty.lost() + faulty.damaged() + tracker.duplicates());
}

TEST_CASE("a flipped bit never ends the receiver and never passes for invalid experience",
          "[fault][wire]") {
  const auto seed = GENERATE(range(0, 20));
  INFO("seed " << seed);
  const Seed run{static_cast<std::uint64_t>(seed)};
  transport::InProcessHub hub;
  auto server = hub.make_server();
  auto client = hub.connect();
  FaultyClient faulty(*client, {.flip_bit = 100}, run);
  Rng rng(run);
  for (std::uint64_t n = 1; n <= 100; ++n) {
    const Experience experience{ActorId{0}, Incarnation{1}, Sequence{n},
                                testing::random_sequences(rng)};
    REQUIRE(faulty.send(wire::encode(experience), Deadline::in(1s)));
    const auto incoming = server->receive(Deadline::in(1s));
    REQUIRE(incoming);
    const auto message = wire::decode(incoming->frame);
    if (!message) continue;
    if (const auto* damaged = std::get_if<Experience>(&*message)) {
      REQUIRE(validate(damaged->sequences).has_value());
    }
  }
}

}  // namespace
}  // namespace pacml
