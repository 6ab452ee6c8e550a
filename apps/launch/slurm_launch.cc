#include "apps/launch/slurm_launch.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <ostream>
#include <utility>
#include <vector>

#include "apps/cli/files.h"
#include "apps/launch/deploy_files.h"
#include "apps/launch/run_program.h"
#include "apps/launch/template_text.h"
#include "apps/run/resume.h"
#include "common/config/dump.h"
#include "common/hash.h"
#include "common/result.h"
#include "common/text.h"

namespace pacml::apps {
namespace {

namespace fs = std::filesystem;

// Directives of batch files know neither our quotes nor where a job was submitted.
std::string plain_path(const std::string& what, const std::string& path) {
  const std::string whole = fs::absolute(path).lexically_normal().string();
  if (shell_word(whole) == whole && whole.find('%') == std::string::npos) return whole;
  throw UserError(what + ": Slurm's batch files take no path with blanks, quotes or %, such as " +
                  whole);
}

fs::path job_folder(const LaunchRequest& request) {
  return fs::path(plain_path("--run", request.run)) / "slurm";
}

std::string absolute_or_empty(const std::string& path) {
  return path.empty() ? path : fs::absolute(path).lexically_normal().string();
}

// Submits actors [first, last] when the learner's job number is appended.
std::vector<std::string> array_command(const fs::path& folder, std::int64_t first,
                                       std::int64_t last) {
  return {"sbatch", "--parsable", "--array=" + std::to_string(first) + "-" + std::to_string(last),
          (folder / "actors.sbatch").string()};
}

std::vector<std::string> learner_command(const fs::path& folder) {
  return {"sbatch", "--parsable", (folder / "learner.sbatch").string()};
}

// Of what it says: another launch into the same folder changes nothing for jobs that wait.
fs::path config_file(const LaunchRequest& request, const std::string& config) {
  return job_folder(request) / ("config-" + std::to_string(content_hash(config)) + ".yaml");
}

TemplateValues common_values(const LaunchRequest& request, const fs::path& config,
                             const RoleResources& resources) {
  const SlurmSite& slurm = request.site.slurm;
  TemplateValues t;
  t.values = {{"JOB", "pacml-" + run_name(request)},
              {"RUN", plain_path("--run", request.run)},
              {"PROGRAM", shell_word(program_of(request))},
              {"CONFIG", config.string()},
              {"CPUS", std::to_string(resources.cpus)},
              {"MEMORY", std::to_string(resources.memory_mib)},
              {"TIME", slurm.time_limit},
              {"PARTITION", slurm.partition},
              {"OPTIONS", join(slurm.options, " ")}};
  if (!slurm.partition.empty()) t.conditions.insert("PARTITION");
  if (!slurm.options.empty()) t.conditions.insert("OPTIONS");
  return t;
}

// All learners and shards, on one node.
RoleResources resources_of_servers(const LaunchRequest& request) {
  const std::int64_t learners = request.config.learner.replicas;
  const std::int64_t shards = shards_of(request);
  const Site& site = request.site;
  return {learners * site.learner.cpus + shards * site.replay.cpus,
          learners * site.learner.memory_mib + shards * site.replay.memory_mib};
}

// How long before its time limit a job is told, which Slurm takes as at most 65535 seconds.
std::int64_t warning_seconds(const LaunchRequest& request) {
  const std::int64_t told = request.site.slurm.warning_seconds;
  if (told > 0) return told;
  return std::min<std::int64_t>(65535, stop_seconds(request) + 30);
}

// A job that is told when it begins would begin again, and again.
void check_time_limit(const LaunchRequest& request) {
  constexpr std::int64_t kLeast = 120;  // a signal may come a minute early
  const std::string& said = request.site.slurm.time_limit;
  const std::int64_t limit = seconds_of_slurm_time(said).value_or(0);
  const std::int64_t warning = warning_seconds(request);
  if (limit == 0 || limit >= warning + kLeast) return;  // Slurm's 0 is no limit
  throw UserError("slurm.time_limit: of " + said + ", the last " + std::to_string(warning) +
                  " s are there to stop in (slurm.warning_seconds, supervision.stop_seconds), and "
                  "two minutes must be left to train in");
}

std::vector<std::string> operator+(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// sbatch --parsable answers "JOB" or "JOB;CLUSTER".
std::string submit(const std::vector<std::string>& command) {
  const std::string answer = output_of(command);
  const auto job = answer.substr(0, answer.find_first_of(";\n"));
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (job.empty() || !std::ranges::all_of(job, is_digit)) {
    throw UserError("sbatch answered '" + answer + "', which is no job number");
  }
  return job;
}

// A learner to which no actors will come is taken back.
std::string submit_actors(const std::vector<std::string>& command, const std::string& learner) {
  try {
    return submit(command);
  } catch (const UserError& error) {
    std::string ending = "; the learner's job " + learner + " is cancelled";
    try {
      static_cast<void>(output_of({"scancel", learner}));
    } catch (const UserError&) {
      ending = "; the learner's job " + learner + " is there all the same: scancel " + learner;
    }
    throw UserError(error.what() + ending);
  }
}

}  // namespace

SlurmJobs make_slurm_jobs(const LaunchRequest& given) {
  if (given.minutes) {
    throw UserError(
        "--minutes: on Slurm each life of the learner's job would begin to count anew; limit the "
        "run with --decisions");
  }
  require_keys(given);
  check_time_limit(given);
  LaunchRequest request = given;
  request.keys = absolute_or_empty(request.keys);
  request.site.http_token_file = absolute_or_empty(request.site.http_token_file);
  // Jobs may be submitted again from another folder.
  request.config = as_recorded(std::move(request.config));
  const fs::path folder = job_folder(request);
  const std::string config = dump_config(request.config);
  const fs::path file = config_file(request, config);
  TemplateValues learner = common_values(request, file, resources_of_servers(request));
  learner.values["LOG"] = (folder / "learner-%j.log").string();
  learner.values["WARNING"] = std::to_string(warning_seconds(request));
  learner.values["PORT"] = request.site.port == 0 ? "*" : std::to_string(request.site.port);
  learner.values["ARGUMENTS"] =
      shell_words(limit_words(request) + key_words(request) + http_words(request));

  TemplateValues actors = common_values(request, file, request.site.actor);
  actors.values["WARNING"] = std::to_string(warning_seconds(request));
  actors.values["SILENCE"] = std::to_string(
      static_cast<std::int64_t>(std::ceil(request.config.supervision.silence_seconds.count())));
  actors.values["ASK_SECONDS"] = std::to_string(request.site.slurm.ask_seconds);
  actors.values["LOG"] = (folder / "actors-%A_%a.log").string();
  actors.values["ARGUMENTS"] =
      shell_words(std::vector<std::string>{"--run-id", run_name(request)} + key_words(request));
  return {file.string(), config, fill_template(deploy_file("slurm/learner.sbatch"), learner),
          fill_template(deploy_file("slurm/actors.sbatch"), actors)};
}

void print_slurm_launch(const LaunchRequest& request, std::ostream& out) {
  const SlurmJobs jobs = make_slurm_jobs(request);
  const fs::path folder = job_folder(request);
  const auto print = [&](const fs::path& file, const std::string& text) {
    out << "==> " << file.string() << " <==\n" << text << "\n";
  };
  print(jobs.config_file, jobs.config);
  print(folder / "learner.sbatch", jobs.learner);
  print(folder / "actors.sbatch", jobs.actors);
  out << "==> and then <==\nLEARNER=$(" << shell_words(learner_command(folder)) << ")\n"
      << shell_words(array_command(folder, 0, actors_of(request) - 1)) << " $LEARNER\n";
}

int launch_on_slurm(const LaunchRequest& request, std::ostream& out) {
  check_run_folder(request);
  const SlurmJobs jobs = make_slurm_jobs(request);
  const fs::path folder = job_folder(request);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    throw UserError("cannot create the folder " + folder.string() + ": " + error.message());
  }
  write_user_file(jobs.config_file, jobs.config);
  write_user_file(folder / "learner.sbatch", jobs.learner);
  write_user_file(folder / "actors.sbatch", jobs.actors);

  const std::int64_t actors = actors_of(request);
  const std::string learner = submit(learner_command(folder));
  const std::string array =
      submit_actors(array_command(folder, 0, actors - 1) + std::vector{learner}, learner);
  out << "learner: job " << learner << "; actors 0 to " << actors - 1 << ": job array " << array
      << "\nlogs: " << folder.string()
      << "\nmore actors: " << shell_words(array_command(folder, actors, 2 * actors - 1)) << " "
      << learner << "\nfewer: scancel " << array
      << "_0\nstop in order: scancel --batch --signal=TERM " << learner << "\n";
  return 0;
}

}  // namespace pacml::apps
