// Episodes that are lists of jobs out of recorded schedules.

#include "env/gpu_cluster/job_lists.h"

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "common/result.h"
#include "env/gpu_cluster/gpu_cluster_metrics.h"
#include "env/gpu_cluster/gpu_cluster_simulator.h"
#include "env/gpu_cluster/gpu_jobs_json.h"
#include "env/gpu_cluster/gpu_rules.h"
#include "env/tasks/cluster_scheduling/task.h"
#include "env/tasks/gpu_scheduling/environment.h"
#include "env/text/json_file.h"
#include "env/text/json_member.h"
#include "tests/support/catch.h"
#include "tests/support/temp_dir.h"
#include "tests/support/two_servers.h"

namespace pacml::env {
namespace {

// Types that are made up: two schedulers with two GPUs each.
struct Lists {
  std::string write(const std::string& name, const std::string& text) {
    const std::string path = (folder / name).string();
    std::ofstream(path) << text;
    config.job_lists.push_back(path);
    return path;
  }
  [[nodiscard]] std::string refusal() const {
    try {
      const ClusterSchedulingTask task(config);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  }
  testing::TempDir folder;
  ClusterSchedulingConfig config = testing::two_servers();
};

constexpr const char* kLate = R"({"submit": 9, "type": "image_small", "gpus": 1, "steps": 100})";
constexpr const char* kEarly =
    R"({"submit": 5, "type": "image_large", "gpus": 2, "steps": 70, "user": "ann", "comm": "ps"})";

std::string list_of(const std::string& jobs, const std::string& name = "") {
  return R"({"config": {}, "partitions_marl": 2, )" +
         (name.empty() ? name : R"("name": ")" + name + R"(", )") + R"("jobs": [)" + jobs + "]}";
}

TEST_CASE("episodes are the lists of jobs that are named, as they stand", "[unit][gpu_cluster]") {
  Lists lists;
  const std::string unnamed =
      lists.write("a.json", list_of(std::string(kLate) + ", " + std::string(kEarly)));
  lists.write("b.json", list_of(std::string(kEarly) + ", " + std::string(kEarly), "two alike"));
  lists.config.jobs.largest_gpus = 64;  // says nothing where jobs are listed
  const auto task = std::make_shared<const ClusterSchedulingTask>(lists.config);
  REQUIRE(task->job_lists() != nullptr);

  GpuSchedulingEnv env(task);
  REQUIRE(env.num_problems() == 2);
  CHECK(env.problem_name(0) == unnamed);
  CHECK(env.problem_name(1) == "two alike");
  const auto seen = [&env] {
    const GpuJobList& jobs = env.state().jobs();
    return std::vector{jobs[0].submit_s, jobs[0].steps, jobs[1].submit_s, jobs[1].steps};
  };
  env.reset(Seed{1}, 0);
  CHECK(seen() == std::vector<double>{5, 70, 9, 100});  // by arrival
  CHECK(env.state().jobs()[0].comm == GpuComm::kParameterServers);
  CHECK(env.state().jobs()[1].comm == GpuComm::kRing);
  CHECK(env.state().jobs().users()[0] == "ann");
  env.reset(Seed{1}, 1);
  CHECK(seen() == std::vector<double>{5, 70, 5, 70});

  // Else one of them is drawn, and a future is of one of them.
  std::set<double> drawn;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    env.reset(Seed{seed});
    drawn.insert(env.state().jobs()[1].submit_s);
    CHECK(env.resample_future(Seed{seed + 1}));
    while (!env.step(static_cast<int>(env.offers().size()) - 1).final()) {
    }
    CHECK(env.summary().metrics[0] > 0);
  }
  CHECK(drawn == std::set<double>{5, 9});
}

TEST_CASE("jobs of a list come to the schedulers that they have in the recording",
          "[unit][gpu_cluster]") {
  // By their places the first and the last one are one scheduler's, by arrival the first two.
  std::string jobs;
  for (const int submit_s : {0, 20, 10}) {
    jobs += (jobs.empty() ? "" : ", ") + std::string(R"({"submit": )") + std::to_string(submit_s) +
            R"(, "type": "image_large", "gpus": 2, "steps": 500})";
  }
  Lists lists;
  const std::string file = lists.write("a.json", list_of(jobs));
  const auto task = std::make_shared<const ClusterSchedulingTask>(lists.config);

  const nlohmann::json document = read_json_file(file);
  const auto recorded = std::make_shared<const GpuJobList>(
      *task->model(), recorded_gpu_jobs(JsonMember(document, file)["jobs"]));
  const auto rule = make_rule_scheduler({});
  GpuClusterSimulator simulator(task->model(), recorded, rule->queue_order());
  run_schedule(simulator, *rule);

  GpuSchedulingEnv env(task);
  env.reset(Seed{1}, 0);
  const auto agent = task->make_agent("fifo_first_fit");
  agent->reset(Seed{1});
  static_cast<void>(env.step(agent->act(env)));
  CHECK(env.state().now() == 10);
  CHECK(env.agent() == 0);
  CHECK(env.state().jobs()[1].submit_s == 10);
  CHECK(env.describe(static_cast<int>(env.offers().size()) - 1) ==
        "job 2 (image_large, 2 GPUs) to scheduler 1");
  while (!env.step(agent->act(env)).final()) {
  }
  CHECK(env.summary().metrics[0] == Approx(gpu_cluster_metrics(simulator.state()).avg_jct));
}

TEST_CASE("what is still to come of a list is drawn from another one", "[unit][gpu_cluster]") {
  Lists lists;
  lists.write("a.json", list_of(std::string(kLate) + ", " + std::string(kEarly)));
  const auto play = [&lists] {
    GpuSchedulingEnv env(std::make_shared<const ClusterSchedulingTask>(lists.config));
    env.reset(Seed{1}, 0);
    REQUIRE(env.state().now() == 5);
    return env;
  };
  GpuSchedulingEnv alone = play();
  CHECK_FALSE(alone.resample_future(Seed{3}));
  CHECK(alone.state().jobs()[1].steps == 100);
  lists.write("b.json", list_of(std::string(kEarly) + ", " + std::string(kEarly)));
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    GpuSchedulingEnv env = play();
    REQUIRE(env.resample_future(Seed{seed}));
    CHECK(env.state().jobs()[1].steps == 70);
  }
}

TEST_CASE("no future is taken from a list that has what is truly still to come",
          "[unit][gpu_cluster]") {
  // Windows of one recording of 100 jobs, 40 long, at 0, 20 and 60: the first two overlap.
  Lists lists;
  for (const int first : {0, 20, 60}) {
    std::string jobs;
    for (int i = first; i < first + 40; ++i) {
      jobs += (jobs.empty() ? "" : ", ") + std::string(R"({"submit": )") +
              std::to_string(10 * (i - first)) +
              R"(, "type": "image_small", "gpus": 1, "steps": )" + std::to_string(100 + i) + "}";
    }
    lists.write("from_" + std::to_string(first) + ".json", list_of(jobs));
  }
  const ClusterSchedulingTask task(lists.config);
  const JobLists& of = *task.job_lists();
  using Numbers = std::vector<std::size_t>;
  CHECK(of.others_for(0, 0) == Numbers{2});
  CHECK(of.others_for(0, 39) == Numbers{2});
  CHECK(of.others_for(0, 40) == Numbers{1, 2});
  CHECK(of.others_for(1, 0) == Numbers{2});
  CHECK(of.others_for(1, 19) == Numbers{2});
  CHECK(of.others_for(1, 20) == Numbers{0, 2});  // what is still to come is in no other one
  CHECK(of.others_for(2, 0) == Numbers{0, 1});

  lists.config.job_lists.pop_back();
  GpuSchedulingEnv env(std::make_shared<const ClusterSchedulingTask>(lists.config));
  env.reset(Seed{1}, 0);
  CHECK_FALSE(env.resample_future(Seed{1}));
}

TEST_CASE("lists of jobs that cannot be run are refused with their file", "[unit][gpu_cluster]") {
  Lists lists;
  const std::string file = (lists.folder / "a.json").string();
  const auto refusal = [&lists](const std::string& text) {
    lists.config.job_lists.clear();
    lists.write("a.json", text);
    return lists.refusal();
  };
  CHECK(refusal("{}") == "env: " + file + R"(: it has no "jobs")");
  CHECK_THAT(refusal("[{"), Catch::StartsWith("env: " + file + ": "));
  CHECK(refusal(list_of("")) == "env: " + file + ": there are no jobs");
  CHECK(refusal(list_of(R"({"submit": 0, "type": "image_small", "gpus": 4, "steps": 1})")) ==
        "env: " + file + ": job 0: it wants 4 GPUs, the smallest partition has 2");
  CHECK_THAT(refusal(list_of(R"({"submit": 0, "type": "nobody's", "gpus": 1, "steps": 1})")),
             Catch::StartsWith("env: " + file + ": job 0: ") && Catch::Contains("nobody's"));
  CHECK_THAT(refusal(list_of(R"({"submit": -1, "type": "image_small", "gpus": 1, "steps": 1})")),
             Catch::Contains("its time of arrival must be in 0..1e12 s"));

  // Jobs are named as the file has them, whenever they arrive.
  CHECK_THAT(refusal(list_of(std::string(kLate) + R"(, {"submit": 1, "type": "image_small",)" +
                             R"( "gpus": 4, "steps": 1})")),
             Catch::Contains("job 1: it wants 4 GPUs"));

  CHECK(refusal(list_of(kLate)).empty());
  const std::string longer =
      lists.write("b.json", list_of(std::string(kLate) + ", " + std::string(kEarly)));
  CHECK(lists.refusal() ==
        "env: " + longer + ": it has 2 jobs, " + file + " has 1; lists must be of one length");
  lists.config.job_lists = {file};
  lists.config.trace.file = "trace.csv";
  CHECK(lists.refusal() ==
        "env.job_lists: jobs are those of the lists, or of trace.file; name one");
  lists.config.trace.file.clear();
  lists.config.job_lists = {(lists.folder / "absent.json").string()};
  CHECK_THAT(lists.refusal(), Catch::Contains("absent.json: it cannot be read"));
}

}  // namespace
}  // namespace pacml::env
