#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "env/ramp/execution_memo.h"

namespace pacml::env {

// What one thread remembers of each cluster that a task's episodes are on. Thread-confined;
// environments of one thread share it.
class RampMemos {
 public:
  RampMemos(std::span<const JobGraphPtr> graphs, std::vector<ExecutionMemo::Setting> settings);
  // That of the cluster of this number, made when it is first asked for. Pre: there is one
  // (PACML_CHECK).
  [[nodiscard]] const std::shared_ptr<ExecutionMemo>& of(std::size_t cluster);

 private:
  std::vector<JobGraphPtr> graphs_;
  std::vector<ExecutionMemo::Setting> settings_;
  std::vector<std::shared_ptr<ExecutionMemo>> memos_;  // [clusters]; null: not asked for
};

}  // namespace pacml::env
