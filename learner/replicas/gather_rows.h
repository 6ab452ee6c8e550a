#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "learner/replicas/replica_group.h"

namespace pacml::learner {

// ReplicaGroup::gather of a struct of doubles: one Row for each replica, in the order of ranks.
template <class Row>
requires(std::is_trivially_copyable_v<Row> && sizeof(Row) % sizeof(double) == 0)
    [[nodiscard]] Result<std::vector<Row>> gather_rows(ReplicaGroup& group, const Row& mine) {
  using Columns = std::array<double, sizeof(Row) / sizeof(double)>;
  std::vector<double> all;
  const auto columns = std::bit_cast<Columns>(mine);
  if (auto gathered = group.gather(columns, all); !gathered) {
    return tl::unexpected(gathered.error());
  }
  std::vector<Row> rows;
  for (std::size_t r = 0; r < group.size(); ++r) {
    Columns row{};
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = all[r * row.size() + i];
    rows.push_back(std::bit_cast<Row>(row));
  }
  return rows;
}

}  // namespace pacml::learner
