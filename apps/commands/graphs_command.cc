#include <cstddef>
#include <iostream>
#include <string>
#include <vector>

#include "apps/cli/text_table.h"
#include "apps/commands/commands.h"
#include "env/graph/job_graph.h"
#include "env/graph/profile_library.h"

namespace pacml::apps {
namespace {

std::string gigabytes(double bytes) { return format_number(bytes / 1e9, 3); }

std::vector<std::string> row_of(const env::Profile& profile) {
  const env::JobGraph graph(profile);
  double parameters = 0;
  for (const env::ForwardOp& op : profile.ops) parameters += op.parameter_bytes;
  return {profile.model,
          std::to_string(graph.num_ops()),
          std::to_string(graph.dependencies().size()),
          format_number(graph.max_depth().value, 0),
          format_number(graph.total_compute(), 1),
          format_number(graph.max_compute().value, 1),
          gigabytes(parameters),
          gigabytes(graph.total_memory()),
          gigabytes(graph.total_dependency_bytes())};
}

class GraphsCommand final : public Command {
 public:
  [[nodiscard]] CommandText text() const override {
    return {"graphs",
            "the job graphs, with their statistics",
            {{"graphs", "the built-in models"},
             {"graphs --profiles my_models", "every my_models/<name>/graph.txt"},
             {"graphs --profiles my_models --model bert", "one of them: does it read well?"}}};
  }
  void declare(Options& options) override {
    options.option("--profiles DIR", &profiles_,
                   "folder of <model>/graph.txt; built-in models if not given");
    options.option("--model NAME", &models_, "only this one; may be repeated");
  }
  [[nodiscard]] int run() override {
    std::vector<std::vector<std::string>> rows{{"model", "ops", "dependencies", "depth", "step ms",
                                                "longest op ms", "parameters GB", "memory GB",
                                                "transfers GB"}};
    for (const env::Profile& profile : env::load_profiles(profiles_, models_)) {
      rows.push_back(row_of(profile));
    }
    std::cout << "One training step on one device, forward and backward pass:\n\n"
              << align_columns(rows);
    return 0;
  }

 private:
  std::string profiles_;
  std::vector<std::string> models_;
};

}  // namespace

std::unique_ptr<Command> make_graphs_command() { return std::make_unique<GraphsCommand>(); }

}  // namespace pacml::apps
