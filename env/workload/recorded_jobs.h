#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <istream>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "common/config/fields.h"
#include "env/workload/distribution.h"
#include "env/workload/job_pool.h"

namespace pacml::env {

// Of a record, what was known beforehand or what came later.
enum class RecordPart { kKnown, kRest };
constexpr auto enum_names(RecordPart) {
  return std::to_array<EnumName<RecordPart>>(
      {{"known", RecordPart::kKnown}, {"rest", RecordPart::kRest}});
}

// Jobs out of a file instead of drawn ones.
struct RecordedJobsConfig {
  std::string file = {};  // .csv or .jsonl (read_recorded_jobs); empty: jobs are drawn
  // The first share of its jobs, by which futures are imagined, whichever part is played; above 0,
  // to 1.
  double known = 0.7;
  RecordPart part = RecordPart::kKnown;  // that episodes play: to train on, or to be judged by
  bool operator==(const RecordedJobsConfig&) const = default;
};
template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, RecordedJobsConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("file", c.file);
  v("known", c.known);
  v("part", c.part);
}
[[nodiscard]] std::vector<std::string> validate(const RecordedJobsConfig& c);

// A job as a file has it.
struct JobLine {
  double arrival = 0;                   // in simulated time, as workload.interarrival
  std::string model = {};               // name of a job graph
  std::optional<double> fraction = {};  // of its time on one device that it may take; in (0, 1]
  std::optional<double> limit = {};     // the same, as a simulated time
  bool operator==(const JobLine&) const = default;
};

// Calls `take` with each job of a file, and with where it stands ("FILE:line"). The first line of a
// table names its columns, in any order: arrival, model, and fraction or limit where there is one;
// others are passed over. A line of JSON is an object with these keys. Bounded: lines of 64 KiB at
// most. UserError, "FILE:line...": a column that is missing or comes twice, a field that is not
// what it should be, a job that arrives before the one above it.
void read_recorded_jobs(std::istream& in, const std::string& name,
                        const std::function<void(const JobLine&, const std::string&)>& take);

// Whether such a file's first line is its header, or a line of JSON with an arrival and a model.
// Pure.
[[nodiscard]] bool begins_recorded_jobs(const std::string& first_line);

// The models that a record's jobs are of.
struct RecordedModels {
  std::span<const std::string> names;
  std::span<const double> alone;  // what a job of each takes on one device, simulated time
};

// The jobs of a record in the order of their arrival. Jobs that arrive together come 1e-6 of the
// mean time between arrivals after one another, since decisions are taken one by one. Immutable.
class RecordedJobs {
 public:
  // Jobs of which the record gives no limit get a fraction of `requirement`, the same in every
  // episode; a limit beyond the time on one device is that time. UserError, or TryAgainError where
  // that may pass: the file cannot be read, a model that is not there, more than 5 million jobs, a
  // part without two of them, or without any time between them.
  RecordedJobs(const RecordedJobsConfig& config, const RecordedModels& models,
               const Distribution& requirement);

  // Jobs [first, first + count) of the record.
  struct Part {
    std::size_t first = 0;
    std::size_t count = 0;
  };
  [[nodiscard]] Part known() const { return known_; }
  [[nodiscard]] Part played() const { return played_; }
  // All jobs. Its statistics are those of the known part, so that what is observed means the same
  // in every part and tells nothing of what is to come.
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): made by every constructor
  [[nodiscard]] const JobPool& pool() const { return *pool_; }
  // Of what the record says of its jobs, however its file is written: equal jobs, equal hash.
  [[nodiscard]] std::uint64_t hash() const { return hash_; }
  // From the arrival of the job before; of a part's first job, which comes after its last one where
  // an episode goes on from the beginning, the mean.
  [[nodiscard]] double gap_before(std::size_t job) const { return gaps_[job]; }
  [[nodiscard]] double mean_gap() const { return mean_gap_; }  // of the known part
  [[nodiscard]] double mean_gap_played() const { return mean_gap_played_; }

 private:
  void set_parts(const RecordedJobsConfig& config, const std::vector<double>& arrivals);

  Part known_, played_;
  std::vector<double> gaps_;  // [jobs], > 0
  double mean_gap_ = 0;
  double mean_gap_played_ = 0;
  std::uint64_t hash_ = 0;
  std::optional<JobPool> pool_;
};

}  // namespace pacml::env
