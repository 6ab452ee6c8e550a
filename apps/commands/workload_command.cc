#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <iostream>
#include <limits>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "apps/cli/named_choice.h"
#include "apps/cli/text_table.h"
#include "apps/commands/commands.h"
#include "apps/commands/recorded_jobs_summary.h"
#include "apps/commands/workload_tables.h"
#include "common/atomic_file.h"
#include "common/result.h"
#include "common/try_again.h"
#include "env/gpu_cluster/job_trace.h"
#include "env/gpu_cluster/trace_statistics.h"
#include "env/text/open_file.h"
#include "env/workload/recorded_jobs.h"

namespace pacml::apps {
namespace {

using env::JobTraceFormat;
using env::TraceJob;

constexpr std::size_t kMostSorted = 5'000'000;
constexpr std::size_t kBytesAtOnce = std::size_t{1} << 20;

// Which jobs of a file, and in which order.
struct Selection {
  std::string file;
  std::string format;      // empty: as the first line says
  std::int64_t first = 0;  // jobs that are left out
  std::int64_t jobs = 0;   // 0: all that follow
  bool sort = false;
};

JobTraceFormat format_of(const Selection& from) {
  if (!from.format.empty()) return named_choice<JobTraceFormat>("--format", from.format);
  std::ifstream in = env::open_file(from.file);
  if (const auto format = env::recognise_job_trace(env::first_line_of(in))) return *format;
  throw UserError(from.file +
                  ":1:1: the first line is of no format that is known; --format names one");
}

std::unique_ptr<env::JobTraceReader> reader_of(const Selection& from, std::istream& in) {
  return env::read_job_trace(in, from.file, format_of(from));
}

// Calls `f` with each of the jobs; how many of the file the reader left out.
std::int64_t for_each_job(const Selection& from, const std::function<void(const TraceJob&)>& f) {
  std::ifstream in = env::open_file(from.file);
  const auto reader = reader_of(from, in);
  std::vector<TraceJob> sorted;
  std::int64_t index = 0;
  double last_s = -std::numeric_limits<double>::infinity();
  const auto is_past = [&] { return from.jobs > 0 && index - from.first >= from.jobs; };
  const auto take = [&](const TraceJob& job) {
    if (job.submit_s < last_s) {
      throw UserError(from.file + ": job " + job.id +
                      " arrives before the one above it; --sort puts them in order");
    }
    last_s = job.submit_s;
    if (index++ >= from.first) f(job);
  };
  while (!is_past() || from.sort) {
    const auto job = reader->next();
    if (!job) break;
    if (!from.sort) {
      take(*job);
    } else if (sorted.size() < kMostSorted) {
      sorted.push_back(*job);
    } else {
      throw UserError(from.file + ": more than 5 million jobs cannot be sorted");
    }
  }
  std::ranges::stable_sort(sorted, {}, &TraceJob::submit_s);
  for (const TraceJob& job : sorted) {
    if (is_past()) break;
    take(job);
  }
  return reader->num_left_out();
}

std::string in_hours(double seconds) { return format_number(seconds / 3600, 1); }

void print(const env::TraceStatistics& statistics, std::int64_t left_out) {
  const std::int64_t jobs = statistics.num_jobs();
  std::vector<std::vector<std::string>> rows{
      {"jobs", std::to_string(jobs)},
      {"left out, without GPUs or a start", std::to_string(left_out)},
      {"span, h", in_hours(statistics.span_s())},
      {"with a duration", std::to_string(statistics.num_with_duration())},
      {"GPU-hours", in_hours(statistics.gpu_seconds())}};
  if (statistics.span_s() > 0) {
    rows.push_back(
        {"busy GPUs, mean", format_number(statistics.gpu_seconds() / statistics.span_s(), 1)});
  }
  if (statistics.num_with_duration() > 0) {
    for (const auto& [name, share] :
         {std::pair("duration, p50 s", 0.5), std::pair("duration, p90 s", 0.9),
          std::pair("duration, longest s", 1.0)}) {
      rows.push_back({name, format_number(statistics.duration_s(share), 0)});
    }
  }
  std::cout << align_columns(rows) << "\narrivals over the span\n|"
            << picture_of(statistics.arrivals(60)) << "|\n\n"
            << table_of("GPUs", statistics.jobs_of_size(), jobs);
  const auto& states = statistics.jobs_in_state();
  if (states.size() > 1 || !states.begin()->first.empty()) {
    std::cout << "\n" << table_of("state", states, jobs);
  }
}

class WorkloadCommand final : public Command {
 public:
  [[nodiscard]] CommandText text() const override {
    return {"workload",
            "recorded jobs: what a trace is like; windows and other loads of it",
            {{"workload cluster_log.csv", "statistics, and a picture of the arrivals"},
             {"workload trace.csv --first 1000 --jobs 500 --load 1.5 --gpus 64 --out window.csv",
              "500 of its jobs, as fast one after the other as keeps 64 GPUs one and a half times "
              "busy"},
             {"workload jobs.json --sort --out jobs.csv", "Philly's log as a table"},
             {"workload docs/examples/workload/jobs.csv",
              "jobs for env.workload.recorded.file: statistics"}}};
  }
  void declare(Options& options) override {
    options.argument(
        "FILE", &from_.file,
        "a trace of format pacml, gavel, muri, chronus, openb, helios, philly or pai, or "
        "jobs of a RAMP cluster");
    options.option("--format NAME", &from_.format, "which; as its first line says, if not given");
    options.option("--first N", &from_.first, "leaves out the first N jobs");
    options.option("--jobs N", &from_.jobs, "N jobs at most; 0: all");
    options.option("--sort", &from_.sort, "in the order of arrival, which is else refused");
    options.option("--load L", &load_,
                   "times of arrival such that L times the GPUs' time is wanted; needs --gpus");
    options.option("--gpus N", &gpus_,
                   "GPUs of the cluster that the load is meant for; with --load alone");
    options.output("--out OUT.csv", &out_, "the jobs in our own format");
  }
  [[nodiscard]] int run() override {
    check();
    if (is_of_ramp()) {
      print_recorded_jobs(from_.file, std::cout);
      return 0;
    }
    env::TraceStatistics statistics;
    const std::int64_t left_out =
        for_each_job(from_, [&](const TraceJob& job) { statistics.add(job); });
    if (statistics.num_jobs() == 0) throw UserError(from_.file + ": there are no jobs");
    const double scale =
        load_ ? env::time_scale(statistics, *load_, static_cast<double>(gpus_)) : 1;
    print(statistics, left_out);
    if (!out_.empty()) {
      // Dates are after the file's first job, which need not be the first to arrive.
      write(load_ ? statistics.first_s() : std::min(0.0, statistics.first_s()), scale);
      std::cout << "\n" << statistics.num_jobs() << " jobs written to " << out_ << "\n";
    }
    return 0;
  }

 private:
  void check() const {
    if (from_.first < 0) throw UserError("--first: must not be negative");
    if (from_.jobs < 0) throw UserError("--jobs: must not be negative");
    if (load_ && !(*load_ >= 1e-6 && *load_ <= 1e6))
      throw UserError("--load: must be in 1e-6..1e6");
    if (load_ && gpus_ < 1) throw UserError("--load: needs --gpus, at least 1");
    if (!load_ && gpus_ != 0) throw UserError("--gpus: is for --load");
  }

  [[nodiscard]] bool is_of_ramp() const {
    if (!from_.format.empty()) return false;
    std::ifstream in = env::open_file(from_.file);
    if (!env::begins_recorded_jobs(env::first_line_of(in))) return false;
    if (from_.first > 0 || from_.jobs > 0 || from_.sort || load_ || !out_.empty()) {
      throw UserError(from_.file +
                      " has jobs of a RAMP cluster: they are summed up, and not cut or converted");
    }
    return true;
  }

  // The file is read once more, so that it need not fit into memory.
  void write(double first_s, double scale) const {
    const auto checked = [](const auto& result) {
      if (!result) throw_error(result.error());
    };
    auto file = AtomicFile::create(out_);
    checked(file);
    std::ostringstream text;
    text << env::kJobTraceHeader << '\n';
    const auto flush = [&] {
      checked(file->append(text.str()));
      text.str("");
    };
    static_cast<void>(for_each_job(from_, [&](TraceJob job) {
      job.submit_s = (job.submit_s - first_s) * scale;
      env::write_job(text, job);
      if (static_cast<std::size_t>(text.tellp()) > kBytesAtOnce) flush();
    }));
    flush();
    checked(file->commit());
  }

  Selection from_;
  std::optional<double> load_;
  std::int64_t gpus_ = 0;
  std::string out_;
};

}  // namespace

std::unique_ptr<Command> make_workload_command() { return std::make_unique<WorkloadCommand>(); }

}  // namespace pacml::apps
