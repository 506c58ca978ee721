#pragma once
#include <libsecret/secret.h>

/// What the SDK's items are told from others by, and found by.
static inline const SecretSchema *sq_account_schema(void) {
  static const SecretSchema schema = {
      "com.sequencing.oauth.account",
      SECRET_SCHEMA_NONE,
      {
          {"service", SECRET_SCHEMA_ATTRIBUTE_STRING},
          {"account", SECRET_SCHEMA_ATTRIBUTE_STRING},
          {"format", SECRET_SCHEMA_ATTRIBUTE_STRING},
          {NULL, SECRET_SCHEMA_ATTRIBUTE_STRING},
      }};
  return &schema;
}

static inline GObject *sq_secret_service_construct(GType type, guint count,
                                                   GObjectConstructParam *parameters) {
  GObjectClass *parent = (GObjectClass *)g_type_class_peek_static(SECRET_TYPE_SERVICE);
  GObject *service = parent->constructor(type, count, parameters);
  // The parent has just chosen the connection that the process shares.
  g_object_set(service, "g-bus-type", G_BUS_TYPE_NONE, NULL);
  return service;
}

static inline void sq_secret_service_class(gpointer type, gpointer data) {
  ((GObjectClass *)type)->constructor = sq_secret_service_construct;
}

/// A secret service whose connection its maker gives it.
static inline GType sq_secret_service_type(void) {
  static gsize type = 0;
  if (g_once_init_enter(&type)) {
    GType made = g_type_register_static_simple(
        SECRET_TYPE_SERVICE, "SQSecretService", sizeof(SecretServiceClass),
        sq_secret_service_class, sizeof(SecretService), NULL, (GTypeFlags)0);
    g_once_init_leave(&type, made);
  }
  return type;
}

/// `secret_service_open_sync` on a connection of the caller's, which that function cannot be given.
static inline SecretService *sq_secret_service_open(GDBusConnection *connection,
                                                    GCancellable *cancellable, GError **error) {
  return (SecretService *)g_initable_new(sq_secret_service_type(), cancellable, error,
                                         "g-connection", connection, "flags",
                                         SECRET_SERVICE_OPEN_SESSION, NULL);
}
