#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/tensorboard/record_file.h"
#include "common/clock.h"
#include "common/fault_counter.h"

namespace pacml::apps {

// A scalar as TensorBoard groups it.
struct TaggedScalar {
  std::string tag;  // "evaluation/score"
  double value = 0;
};

// What a line of metrics.jsonl says in numbers: speed/..., learning/..., episode/...,
// evaluation/..., lag/..., work/..., count/..., replay/..., memory/...; at most kMostTags of them,
// by tag. Numbers that are not finite, and the list of peers, are left out. Pure.
inline constexpr std::size_t kMostTags = 200;
[[nodiscard]] std::vector<TaggedScalar> scalars_of(const nlohmann::json& line);

// A run's curves for TensorBoard: each process of the run writes a file of its own into the run's
// folder, of which TensorBoard makes one run. Steps are decisions. Points get rarer as the process
// gets older (one in a thousandth of its age), so that files stay small however long it runs: some
// 7000 points in a week. What cannot be written is lost, and counted. Thread-confined.
class TensorboardLog {
 public:
  // `settings`: the run's, as YAML: its hyper-parameters. `step`: where this process goes on; what
  // an earlier one told of it and of later ones is void. The folder and the file are made, where
  // they can be, now or with the next point. Borrows the clock.
  TensorboardLog(std::filesystem::path folder, std::string settings, std::int64_t step,
                 const Clock& clock);

  // A line of metrics, and how often each action was taken since the line before.
  void write(std::int64_t step, const nlohmann::json& line, std::span<const std::int64_t> actions);
  // The last line, however soon it comes, and that the run has ended.
  void finish(std::int64_t step, const nlohmann::json& line, std::span<const std::int64_t> actions);

 private:
  void count(std::span<const std::int64_t> actions);
  void tell(std::int64_t step, const nlohmann::json& line);
  // False: there is no file that has its first records, and none can be made.
  [[nodiscard]] bool opened();
  // False: it could not be written.
  bool append(const std::string& record);

  const std::filesystem::path folder_;
  const std::string settings_;
  const std::int64_t first_step_;
  const Clock* clock_;
  std::optional<RecordFile> file_;
  std::deque<std::string> first_records_;  // of file_, that are still to be written
  FaultCounter faults_{"TensorBoard events could not be written"};
  TimePoint begun_;
  TimePoint next_;
  std::vector<std::int64_t> actions_;  // since the last point
};

}  // namespace pacml::apps
