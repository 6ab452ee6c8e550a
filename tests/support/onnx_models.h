#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace pacml::testing {

// Describes an ONNX model by hand, node by node; each call answers the name of what it puts out.
class OnnxModel {
 public:
  using Extents = std::vector<std::int64_t>;
  using Names = std::vector<std::string>;

  OnnxModel() {
    model_.set_ir_version(8);
    model_.set_producer_name("by hand");
    model_.add_opset_import()->set_version(13);
  }

  // Extents of 0 are open, and called "open".
  std::string input(const std::string& name, const Extents& extents, int type = 1) {
    describe(*graph().add_input(), name, extents, type);
    return name;
  }
  void output(const std::string& name) { graph().add_output()->set_name(name); }
  // Stored without its values.
  std::string weight(const std::string& name, const Extents& extents, int type = 1) {
    onnx::TensorProto& tensor = *graph().add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(type);
    for (const std::int64_t extent : extents) tensor.add_dims(extent);
    return name;
  }
  std::string integers(const std::string& name, const Extents& values) {
    weight(name, {static_cast<std::int64_t>(values.size())}, onnx::TensorProto::INT64);
    for (const std::int64_t value : values) {
      graph().mutable_initializer()->rbegin()->add_int64_data(value);
    }
    return name;
  }
  std::string add(const std::string& type, const Names& inputs) {
    return add_many(type, inputs, 1)[0];
  }
  Names add_many(const std::string& type, const Names& inputs, int outputs) {
    onnx::NodeProto& node = *graph().add_node();
    node.set_op_type(type);
    node.set_name(type + std::to_string(graph().node_size()));
    for (const std::string& name : inputs) node.add_input(name);
    Names names;
    for (int i = 0; i < outputs; ++i) {
      names.push_back(node.name() + "_" + std::to_string(i));
      node.add_output(names.back());
    }
    return names;
  }
  // Of the node that was added last.
  OnnxModel& set(const std::string& name, std::int64_t value) {
    attribute(name).set_i(value);
    return *this;
  }
  OnnxModel& set(const std::string& name, const Extents& values) {
    onnx::AttributeProto& list = attribute(name);
    for (const std::int64_t value : values) list.add_ints(value);
    return *this;
  }
  [[nodiscard]] onnx::NodeProto& last() { return *graph().mutable_node()->rbegin(); }

  std::string conv(const std::string& x, std::int64_t in, std::int64_t out, std::int64_t kernel,
                   std::int64_t stride = 1, std::int64_t padding = 0, bool bias = true) {
    const std::string name = "w" + std::to_string(graph().initializer_size());
    Names inputs{x, weight(name, {out, in, kernel, kernel})};
    if (bias) inputs.push_back(weight(name + "b", {out}));
    const std::string y = add("Conv", inputs);
    set("strides", Extents{stride, stride}).set("pads", Extents(4, padding));
    return y;
  }
  std::string max_pool(const std::string& x, std::int64_t kernel, std::int64_t stride,
                       std::int64_t padding = 0) {
    const std::string y = add("MaxPool", {x});
    set("kernel_shape", Extents{kernel, kernel}).set("strides", Extents{stride, stride});
    set("pads", Extents(4, padding));
    return y;
  }
  std::string batch_norm(const std::string& x, std::int64_t channels) {
    const std::string name = "n" + std::to_string(graph().initializer_size());
    return add("BatchNormalization",
               {x, weight(name + "s", {channels}), weight(name + "b", {channels}),
                weight(name + "m", {channels}), weight(name + "v", {channels})});
  }
  std::string gemm(const std::string& x, std::int64_t in, std::int64_t out) {
    const std::string name = "g" + std::to_string(graph().initializer_size());
    const std::string y = add("Gemm", {x, weight(name, {out, in}), weight(name + "b", {out})});
    set("transB", 1);
    return y;
  }

  // A function of the file, of the domain "own", without its nodes.
  onnx::FunctionProto& function(const std::string& name, const Names& inputs,
                                const Names& outputs) {
    onnx::FunctionProto& function = *model_.add_functions();
    function.set_name(name);
    function.set_domain("own");
    for (const std::string& input : inputs) function.add_input(input);
    for (const std::string& output : outputs) function.add_output(output);
    return function;
  }
  // A node of its body.
  static onnx::NodeProto& call(onnx::FunctionProto& function, const std::string& type,
                               const Names& inputs, const Names& outputs,
                               const std::string& domain = "") {
    onnx::NodeProto& node = *function.add_node();
    node.set_op_type(type);
    node.set_domain(domain);
    for (const std::string& input : inputs) node.add_input(input);
    for (const std::string& output : outputs) node.add_output(output);
    return node;
  }
  // As add_many, of such a function.
  Names call_many(const std::string& name, const Names& inputs, int outputs) {
    Names names = add_many(name, inputs, outputs);
    last().set_domain("own");
    return names;
  }

  [[nodiscard]] onnx::GraphProto& graph() { return *model_.mutable_graph(); }
  [[nodiscard]] std::string bytes() const { return model_.SerializeAsString(); }

 private:
  onnx::AttributeProto& attribute(const std::string& name) {
    onnx::AttributeProto& attribute = *last().add_attribute();
    attribute.set_name(name);
    return attribute;
  }
  static void describe(onnx::ValueInfoProto& info, const std::string& name, const Extents& extents,
                       int type) {
    info.set_name(name);
    auto& tensor = *info.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(type);
    tensor.mutable_shape();
    for (const std::int64_t extent : extents) {
      auto& dim = *tensor.mutable_shape()->add_dim();
      if (extent == 0) {
        dim.set_dim_param("open");
      } else {
        dim.set_dim_value(extent);
      }
    }
  }

  onnx::ModelProto model_;
};

// Krizhevsky 2014 and He et al. 2016 (18 layers), as the built-in models have them.
inline std::string onnx_alexnet() {
  OnnxModel m;
  std::string x = m.input("data", {0, 3, 224, 224});
  x = m.max_pool(m.add("Relu", {m.conv(x, 3, 64, 11, 4, 2)}), 3, 2);
  x = m.max_pool(m.add("Relu", {m.conv(x, 64, 192, 5, 1, 2)}), 3, 2);
  x = m.add("Relu", {m.conv(x, 192, 384, 3, 1, 1)});
  x = m.add("Relu", {m.conv(x, 384, 256, 3, 1, 1)});
  x = m.max_pool(m.add("Relu", {m.conv(x, 256, 256, 3, 1, 1)}), 3, 2);
  x = m.add("Dropout", {m.add("Flatten", {x})});
  x = m.add("Dropout", {m.add("Relu", {m.gemm(x, 9216, 4096)})});
  x = m.gemm(m.add("Relu", {m.gemm(x, 4096, 4096)}), 4096, 1000);
  m.output(x);
  return m.bytes();
}
inline std::string onnx_resnet18() {
  OnnxModel m;
  const auto conv = [&](const std::string& x, std::int64_t in, std::int64_t out,
                        std::int64_t kernel, std::int64_t stride) {
    return m.batch_norm(m.conv(x, in, out, kernel, stride, kernel / 2, false), out);
  };
  std::string x = m.input("data", {0, 3, 224, 224});
  x = m.max_pool(m.add("Relu", {conv(x, 3, 64, 7, 2)}), 3, 2, 1);
  std::int64_t in = 64;
  for (const std::int64_t out : {64, 128, 256, 512}) {
    for (int block = 0; block < 2; ++block) {
      const std::int64_t stride = in == out ? 1 : 2;
      std::string y = m.add("Relu", {conv(x, in, out, 3, stride)});
      y = conv(y, out, out, 3, 1);
      if (in != out) x = conv(x, in, out, 1, stride);
      x = m.add("Relu", {m.add("Add", {y, x})});
      in = out;
    }
  }
  x = m.gemm(m.add("Flatten", {m.add("GlobalAveragePool", {x})}), 512, 1000);
  m.output(x);
  return m.bytes();
}

}  // namespace pacml::testing
