#include "env/gpu_cluster/trace_jobs.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/result.h"
#include "env/gpu_cluster/speed_tables_json.h"
#include "env/tasks/cluster_scheduling/task.h"
#include "env/tasks/gpu_scheduling/environment.h"
#include "tests/support/catch.h"
#include "tests/support/temp_dir.h"

namespace pacml::env {
namespace {

constexpr const char* kHeader =
    "job_id,submit_s,gpus,gpu_share,duration_s,steps,job_type,user,vc,gpu_type,state\n";
// What a job of type "one" does on a GPU, 2 steps/s, and on two; "two" runs on one GPU alone.
constexpr const char* kSpeeds = R"({"types": {
  "one": {"thr": {"v100": {"1": [2, 2], "2": [4, 3]}}, "host": 0.5},
  "two": {"thr": {"v100": {"1": [10, 10]}}}},
  "pairs": {"v100": {"one": {"two": 0.75}, "two": {"one": 0.5, "two": null}}}})";

struct Files {
  Files() { write("speeds.json", kSpeeds); }
  std::string write(const std::string& name, const std::string& text) const {
    const std::string path = (folder / name).string();
    std::ofstream(path) << text;
    return path;
  }
  [[nodiscard]] ClusterSchedulingConfig config(const std::string& rows) const {
    ClusterSchedulingConfig c;
    c.speeds = (folder / "speeds.json").string();
    c.trace = {.file = write("trace.csv", kHeader + rows), .from = 0, .until = 1};
    c.jobs = {.jobs = 3, .load = 1, .largest_gpus = 2, .least_s = 10, .most_s = 100};
    return c;
  }
  testing::TempDir folder;
};

std::string refusal(const ClusterSchedulingConfig& config) {
  try {
    const ClusterSchedulingTask task(config);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("episodes are jobs in a row of a trace, stretched to a load", "[unit][gpu_cluster]") {
  const Files files;
  const auto task = std::make_shared<const ClusterSchedulingTask>(
      files.config("a,1000,1,1,50,,one,ann,,,\n"
                   "b,1010,2,1,5000,,one,bob,,,\n"    // longer than most_s
                   "c,1030,1,1,,300,two,ann,,,\n"));  // 30 s at 10 steps/s
  const auto jobs = task->draw_jobs(Seed{1});
  REQUIRE(jobs.size() == 3);
  CHECK(jobs[0].type == "one");
  CHECK(jobs[0].user == "ann");
  CHECK(jobs[0].steps == Approx(100));
  CHECK(jobs[1].gpus == 2);
  CHECK(jobs[1].steps == Approx(400));
  CHECK(jobs[2].type == "two");
  CHECK(jobs[2].steps == Approx(300));
  // 50 + 2 * 100 + 30 GPU-seconds on 16 GPUs until the last one arrives; gaps stay 1 to 2.
  CHECK(jobs[0].submit_s == 0);
  CHECK(jobs[2].submit_s == Approx(280.0 / 16));
  CHECK(jobs[1].submit_s == Approx(280.0 / 16 / 3));
  CHECK(task->scale().mean_job_s == Approx(60));
}

TEST_CASE("what a trace does not say is drawn once, what cannot run is left out",
          "[unit][gpu_cluster]") {
  const Files files;
  const ClusterSchedulingConfig config = files.config(
      "a,0,1,1,50,,,,,,\n"
      "b,1,4,1,50,,one,,,,\n"  // no speed on four GPUs
      "c,2,2,1,50,,else,,,,\n"
      "d,3,1,1,,,one,,,,\n"  // nobody knows how long
      "e,4,1,1,50,,two,,,,\n");
  const ClusterSchedulingTask task(config);
  const auto jobs = task.draw_jobs(Seed{1});
  REQUIRE(jobs.size() == 3);
  CHECK(jobs[1].type == "one");  // the only one with two GPUs
  CHECK(jobs[2].type == "two");
  const auto again = ClusterSchedulingTask(config).draw_jobs(Seed{1});
  CHECK(again == jobs);
}

TEST_CASE("a trace that names types of which none has speeds is refused", "[unit][gpu_cluster]") {
  const Files files;
  const std::string foreign =
      "a,0,1,1,50,,\"One (batch size 8)\",,,,\n"
      "b,1,1,1,50,,\"Two (batch size 8)\",,,,\n"
      "c,2,1,1,50,,,,,,\n";
  ClusterSchedulingConfig config = files.config(foreign);
  const std::string told = refusal(config);
  CHECK_THAT(told, Catch::Contains("trace.csv: there are speeds of no type that its jobs name"));
  CHECK_THAT(told, Catch::Contains("e.g. \"One (batch size 8)\", but of others, e.g. \"one\";"));
  SECTION("where speeds are made up, so are types") {
    config.speeds.clear();
    CHECK(refusal(config).empty());
  }
  SECTION("one that has speeds is enough, be it of a job that is left out") {
    CHECK(refusal(files.config(foreign + "d,3,4,1,50,,one,,,,\n")).empty());
  }
  SECTION("who names none has one drawn") {
    CHECK(refusal(files.config("a,0,1,1,50,,,,,,\nb,1,1,1,50,,,,,,\nc,2,2,1,50,,,,,,\n")).empty());
  }
  SECTION("so have all of a format without a column of types") {
    config.trace.file = files.write(
        "openb.csv",
        "name,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"
        "a,1,1000,,LS,Running,0,50,0\n"
        "b,1,1000,,LS,Running,1,50,1\n"
        "c,2,1000,,BE,Running,2,50,2\n");
    CHECK(refusal(config).empty());
  }
}

TEST_CASE("a load that stretches a row of a trace too far is refused when the task is made",
          "[unit][gpu_cluster]") {
  const Files files;
  std::string rows;
  for (int i = 0; i < 300; ++i) {
    rows += std::to_string(i) + "," + std::to_string(i) + ",1,1,50,,one,,,,\n";
  }
  ClusterSchedulingConfig config = files.config(rows);
  config.jobs = {.jobs = 300, .load = 1e-6, .largest_gpus = 2, .least_s = 1e8, .most_s = 1e9};
  // 300 jobs of 1e8 s on 16 GPUs.
  CHECK(
      refusal(config) ==
      "env: jobs.load: 1e-06 can spread the jobs of an episode over 1.875e+15 s, more than 1e+12");
  config.jobs.load = 1;
  CHECK(refusal(config).empty());
  config.jobs.load = 1e-6;
  config.jobs.jobs = 1;  // it arrives at once
  CHECK(refusal(config).empty());
  // Rows are as long as an episode, not as the trace.
  config.jobs = {.jobs = 10, .load = 1e-3, .largest_gpus = 2, .least_s = 1e9, .most_s = 1e9};
  CHECK(refusal(config).empty());
}

TEST_CASE("training and tests take different parts of a trace", "[unit][gpu_cluster]") {
  const Files files;
  std::string rows;
  for (int i = 0; i < 10; ++i) {
    rows += std::to_string(i) + "," + std::to_string(i) + ",1,1," + std::to_string(20 + i) +
            ",,two,,,,\n";
  }
  ClusterSchedulingConfig config = files.config(rows);
  const auto lengths = [&](double from, double until) {
    config.trace.from = from;
    config.trace.until = until;
    const ClusterSchedulingTask task(config);
    std::vector<int> seen;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      for (const GpuJobSpec& job : task.draw_jobs(Seed{seed})) {
        seen.push_back(static_cast<int>(std::lround(job.steps / 10)));
      }
    }
    std::ranges::sort(seen);
    seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
    return seen;
  };
  CHECK(lengths(0, 0.7) == std::vector<int>{20, 21, 22, 23, 24, 25, 26});
  CHECK(lengths(0.7, 1) == std::vector<int>{27, 28, 29});
  // Also where the shares are no whole numbers of what they are shares of.
  config.jobs.jobs = 1;
  CHECK(lengths(0.7, 0.8) == std::vector<int>{27});
}

TEST_CASE("another future of a trace has no jobs that are still to come", "[unit][gpu_cluster]") {
  const Files files;
  const auto task_of = [&](int length, int jobs) {
    std::string rows;
    for (int i = 0; i < length; ++i) {
      rows += std::to_string(i) + "," + std::to_string(i) + ",1,1," + std::to_string(20 + i) +
              ",,two,,,,\n";
    }
    ClusterSchedulingConfig config = files.config(rows);
    config.jobs.jobs = jobs;
    return std::make_shared<const ClusterSchedulingTask>(config);
  };
  const auto numbers = [](const std::vector<GpuJobSpec>& jobs, std::size_t from) {
    std::set<int> out;
    for (std::size_t i = from; i < jobs.size(); ++i) {
      out.insert(static_cast<int>(std::lround(jobs[i].steps / 10)));
    }
    return out;
  };
  const auto task = task_of(20, 6);
  std::set<int> seen;
  for (std::uint64_t episode = 0; episode < 30; ++episode) {
    const auto truth = task->draw_jobs(Seed{episode});
    for (std::size_t arrived = 1; arrived <= truth.size(); ++arrived) {
      CAPTURE(episode, arrived);
      const auto to_come = numbers(truth, arrived);
      for (std::uint64_t future = 100; future < 120; ++future) {
        const auto drawn = task->draw_future(Seed{future}, Seed{episode}, arrived);
        REQUIRE(drawn.size() == truth.size());
        for (const int job : numbers(drawn, arrived)) {
          REQUIRE_FALSE(to_come.contains(job));
          seen.insert(job);
        }
      }
    }
  }
  CHECK(seen.size() == 19);  // all but the first, which is always the first to arrive

  const auto narrow = task_of(7, 6);
  GpuSchedulingEnv env(narrow);
  env.reset(Seed{1});
  CHECK_FALSE(env.resample_future(Seed{2}));
}

TEST_CASE("tables of speeds are read from files", "[unit][gpu_cluster]") {
  const Files files;
  const GpuSpeedTables tables = read_speed_tables(files.write("t.json", kSpeeds));
  CHECK(tables.types.at("one").host_load == 0.5);
  CHECK(tables.types.at("one").speeds.at("v100").at(2) == GpuSpeed{4, 3});
  CHECK(tables.pairs.at("v100").at("two").size() == 1);
  CHECK(read_speed_tables(files.write("c.json", R"({"config": )" + std::string(kSpeeds) + "}")) ==
        tables);
}

TEST_CASE("tables of Gavel's authors are read as they stand", "[unit][gpu_cluster]") {
  const Files files;
  const std::string text = R"gavel({
    "v100": {
      "('LM (batch size 5)', 1)": {"null": 8, "('A3C', 1)": [6, 1],
                                   "('LM (batch size 5)', 1)": [0.0, 0.0], "('A3C', 2)": [0.0, 0.0]},
      "('LM (batch size 5)', 2)": {"null": 14, "('A3C', 1)": [0.0, 0.0]},
      "('LM (batch size 5)', 4)": {"null": 0.0},
      "('A3C', 1)": {"null": 4, "('LM (batch size 5)', 1)": [1, 6]}},
    "v100_unconsolidated": {"('LM (batch size 5)', 2)": {"null": 10}}})gavel";
  const GpuSpeedTables tables = read_speed_tables(files.write("gavel.json", text));
  const auto& lm = tables.types.at("LM (batch size 5)").speeds.at("v100");
  CHECK(lm == std::map<int, GpuSpeed>{{1, {8, 0}}, {2, {14, 10}}});
  const auto& pairs = tables.pairs.at("v100");
  CHECK(pairs.at("LM (batch size 5)") ==
        std::map<std::string, double>{{"A3C", 0.75}, {"LM (batch size 5)", 0}});
  CHECK(pairs.at("A3C") == std::map<std::string, double>{{"LM (batch size 5)", 0.25}});
  const GpuSpeedTables alone = read_speed_tables(files.write(
      "alone.json", R"gavel({"v100": {"('LM (batch size 5)', 1)": {"null": 10.0}}})gavel"));
  CHECK(alone.types.at("LM (batch size 5)").speeds.at("v100").at(1) == GpuSpeed{10, 0});

  const auto refused = [&](const std::string& from, const std::string& to) {
    std::string bad = text;
    bad.replace(bad.find(from), from.size(), to);
    const std::string file = files.write("bad.json", bad);
    std::string found;
    try {
      (void)read_speed_tables(file);
    } catch (const UserError& error) {
      found = error.what();
    }
    return found;
  };
  CHECK_THAT(refused("('A3C', 1)\": [6, 1]", "A3C\": [6, 1]"),
             Catch::Contains("\"A3C\" is no type of job and number of GPUs"));
  CHECK_THAT(refused("[6, 1]", "[6]"), Catch::Contains("it has only 1 parts"));
  CHECK_THAT(refused("\"null\": 14", "\"null\": \"x\""), Catch::Contains("expected a number"));
}

TEST_CASE("jobs of more steps than can be are refused when they are read", "[unit][gpu_cluster]") {
  const Files files;
  const std::string fast = R"({"types": {"one": {"thr": {"v100": {"1": [1e12, 1e12]}}}}})";
  ClusterSchedulingConfig config =
      files.config("a,0,1,1,10000,,one,,,,\nb,1,1,1,1,,one,,,,\nc,2,1,1,1,,one,,,,\n");
  config.speeds = files.write("fast.json", fast);
  config.jobs.largest_gpus = 1;
  config.jobs.most_s = 10000;
  CHECK_THAT(refusal(config), Catch::Contains("job a would do more than 1e15 steps"));
  ClusterSchedulingConfig generated;
  generated.speeds = config.speeds;
  generated.jobs.largest_gpus = 1;
  CHECK_THAT(refusal(generated), Catch::Contains("more than 1e15 steps"));
}

TEST_CASE("tables that would take all memory, or the stack, are refused", "[unit][gpu_cluster]") {
  const Files files;
  const auto refused = [&](const std::string& text) {
    ClusterSchedulingConfig config = files.config("");
    config.speeds = files.write("t.json", text);
    return refusal(config);
  };
  std::string types;
  for (int i = 0; i < 8200; ++i) {
    types += (i > 0 ? ",\"" : "\"") + std::to_string(i) + R"(": {"thr": {}})";
  }
  CHECK_THAT(refused(R"({"types": {)" + types + "}}"), Catch::Contains("8200 types of jobs"));
  CHECK_THAT(refused(R"({"types": )" + std::string(200'000, '[') + std::string(200'000, ']') + "}"),
             Catch::Contains("deeper than 64"));
  CHECK_THAT(refused(R"({"types": [1, 2]})"),
             Catch::Contains("expected an object, found an array"));
  CHECK_THAT(refused(R"({"types": {}, "pairs": {"v100": {"one": {"one": 1e-320}}}})"),
             Catch::Contains("the share must be 0 or in 1e-9..1e6"));
}

TEST_CASE("files that are no traces and no tables are refused by name", "[unit][gpu_cluster]") {
  const Files files;
  ClusterSchedulingConfig config = files.config("a,0,1,1,50,,one,,,,\n");
  CHECK_THAT(refusal(config), Catch::Contains("1 of its jobs can be taken"));
  config.trace.file = "/no/where.csv";
  CHECK_THAT(refusal(config), Catch::Contains("/no/where.csv: it cannot be read"));
  config.trace.file = files.write("other.csv", "nothing,of,the,kind\n");
  CHECK_THAT(refusal(config), Catch::Contains("of no format that is known"));
  config.trace.file = files.write("bad.csv", std::string(kHeader) + "a,0,x,1,50,,one,,,,\n");
  CHECK_THAT(refusal(config), Catch::Contains("bad.csv:2:"));
  config.trace.file.clear();
  config.speeds = files.write("bad.json", "{");
  CHECK_THAT(refusal(config), Catch::Contains("no JSON document"));
  config.speeds =
      files.write("bad.json", R"({"types": {"one": {"thr": {"v100": {"x": [1, 1]}}}}})");
  CHECK_THAT(refusal(config), Catch::Contains("is no number of GPUs"));
  config.trace = {.from = 0.5, .until = 0.5};
  CHECK(validate(config.trace).size() == 1);
}

}  // namespace
}  // namespace pacml::env
