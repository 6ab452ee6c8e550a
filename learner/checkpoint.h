#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "learner/algorithm_state.h"
#include "model/parameters.h"

namespace pacml::learner {

// Everything that a learner needs to go on with a run where it stopped. What is on its way to it,
// episodes that actors play and the random streams that they draw from are not in here: actors
// begin anew (actor_seed), and a replay has snapshots of its own. Value type.
struct Checkpoint {
  AlgorithmState algorithm;  // weights, optimiser, schedules' positions
  // Of the run, over all its restarts: "updates", "decisions", "episodes", ...
  std::map<std::string, std::int64_t> counters;
  std::string run_id;
  std::string config_text;  // effective configuration, YAML
  std::uint64_t config_hash = 0;
  std::optional<double> best_score;  // of the best policy so far, in the unit of the evaluation
  bool operator==(const Checkpoint&) const = default;
};

// A checkpoint is a safetensors file (export/safetensors.h) that other programs can read: vectors
// of the algorithm that have the network's size appear weight by weight, as
// "parameters/round0.node.weight"; everything else is text in the metadata, with a checksum over
// all of it. Text that is not UTF-8 is replaced. Pre: the algorithm's "parameters" are of this
// layout (PACML_CHECK). Pure.
[[nodiscard]] std::string encode_checkpoint(const Checkpoint& checkpoint,
                                            const model::ParameterLayout& layout);

// What encode_checkpoint wrote, bit for bit. Any bytes are safe to pass. The error's detail
// continues a sentence that begins with the file's name. kCorruptFrame: damaged, not finite, or no
// checkpoint; kVersionMismatch: of another format or network. Pure.
[[nodiscard]] Result<Checkpoint> decode_checkpoint(std::string_view bytes,
                                                   const model::ParameterLayout& layout);

// The checkpoints of one run: checkpoint-<updates>.safetensors, of which the newest few are kept,
// and best.safetensors. One process writes, any may read. Thread-confined.
class CheckpointFolder {
 public:
  // The folder need not exist before the first save. `keep` >= 1 (PACML_CHECK).
  CheckpointFolder(std::filesystem::path folder, std::size_t keep);

  // Writes a checkpoint, atomically, then removes those beyond `keep` and what interrupted writes
  // have left. Named by the counter "updates". kIo: the sentence names the path and the reason
  // (what is not finite is not written); older checkpoints are untouched.
  [[nodiscard]] Result<std::filesystem::path> save(const Checkpoint& checkpoint,
                                                   const model::ParameterLayout& layout);
  [[nodiscard]] Result<std::filesystem::path> save_best(const Checkpoint& checkpoint,
                                                        const model::ParameterLayout& layout) const;

  // Checkpoint files, newest first, without the best one. Empty where there is no folder.
  [[nodiscard]] std::vector<std::filesystem::path> list() const;
  [[nodiscard]] std::filesystem::path best_file() const;

 private:
  std::filesystem::path folder_;
  std::size_t keep_;
};

// Reads one file. The error: a sentence that names it and says what is wrong; Errc::kIo: it cannot
// be read, Errc::kVersionMismatch: it is of another network.
[[nodiscard]] Result<Checkpoint> read_checkpoint(const std::filesystem::path& file,
                                                 const model::ParameterLayout& layout);
// The same. Throws UserError with that sentence; TryAgainError, here and below: it cannot be read.
[[nodiscard]] Checkpoint load_checkpoint(const std::filesystem::path& file,
                                         const model::ParameterLayout& layout);

struct LoadedCheckpoint {
  Checkpoint checkpoint;
  std::filesystem::path file;
  // Newer files that cannot be used, which were damaged, are no checkpoints of this network, or not
  // what their names say: a sentence each, for the log.
  std::vector<std::string> skipped;
};

// The newest checkpoint that can be used. Throws UserError: there is none; TryAgainError: also
// where a newer one may be readable later.
[[nodiscard]] LoadedCheckpoint load_newest(const CheckpointFolder& folder,
                                           const model::ParameterLayout& layout);

}  // namespace pacml::learner
