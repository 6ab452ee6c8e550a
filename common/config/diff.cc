#include "common/config/diff.h"

#include <map>
#include <utility>

#include "common/config/dump.h"
#include "common/config/source.h"
#include "common/result.h"

namespace pacml {
namespace {

using Leaves = std::vector<std::pair<std::string, std::string>>;  // dotted key, value as YAML

// As YAML, maps and lists in their short form.
std::string in_one_line(const ConfigNode& node) {
  std::string text;
  if (node.kind == ConfigNode::Kind::kMap) {
    for (const auto& [key, child] : node.entries) {
      text += (text.empty() ? "" : ", ") + key + ": " + in_one_line(child);
    }
    return "{" + text + "}";
  }
  if (node.kind == ConfigNode::Kind::kList) {
    for (const ConfigNode& item : node.items) {
      text += (text.empty() ? "" : ", ") + in_one_line(item);
    }
    return "[" + text + "]";
  }
  text = to_yaml(node);
  text.pop_back();
  return text;
}

void collect(const ConfigNode& node, const std::string& path, Leaves& leaves) {
  if (node.kind == ConfigNode::Kind::kMap && !node.entries.empty()) {
    for (const auto& [key, child] : node.entries) {
      collect(child, config_detail::child_path(path, key), leaves);
    }
    return;
  }
  leaves.emplace_back(path.empty() ? "the whole" : path, in_one_line(node));
}

using Values = std::map<std::string, std::string>;  // of leaves, by dotted key

// Whether a leaf is a map that has keys among the others, which tell what differs.
bool is_told_by_keys(const std::string& key, const std::string& value, const Values& others) {
  if (value != "{}") return false;
  const auto below = others.lower_bound(key + ".");
  return below != others.end() && below->first.starts_with(key + ".");
}

}  // namespace

std::vector<ConfigDifference> compare_configs(std::string_view here, std::string_view there) {
  Leaves ours;
  Leaves theirs;
  collect(ConfigSource::from_text("here", here).root(), "", ours);
  collect(ConfigSource::from_text("there", there).root(), "", theirs);
  const Values our_values(ours.begin(), ours.end());
  const Values their_values(theirs.begin(), theirs.end());
  std::vector<ConfigDifference> differences;
  for (const auto& [key, value] : ours) {
    const auto other = their_values.find(key);
    if (other == their_values.end()) {
      if (!is_told_by_keys(key, value, their_values)) differences.push_back({key, value, "absent"});
    } else if (other->second != value) {
      differences.push_back({key, value, other->second});
    }
  }
  for (const auto& [key, value] : theirs) {
    if (our_values.contains(key) || is_told_by_keys(key, value, our_values)) continue;
    differences.push_back({key, "absent", value});
  }
  return differences;
}

std::vector<std::string> config_differences(std::string_view here, std::string_view there,
                                            std::size_t limit) {
  std::vector<std::string> sentences;
  try {
    for (const auto& [key, ours, theirs] : compare_configs(here, there)) {
      sentences.push_back(key + ": " + ours + " here, " + theirs + " there");
    }
  } catch (const UserError& e) {
    return {std::string{"the configurations cannot be compared: "} + e.what()};
  }
  if (sentences.size() > limit) {
    const std::size_t left_out = sentences.size() - limit;
    sentences.resize(limit);
    sentences.push_back("and " + std::to_string(left_out) + " more");
  }
  return sentences;
}

}  // namespace pacml
