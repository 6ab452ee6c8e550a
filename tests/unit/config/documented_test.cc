// docs/configuration.md and docs/configuration_tasks.md describe every setting that there is, with
// its default and, of names, every choice; and no other.

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "apps/run/train_config.h"
#include "common/config/dump.h"
#include "common/config/named_enum.h"
#include "common/config/reader.h"
#include "common/config/source.h"
#include "env/task_config.h"
#include "env/tasks/cluster_scheduling/config.h"
#include "env/tasks/device_placement/config.h"
#include "env/tasks/job_placing/config.h"
#include "env/tasks/job_scheduling/config.h"
#include "env/tasks/partitioning/config.h"
#include "env/tasks/placement_shaping/config.h"
#include "env/tasks/python/config.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"

namespace pacml {
namespace {

constexpr const char* kPage = "configuration.md";
constexpr const char* kTasksPage = "configuration_tasks.md";

struct Row {
  std::string key;
  std::string default_value;  // YAML; empty: nothing is said
  std::string meaning;
};

// The table below each heading of a page, by "page#anchor".
using Sections = std::map<std::string, std::vector<Row>>;

std::string without_backticks(std::string cell) {
  std::erase(cell, '`');
  return cell;
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// As GitHub makes one of a heading.
std::string anchor_of(std::string heading) {
  std::string anchor;
  for (const char c : heading) {
    if (c == ' ') anchor += '-';
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-') {
      anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return anchor;
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  for (std::size_t begin = 1; begin < line.size();) {
    const auto end = line.find('|', begin);
    if (end == std::string::npos) break;
    cells.push_back(trimmed(line.substr(begin, end - begin)));
    begin = end + 1;
  }
  return cells;
}

void read_page(const std::string& name, Sections& sections) {
  std::ifstream page(testing::source_path("docs/" + name));
  REQUIRE(page);
  std::string section;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) section = name + "#" + anchor_of(line.substr(3));
    if (!line.starts_with("| `")) continue;
    INFO(name << ": " << line);
    const auto cells = cells_of(line);
    REQUIRE(cells.size() == 3);
    sections[section].push_back(
        {without_backticks(cells[0]), without_backticks(cells[1]), cells[2]});
  }
}

// Equal values have equal texts, however they are written.
std::string flow(const ConfigNode& node) {
  std::string text;
  switch (node.kind) {
    case ConfigNode::Kind::kNull:
      return "null";
    case ConfigNode::Kind::kScalar:
      return node.text;
    case ConfigNode::Kind::kList:
      for (const ConfigNode& item : node.items) text += (text.empty() ? "" : ", ") + flow(item);
      return "[" + text + "]";
    case ConfigNode::Kind::kMap:
      for (const ConfigEntry& entry : node.entries) {
        text += (text.empty() ? "" : ", ") + entry.key + ": " + flow(entry.value);
      }
      return "{" + text + "}";
  }
  return text;
}

std::string flow_of_yaml(const std::string& yaml) {
  const auto source = ConfigSource::from_text("the table", "value: " + yaml + "\n");
  return flow(*source.root().find("value"));
}

// What of `node` is not as in `usual`.
ConfigNode difference(const ConfigNode& node, const ConfigNode& usual) {
  ConfigNode different;
  different.kind = ConfigNode::Kind::kMap;
  for (const ConfigEntry& entry : node.entries) {
    const ConfigNode* const other = usual.find(entry.key);
    if (other != nullptr && flow(entry.value) == flow(*other)) continue;
    const bool nested =
        entry.value.kind == ConfigNode::Kind::kMap && other != nullptr && !other->entries.empty();
    different.entries.push_back(
        {entry.key, nested ? difference(entry.value, *other) : entry.value});
  }
  return different;
}

// "page#anchor" of the link that a cell begins with; empty: it begins with none.
std::string link_of(const std::string& meaning, const std::string& page) {
  static const std::regex kLink(R"(^\[[^\]]*\]\(([a-z_]*\.md)?#([^)]*)\).*)");
  std::smatch found;
  if (!std::regex_match(meaning, found, kLink)) return {};
  return (found[1].length() > 0 ? found[1].str() : page) + "#" + found[2].str();
}

// The struct that stands in lists and the like; void: none.
template <class T>
struct Inner {
  using type = std::conditional_t<Configuration<T> && !SelfReading<T>, T, void>;
};
template <class T>
struct Inner<std::vector<T>> : Inner<T> {};
template <class T, std::size_t N>
struct Inner<std::array<T, N>> : Inner<T> {};
template <class T>
struct Inner<std::optional<T>> : Inner<T> {};
template <class T>
struct Inner<std::map<std::string, T>> : Inner<T> {};

template <class T>
struct Names {
  using type = std::conditional_t<NamedEnum<T>, T, void>;
};
template <class T>
struct Names<std::vector<T>> : Names<T> {};
template <class T>
struct Names<std::optional<T>> : Names<T> {};

class Pages {
 public:
  Pages() {
    read_page(kPage, sections_);
    read_page(kTasksPage, sections_);
  }

  // That the section has the fields of `config`, which is as its type makes it, and that theirs
  // have theirs.
  template <class Config>
  void check(const std::string& section, const Config& config) {
    if (!described_.insert(section).second) return;
    INFO(section);
    REQUIRE(sections_.contains(section));
    const std::vector<Row>& rows = sections_.at(section);
    std::size_t at = 0;
    visit_fields(config, [&](std::string_view key, const auto& field) {
      INFO("`" << key << "`");
      REQUIRE(at < rows.size());
      REQUIRE(rows[at].key == key);
      check_row(section.substr(0, section.find('#')), rows[at], field);
      ++at;
    });
    CHECK(at == rows.size());
  }

  void check_that_all_are_described() const {
    for (const auto& [section, rows] : sections_) {
      INFO(section << " describes what there is");
      CHECK(described_.contains(section));
    }
  }

 private:
  template <class T>
  void check_row(const std::string& page, const Row& row, const T& field) {
    if constexpr (SelfReading<T>) {
      CHECK_THAT(row.meaning, Catch::Contains(kTasksPage));
    } else {
      using Struct = typename Inner<T>::type;
      ConfigNode value = config_detail::to_node(field);
      if constexpr (std::is_same_v<Struct, T>) {
        value = difference(value, config_detail::to_node(T{}));
        CHECK((row.default_value.empty() ? "{}" : flow_of_yaml(row.default_value)) == flow(value));
      } else {
        REQUIRE(!row.default_value.empty());
        CHECK(flow_of_yaml(row.default_value) == flow(value));
      }
      check_choices<typename Names<T>::type>(row);
      if constexpr (!std::is_void_v<Struct>) {
        const std::string section = link_of(row.meaning, page);
        REQUIRE(!section.empty());
        check(section, Struct{});
      }
    }
  }

  template <class Enum>
  static void check_choices(const Row& row) {
    if constexpr (!std::is_void_v<Enum>) {
      for (const std::string& name : names_of<Enum>()) {
        CHECK_THAT(row.meaning, Catch::Contains("`" + name + "`"));
      }
    }
  }

  Sections sections_;
  std::set<std::string> described_;
};

TEST_CASE("every setting is described, with its default and its choices", "[unit][config]") {
  Pages pages;
  pages.check(std::string(kPage) + "#top-level", apps::TrainConfig{});
  std::set<std::string> tasks;
  const auto check_task = [&]<class Config>(const std::string& name, const Config& config) {
    tasks.insert(name);
    REQUIRE(env::TaskConfig(name).template is_of<Config>());
    pages.check(std::string(kTasksPage) + "#" + name, config);
  };
  check_task("partitioning", env::PartitioningConfig{});
  check_task("placement_shaping", env::PlacementShapingConfig{});
  check_task("device_placement", env::DevicePlacementConfig{});
  check_task("cluster_scheduling", env::ClusterSchedulingConfig{});
  check_task("job_scheduling", env::JobSchedulingConfig{});
  check_task("job_placing", env::JobPlacingConfig{});
  check_task("python", env::PythonConfig{});
  for (const auto& kind : env::task_kinds()) CHECK(tasks.contains(kind.name));
  pages.check_that_all_are_described();
}

}  // namespace
}  // namespace pacml
