#include "common/config/source.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "common/atomic_file.h"
#include "common/config/list_override.h"
#include "common/result.h"
#include "common/try_again.h"

namespace pacml {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxTextBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxDepth = 64;

// Builds a tree from the parser's events. yaml-cpp's own node type is not used: it forgets where
// keys stood, lets a key come twice, and expands aliases without a limit.
class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(std::string name) : name_(std::move(name)) {}
  [[nodiscard]] ConfigNode take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    add(make(ConfigNode::Kind::kNull, mark));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    throw UserError(place(mark) + ": aliases (*name) are not supported");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_anchor(mark, anchor);
    if (tag != "?" && tag != "!") refuse_tag(mark, tag);  // "?": plain, "!": in quotes
    ConfigNode node = make(ConfigNode::Kind::kScalar, mark);
    node.text = value;
    node.quoted = tag == "!";
    add(std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(ConfigNode::Kind::kList, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(ConfigNode::Kind::kMap, mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  // A list or map whose end has not come.
  struct Open {
    ConfigNode node;
    std::string key;  // of a map: read, its value not yet
    bool has_key = false;
  };

  [[nodiscard]] std::string place(const YAML::Mark& mark) const {
    return name_ + ":" + std::to_string(mark.line + 1);
  }
  [[nodiscard]] ConfigNode make(ConfigNode::Kind kind, const YAML::Mark& mark) const {
    ConfigNode node;
    node.kind = kind;
    node.where = place(mark);
    return node;
  }
  void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) const {
    if (anchor != YAML::NullAnchor) {
      throw UserError(place(mark) + ": anchors (&name) are not supported");
    }
  }
  void refuse_tag(const YAML::Mark& mark, const std::string& tag) const {
    throw UserError(place(mark) + ": tags (" + tag + ") are not supported");
  }
  void open(ConfigNode::Kind kind, const YAML::Mark& mark, const std::string& tag,
            YAML::anchor_t anchor) {
    refuse_anchor(mark, anchor);
    if (tag != "?" && tag != "!" && !tag.empty()) refuse_tag(mark, tag);
    if (open_.size() >= kMaxDepth) throw UserError(place(mark) + ": nested too deeply");
    if (!open_.empty() && open_.back().node.kind == ConfigNode::Kind::kMap &&
        !open_.back().has_key) {
      throw UserError(place(mark) + ": a key must be a plain name, no list or map");
    }
    open_.push_back({make(kind, mark), {}, false});
  }
  void close() {
    ConfigNode node = std::move(open_.back().node);
    open_.pop_back();
    add(std::move(node));
  }
  void add(ConfigNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.kind == ConfigNode::Kind::kList) {
      parent.node.items.push_back(std::move(node));
    } else if (parent.has_key) {
      parent.node.entries.push_back({std::move(parent.key), std::move(node)});
      parent.has_key = false;
    } else {
      if (node.kind != ConfigNode::Kind::kScalar) {
        throw UserError(node.where + ": a key must be a plain name");
      }
      if (const ConfigNode* first = parent.node.find(node.text)) {
        throw UserError(node.where + ": key '" + node.text + "' is given twice, first at " +
                        first->where);
      }
      parent.key = std::move(node.text);
      parent.has_key = true;
    }
  }

  const std::string name_;
  ConfigNode root_;
  std::vector<Open> open_;
};

ConfigNode parse_yaml(const std::string& name, std::string_view text) {
  if (text.size() > kMaxTextBytes) throw UserError(name + ": longer than 1 MiB");
  TreeBuilder builder(name);
  std::istringstream stream{std::string{text}};
  try {
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) return {};  // nothing but comments
    ConfigNode root = builder.take();
    TreeBuilder second(name);
    if (parser.HandleNextDocument(second)) {
      throw UserError(name + ": holds more than one YAML document");
    }
    if (root.where.empty()) root.where = name;
    return root;
  } catch (const YAML::Exception& e) {
    throw UserError(name + ":" + std::to_string(e.mark.line + 1) + ": not valid YAML: " + e.msg);
  }
}

// What `upper` says, over what `lower` says.
void lay_over(ConfigNode& lower, ConfigNode upper) {
  const bool is_map = lower.kind == ConfigNode::Kind::kMap;
  if (is_map && upper.kind == ConfigNode::Kind::kNull) return;  // every key commented out
  // A linear schedule on top of a constant one must not keep what only the latter has, nor one
  // distribution the values of another.
  const bool is_whole = upper.find("kind") != nullptr;
  if (!is_map || upper.kind != ConfigNode::Kind::kMap || is_whole) {
    lower = std::move(upper);
    return;
  }
  lower.where = std::move(upper.where);
  for (auto& [key, value] : upper.entries) {
    if (ConfigNode* below = lower.find(key)) {
      lay_over(*below, std::move(value));
    } else {
      lower.entries.push_back({std::move(key), std::move(value)});
    }
  }
}

constexpr std::string_view kExtends = "extends";

// Takes `extends` out of a file's tree: the files that it names, which may be none.
std::vector<ConfigNode> take_bases(ConfigNode& root) {
  const auto at = std::ranges::find(root.entries, kExtends, &ConfigEntry::key);
  if (at == root.entries.end()) return {};
  const ConfigNode value = std::move(at->value);
  root.entries.erase(at);
  const bool is_list = value.kind == ConfigNode::Kind::kList;
  std::vector<ConfigNode> bases = is_list ? value.items : std::vector<ConfigNode>{value};
  for (const ConfigNode& base : bases) {
    if (base.kind != ConfigNode::Kind::kScalar || base.text.empty()) {
      throw UserError(value.where + ": extends: expected a file, or a list of files");
    }
  }
  return bases;
}

void refuse_extends(const ConfigNode& root, const std::string& why) {
  const ConfigNode* extends = root.find(kExtends);
  if (extends != nullptr) throw UserError(extends->where + ": extends " + why);
}

// Reads a file and all that it extends.
class FileReader {
 public:
  [[nodiscard]] ConfigNode read(const fs::path& path) {
    const Result<std::string> text = read_file(path, kMaxTextBytes);
    if (!text) throw_error(text.error());
    ConfigNode root = parse_yaml(path.string(), *text);
    // Somebody named a file because something is in it.
    if (root.kind == ConfigNode::Kind::kNull) throw UserError(path.string() + ": sets nothing");
    open_.push_back(path);
    ConfigNode whole;
    for (const ConfigNode& base : take_bases(root)) {
      lay_over(whole, read_base(path.parent_path() / base.text, base.where + ": extends: "));
    }
    lay_over(whole, std::move(root));
    open_.pop_back();
    files_.push_back(path);
    return whole;
  }
  [[nodiscard]] std::vector<fs::path> take_files() { return std::move(files_); }

 private:
  static constexpr std::size_t kMostFiles = 16;

  [[nodiscard]] ConfigNode read_base(const fs::path& path, const std::string& where) {
    if (!is_there(path)) throw UserError(where + "there is no file " + path.string());
    std::error_code error;
    if (!fs::is_regular_file(path, error)) throw UserError(where + path.string() + " is no file");
    for (const fs::path& open : open_) {
      if (fs::equivalent(open, path, error)) {
        throw UserError(where + path.string() + " leads back to this file");
      }
    }
    if (files_.size() + open_.size() >= kMostFiles) {
      throw UserError(where + path.string() + " is one file too many, there may be " +
                      std::to_string(kMostFiles));
    }
    ConfigNode base = read(path);
    // What is no map would replace all that it is laid over.
    if (base.kind != ConfigNode::Kind::kMap) {
      throw UserError(where + path.string() + " is no map of keys and values");
    }
    return base;
  }

  std::vector<fs::path> open_;   // whose bases are being read
  std::vector<fs::path> files_;  // read to the end
};

// A value from the command line was not written on any line: every part of it names the override.
void set_where(ConfigNode& node, const std::string& where) {
  node.where = where;
  for (ConfigNode& item : node.items) set_where(item, where);
  for (auto& [key, child] : node.entries) set_where(child, where);
}

void apply_override(ConfigNode& root, const std::string& text, std::string_view option) {
  const std::string where = std::string(option) + " " + text;
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw UserError(where + ": expected key=value");
  }
  ConfigNode value = parse_yaml(where, std::string_view(text).substr(equals + 1));
  set_where(value, where);

  ConfigNode* node = &root;
  std::string_view path = std::string_view(text).substr(0, equals);  // what is left of it
  while (true) {
    const std::size_t dot = path.find('.');
    const std::string_view key = path.substr(0, dot);
    if (key.empty()) throw UserError(where + ": an empty name between dots");
    if (node->kind == ConfigNode::Kind::kNull) {
      node->kind = ConfigNode::Kind::kMap;
      node->where = where;
    }
    if (node->kind == ConfigNode::Kind::kList) {
      const std::string list = text.substr(0, equals - path.size() - 1);
      throw UserError(where + ": " + list + " (" + node->where + ") is a list, " +
                      how_to_set_list(list));
    }
    if (node->kind != ConfigNode::Kind::kMap) {
      throw UserError(where + ": there is no '" + std::string{key} +
                      "' to set: the value at that place (" + node->where + ") is not a map");
    }
    ConfigNode* child = node->find(key);
    if (child == nullptr) {
      node->entries.push_back({std::string{key}, ConfigNode{}});
      child = &node->entries.back().value;
    }
    node = child;
    if (dot == std::string_view::npos) break;
    path.remove_prefix(dot + 1);
  }
  *node = std::move(value);
}

}  // namespace

ConfigSource ConfigSource::from_text(std::string name, std::string_view text,
                                     std::span<const std::string> overrides,
                                     std::string_view option) {
  ConfigNode root = parse_yaml(name, text);
  refuse_extends(root, "is for files, which stand in a folder");
  return with_overrides(std::move(name), std::move(root), overrides, option);
}

ConfigSource ConfigSource::without(std::span<const std::string_view> keys) const {
  ConfigSource part = *this;
  std::erase_if(part.root_.entries, [keys](const ConfigEntry& entry) {
    return std::ranges::find(keys, entry.key) != keys.end();
  });
  return part;
}

ConfigSource ConfigSource::with_overrides(std::string name, ConfigNode root,
                                          std::span<const std::string> overrides,
                                          std::string_view option) {
  if (root.where.empty()) root.where = name;
  for (const std::string& override_text : overrides) apply_override(root, override_text, option);
  refuse_extends(root, "stands in a file");
  return {std::move(name), std::move(root)};
}

ConfigSource ConfigSource::from_file(const std::filesystem::path& path,
                                     std::span<const std::string> overrides,
                                     std::string_view option) {
  FileReader reader;
  ConfigNode root = reader.read(path);
  ConfigSource source = with_overrides(path.string(), std::move(root), overrides, option);
  source.files_ = reader.take_files();
  return source;
}

ConfigSource ConfigSource::from_lone_file(const fs::path& path) {
  ConfigSource source = from_file(path);
  if (source.files_.size() > 1)
    throw UserError(path.string() + ": a file of this sort extends none");
  return source;
}

}  // namespace pacml
