#include "env/workload/recorded_jobs.h"

#include <sys/stat.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "common/result.h"
#include "common/try_again.h"
#include "env/workload/job_stream.h"
#include "tests/support/catch.h"
#include "tests/support/temp_dir.h"

namespace pacml::env {
namespace {

std::vector<JobLine> read(const std::string& text) {
  std::istringstream in(text);
  std::vector<JobLine> jobs;
  read_recorded_jobs(in, "f", [&](const JobLine& job, const std::string&) { jobs.push_back(job); });
  return jobs;
}

std::string refusal(const std::string& text) {
  try {
    static_cast<void>(read(text));
  } catch (const UserError& error) {
    return error.what();
  }
  return "none";
}

const std::vector<std::string> kNames = {"a", "b"};
const std::vector<double> kAlone = {100, 400};

// Ten jobs, of a and b in turns, the n-th with a fraction of (n + 1) / 10, gaps of 10, 20, ...
std::string ten_jobs() {
  std::ostringstream text;
  text << "model,arrival,fraction\n";
  double arrival = 5;
  for (int n = 0; n < 10; ++n) {
    text << kNames[static_cast<std::size_t>(n % 2)] << "," << arrival << "," << (n + 1) / 10.0
         << "\n";
    arrival += 10 * (n + 1);
  }
  return text.str();
}

class Recorded {
 public:
  explicit Recorded(const std::string& text) {
    config_.recorded.file = (folder_ / "jobs.csv").string();
    std::ofstream(config_.recorded.file) << text;
  }
  [[nodiscard]] WorkloadConfig& config() { return config_; }
  [[nodiscard]] std::shared_ptr<const WorkloadPlan> plan() const {
    return std::make_shared<const WorkloadPlan>(config_, RecordedModels{kNames, kAlone});
  }
  [[nodiscard]] std::string refusal() const {
    try {
      static_cast<void>(plan());
    } catch (const UserError& error) {
      return error.what();
    }
    return "none";
  }

 private:
  testing::TempDir folder_;
  WorkloadConfig config_;
};

}  // namespace

TEST_CASE("jobs are read out of tables and lines of JSON alike", "[unit][workload]") {
  const std::vector<JobLine> jobs = {{.arrival = 0, .model = "a", .fraction = 0.5},
                                     {.arrival = 2.5, .model = "b", .limit = 70}};
  CHECK(read("limit,model,user,arrival,fraction\n,a,x,0,0.5\n70,b,\"y,z\",2.5,\n") == jobs);
  CHECK(read("\xEF\xBB\xBFlimit,model,arrival\r\n7,a,0\r\n") ==
        std::vector<JobLine>{{.arrival = 0, .model = "a", .limit = 7}});
  CHECK(read("{\"arrival\": 0, \"model\": \"a\", \"fraction\": 0.5, \"user\": 3}\n\n"
             "{\"limit\": 70, \"model\": \"b\", \"arrival\": 2.5}") == jobs);
}

TEST_CASE("lines of JSON may begin with a byte order mark, be blank, and say null",
          "[unit][workload]") {
  const std::string text =
      "\xEF\xBB\xBF  {\"arrival\": 1, \"model\": \"a\", \"fraction\": null}\r\n\r\n \t\n"
      " {\"arrival\": 2, \"model\": \"b\", \"limit\": null, \"fraction\": 0.5}\r\n";
  std::istringstream in(text);
  std::vector<JobLine> jobs;
  std::vector<std::string> places;
  read_recorded_jobs(in, "jobs", [&](const JobLine& job, const std::string& place) {
    jobs.push_back(job);
    places.push_back(place);
  });
  REQUIRE(jobs.size() == 2);
  CHECK(jobs[0].model == "a");
  CHECK_FALSE(jobs[0].fraction);
  CHECK_FALSE(jobs[1].limit);
  CHECK(jobs[1].fraction == 0.5);
  CHECK(places == std::vector<std::string>{"jobs:1", "jobs:4"});
  CHECK(begins_recorded_jobs(text.substr(0, text.find('\r'))));
}

TEST_CASE("what a record gets wrong is told with its line", "[unit][workload]") {
  CHECK(refusal("") == "f: it is empty");
  CHECK_THAT(refusal("model,fraction\na,1\n"),
             Catch::StartsWith("f:1") && Catch::Contains("no column is named arrival"));
  CHECK_THAT(refusal("arrival\n1\n"), Catch::Contains("no column is named model"));
  CHECK_THAT(refusal("arrival,model,arrival\n1,a,1\n"), Catch::Contains("the column comes twice"));
  CHECK_THAT(refusal("arrival,model\n1,a\n0.5,b\n"),
             Catch::StartsWith("f:3: the job arrives before the one above it"));
  CHECK_THAT(refusal("arrival,model\nsoon,a\n"), Catch::StartsWith("f:2:1: "));
  CHECK_THAT(refusal("arrival,model\n-1,a\n"), Catch::StartsWith("f:2:1: "));
  CHECK_THAT(refusal("arrival,model\n1\n"),
             Catch::StartsWith("f:2") && Catch::Contains("1 fields, and the first line has 2"));
  CHECK_THAT(refusal("arrival,model,fraction\n1,a,1.5\n"), Catch::StartsWith("f:2:5: "));
  CHECK_THAT(refusal("{\"arrival\": 1}\n"), Catch::StartsWith("f:1: it has no \"model\""));
  CHECK_THAT(refusal("{\"arrival\": 1, \"model\": \"a\"}\n{\"arrival\": 1,\n"),
             Catch::StartsWith("f:2: it "));
  CHECK_THAT(refusal("{\"arrival\": 1, \"model\": \"a\", \"fraction\": 2}\n"),
             Catch::StartsWith("f:1.fraction: must be from 1e-09 to 1"));
  CHECK_THAT(refusal("{\"arrival\": \"x\", \"model\": \"a\"}\n"),
             Catch::StartsWith("f:1.arrival: expected a number"));
  CHECK_THAT(refusal("{\"model\": \"" + std::string(70'000, 'x') + "\"}"),
             Catch::Contains("64 KiB"));
}

TEST_CASE("an episode plays a part of the record from anywhere, over and over",
          "[unit][workload]") {
  Recorded recorded(ten_jobs());
  const auto plan = recorded.plan();
  CHECK(plan->recorded()->known().count == 7);
  // Six gaps of 10 to 60 between the seven jobs that are known.
  CHECK(plan->mean_interarrival() == Approx(35));
  std::set<double> first;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    JobStream stream(plan, Seed{seed});
    int place = -1;
    for (int n = 0; n < 20; ++n) {
      REQUIRE(!stream.exhausted());
      const ArrivingJob job = stream.next();
      const int at = static_cast<int>(std::lround(job.fraction * 10)) - 1;
      CHECK(job.model == at % 2);
      if (n == 0) first.insert(job.fraction);
      if (n > 0) CHECK(at == (place + 1) % 7);
      place = at;
      const int next = (at + 1) % 7;
      CHECK(stream.next_interarrival(0) == Approx(next == 0 ? 35 : 10 * next));
    }
  }
  CHECK(first.size() == 7);
  // What is observed is normalised by what is known, whichever part is played.
  recorded.config().recorded.part = GENERATE(RecordPart::kKnown, RecordPart::kRest);
  const JobStream stream(recorded.plan(), Seed{1});
  CHECK(stream.statistics()[0].min == 0.1);
  CHECK(stream.statistics()[0].max == 0.7);
  CHECK(stream.statistics()[0].jobs == 4);
  CHECK(stream.statistics()[1].max == 0.6);
  CHECK(stream.statistics()[1].jobs == 3);
}

TEST_CASE("the rest of a record is played by itself, each job once if so wished",
          "[unit][workload]") {
  Recorded recorded(ten_jobs());
  recorded.config().recorded.part = RecordPart::kRest;
  recorded.config().sampling = Sampling::kRemove;
  const auto plan = recorded.plan();
  CHECK(plan->mean_interarrival() == Approx(35));  // of what is known
  JobStream stream(plan, Seed{3});
  std::multiset<double> seen;
  while (!stream.exhausted()) {
    seen.insert(stream.next().fraction);
    REQUIRE(seen.size() <= 3);
  }
  CHECK(seen == std::multiset<double>{0.8, 0.9, 1.0});
}

TEST_CASE("futures of a record are those of what is known, and forget the true one",
          "[unit][workload]") {
  const auto future_of = [](const std::string& text) {
    Recorded recorded(text);
    recorded.config().recorded.part = RecordPart::kRest;
    JobStream stream(recorded.plan(), Seed{3});
    static_cast<void>(stream.next());
    REQUIRE(stream.redraw(Seed{8}, 0));
    std::vector<std::pair<double, double>> future;
    for (int n = 0; n < 200; ++n) {
      const double gap = stream.next_interarrival(0);
      future.emplace_back(stream.next().fraction, gap);
    }
    return future;
  };
  const auto future = future_of(ten_jobs());
  std::set<double> fractions;
  std::set<double> gaps;
  for (const auto& [fraction, gap] : future) {
    CHECK(fraction < 0.75);
    CHECK(gap <= 60);
    fractions.insert(fraction);
    gaps.insert(gap);
  }
  CHECK(fractions.size() == 7);
  CHECK(gaps.size() == 7);
  // Another truth, the same imagination.
  std::string other = ten_jobs();
  const auto last = other.rfind("a,");
  other = other.substr(0, last) + "b,365,0.05\nb,366,0.06\n";
  CHECK(future_of(other) == future);
}

TEST_CASE("records of equal jobs have equal hashes, however they are written", "[unit][workload]") {
  const auto hash_of = [](const std::string& text) {
    return Recorded(text).plan()->recorded()->hash();
  };
  const std::string head = "arrival,model,fraction,limit\n";
  const std::string jobs = "0,a,0.5,\n1,b,,70\n2,a,,\n";
  const auto hash = hash_of(head + jobs);
  CHECK(hash_of("{\"arrival\": 0, \"model\": \"a\", \"fraction\": 0.5}\n"
                "{\"arrival\": 1, \"model\": \"b\", \"limit\": 70}\n"
                "{\"arrival\": 2, \"model\": \"a\"}\n") == hash);
  for (const std::string& other :
       {jobs + "3,a,,\n", std::string("0,a,0.5,\n1,b,,70\n2,b,,\n"),
        std::string("0,a,0.5,\n1,b,,71\n2,a,,\n"), std::string("0,a,0.5,\n1.5,b,,70\n2,a,,\n"),
        std::string("0,a,,0.5\n1,b,,70\n2,a,,\n")}) {
    INFO(other);
    CHECK(hash_of(head + other) != hash);
  }
}

TEST_CASE("limits are fractions of what a job takes alone", "[unit][workload]") {
  Recorded recorded("arrival,model,limit\n0,a,50\n1,b,100\n2,b,4000\n3,a,\n");
  recorded.config().recorded.known = 1;
  recorded.config().requirement.kind = DistributionKind::kFixed;
  recorded.config().requirement.value = 0.3;
  const auto plan = recorded.plan();
  const JobPool& pool = plan->recorded()->pool();
  CHECK(pool.job(0).fraction == 0.5);
  CHECK(pool.job(1).fraction == 0.25);
  CHECK(pool.job(2).fraction == 1);    // it may take longer than alone: as good as alone
  CHECK(pool.job(3).fraction == 0.3);  // it says none
}

TEST_CASE("jobs that arrive together come right after one another", "[unit][workload]") {
  Recorded recorded("arrival,model\n0,a\n0,a\n10,b\n20,b\n");
  recorded.config().recorded.known = 1;
  const auto plan = recorded.plan();
  CHECK(plan->recorded()->gap_before(1) > 0);
  CHECK(plan->recorded()->gap_before(1) < 1e-4);
}

TEST_CASE("a record that cannot be played is refused", "[unit][workload]") {
  CHECK_THAT(Recorded("arrival,model\n0,a\n1,bb\n").refusal(),
             Catch::Contains("jobs.csv:3: there is no model \"bb\"; did you mean 'b'?"));
  CHECK_THAT(Recorded("arrival,model\n0,a\n1,b\n").refusal(),
             Catch::Contains("of its 2 jobs 1 are known"));
  CHECK_THAT(Recorded("arrival,model\n1,a\n1,b\n1,b\n1,b\n").refusal(),
             Catch::Contains("all of its 2 jobs from 0 on arrive at the same time"));
  Recorded at_once("arrival,model\n1,a\n2,b\n3,b\n4,b\n4,b\n4,a\n");
  at_once.config().recorded.known = 0.5;
  at_once.config().recorded.part = RecordPart::kRest;
  CHECK_THAT(at_once.refusal(), Catch::Contains("all of its 3 jobs from 3 on arrive"));
  Recorded gone("arrival,model\n");
  gone.config().recorded.file = "/nowhere/jobs.csv";
  CHECK(gone.refusal() == "/nowhere/jobs.csv: it cannot be read: No such file or directory");
  const testing::TempDir folder;
  const std::string pipe = (folder / "pipe").string();
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  gone.config().recorded.file = pipe;  // nobody writes to it
  CHECK(gone.refusal() == pipe + ": it cannot be read: it is no plain file");
  CHECK(validate(RecordedJobsConfig{.known = 0}).size() == 1);
  CHECK(validate(RecordedJobsConfig{.known = 1.5}).size() == 1);
}

TEST_CASE("a record that its disk does not give now may be tried again", "[unit][workload]") {
  Recorded away("arrival,model\n");
  away.config().recorded.file = "/proc/self/mem";  // nothing is mapped where it begins
  CHECK_THROWS_AS(away.plan(), TryAgainError);
  CHECK(away.refusal() == "/proc/self/mem: it cannot be read: Input/output error");
}

}  // namespace pacml::env
