// A library between the keyring store and libsecret. In the first BAD sessions with the keyring, it
// behaves as if the two sides had different session keys: with OTHER_BYTES, other bytes are saved and
// read; otherwise a save fails and leaves an empty item, and nothing is read. LOG is a file that gets
// the number of the session.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <libsecret/secret.h>
#include <stdio.h>
#include <string.h>

// Only libsecret's unstable headers declare this function.
const gchar *secret_service_get_session_dbus_path(SecretService *service);

#define REAL(name) ((typeof(&name))dlsym(RTLD_NEXT, #name))

static int session_number(SecretService *service) {
  static char paths[64][128];
  const char *path = secret_service_get_session_dbus_path(service);
  for (int number = 0; number < 64; number++) {
    if (!*paths[number]) snprintf(paths[number], sizeof paths[number], "%s", path);
    if (!strcmp(paths[number], path)) return number + 1;
  }
  return 65;
}

static int is_bad(SecretService *service) { return session_number(service) <= BAD; }

static SecretValue *other(void) { return secret_value_new("\x9a other", 7, "text/plain"); }

SecretValue *secret_item_get_secret(SecretItem *item) {
  if (!is_bad(secret_item_get_service(item))) return REAL(secret_item_get_secret)(item);
  return OTHER_BYTES ? other() : NULL;
}

gboolean secret_service_store_sync(
    SecretService *service, const SecretSchema *schema, GHashTable *table,
    const gchar *collection, const gchar *label, SecretValue *value, GCancellable *cancellable,
    GError **error) {
  gboolean bad = is_bad(service);
  if (bad) value = OTHER_BYTES ? other() : secret_value_new("", 0, "text/plain");
  gboolean stored = REAL(secret_service_store_sync)(
      service, schema, table, collection, label, value, cancellable, error);
  if (!stored || !bad || OTHER_BYTES) return stored;
  g_set_error(error, G_IO_ERROR, G_IO_ERROR_DBUS_ERROR, "Invalid object path");
  return FALSE;
}

GList *secret_service_search_sync(
    SecretService *service, const SecretSchema *schema, GHashTable *table,
    SecretSearchFlags flags, GCancellable *cancellable, GError **error) {
  FILE *log = fopen(LOG, "w");
  fprintf(log, "%d", session_number(service));
  fclose(log);
  return REAL(secret_service_search_sync)(service, schema, table, flags, cancellable, error);
}
