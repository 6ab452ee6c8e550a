#include "env/gpu_cluster/trace_jobs.h"

#include <algorithm>
#include <istream>
#include <map>
#include <span>

#include "common/result.h"
#include "common/rng.h"
#include "env/gpu_cluster/gpu_job_list.h"
#include "env/gpu_cluster/job_trace.h"
#include "env/text/open_file.h"

namespace pacml::env {
namespace {

constexpr std::size_t kMostJobs = 10'000'000;

// Whether a trace calls types of jobs by names that there are speeds for.
class TypeNames {
 public:
  // Pre: sorted.
  explicit TypeNames(std::span<const std::string> with_speeds) : with_speeds_(with_speeds) {}

  void add(const std::string& type) {
    if (type.empty()) return;
    if (std::ranges::binary_search(with_speeds_, type)) {
      is_any_known_ = true;
    } else if (unknown_.empty()) {
      unknown_ = type;
    }
  }
  // UserError: types were named, and none of them has speeds.
  void check(const std::string& file) const {
    if (is_any_known_ || unknown_.empty() || with_speeds_.empty()) return;
    throw UserError(file + ": there are speeds of no type that its jobs name, e.g. \"" + unknown_ +
                    "\", but of others, e.g. \"" + with_speeds_.front() +
                    "\"; they must call types as the trace does, or the trace name none");
  }

 private:
  std::span<const std::string> with_speeds_;
  bool is_any_known_ = false;
  std::string unknown_;  // the first
};

}  // namespace

std::vector<std::string> validate(const TraceJobsConfig& c) {
  if (c.from >= 0 && c.from < c.until && c.until <= 1) return {};
  return {"from: must be from 0 to less than until, and until up to 1"};
}

TraceJobs::TraceJobs(const GpuClusterModel& model, const TraceJobsConfig& trace,
                     const GeneratedJobsConfig& jobs, bool own_speeds)
    : types_(model.speeds().types().begin(), model.speeds().types().end()),
      count_(static_cast<std::size_t>(jobs.jobs)),
      load_(jobs.load),
      num_gpus_(model.topology().num_gpus()) {
  TypeNames names(types_);
  stream_file(trace.file, [&](std::istream& in) {
    const std::string line = first_line_of(in);
    if (line.empty()) throw UserError(trace.file + ": it is empty");
    const auto format = recognise_job_trace(line);
    if (!format) {
      throw UserError(trace.file +
                      ": its first line is of no format that is known; pacml workload converts");
    }
    std::map<std::int32_t, std::vector<const GpuJobShape*>> shapes;  // by number of GPUs
    for (const GpuJobShape& shape : model.speeds().shapes()) shapes[shape.gpus].push_back(&shape);
    std::map<std::string, std::int32_t> user_of;
    const auto reader = read_job_trace(in, trace.file, *format);
    for (std::uint64_t row = 0; const auto job = reader->next(); ++row) {
      names.add(job->type);
      const auto fitting = shapes.find(job->gpus);
      if (fitting == shapes.end() || job->gpus > jobs.largest_gpus) continue;
      if (!job->duration_s && !job->steps) continue;
      const GpuJobShape* shape = nullptr;
      for (const GpuJobShape* is : fitting->second) {
        if (types_[static_cast<std::size_t>(is->type)] == job->type) shape = is;
      }
      if (shape == nullptr) {
        shape = fitting->second[Rng(Seed{row}).below(fitting->second.size())];
      }
      const double recorded_s = job->duration_s ? *job->duration_s : *job->steps / shape->best_rate;
      const double alone_s = std::clamp(recorded_s, jobs.least_s, jobs.most_s);
      if (alone_s * shape->best_rate > kMostSteps) {
        throw UserError(trace.file + ": job " + job->id + " would do more than 1e15 steps; " +
                        "jobs.most_s cuts it");
      }
      const auto user =
          user_of.emplace(job->user, static_cast<std::int32_t>(user_of.size())).first->second;
      if (static_cast<std::size_t>(user) == users_.size()) users_.push_back(job->user);
      if (jobs_.size() == kMostJobs) throw UserError(trace.file + ": more than 10 million jobs");
      jobs_.push_back(
          {job->submit_s, alone_s, alone_s * shape->best_rate, job->gpus, shape->type, user});
    }
  });
  if (own_speeds) names.check(trace.file);
  std::ranges::stable_sort(jobs_, {}, &Job::submit_s);
  const auto share = [&](double of) {
    return static_cast<std::ptrdiff_t>(of * static_cast<double>(jobs_.size()));
  };
  const std::ptrdiff_t first = share(trace.from);
  jobs_.erase(jobs_.begin() + share(trace.until), jobs_.end());
  jobs_.erase(jobs_.begin(), jobs_.begin() + first);
  if (jobs_.size() < count_) {
    throw UserError(trace.file + ": " + std::to_string(jobs_.size()) +
                    " of its jobs can be taken, fewer than an episode's " + std::to_string(count_));
  }
  if (count_ > 1) check_load(most_wanted(), num_gpus_, load_);  // else it arrives at 0
  for (const Job& job : jobs_) mean_alone_s_ += job.alone_s / static_cast<double>(jobs_.size());
}

double TraceJobs::most_wanted() const {
  const auto wants = [](const Job& job) { return job.alone_s * job.gpus; };
  double most = 0;
  double wanted = 0;
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    wanted += wants(jobs_[i]);
    if (i >= count_) wanted -= wants(jobs_[i - count_]);
    most = std::max(most, wanted);
  }
  return most;
}

std::vector<GpuJobSpec> TraceJobs::draw(Seed seed) const {
  Rng rng(seed);
  const std::size_t first = rng.below(num_rows());
  return row(first, rng);
}

std::vector<GpuJobSpec> TraceJobs::draw_other(Seed seed, Seed episode, std::size_t arrived) const {
  const std::size_t truth = Rng(episode).below(num_rows());
  const std::size_t left = count_ - std::min(arrived, count_);  // still to come
  // Rows that begin as far before the true one, or as far behind it.
  const std::size_t before = truth < left ? 0 : truth - left + 1;
  const std::size_t behind = truth + left < num_rows() ? num_rows() - truth - left : 0;
  if (before + behind == 0) return {};
  Rng rng(seed);
  const std::size_t drawn = rng.below(before + behind);
  return row(drawn < before ? drawn : drawn - before + truth + left, rng);
}

std::vector<GpuJobSpec> TraceJobs::row(std::size_t first, Rng& rng) const {
  const auto at = [&](std::size_t i) -> const Job& { return jobs_[first + i]; };
  std::vector<double> gaps;
  for (std::size_t i = 1; i < count_; ++i) gaps.push_back(at(i).submit_s - at(i - 1).submit_s);
  std::vector<double> sorted = gaps;
  std::ranges::sort(sorted);
  const double longest = sorted.empty() ? 0 : sorted[sorted.size() * 95 / 100];
  std::vector<GpuJobSpec> jobs;
  double time = 0;
  double wanted = 0;  // GPU-seconds
  for (std::size_t i = 0; i < count_; ++i) {
    const Job& job = at(i);
    if (i > 0) time += std::min(gaps[i - 1], longest);
    wanted += job.alone_s * job.gpus;
    jobs.push_back({.submit_s = time,
                    .type = types_[static_cast<std::size_t>(job.type)],
                    .gpus = job.gpus,
                    .steps = job.steps,
                    .user = users_[static_cast<std::size_t>(job.user)],
                    .comm = rng.below(2) == 0 ? GpuComm::kRing : GpuComm::kParameterServers});
  }
  stretch_arrivals(jobs, wanted, num_gpus_, load_);
  return jobs;
}

}  // namespace pacml::env
