#include "learner/checkpoint.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <span>
#include <system_error>
#include <utility>

#include "common/atomic_file.h"
#include "common/check.h"
#include "common/finite.h"
#include "common/hash.h"
#include "common/json_text.h"
#include "common/text.h"
#include "common/try_again.h"
#include "learner/export/safetensors.h"

namespace pacml::learner {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kFormat = "pacml checkpoint 1";
constexpr const char* kParameters = "parameters";
constexpr const char* kUpdates = "updates";
constexpr std::string_view kPrefix = "checkpoint-";
constexpr std::string_view kSuffix = ".safetensors";
constexpr std::string_view kBest = "best.safetensors";

// Doubles and 64-bit numbers as text that reads back bit for bit, in every JSON library.
// As "%a" writes them, whatever a host program has set for a decimal point.
std::string spell(double value) {
  std::array<char, 40> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), std::abs(value),
                                          std::chars_format::hex);
  PACML_CHECK(error == std::errc{}, "room for any double");
  const std::string sign = std::signbit(value) ? "-" : "";
  if (!std::isfinite(value)) return sign + std::string(text.data(), end);  // "inf", "nan"
  return sign + "0x" + std::string(text.data(), end);
}

std::string spell(std::uint64_t value) {
  std::array<char, 20> text{};
  const int length =
      std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(value));
  return {text.data(), static_cast<std::size_t>(length)};
}

// JSON holds nothing else: bytes that are no UTF-8 (a path in the configuration) are replaced
// before the checksum is taken.
std::string as_utf8(const std::string& text) { return json::parse(json_text(json(text))); }

// Reads what JSON holds; ok() turns false, and stays so, when anything is not as it was written.
class StateReader {
 public:
  [[nodiscard]] bool ok() const { return ok_; }

  const json& member(const json& object, const char* key) {
    static const json nothing;
    if (object.is_object() && object.contains(key)) return object[key];
    ok_ = false;
    return nothing;
  }
  std::string text(const json& value) {
    if (value.is_string()) return value.get<std::string>();
    ok_ = false;
    return {};
  }
  std::int64_t count(const json& value) {
    if (value.is_number_integer()) return value.get<std::int64_t>();
    ok_ = false;
    return 0;
  }
  double real(const json& value) {
    const std::string spelled = text(value);
    std::string_view rest = spelled;
    const bool is_negative = rest.starts_with('-');
    if (is_negative) rest.remove_prefix(1);
    const bool is_number = rest.starts_with("0x");
    if (is_number) rest.remove_prefix(2);
    double out = 0;
    const auto [end, error] =
        std::from_chars(rest.data(), rest.data() + rest.size(), out, std::chars_format::hex);
    const bool is_whole = error == std::errc{} && end == rest.data() + rest.size();
    ok_ = ok_ && is_whole && (is_number || !std::isfinite(out));
    return is_negative ? -out : out;
  }
  std::uint64_t bits(const json& value) {
    const std::string spelled = text(value);
    std::uint64_t out = 0;
    const char* const last = spelled.data() + spelled.size();
    const auto [end, error] = std::from_chars(spelled.data(), last, out, 16);
    ok_ = ok_ && error == std::errc{} && end == last;
    return out;
  }
  // Calls `use(key, value)` for each member.
  template <class Use>
  void each(const json& object, Use use) {
    if (!object.is_object()) {
      ok_ = false;
      return;
    }
    for (const auto& [key, value] : object.items()) use(key, value);
  }

 private:
  bool ok_ = true;
};

json state_of(const Checkpoint& checkpoint) {
  json state = {{"algorithm", checkpoint.algorithm.algorithm},
                {"counts", checkpoint.algorithm.counts},
                {"reals", json::object()},
                {"counters", checkpoint.counters},
                {"config_hash", spell(checkpoint.config_hash)}};
  for (const auto& [name, value] : checkpoint.algorithm.reals) state["reals"][name] = spell(value);
  if (checkpoint.best_score) state["best_score"] = spell(*checkpoint.best_score);
  return state;
}

bool read_state(const json& state, Checkpoint& out) {
  StateReader reader;
  out.algorithm.algorithm = reader.text(reader.member(state, "algorithm"));
  reader.each(reader.member(state, "counts"), [&](const std::string& name, const json& value) {
    out.algorithm.counts[name] = reader.count(value);
  });
  reader.each(reader.member(state, "reals"), [&](const std::string& name, const json& value) {
    out.algorithm.reals[name] = reader.real(value);
  });
  reader.each(reader.member(state, "counters"), [&](const std::string& name, const json& value) {
    out.counters[name] = reader.count(value);
  });
  out.config_hash = reader.bits(reader.member(state, "config_hash"));
  if (state.contains("best_score")) out.best_score = reader.real(state["best_score"]);
  return reader.ok();
}

// Of everything in the file but the checksum itself.
std::uint64_t checksum(const Safetensors& file) {
  std::uint64_t hash = 0;
  for (const auto& [key, text] : file.metadata) {
    if (key == "checksum") continue;
    hash = content_hash(text, content_hash(key, hash));
  }
  for (const NamedTensor& tensor : file.tensors) {
    hash = content_hash(tensor.name, hash);
    hash = content_hash(std::span<const std::int64_t>(tensor.shape), hash);
    hash = content_hash(std::span<const float>(tensor.values), hash);
  }
  return hash;
}

// How the weights in the file differ from the network's; empty if they do not.
std::string difference(std::span<const NamedTensor> there, const model::ParameterLayout& here) {
  const auto spell_shape = [](const std::vector<std::int64_t>& shape) {
    std::vector<std::string> extents;
    for (const std::int64_t extent : shape) extents.push_back(std::to_string(extent));
    return "[" + join(extents) + "]";
  };
  for (std::size_t i = 0; i < std::max(there.size(), here.entries.size()); ++i) {
    if (i >= there.size()) return "it has no " + here.entries[i].name;
    if (i >= here.entries.size()) return "it has " + there[i].name + ", which this network lacks";
    const model::ParameterEntry& entry = here.entries[i];
    if (there[i].name != entry.name) {
      return "it has " + there[i].name + " where this network has " + entry.name;
    }
    if (there[i].shape != entry.shape) {
      return entry.name + " is " + spell_shape(there[i].shape) + " in it and " +
             spell_shape(entry.shape) + " in this network";
    }
  }
  return {};
}

// The name of a vector with something in it that is no finite number; empty if there is none.
std::string not_finite(const Checkpoint& checkpoint) {
  for (const auto& [name, values] : checkpoint.algorithm.vectors) {
    if (!all_finite(values)) return name;
  }
  return {};
}

Result<fs::path> write(const fs::path& file, const Checkpoint& checkpoint,
                       const model::ParameterLayout& layout) {
  if (const std::string vector = not_finite(checkpoint); !vector.empty()) {
    return fail(Errc::kIo, file.string() + " is not written: its " + vector + " are not finite");
  }
  std::error_code error;
  // A run's folder that is gone stays so: a checkpoint alone is nothing to go on from.
  fs::create_directory(file.parent_path(), error);
  if (error) {
    return tl::unexpected(Error{
        Errc::kIo, "cannot make the folder " + file.parent_path().string() + ": " + error.message(),
        passes_by_itself(error.value())});
  }
  auto written = write_file_atomically(file, encode_checkpoint(checkpoint, layout));
  if (!written) return tl::unexpected(written.error());
  return file;
}

// Names of what is in `folder`, sorted; none where there is no folder. UserError: it cannot be
// read, which is not to be taken for having no checkpoints.
std::vector<std::string> file_names(const fs::path& folder) {
  std::vector<std::string> out;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    out.push_back(it->path().filename().string());
  }
  const bool is_absent =
      error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory;
  if (error && !is_absent) {
    throw_system_error("cannot read the folder " + folder.string(), error.value());
  }
  std::ranges::sort(out);
  return out;
}

// The file name of a checkpoint. Filled up with zeros, names sort by age.
std::string file_name_of(const Checkpoint& checkpoint) {
  const auto updates = checkpoint.counters.find(kUpdates);
  std::array<char, 24> number{};
  std::snprintf(number.data(), number.size(), "%012lld",
                static_cast<long long>(updates == checkpoint.counters.end() ? 0 : updates->second));
  return std::string(kPrefix) + number.data() + std::string(kSuffix);
}

bool is_checkpoint(std::string_view name) {
  return name.starts_with(kPrefix) && name.ends_with(kSuffix);
}

}  // namespace

std::string encode_checkpoint(const Checkpoint& checkpoint, const model::ParameterLayout& layout) {
  const auto parameters = checkpoint.algorithm.vectors.find(kParameters);
  PACML_CHECK(
      parameters != checkpoint.algorithm.vectors.end() && parameters->second.size() == layout.total,
      "a checkpoint holds the network's weights");
  Safetensors file;
  for (const auto& [name, values] : checkpoint.algorithm.vectors) {
    if (values.size() != layout.total) {
      file.tensors.push_back({name, {static_cast<std::int64_t>(values.size())}, values});
      continue;
    }
    for (const model::ParameterEntry& entry : layout.entries) {
      const auto part = std::span(values).subspan(entry.offset, entry.size);
      file.tensors.push_back({name + "/" + entry.name, entry.shape, {part.begin(), part.end()}});
    }
  }
  file.metadata = {{"format", kFormat},
                   {"run_id", as_utf8(checkpoint.run_id)},
                   {"config", as_utf8(checkpoint.config_text)},
                   {"state", json_text(state_of(checkpoint))}};
  file.metadata["checksum"] = spell(checksum(file));
  return encode_safetensors(file);
}

Result<Checkpoint> decode_checkpoint(std::string_view bytes, const model::ParameterLayout& layout) {
  auto decoded = decode_safetensors(bytes);
  if (!decoded) return tl::unexpected(decoded.error());
  Safetensors& file = *decoded;
  const auto text = [&file](const char* key) {
    const auto found = file.metadata.find(key);
    return found == file.metadata.end() ? std::string{} : found->second;
  };
  if (text("format").empty()) return fail(Errc::kCorruptFrame, "is not a checkpoint");
  if (text("format") != kFormat) {
    return fail(Errc::kVersionMismatch,
                "has the format '" + text("format") + "', this program reads '" + kFormat + "'");
  }
  if (text("checksum") != spell(checksum(file))) {
    return fail(Errc::kCorruptFrame, "is damaged: its checksum does not match");
  }
  Checkpoint out;
  out.run_id = text("run_id");
  out.config_text = text("config");
  const auto state = parse_json_text(text("state"));
  if (!state || !read_state(*state, out)) {
    return fail(Errc::kCorruptFrame, "is damaged: its state cannot be read");
  }
  std::vector<NamedTensor> weights;
  for (NamedTensor& tensor : file.tensors) {
    const std::size_t slash = tensor.name.find('/');
    const std::string vector = tensor.name.substr(0, slash);
    auto& values = out.algorithm.vectors[vector];
    values.insert(values.end(), tensor.values.begin(), tensor.values.end());
    if (vector != kParameters || slash == std::string::npos) continue;
    weights.push_back({tensor.name.substr(slash + 1), std::move(tensor.shape), {}});
  }
  if (const std::string differs = difference(weights, layout); !differs.empty()) {
    return fail(Errc::kVersionMismatch, "is a checkpoint of another network: " + differs);
  }
  if (const std::string vector = not_finite(out); !vector.empty()) {
    return fail(Errc::kCorruptFrame,
                "is of a training that had diverged: its " + vector + " are not finite");
  }
  return out;
}

CheckpointFolder::CheckpointFolder(fs::path folder, std::size_t keep)
    : folder_(std::move(folder)), keep_(keep) {
  PACML_CHECK(keep >= 1, "the newest checkpoint is kept");
}

Result<fs::path> CheckpointFolder::save(const Checkpoint& checkpoint,
                                        const model::ParameterLayout& layout) {
  PACML_CHECK(checkpoint.counters.contains(kUpdates), "a checkpoint counts the updates");
  auto written = write(folder_ / file_name_of(checkpoint), checkpoint, layout);
  if (!written) return written;

  std::error_code ignored;  // a file that stays costs space, and is tried again next time
  const std::vector<fs::path> all = list();
  // What claims to be newer is none of ours, or was found to be damaged: it takes nobody's place.
  const auto newest = std::ranges::find(all, *written);
  for (auto old = newest; old != all.end(); ++old) {
    if (static_cast<std::size_t>(old - newest) >= keep_) fs::remove(*old, ignored);
  }
  remove_stale_temporaries(folder_);
  return written;
}

Result<fs::path> CheckpointFolder::save_best(const Checkpoint& checkpoint,
                                             const model::ParameterLayout& layout) const {
  return write(best_file(), checkpoint, layout);
}

std::vector<fs::path> CheckpointFolder::list() const {
  std::vector<fs::path> out;
  for (const std::string& name : file_names(folder_)) {
    if (is_checkpoint(name)) out.insert(out.begin(), folder_ / name);
  }
  return out;
}

fs::path CheckpointFolder::best_file() const { return folder_ / kBest; }

Result<Checkpoint> read_checkpoint(const fs::path& file, const model::ParameterLayout& layout) {
  const auto bytes = read_file(file);
  if (!bytes) return tl::unexpected(bytes.error());
  auto checkpoint = decode_checkpoint(*bytes, layout);
  if (!checkpoint) {
    return fail(checkpoint.error().code, file.string() + " " + checkpoint.error().detail);
  }
  return checkpoint;
}

Checkpoint load_checkpoint(const fs::path& file, const model::ParameterLayout& layout) {
  auto checkpoint = read_checkpoint(file, layout);
  if (checkpoint) return *std::move(checkpoint);
  if (checkpoint.error().code == Errc::kIo) throw TryAgainError(checkpoint.error().detail);
  throw UserError(checkpoint.error().detail);
}

LoadedCheckpoint load_newest(const CheckpointFolder& folder, const model::ParameterLayout& layout) {
  LoadedCheckpoint out;
  std::string other_network;
  bool is_unreadable = false;
  for (const fs::path& file : folder.list()) {
    auto checkpoint = read_checkpoint(file, layout);
    // It may be whole: whoever went on from an older one would lose what is in it.
    if (!checkpoint && checkpoint.error().passes) throw_error(checkpoint.error());
    if (checkpoint && file_name_of(*checkpoint) != file.filename()) {
      checkpoint =
          fail(Errc::kCorruptFrame,
               file.string() + " is not what its name says: it holds " + file_name_of(*checkpoint));
    }
    if (checkpoint) {
      out.checkpoint = *std::move(checkpoint);
      out.file = file;
      return out;
    }
    if (other_network.empty() && checkpoint.error().code == Errc::kVersionMismatch) {
      other_network = checkpoint.error().detail;
    }
    is_unreadable = is_unreadable || checkpoint.error().code == Errc::kIo;
    out.skipped.push_back(checkpoint.error().detail);
  }
  if (!other_network.empty()) throw UserError(other_network);
  const std::string where = folder.best_file().parent_path().string();
  if (out.skipped.empty()) throw UserError("there is no checkpoint in " + where);
  const std::string none = "there is no whole checkpoint in " + where + ": " + out.skipped.front();
  if (is_unreadable) throw TryAgainError(none);
  throw UserError(none);
}

}  // namespace pacml::learner
