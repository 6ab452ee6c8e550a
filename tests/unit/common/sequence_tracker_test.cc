#include "common/wire/sequence_tracker.h"

#include "tests/support/catch.h"

namespace pacml::wire {
namespace {

using Verdict = SequenceTracker::Verdict;

Verdict offer(SequenceTracker& tracker, std::uint32_t actor, std::uint64_t incarnation,
              std::uint64_t sequence) {
  return tracker.accept(ActorId{actor}, Incarnation{incarnation}, Sequence{sequence});
}

TEST_CASE("numbers in order are accepted once", "[wire]") {
  SequenceTracker tracker;
  REQUIRE(offer(tracker, 0, 1, 1) == Verdict::kAccept);
  REQUIRE(offer(tracker, 0, 1, 2) == Verdict::kAccept);
  REQUIRE(offer(tracker, 0, 1, 2) == Verdict::kDuplicate);
  REQUIRE(offer(tracker, 0, 1, 1) == Verdict::kDuplicate);
  REQUIRE(tracker.accepted() == 2);
  REQUIRE(tracker.duplicates() == 2);
  REQUIRE(tracker.gaps() == 0);
}

TEST_CASE("each number that is passed over is a gap", "[wire]") {
  SequenceTracker tracker;
  REQUIRE(offer(tracker, 0, 1, 3) == Verdict::kAccept);
  REQUIRE(tracker.gaps() == 2);
  REQUIRE(offer(tracker, 0, 1, 5) == Verdict::kAccept);
  REQUIRE(tracker.gaps() == 3);
}

TEST_CASE("a new life starts at one, and the old one is stale", "[wire]") {
  SequenceTracker tracker;
  REQUIRE(offer(tracker, 0, 1, 9) == Verdict::kAccept);
  REQUIRE(offer(tracker, 0, 2, 1) == Verdict::kAccept);
  REQUIRE(offer(tracker, 0, 1, 10) == Verdict::kStale);
  REQUIRE(tracker.gaps() == 8);
  REQUIRE(tracker.stale() == 1);
  REQUIRE(tracker.last_accepted(ActorId{0}, Incarnation{2}) == Sequence{1});
  REQUIRE(tracker.last_accepted(ActorId{0}, Incarnation{1}) == Sequence{0});
}

TEST_CASE("actors are counted apart", "[wire]") {
  SequenceTracker tracker;
  REQUIRE(offer(tracker, 0, 1, 1) == Verdict::kAccept);
  REQUIRE(offer(tracker, 1, 1, 1) == Verdict::kAccept);
  REQUIRE(tracker.last_accepted(ActorId{2}, Incarnation{1}) == Sequence{0});
}

}  // namespace
}  // namespace pacml::wire
