#include "env/gpu_cluster/job_trace.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <istream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>
#include <vector>

#include "common/json_text.h"
#include "common/result.h"
#include "env/text/delimited_text.h"
#include "env/text/json_list_reader.h"

namespace pacml::env {
namespace {

using nlohmann::json;

constexpr double kMostTime = 1e12;  // s
constexpr double kMostWork = 1e15;  // steps
constexpr int kMostGpusOfJob = 1 << 20;

// What a row is made of, by the columns of a format.
class Row {
 public:
  Row(const DelimitedText& text, const std::vector<std::size_t>& place)
      : text_(text), place_(place) {}
  [[nodiscard]] std::string word(std::size_t column) const {
    return std::string(text_[place_[column]]);
  }
  [[nodiscard]] double time(std::size_t column) const {
    return text_.number(place_[column], 0, kMostTime * 1e3);
  }
  [[nodiscard]] std::optional<double> optional(std::size_t column, double most) const {
    return text_.optional_number(place_[column], 0, most);
  }
  [[nodiscard]] int gpus(std::size_t column) const {
    return text_.whole(place_[column], 0, kMostGpusOfJob);
  }
  [[nodiscard]] double number(std::size_t column, double least, double most) const {
    return text_.number(place_[column], least, most);
  }
  [[nodiscard]] double date(std::size_t column) const { return text_.date(place_[column]); }

 private:
  const DelimitedText& text_;
  const std::vector<std::size_t>& place_;
};

using Columns = std::vector<std::string_view>;
using Fill = void (*)(const Row&, TraceJob&);

void fill_pacml(const Row& row, TraceJob& job) {
  job = {.id = row.word(0),
         .submit_s = row.number(1, 0, kMostTime),
         .gpus = row.gpus(2),
         .gpu_share = row.optional(3, 1).value_or(1),
         .duration_s = row.optional(4, kMostTime),
         .steps = row.optional(5, kMostWork),
         .type = row.word(6),
         .user = row.word(7),
         .group = row.word(8),
         .gpu_type = row.word(9),
         .state = row.word(10)};
}

void fill_muri(const Row& row, TraceJob& job) {
  job.id = row.word(0);
  job.gpus = row.gpus(1);
  job.submit_s = row.time(2) / 1000;
  job.steps = row.optional(3, kMostWork);
  job.type = row.word(4) + "-b" + row.word(5);
  if (const auto ms = row.optional(6, kMostTime * 1e3)) job.duration_s = *ms / 1000;
}

void fill_chronus(const Row& row, TraceJob& job) {
  job.id = row.word(0);
  job.user = row.word(1);
  job.gpus = row.gpus(2);
  job.submit_s = row.number(3, 0, kMostTime);
  job.steps = row.optional(4, kMostWork);
  job.type = row.word(5);
  job.duration_s = row.optional(6, kMostTime);
  job.state = row.word(7);
}

// A pod runs from when it was scheduled until it was deleted.
void fill_openb(const Row& row, TraceJob& job) {
  job.id = row.word(0);
  job.gpus = row.gpus(1);
  job.gpu_share = row.number(2, 0, 1000) / 1000;
  job.gpu_type = row.word(3);
  job.group = row.word(4);
  job.state = row.word(5);
  job.submit_s = row.number(6, 0, kMostTime);
  const auto deleted = row.optional(7, kMostTime);
  const auto scheduled = row.optional(8, kMostTime);
  if (deleted && scheduled && *deleted >= *scheduled) job.duration_s = *deleted - *scheduled;
}

void fill_helios(const Row& row, TraceJob& job) {
  job.id = row.word(0);
  job.user = row.word(1);
  job.group = row.word(2);
  job.gpus = row.gpus(3);
  job.state = row.word(4);
  job.submit_s = row.date(5);
  job.duration_s = row.optional(6, kMostTime);
}

// Instances of a task are its GPUs, or each of them has several.
void fill_pai(const Row& row, TraceJob& job) {
  job.id = row.word(0) + "/" + row.word(1);
  const double instances = row.number(2, 0, kMostGpusOfJob);
  job.state = row.word(3);
  const auto start = row.optional(4, kMostTime);
  const auto end = row.optional(5, kMostTime);
  const double percent = row.optional(6, 1e6).value_or(0);
  job.gpu_type = row.word(7);
  if (!start) {
    job.gpus = 0;  // it never ran
    return;
  }
  job.submit_s = *start;
  if (end && *end >= *start) job.duration_s = *end - *start;
  job.gpus = static_cast<int>(
      std::min<double>(kMostGpusOfJob, std::ceil(instances) * std::ceil(percent / 100)));
  job.gpu_share = percent < 100 ? percent / 100 : 1;
}

void fill_gavel_seven(const Row& row, TraceJob& job) {
  job.type = row.word(0);
  job.steps = row.number(4, 0, kMostWork);
  job.submit_s = row.number(5, 0, kMostTime);
  job.gpus = row.gpus(6);
}

void fill_gavel_ten(const Row& row, TraceJob& job) {
  job.type = row.word(0);
  job.steps = row.number(5, 0, kMostWork);
  job.gpus = row.gpus(6);
  job.submit_s = row.number(9, 0, kMostTime);
}

struct CsvFormat {
  JobTraceFormat format;
  Columns columns;  // that are looked at, by name
  Fill fill;
  bool has_dates = false;
};

const std::vector<CsvFormat>& csv_formats() {
  static const std::vector<CsvFormat> kFormats{
      {JobTraceFormat::kPacml,
       {"job_id", "submit_s", "gpus", "gpu_share", "duration_s", "steps", "job_type", "user", "vc",
        "gpu_type", "state"},
       fill_pacml},
      {JobTraceFormat::kMuri,
       {"job_id", "num_gpu", "submit_time", "iterations", "model_name", "batch_size", "duration"},
       fill_muri},
      {JobTraceFormat::kChronus,
       {"job_id", "user", "num_gpu", "submit_time", "iterations", "model_name", "duration",
        "job_type"},
       fill_chronus},
      {JobTraceFormat::kOpenb,
       {"name", "num_gpu", "gpu_milli", "gpu_spec", "qos", "pod_phase", "creation_time",
        "deletion_time", "scheduled_time"},
       fill_openb},
      {JobTraceFormat::kHelios,
       {"job_id", "user", "vc", "gpu_num", "state", "submit_time", "duration"},
       fill_helios,
       true}};
  return kFormats;
}

class DelimitedReader : public JobTraceReader {
 public:
  DelimitedReader(std::istream& in, std::string name, char delimiter)
      : text_(in, std::move(name), delimiter) {}

  std::optional<TraceJob> next() override {
    while (text_.next()) {
      if (text_.size() != num_columns()) {
        text_.fail(text_.size(), "the line has " + std::to_string(text_.size()) +
                                     " columns, expected " + std::to_string(num_columns()));
      }
      TraceJob job = read();
      if (job.gpus > 0) return job;
      ++num_left_out_;
    }
    return std::nullopt;
  }

 protected:
  // Learns from the first row what it needs.
  [[nodiscard]] virtual std::size_t num_columns() = 0;
  [[nodiscard]] virtual TraceJob read() = 0;

  DelimitedText text_;  // NOLINT(misc-non-private-member-variables-in-classes)
};

class CsvReader final : public DelimitedReader {
 public:
  CsvReader(std::istream& in, std::string name, const CsvFormat& format)
      : DelimitedReader(in, std::move(name), ','), format_(format) {
    if (!text_.next()) text_.fail(0, "the file is empty");
    num_columns_ = text_.size();
    for (const std::string_view column : format.columns) {
      std::size_t i = 0;
      while (i < text_.size() && text_[i] != column) ++i;
      if (i == text_.size()) {
        text_.fail(0, "the header has no column \"" + std::string(column) + "\"");
      }
      place_.push_back(i);
    }
  }

 private:
  std::size_t num_columns() override { return num_columns_; }
  TraceJob read() override {
    TraceJob job;
    format_.fill(Row(text_, place_), job);
    if (!format_.has_dates) return job;
    if (!first_s_) first_s_ = job.submit_s;
    job.submit_s -= *first_s_;
    return job;
  }

  const CsvFormat& format_;
  std::size_t num_columns_ = 0;
  std::vector<std::size_t> place_;
  std::optional<double> first_s_;
};

// Formats without a header: columns by their place, jobs by their line.
class PlainReader final : public DelimitedReader {
 public:
  PlainReader(std::istream& in, std::string name, JobTraceFormat format)
      : DelimitedReader(in, std::move(name), format == JobTraceFormat::kGavel ? '\t' : ','),
        is_gavel_(format == JobTraceFormat::kGavel) {}

 private:
  std::size_t num_columns() override {
    if (num_columns_ == 0) num_columns_ = is_gavel_ && text_.size() == 7 ? 7 : 10;
    return num_columns_;
  }
  TraceJob read() override {
    static const std::vector<std::size_t> kInOrder{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    static const std::vector<std::size_t> kPai{0, 1, 2, 3, 4, 5, 8, 9};
    TraceJob job;
    job.id = std::to_string(num_read_++);
    if (!is_gavel_) {
      fill_pai(Row(text_, kPai), job);
    } else {
      (num_columns_ == 7 ? fill_gavel_seven : fill_gavel_ten)(Row(text_, kInOrder), job);
    }
    return job;
  }

  bool is_gavel_;
  std::size_t num_columns_ = 0;
  std::int64_t num_read_ = 0;
};

// Jobs with their attempts; what an attempt ran on is counted, not asked for.
class PhillyReader final : public JobTraceReader {
 public:
  PhillyReader(std::istream& in, const std::string& name) : name_(name), entries_(in, name) {}

  std::optional<TraceJob> next() override {
    while (const auto entry = entries_.next()) {
      TraceJob job;
      try {
        job = read(*entry);
      } catch (const json::exception& error) {
        refuse(std::string("it is no job: ") + error.what());
      }
      ++index_;
      if (job.gpus > 0) return job;
      ++num_left_out_;
    }
    return std::nullopt;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw UserError(name_ + ": job " + std::to_string(index_) + ": " + why);
  }

  [[nodiscard]] double date(const json& value) const {
    const auto seconds = parse_date(value.get_ref<const std::string&>());
    if (!seconds) refuse("expected a time like 2017-10-07 01:12:09, found " + json_text(value));
    return *seconds;
  }

  [[nodiscard]] TraceJob read(const json& entry) {
    TraceJob job{.id = entry.at("jobid").get<std::string>(),
                 .submit_s = date(entry.at("submitted_time")),
                 .gpus = 0,
                 .user = entry.at("user").get<std::string>(),
                 .group = entry.at("vc").get<std::string>(),
                 .state = entry.at("status").get<std::string>()};
    if (!first_s_) first_s_ = job.submit_s;
    job.submit_s -= *first_s_;
    double ran = 0;
    bool is_known = true;
    for (const json& attempt : entry.at("attempts")) {
      std::size_t gpus = 0;
      for (const json& machine : attempt.at("detail")) gpus += machine.at("gpus").size();
      job.gpus = static_cast<int>(std::min<std::size_t>(gpus, kMostGpusOfJob));
      const json& end = attempt.at("end_time");
      const json& start = attempt.at("start_time");
      is_known = is_known && is_there(end) && is_there(start);
      if (is_known) ran += std::max(0.0, date(end) - date(start));
    }
    if (is_known) job.duration_s = std::min(ran, kMostTime);
    return job;
  }
  // A time that the log has: those that it has not are null, empty or "None".
  [[nodiscard]] static bool is_there(const json& time) {
    return time.is_string() && time != json("") && time != json("None");
  }

  std::string name_;
  JsonListReader entries_;
  std::size_t index_ = 0;  // of the one that is read
  std::optional<double> first_s_;
};

// As short as it reads back the same.
void put(std::ostream& out, double v) {
  std::array<char, 32> text{};
  out.write(text.data(),
            std::to_chars(text.data(), text.data() + text.size(), v).ptr - text.data());
}

// Of ASCII alone, whatever the locale.
bool is_control(char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }

void put(std::ostream& out, const std::string& text) {
  const bool is_quoted = text.find_first_of(",\"") != std::string::npos;
  if (is_quoted) out << '"';
  for (const char c : text) {
    if (c == '"') out << c;
    out << (is_control(c) ? ' ' : c);
  }
  if (is_quoted) out << '"';
}

}  // namespace

std::string first_line_of(std::istream& in) {
  constexpr std::size_t kMost = std::size_t{1} << 16;
  std::string line;
  for (int c = in.get(); c != std::istream::traits_type::eof() && c != '\n'; c = in.get()) {
    line.push_back(static_cast<char>(c));
    if (line.size() == kMost) break;
  }
  in.clear();
  in.seekg(0);
  if (line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
  return line;
}

std::optional<JobTraceFormat> recognise_job_trace(std::string_view first_line) {
  while (!first_line.empty() && (first_line.back() == '\r' || first_line.back() == ' ')) {
    first_line.remove_suffix(1);
  }
  if (first_line.starts_with('[')) return JobTraceFormat::kPhilly;
  const auto tabs = std::ranges::count(first_line, '\t');
  if (tabs == 6 || tabs == 9) return JobTraceFormat::kGavel;
  for (const CsvFormat& format : csv_formats()) {
    const bool has_all = std::ranges::all_of(format.columns, [&](std::string_view column) {
      const std::string line = "," + std::string(first_line) + ",";
      return line.find("," + std::string(column) + ",") != std::string::npos;
    });
    if (has_all) return format.format;
  }
  return std::nullopt;
}

std::unique_ptr<JobTraceReader> read_job_trace(std::istream& in, std::string name,
                                               JobTraceFormat format) {
  for (const CsvFormat& csv : csv_formats()) {
    if (csv.format == format) return std::make_unique<CsvReader>(in, std::move(name), csv);
  }
  if (format == JobTraceFormat::kPhilly) {
    return std::make_unique<PhillyReader>(in, std::move(name));
  }
  return std::make_unique<PlainReader>(in, std::move(name), format);
}

void write_job(std::ostream& out, const TraceJob& job) {
  put(out, job.id);
  out << ',';
  put(out, job.submit_s);
  out << ',' << job.gpus << ',';
  put(out, job.gpu_share);
  out << ',';
  if (job.duration_s) put(out, *job.duration_s);
  out << ',';
  if (job.steps) put(out, *job.steps);
  for (const std::string* text : {&job.type, &job.user, &job.group, &job.gpu_type, &job.state}) {
    out << ',';
    put(out, *text);
  }
  out << '\n';
}

}  // namespace pacml::env
