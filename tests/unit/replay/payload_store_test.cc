#include "replay/payload_store.h"

#include <algorithm>
#include <deque>
#include <vector>

#include "common/bytes.h"
#include "common/rng.h"
#include "tests/support/catch.h"

using pacml::Bytes;
using pacml::Rng;
using pacml::Seed;
using pacml::replay::PayloadStore;

namespace {

bool holds(const PayloadStore& store, std::uint32_t slot, const Bytes& bytes) {
  const auto found = store.get(slot);
  return std::equal(found.begin(), found.end(), bytes.begin(), bytes.end());
}

}  // namespace

TEST_CASE("a payload takes little more memory than its length, and few sizes there are") {
  CHECK(PayloadStore::footprint(0) == 0);
  CHECK(PayloadStore::footprint(1) == 8);
  CHECK(PayloadStore::footprint(198) == 200);
  CHECK(PayloadStore::footprint(200) == 200);
  CHECK(PayloadStore::footprint(257) == 272);
  std::size_t sizes = 0;
  std::size_t last = 0;
  for (std::size_t length = 0; length <= 70'000; ++length) {
    const std::size_t size = PayloadStore::footprint(length);
    REQUIRE(size >= std::max(length, last));
    REQUIRE(size <= length + std::max<std::size_t>(7, length / 16));
    REQUIRE(PayloadStore::footprint(size) == size);
    sizes += size != last ? 1 : 0;
    last = size;
  }
  CHECK(sizes < 200);
}

TEST_CASE("a payload takes over the memory that one of its size left, in whatever slot") {
  PayloadStore store(2);
  store.put(0, Bytes(200, std::byte{1}));
  const auto* memory = store.get(0).data();
  store.drop(0);
  store.put(1, Bytes(197, std::byte{2}));  // the same footprint
  CHECK(store.get(1).data() == memory);
  CHECK(holds(store, 1, Bytes(197, std::byte{2})));
  CHECK(store.spare_bytes() == 0);
}

TEST_CASE("a payload store counts what it holds and what it keeps spare") {
  PayloadStore store(3);
  store.put(0, Bytes(9, std::byte{1}));
  store.put(1, Bytes(16, std::byte{2}));
  store.put(2, {});
  CHECK(store.bytes() == 32);
  CHECK(store.spare_bytes() == 0);
  const auto lent = store.get(0);
  store.drop(0);
  store.drop(2);
  CHECK(store.bytes() == 16);
  CHECK(store.spare_bytes() == 16);
  CHECK(std::ranges::all_of(lent, [](std::byte b) { return b == std::byte{1}; }));  // still there
  store.put(0, Bytes(40, std::byte{3}));  // needs other memory
  CHECK(store.spare_bytes() == 16);
  CHECK(store.bytes() == 56);
  CHECK(holds(store, 0, Bytes(40, std::byte{3})));
}

TEST_CASE("spare memory goes before the bound is passed, whatever the lengths") {
  constexpr std::size_t kSlots = 50;
  constexpr std::size_t kBound = 20'000;
  PayloadStore store(kSlots, kBound);
  std::vector<Bytes> held(kSlots);
  std::deque<std::uint32_t> order;
  Rng rng(Seed{1});
  bool had_spare = false;
  for (std::uint32_t i = 0; i < 5000; ++i) {
    const auto slot = static_cast<std::uint32_t>(i % kSlots);
    const Bytes payload(1 + rng.below(rng.below(10) == 0 ? 3000 : 300), std::byte(i % 251));
    while (!order.empty() && (order.size() == kSlots ||
                              store.bytes() + PayloadStore::footprint(payload.size()) > kBound)) {
      store.drop(order.front());
      held[order.front()].clear();
      order.pop_front();
    }
    store.put(slot, payload);
    held[slot] = payload;
    order.push_back(slot);
    REQUIRE(store.bytes() + store.spare_bytes() <= kBound);
    had_spare |= store.spare_bytes() > 0;
    for (const std::uint32_t s : order) REQUIRE(holds(store, s, held[s]));
  }
  CHECK(had_spare);
}

TEST_CASE("without a bound, too, no more memory is kept spare than payloads take, or a little") {
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  constexpr std::uint32_t kSlots = 40;
  PayloadStore store(kSlots + 1);
  for (std::uint32_t slot = 0; slot < kSlots; ++slot) store.put(slot, Bytes(kMiB, std::byte{1}));
  for (std::uint32_t slot = 0; slot < 20; ++slot) store.drop(slot);
  store.put(kSlots, Bytes(8, std::byte{2}));
  CHECK(store.spare_bytes() == 20 * kMiB);  // as much as is held
  const auto lent = store.get(kSlots - 1);
  for (std::uint32_t slot = 20; slot < kSlots; ++slot) store.drop(slot);
  CHECK(store.spare_bytes() == kSlots * kMiB);
  CHECK(std::ranges::all_of(lent, [](std::byte b) { return b == std::byte{1}; }));  // still there
  store.put(0, Bytes(8, std::byte{3}));
  CHECK(store.spare_bytes() == 16 * kMiB);
  CHECK(holds(store, kSlots, Bytes(8, std::byte{2})));
  store.put(1, Bytes(kMiB, std::byte{4}));  // takes one of them
  CHECK(store.spare_bytes() == 15 * kMiB);
  CHECK(holds(store, 1, Bytes(kMiB, std::byte{4})));
}
