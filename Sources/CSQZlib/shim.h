#pragma once

// Functions for zlib's macros, which Swift cannot call itself.

#include <zlib.h>

// Adding 16 to the window size selects the gzip format (RFC 1952) and no other.
static inline int sq_inflate_init(z_stream *stream) {
  return inflateInit2(stream, 15 + 16);
}

static inline int sq_deflate_init(z_stream *stream) {
  return deflateInit2(
      stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}
