#include "apps/run/run_history.h"

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/catch.h"
#include "tests/support/temp_dir.h"

using pacml::apps::RunHistory;
using pacml::testing::TempDir;

namespace {

// A metrics file that grows.
struct Metrics {
  TempDir folder;
  std::filesystem::path path = folder / "metrics.jsonl";
  void append(const std::string& text) const { std::ofstream(path, std::ios::app) << text; }
};

std::string line(int i) {
  return R"({"seconds": )" + std::to_string(i) + R"(, "lag": {"p99": )" + std::to_string(2 * i) +
         "}}\n";
}

}  // namespace

TEST_CASE("curves have every number of every line, by name") {
  const Metrics file;
  file.append(line(1) + line(2) +
              R"({"seconds": 3, "loss": 0.5, "name": "x", "none": null})"
              "\n");
  RunHistory history(file.path);
  CHECK_FALSE(history.read());
  const auto curves = history.curves();
  CHECK(curves.rows == 3);
  CHECK(curves.columns.at("seconds") == std::vector<double>{1, 2, 3});
  CHECK(curves.columns.at("lag/p99")[1] == 4);
  CHECK(std::isnan(curves.columns.at("lag/p99")[2]));
  CHECK(std::isnan(curves.columns.at("loss")[0]));
  CHECK(curves.columns.size() == 3);
  CHECK(history.newest()["name"] == "x");
}

TEST_CASE("a line that is being written is waited for") {
  const Metrics file;
  file.append(line(1) + R"({"seconds": )");
  RunHistory history(file.path);
  CHECK_FALSE(history.read());
  CHECK(history.lines() == 1);
  CHECK(history.is_cut());
  file.append("2}\n");
  CHECK_FALSE(history.read());
  CHECK(history.curves().columns.at("seconds") == std::vector<double>{1, 2});
  CHECK_FALSE(history.is_cut());
  CHECK(history.broken() == 0);
}

TEST_CASE("what is no line of metrics is counted and passed over") {
  const Metrics file;
  file.append("not json\n" + line(1) + "[1, 2]\n\n" + std::string(4 << 20, 'x') + "\n" + line(2));
  RunHistory history(file.path);
  while (history.read()) {
  }
  CHECK(history.curves().columns.at("seconds") == std::vector<double>{1, 2});
  CHECK(history.broken() == 3);
}

TEST_CASE("a long history keeps a bounded number of rows, each the mean of as many lines") {
  const Metrics file;
  std::string text;
  const int lines = 8 * static_cast<int>(RunHistory::kMostRows);
  for (int i = 0; i < lines; ++i) text += line(i);
  file.append(text);
  RunHistory history(file.path);
  while (history.read()) {
  }
  CHECK(history.lines() == lines);
  const auto seconds = history.curves().columns.at("seconds");
  CHECK(seconds.size() == RunHistory::kMostRows);
  for (std::size_t r = 0; r < seconds.size(); ++r) {
    CHECK(seconds[r] == 8 * static_cast<double>(r) + 3.5);  // of lines 8r .. 8r + 7
  }
}

TEST_CASE("a history has a bounded number of curves") {
  const Metrics file;
  std::string text = "{";
  for (int i = 0; i < 500; ++i) text += (i ? ",\"k" : "\"k") + std::to_string(i) + "\":1";
  file.append(text + "}\n");
  RunHistory history(file.path);
  CHECK_FALSE(history.read());
  CHECK(history.curves().columns.size() == RunHistory::kMostCurves);
}

TEST_CASE("another file of the same name is read from its beginning, and none is no trouble") {
  const Metrics file;
  RunHistory history(file.path);
  CHECK_FALSE(history.read());
  CHECK(history.newest().empty());
  file.append(line(1) + line(2) + line(3));
  CHECK_FALSE(history.read());
  std::ofstream(file.path) << line(9);
  CHECK_FALSE(history.read());
  CHECK(history.curves().columns.at("seconds") == std::vector<double>{9});
}

TEST_CASE("another file is told from the one that was read, however long it is") {
  const Metrics file;
  std::string text;
  for (int i = 1; i <= 5; ++i) text += line(i);
  file.append(text);
  RunHistory history(file.path);
  CHECK_FALSE(history.read());
  // It takes the other one's place, as a run that begins anew in the same folder has it.
  text.clear();
  for (int i = 1000; i < 1020; ++i) text += line(i);
  std::ofstream(file.folder / "other") << text;
  std::filesystem::rename(file.folder / "other", file.path);
  CHECK_FALSE(history.read());
  const auto seconds = history.curves().columns.at("seconds");
  REQUIRE(seconds.size() == 20);
  CHECK(seconds.front() == 1000);
  CHECK(history.broken() == 0);
}

TEST_CASE("what was told behind the checkpoint that a run goes on from is void") {
  const auto told = [](int decisions, int life) {
    return R"({"decisions": )" + std::to_string(decisions) + R"(, "life": )" +
           std::to_string(life) + "}\n";
  };
  const Metrics file;
  std::string text;
  for (int i = 1; i <= 60; ++i) text += told(1000 * i, 1);
  RunHistory history(file.path);
  file.append(text);
  CHECK_FALSE(history.read());
  CHECK(history.curves().rows == 60);
  file.append(told(30500, 2) + R"({"note": 1})" + "\n" + told(31500, 2));
  CHECK_FALSE(history.read());
  const auto curves = history.curves();
  REQUIRE(curves.rows == 33);
  const auto& decisions = curves.columns.at("decisions");
  const auto& life = curves.columns.at("life");
  for (std::size_t r = 0; r < 30; ++r) {
    CHECK(decisions[r] == 1000 * static_cast<double>(r + 1));
    CHECK(life[r] == 1);
  }
  CHECK(decisions[30] == 30500);
  CHECK(life[30] == 2);
  CHECK(decisions[32] == 31500);
  // A number that comes again is none that goes back.
  file.append(told(31500, 2));
  CHECK_FALSE(history.read());
  CHECK(history.curves().rows == 34);
}

TEST_CASE("a line that nests deeper than anybody means is no line of metrics") {
  const Metrics file;
  const std::string deep(200'000, '[');
  file.append(line(1) + R"({"seconds": 2, "x": )" + deep + std::string(deep.size(), ']') + "}\n" +
              line(3));
  RunHistory history(file.path);
  CHECK_FALSE(history.read());
  CHECK(history.broken() == 1);
  CHECK(history.curves().columns.at("seconds") == std::vector<double>{1, 3});
}
