#include "replay/item.h"

#include "tests/support/catch.h"

using pacml::replay::ItemKey;

TEST_CASE("an item's key survives as one number") {
  for (const ItemKey key : {ItemKey{0, 0}, ItemKey{7, 1}, ItemKey{UINT32_MAX, 3},
                            ItemKey{5, UINT32_MAX}, ItemKey{UINT32_MAX, UINT32_MAX}}) {
    CHECK(ItemKey::unpack(key.pack()) == key);
  }
  CHECK(ItemKey{1, 2}.pack() == 0x0000'0002'0000'0001);
}
