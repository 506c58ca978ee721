#pragma once

// On Debian, the header is in a folder that only pkg-config's flags name.
#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
#include <postgresql/libpq-fe.h>
#endif

// The protocol's error fields. In C, their names are character constants, which Swift does not
// import as integers.
static const int sq_error_state = PG_DIAG_SQLSTATE;
static const int sq_error_text = PG_DIAG_MESSAGE_PRIMARY;
