#pragma once

// Functions for what Swift cannot call itself: functions with the argument SQLITE_TRANSIENT, which
// is a cast in a macro, and variadic functions.

#include <sqlite3.h>

static inline int sq_bind_text(
    sqlite3_stmt *statement, int index, const void *text, sqlite3_uint64 length) {
  // With a null pointer, SQLite would bind NULL instead of an empty text.
  const char *bytes = text ? (const char *)text : "";
  return sqlite3_bind_text64(statement, index, bytes, length, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline int sq_bind_blob(
    sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 length) {
  return sqlite3_bind_blob64(statement, index, bytes ? bytes : "", length, SQLITE_TRANSIENT);
}

static inline int sq_set_checkpoint_on_close(sqlite3 *connection, int isOn) {
  return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !isOn, (int *)0);
}
