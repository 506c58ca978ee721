#pragma once

// Functions for what Swift cannot call itself: libcurl's variadic functions, the union in CURLMsg,
// and functions that glibc declares only for programs that define _GNU_SOURCE.

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <stdint.h>
#ifdef __linux__
#include <asm/ioctls.h>
#endif

// libcurl's constants with a fixed type. A constant is a macro in one version of libcurl and an
// enumerator in another, and the types of macros differ too. Swift would see different types.
static const long sq_global_default = CURL_GLOBAL_DEFAULT;
static const long sq_netrc_ignored = CURL_NETRC_IGNORED;
static const long sq_http_1_1 = CURL_HTTP_VERSION_1_1;
static const long sq_http_2_over_tls = CURL_HTTP_VERSION_2TLS;
static const long sq_tls_1_2 = CURL_SSLVERSION_TLSv1_2;
static const long sq_tls_1_3 = CURL_SSLVERSION_TLSv1_3;
static const long sq_tls_1_2_at_most = CURL_SSLVERSION_MAX_TLSv1_2;
static const long sq_multiplex = CURLPIPE_MULTIPLEX;
static const long sq_no_multiplex = CURLPIPE_NOTHING;
static const long sq_read_abort = CURL_READFUNC_ABORT;
static const long sq_read_pause = CURL_READFUNC_PAUSE;
static const long sq_write_pause = CURL_WRITEFUNC_PAUSE;
static const long sq_error_size = CURL_ERROR_SIZE;
static const int sq_continue = CURLPAUSE_CONT;
static const int sq_seek_done = CURL_SEEKFUNC_OK;
static const int sq_seek_failed = CURL_SEEKFUNC_FAIL;
static const int sq_socket_accepted = CURL_SOCKOPT_OK;
static const int sq_prerequest_go = CURL_PREREQFUNC_OK;
static const int sq_prerequest_abort = CURL_PREREQFUNC_ABORT;
static const int sq_poll_in = CURL_POLL_IN;
static const int sq_poll_out = CURL_POLL_OUT;
static const int sq_poll_both = CURL_POLL_INOUT;
static const int sq_select_in = CURL_CSELECT_IN;
static const int sq_select_out = CURL_CSELECT_OUT;
static const int sq_select_error = CURL_CSELECT_ERR;
static const unsigned int sq_final_header = CURLH_HEADER;
static const curl_socket_t sq_no_socket = CURL_SOCKET_BAD;
static const curl_socket_t sq_timer_socket = CURL_SOCKET_TIMEOUT;

typedef size_t (*sq_data_callback)(char *, size_t, size_t, void *);

static inline CURLcode sq_set_long(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode sq_set_size(CURL *easy, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode sq_set_text(CURL *easy, CURLoption option, const char *value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode sq_set_pointer(CURL *easy, CURLoption option, void *value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode sq_set_data_callback(
    CURL *easy, CURLoption option, sq_data_callback callback) {
  return curl_easy_setopt(easy, option, callback);
}

static inline CURLcode sq_set_seek(CURL *easy, curl_seek_callback callback) {
  return curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, callback);
}

static inline CURLcode sq_set_socket_options(CURL *easy, curl_sockopt_callback callback) {
  return curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, callback);
}

static inline CURLcode sq_set_context_callback(CURL *easy, curl_ssl_ctx_callback callback) {
  return curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, callback);
}

// Returns the name and version of the library that makes TLS connections, or NULL.
static inline const char *sq_tls_library(void) {
  return curl_version_info(CURLVERSION_NOW)->ssl_version;
}

static inline CURLcode sq_set_prerequest(CURL *easy, curl_prereq_callback callback) {
  return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, callback);
}

static inline CURLcode sq_set_open_socket(CURL *easy, curl_opensocket_callback callback) {
  return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, callback);
}

static inline CURLcode sq_set_close_socket(CURL *easy, curl_closesocket_callback callback) {
  return curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, callback);
}

// Sets an option whose value is a sequence of bytes, which libcurl copies.
static inline CURLcode sq_set_blob(
    CURL *easy, CURLoption option, const void *bytes, size_t count) {
  struct curl_blob blob = {(void *)bytes, count, CURL_BLOB_COPY};
  return curl_easy_setopt(easy, option, &blob);
}

// The value of CURLINFO_USED_PROXY: headers before libcurl 8.7 lack this name. A libcurl before 8.7
// rejects the value.
static const CURLINFO sq_info_used_proxy = (CURLINFO)(CURLINFO_LONG + 66);

static inline long sq_get_long(CURL *easy, CURLINFO info) {
  long value = 0;
  curl_easy_getinfo(easy, info, &value);
  return value;
}

static inline curl_socket_t sq_get_active_socket(CURL *easy) {
  curl_socket_t socket = CURL_SOCKET_BAD;
  curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &socket);
  return socket;
}

static inline curl_off_t sq_get_size(CURL *easy, CURLINFO info) {
  curl_off_t value = -1;
  curl_easy_getinfo(easy, info, &value);
  return value;
}

static inline const char *sq_get_text(CURL *easy, CURLINFO info) {
  char *value = NULL;
  curl_easy_getinfo(easy, info, &value);
  return value;
}

static inline void *sq_get_private(CURL *easy) {
  char *value = NULL;
  curl_easy_getinfo(easy, CURLINFO_PRIVATE, &value);
  return value;
}

static inline CURLcode sq_set_progress(CURL *easy, curl_xferinfo_callback callback) {
  return curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, callback);
}

#ifdef __linux__
// These functions are declared here, because if this file included their headers, Swift would take
// all declarations of those headers from this module alone.
#ifdef __GLIBC__
extern int ioctl(int, unsigned long, ...);
#else
extern int ioctl(int, int, ...);
#endif
extern char *secure_getenv(const char *);
#else
#include <stdlib.h>
#include <unistd.h>
#endif

// Returns the number of bytes that the process has read from a TCP socket, or 0 if it is not known.
// Linux counts the received bytes since version 4.1, in the 17th 64-bit word of its tcp_info;
// glibc's own header ends before that word.
static inline uint64_t sq_received_bytes(int socket) {
#ifdef __linux__
  enum { tcp = 6, tcp_info = 11, bytes_received = 16 };
  uint64_t info[bytes_received + 1] = {0};
  socklen_t size = sizeof info;
  int unread = 0;
  if (getsockopt(socket, tcp, tcp_info, info, &size) != 0 || size < sizeof info) return 0;
  if (ioctl(socket, FIONREAD, &unread) != 0) return 0;
  uint64_t received = info[bytes_received];
  return received > (uint64_t)unread ? received - (uint64_t)unread : 0;
#else
  (void)socket;
  return 0;
#endif
}

// Returns an environment variable, or NULL. In a program with the rights of another user, it always
// returns NULL.
static inline const char *sq_environment(const char *name) {
#ifdef __linux__
  return secure_getenv(name);
#else
  return issetugid() ? NULL : getenv(name);
#endif
}

static inline CURLMcode sq_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}

static inline CURLMcode sq_multi_set_socket_callback(
    CURLM *multi, curl_socket_callback callback, void *context) {
  CURLMcode code = curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, callback);
  return code == CURLM_OK ? curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context) : code;
}

static inline CURLMcode sq_multi_set_timer_callback(
    CURLM *multi, curl_multi_timer_callback callback, void *context) {
  CURLMcode code = curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, callback);
  return code == CURLM_OK ? curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context) : code;
}

static inline CURLcode sq_message_result(const CURLMsg *message) {
  return message->data.result;
}
