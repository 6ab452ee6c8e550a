#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "env/gpu_cluster/gpu_cluster_model.h"

namespace pacml::env {

// Lists of jobs as recorded schedules have them, to compare schedulers on: each an episode as it
// stands. Immutable; any thread.
class JobLists {
 public:
  // UserError names the file: it cannot be read, has no "jobs" or one that the model cannot run, or
  // as many as another file has not.
  JobLists(const GpuClusterModel& model, const std::vector<std::string>& files);

  [[nodiscard]] std::size_t size() const { return lists_.size(); }
  // By arrival, equal times in the order of the file; each keeps its number there. Pre: i < size().
  [[nodiscard]] const std::vector<GpuJobSpec>& operator[](std::size_t i) const {
    return lists_[i].jobs;
  }
  // What the file calls itself, or the file.
  [[nodiscard]] const std::string& name(std::size_t i) const { return lists_[i].name; }
  [[nodiscard]] double mean_alone_s() const { return mean_alone_s_; }
  // Of which others a future of list `i` may be taken when so many of its jobs have arrived: lists
  // may be windows of one recording that overlap, and what is truly still to come must not be
  // among what is imagined. Overlapping: kInCommon jobs in a row are the same but for their times.
  [[nodiscard]] std::vector<std::size_t> others_for(std::size_t i, std::size_t arrived) const;
  static constexpr std::size_t kInCommon = 16;

 private:
  void find_overlaps();

  struct List {
    std::string name;
    std::vector<GpuJobSpec> jobs;
  };
  std::vector<List> lists_;
  // [i][j]: of list i the jobs up to the last one that overlap with list j; 0: none.
  std::vector<std::vector<std::size_t>> overlaps_;
  double mean_alone_s_ = 0;
};

}  // namespace pacml::env
