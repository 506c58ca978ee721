#pragma once

#include <nghttp2/nghttp2.h>

// Creates a setting, because Swift cannot create one whose number is not a case of the enumeration.
static inline nghttp2_settings_entry sq_setting(int32_t number, uint32_t value) {
  nghttp2_settings_entry entry = {number, value};
  return entry;
}
