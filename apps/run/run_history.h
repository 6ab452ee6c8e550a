#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "apps/run/followed_file.h"

namespace pacml::apps {

// The curves of a run: the numbers of its metrics.jsonl, thinned to what a chart can show. Follows
// a file that another process writes. What is no line of metrics is counted and passed over, and
// the end of a line that is still to come is waited for. Where a run went on from an earlier
// checkpoint, what it had told of the decisions behind that is void, and is dropped. Memory is
// bounded, whatever the file holds. Thread-confined.
class RunHistory {
 public:
  static constexpr std::size_t kMostRows = 400;
  static constexpr std::size_t kMostCurves = 96;

  explicit RunHistory(std::filesystem::path file);
  RunHistory(RunHistory&&) noexcept;
  RunHistory& operator=(RunHistory&&) noexcept;
  ~RunHistory();

  // Reads on, about `budget` bytes at most. True: there are more.
  bool read(std::size_t budget = std::size_t{4} << 20);

  struct Curves {
    std::size_t rows = 0;
    // By name, members of members joined by a slash: "policy_lag/p99"; [rows], each the mean of as
    // many lines as a row stands for, NaN where none has the number.
    std::map<std::string, std::vector<double>> columns;
  };
  [[nodiscard]] Curves curves() const;
  // The newest whole line; an empty object where there is none.
  [[nodiscard]] const nlohmann::json& newest() const;
  [[nodiscard]] std::int64_t lines() const { return lines_; }
  // Lines that were none of metrics.
  [[nodiscard]] std::int64_t broken() const { return broken_; }
  // Whether the file ends within a line.
  [[nodiscard]] bool is_cut() const { return is_cut_; }

 private:
  // Sums and counts of the lines that a row stands for.
  struct Cell {
    double sum = 0;
    std::int64_t count = 0;
  };
  [[nodiscard]] std::size_t rows() const { return decisions_.size(); }
  void take(std::string_view line);
  // The rows that tell of more decisions than these are void.
  void go_back(double decisions);
  void add(const std::string& name, const nlohmann::json& value);
  void halve();
  void begin_anew();

  FollowedFile file_;
  bool is_cut_ = false;
  bool skipping_ = false;  // within a line that is too long to be one
  std::int64_t lines_ = 0;
  std::int64_t broken_ = 0;
  std::int64_t lines_per_row_ = 1;
  std::int64_t lines_in_last_row_ = 0;
  std::vector<double> decisions_;                   // [rows], that their last lines tell of
  std::map<std::string, std::vector<Cell>> cells_;  // columns may be shorter than rows()
  std::unique_ptr<nlohmann::json> newest_;
};

}  // namespace pacml::apps
