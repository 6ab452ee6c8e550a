#include "env/chakra/read_chakra_trace.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "common/result.h"
#include "env/chakra/chakra.pb.h"
#include "env/chakra/printed_tensors.h"
#include "env/graph/zoo/cost_model.h"

namespace pacml::env {
namespace {

using google::protobuf::io::CodedInputStream;

// An empty attribute takes two bytes and some sixty in memory: a node takes 128 MiB at most.
constexpr std::uint32_t kMostNodeBytes = UINT32_C(1) << 22U;
constexpr std::size_t kMostNameBytes = 4096;  // so that 100,000 nodes take 400 MB at most
constexpr std::size_t kMostVersionBytes = 64;

constexpr auto kTypes = std::to_array<std::string_view>(
    {"no type", "metadata", "memory load", "memory store", "compute", "send", "receive"});
constexpr auto kCollectives = std::to_array<std::string_view>(
    {"all-reduce", "reduce", "all-gather", "gather", "scatter", "broadcast", "all-to-all",
     "reduce-scatter", "reduce-scatter block", "barrier"});

// Messages with their lengths, one after the other.
class Messages {
 public:
  Messages(std::istream& in, const std::string& name) : name_(name), in_(in), stream_(&in) {}

  // False at the end. The stream that is decoded is one of a message alone: its count of bytes, of
  // 31 bits, is for a message then and not for the file.
  bool next(std::string& message) {
    CodedInputStream coded(&stream_);
    ++count_;
    const void* data = nullptr;
    int size = 0;
    if (!coded.GetDirectBufferPointer(&data, &size)) {
      if (in_.bad()) throw UserError(name_ + ": it cannot be read");
      return false;
    }
    std::uint32_t length = 0;
    if (!coded.ReadVarint32(&length)) throw ends_early();
    if (length > kMostNodeBytes) {
      throw UserError(place() + "is of more than 4 MiB, or this is no Chakra trace");
    }
    if (!coded.ReadString(&message, static_cast<int>(length))) throw ends_early();
    return true;
  }
  // "NAME: node N ", of the message that was read last.
  [[nodiscard]] std::string place() const {
    if (count_ == 1) return name_ + ": its metadata ";
    return name_ + ": node " + std::to_string(count_ - 1) + " ";
  }

 private:
  [[nodiscard]] UserError ends_early() const {
    return UserError(place() + "is cut short, or this is no Chakra trace");
  }

  const std::string& name_;
  std::istream& in_;
  google::protobuf::io::IstreamInputStream stream_;
  std::size_t count_ = 0;
};

std::optional<double> number_of(const chakra::Attribute& attribute) {
  switch (attribute.value_case()) {
    case chakra::Attribute::kDoubleVal:
      return attribute.double_val();
    case chakra::Attribute::kFloatVal:
      return attribute.float_val();
    case chakra::Attribute::kInt32Val:
      return attribute.int32_val();
    case chakra::Attribute::kInt64Val:
      return static_cast<double>(attribute.int64_val());
    case chakra::Attribute::kUint32Val:
      return attribute.uint32_val();
    case chakra::Attribute::kUint64Val:
      return static_cast<double>(attribute.uint64_val());
    case chakra::Attribute::kSint32Val:
      return attribute.sint32_val();
    case chakra::Attribute::kSint64Val:
      return static_cast<double>(attribute.sint64_val());
    case chakra::Attribute::kFixed32Val:
      return attribute.fixed32_val();
    case chakra::Attribute::kFixed64Val:
      return static_cast<double>(attribute.fixed64_val());
    case chakra::Attribute::kSfixed32Val:
      return attribute.sfixed32_val();
    case chakra::Attribute::kSfixed64Val:
      return static_cast<double>(attribute.sfixed64_val());
    case chakra::Attribute::VALUE_NOT_SET:
      return std::nullopt;  // a list, a text
  }
  return std::nullopt;
}

// What attributes say that is read here. Absent: 0, but for the type.
struct Attributes {
  double num_ops = 0;
  double tensor_size = 0;
  double comm_size = 0;
  std::optional<double> comm_type;
};

Attributes attributes_of(const chakra::Node& node, const std::string& place) {
  Attributes read;
  for (const auto& attribute : node.attr()) {
    const auto number = number_of(attribute);
    if (!number) continue;
    const std::string& name = attribute.name();
    if (name == "comm_type") {
      read.comm_type = number;
      continue;
    }
    double* const field = name == "num_ops"       ? &read.num_ops
                          : name == "tensor_size" ? &read.tensor_size
                          : name == "comm_size"   ? &read.comm_size
                                                  : nullptr;
    if (field == nullptr) continue;
    if (!std::isfinite(*number) || *number < 0) {
      throw UserError(place + "has a " + name + " that is none: it must be 0 or more");
    }
    *field = *number;
  }
  return read;
}

bool is_communication(std::int32_t type) {
  return type == chakra::SEND || type == chakra::RECEIVE || type == chakra::COLLECTIVE;
}

std::string kind_of(std::int32_t type, const Attributes& attributes) {
  if (type == chakra::COLLECTIVE) {
    for (std::size_t i = 0; i < kCollectives.size(); ++i) {
      if (attributes.comm_type == static_cast<double>(i)) return std::string(kCollectives.at(i));
    }
    return "collective";
  }
  if (type < 0 || static_cast<std::size_t>(type) >= kTypes.size()) {
    return "another type";
  }
  return std::string(kTypes.at(static_cast<std::size_t>(type)));
}

double cost_us(const chakra::Node& node, const Attributes& attributes, const zoo::Device& device) {
  if (node.duration_micros() > 0) return static_cast<double>(node.duration_micros());
  if (is_communication(node.type())) return 0;
  const zoo::Work work{.flops = attributes.num_ops, .memory_bytes = attributes.tensor_size};
  return zoo::time_ms(work, device) * 1e3;
}

double output_bytes(const chakra::Node& node, const Attributes& attributes) {
  if (is_communication(node.type())) return attributes.comm_size;
  const double printed = bytes_of_printed_tensors(node.outputs().values());
  return printed > 0 ? printed : attributes.tensor_size;
}

// Nodes as they come, and what they wait for until all are known.
class Reading {
 public:
  Reading(const zoo::Device& device, const OpGraphLimits& limits)
      : device_(device), limits_(limits) {}

  // The place is that of errors.
  void add(const chakra::Node& node, const std::string& place) {
    if (spec_.ops.size() >= limits_.max_ops) {
      throw UserError(place + "is one more than the " + std::to_string(limits_.max_ops) +
                      " that are taken");
    }
    if (node.name().size() > kMostNameBytes) {
      throw UserError(place + "has a name of more than 4 KiB");
    }
    const auto op = static_cast<std::int32_t>(spec_.ops.size());
    if (!ops_.emplace(node.id(), op).second) {
      throw UserError(place + "has the id " + std::to_string(node.id()) +
                      ", as another one before it");
    }
    const Attributes attributes = attributes_of(node, place);
    const double cost = cost_us(node, attributes, device_);
    const double bytes = output_bytes(node, attributes);
    count(kind_of(node.type(), attributes), node.duration_micros() > 0, cost, bytes);
    spec_.ops.push_back({.name = node.name() + "#" + std::to_string(node.id()),
                         .cost_us = cost,
                         .output_bytes = {bytes}});
    await(node, op, place);
  }

  [[nodiscard]] OpGraphSpec finish(const std::string& name) {
    if (spec_.ops.empty()) throw UserError(name + ": it has no nodes");
    for (const Wait& wait : waits_) {
      const auto found = ops_.find(wait.id);
      if (found == ops_.end()) {
        throw UserError(name + ": node " + std::to_string(wait.consumer + 1) +
                        " depends on the node of id " + std::to_string(wait.id) +
                        ", which is not there");
      }
      // Behind the one output: nothing is sent.
      spec_.edges.push_back({found->second, wait.has_data ? 0 : 1, wait.consumer});
    }
    return std::move(spec_);
  }
  [[nodiscard]] std::vector<ChakraKind> kinds() const {
    std::vector<ChakraKind> list;
    for (const auto& [name, kind] : kinds_) list.push_back(kind);
    return list;
  }

 private:
  struct Wait {
    std::uint64_t id = 0;
    std::int32_t consumer = 0;
    bool has_data = false;
  };

  void await(const chakra::Node& node, std::int32_t op, const std::string& place) {
    std::set<std::uint64_t> seen;  // with data first: they win
    const auto add_each = [&](const auto& ids, bool has_data) {
      for (const std::uint64_t id : ids) {
        if (!seen.insert(id).second) continue;
        if (waits_.size() >= limits_.max_edges) {
          throw UserError(place + "has one more dependency than the " +
                          std::to_string(limits_.max_edges) + " that are taken");
        }
        waits_.push_back({id, op, has_data});
      }
    };
    add_each(node.data_deps(), true);
    add_each(node.ctrl_deps(), false);
  }
  void count(const std::string& name, bool is_timed, double cost, double bytes) {
    ChakraKind& kind = kinds_[name];
    kind.name = name;
    ++kind.nodes;
    if (is_timed) ++kind.timed_nodes;
    kind.cost_us += cost;
    kind.output_bytes += bytes;
  }

  const zoo::Device& device_;
  const OpGraphLimits& limits_;
  OpGraphSpec spec_;
  std::map<std::uint64_t, std::int32_t> ops_;  // by the ids of their nodes
  std::vector<Wait> waits_;
  std::map<std::string, ChakraKind> kinds_;
};

void refuse_compressed(std::istream& in, const std::string& name) {
  constexpr int kFirst = 0x1f;  // of gzip; a length of metadata, too, but with another byte behind
  constexpr int kSecond = 0x8b;
  if (in.peek() != kFirst) return;
  in.get();
  if (in.peek() == kSecond) {
    throw UserError(name + ": it is compressed; gunzip unpacks it");
  }
  in.unget();
}

std::string version_in(const std::string& message, const std::string& name) {
  chakra::Metadata metadata;
  if (!metadata.ParseFromString(message) || metadata.version().empty() ||
      metadata.version().size() > kMostVersionBytes) {
    throw UserError(name + ": it does not begin with a version, as Chakra traces do");
  }
  return metadata.version();
}

}  // namespace

ChakraTrace read_chakra_trace(std::istream& in, const std::string& name, const zoo::Device& device,
                              const OpGraphLimits& limits) {
  refuse_compressed(in, name);
  Messages messages(in, name);
  std::string message;
  if (!messages.next(message)) throw UserError(name + ": it is empty");
  ChakraTrace trace;
  trace.version = version_in(message, name);
  Reading reading(device, limits);
  while (messages.next(message)) {
    chakra::Node node;
    if (!node.ParseFromString(message)) {
      throw UserError(messages.place() + "is none of a Chakra trace");
    }
    reading.add(node, messages.place());
  }
  trace.graph = reading.finish(name);
  trace.kinds = reading.kinds();
  return trace;
}

}  // namespace pacml::env
