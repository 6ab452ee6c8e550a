#include "apps/commands/recorded_jobs_summary.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <vector>

#include "apps/cli/text_table.h"
#include "apps/commands/workload_tables.h"
#include "common/result.h"
#include "env/numerics.h"
#include "env/text/open_file.h"
#include "env/workload/recorded_jobs.h"

namespace pacml::apps {
namespace {

constexpr std::size_t kParts = 60;
constexpr std::size_t kMostJobs = 20'000'000;
constexpr std::size_t kMostModels = 1000;

struct Seen {
  std::vector<double> arrivals;
  std::map<std::string, std::int64_t> models;
  std::vector<double> fractions;
  std::int64_t limits = 0;  // jobs that say a time instead
};

Seen read(const std::string& file) {
  std::ifstream in = env::open_file(file);
  Seen seen;
  env::read_recorded_jobs(in, file, [&](const env::JobLine& job, const std::string& place) {
    seen.arrivals.push_back(job.arrival);
    ++seen.models[job.model];
    if (job.fraction) seen.fractions.push_back(*job.fraction);
    if (job.limit) ++seen.limits;
    if (seen.arrivals.size() > kMostJobs) throw UserError(place + ": more than 20 million jobs");
    if (seen.models.size() > kMostModels) throw UserError(place + ": more than 1000 models");
  });
  if (seen.arrivals.empty()) throw UserError(file + ": there are no jobs");
  return seen;
}

// How much the times between arrivals vary: 0 where they are all the same, 1 of a Poisson process.
double variation(const std::vector<double>& arrivals, double mean) {
  double squares = 0;
  for (std::size_t i = 1; i < arrivals.size(); ++i) {
    squares += std::pow(arrivals[i] - arrivals[i - 1] - mean, 2);
  }
  return std::sqrt(squares / static_cast<double>(arrivals.size() - 1)) / mean;
}

}  // namespace

void print_recorded_jobs(const std::string& file, std::ostream& out) {
  Seen seen = read(file);
  const auto jobs = static_cast<std::int64_t>(seen.arrivals.size());
  const double first = seen.arrivals.front();
  const double span = seen.arrivals.back() - first;
  std::vector<std::vector<std::string>> rows{
      {"jobs of a RAMP cluster", std::to_string(jobs)},
      {"span", format_number(span, 0)},
  };
  if (span > 0) {
    const double mean = span / static_cast<double>(jobs - 1);
    rows.push_back({"between arrivals, mean", format_number(mean, 1)});
    rows.push_back({"... deviation / mean", format_number(variation(seen.arrivals, mean), 2)});
  }
  const auto fractions = static_cast<std::int64_t>(seen.fractions.size());
  rows.push_back({"with a fraction", std::to_string(fractions)});
  if (fractions > 0) {
    for (const auto& [name, share] :
         {std::pair("fraction, least", 0.0), std::pair("fraction, p10", 0.1),
          std::pair("fraction, p50", 0.5), std::pair("fraction, greatest", 1.0)}) {
      rows.push_back({name, format_number(env::nearest_rank(seen.fractions, share), 3)});
    }
  }
  rows.push_back({"with a limit", std::to_string(seen.limits)});
  std::vector<std::int64_t> arrivals(kParts);
  for (const double arrival : seen.arrivals) {
    const double share = span > 0 ? (arrival - first) / span : 0;
    ++arrivals[std::min(kParts - 1, static_cast<std::size_t>(share * kParts))];
  }
  out << align_columns(rows) << "\narrivals over the span\n|" << picture_of(arrivals) << "|\n\n"
      << table_of("model", seen.models, jobs);
}

}  // namespace pacml::apps
