#include <cmath>
#include <sstream>
#include <string>

#include "common/check.h"
#include "common/result.h"
#include "env/gpu_cluster/job_trace.h"
#include "tests/fuzz/env/targets.h"

namespace pacml::fuzz {
namespace {

using namespace env;  // NOLINT(google-build-using-namespace): this file speaks of little else

constexpr std::size_t kMostWritten = std::size_t{1} << 16;

// What is written of a job is read as the same job.
void check(const TraceJob& job) {
  PACML_CHECK(std::isfinite(job.submit_s) && job.submit_s >= -1e12, "a time that is none");
  PACML_CHECK(job.gpus >= 1, "a job without GPUs is left out");
  if (job.submit_s < 0 || job.submit_s > 1e12) return;  // before the first one of the file
  std::stringstream text;
  text << kJobTraceHeader << '\n';
  write_job(text, job);
  if (text.str().size() > kMostWritten) return;  // no line is read that is so long
  try {
    const auto back = read_job_trace(text, "again", JobTraceFormat::kPacml)->next();
    PACML_CHECK(back.has_value() && back->submit_s == job.submit_s && back->gpus == job.gpus &&
                    back->duration_s == job.duration_s,
                "what is written is read");
  } catch (const UserError&) {
    PACML_CHECK(false, "what is written can be read");
  }
}

}  // namespace

bool job_trace(std::span<const std::byte> bytes) {
  if (bytes.empty()) return false;
  const auto formats = enum_names(JobTraceFormat{});
  const auto format = formats[static_cast<std::size_t>(bytes.front()) % formats.size()].value;
  std::istringstream in(
      std::string(reinterpret_cast<const char*>(bytes.data()) + 1, bytes.size() - 1));
  try {
    const auto reader = read_job_trace(in, "fuzz", format);
    while (const auto job = reader->next()) check(*job);
    return true;
  } catch (const UserError&) {
    return false;
  }
}

}  // namespace pacml::fuzz
