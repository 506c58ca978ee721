#pragma once

// What Swift cannot call by itself: zlib's macros.

#include <zlib.h>

// 16 more than the window's size says gzip (RFC 1952), and no other format.
static inline int sq_inflate_init(z_stream *stream) {
  return inflateInit2(stream, 15 + 16);
}

static inline int sq_deflate_init(z_stream *stream) {
  return deflateInit2(
      stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}
