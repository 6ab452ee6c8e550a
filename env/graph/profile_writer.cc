#include "env/graph/profile_writer.h"

#include <array>
#include <charconv>
#include <string_view>

namespace pacml::env {
namespace {

std::string three_decimals(double value) {
  std::array<char, 400> text{};
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, 3);
  return std::string(text.data(), end);
}

// Without line ends, tabs and the separator " -- ", which stands before and behind it, too.
std::string one_piece(std::string text) {
  text = " " + text + " ";
  for (char& c : text) {
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  }
  constexpr std::string_view kSeparator = " -- ";
  for (auto at = text.find(kSeparator); at != std::string::npos; at = text.find(kSeparator)) {
    text.replace(at, kSeparator.size(), " ");
  }
  const auto begin = text.find_first_not_of(' ');
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

}  // namespace

std::string to_graph_txt(const Profile& profile) {
  std::string out;
  for (const ForwardOp& op : profile.ops) {
    out += "node" + std::to_string(op.id) + " -- " + one_piece(op.description) +
           " -- forward_compute_time=" + three_decimals(op.forward_time) +
           ", backward_compute_time=" + three_decimals(op.backward_time) +
           ", activation_size=" + three_decimals(op.activation_bytes) +
           ", parameter_size=" + three_decimals(op.parameter_bytes);
    if (op.optimizer_bytes > 0) {
      out += ", optimizer_size=" + three_decimals(op.optimizer_bytes);
    }
    out += "\n";
  }
  for (const auto& [producer, consumer] : profile.dependencies) {
    out += "\tnode" + std::to_string(producer) + " -- node" + std::to_string(consumer) + "\n";
  }
  return out;
}

}  // namespace pacml::env
