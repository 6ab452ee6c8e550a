#include "apps/evaluation/trained_run.h"

#include "apps/run/run_directory.h"
#include "common/config/reader.h"
#include "common/result.h"
#include "learner/checkpoint.h"
#include "model/layout.h"

namespace pacml::apps {

TrainedRun load_trained_run(const std::filesystem::path& path, const env::EnvironmentSpec& spec) {
  const auto run = RunDirectory::open(path);
  TrainedRun trained;
  trained.config = read_config<TrainConfig>(ConfigSource::from_file(run.config_file()));
  trained.shape = model::make_shape(trained.config.network, spec);
  const auto layout = model::make_layout(trained.shape);
  const learner::CheckpointFolder folder(run.checkpoints(), 1);
  learner::Checkpoint checkpoint;
  if (std::filesystem::exists(folder.best_file())) {
    trained.file = folder.best_file();
    checkpoint = learner::load_checkpoint(trained.file, layout);
  } else {
    auto loaded = learner::load_newest(folder, layout);
    trained.file = loaded.file;
    checkpoint = std::move(loaded.checkpoint);
  }
  const auto parameters = checkpoint.algorithm.vectors.find("parameters");
  if (parameters == checkpoint.algorithm.vectors.end()) {
    throw UserError(trained.file.string() + " holds no policy");
  }
  trained.parameters.values = parameters->second;
  trained.parameters.layout_hash = layout.hash;
  trained.parameters.version =
      PolicyVersion{static_cast<std::uint64_t>(checkpoint.counters["updates"])};
  return trained;
}

}  // namespace pacml::apps
