// pacml: everything that needs no LibTorch. What does is answered by pacml-learner, beside it.

#include <iostream>
#include <string>
#include <vector>

#include "apps/bench/learner_math.h"
#include "apps/cli/program.h"
#include "apps/cli/version.h"
#include "apps/commands/bench_command.h"
#include "apps/commands/commands.h"
#include "apps/commands/task_list.h"
#include "apps/commands/version_command.h"
#include "apps/process/hand_over.h"
#include "apps/run/run_directory.h"

int main(int argc, char** argv) {
  using namespace pacml::apps;
  Program program{
      .name = "pacml",
      .summary = "trains policies for the tasks below",
      .version = "pacml " + version(),
      .commands = {},
      .delegations = {{"learner", "", "the learner of a run on several machines"},
                      {"export", "", "a trained policy as a file for other programs"}},
      .delegate = [](const auto& arguments) -> int { hand_over("pacml-learner", arguments); },
      .names = list_of_tasks(),
      .refuse_output = RunDirectory::refuse_own_file};
  program.commands.push_back(make_train_command());
  program.commands.push_back(make_launch_command());
  program.commands.push_back(make_eval_command());
  program.commands.push_back(make_runs_command());
  program.commands.push_back(make_dashboard_command());
  program.commands.push_back(make_explain_command());
  program.commands.push_back(make_decide_command());
  program.commands.push_back(make_compare_command());
  program.commands.push_back(make_bench_command(main_benches(), learner_math));
  program.commands.push_back(make_load_command());
  program.commands.push_back(make_scaling_command());
  program.commands.push_back(make_graphs_command());
  program.commands.push_back(make_import_command());
  program.commands.push_back(make_place_command());
  program.commands.push_back(make_trace_command());
  program.commands.push_back(make_workload_command());
  program.commands.push_back(make_fit_interference_command());
  program.commands.push_back(make_actor_command());
  program.commands.push_back(make_replay_command());
  program.commands.push_back(make_status_command());
  program.commands.push_back(make_keygen_command());
  program.commands.push_back(make_version_command([] {
    std::cout << learner_math() << "\n";
    return 0;
  }));
  return run_program(program, {argv + 1, argv + argc}, std::cout, std::cerr);
}
