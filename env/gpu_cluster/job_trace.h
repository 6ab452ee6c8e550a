#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/config/fields.h"

namespace pacml::env {

// Formats of recorded jobs (docs/gpu_cluster.md says where they come from).
enum class JobTraceFormat {
  kPacml,    // our own: a header, one line a job
  kGavel,    // 7 or 10 columns between tabs, without a header
  kMuri,     // CSV, milliseconds
  kChronus,  // CSV of Chronus and Tiresias, seconds
  kOpenb,    // pods of Alibaba's cluster of 2023
  kHelios,   // CSV with dates
  kPhilly,   // JSON
  kPai,      // tasks of Alibaba's cluster of 2020, without a header
};
constexpr auto enum_names(JobTraceFormat /*unused*/) {
  return std::to_array<EnumName<JobTraceFormat>>({{"pacml", JobTraceFormat::kPacml},
                                                  {"gavel", JobTraceFormat::kGavel},
                                                  {"muri", JobTraceFormat::kMuri},
                                                  {"chronus", JobTraceFormat::kChronus},
                                                  {"openb", JobTraceFormat::kOpenb},
                                                  {"helios", JobTraceFormat::kHelios},
                                                  {"philly", JobTraceFormat::kPhilly},
                                                  {"pai", JobTraceFormat::kPai}});
}

// A job as somebody recorded it; empty or absent: the source does not say.
struct TraceJob {
  std::string id = {};
  double submit_s = 0;   // dates: after the first job of the file, before it where negative
  int gpus = 1;          // at least 1
  double gpu_share = 1;  // of each; below 1: it shares
  std::optional<double> duration_s = {};
  std::optional<double> steps = {};
  std::string type = {};
  std::string user = {};
  std::string group = {};  // virtual cluster, queue or class of service
  std::string gpu_type = {};
  std::string state = {};
  bool operator==(const TraceJob&) const = default;
};

// Jobs of a file, one after the other. Memory does not grow with the file. Thread-confined.
class JobTraceReader {
 public:
  virtual ~JobTraceReader() = default;
  // The next job; absent: the end. Left out is who wants no GPU, or of whom nobody says when they
  // began. UserError, "FILE:line:column: ...", of lists in JSON
  // "FILE: job N: ...": a field that is not what it should be, a line with other columns.
  [[nodiscard]] virtual std::optional<TraceJob> next() = 0;
  [[nodiscard]] std::int64_t num_left_out() const { return num_left_out_; }

 protected:
  std::int64_t num_left_out_ = 0;
};

// A file's first line, its first 64 KiB at most, without a byte-order mark; empty: it cannot be
// read, or has none. Reading then begins at the start again.
[[nodiscard]] std::string first_line_of(std::istream& in);

// Which format a file's first line is of; absent: none, or one without a header that is not known.
[[nodiscard]] std::optional<JobTraceFormat> recognise_job_trace(std::string_view first_line);

// Reads from `in`, which is borrowed; `name` is the file's, for errors.
[[nodiscard]] std::unique_ptr<JobTraceReader> read_job_trace(std::istream& in, std::string name,
                                                             JobTraceFormat format);

// Our own format, which all others can be converted to.
inline constexpr const char* kJobTraceHeader =
    "job_id,submit_s,gpus,gpu_share,duration_s,steps,job_type,user,vc,gpu_type,state";
// Control characters in texts, which it cannot have, become blanks.
void write_job(std::ostream& out, const TraceJob& job);

}  // namespace pacml::env
