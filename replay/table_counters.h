#pragma once

#include <cstdint>

namespace pacml::replay {

// What happened to a table since it was new; a restored table goes on counting.
struct TableCounters {
  std::uint64_t inserted = 0;
  std::uint64_t refused = 0;  // inserts: not a priority, or longer than the byte bound
  std::uint64_t sampled = 0;  // draws
  std::uint64_t evicted = 0;  // items that made room
  std::uint64_t used_up = 0;  // items that went after max_times_sampled draws
  std::uint64_t updates_applied = 0;
  std::uint64_t updates_evicted = 0;  // dropped: the item is no longer there
  std::uint64_t updates_refused = 0;  // dropped: not a priority
  bool operator==(const TableCounters&) const = default;
};

}  // namespace pacml::replay
