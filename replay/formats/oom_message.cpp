#include "replay/formats/oom_message.hpp"

namespace fragcast {
namespace {

struct WordingNames {
  std::string_view name;
  std::string_view allocator;
};

constexpr WordingNames names_of(OomWording wording) {
  switch (wording) {
    case OomWording::npu:
      return {"npu", "torch_npu"};
    case OomWording::npu_rejected:
      return {"npu_rejected", "torch_npu, a rejection"};
    case OomWording::cuda_cached:
      return {"cuda_cached", "CUDA, torch up to 1.3"};
    case OomWording::cuda_reserved:
      return {"cuda_reserved", "CUDA, torch 1.4 to 1.9"};
    case OomWording::cuda_reserved_hint:
      return {"cuda_reserved_hint", "CUDA, torch 1.10 to 2.0"};
    case OomWording::cuda_unallocated:
      return {"cuda_unallocated", "CUDA, torch 2.1"};
    case OomWording::cuda_expandable:
      return {"cuda_expandable", "CUDA, torch 2.2 or later"};
    case OomWording::cuda_private_pools:
      return {"cuda_private_pools", "CUDA, torch 2.4 or later"};
    case OomWording::cuda_driver:
      return {"cuda_driver", "the CUDA driver"};
  }
  return {};
}

struct FigureNames {
  std::string_view name;
  std::string_view label;
};

constexpr FigureNames names_of(OomFigure figure) {
  switch (figure) {
    case OomFigure::tried:
      return {"tried", "tried to allocate"};
    case OomFigure::requested:
      return {"requested", "requested"};
    case OomFigure::total:
      return {"total", "total capacity"};
    case OomFigure::free:
      return {"free", "free on the device"};
    case OomFigure::allowed:
      return {"allowed", "allowed"};
    case OomFigure::allocated:
      return {"allocated", "allocated"};
    case OomFigure::active:
      return {"active", "active"};
    case OomFigure::reserved:
      return {"reserved", "reserved"};
    case OomFigure::cached:
      return {"cached", "cached"};
    case OomFigure::unallocated:
      return {"unallocated", "reserved but unallocated"};
    case OomFigure::in_private_pools:
      return {"in_private_pools", "in private pools"};
    case OomFigure::process:
      return {"process", "used by this process"};
    case OomFigure::other_processes:
      return {"other_processes", "used by named processes"};
  }
  return {};
}

}  // namespace

std::string_view name_of(OomWording wording) { return names_of(wording).name; }
std::string_view allocator_of(OomWording wording) { return names_of(wording).allocator; }
std::string_view name_of(OomFigure figure) { return names_of(figure).name; }
std::string_view label_of(OomFigure figure) { return names_of(figure).label; }

}  // namespace fragcast
