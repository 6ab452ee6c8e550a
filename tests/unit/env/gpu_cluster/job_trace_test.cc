#include "env/gpu_cluster/job_trace.h"

#include <sstream>
#include <string>
#include <vector>

#include "common/result.h"
#include "env/gpu_cluster/trace_statistics.h"
#include "env/text/delimited_text.h"
#include "tests/support/catch.h"

namespace pacml::env {
namespace {

std::vector<TraceJob> read(const std::string& text, JobTraceFormat format) {
  std::istringstream in(text);
  const auto reader = read_job_trace(in, "jobs", format);
  std::vector<TraceJob> jobs;
  while (auto job = reader->next()) jobs.push_back(*job);
  return jobs;
}

std::string refusal(const std::string& text, JobTraceFormat format) {
  try {
    static_cast<void>(read(text, format));
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

const std::string kHeader = std::string(kJobTraceHeader) + "\n";

TEST_CASE("our own format reads back what was written", "[unit][gpu_cluster]") {
  const std::vector<TraceJob> jobs{{.id = "a,\"b\"",
                                    .submit_s = 0.1,
                                    .gpus = 4,
                                    .duration_s = 60,
                                    .steps = 1e6,
                                    .type = "vision",
                                    .user = "ann",
                                    .group = "lab",
                                    .gpu_type = "v100",
                                    .state = "done"},
                                   {.id = "c", .submit_s = 7, .gpu_share = 0.25}};
  std::ostringstream out;
  out << kHeader;
  for (const TraceJob& job : jobs) write_job(out, job);
  CHECK(read(out.str(), JobTraceFormat::kPacml) == jobs);
}

TEST_CASE("columns between tabs are jobs of Gavel's", "[unit][gpu_cluster]") {
  const auto seven = read("LM (batch size 5)\trun\t-n\t1\t900\t12.5\t8\n", JobTraceFormat::kGavel);
  REQUIRE(seven.size() == 1);
  CHECK(seven[0].type == "LM (batch size 5)");
  CHECK(seven[0].steps == 900);
  CHECK(seven[0].submit_s == 12.5);
  CHECK(seven[0].gpus == 8);
  const auto ten = read("A3C\trun\tdir\t-n\t1\t900\t2\t1\t-1.0\t3\r\n", JobTraceFormat::kGavel);
  REQUIRE(ten.size() == 1);
  CHECK(ten[0].steps == 900);
  CHECK(ten[0].submit_s == 3);
  CHECK(ten[0].gpus == 2);
}

TEST_CASE("units and dates of other formats are seconds", "[unit][gpu_cluster]") {
  const auto muri = read(
      "job_id,num_gpu,submit_time,iterations,model_name,batch_size,duration,priority\n"
      "7,16,2500,100,vgg16,32,60000,1\n",
      JobTraceFormat::kMuri);
  CHECK(muri[0] == TraceJob{.id = "7",
                            .submit_s = 2.5,
                            .gpus = 16,
                            .duration_s = 60,
                            .steps = 100,
                            .type = "vgg16-b32"});
  // The columns of a header may stand in any order; who wants no GPU is left out.
  const auto helios = read(
      "user,job_id,vc,gpu_num,state,submit_time,duration\n"
      "u,1,v,2,COMPLETED,2020-02-28 23:59:59,36\nu,2,v,0,FAILED,2020-02-29 00:00:00,1\n"
      "u,3,v,1,FAILED,2020-03-01 00:00:00,1\n",
      JobTraceFormat::kHelios);
  REQUIRE(helios.size() == 2);
  CHECK(helios[0].submit_s == 0);
  CHECK(helios[1].submit_s == 86401);
  const auto openb = read(
      "name,cpu_milli,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,"
      "scheduled_time\n"
      "p,1,1,460,V100|T4,LS,Running,10,100,40\nq,1,2,1000,,BE,Pending,20,100,\n",
      JobTraceFormat::kOpenb);
  REQUIRE(openb.size() == 2);
  CHECK(openb[0].gpu_share == 0.46);
  CHECK(openb[0].duration_s == 60);
  CHECK_FALSE(openb[1].duration_s.has_value());
  const auto pai =
      read("j,worker,4.0,Terminated,110,900,600,29,200.0,V100\nj,ps,2,Done,1,2,3,4,,\n",
           JobTraceFormat::kPai);
  REQUIRE(pai.size() == 1);
  CHECK(pai[0].gpus == 8);
  CHECK(pai[0].duration_s == 790);
}

TEST_CASE("a task of which nobody says when it began is left out and counted",
          "[unit][gpu_cluster]") {
  std::istringstream in(
      "j,worker,4.0,Terminated,110,900,600,29,200.0,V100\nj,late,4.0,Waiting,,,600,29,100.0,"
      "V100\n");
  const auto reader = read_job_trace(in, "pai", JobTraceFormat::kPai);
  CHECK(reader->next().has_value());
  CHECK_FALSE(reader->next().has_value());
  CHECK(reader->num_left_out() == 1);
}

TEST_CASE("times that Philly's log has not are null, empty or None", "[unit][gpu_cluster]") {
  for (const std::string end : {"null", "\"\"", "\"None\""}) {
    INFO(end);
    const auto jobs = read(R"([{"status": "Killed", "vc": "v", "jobid": "a", "user": "u",
      "submitted_time": "2017-10-07 01:00:00", "attempts": [{"start_time": "2017-10-07 01:00:10",
      "end_time": )" + end + R"(, "detail": [{"ip": "m1", "gpus": ["gpu0"]}]}]}])",
                           JobTraceFormat::kPhilly);
    REQUIRE(jobs.size() == 1);
    CHECK_FALSE(jobs[0].duration_s.has_value());
  }
}

TEST_CASE("control characters in texts are written as blanks", "[unit][gpu_cluster]") {
  std::ostringstream out;
  write_job(out, {.id = "a\nb", .user = "u\r,\x7f", .state = "d\xc3\xa9j\xc3\xa0"});
  CHECK(out.str() == "a b,0,1,1,,,,\"u , \",,,d\xc3\xa9j\xc3\xa0\n");
}

TEST_CASE("a file's first line is read up to a limit", "[unit][gpu_cluster]") {
  std::istringstream in("one\ntwo");
  CHECK(first_line_of(in) == "one");
  CHECK(first_line_of(in) == "one");
  std::istringstream endless(std::string(1 << 20, 'x'));
  CHECK(first_line_of(endless).size() == 1 << 16);
}

TEST_CASE("a job of Philly's log is its attempts together", "[unit][gpu_cluster]") {
  const auto jobs = read(R"([
    {"status": "Pass", "vc": "v", "jobid": "a", "user": "u", "submitted_time": "2017-10-07 01:00:00",
     "attempts": [{"start_time": "2017-10-07 01:00:10", "end_time": "2017-10-07 01:00:20",
                   "detail": [{"ip": "m1", "gpus": ["gpu0"]}]},
                  {"start_time": "2017-10-07 02:00:00", "end_time": "2017-10-07 02:01:00",
                   "detail": [{"ip": "m1", "gpus": ["gpu0", "gpu1"]}, {"ip": "m2", "gpus": ["gpu0"]}]}]},
    {"status": "Killed", "vc": "v", "jobid": "b", "user": "u", "submitted_time": "2017-10-07 01:00:05",
     "attempts": []},
    {"status": "Failed", "vc": "v", "jobid": "c", "user": "u", "submitted_time": "2017-10-07 01:00:09",
     "attempts": [{"start_time": "2017-10-07 01:00:10", "end_time": null,
                   "detail": [{"ip": "m1", "gpus": ["gpu0"]}]}]}])",
                         JobTraceFormat::kPhilly);
  REQUIRE(jobs.size() == 2);
  CHECK(jobs[0].gpus == 3);
  CHECK(jobs[0].duration_s == 70);
  CHECK(jobs[1].submit_s == 9);
  CHECK_FALSE(jobs[1].duration_s.has_value());
}

TEST_CASE("a byte-order mark, as spreadsheets write it, is passed over", "[unit][gpu_cluster]") {
  std::istringstream in("\xEF\xBB\xBF" + std::string(kJobTraceHeader) + "\n");
  const auto format = recognise_job_trace(first_line_of(in));
  REQUIRE(format == JobTraceFormat::kPacml);
  CHECK_FALSE(read_job_trace(in, "jobs.csv", *format)->next());
}

TEST_CASE("formats are recognised by their first line", "[unit][gpu_cluster]") {
  CHECK(recognise_job_trace(kJobTraceHeader) == JobTraceFormat::kPacml);
  CHECK(recognise_job_trace("a\tb\tc\td\te\tf\tg\r") == JobTraceFormat::kGavel);
  CHECK(recognise_job_trace("[{") == JobTraceFormat::kPhilly);
  CHECK(recognise_job_trace("job_id,user,vc,gpu_num,cpu_num,state,submit_time,duration,queue") ==
        JobTraceFormat::kHelios);
  CHECK_FALSE(recognise_job_trace("a,b,c").has_value());
}

TEST_CASE("what is no trace is refused with file, line and column", "[unit][gpu_cluster]") {
  const auto row = [](const char* text) { return kHeader + "1,0,1,,,,,,,,\n" + text; };
  using enum JobTraceFormat;
  CHECK(refusal(row("2,5,1"), kPacml) == "jobs:3:1: the line has 3 columns, expected 11");
  CHECK_THAT(refusal(row("2,-5,1,,,,,,,,"), kPacml),
             Catch::Contains("jobs:3:3: expected a number from 0 to 1e+12, found \"-5\""));
  CHECK_THAT(refusal(row("2,5,1.5,,,,,,,,"), kPacml),
             Catch::Contains("jobs:3:5: expected a whole number"));
  CHECK_THAT(refusal(row("2,5,x,,,,,,,,"), kPacml), Catch::Contains("jobs:3:5: "));
  CHECK_THAT(refusal(row("2,nan,1,,,,,,,,"), kPacml), Catch::Contains("jobs:3:3: "));
  CHECK_THAT(refusal(row("\"2,5,1,,,,,,,,"), kPacml),
             Catch::Contains("jobs:3:1: the quote does not end"));
  CHECK_THAT(refusal(row(std::string(70'000, 'x').c_str()), kPacml),
             Catch::Contains("jobs:3:1: the line is longer than 64 KiB"));
  CHECK_THAT(refusal("a,b\n", kPacml), Catch::Contains("jobs:1:1: the header has no column"));
  CHECK_THAT(refusal("", kPacml), Catch::Contains("the file is empty"));
  CHECK_THAT(refusal("a\tb\n", kGavel), Catch::Contains("jobs:1:1: the line has 2 columns"));
  CHECK_THAT(refusal("[{\n \"a\": }]", kPhilly), Catch::Contains("jobs:2:7: it is no JSON"));
  CHECK_THAT(refusal("[{\"jobid\": 3}]", kPhilly), Catch::Contains("jobs: job 0: it is no job"));
  CHECK_THAT(refusal("job_id,user,vc,gpu_num,state,submit_time,duration\n"
                     "1,u,v,1,OK,2020-13-01 00:00:00,5\n",
                     kHelios),
             Catch::Contains("jobs:2:12: expected a time like"));
}

TEST_CASE("long lines are read as a whole, whatever the pieces", "[unit][gpu_cluster]") {
  for (const std::size_t length : {4094U, 4095U, 4096U, 4097U, 8190U, 60'000U}) {
    std::istringstream in(std::string(length, 'x') + ",y\n" + std::string(length, 'z'));
    DelimitedText text(in, "jobs", ',');
    CAPTURE(length);
    REQUIRE(text.next());
    REQUIRE(text.size() == 2);
    CHECK(text[0].size() == length);
    CHECK(text[1] == "y");
    REQUIRE(text.next());
    CHECK(text[0].size() == length);
    CHECK_FALSE(text.next());
  }
}

TEST_CASE("a trace's load is what its jobs want of what there is", "[unit][gpu_cluster]") {
  TraceStatistics statistics;
  // 100 s on 2 GPUs, 300 s on half a GPU, and one that does not say.
  statistics.add({.submit_s = 10, .gpus = 2, .duration_s = 100, .state = "done"});
  statistics.add({.submit_s = 20, .gpus = 1, .gpu_share = 0.5, .duration_s = 300});
  statistics.add({.submit_s = 60, .gpus = 1});
  CHECK(statistics.gpu_seconds() == 350);
  CHECK(statistics.span_s() == 50);
  CHECK(statistics.duration_s(0.5) == 100);
  CHECK(statistics.duration_s(1) == 300);
  CHECK(statistics.arrivals(5) == std::vector<std::int64_t>{1, 1, 0, 0, 1});
  CHECK(statistics.jobs_of_size().at(1) == 2);
  // 7 GPUs for 25 s have 175 GPU-seconds, of which twice as many are wanted.
  CHECK(time_scale(statistics, 2, 7) == 0.5);
  TraceStatistics nothing;
  nothing.add({.submit_s = 1});
  CHECK_THROWS_WITH(time_scale(nothing, 1, 1), Catch::Contains("how long it ran"));
}

}  // namespace
}  // namespace pacml::env
