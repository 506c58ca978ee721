#pragma once

#include <nghttp2/nghttp2.h>

// A setting, since Swift cannot make one whose number is no case of its enumeration.
static inline nghttp2_settings_entry sq_setting(int32_t number, uint32_t value) {
  nghttp2_settings_entry entry = {number, value};
  return entry;
}
