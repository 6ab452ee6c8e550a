#include "env/tasks/ramp/memos.h"

#include <utility>

#include "common/check.h"

namespace pacml::env {

RampMemos::RampMemos(std::span<const JobGraphPtr> graphs,
                     std::vector<ExecutionMemo::Setting> settings)
    : graphs_(graphs.begin(), graphs.end()),
      settings_(std::move(settings)),
      memos_(settings_.size()) {}

const std::shared_ptr<ExecutionMemo>& RampMemos::of(std::size_t cluster) {
  PACML_CHECK(cluster < memos_.size(), "no cluster of that number");
  auto& memo = memos_[cluster];
  if (!memo) memo = std::make_shared<ExecutionMemo>(graphs_, settings_[cluster]);
  return memo;
}

}  // namespace pacml::env
