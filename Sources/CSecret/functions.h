#pragma once

// The functions of GLib, GIO and libsecret that the library calls. Their types are declared before
// this header is included: by this module's own headers, or in a test by the real ones.

// GLib

void g_free(gpointer memory);
gchar *g_strdup(const gchar *text);
gboolean g_once_init_enter(volatile void *location);
void g_once_init_leave(volatile void *location, gsize result);

void g_error_free(GError *error);
void g_set_error_literal(GError **error, GQuark domain, gint code, const gchar *message);
const gchar *g_quark_to_string(GQuark quark);

GList *g_list_prepend(GList *list, gpointer data);
void g_list_free(GList *list);

GHashTable *g_hash_table_new_full(GHashFunc hash, GEqualFunc equal, GDestroyNotify destroy_key,
                                  GDestroyNotify destroy_value);
gboolean g_hash_table_insert(GHashTable *table, gpointer key, gpointer value);
gpointer g_hash_table_lookup(GHashTable *table, gconstpointer key);
void g_hash_table_unref(GHashTable *table);
guint g_str_hash(gconstpointer text);
gboolean g_str_equal(gconstpointer text, gconstpointer other);

GMainContext *g_main_context_new(void);
void g_main_context_unref(GMainContext *context);
void g_main_context_push_thread_default(GMainContext *context);
void g_main_context_pop_thread_default(GMainContext *context);
gboolean g_main_context_iteration(GMainContext *context, gboolean may_block);

GSource *g_timeout_source_new(guint milliseconds);
guint g_source_attach(GSource *source, GMainContext *context);
void g_source_set_callback(GSource *source, GSourceFunc function, gpointer data,
                           GDestroyNotify destroy);
void g_source_destroy(GSource *source);
void g_source_unref(GSource *source);

void g_variant_unref(GVariant *value);

// GObject

gpointer g_object_ref(gpointer object);
void g_object_unref(gpointer object);
void g_object_set(gpointer object, const gchar *first_property, ...);
gpointer g_type_class_peek_static(GType type);
GType g_type_register_static_simple(GType parent, const gchar *name, guint class_size,
                                    GClassInitFunc class_init, guint instance_size,
                                    GInstanceInitFunc instance_init, GTypeFlags flags);

// GIO

GCancellable *g_cancellable_new(void);
void g_cancellable_cancel(GCancellable *cancellable);
gboolean g_cancellable_is_cancelled(GCancellable *cancellable);

GTask *g_task_new(gpointer source, GCancellable *cancellable, GAsyncReadyCallback callback,
                  gpointer data);
void g_task_set_check_cancellable(GTask *task, gboolean check);
void g_task_return_pointer(GTask *task, gpointer result, GDestroyNotify destroy);
void g_task_return_error(GTask *task, GError *error);
gpointer g_task_propagate_pointer(GTask *task, GError **error);

gpointer g_initable_new(GType type, GCancellable *cancellable, GError **error,
                        const gchar *first_property, ...);
GQuark g_io_error_quark(void);
GQuark g_dbus_error_quark(void);

gchar *g_dbus_address_get_for_bus_sync(GBusType bus, GCancellable *cancellable, GError **error);
GDBusConnection *g_dbus_connection_new_for_address_sync(const gchar *address,
                                                        GDBusConnectionFlags flags,
                                                        GDBusAuthObserver *observer,
                                                        GCancellable *cancellable, GError **error);
gboolean g_dbus_connection_close_sync(GDBusConnection *connection, GCancellable *cancellable,
                                      GError **error);
void g_dbus_proxy_set_default_timeout(GDBusProxy *proxy, gint milliseconds);

// libsecret

GQuark secret_error_get_quark(void);
GType secret_service_get_type(void);

SecretCollection *secret_collection_for_alias_sync(SecretService *service, const gchar *alias,
                                                   SecretCollectionFlags flags,
                                                   GCancellable *cancellable, GError **error);
gboolean secret_collection_get_locked(SecretCollection *collection);

GList *secret_service_search_sync(SecretService *service, const SecretSchema *schema,
                                  GHashTable *attributes, SecretSearchFlags flags,
                                  GCancellable *cancellable, GError **error);
gboolean secret_service_store_sync(SecretService *service, const SecretSchema *schema,
                                   GHashTable *attributes, const gchar *collection,
                                   const gchar *label, SecretValue *value,
                                   GCancellable *cancellable, GError **error);
gint secret_service_unlock_sync(SecretService *service, GList *objects, GCancellable *cancellable,
                                GList **unlocked, GError **error);

gboolean secret_item_delete_sync(SecretItem *item, GCancellable *cancellable, GError **error);
GHashTable *secret_item_get_attributes(SecretItem *item);
gboolean secret_item_get_locked(SecretItem *item);
guint64 secret_item_get_modified(SecretItem *item);
SecretValue *secret_item_get_secret(SecretItem *item);
gboolean secret_item_load_secrets_sync(GList *items, GCancellable *cancellable, GError **error);
gboolean secret_item_set_secret_sync(SecretItem *item, SecretValue *value,
                                     GCancellable *cancellable, GError **error);

void secret_prompt_perform(SecretPrompt *prompt, const gchar *window, const GVariantType *type,
                           GCancellable *cancellable, GAsyncReadyCallback callback, gpointer data);
GVariant *secret_prompt_perform_finish(SecretPrompt *prompt, GAsyncResult *result, GError **error);

SecretValue *secret_value_new(const gchar *secret, gssize length, const gchar *content_type);
const gchar *secret_value_get(SecretValue *value, gsize *length);
void secret_value_unref(gpointer value);
