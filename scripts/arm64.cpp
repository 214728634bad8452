// A .pte file from C, for ctypes: ExecuTorch's Python module needs torch, whose arm64 wheel brings CUDA's libraries.
// scripts/arm64.sh builds this for arm64; mobilekit/runtimes/arm64/program.py calls it.
#include <executorch/extension/module/module.h>

#include <cstring>
#include <string>
#include <vector>

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using executorch::extension::Module;
using executorch::runtime::EValue;

// A loaded file, or null.
extern "C" void *pte_open(const char *path) {
  auto *module = new Module(path, Module::LoadMode::Mmap);
  return module->is_loaded() || module->load() == executorch::runtime::Error::Ok ? module : nullptr;
}

// The string that a method without inputs gives, or null.
extern "C" const char *pte_text(void *module, const char *method) {
  auto result = static_cast<Module *>(module)->execute(method, std::vector<EValue>{});
  if (!result.ok() || !result->at(0).isString()) return nullptr;
  const auto text = result->at(0).toString();
  return strndup(text.data(), text.size());
}

// Run a method on `count` int32 inputs [1, length]. Gives where its float output lies, until the next run, and its
// sizes (at most eight); returns their number, or an error of ExecuTorch's below zero.
extern "C" int pte_run(void *module, const char *method, int32_t *const *inputs, int count, int32_t length,
                       const float **output, int32_t *sizes) {
  int32_t shape[] = {1, length};
  uint8_t order[] = {0, 1};
  std::vector<TensorImpl> tensors;
  tensors.reserve(count);
  std::vector<EValue> values;
  for (int i = 0; i < count; ++i) {
    tensors.emplace_back(ScalarType::Int, 2, shape, inputs[i], order);
    values.emplace_back(Tensor(&tensors.back()));
  }
  auto result = static_cast<Module *>(module)->execute(method, values);
  if (!result.ok()) return -static_cast<int>(result.error());
  const auto found = result->at(0).toTensor();
  if (found.scalar_type() != ScalarType::Float || found.dim() > 8) return -1;
  std::copy(found.sizes().begin(), found.sizes().end(), sizes);
  *output = found.const_data_ptr<float>();
  return static_cast<int>(found.dim());
}
