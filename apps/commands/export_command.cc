#include "apps/commands/export_command.h"

#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <system_error>

#include "apps/cli/files.h"
#include "apps/evaluation/trained_run.h"
#include "apps/run/run_directory.h"
#include "common/config/dump.h"
#include "common/config/reader.h"
#include "common/result.h"
#include "learner/export/policy_safetensors.h"
#include "learner/export/torchscript.h"

namespace pacml::apps {
namespace {

constexpr const char* kNormalisation =
    "Node features: compute time, memory and depth over the graph's maximum, and flags of the "
    "maximum. "
    "Edge features: bytes over the graph's maximum, and a flag of the maximum. Globals: statistics "
    "of "
    "the job, normalised over the workload's job pool, then the shares of servers in use and of "
    "running "
    "jobs. docs/simulator.md lists them in order.";

class ExportCommand final : public Command {
 public:
  [[nodiscard]] CommandText text() const override {
    return {"export",
            "a trained policy as a file for other programs",
            {{"export runs/a --format torchscript --out policy.pt",
              "loads in Python with torch.jit.load, without this program"},
             {"export runs/a --format safetensors --out policy.safetensors",
              "weights by name, with the reference inputs and outputs beside them"}}};
  }
  void declare(Options& options) override {
    options.argument("RUN_DIR", &run_directory_, "folder of a training run");
    options.required_option("--format FORMAT", &format_, "torchscript or safetensors");
    options.required_option("--out FILE", &out_, "file to write");
    options.option("--profiles DIR", &profiles_,
                   "folder of <model>/graph.txt, where it is no longer where the run found it");
  }
  [[nodiscard]] int run() override {
    if (format_ != "torchscript" && format_ != "safetensors") {
      throw UserError("--format: must be torchscript or safetensors, found \"" + format_ + "\"");
    }
    check_writable(out_);
    std::error_code none;
    if (format_ == "safetensors" && std::filesystem::exists(out_, none) &&
        !std::filesystem::is_regular_file(out_, none)) {
      throw UserError("--out " + out_ +
                      ": safetensors needs a plain file, as the reference goes beside it");
    }
    const auto directory = RunDirectory::open(run_directory_);
    auto config = read_config<TrainConfig>(ConfigSource::from_file(directory.config_file()));
    if (!profiles_.empty()) config.env.set_profiles(profiles_);
    const env::TaskPtr task = config.env.make();
    const auto trained = load_trained_run(run_directory_, task->spec());
    std::cerr << trained.warning;
    if (trained.shape.config.head == model::HeadKind::kCandidates) {
      throw UserError(run_directory_ +
                      ": a policy of network.head: candidates cannot be taken away yet, since what "
                      "it reads of a candidate is computed by pacml; those of dense can");
    }
    learner::PolicyExport policy;
    policy.shape = trained.shape;
    policy.parameters = trained.parameters;
    policy.graphs = task->spec().graphs;
    policy.notes = {{"config", dump_config(config)},
                    {"normalisation", kNormalisation},
                    {"run_id", directory.path().filename().string()},
                    {"checkpoint", trained.file.filename().string()}};
    const auto written = format_ == "torchscript" ? learner::export_torchscript(policy, out_)
                                                  : learner::export_safetensors(policy, out_);
    if (!written) throw UserError(written.error().detail);
    std::cout << "wrote " << out_ << ": the policy of " << trained.file.string() << " at update "
              << trained.parameters.version.get() << "\n";
    return 0;
  }

 private:
  std::string run_directory_;
  std::string format_;
  std::string out_;
  std::string profiles_;
};

}  // namespace

std::unique_ptr<Command> make_export_command() { return std::make_unique<ExportCommand>(); }

}  // namespace pacml::apps
