#include "replay/slot_set.h"

#include "tests/support/catch.h"

using pacml::replay::SlotSet;

TEST_CASE("a set of slots finds its members in order") {
  SlotSet set(130);
  CHECK(set.next(0) == SlotSet::kNone);
  for (const std::uint32_t slot : {0U, 63U, 64U, 129U}) set.add(slot);
  CHECK(set.next(0) == 0);
  CHECK(set.next(1) == 63);
  CHECK(set.next(64) == 64);
  CHECK(set.next(65) == 129);
  CHECK(set.next(130) == SlotSet::kNone);
  CHECK(set.next(4000) == SlotSet::kNone);
}

TEST_CASE("a slot that was erased is no member") {
  SlotSet set(64);
  set.add(5);
  set.add(6);
  set.erase(5);
  CHECK_FALSE(set.contains(5));
  CHECK(set.contains(6));
  CHECK(set.next(0) == 6);
}
