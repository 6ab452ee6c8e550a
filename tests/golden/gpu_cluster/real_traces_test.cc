// Traces that others published are read, where the machine has them: whole files of every format,
// and one of them to the value as an independent conversion has it.

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "env/gpu_cluster/job_trace.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"

namespace pacml::env {
namespace {

std::filesystem::path traces() {
  return testing::source_path("").parent_path().parent_path() / "shared" / "traces";
}

std::vector<TraceJob> read(const std::filesystem::path& file,
                           std::optional<JobTraceFormat> format = std::nullopt) {
  std::ifstream in(file);
  REQUIRE(in);
  if (!format) {
    std::string line;
    std::getline(in, line);
    format = recognise_job_trace(line);
    in.seekg(0);
  }
  INFO(file.string());
  REQUIRE(format.has_value());
  const auto reader = read_job_trace(in, file.string(), *format);
  std::vector<TraceJob> jobs;
  while (auto job = reader->next()) jobs.push_back(std::move(*job));
  return jobs;
}

TEST_CASE("published traces of every format are read, where present", "[golden][gpu_cluster]") {
  if (!std::filesystem::exists(traces() / "original")) {
    WARN("this test is skipped: this machine has no published traces beside the project");
    return;
  }
  const std::map<std::string, std::size_t> jobs{
      {"philly_gavel.csv", 15264},
      {"openb.csv", 7064},
      {"philly_muri.csv", 5755},
      {"original/gavel_msr_e13805.trace", 607},
      {"original/gavel_physical_artifact_evaluation.trace", 15},
      {"original/muri_trace2.csv", 5755},
      {"original/chronus_trace_job_Philly_SLO.first3000.csv", 2981},  // 19 want no GPU
      {"original/openb_pod_list_default.csv", 7064},
      {"fixtures/helios_cluster_log.csv", 5},
      {"fixtures/philly_cluster_job_log.json", 2}};
  for (const auto& [file, count] : jobs) {
    CAPTURE(file);
    CHECK(read(traces() / file).size() == count);
  }
  CHECK(read(traces() / "fixtures" / "pai_task_table.csv", JobTraceFormat::kPai).size() == 3);

  const auto converted = read(traces() / "openb.csv");
  const auto original = read(traces() / "original" / "openb_pod_list_default.csv");
  REQUIRE(converted.size() == original.size());
  for (std::size_t i = 0; i < original.size(); ++i) {
    CAPTURE(i);
    CHECK(original[i].submit_s == converted[i].submit_s);
    CHECK(original[i].gpus == converted[i].gpus);
    CHECK(original[i].gpu_share == converted[i].gpu_share);
    CHECK(original[i].duration_s == converted[i].duration_s);
  }
}

}  // namespace
}  // namespace pacml::env
