#include "replay/payload_store.h"

#include <algorithm>
#include <vector>

#include "common/bytes.h"
#include "tests/support/catch.h"

using pacml::Bytes;
using pacml::replay::PayloadStore;

namespace {

bool holds(const PayloadStore& store, std::uint32_t slot, const Bytes& bytes) {
  const auto found = store.get(slot);
  return std::equal(found.begin(), found.end(), bytes.begin(), bytes.end());
}

}  // namespace

TEST_CASE("a slot's next payload of the same length takes its memory over") {
  PayloadStore store(2);
  store.put(0, Bytes(200, std::byte{1}));
  const auto* memory = store.get(0).data();
  store.drop(0);
  store.put(0, Bytes(197, std::byte{2}));  // the same footprint
  CHECK(store.get(0).data() == memory);
  CHECK(holds(store, 0, Bytes(197, std::byte{2})));
}

TEST_CASE("a payload store counts what it holds and what it keeps spare") {
  PayloadStore store(3);
  store.put(0, Bytes(9, std::byte{1}));
  store.put(1, Bytes(16, std::byte{2}));
  store.put(2, {});
  CHECK(store.bytes() == 32);
  CHECK(store.spare_bytes() == 0);
  store.drop(0);
  CHECK(store.bytes() == 16);
  CHECK(store.spare_bytes() == 16);
  CHECK(store.spare_of(0) == 16);
  CHECK(holds(store, 0, Bytes(9, std::byte{1})));  // the bytes stay
  SECTION("until they are released") {
    store.release(0);
    CHECK(store.spare_bytes() == 0);
    CHECK(store.get(0).empty());
  }
  SECTION("or until a payload of another length needs other memory") {
    store.put(0, Bytes(40, std::byte{3}));
    CHECK(store.spare_bytes() == 0);
    CHECK(store.bytes() == 56);
    CHECK(holds(store, 0, Bytes(40, std::byte{3})));
  }
}
