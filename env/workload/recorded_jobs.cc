#include "env/workload/recorded_jobs.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <sstream>
#include <utility>

#include "common/hash.h"
#include "common/json_text.h"
#include "common/result.h"
#include "common/spell_number.h"
#include "common/text.h"
#include "env/text/delimited_text.h"
#include "env/text/json_member.h"
#include "env/text/open_file.h"
#include "env/workload/word_stream.h"

namespace pacml::env {
namespace {

constexpr std::size_t kMostJobs = 5'000'000;
constexpr std::size_t kMostLine = std::size_t{1} << 16;
constexpr double kMostTime = 1e15;
constexpr double kLeastFraction = 1e-9;
constexpr std::string_view kBlank = " \t\r";
constexpr double kTogether = 1e-6;                    // of the mean time between arrivals
constexpr std::uint64_t kLimitStream = 0x6c696d6974;  // "limit"
constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

// Which field of a row is what.
struct Columns {
  std::size_t arrival = kNowhere, model = kNowhere, fraction = kNowhere, limit = kNowhere;
};

Columns columns_of(const DelimitedText& header) {
  Columns columns;
  const std::map<std::string_view, std::size_t*> known = {{"arrival", &columns.arrival},
                                                          {"model", &columns.model},
                                                          {"fraction", &columns.fraction},
                                                          {"limit", &columns.limit}};
  for (std::size_t field = 0; field < header.size(); ++field) {
    const auto found = known.find(header[field]);
    if (found == known.end()) continue;
    if (*found->second != kNowhere) header.fail(field, "the column comes twice");
    *found->second = field;
  }
  if (columns.arrival == kNowhere) header.fail(kNowhere, "no column is named arrival");
  if (columns.model == kNowhere) header.fail(kNowhere, "no column is named model");
  return columns;
}

void read_table(std::istream& in, const std::string& name,
                const std::function<void(const JobLine&, const std::string&)>& take) {
  DelimitedText text(in, name, ',');
  if (!text.next()) throw UserError(name + ": it is empty");
  const Columns columns = columns_of(text);
  const std::size_t fields = text.size();
  const auto optional = [&](std::size_t column, double least, double most) {
    return column == kNowhere ? std::optional<double>() : text.optional_number(column, least, most);
  };
  while (text.next()) {
    if (text.size() != fields) {
      text.fail(kNowhere, std::to_string(text.size()) + " fields, and the first line has " +
                              std::to_string(fields));
    }
    take({.arrival = text.number(columns.arrival, 0, kMostTime),
          .model = std::string(text[columns.model]),
          .fraction = optional(columns.fraction, kLeastFraction, 1),
          .limit = optional(columns.limit, 0, kMostTime)},
         name + ":" + std::to_string(text.line()));
  }
}

bool is_object_begun(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const auto first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

double number_in(const JsonMember& member, double least, double most) {
  const double value = member.number();
  if (value >= least && value <= most) return value;
  throw UserError(member.path() + ": must be from " + spell_number(least) + " to " +
                  spell_number(most));
}

JobLine job_of(const JsonMember& said) {
  JobLine job{.arrival = number_in(said["arrival"], 0, kMostTime), .model = said["model"].text()};
  // null says as little as nothing does.
  const auto is_said = [&](const char* key) {
    return said.has(key) && !said[key].value().is_null();
  };
  if (is_said("fraction")) job.fraction = number_in(said["fraction"], kLeastFraction, 1);
  if (is_said("limit")) job.limit = number_in(said["limit"], 0, kMostTime);
  return job;
}

void read_lines(std::istream& in, const std::string& name,
                const std::function<void(const JobLine&, const std::string&)>& take) {
  std::string line(kMostLine + 1, '\0');
  for (std::int64_t number = 1; in.getline(line.data(), static_cast<std::streamsize>(line.size()));
       ++number) {
    const std::string place = name + ":" + std::to_string(number);
    std::string_view text(line.data(), static_cast<std::size_t>(in.gcount()) - (in.eof() ? 0 : 1));
    if (number == 1 && text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    if (text.find_first_not_of(kBlank) == std::string_view::npos) continue;
    const auto said = parse_json_text(text);
    if (!said) throw UserError(place + ": " + said.error().detail);
    take(job_of(JsonMember(*said, place)), place);
  }
  if (!in.eof()) throw UserError(name + ": a line of more than 64 KiB, or the file is broken");
}

// Whether the first thing is an object; the stream stays where it is.
bool begins_with_brace(std::istream& in) {
  const auto place = in.tellg();
  std::string begin(64, '\0');
  in.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<std::size_t>(in.gcount()));
  in.clear();
  in.seekg(place);
  return is_object_begun(begin);
}

std::uint64_t chained_hash(const JobLine& job, std::uint64_t before) {
  constexpr double kNone = -1;  // no fraction and no limit is that
  const std::array<double, 3> numbers = {job.arrival, job.fraction.value_or(kNone),
                                         job.limit.value_or(kNone)};
  return content_hash(std::span<const double>(numbers), content_hash(job.model, before));
}

// Where episodes begin anew the record has no gap.
void set_gap_of_first(std::vector<double>& gaps, const RecordedJobs::Part& part) {
  double sum = 0;
  for (std::size_t i = 1; i < part.count; ++i) sum += gaps[part.first + i];
  gaps[part.first] = sum / static_cast<double>(part.count - 1);
}

}  // namespace

std::vector<std::string> validate(const RecordedJobsConfig& c) {
  if (c.known > 0 && c.known <= 1) return {};
  return {"known: must be above 0, up to 1"};
}

void read_recorded_jobs(std::istream& in, const std::string& name,
                        const std::function<void(const JobLine&, const std::string&)>& take) {
  double last = 0;
  const auto in_order = [&](const JobLine& job, const std::string& place) {
    if (job.arrival < last) {
      throw UserError(place + ": the job arrives before the one above it");
    }
    last = job.arrival;
    take(job, place);
  };
  if (begins_with_brace(in)) return read_lines(in, name, in_order);
  read_table(in, name, in_order);
}

bool begins_recorded_jobs(const std::string& first_line) {
  if (is_object_begun(first_line)) {
    const auto said = parse_json_text(std::string_view(first_line).substr(first_line.find('{')));
    return said && said->contains("arrival") && said->contains("model");
  }
  std::istringstream in(first_line);
  try {
    DelimitedText header(in, "", ',');
    if (!header.next()) return false;
    static_cast<void>(columns_of(header));
    return true;
  } catch (const UserError&) {
    return false;
  }
}

RecordedJobs::RecordedJobs(const RecordedJobsConfig& config, const RecordedModels& models,
                           const Distribution& requirement) {
  const WordStream limits(Seed{0}, kLimitStream);
  std::vector<RecordedJob> jobs;
  std::vector<double> arrivals;
  const auto take = [&](const JobLine& line, const std::string& place) {
    if (jobs.size() == kMostJobs) throw UserError(place + ": more than 5 million jobs");
    const auto found = std::ranges::find(models.names, line.model);
    if (found == models.names.end()) {
      throw UserError(place + ": there is no model \"" + line.model + "\"" +
                      did_you_mean(line.model, models.names));
    }
    const auto model = static_cast<std::size_t>(found - models.names.begin());
    double fraction = requirement.value_of(limits.word(jobs.size()));
    if (line.limit) fraction = std::clamp(*line.limit / models.alone[model], kLeastFraction, 1.0);
    if (line.fraction) fraction = *line.fraction;
    hash_ = chained_hash(line, hash_);
    jobs.push_back({.model = static_cast<int>(model), .fraction = fraction});
    arrivals.push_back(line.arrival);
  };
  stream_file(config.file, [&](std::istream& in) { read_recorded_jobs(in, config.file, take); });
  set_parts(config, arrivals);
  pool_.emplace(jobs, static_cast<int>(models.names.size()), known_.count);
}

void RecordedJobs::set_parts(const RecordedJobsConfig& config,
                             const std::vector<double>& arrivals) {
  const std::size_t all = arrivals.size();
  const auto known = static_cast<std::size_t>(config.known * static_cast<double>(all));
  known_ = {0, known};
  played_ = config.part == RecordPart::kKnown ? known_ : Part{known, all - known};
  if (known_.count < 2 || played_.count < 2) {
    throw UserError(config.file + ": of its " + std::to_string(all) + " jobs " +
                    std::to_string(known_.count) +
                    " are known (workload.recorded.known); episodes need two at least of the part "
                    "that they play, and two to imagine others by");
  }
  const auto mean_gap_of = [&](const Part& part) {
    const double mean = (arrivals[part.first + part.count - 1] - arrivals[part.first]) /
                        static_cast<double>(part.count - 1);
    if (mean > 0) return mean;
    throw UserError(config.file + ": all of its " + std::to_string(part.count) + " jobs from " +
                    std::to_string(part.first) + " on arrive at the same time");
  };
  const double mean = mean_gap_of(known_);
  mean_gap_played_ = mean_gap_of(played_);
  gaps_.assign(all, mean);
  for (std::size_t i = 1; i < all; ++i) {
    gaps_[i] = std::max(arrivals[i] - arrivals[i - 1], kTogether * mean);
  }
  set_gap_of_first(gaps_, known_);
  if (played_.first != known_.first) set_gap_of_first(gaps_, played_);
  mean_gap_ = mean;
}

}  // namespace pacml::env
